"""The quantization toolbox against definitions in plain NumPy or loops over single values.

choose_qparams, quantize and dequantize of one tensor are in test_quantization.py.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

import fbg
from fbg.quantization import (
    HistogramObserver,
    MinMaxObserver,
    PercentileObserver,
    RowwiseMatrix,
    choose_qparams,
    choose_qparams_mse,
    dequantize,
    quantize,
    quantize_rowwise,
    requantize,
)

F32 = np.float32
Array = np.ndarray[Any, Any]
FINITE = st.floats(width=32, allow_nan=False, allow_infinity=False)
MODERATE = st.floats(-(2.0**20), 2.0**20, width=32)
DTYPES = [np.uint8, np.int8]
OBSERVERS: dict[str, Callable[..., Any]] = {
    "minmax": MinMaxObserver,
    "percentile": lambda **kw: PercentileObserver(99.0, **kw),
    "entropy": lambda **kw: HistogramObserver("entropy", **kw),
    "mse": lambda **kw: HistogramObserver("mse", **kw),
}
# Ends of float32, constants, zeros, one sign, denormals.
HARD = {
    "zeros": [0, 0, 0],
    "negative zero": [-0.0, -0.0],
    "constant": [5, 5, 5],
    "negative constant": [-5, -5],
    "one value": [0.1],
    "huge": [3.4e38, -3.4e38, 1],
    "huge of one sign": [-3.4e38, -3.3e38],
    "denormal": [1e-45, -3e-45, 1e-44],
    "denormal scale": [1e-38, -2e-38, 3e-37],
    "far from zero": [1000, 1000.5, 1001],
    "one outlier": [0.1, -0.2, 0.3, 1e6],
}


def round_trip(x: Array, scale: Any, zero_point: Any, dtype: Any) -> Array:
    return dequantize(quantize(x, scale, zero_point, dtype), scale, zero_point)


# --- Parameters ---------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("mode", ["asymmetric", "symmetric", "preserve_sparsity"])
@given(bounds=arrays.arrays(F32, (5, 2), elements=FINITE))
def test_arrays_of_bounds_give_what_each_pair_gives(mode: str, dtype: Any, bounds: Array) -> None:
    options = {} if mode == "asymmetric" else {mode: True}
    lo, hi = bounds.min(axis=1), bounds.max(axis=1)
    scales, points = choose_qparams(lo, hi, dtype, **options)
    assert scales.dtype == F32 and points.dtype == np.int32
    for c in range(5):
        assert choose_qparams(lo[c], hi[c], dtype, **options) == (scales[c], points[c])


@pytest.mark.parametrize(("dtype", "middle"), [(np.uint8, 128), (np.int8, 0)])
@given(first=FINITE, second=FINITE)
def test_preserve_sparsity_puts_zero_in_the_middle_of_two_signs(
    dtype: Any, middle: int, first: float, second: float
) -> None:
    low, high = sorted((first, second))
    scale, point = choose_qparams(low, high, dtype, preserve_sparsity=True)
    if low < 0 < high:
        wanted = max(F32(low) / F32(-128), F32(high) / F32(127))
        assert (scale, point) == (wanted if wanted > 0 else 1, middle)
    else:
        assert (scale, point) == choose_qparams(low, high, dtype)


def best_by_loops(x: Array, dtype: Any, symmetric: bool, steps: int) -> tuple[Any, float]:
    """choose_qparams_mse as its docstring states it, for one channel."""
    best, least = (F32(x.min(initial=0)), F32(x.max(initial=0))), math.inf
    for low_moves, high_moves in [(1, 1)] if symmetric else [(1, 1), (1, 0), (0, 1)]:
        start = best
        for k in range(steps, 0, -1):
            t = F32(k / steps)
            ends = (
                start[0] * t if low_moves else start[0],
                start[1] * t if high_moves else start[1],
            )
            with np.errstate(over="ignore"):
                difference = round_trip(x, *choose_qparams(*ends, dtype, symmetric), dtype) - x
            error = math.fsum(float(d) ** 2 for d in difference.ravel())
            if error < least * (1 - 1e-12):
                best, least = ends, error
    return choose_qparams(*best, dtype, symmetric), least


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), outlier=st.sampled_from([1, 3, 30, 1000]))
def test_mse_choice_is_the_best_of_the_ranges_tried(
    dtype: Any, symmetric: bool, seed: int, outlier: float
) -> None:
    x = np.random.default_rng(seed).standard_normal(60, F32)
    x[0] *= outlier
    _, least = best_by_loops(x, dtype, symmetric, 12)
    scale, point = choose_qparams_mse(x, dtype, symmetric, steps=12)
    difference = (round_trip(x, scale, point, dtype) - x).astype(np.float64)
    assert (difference**2).sum() == pytest.approx(least, rel=1e-9)


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@given(x=arrays.arrays(F32, st.integers(0, 30), elements=MODERATE))
def test_mse_choice_is_never_worse_than_the_whole_range(
    dtype: Any, symmetric: bool, x: Array
) -> None:
    def error(scale: Any, point: Any) -> float:
        return float(((round_trip(x, scale, point, dtype) - x).astype(np.float64) ** 2).sum())

    whole = choose_qparams(x.min(initial=0), x.max(initial=0), dtype, symmetric)
    assert error(*choose_qparams_mse(x, dtype, symmetric, steps=10)) <= error(*whole) * (1 + 1e-12)


def test_mse_choice_clips_a_long_tail() -> None:
    x = np.random.default_rng(0).standard_normal(20_000, F32)
    x[0] = 12
    whole = choose_qparams(x.min(), x.max(), np.int8, symmetric=True)
    found = choose_qparams_mse(x, np.int8, symmetric=True)
    errors = [
        np.square(round_trip(x, *p, np.int8) - x, dtype=np.float64).sum() for p in (whole, found)
    ]
    assert errors[1] < 0.95 * errors[0]


@pytest.mark.parametrize("axis", [0, 1, 2, -1])
def test_mse_choice_per_axis_is_that_of_each_slice(axis: int) -> None:
    x = np.random.default_rng(0).standard_cauchy((3, 4, 5)).astype(F32)
    scales, points = choose_qparams_mse(x, np.int8, axis=axis, steps=20)
    for c in range(x.shape[axis]):
        alone = choose_qparams_mse(x.take(c, axis), np.int8, steps=20)
        assert alone == (scales[c], points[c])


# --- Observers ----------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", OBSERVERS)
@given(
    x=arrays.arrays(F32, st.integers(1, 40), elements=FINITE),
    cuts=st.lists(st.integers(0, 40), max_size=4),
    order=st.randoms(use_true_random=False),
)
def test_what_is_observed_does_not_depend_on_the_batches(
    kind: str, x: Array, cuts: list[int], order: Any
) -> None:
    whole, pieces = OBSERVERS[kind](), OBSERVERS[kind]()
    whole.update(x)
    batches = np.split(x, sorted(min(cut, len(x)) for cut in cuts))
    order.shuffle(batches)
    for batch in batches:
        pieces.update(batch)
    for symmetric in (False, True):
        assert whole.qparams(np.int8, symmetric) == pieces.qparams(np.int8, symmetric)


@pytest.mark.parametrize("kind", OBSERVERS)
def test_channels_are_observed_apart(kind: str) -> None:
    rng = np.random.default_rng(1)
    x = (rng.standard_cauchy((50, 4, 6)) * [[[1e-3], [1], [1e3], [0]]]).astype(F32)
    together = OBSERVERS[kind](axis=1)
    for batch in np.split(x, 5):
        together.update(batch)
    scales, points = together.qparams()
    assert scales.shape == points.shape == (4,)
    assert scales.dtype == F32 and points.dtype == np.int32
    for c in range(4):
        alone = OBSERVERS[kind]()
        alone.update(x[:, c])
        assert alone.qparams() == (scales[c], points[c])


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@given(x=arrays.arrays(F32, st.integers(1, 40), elements=FINITE))
def test_min_max_observer_is_min_and_max(dtype: Any, symmetric: bool, x: Array) -> None:
    observer = MinMaxObserver()
    observer.update(x)
    wanted = choose_qparams(x.min(), x.max(), dtype, symmetric)
    assert observer.qparams(dtype, symmetric) == wanted


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    n=st.integers(1, 400),
    percentile=st.sampled_from([50, 60.0, 90.0, 99.0, 99.9, 100]),
    mean=st.sampled_from([0.0, 5.0, -5.0]),
)
def test_percentile_observer_leaves_out_the_tails(
    seed: int, n: int, percentile: float, mean: float
) -> None:
    x = np.random.default_rng(seed).standard_cauchy(n).astype(F32) + F32(mean)
    observer = PercentileObserver(percentile)
    observer.update(x)
    width = 2.0 ** math.frexp(float(np.abs(x).max()))[1] / 2048
    out = (100 - Fraction(str(percentile))) * n / 100

    def quantile(values: Array, left_out: Fraction) -> float:
        """Smallest of the values with no more than `left_out` above it; the definition."""
        return min(float(v) for v in values if (values > v).sum() <= left_out)

    # A symmetric int8 scale is t / 127; asymmetric bounds come back from scale and zero point.
    t = float(observer.qparams(np.int8, symmetric=True)[0]) * 127
    exact = quantile(np.abs(x), out)
    assert exact * (1 - 1e-6) <= t <= (exact + width) * (1 + 1e-6)
    hi = max(0.0, quantile(x, out / 2))
    lo = min(0.0, -quantile(-x, out / 2))
    span = float(observer.qparams()[0]) * 255
    assert (hi - lo) * (1 - 1e-6) <= span <= (hi - lo + 2 * width) * (1 + 1e-6)


def thresholds(count: int, whole: int) -> list[int]:
    return sorted({int(t) for t in np.linspace(1, whole, count)}, reverse=True)


def best_threshold(x: Array, criterion: str, dtype: Any, symmetric: bool, count: int) -> float:
    """HistogramObserver as its docstring states it, bin by bin; the scale that it finds."""
    width = 2.0 ** math.frexp(float(np.abs(x).max()))[1] / 256
    bins = np.floor(x.astype(np.float64) / width).astype(int)
    counts = {int(i): int((bins == i).sum()) for i in range(-256, 256)}
    low, high = min(bins.min(), 0), max(bins.max() + 1, 0)
    lo, hi = min(float(x.min()), 0.0), max(float(x.max()), 0.0)
    whole, found = max(-low, high), []
    for t in thresholds(count, whole):
        first, last = (-t, t) if symmetric else (max(-t, low), min(t, high))
        if t < whole and last - first < 256:
            continue
        scale, point = choose_qparams(
            max(lo, first * width), min(hi, last * width), dtype, symmetric
        )
        limits = np.iinfo(dtype)

        def level(i: int, step: float = float(scale), z: int = point, lim: Any = limits) -> int:
            return int(min(max(round((i + 0.5) * width / step) + z, lim.min), lim.max)) - z

        if criterion == "mse":
            cost = sum(
                n * (level(i) * float(scale) - (i + 0.5) * width) ** 2 for i, n in counts.items()
            )
        else:
            p = {i: float(counts[i]) for i in range(first, last)}
            p[first] += sum(n for i, n in counts.items() if i < first)
            p[last - 1] += sum(n for i, n in counts.items() if i >= last)
            group = {i: level(i) for i in range(first, last)}
            q = {}
            for i in range(first, last):
                alike = [j for j in group if group[j] == group[i]]
                occupied = sum(p[j] > 0 for j in alike)
                q[i] = max(sum(counts[j] for j in alike) / max(occupied, 1), 0.5)
            inside = max(sum(counts[i] for i in range(first, last)), 0.5)
            cost = sum(
                p[i] / len(x) * math.log((p[i] / len(x)) / (q[i] / inside)) for i in p if p[i] > 0
            )
        found.append((cost, float(scale)))
    least = min(cost for cost, _ in found)
    return [scale for cost, scale in found if cost <= least + 1e-12 * abs(least)]


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("criterion", ["entropy", "mse"])
@settings(max_examples=8)
@given(seed=st.integers(0, 2**32 - 1), dtype=st.sampled_from(DTYPES))
def test_histogram_observer_finds_the_best_threshold(
    criterion: Any, symmetric: bool, seed: int, dtype: Any
) -> None:
    x = np.random.default_rng(seed).standard_t(3, 2000).astype(F32)
    observer = HistogramObserver(criterion, bins=512, candidates=12)
    observer.update(x)
    scale, _ = observer.qparams(dtype, symmetric)
    assert float(scale) in best_threshold(x, criterion, dtype, symmetric, 12)


@pytest.mark.parametrize("criterion", ["entropy", "mse"])
def test_histogram_observer_clips_an_outlier(criterion: Any) -> None:
    rng = np.random.default_rng(7)
    observer = HistogramObserver(criterion)
    for _ in range(10):
        observer.update(rng.standard_normal(5000, F32))
    observer.update(np.array([20.0], F32))
    scale, _ = observer.qparams(np.int8, symmetric=True)
    assert 2 < float(scale) * 127 < 18


@pytest.mark.parametrize("symmetric", [False, True])
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", [*OBSERVERS, "search"])
@pytest.mark.parametrize("values", HARD.values(), ids=list(HARD))
def test_hard_values_give_usable_parameters(
    kind: str, values: list[float], dtype: Any, symmetric: bool
) -> None:
    with np.errstate(under="ignore"):
        x = np.array(values, F32)
    if kind == "search":
        scale, point = choose_qparams_mse(x, dtype, symmetric)
    else:
        observer = OBSERVERS[kind]()
        observer.update(x)
        scale, point = observer.qparams(dtype, symmetric)
    limits = np.iinfo(dtype)
    assert isinstance(scale, F32) and isinstance(point, int)
    assert np.isfinite(scale) and scale > 0 and limits.min <= point <= limits.max
    assert round_trip(np.zeros(1, F32), scale, point, dtype)[0] == 0


# --- Requantize ---------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@given(
    acc=arrays.arrays(np.int32, st.integers(0, 30)),
    multiplier=st.floats(2.0**-140, 2.0**120, width=32, exclude_min=True),
    data=st.data(),
)
def test_requantize_is_the_formula(
    dtype: Any, acc: Array, multiplier: float, data: st.DataObject
) -> None:
    limits = np.iinfo(dtype)
    point = data.draw(st.integers(int(limits.min), int(limits.max)))
    q = requantize(acc, multiplier, point, dtype)
    assert q.dtype == dtype and q.shape == acc.shape
    for value, got in zip(acc, q, strict=True):
        with np.errstate(over="ignore", under="ignore"):
            real = float(F32(value) * F32(multiplier))
        wanted = round(real) + point if math.isfinite(real) else real
        assert got == min(max(wanted, limits.min), limits.max)


@pytest.mark.parametrize("dtype", DTYPES)
def test_requantize_gives_the_bits_of_the_pipeline_stage(dtype: Any) -> None:
    rng = np.random.default_rng(3)
    a = rng.integers(0, 256, (9, 40), np.uint8)
    b = rng.integers(-128, 128, (40, 21)).astype(np.int8)
    column_scale = rng.uniform(0.001, 0.1, 21).astype(F32)
    stage = fbg.Requantize(scale=0.7, zero_point=5, dtype=dtype)
    packed = fbg.PackedB(b, scale=column_scale)
    wanted = fbg.gemm(fbg.PackAWithRowOffset(a, scale=0.02, zero_point=7), packed, stage)
    acc = ((a.astype(np.int32) - 7) @ b.astype(np.int32)).astype(np.int32)
    got = requantize(acc, F32(0.02) * column_scale / F32(0.7), 5, dtype)
    np.testing.assert_array_equal(got, wanted)


def test_parameters_broadcast_per_axis() -> None:
    x = np.random.default_rng(0).standard_normal((4, 3, 5), F32)
    scale = np.array([0.1, 0.2, 0.3], F32)[:, None]
    point = np.array([1, 2, 3])[:, None]
    q = quantize(x, scale, point)
    real = dequantize(q, scale, point)
    acc = np.arange(60, dtype=np.int32).reshape(x.shape)
    narrow = requantize(acc, scale, point)
    for c in range(3):
        s, z = scale[c, 0], int(point[c, 0])
        np.testing.assert_array_equal(q[:, c], quantize(x[:, c], s, z))
        np.testing.assert_array_equal(real[:, c], dequantize(q[:, c], s, z))
        np.testing.assert_array_equal(narrow[:, c], requantize(acc[:, c], s, z))


def test_16_bit_floats_are_quantized_as_the_float32_they_equal() -> None:
    x = np.random.default_rng(0).standard_normal((4, 6), F32)
    for dtype in (np.float16, ml_dtypes.bfloat16):
        short = x.astype(dtype)
        np.testing.assert_array_equal(
            quantize(short, 0.02, 128), quantize(short.astype(F32), 0.02, 128)
        )
        assert choose_qparams_mse(short) == choose_qparams_mse(short.astype(F32))


def test_int32_is_dequantized_without_overflow() -> None:
    limits = np.iinfo(np.int32)
    q = np.array([limits.min, 0, limits.max], np.int32)
    np.testing.assert_array_equal(
        dequantize(q, 1.0, limits.max), np.array([-(2.0**32), -(2.0**31), 0], F32)
    )


# --- Rows of 2, 4 and 8 bits --------------------------------------------------------------------


def matrices(elements: st.SearchStrategy[float]) -> st.SearchStrategy[Array]:
    return arrays.arrays(F32, st.tuples(st.integers(0, 4), st.integers(0, 9)), elements=elements)


def fields_of_a_row(data: Array, columns: int, bits: int) -> list[int]:
    """The values of one packed row, bit by bit: value j holds bits [j b, (j + 1) b)."""
    stream = int.from_bytes(bytes(data), "little")
    return [(stream >> (j * bits)) & (2**bits - 1) for j in range(columns)]


@pytest.mark.parametrize("scale_dtype", [np.float32, np.float16])
@pytest.mark.parametrize("bits", [2, 4, 8])
@given(x=matrices(st.floats(-60000, 60000, width=32)))
def test_rows_follow_the_formula(bits: int, scale_dtype: Any, x: Array) -> None:
    rows = quantize_rowwise(x, bits, scale_dtype)
    m, n = x.shape
    top = 2**bits - 1
    assert rows.shape == x.shape and rows.data.shape == (m, -(-n * bits // 8))
    assert rows.data.dtype == np.uint8
    assert rows.scale.dtype == rows.bias.dtype == scale_dtype
    assert rows.nbytes == rows.data.nbytes + m * 2 * np.dtype(scale_dtype).itemsize
    real = rows.dequantize()
    assert real.dtype == F32 and real.shape == x.shape
    for i in range(m):
        values = [float(v) for v in x[i]]
        scale, bias = float(rows.scale[i]), float(rows.bias[i])
        low, high = min(values, default=0.0), max(values, default=0.0)
        # The nearest values of scale_dtype on the safe side of the exact ones.
        assert bias <= low < float(np.nextafter(rows.bias[i], scale_dtype(np.inf)))
        step = (high - bias) / top
        if step == 0:
            assert scale == 1
        else:
            assert float(np.nextafter(rows.scale[i], scale_dtype(0))) < step <= scale
        q = fields_of_a_row(rows.data[i], n, bits)
        assert q == [min(max(round((v - bias) / scale), 0), top) for v in values]
        assert rows.unpack()[i].tolist() == q
        np.testing.assert_array_equal(real[i], np.array([scale * v + bias for v in q]).astype(F32))


@pytest.mark.parametrize("scale_dtype", [np.float32, np.float16])
@pytest.mark.parametrize("bits", [2, 4, 8])
@given(x=matrices(st.floats(-60000, 60000, width=32)))
def test_no_value_of_a_row_is_off_by_more_than_half_a_step(
    bits: int, scale_dtype: Any, x: Array
) -> None:
    rows = quantize_rowwise(x, bits, scale_dtype)
    error = np.abs(rows.dequantize().astype(np.float64) - x)
    # Dequantized values are rounded to float32.
    assert (
        error <= 0.5 * rows.scale.astype(np.float64)[:, None] * (1 + 1e-9) + np.spacing(abs(x))
    ).all()


@pytest.mark.parametrize("bits", [2, 4, 8])
@given(x=matrices(FINITE))
def test_rows_hold_any_finite_float32(bits: int, x: Array) -> None:
    rows = quantize_rowwise(x, bits)
    real = rows.dequantize()
    assert np.isfinite(real).all() and np.isfinite(rows.scale).all() and (rows.scale > 0).all()
    half = 0.5 * rows.scale.astype(np.float64)[:, None]
    error = np.abs(real.astype(np.float64) - x.astype(np.float64))
    with np.errstate(over="ignore"):
        assert (error <= half * (1 + 1e-6) + np.spacing(np.abs(x)).astype(np.float64)).all()


@pytest.mark.parametrize("scale_dtype", [np.float32, np.float16])
@pytest.mark.parametrize("bits", [2, 4, 8])
def test_rows_that_fit_the_grid_come_back_exactly(bits: int, scale_dtype: Any) -> None:
    q = np.random.default_rng(bits).integers(0, 2**bits, (6, 13))
    q[:, 0], q[:, 1] = 0, 2**bits - 1
    x = (q * 0.25 - 3).astype(F32)
    x[5] = 0
    rows = quantize_rowwise(x, bits, scale_dtype)
    np.testing.assert_array_equal(rows.dequantize(), x)
    assert rows.scale.tolist() == [0.25] * 5 + [1]


@pytest.mark.parametrize("scale_dtype", [np.float32, np.float16])
@pytest.mark.parametrize("bits", [2, 4, 8])
@given(x=matrices(st.floats(-60000, 60000, width=32)))
def test_fused_rows_come_back(bits: int, scale_dtype: Any, x: Array) -> None:
    rows = quantize_rowwise(x, bits, scale_dtype)
    fused = rows.fused()
    size = np.dtype(scale_dtype).itemsize
    assert fused.dtype == np.uint8 and fused.shape == (len(x), rows.data.shape[1] + 2 * size)
    again = RowwiseMatrix.from_fused(np.asfortranarray(fused), x.shape[1], bits, scale_dtype)
    for name in ("data", "scale", "bias"):
        got, wanted = getattr(again, name), getattr(rows, name)
        assert got.dtype == wanted.dtype
        np.testing.assert_array_equal(got, wanted)
    np.testing.assert_array_equal(again.dequantize(), rows.dequantize())


def test_fused_bytes_are_values_then_scale_then_bias() -> None:
    x = np.array([[-1, -0.5, 0, 0.5, 6.5]], F32)
    half = quantize_rowwise(x, 4, np.float16).fused()
    assert half.tolist() == [[0x10, 0x32, 0x0F, 0x00, 0x38, 0x00, 0xBC]]
    single = quantize_rowwise(np.array([[0, 255, 3]], F32)).fused()
    assert single.tolist() == [[0, 255, 3, 0, 0, 0x80, 0x3F, 0, 0, 0, 0]]


# --- What is refused ----------------------------------------------------------------------------

X = np.ones((2, 3), F32)
NAN, INF = X * F32(np.nan), X * F32(np.inf)
ACC = np.ones((2, 3), np.int32)
FUSED = quantize_rowwise(X).fused()


def observe(observer: Any, *batches: Any) -> None:
    for batch in batches:
        observer.update(batch)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: choose_qparams(-1.0, 1.0, symmetric=True, preserve_sparsity=True),
            ValueError,
            "choose_qparams: want symmetric or preserve_sparsity, got both",
        ),
        (
            lambda: choose_qparams("a", 1.0),
            TypeError,
            "choose_qparams: minimum must be a real number, got <U1",
        ),
        (
            lambda: choose_qparams(np.zeros(2), np.ones(3)),
            ValueError,
            r"one shape, got \(2,\) and \(3,\)",
        ),
        (
            lambda: choose_qparams(np.zeros(2), np.array([1, np.inf])),
            ValueError,
            "want finite minimum <= maximum",
        ),
        (
            lambda: quantize([1.0], 1.0),
            TypeError,
            "quantize: x must be an array, got list",
        ),
        (
            lambda: quantize(X.astype(np.float64), 1.0),
            TypeError,
            "quantize: x must be float32 or float16 or bfloat16, got float64",
        ),
        (
            lambda: quantize(X, np.ones(2, F32)),
            ValueError,
            r"quantize: scale must broadcast to the data's shape \(2, 3\), got \(2,\)",
        ),
        (
            lambda: quantize(X, 1.0, np.ones((4, 2, 3), int)),
            ValueError,
            r"quantize: zero_point must broadcast to the data's shape \(2, 3\), got \(4, 2, 3\)",
        ),
        (
            lambda: dequantize(X, 1.0),
            TypeError,
            "dequantize: q must be uint8 or int8 or int32, got float32",
        ),
        (lambda: dequantize(ACC, 0.0), ValueError, "dequantize: scale must be finite and positive"),
        (
            lambda: dequantize(ACC.astype(np.uint8), 1.0, -1),
            ValueError,
            r"dequantize: zero_point must be within \[0, 255\], got -1",
        ),
        (
            lambda: requantize(ACC.astype(np.int64), 1.0),
            TypeError,
            "requantize: acc must be int32, got int64",
        ),
        (
            lambda: requantize(ACC, -1.0),
            ValueError,
            "requantize: multiplier must be finite and positive, got -1.0",
        ),
        (
            lambda: requantize(ACC, 1.0, 128, np.int8),
            ValueError,
            r"requantize: zero_point must be within \[-128, 127\], got 128",
        ),
        (
            lambda: requantize(ACC, 1.0, 0, np.int16),
            TypeError,
            "requantize: dtype must be uint8 or int8, got int16",
        ),
        *(
            (
                lambda bad=bad: choose_qparams_mse(bad),
                ValueError,
                "x must be finite, got NaN or Inf",
            )
            for bad in (NAN, INF)
        ),
        (
            lambda: choose_qparams_mse(X, axis=2),
            ValueError,
            r"choose_qparams_mse: axis must be within \[-2, 1\], got 2",
        ),
        (lambda: choose_qparams_mse(X, steps=0), ValueError, "choose_qparams_mse: steps must be"),
        (
            lambda: choose_qparams_mse(X, np.int32),
            TypeError,
            "choose_qparams_mse: dtype must be uint8 or int8, got int32",
        ),
        *(
            (
                lambda kind=kind: OBSERVERS[kind]().qparams(),
                ValueError,
                "at least one value, got none",
            )
            for kind in OBSERVERS
        ),
        *(
            (
                lambda bad=bad: observe(MinMaxObserver(), bad),
                ValueError,
                "update: batch must be finite",
            )
            for bad in (NAN, INF)
        ),
        (
            lambda: observe(PercentileObserver(), X.astype(np.float64)),
            TypeError,
            "PercentileObserver.update: batch must be float32 or float16 or bfloat16, got float64",
        ),
        (
            lambda: observe(MinMaxObserver(axis=0), X, X[:1]),
            ValueError,
            "MinMaxObserver.update: batch must have 2 channels along axis 0, got 1",
        ),
        (
            lambda: observe(MinMaxObserver(axis=2), X),
            ValueError,
            r"MinMaxObserver.update: axis must be within \[-2, 1\], got 2",
        ),
        *(
            (
                lambda p=p: PercentileObserver(p),
                ValueError,
                r"percentile must be within \[50, 100\]",
            )
            for p in (0, 49.9, 100.1, np.nan)
        ),
        (
            lambda: PercentileObserver("99"),
            TypeError,
            "PercentileObserver: percentile must be a number, got str",
        ),
        (
            lambda: HistogramObserver("kl"),
            ValueError,
            "HistogramObserver: criterion must be 'entropy' or 'mse', got 'kl'",
        ),
        (
            lambda: HistogramObserver(bins=1000),
            ValueError,
            "HistogramObserver: bins must be a power of two, got 1000",
        ),
        (
            lambda: HistogramObserver().qparams(np.int16),
            TypeError,
            "HistogramObserver.qparams: dtype must be uint8 or int8, got int16",
        ),
        (
            lambda: quantize_rowwise(X, 3),
            ValueError,
            "quantize_rowwise: bits must be 2, 4 or 8, got 3",
        ),
        (
            lambda: quantize_rowwise(X, 8, np.float64),
            TypeError,
            "quantize_rowwise: scale_dtype must be float32 or float16, got float64",
        ),
        (lambda: quantize_rowwise(X[0]), ValueError, r"x must be 2-D \(M, N\), got shape \(3,\)"),
        (lambda: quantize_rowwise(NAN), ValueError, "quantize_rowwise: x must be finite"),
        (
            lambda: quantize_rowwise(np.array([[0], [-1e5]], F32), 8, np.float16),
            ValueError,
            r"x must fit a float16 scale and bias, got row 1 within \[-100000, -100000\]",
        ),
        (
            lambda: quantize_rowwise(np.array([[0, 1e9]], F32), 8, np.float16),
            ValueError,
            "x must fit a float16 scale and bias, got row 0",
        ),
        (
            lambda: RowwiseMatrix.from_fused(FUSED, 4),
            ValueError,
            "fused must have 12 bytes a row for 4 columns of 8 bits and float32, got 11",
        ),
        (
            lambda: RowwiseMatrix.from_fused(FUSED.astype(np.int8), 3),
            TypeError,
            "fused must be uint8, got int8",
        ),
        (
            lambda: RowwiseMatrix.from_fused(np.full((1, 11), 255, np.uint8), 3),
            ValueError,
            "fused must hold finite scales and biases",
        ),
    ],
)
def test_bad_arguments_are_refused(
    call: Callable[[], Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        call()


def test_a_refused_batch_changes_nothing() -> None:
    for make in OBSERVERS.values():
        observer = make(axis=0)
        observer.update(X)
        before = observer.qparams()
        for bad in (NAN, X[:1]):
            with pytest.raises(ValueError, match="batch must"):
                observer.update(bad)
        observer.update(np.empty((2, 0), F32))
        np.testing.assert_array_equal(observer.qparams(), before)
