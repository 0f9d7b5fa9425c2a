"""Products: exact for integers, within the bound of one chain of sums for floats, on every ISA."""

import itertools
import threading
from collections.abc import Callable

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fbg
from helpers.formulas import (
    KERNEL_ISA,
    Array,
    assert_same_bits,
    exact_gelu,
    integer_output,
    product,
    quantize_rows,
)
from helpers.fresh_python import run_python

# Around every tile height, tile width, k-group and unrolled loop.
ROWS = (*range(1, 15), 24, 25)
COLUMNS = (1, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129)
DEPTHS = (*range(1, 10), 31, 32, 33, 63, 64, 65, 255, 256, 257)


def random_u8(rng: np.random.Generator, *shape: int) -> Array:
    return rng.integers(0, 256, shape, dtype=np.uint8)


def random_s8(rng: np.random.Generator, *shape: int) -> Array:
    return rng.integers(-128, 128, shape, dtype=np.int8)


def random_f32(rng: np.random.Generator, *shape: int) -> Array:
    return rng.standard_normal(shape, dtype=np.float32)


def float_bound(a: Array, b: Array) -> Array:
    """Largest error of one chain of K fused multiply-adds (Higham, Accuracy and Stability, 3.5)."""
    k = a.shape[1]
    unit = 2.0**-24
    return k * unit / (1 - k * unit) * (np.abs(a).astype(np.float64) @ np.abs(b).astype(np.float64))


# --- Which kernel ran ---------------------------------------------------------------------------


@pytest.mark.parametrize("accumulator", ["int32", "int16", "float32"])
def test_every_isa_has_its_kernel(isa: str, accumulator: str) -> None:
    assert fbg._fbg.kernel_isa(accumulator) == KERNEL_ISA[accumulator][isa]


@pytest.mark.parametrize("name", fbg.isa.supported())
def test_only_kernels_of_the_isa_are_generated(name: str) -> None:
    code = """
import numpy as np, fbg
b = np.ones((5, 40), np.float32)
fbg.gemm(fbg.PackA(np.ones((13, 5), np.uint8)), fbg.PackedB(b.astype(np.int8)))
print(*[kernel.name for kernel in fbg.kernels()], sep=",")
fbg.gemm(fbg.PackA(np.ones((13, 5), np.float32)), fbg.PackedB(b, dtype="float32"))
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
        suffix = "_" + KERNEL_ISA[accumulator][name]
        for kernel in names:
            assert kernel.removesuffix("_stream").removesuffix("_masked").endswith(suffix), kernel


# --- int32 --------------------------------------------------------------------------------------


def test_every_tail_of_rows_columns_and_depth_is_exact(isa: str) -> None:
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


@settings(max_examples=40)
@given(
    m=st.integers(1, 40),
    n=st.integers(1, 300),
    k=st.integers(1, 600),
    threads=st.integers(1, 4),
    seed=st.integers(0, 2**32 - 1),
)
def test_any_shape_is_exact(isa: str, m: int, n: int, k: int, threads: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, b = random_u8(rng, m, k), random_s8(rng, k, n)
    got = fbg.gemm(fbg.PackA(a), fbg.PackedB(b), num_threads=threads)
    assert got.dtype == np.int32
    np.testing.assert_array_equal(got, product(a, b))


def test_pairs_that_saturate_maddubs_are_exact(isa: str) -> None:
    pairs = list(itertools.product((-128, -127, 127), repeat=4))
    b = np.array(pairs, np.int8).T  # every column another pattern of one k-group
    b = np.tile(b, (9, 1))[:35]
    a = np.full((7, 35), 255, np.uint8)
    a[1::2] = np.where(np.arange(35) % 2, 254, 255)
    np.testing.assert_array_equal(fbg.gemm(fbg.PackA(a), fbg.PackedB(b)), product(a, b))


def test_raw_sums_are_exact_at_the_largest_depth(isa: str) -> None:
    k = 65793
    a = np.full((3, k), 255, np.uint8)
    b = np.stack([np.full(k, -128), np.full(k, 127), np.resize([-128, 127], k)], axis=1)
    b = b.astype(np.int8)
    np.testing.assert_array_equal(fbg.gemm(fbg.PackA(a), fbg.PackedB(b)), product(a, b))


@pytest.mark.parametrize("zero_point", [0, 255])
def test_corrected_sums_are_exact_at_the_largest_depth(isa: str, zero_point: int) -> None:
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
def test_a_depth_beyond_exactness_is_refused(
    isa: str, k: int, pipeline: fbg.CorrectZeroPoints | None, limit: int
) -> None:
    packed = fbg.PackedB(np.zeros((k, 1), np.int8), scale=1.0)
    a = fbg.PackAWithRowOffset(np.zeros((1, k), np.uint8), scale=1.0)
    with pytest.raises(ValueError, match=rf"gemm: K = {k} exceeds {limit}"):
        fbg.gemm(a, packed, pipeline)


def test_float_products_have_no_depth_limit() -> None:
    k = 70000
    ones = fbg.PackedB(np.ones((k, 1), np.float32), dtype="float32")
    assert fbg.gemm(fbg.PackA(np.ones((1, k), np.float32)), ones)[0, 0] == k


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("a_zero", [0, 1, -1], ids=["lowest", "highest", "inside"])
@pytest.mark.parametrize("b_zero", [None, "tensor", "column"])
def test_zero_points_are_corrected_exactly(
    isa: str, dtype: type, a_zero: int, b_zero: str | None
) -> None:
    rng = np.random.default_rng(7)
    limits = np.iinfo(dtype)
    za = {0: limits.min, 1: limits.max, -1: limits.min + 77}[a_zero]
    for m, n, k in [(1, 33, 5), (5, 16, 4), (13, 129, 70), (24, 31, 257)]:
        a = rng.integers(limits.min, limits.max + 1, (m, k), dtype=dtype)
        b = random_s8(rng, k, n)
        zb = {None: None, "tensor": -128, "column": rng.integers(-128, 128, n)}[b_zero]
        packed = fbg.PackedB(b, scale=0.5, zero_point=zb)
        got = fbg.gemm(
            fbg.PackAWithRowOffset(a, scale=0.5, zero_point=za), packed, fbg.CorrectZeroPoints()
        )
        wanted = product(a.astype(np.int64) - za, b - np.int64(0 if zb is None else zb))
        assert got.dtype == np.int32
        np.testing.assert_array_equal(got, wanted)


@pytest.mark.parametrize("granularity", ["row", "tensor"])
def test_quantizing_packers_follow_the_formula(isa: str, granularity: str) -> None:
    rng = np.random.default_rng(3)
    for m, n, k in [(1, 1, 1), (4, 40, 3), (7, 17, 64), (13, 33, 129)]:
        x = random_f32(rng, m, k) * np.logspace(-3, 3, m, dtype=np.float32)[:, None]
        w = random_f32(rng, k, n)
        packed = fbg.PackedB(w, symmetric=False)
        quant = quantize_rows(x, granularity)
        output = integer_output(
            quant.q, quant.scale, quant.zero_point, packed.unpack(), packed.scale, packed.zero_point
        )
        a = fbg.PackAWithQuantRowOffset(x, granularity=granularity)
        np.testing.assert_array_equal(fbg.gemm(a, packed), output.result)
        output.dequantize()
        assert_same_bits(fbg.gemm(a, packed, fbg.Dequantize()), output.result)


@pytest.mark.parametrize("granularity", ["row", "tensor"])
def test_a_channel_scale_multiplies_the_columns_first(isa: str, granularity: str) -> None:
    rng = np.random.default_rng(4)
    for m, n, k in [(1, 1, 1), (4, 40, 3), (7, 17, 64), (13, 33, 1129)]:
        x, packed = random_f32(rng, m, k), fbg.PackedB(random_f32(rng, k, n))
        factors = np.exp(random_f32(rng, 1, k)[0]).astype(np.float32)
        wanted = fbg.gemm(
            fbg.PackAWithQuantRowOffset(x * factors, granularity=granularity),
            packed,
            fbg.Dequantize(),
            num_threads=2,
        )
        for rows in (x, np.asfortranarray(x)):
            a = fbg.PackAWithQuantRowOffset(rows, granularity=granularity, channel_scale=factors)
            assert_same_bits(fbg.gemm(a, packed, fbg.Dequantize(), num_threads=2), wanted)
    reshaped = np.ones((k, m), np.float32)
    a = fbg.PackAWithQuantRowOffset(reshaped, channel_scale=np.ones(m, np.float32))
    reshaped.shape = (m, k)
    if m != k:
        with pytest.raises(
            ValueError, match=rf"channel_scale of a has shape \({m},?\), a has K = {k}"
        ):
            fbg.gemm(a, packed, fbg.Dequantize())
    options = {"granularity": granularity, "channel_scale": factors}
    assert_same_bits(fbg.prepare(packed, fbg.Dequantize(), rows=m, **options)(x), wanted)


# --- float32 ------------------------------------------------------------------------------------


def test_float_error_stays_within_the_bound_for_every_tail(isa: str) -> None:
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


def test_float_sums_of_integers_are_exact(isa: str) -> None:
    rng = np.random.default_rng(4)
    a = rng.integers(-50, 50, (25, 130)).astype(np.float32)
    b = rng.integers(-50, 50, (130, 70)).astype(np.float32)
    np.testing.assert_array_equal(
        fbg.gemm(fbg.PackA(a), fbg.PackedB(b, dtype="float32")), product(a, b)
    )


# --- Layout of A --------------------------------------------------------------------------------


def wide(a: Array, row_bytes: int) -> Array:
    """The same values with rows that many bytes apart."""
    store = np.zeros((len(a), row_bytes // a.itemsize), a.dtype)
    store[:, : a.shape[1]] = a
    return store[:, : a.shape[1]]


def every_second(a: Array, axis: int) -> Array:
    return np.repeat(a, 2, axis=axis)[(slice(None),) * axis + (slice(None, None, 2),)]


def read_only(a: Array) -> Array:
    a = a.copy()
    a.flags.writeable = False
    return a


LAYOUTS: dict[str, Callable[[Array], Array]] = {
    "contiguous": np.ascontiguousarray,
    "fortran": np.asfortranarray,
    "rows upwards": lambda a: a[::-1].copy()[::-1],
    "columns backwards": lambda a: a[:, ::-1].copy()[:, ::-1],
    "both backwards": lambda a: a[::-1, ::-1].copy()[::-1, ::-1],
    "every second row": lambda a: every_second(a, 0),
    "every second column": lambda a: every_second(a, 1),
    "odd row stride": lambda a: wide(
        a, (a.shape[1] * a.itemsize + 3) // 4 * 4 + 12 + a.itemsize % 4
    ),
    "rows 4096 apart": lambda a: wide(a, 4096),
    "rows 8192 apart": lambda a: wide(a, 8192),
    "fortran, columns 4096 apart": lambda a: wide(np.ascontiguousarray(a.T), 4096).T,
    "read-only": read_only,
    "unaligned": lambda a: (
        np.frombuffer(b"x" + a.tobytes(), np.uint8)[1:].view(a.dtype).reshape(a.shape)
    ),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize(
    "packer", ["u8", "f32", "row_offset", "shifted", "quant_row", "quant_tensor"]
)
def test_layout_of_a_does_not_change_a_bit(isa: str, packer: str, layout: str) -> None:
    rng = np.random.default_rng(5)
    for m, k in [(1, 9), (3, 33), (13, 67)]:
        w = random_f32(rng, k, 35)
        weights = fbg.PackedB(w, symmetric=False, dtype="float32" if packer == "f32" else None)
        make, a, pipeline = {
            "u8": (fbg.PackA, random_u8(rng, m, k), None),
            "f32": (fbg.PackA, random_f32(rng, m, k), None),
            "row_offset": (
                lambda x: fbg.PackAWithRowOffset(x, scale=0.1, zero_point=9),
                random_u8(rng, m, k),
                fbg.Dequantize(),
            ),
            "shifted": (
                lambda x: fbg.PackAWithRowOffset(x, scale=0.1, zero_point=-9),
                random_s8(rng, m, k),
                fbg.Dequantize(),
            ),
            "quant_row": (fbg.PackAWithQuantRowOffset, random_f32(rng, m, k), fbg.Dequantize()),
            "quant_tensor": (
                lambda x: fbg.PackAWithQuantRowOffset(x, granularity="tensor"),
                random_f32(rng, m, k),
                fbg.Dequantize(),
            ),
        }[packer]
        laid_out = LAYOUTS[layout](a)
        np.testing.assert_array_equal(laid_out, a)
        wanted = fbg.gemm(make(np.ascontiguousarray(a)), weights, pipeline)
        if packer == "u8":
            np.testing.assert_array_equal(wanted, product(a, weights.unpack()))
        assert_same_bits(fbg.gemm(make(laid_out), weights, pipeline), wanted)


@pytest.mark.parametrize("stride", [4095, 4096, 4097, 4099])
def test_rows_are_read_in_place_at_any_stride(isa: str, stride: int) -> None:
    rng = np.random.default_rng(6)
    store = random_u8(rng, 14, stride)
    for k in (3, 4, 129):
        b = random_s8(rng, k, 33)
        a = store[:, 1 : k + 1]
        np.testing.assert_array_equal(fbg.gemm(fbg.PackA(a), fbg.PackedB(b)), product(a, b))


def test_one_row_may_be_repeated_without_a_copy(isa: str) -> None:
    rng = np.random.default_rng(8)
    b = random_s8(rng, 37, 20)
    for m in (2, 9):
        a = np.broadcast_to(random_u8(rng, 1, 37), (m, 37))
        np.testing.assert_array_equal(fbg.gemm(fbg.PackA(a), fbg.PackedB(b)), product(a, b))


def test_packers_are_lazy() -> None:
    a = np.zeros((2, 3), np.uint8)
    packer, b = fbg.PackA(a), fbg.PackedB(np.ones((3, 1), np.int8))
    a[:] = 2
    np.testing.assert_array_equal(fbg.gemm(packer, b), [[6], [6]])


# --- out ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 3])
@pytest.mark.parametrize("kind", ["int32", "float32", "uint8", "int8"])
def test_only_the_rows_of_out_are_written(isa: str, kind: str, threads: int) -> None:
    rng = np.random.default_rng(9)
    pipeline = {
        "int32": None,
        "float32": fbg.Dequantize(),
        "uint8": fbg.Requantize(0.5, 128),
        "int8": fbg.Requantize(0.5, 0, np.int8),
    }[kind]
    for m, n in [(1, 1), (5, 16), (7, 33), (13, 129), (25, 7)]:
        a = fbg.PackAWithRowOffset(random_u8(rng, m, 20), scale=0.01, zero_point=100)
        packed = fbg.PackedB(random_f32(rng, 20, n))
        wanted = fbg.gemm(a, packed, pipeline)
        assert wanted.dtype == kind and wanted.flags.c_contiguous
        store = random_u8(rng, (m + 2) * (n + 5) * 4).view(kind)[: (m + 2) * (n + 5)]
        store = store.reshape(m + 2, n + 5)
        before = store.tobytes()
        out = store[1:-1, 2:-3]
        assert fbg.gemm(a, packed, pipeline, out=out, num_threads=threads) is out
        assert_same_bits(out.copy(), wanted)
        out[:] = np.frombuffer(before, kind).reshape(store.shape)[1:-1, 2:-3]
        assert store.tobytes() == before


@pytest.mark.parametrize(
    ("out", "error", "message"),
    [
        (np.zeros((3, 4), np.int64), TypeError, r"gemm: out must be int32, got int64"),
        (np.zeros((3, 4), np.float32), TypeError, r"gemm: out must be int32, got float32"),
        (np.zeros((3, 4), ">i4"), TypeError, r"gemm: out must be int32, got >i4"),
        ([[0] * 4] * 3, TypeError, r"gemm: out must be a NumPy array, got list"),
        (
            np.zeros((4, 3), np.int32),
            ValueError,
            r"out must have shape \(3, 4\), got \(4, 3\)",
        ),
        (np.zeros(12, np.int32), ValueError, r"gemm: out must have shape \(3, 4\), got \(12,\)"),
        (np.zeros((1, 3, 4), np.int32), ValueError, r"gemm: out must have shape \(3, 4\), got"),
        (np.zeros((4, 3), np.int32).T, ValueError, r"gemm: out must have contiguous rows"),
        (np.zeros((3, 8), np.int32)[:, ::2], ValueError, r"gemm: out must have contiguous rows"),
        (np.zeros((3, 4), np.int32)[:, ::-1], ValueError, r"gemm: out must have contiguous rows"),
        (np.zeros((3, 4), np.int32)[::-1], ValueError, r"gemm: rows of out"),
        (read_only(np.zeros((3, 4), np.int32)), ValueError, r"gemm: out is read-only"),
        (
            np.lib.stride_tricks.as_strided(np.zeros(30, np.int32), (3, 4), (8, 4)),
            ValueError,
            r"gemm: rows of out overlap",
        ),
        (np.zeros(50, np.int8)[1:49].view(np.int32).reshape(3, 4), ValueError, r"gemm: .*aligned"),
    ],
)
def test_an_out_that_does_not_fit_is_refused_untouched(
    out: Array, error: type[Exception], message: str
) -> None:
    before = np.array(out)
    a, b = fbg.PackA(np.ones((3, 2), np.uint8)), fbg.PackedB(np.ones((2, 4), np.int8))
    with pytest.raises(error, match=message):
        fbg.gemm(a, b, out=out)
    np.testing.assert_array_equal(np.array(out), before)


def test_out_may_not_overlap_a() -> None:
    store = np.zeros(4096, np.uint8)
    a = store[: 5 * 16].reshape(5, 16)
    b = fbg.PackedB(np.ones((16, 4), np.int8))
    for first in (0, 4, 76):
        out = store[first : first + 5 * 4 * 4].view(np.int32).reshape(5, 4)
        with pytest.raises(ValueError, match="gemm: out may not overlap A"):
            fbg.gemm(fbg.PackA(a), b, out=out)
    beside = store[80:160].view(np.int32).reshape(5, 4)
    fbg.gemm(fbg.PackA(a), b, out=beside)


def test_out_may_not_overlap_an_a_that_runs_backwards() -> None:
    store = np.zeros((8, 16), np.float32)
    b = fbg.PackedB(np.ones((16, 16), np.float32), dtype="float32")
    with pytest.raises(ValueError, match="gemm: out may not overlap A"):
        fbg.gemm(fbg.PackA(store[3::-1, ::-1]), b, out=store[:4])
    fbg.gemm(fbg.PackA(store[3::-1, ::-1]), b, out=store[4:])


@pytest.mark.parametrize("threads", [1, 2])
def test_out_may_be_the_residual(isa: str, threads: int) -> None:
    rng = np.random.default_rng(10)
    a, b = random_f32(rng, 13, 20), random_f32(rng, 20, 37)
    packed = fbg.PackedB(b, dtype="float32")
    store = random_f32(rng, 13, 50)
    out = store[:, 5:42]
    wanted = fbg.gemm(fbg.PackA(a), packed) + out
    fbg.gemm(fbg.PackA(a), packed, fbg.Add(out), out=out, num_threads=threads)
    assert_same_bits(out.copy(), wanted)


def test_out_may_lie_beside_operands_in_the_same_rows(isa: str) -> None:
    rng = np.random.default_rng(20)
    store = random_f32(rng, 6, 30)
    a, residual, out = store[:, :10], store[:, 10:17], store[:, 17:24]
    packed = fbg.PackedB(random_f32(rng, 10, 7), dtype="float32")
    wanted = fbg.gemm(fbg.PackA(a.copy()), packed, fbg.Add(residual.copy()))
    before = store.copy()
    fbg.gemm(fbg.PackA(a), packed, fbg.Add(residual), out=out)
    assert_same_bits(out.copy(), wanted)
    out[:] = before[:, 17:24]
    assert_same_bits(store, before)
    with pytest.raises(ValueError, match="gemm: out may not overlap A"):
        fbg.gemm(fbg.PackA(a), packed, fbg.Add(residual), out=store[:, 9:16])
    with pytest.raises(ValueError, match="gemm: out may not overlap A"):
        fbg.gemm(fbg.PackA(store[:, 20:]), packed, out=store[:, 14:21])


def test_out_may_not_overlap_the_residual_in_part() -> None:
    store = np.zeros((6, 4), np.float32)
    a, b = fbg.PackA(np.ones((5, 2), np.float32)), np.ones((2, 4), np.float32)
    packed = fbg.PackedB(b, dtype="float32")
    with pytest.raises(ValueError, match="gemm: out may be the residual of Add, not overlap it"):
        fbg.gemm(a, packed, fbg.Add(store[:-1]), out=store[1:])


def test_out_may_not_overlap_the_bias() -> None:
    store = np.zeros((5, 4), np.float32)
    a, b = fbg.PackA(np.ones((5, 2), np.float32)), np.ones((2, 4), np.float32)
    packed = fbg.PackedB(b, dtype="float32")
    with pytest.raises(ValueError, match="gemm: out may not overlap the array of Bias"):
        fbg.gemm(a, packed, fbg.Bias(store[2]), out=store)


# --- Empty matrices -----------------------------------------------------------------------------


@pytest.mark.parametrize("shape", list(itertools.product((0, 3), (0, 5), (0, 4))), ids=str)
def test_empty_matrices_are_legal(isa: str, shape: tuple[int, int, int]) -> None:
    m, n, k = shape
    a, b = np.ones((m, k), np.uint8), np.ones((k, n), np.int8)
    x, w = np.ones((m, k), np.float32), np.ones((k, n), np.float32)
    bias = np.arange(n, dtype=np.float32)
    kept = fbg.PackedB(w, dtype="float32")
    np.testing.assert_array_equal(fbg.gemm(fbg.PackA(a), fbg.PackedB(b)), np.full((m, n), k))
    np.testing.assert_array_equal(fbg.gemm(fbg.PackA(x), kept), np.full((m, n), k))
    for packed in (fbg.PackedB(w), fbg.PackedB(w, symmetric=False)):
        for packer in (
            fbg.PackAWithQuantRowOffset(x),
            fbg.PackAWithQuantRowOffset(x, granularity="tensor"),
            fbg.PackAWithRowOffset(a, scale=1.0, zero_point=0),
        ):
            got = fbg.gemm(packer, packed, fbg.Dequantize() >> fbg.Bias(bias))
            assert got.dtype == np.float32
            np.testing.assert_allclose(got, np.full((m, n), k) + bias, rtol=1e-2)
            np.testing.assert_array_equal(
                fbg.gemm(packer, packed, fbg.CorrectZeroPoints(), out=np.ones((m, n), np.int32))
                == 0,
                np.full((m, n), k == 0),
            )
    np.testing.assert_allclose(
        fbg.linear(x, fbg.PackedB(w), bias), np.full((m, n), k) + bias, rtol=1e-2
    )


# --- Same bits ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["float32", "int8"])
def test_a_row_is_the_same_alone_in_any_matrix_and_on_any_number_of_threads(
    isa: str, kind: str
) -> None:
    rng = np.random.default_rng(11)
    for n, k in [(65, 70), (129, 33), (768, 96)]:
        x, w = random_f32(rng, 60, k), random_f32(rng, k, n)
        bias = random_f32(rng, n)
        packed = fbg.PackedB(w, symmetric=False, dtype="float32" if kind == "float32" else None)
        pipeline = fbg.Bias(bias) >> fbg.GELU()
        if kind == "int8":
            pipeline = fbg.Dequantize() >> pipeline
        make = fbg.PackA if kind == "float32" else fbg.PackAWithQuantRowOffset
        whole = fbg.gemm(make(x), packed, pipeline)
        for m in (*range(1, 28), 35, 48, 49, 60):
            for threads in (1, 2, 3):
                first = (m * 7) % (61 - m)
                got = fbg.gemm(make(x[first : first + m]), packed, pipeline, num_threads=threads)
                assert_same_bits(got, whole[first : first + m])


def test_columns_do_not_depend_on_their_neighbours(isa: str) -> None:
    rng = np.random.default_rng(12)
    x, w = random_f32(rng, 5, 50), random_f32(rng, 50, 130)
    whole = fbg.gemm(fbg.PackA(x), fbg.PackedB(w, dtype="float32"))
    for n in (1, 15, 16, 33, 97):
        part = fbg.gemm(fbg.PackA(x), fbg.PackedB(w[:, 130 - n :], dtype="float32"))
        assert_same_bits(part, whole[:, 130 - n :].copy())


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_row_that_is_not_finite_gives_nan_and_leaves_the_others_alone(
    isa: str, bad: float, threads: int
) -> None:
    rng = np.random.default_rng(13)
    x, w = random_f32(rng, 14, 37), random_f32(rng, 37, 40)
    for symmetric in (True, False):
        packed = fbg.PackedB(w, symmetric=symmetric)
        clean = fbg.gemm(fbg.PackAWithQuantRowOffset(x), packed, fbg.Dequantize())
        spoilt = x.copy()
        spoilt[3, 36] = spoilt[9, 0] = bad
        pipeline = fbg.Dequantize() >> fbg.ReLU() >> fbg.GELU()
        got = fbg.gemm(
            fbg.PackAWithQuantRowOffset(spoilt), packed, fbg.Dequantize(), num_threads=threads
        )
        assert np.isnan(got[[3, 9]]).all()
        others = [i for i in range(14) if i not in (3, 9)]
        assert_same_bits(got[others], clean[others])
        activated = fbg.gemm(fbg.PackAWithQuantRowOffset(spoilt), packed, pipeline)
        np.testing.assert_array_equal(np.isnan(activated), np.isnan(got))
        backwards = np.asfortranarray(spoilt)
        assert_same_bits(
            fbg.gemm(fbg.PackAWithQuantRowOffset(backwards), packed, fbg.Dequantize()), got
        )
        per_tensor = fbg.PackAWithQuantRowOffset(spoilt, granularity="tensor")
        assert np.isnan(fbg.gemm(per_tensor, packed, fbg.Dequantize())).all()


def test_a_row_of_zeros_gives_zeros(isa: str) -> None:
    rng = np.random.default_rng(14)
    x, w = random_f32(rng, 5, 30), random_f32(rng, 30, 20)
    x[2] = 0
    got = fbg.gemm(
        fbg.PackAWithQuantRowOffset(x), fbg.PackedB(w, symmetric=False), fbg.Dequantize()
    )
    assert (got[2] == 0).all() and np.isfinite(got).all()


@pytest.mark.parametrize("magnitude", [1e-45, 1e-38, 1e-30, 1e30, 3.4e38])
def test_rows_of_any_magnitude_follow_the_formula(isa: str, magnitude: float) -> None:
    rng = np.random.default_rng(15)
    x = rng.uniform(-1, 1, (3, 40)) * magnitude
    x = x.astype(np.float32)
    b = random_s8(rng, 40, 9)
    packed = fbg.PackedB(b, scale=1.0, zero_point=3)
    quant = quantize_rows(x)
    output = integer_output(quant.q, quant.scale, quant.zero_point, b, 1.0, 3)
    np.testing.assert_array_equal(fbg.gemm(fbg.PackAWithQuantRowOffset(x), packed), output.result)
    output.correct_zero_points()
    np.testing.assert_array_equal(
        fbg.gemm(fbg.PackAWithQuantRowOffset(x), packed, fbg.CorrectZeroPoints()), output.result
    )


# --- Threads ------------------------------------------------------------------------------------


def test_many_python_threads_may_multiply_at_once(isa: str) -> None:
    rng = np.random.default_rng(16)
    jobs = [(m, n, k) for m in (1, 7, 30) for n in (17, 130) for k in (33, 200)]
    operands = [(random_u8(rng, m, k), random_s8(rng, k, n)) for m, n, k in jobs]
    wrong: list[object] = []
    start = threading.Barrier(8)

    def work(first: int) -> None:
        try:
            start.wait()
            for i in range(len(jobs) * 3):
                a, b = operands[(first + i) % len(jobs)]
                got = fbg.gemm(fbg.PackA(a), fbg.PackedB(b), num_threads=1 + i % 3)
                if not np.array_equal(got, product(a, b)):
                    wrong.append(jobs[(first + i) % len(jobs)])
        except BaseException as error:
            wrong.append(error)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_packed_weights_run_under_every_isa() -> None:
    rng = np.random.default_rng(17)
    a, b = random_u8(rng, 9, 70), random_s8(rng, 70, 50)
    packed, packer = fbg.PackedB(b), fbg.PackA(a)
    for name in fbg.isa.supported():
        with fbg.isa.limit(name):
            np.testing.assert_array_equal(fbg.gemm(packer, packed), product(a, b))


OPERANDS = (np.ones((2, 3), np.float32), np.ones((3, 4), np.float32))


@pytest.mark.parametrize("threads", [0, -1, 1025, 2**40])
@pytest.mark.parametrize("function", ["gemm", "linear"])
def test_a_number_of_threads_out_of_range_is_a_value_error(function: str, threads: int) -> None:
    x, w = OPERANDS[0], fbg.PackedB(OPERANDS[1], dtype="float32")
    with pytest.raises(
        ValueError, match=rf"{function}: num_threads must be within \[1, 1024\], got {threads}"
    ):
        getattr(fbg, function)(x if function == "linear" else fbg.PackA(x), w, num_threads=threads)


@pytest.mark.parametrize("threads", [1.5, "2", (1,), np.float32(1)])
@pytest.mark.parametrize("function", ["gemm", "linear"])
def test_a_number_of_threads_that_is_no_integer_is_a_type_error(
    function: str, threads: object
) -> None:
    x, w = OPERANDS[0], fbg.PackedB(OPERANDS[1], dtype="float32")
    with pytest.raises(TypeError, match=rf"{function}: num_threads must be an integer, got"):
        getattr(fbg, function)(x if function == "linear" else fbg.PackA(x), w, num_threads=threads)


def test_a_number_of_threads_may_be_a_numpy_integer() -> None:
    w = fbg.PackedB(OPERANDS[1], dtype="float32")
    assert fbg.gemm(fbg.PackA(OPERANDS[0]), w, num_threads=np.int64(2)).shape == (2, 4)


# --- Operands that do not go together -----------------------------------------------------------

INT8 = fbg.PackedB(np.ones((3, 4), np.int8))
SCALED = fbg.PackedB(np.ones((3, 4), np.int8), scale=0.5)
FLOAT = fbg.PackedB(np.ones((3, 4), np.float32), dtype="float32")
U8, F32 = np.ones((2, 3), np.uint8), np.ones((2, 3), np.float32)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: fbg.gemm(U8, INT8),
            TypeError,
            "a must be a packer such as PackA, got ndarray",
        ),
        (
            lambda: fbg.gemm(fbg.PackA(U8), U8),
            TypeError,
            "packed_b must be a PackedB, got ndarray",
        ),
        (
            lambda: fbg.gemm(fbg.PackA(F32), INT8),
            TypeError,
            "must be uint8, got float32",
        ),
        (
            lambda: fbg.gemm(fbg.PackA(U8), FLOAT),
            TypeError,
            "must be float32, got uint8",
        ),
        (
            lambda: fbg.gemm(fbg.PackAWithQuantRowOffset(F32), FLOAT),
            TypeError,
            "gemm: float weights take PackA of float32, not this packer",
        ),
        (
            lambda: fbg.gemm(fbg.PackAWithRowOffset(U8, scale=1.0), FLOAT),
            TypeError,
            "gemm: float weights take PackA of float32, not this packer",
        ),
        (
            lambda: fbg.gemm(fbg.PackA(U8[:, :2]), INT8),
            ValueError,
            "gemm: K of a is 2, but packed_b has K = 3",
        ),
        (
            lambda: fbg.gemm(fbg.PackA(U8), SCALED, fbg.Dequantize()),
            TypeError,
            "gemm: Dequantize needs the scales of A and B, but PackA has none",
        ),
        (
            lambda: fbg.gemm(fbg.PackA(U8), SCALED, fbg.Requantize(1.0)),
            TypeError,
            "gemm: Requantize needs the scales of A and B, but PackA has none",
        ),
        (
            lambda: fbg.gemm(fbg.PackA(U8), SCALED, fbg.CorrectZeroPoints()),
            TypeError,
            "gemm: CorrectZeroPoints needs the scales of A and B, but PackA has none",
        ),
        (
            lambda: fbg.gemm(fbg.PackAWithQuantRowOffset(F32), INT8, fbg.Dequantize()),
            TypeError,
            "gemm: Dequantize needs the scales of A and B, but B was packed without a scale",
        ),
        (
            lambda: fbg.gemm(fbg.PackA(U8), INT8, fbg.ReLU()),
            TypeError,
            "ReLU does not accept acc",
        ),
        (
            lambda: fbg.gemm(fbg.PackA(F32), FLOAT, fbg.Dequantize()),
            TypeError,
            "Dequantize does not accept float32",
        ),
        (
            lambda: fbg.gemm(fbg.PackA(F32), FLOAT, fbg.Bias(np.zeros(4, np.int32))),
            TypeError,
            "Bias does not accept float32",
        ),
        (
            lambda: fbg.gemm(fbg.PackA(F32), FLOAT, fbg.Bias(np.zeros(5, np.float32))),
            ValueError,
            "gemm: Bias holds 5 values, C is 2 x 4",
        ),
        (
            lambda: fbg.gemm(fbg.PackA(F32), FLOAT, fbg.Add(np.zeros((4, 2), np.float32))),
            ValueError,
            "gemm: Add holds 4 x 2 values, C is 2 x 4",
        ),
        (lambda: fbg.gemm(fbg.PackA(F32), FLOAT, 3), TypeError, "gemm: pipeline must be"),
        (
            lambda: fbg.gemm(fbg.PackA(F32), FLOAT, [fbg.ReLU(), "relu"]),
            TypeError,
            "pipeline: a stage is wanted, got str",
        ),
    ],
)
def test_operands_that_do_not_go_together_are_refused(
    call: Callable[[], object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        call()


# --- linear -------------------------------------------------------------------------------------


@pytest.mark.parametrize("activation", [None, "relu", "gelu"])
@pytest.mark.parametrize("shape", [(7,), (1, 7), (3, 7), (2, 3, 7), (2, 0, 7), (0, 7), (1, 1, 7)])
def test_linear_keeps_the_leading_shape(
    isa: str, shape: tuple[int, ...], activation: str | None
) -> None:
    rng = np.random.default_rng(18)
    x, w, bias = random_f32(rng, *shape), random_f32(rng, 7, 5), random_f32(rng, 5)
    wanted = x.astype(np.float64) @ w + bias
    if activation == "relu":
        wanted = np.maximum(wanted, 0)
    elif activation == "gelu":
        wanted = exact_gelu(wanted)
    got = fbg.linear(x, fbg.PackedB(w, dtype="float32"), bias, activation)
    assert got.dtype == np.float32 and got.shape == (*shape[:-1], 5)
    np.testing.assert_allclose(got, wanted, atol=3e-6)
    quantized = fbg.linear(x, fbg.PackedB(w), bias, activation)
    assert quantized.dtype == np.float32 and quantized.shape == got.shape
    np.testing.assert_allclose(quantized, wanted, atol=0.2)


def test_linear_is_gemm_with_its_pipeline(isa: str) -> None:
    rng = np.random.default_rng(19)
    x, w, bias = random_f32(rng, 9, 33), random_f32(rng, 33, 20), random_f32(rng, 20)
    packed = fbg.PackedB(w)
    assert_same_bits(
        fbg.linear(x, packed, bias, "gelu", num_threads=2),
        fbg.gemm(
            fbg.PackAWithQuantRowOffset(x),
            packed,
            fbg.Dequantize() >> fbg.Bias(bias) >> fbg.GELU(),
        ),
    )


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: fbg.linear(F32, F32),
            TypeError,
            "packed_b must be a PackedB, got ndarray",
        ),
        (lambda: fbg.linear(U8, FLOAT), TypeError, "linear: x must be float32, got uint8"),
        (
            lambda: fbg.linear(F32.astype(np.float64), FLOAT),
            TypeError,
            "linear: x must be float32, got float64",
        ),
        (lambda: fbg.linear([1.0] * 3, FLOAT), TypeError, "linear: x must be an array, got list"),
        (
            lambda: fbg.linear(F32[:, :2], FLOAT),
            ValueError,
            r"linear: x must have shape \(\.\.\., 3\), got \(2, 2\)",
        ),
        (
            lambda: fbg.linear(np.float32(1), FLOAT),
            ValueError,
            r"linear: x must have shape \(\.\.\., 3\), got \(\)",
        ),
        (
            lambda: fbg.linear(F32, FLOAT, activation="tanh"),
            ValueError,
            "linear: activation must be",
        ),
        (
            lambda: fbg.linear(F32, FLOAT, np.zeros(4, np.int32)),
            TypeError,
            "linear: bias must be float32, got int32",
        ),
        (
            lambda: fbg.linear(F32, FLOAT, np.zeros(4)),
            TypeError,
            "linear: bias must be float32, got float64",
        ),
        (
            lambda: fbg.linear(F32, FLOAT, np.zeros(5, np.float32)),
            ValueError,
            r"linear: bias must have shape \(4,\), got \(5,\)",
        ),
        (lambda: fbg.linear(F32, INT8), TypeError, "B was packed without a scale"),
    ],
)
def test_linear_refuses_what_does_not_fit(
    call: Callable[[], object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        call()


@pytest.mark.parametrize("isa_name", fbg.isa.supported())
def test_raw_sums_of_int8_rows_are_those_of_the_given_values(isa_name: str) -> None:
    rng = np.random.default_rng(5)
    x = rng.integers(-128, 128, (7, 37)).astype(np.int8)
    w = rng.integers(-128, 128, (37, 45)).astype(np.int8)
    with fbg.isa.limit(isa_name):
        a = fbg.PackAWithRowOffset(x, scale=0.5, zero_point=3)
        y = fbg.gemm(a, fbg.PackedB(w), num_threads=2)
        bias = np.arange(45, dtype=np.int32)
        biased = fbg.gemm(a, fbg.PackedB(w), fbg.Bias(bias))
    np.testing.assert_array_equal(y, x.astype(np.int64) @ w.astype(np.int64))
    np.testing.assert_array_equal(biased, y + bias)


# --- Results that no cache holds ----------------------------------------------------------------


def misaligned(m: int, n: int, dtype: npt.DTypeLike) -> Array:
    """An (m, n) array that begins 16 bytes after a cache line does."""
    memory = np.zeros(m * n * 4 + 128, np.uint8)
    start = -memory.ctypes.data % 64 + 16
    return memory[start : start + m * n * 4].view(dtype).reshape(m, n)


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("columns", [2304, 2320])
def test_results_written_past_the_caches_are_the_same(isa: str, threads: int, columns: int) -> None:
    rng = np.random.default_rng(columns)
    m, k = 1000, 5
    w = fbg.PackedB(random_f32(rng, k, columns))
    x, residual = random_f32(rng, m, k), random_f32(rng, m, columns)
    a = fbg.PackAWithQuantRowOffset(x)
    pipeline = fbg.Dequantize() >> fbg.Add(residual)
    want = fbg.gemm(a, w, pipeline, misaligned(m, columns, np.float32), threads)
    assert_same_bits(fbg.gemm(a, w, pipeline, num_threads=threads), want)
    if isa != "generic":
        ours = KERNEL_ISA["int32"][isa]
        assert any(k.isa == ours and "_stream_Dequantize_Add" in k.name for k in fbg.kernels())

    raw = fbg.gemm(fbg.PackA(x), fbg.PackedB(w.dequantize(), dtype="float32"), num_threads=threads)
    small = fbg.gemm(fbg.PackA(x[-7:]), fbg.PackedB(w.dequantize(), dtype="float32"))
    assert_same_bits(raw[-7:], small)


def test_long_sums_written_past_the_caches_are_the_same(isa: str) -> None:
    if isa == "generic":
        return  # generates nothing; seconds of portable code
    rng = np.random.default_rng(9)
    m, n, k = 1000, 2304, 1100  # K is cut
    w, a = fbg.PackedB(random_f32(rng, k, n), dtype="float32"), fbg.PackA(random_f32(rng, m, k))
    want = fbg.gemm(a, w, out=misaligned(m, n, np.float32))
    assert_same_bits(fbg.gemm(a, w), want)
