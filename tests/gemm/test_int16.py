"""int16 sums with outliers apart: the same integers as int32, by construction and on every ISA."""

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fbg
from helpers.formulas import KERNEL_ISA, product
from helpers.fresh_python import run_python

WITHOUT_VNNI = [name for name in fbg.isa.supported() if "vnni" not in KERNEL_ISA["int16"][name]]
WITH_VNNI = [name for name in fbg.isa.supported() if name not in WITHOUT_VNNI]


def weights(seed, k, n, limit, density):
    """Small weights, and a share of large ones."""
    rng = np.random.default_rng(seed)
    w = rng.integers(-limit, limit + 1, (k, n)).astype(np.int8)
    large = rng.random((k, n)) < density
    w[large] = rng.integers(-128, 128, int(large.sum()))
    return w


def bytes_of(seed, m, k):
    return np.random.default_rng(seed).integers(0, 256, (m, k), dtype=np.uint8)


def pack(w, bits=None, **quant):
    """Packed for int16 as a CPU without VNNI would; runs under any ISA."""
    with fbg.isa.limit("generic"):
        return fbg.PackedB(w, accum="int16", outlier_bits=bits, **quant)


def dense_part(packed):
    """What is left in the panels, int64 (K, N)."""
    assert packed.outliers is not None
    indptr, indices, data = packed.outliers
    dense = packed.unpack().astype(np.int64)
    columns = np.repeat(np.arange(packed.shape[1]), np.diff(indptr))
    np.testing.assert_array_equal(dense[indices, columns], data)
    dense[indices, columns] = 0
    return dense


def assert_no_lane_overflows(packed):
    """255 * max(sum of b > 0, sum of |b < 0|) <= 32767 in every lane between two spills."""
    dense = dense_part(packed)
    k, n = dense.shape
    depths = packed.spill_depths
    assert depths is not None and (depths % 4 == 0).all() and (depths >= 4).all()
    pairs = np.zeros((-(-k // 4) * 2, 2, n), np.int64)  # a lane: two k of each four
    pairs.reshape(pairs.shape[0] * 2, n)[:k] = dense
    for panel, depth in enumerate(depths):
        columns = pairs[..., panel * 32 : (panel + 1) * 32]
        for first in range(0, columns.shape[0], int(depth) // 2):
            lanes = columns[first : first + int(depth) // 2]
            # (k-group, lane, k, column)
            lanes = lanes.reshape(lanes.shape[0] // 2, 2, 2, lanes.shape[-1])
            up = np.maximum(lanes, 0).sum((0, 2))
            down = np.maximum(-lanes, 0).sum((0, 2))
            assert 255 * max(up.max(initial=0), down.max(initial=0)) <= 32767


# --- What is packed -----------------------------------------------------------------------------


@given(
    k=st.integers(0, 300),
    n=st.integers(0, 70),
    limit=st.sampled_from([0, 1, 4, 20, 64, 127]),
    density=st.sampled_from([0.0, 0.001, 0.05]),
    bits=st.sampled_from([None, 1, 2, 3, 5, 7, 8]),
    seed=st.integers(0, 2**32 - 1),
)
def test_no_lane_can_overflow_and_nothing_is_lost(k, n, limit, density, bits, seed):
    w = weights(seed, k, n, limit, density)
    packed = pack(w, bits)
    np.testing.assert_array_equal(packed.unpack(), w)
    np.testing.assert_array_equal(packed.column_offsets, w.sum(0, dtype=np.int64))
    if packed.accum == "int16":
        assert_no_lane_overflows(packed)
        if bits is not None:
            dense = dense_part(packed)
            assert dense.min(initial=0) >= -(2 ** (bits - 1)), "a value beyond the bits stayed"
            assert dense.max(initial=0) <= 2 ** (bits - 1) - 1
    else:
        assert bits is None


@pytest.mark.parametrize("value", [127, -127, -128])
def test_no_lane_can_overflow_with_extreme_weights(value):
    w = np.full((65, 33), value, np.int8)
    for bits in range(1, 9):
        assert_no_lane_overflows(pack(w, bits))


def test_depth_and_threshold_follow_the_weights():
    small, large = pack(weights(0, 512, 32, 4, 0.0)), pack(weights(0, 512, 32, 20, 0.0))
    assert small.accum == large.accum == "int16"
    assert small.spill_depths is not None and large.spill_depths is not None
    assert small.spill_depths[0] > large.spill_depths[0]
    published = pack(weights(1, 576, 64, 4, 0.001))
    assert published.outliers is not None
    assert 0 < published.outliers.data.size <= 0.002 * 576 * 64
    assert np.abs(published.outliers.data.astype(int)).min() > 1


def test_outliers_are_sparse_columns():
    w = np.ones((6, 3), np.int8)
    w[1, 0], w[5, 0], w[2, 2] = 100, -100, 50
    outliers = pack(w, 4).outliers
    assert outliers is not None
    indptr, indices, data = outliers
    np.testing.assert_array_equal(indptr, [0, 2, 2, 3])
    np.testing.assert_array_equal(indices, [1, 5, 2])
    np.testing.assert_array_equal(data, np.array([100, -100, 50], np.int8))


def test_quantization_does_not_depend_on_the_sums():
    w = np.random.default_rng(3).standard_normal((64, 40)).astype(np.float32)
    a = pack(w, 8, symmetric=False, granularity="tensor")
    b = fbg.PackedB(w, symmetric=False, granularity="tensor")
    assert (a.accum, b.accum) == ("int16", "int32")
    np.testing.assert_array_equal(a.unpack(), b.unpack())
    np.testing.assert_array_equal(a.scale, b.scale)
    np.testing.assert_array_equal(a.zero_point, b.zero_point)
    np.testing.assert_array_equal(a.dequantize(), b.dequantize())
    assert repr(a).endswith("scale per tensor)") and "accum=int16, " in repr(a)


# --- Where it redirects -------------------------------------------------------------------------


@pytest.mark.parametrize("name", WITH_VNNI)
def test_vnni_sums_in_int32_and_says_so(name):
    with fbg.isa.limit(name):
        packed = fbg.PackedB(np.ones((8, 8), np.int8), accum="int16")
    assert packed.accum == "int32" and packed.outliers is None and packed.spill_depths is None
    assert repr(packed) == (
        "PackedB(K=8, N=8, int8, accum=int32 (not int16: VNNI sums int32 as fast), no scale)"
    )
    assert repr(copy.copy(packed)) == repr(packed)


@pytest.mark.parametrize("name", WITHOUT_VNNI)
def test_only_weights_that_cannot_pay_redirect(name):
    with fbg.isa.limit(name):
        dense = fbg.PackedB(weights(0, 256, 64, 127, 0.0), accum="int16")
        sparse = fbg.PackedB(weights(0, 256, 64, 4, 0.001), accum="int16")
    assert dense.accum == "int32" and "not int16: too many large weights" in repr(dense)
    assert sparse.accum == "int16"


def test_arguments_are_checked():
    w = np.ones((4, 4), np.int8)
    with pytest.raises(
        ValueError, match=r"accum of int8 weights must be 'int32', 'int16' or None, got 'int8'"
    ):
        fbg.PackedB(w, accum="int8")
    with pytest.raises(
        ValueError, match="accum of float weights must be 'float32' or None, got 'int16'"
    ):
        fbg.PackedB(w.astype(np.float32), dtype="float32", accum="int16")
    with pytest.raises(ValueError, match="outlier_bits requires accum='int16', got accum=None"):
        fbg.PackedB(w, outlier_bits=4)
    for bits in (0, 9):
        with pytest.raises(ValueError, match="outlier_bits"):
            fbg.PackedB(w, accum="int16", outlier_bits=bits)


# --- Products -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in WITHOUT_VNNI if name != "generic"])
def test_int16_kernels_run(name):
    code = """
import numpy as np, fbg
w = fbg.PackedB(np.ones((5, 40), np.int8), accum="int16")
fbg.gemm(fbg.PackA(np.ones((13, 5), np.uint8)), w)
print(*[kernel.name for kernel in fbg.kernels()], sep=",")
"""
    names = run_python(code, FBG_MAX_ISA=name).stdout.strip().split(",")
    wanted = "_" + KERNEL_ISA["int16"][name]
    for kernel in names:
        assert kernel.startswith("gemm_int16_u8_s8_"), kernel
        assert kernel.removesuffix("_stream").removesuffix("_masked").endswith(wanted), kernel


@pytest.mark.parametrize("bits", [1, 4, 8])
@pytest.mark.parametrize("pattern", ["low", "high", "alternating", "pairs"])
def test_adversarial_weights_are_exact(isa, bits, pattern):
    k, n = 261, 49
    row = np.arange(k)[:, None]
    sign = {"low": row < 0, "high": row >= 0, "alternating": row % 2 == 0, "pairs": row % 4 < 2}
    w = np.broadcast_to(np.where(sign[pattern], 127, -128).astype(np.int8), (k, n))
    a = np.full((13, k), 255, np.uint8)
    np.testing.assert_array_equal(fbg.gemm(fbg.PackA(a), pack(w, bits)), product(a, w))


def test_every_tail_is_exact(isa):
    w, a = weights(5, 70, 65, 30, 0.02), bytes_of(5, 25, 70)
    for k in (1, 2, 3, 4, 5, 7, 8, 9, 31, 32, 33, 69, 70):
        for n in (1, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65):
            packed = pack(w[:k, :n], 5)
            exact = product(a[:, :k], w[:k, :n])
            for m in (1, 2, 3, 5, 6, 7, 11, 12, 13, 25):
                got = fbg.gemm(fbg.PackA(a[:m, :k]), packed)
                np.testing.assert_array_equal(got, exact[:m], err_msg=f"{(m, n, k)}")


# --- Stored -------------------------------------------------------------------------------------


def test_damaged_outliers_are_refused():
    packed = pack(weights(9, 130, 40, 4, 0.02))
    block = np.array(packed._native.block)
    rng = np.random.default_rng(0)
    for at in rng.integers(0, block.size, 300):
        damaged = block.copy()
        damaged[at] ^= 1 << rng.integers(0, 8)
        with pytest.raises(ValueError, match="PackedB"):
            fbg._fbg.packed_b_from_bytes(damaged)
