"""Products: exact for integers, within the bound of one chain of sums for floats, on every ISA."""

import itertools
import re

import numpy as np
import pytest

import fbg
from helpers.formulas import (
    KERNEL_ISA,
    product,
)
from helpers.fresh_python import run_python
from helpers.operands import COLUMNS, DEPTHS, ROWS, random_f32, random_s8, random_u8


def float_bound(a, b):
    """Largest error of one chain of K fused multiply-adds (Higham, Accuracy and Stability, 3.5)."""
    k = a.shape[1]
    unit = 2.0**-24
    return k * unit / (1 - k * unit) * (np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64))


# --- Which kernel ran -----------------------------------------------------------------------------


@pytest.mark.parametrize("accumulator", ["int32", "int16", "float32"])
def test_every_isa_has_its_kernel(isa, accumulator):
    assert fbg._fbg.kernel_isa(accumulator) == KERNEL_ISA[accumulator][isa]


@pytest.mark.parametrize("name", fbg.isa.supported())
def test_only_kernels_of_the_isa_are_generated(name):
    code = """
import numpy as np, fbg
b = np.ones((500, 40), np.float32)
fbg.gemm(fbg.PackA(np.ones((13, 500), np.uint8)), fbg.PackedB(b.astype(np.int8)))
print(*[kernel.name for kernel in fbg.kernels()], sep=",")
fbg.gemm(fbg.PackA(np.ones((13, 500), np.float32)), fbg.PackedB(b, dtype="float32"))
print(*[kernel.name for kernel in fbg.kernels()], sep=",")
"""
    result = run_python(code, FBG_MAX_ISA=name)
    integer, both = (line.split(",") for line in result.stdout.splitlines())
    floating = both[len(integer) :] if name != "generic" else both
    if name == "generic":
        assert integer == floating == [""], result.stderr
        return
    for names, accumulator in ((integer, "int32"), (floating, "float32")):
        assert names, result.stderr
        isa = KERNEL_ISA[accumulator][name]
        found = {
            re.sub("(_narrow|_masked|_interleaved|_last|_stream)*$", "", kernel).split("_", 5)[-1]
            for kernel in names
        }
        # Kernels with AMX leave short tiles and the end of each tile to those with VNNI.
        assert found == ({isa, "avx512_vnni"} if isa == "avx512_amx" else {isa})


# --- int32 ----------------------------------------------------------------------------------------


def test_every_tail_of_rows_columns_and_depth_is_exact(isa):
    rng = np.random.default_rng(1)
    a = random_u8(rng, max(ROWS), max(DEPTHS))
    b = random_s8(rng, max(DEPTHS), max(COLUMNS))
    for k in DEPTHS:
        exact = product(a[:, :k], b[:k]).astype(np.int32)
        for n in COLUMNS:
            packed = fbg.PackedB(b[:k, :n])
            for m in ROWS:
                got = fbg.gemm(fbg.PackA(a[:m, :k]), packed)
                if not np.array_equal(got, exact[:m, :n]):
                    raise AssertionError(f"wrong at (M, N, K) = {(m, n, k)}")


def test_pairs_that_saturate_maddubs_are_exact(isa):
    pairs = list(itertools.product((-128, -127, 127), repeat=4))
    b = np.array(pairs, np.int8).T  # every column another pattern of one k-group
    b = np.tile(b, (9, 1))[:35]
    a = np.full((7, 35), 255, np.uint8)
    a[1::2] = np.where(np.arange(35) % 2, 254, 255)
    np.testing.assert_array_equal(fbg.gemm(fbg.PackA(a), fbg.PackedB(b)), product(a, b))


def test_raw_sums_are_exact_at_the_largest_depth(isa):
    k = 65793
    a = np.full((3, k), 255, np.uint8)
    b = np.stack([np.full(k, -128), np.full(k, 127), np.resize([-128, 127], k)], axis=1)
    b = b.astype(np.int8)
    np.testing.assert_array_equal(fbg.gemm(fbg.PackA(a), fbg.PackedB(b)), product(a, b))


@pytest.mark.parametrize("zero_point", [0, 255])
def test_corrected_sums_are_exact_at_the_largest_depth(isa, zero_point):
    k = 33025
    a = np.full((2, k), 255 - zero_point, np.uint8)
    b = np.stack([np.full(k, -128), np.full(k, 127)], axis=1).astype(np.int8)
    zb = np.array([127, -128])
    packed = fbg.PackedB(b, scale=np.float32(1), zero_point=zb)
    got = fbg.gemm(
        fbg.PackAWithRowOffset(a, scale=1.0, zero_point=zero_point), packed, fbg.CorrectZeroPoints()
    )
    np.testing.assert_array_equal(got, product(a.astype(np.int64) - zero_point, b - zb))


@pytest.mark.parametrize(
    ("k", "pipeline", "limit"), [(65794, None, 65793), (33026, fbg.CorrectZeroPoints(), 33025)]
)
def test_a_depth_beyond_exactness_is_refused(isa, k, pipeline, limit):
    packed = fbg.PackedB(np.zeros((k, 1), np.int8), scale=1.0)
    a = fbg.PackAWithRowOffset(np.zeros((1, k), np.uint8), scale=1.0)
    with pytest.raises(ValueError, match=rf"gemm: K = {k} exceeds {limit}"):
        fbg.gemm(a, packed, pipeline)


def test_float_products_have_no_depth_limit():
    k = 70000
    ones = fbg.PackedB(np.ones((k, 1), np.float32), dtype="float32")
    assert fbg.gemm(fbg.PackA(np.ones((1, k), np.float32)), ones)[0, 0] == k


def test_a_channel_scale_of_another_length_is_refused():
    packed = fbg.PackedB(np.ones((5, 3), np.float32))
    reshaped = np.ones((5, 2), np.float32)
    a = fbg.PackAWithQuantRowOffset(reshaped, channel_scale=np.ones(2, np.float32))
    reshaped.shape = (2, 5)
    with pytest.raises(ValueError, match=r"channel_scale of a has shape \(2,?\), a has K = 5"):
        fbg.gemm(a, packed, fbg.Dequantize())


# --- float32 --------------------------------------------------------------------------------------


def test_float_error_stays_within_the_bound_for_every_tail(isa):
    rng = np.random.default_rng(2)
    a = random_f32(rng, max(ROWS), max(DEPTHS))
    b = random_f32(rng, max(DEPTHS), max(COLUMNS))
    for k in DEPTHS:
        exact = a[:, :k].astype(np.float64) @ b[:k].astype(np.float64)
        bound = float_bound(a[:, :k], b[:k])
        for n in COLUMNS:
            packed = fbg.PackedB(b[:k, :n], dtype="float32")
            for m in ROWS:
                got = fbg.gemm(fbg.PackA(a[:m, :k]), packed)
                if not (np.abs(got - exact[:m, :n]) <= bound[:m, :n]).all():
                    raise AssertionError(f"beyond the bound at (M, N, K) = {(m, n, k)}")
