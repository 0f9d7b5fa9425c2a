"""Packed operands: what goes in comes out, quantized by the formula; all else is refused."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fbg
from helpers.formulas import Array

F32 = np.float32


def random_weights(rng: np.random.Generator, dtype: str, *shape: int) -> Array:
    if dtype == "int8":
        return rng.integers(-128, 128, shape, dtype=np.int8)
    return rng.standard_normal(shape, dtype=np.float32)


def pack(w: object, **options: Any) -> fbg.PackedB:
    """Pack without quantizing: int8 stays int8, float32 stays float32."""
    dtype = getattr(w, "dtype", None)
    return fbg.PackedB(w, dtype="float32" if dtype == np.float32 else None, **options)


# --- Round trips --------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int8", "float32"])
@settings(max_examples=60)
@given(
    k=st.integers(0, 70),
    n=st.integers(0, 140),
    row_step=st.sampled_from([1, -1, 2, -3]),
    column_step=st.sampled_from([1, -1, 2, -3]),
    fortran=st.booleans(),
    transpose=st.booleans(),
    writeable=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_unpacking_gives_what_was_packed(
    dtype: str,
    k: int,
    n: int,
    row_step: int,
    column_step: int,
    fortran: bool,
    transpose: bool,
    writeable: bool,
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    shape = (n, k) if transpose else (k, n)
    store = random_weights(rng, dtype, shape[0] * 3, shape[1] * 3)
    w = np.asarray(store, order="F" if fortran else "C")[::row_step, ::column_step]
    w = w[: shape[0], : shape[1]]
    w.flags.writeable = writeable
    packed = pack(w, transpose=transpose)
    assert packed.shape == (k, n)
    assert packed.dtype == np.dtype(dtype)
    unpacked = packed.unpack()
    assert unpacked.dtype == packed.dtype and unpacked.flags.c_contiguous
    np.testing.assert_array_equal(unpacked, w.T if transpose else w)


@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_one_broadcast_row_may_be_packed(dtype: str) -> None:
    w = np.broadcast_to(random_weights(np.random.default_rng(0), dtype, 1, 40), (9, 40))
    np.testing.assert_array_equal(pack(w).unpack(), w)


def test_every_int8_value_is_kept() -> None:
    w = np.arange(-128, 128).astype(np.int8).reshape(8, 32)
    np.testing.assert_array_equal(fbg.PackedB(w).unpack(), w)


def test_special_floats_are_kept() -> None:
    bits = np.array([0x80000000, 1, 0x7F7FFFFF, 0x00800000], np.uint32)
    w = bits.view(np.float32).reshape(2, 2)
    unpacked = fbg.PackedB(w, dtype="float32").unpack()
    np.testing.assert_array_equal(unpacked.view(np.uint32), w.view(np.uint32))


def test_packing_copies() -> None:
    w = np.ones((3, 3), np.int8)
    packed = fbg.PackedB(w)
    w[:] = 5
    np.testing.assert_array_equal(packed.unpack(), np.ones((3, 3)))
    packed.unpack()[:] = 7
    packed.column_offsets[:] = 7
    np.testing.assert_array_equal(packed.unpack(), np.ones((3, 3)))
    np.testing.assert_array_equal(packed.column_offsets, np.full(3, 3))


class HasArray:
    def __init__(self, array: Array) -> None:
        self._array = array
        self.dtype = array.dtype

    def __array__(self, dtype: object = None, copy: bool | None = None) -> Array:
        return self._array


class HasDlpack:
    def __init__(self, array: Array) -> None:
        self._array = array
        self.dtype = array.dtype

    def __dlpack__(self, **options: Any) -> Any:
        return self._array.__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._array.__dlpack_device__()


@pytest.mark.parametrize("wrap", [HasArray, HasDlpack])
@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_array_like_objects_are_taken(dtype: str, wrap: Callable[[Array], object]) -> None:
    w = random_weights(np.random.default_rng(1), dtype, 6, 5)
    np.testing.assert_array_equal(pack(wrap(w)).unpack(), w)
    np.testing.assert_array_equal(pack(wrap(w.T), transpose=True).unpack(), w)


# --- Column offsets, sizes, repr ----------------------------------------------------------------


@pytest.mark.parametrize("shape", [(1, 1), (5, 33), (257, 64), (4, 95), (0, 3), (3, 0)])
def test_column_offsets_are_the_sums_of_the_columns(shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(2)
    w = random_weights(rng, "int8", *shape)
    packed = fbg.PackedB(w)
    assert packed.column_offsets.dtype == np.int32
    np.testing.assert_array_equal(packed.column_offsets, w.sum(axis=0, dtype=np.int64))
    quantized = fbg.PackedB(rng.standard_normal(shape, dtype=np.float32), symmetric=False)
    np.testing.assert_array_equal(
        quantized.column_offsets, quantized.unpack().sum(axis=0, dtype=np.int64)
    )


def test_column_offsets_hold_the_extremes() -> None:
    w = np.stack([np.full(70000, -128), np.full(70000, 127)], axis=1).astype(np.int8)
    np.testing.assert_array_equal(fbg.PackedB(w).column_offsets, [-128 * 70000, 127 * 70000])


def test_float_weights_have_no_integer_parameters() -> None:
    packed = fbg.PackedB(np.ones((3, 4), F32), dtype="float32")
    assert packed.scale is None and packed.zero_point is None and packed.column_offsets is None
    assert packed.accum == "float32"


def test_panels_are_padded_to_32_columns_and_4_rows() -> None:
    header, parameters = 128, 128  # int8 without a scale has column offsets only
    assert fbg.PackedB(np.ones((1, 1), np.int8)).nbytes == header + 4 * 32 + parameters
    assert fbg.PackedB(np.ones((9, 33), np.int8)).nbytes == header + 12 * 64 + 2 * parameters
    assert fbg.PackedB(np.ones((9, 33), F32), dtype="float32").nbytes == header + 9 * 64 * 4


def test_packing_is_counted() -> None:
    before = fbg._fbg.pack_b_count()
    packed = fbg.PackedB(np.ones((3, 4), F32))
    assert fbg._fbg.pack_b_count() == before + 1
    fbg.linear(np.ones((2, 3), F32), packed)
    packed.unpack()
    assert fbg._fbg.pack_b_count() == before + 1


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (fbg.PackedB(np.ones((3, 4), np.int8)), "PackedB(K=3, N=4, int8, accum=int32, no scale)"),
        (
            fbg.PackedB(np.ones((3, 4), F32)),
            "PackedB(K=3, N=4, int8, accum=int32, scale per column)",
        ),
        (
            fbg.PackedB(np.ones((3, 4), F32), granularity="tensor"),
            "PackedB(K=3, N=4, int8, accum=int32, scale per tensor)",
        ),
        (
            fbg.PackedB(np.ones((3, 4), F32), dtype="float32"),
            "PackedB(K=3, N=4, float32, accum=float32)",
        ),
        (fbg.PackA(np.ones((2, 3), np.uint8)), "PackA(M=2, K=3, uint8)"),
        (
            fbg.PackAWithRowOffset(np.ones((2, 3), np.int8), scale=1.0),
            "PackAWithRowOffset(M=2, K=3, int8)",
        ),
        (
            fbg.PackAWithQuantRowOffset(np.ones((2, 3), F32)),
            "PackAWithQuantRowOffset(M=2, K=3, float32)",
        ),
    ],
)
def test_repr_says_what_it_is(value: object, text: str) -> None:
    assert repr(value) == text


# --- Quantization -------------------------------------------------------------------------------


def check_quantization(w: Array, granularity: str, symmetric: bool) -> None:
    packed = fbg.PackedB(w, granularity=granularity, symmetric=symmetric)  # type: ignore[arg-type]
    columns = w if granularity == "column" else w.reshape(-1, 1)
    lo = columns.min(axis=0, initial=0).astype(F32)
    hi = columns.max(axis=0, initial=0).astype(F32)
    span = np.maximum(-lo, hi) / F32(127) if symmetric else hi / F32(255) - lo / F32(255)
    scale = np.where(span < np.finfo(F32).tiny, F32(1), span)
    point = np.zeros(scale.shape, np.int32)
    if not symmetric:
        point = np.clip(np.rint(F32(-128) - lo / scale), -128, 127).astype(np.int32)
    if granularity == "tensor":
        scale, point = scale.reshape(()), point.reshape(())
    for got, wanted in ((packed.scale, scale), (packed.zero_point, point)):
        assert got.dtype == wanted.dtype and got.shape == wanted.shape
        np.testing.assert_array_equal(got, wanted)
    q = np.clip(np.rint(w / scale) + point, -127 if symmetric else -128, 127)
    np.testing.assert_array_equal(packed.unpack(), q)
    # Rounding the zero point may move the ends of the range by half a step.
    error = np.abs(packed.dequantize().astype(np.float64) - w.astype(np.float64))
    assert (error <= np.maximum(1.0001 * scale, np.finfo(F32).tiny)).all()


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("granularity", ["column", "tensor"])
@settings(max_examples=40)
@given(
    k=st.integers(1, 40),
    n=st.integers(1, 70),
    exponent=st.integers(-30, 30),
    mean=st.sampled_from([0.0, 2.0, -2.0]),
    fortran=st.booleans(),
    seed=st.integers(0, 2**32 - 1),
)
def test_quantization_follows_the_formula(
    granularity: str,
    symmetric: bool,
    k: int,
    n: int,
    exponent: int,
    mean: float,
    fortran: bool,
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    w = (rng.standard_normal((k, n)) + mean) * 10.0**exponent
    check_quantization(np.asarray(w, F32, order="F" if fortran else "C"), granularity, symmetric)


@pytest.mark.parametrize("symmetric", [True, False])
@pytest.mark.parametrize("granularity", ["column", "tensor"])
@pytest.mark.parametrize(
    "column",
    [
        [0, 0, 0],
        [-0.0, 0, -0.0],
        [1e-45, 0, -1e-45],
        [1e-38, 2e-38, 0],
        [3e38, -3e38, 1],  # with room for half a step
        [3.4e38, 0, 3.4e38],
        [-3.4e38, 0, 0],
        [127, 126.5, -125.5],
        [-128, 63.5, 64.5],
        [5, 5, 5],
        [-5, -5, -5],
    ],
)
def test_quantization_at_the_ends_of_the_range(
    column: list[float], granularity: str, symmetric: bool
) -> None:
    check_quantization(np.array(column, F32)[:, None], granularity, symmetric)
    both = np.stack([np.array(column, F32), np.array([0.25, -1, 0.5], F32)], axis=1)
    check_quantization(both, "column", symmetric)


def test_symmetric_weights_never_use_the_lowest_value() -> None:
    w = -np.linspace(0, 1, 999, dtype=F32)[:, None]
    packed = fbg.PackedB(w)
    assert packed.unpack().min() == -127 and packed.zero_point.tolist() == [0]


def test_halves_round_to_even() -> None:
    w = np.array([[127.0], [0.5], [1.5], [2.5], [-0.5], [-1.5]], F32)
    assert fbg.PackedB(w).unpack().ravel().tolist() == [127, 0, 2, 2, 0, -2]


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0)])
@pytest.mark.parametrize("granularity", ["column", "tensor"])
@pytest.mark.parametrize("symmetric", [True, False])
def test_empty_weights_have_parameters(
    shape: tuple[int, int], granularity: str, symmetric: bool
) -> None:
    packed = fbg.PackedB(
        np.zeros(shape, F32),
        granularity=granularity,  # type: ignore[arg-type]
        symmetric=symmetric,
    )
    assert packed.shape == shape and packed.unpack().shape == shape
    per_column = granularity == "column"
    assert packed.scale.shape == packed.zero_point.shape == ((shape[1],) if per_column else ())
    assert (packed.scale == 1).all()
    assert packed.dequantize().shape == shape


# --- Weights that are already quantized ---------------------------------------------------------

W8 = np.array([[1, -2, 3], [4, 5, -128]], np.int8)


@pytest.mark.parametrize(
    "scale", [0.5, 2, F32(0.5), np.array(0.5), np.array(0.5, F32), np.array([0.5, 0.25, 2.0], F32)]
)
@pytest.mark.parametrize(
    "zero_point",
    [None, 0, -128, np.int64(127), np.array(3), np.array([1, -2, 3]), np.zeros(3, np.int8)],
)
def test_given_parameters_are_kept(scale: Any, zero_point: Any) -> None:
    packed = fbg.PackedB(W8, scale=scale, zero_point=zero_point)
    point = np.asarray(0 if zero_point is None else zero_point, np.int32)
    scales = np.asarray(scale, F32)
    shape = np.broadcast_shapes(point.shape, scales.shape)
    assert packed.scale.shape == packed.zero_point.shape == shape
    assert packed.scale.dtype == F32 and packed.zero_point.dtype == np.int32
    np.testing.assert_array_equal(packed.scale, np.broadcast_to(scales, shape))
    np.testing.assert_array_equal(packed.zero_point, np.broadcast_to(point, shape))
    np.testing.assert_array_equal(packed.unpack(), W8)
    wanted = scales * (W8.astype(np.int32) - point).astype(F32)
    assert packed.dequantize().dtype == F32
    np.testing.assert_array_equal(packed.dequantize(), wanted)


def test_one_column_keeps_the_shape_of_its_scale() -> None:
    one = W8[:, :1]
    assert fbg.PackedB(one, scale=0.5).scale.shape == ()
    assert fbg.PackedB(one, scale=np.array([0.5])).scale.shape == (1,)
    assert fbg.PackedB(one.astype(F32)).scale.shape == (1,)


def test_parameters_of_no_columns_are_kept() -> None:
    packed = fbg.PackedB(np.zeros((4, 0), np.int8), scale=np.zeros(0, F32))
    assert packed.scale.shape == (0,)
    assert packed.dequantize().shape == (4, 0)
    a = fbg.PackAWithRowOffset(np.ones((2, 4), np.uint8), scale=1.0)
    assert fbg.gemm(a, packed, fbg.Dequantize()).shape == (2, 0)


def test_weights_without_a_scale_have_no_parameters() -> None:
    packed = fbg.PackedB(W8)
    assert packed.scale is None and packed.zero_point is None
    with pytest.raises(ValueError, match=r"PackedB\.dequantize: these weights were packed without"):
        packed.dequantize()


# --- Bad input ----------------------------------------------------------------------------------

W32 = np.ones((2, 3), F32)
A8 = np.ones((2, 3), np.uint8)


def with_value(value: float) -> Array:
    w = W32.copy()
    w[1, 2] = value
    return w


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: fbg.PackedB([[1.0]]), TypeError, "PackedB: w must be an array, got list"),
        (lambda: fbg.PackedB(None), TypeError, "PackedB: w must be an array, got NoneType"),
        (lambda: fbg.PackedB(memoryview(W32)), TypeError, "must be an array, got memoryview"),
        (lambda: fbg.PackedB("w"), TypeError, "PackedB: w must be an array, got str"),
        (
            lambda: fbg.PackedB(W32.astype(np.float64)),
            TypeError,
            "PackedB: w must be float32 or float16 or bfloat16 or int8, got float64",
        ),
        (lambda: fbg.PackedB(A8), TypeError, "or bfloat16 or int8, got uint8"),
        (lambda: fbg.PackedB(W32.astype(">f4")), TypeError, "or bfloat16 or int8, got >f4"),
        (lambda: fbg.PackedB(W32.astype(object)), TypeError, "or bfloat16 or int8, got object"),
        (
            lambda: fbg.PackedB(W32.astype(complex)),
            TypeError,
            "or bfloat16 or int8, got complex128",
        ),
        (lambda: fbg.PackedB(np.zeros((2, 2), "V0")), TypeError, r"or bfloat16 or int8, got \|V0"),
        (lambda: fbg.PackedB(W32 > 0), TypeError, "or bfloat16 or int8, got bool"),
        (
            lambda: fbg.PackedB(W32[0]),
            ValueError,
            r"PackedB: w must be 2-D \(K, N\), got shape \(3,\)",
        ),
        (
            lambda: fbg.PackedB(W32[None], transpose=True),
            ValueError,
            r"PackedB: w must be 2-D \(N, K\), got shape \(1, 2, 3\)",
        ),
        (lambda: fbg.PackedB(F32(1)), ValueError, r"must be 2-D \(K, N\), got shape \(\)"),
        (
            lambda: fbg.PackedB(with_value(np.nan)),
            ValueError,
            r"PackedB: w must be finite, got nan at \(1, 2\)",
        ),
        (lambda: fbg.PackedB(with_value(-np.inf)), ValueError, r"got -inf at \(1, 2\)"),
        (
            lambda: fbg.PackedB(W32, granularity="row"),
            ValueError,
            "PackedB: granularity must be 'column' or 'tensor', got 'row'",
        ),
        (
            lambda: fbg.PackedB(W32, dtype="float64"),
            ValueError,
            "PackedB: dtype must be one of 'int8', 'float32', 'float16', 'bfloat16', got 'float64'",
        ),
        (
            lambda: fbg.PackedB(W8, dtype="float32"),
            TypeError,
            "PackedB: w must be floating for dtype='float32', got int8",
        ),
        (
            lambda: fbg.PackedB(W32, scale=1.0),
            TypeError,
            "PackedB: scale and zero_point go with an int8 w, got float32",
        ),
        (
            lambda: fbg.PackedB(W8, zero_point=1),
            ValueError,
            "PackedB: zero_point was given without scale",
        ),
        (
            lambda: fbg.PackedB(W8, scale=np.ones(2, F32)),
            ValueError,
            r"PackedB: scale must have shape \(\) or \(3,\), got \(2,\)",
        ),
        (
            lambda: fbg.PackedB(W8, scale=np.ones((1, 3), F32)),
            ValueError,
            r"PackedB: scale must have shape \(\) or \(3,\), got \(1, 3\)",
        ),
        (
            lambda: fbg.PackedB(W8, scale=1.0, zero_point=np.zeros(2, int)),
            ValueError,
            r"PackedB: zero_point must have shape \(\) or \(3,\), got \(2,\)",
        ),
        (
            lambda: fbg.PackedB(W8, scale=1.0, zero_point=128),
            ValueError,
            r"PackedB: zero_point must be within \[-128, 127\], got 128",
        ),
        (
            lambda: fbg.PackedB(W8, scale=1.0, zero_point=-129),
            ValueError,
            r"\[-128, 127\], got -129",
        ),
        (lambda: fbg.PackedB(W8, scale=1.0, zero_point=2**40), ValueError, r"\[-128, 127\], got"),
        (
            lambda: fbg.PackedB(W8, scale=1.0, zero_point=0.5),
            TypeError,
            "PackedB: zero_point must be integer, got float64",
        ),
        (lambda: fbg.PackedB(W8, scale="1"), TypeError, "PackedB: scale must be float, got <U1"),
        (lambda: fbg.PackedB(W8, scale=1j), TypeError, "scale must be float, got complex128"),
        *(
            (
                lambda scale=scale: fbg.PackedB(W8, scale=scale),
                ValueError,
                "PackedB: scale must be finite and positive",
            )
            for scale in (0.0, -1.0, np.nan, np.inf, 1e300, 1e-60, np.array([1, np.nan, 1], F32))
        ),
        (lambda: fbg.PackA([[1]]), TypeError, "PackA: x must be an array, got list"),
        (
            lambda: fbg.PackA(W32.astype(np.float64)),
            TypeError,
            "PackA: x must be uint8 or float32 or bfloat16, got float64",
        ),
        (
            lambda: fbg.PackA(W8),
            TypeError,
            "PackA: x must be uint8 or float32 or bfloat16, got int8",
        ),
        (lambda: fbg.PackA(A8[0]), ValueError, r"PackA: x must be 2-D \(M, K\), got shape \(3,\)"),
        (
            lambda: fbg.PackAWithRowOffset(W32, scale=1.0),
            TypeError,
            "PackAWithRowOffset: x must be uint8 or int8, got float32",
        ),
        *(
            (
                lambda scale=scale: fbg.PackAWithRowOffset(A8, scale=scale),
                ValueError,
                "PackAWithRowOffset: scale must be finite and positive",
            )
            for scale in (0.0, -1.0, np.nan, np.inf, 1e300, 1e-60)
        ),
        *(
            (
                lambda scale=scale: fbg.PackAWithRowOffset(A8, scale=scale),
                TypeError,
                "PackAWithRowOffset: scale must be (one )?float, got",
            )
            for scale in ("1", None, 1j, [1.0], np.ones(3, F32))
        ),
        (
            lambda: fbg.PackAWithRowOffset(A8, scale=1.0, zero_point=256),
            ValueError,
            r"PackAWithRowOffset: zero_point must be within \[0, 255\], got 256",
        ),
        (
            lambda: fbg.PackAWithRowOffset(W8, scale=1.0, zero_point=128),
            ValueError,
            r"PackAWithRowOffset: zero_point must be within \[-128, 127\], got 128",
        ),
        *(
            (
                lambda point=point: fbg.PackAWithRowOffset(A8, scale=1.0, zero_point=point),
                TypeError,
                "PackAWithRowOffset: zero_point must be an integer, got",
            )
            for point in (1.5, "1", None, np.float32(3))
        ),
        (
            lambda: fbg.PackAWithQuantRowOffset(A8),
            TypeError,
            "PackAWithQuantRowOffset: x must be float32, got uint8",
        ),
        (
            lambda: fbg.PackAWithQuantRowOffset(W32, granularity="column"),
            ValueError,
            "PackAWithQuantRowOffset: granularity must be 'row' or 'tensor', got 'column'",
        ),
        (
            lambda: fbg.PackAWithQuantRowOffset(
                W32, granularity="tensor", row_range=np.zeros((len(W32), 2), F32)
            ),
            TypeError,
            "PackAWithQuantRowOffset: row_range goes with granularity='row'",
        ),
        (
            lambda: fbg.PackAWithQuantRowOffset(W32, channel_scale=np.ones(W32.shape[1] + 1, F32)),
            ValueError,
            "PackAWithQuantRowOffset: channel_scale must have shape ",
        ),
        (
            lambda: fbg.PackAWithQuantRowOffset(W32, channel_scale=np.ones(W32.shape[1])),
            TypeError,
            "PackAWithQuantRowOffset: channel_scale must be float32, got float64",
        ),
        (
            lambda: fbg.PackAWithQuantRowOffset(
                W32,
                row_range=np.zeros((len(W32), 2), F32),
                channel_scale=np.ones(W32.shape[1], F32),
            ),
            TypeError,
            "PackAWithQuantRowOffset: row_range excludes channel_scale",
        ),
        (
            lambda: fbg.PackAWithQuantRowOffset(W32, row_range=np.zeros((99, 2), F32)),
            ValueError,
            rf"PackAWithQuantRowOffset: row_range must have shape \({len(W32)}, 2\), got \(99, 2\)",
        ),
        (
            lambda: fbg.PackAWithQuantRowOffset(W32, row_range=np.zeros((len(W32), 2))),
            TypeError,
            "PackAWithQuantRowOffset: row_range must be float32, got float64",
        ),
        (
            lambda: fbg.PackAWithQuantRowOffset(W32, row_range=np.zeros((2, len(W32)), F32).T),
            ValueError,
            "PackAWithQuantRowOffset: row_range must be C-contiguous",
        ),
    ],
)
def test_bad_operands_are_refused(
    call: Callable[[], object], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        call()
