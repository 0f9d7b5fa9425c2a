"""Observers: what they find does not depend on the batches, and is what their definitions say."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from fbg.quantization import (
    HistogramObserver,
    MinMaxObserver,
    PercentileObserver,
    choose_qparams,
    choose_qparams_mse,
)
from helpers.quantization import DTYPES, F32, FINITE, NAN, OBSERVERS, X, round_trip

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


# --- Observers ------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", OBSERVERS)
@given(
    x=arrays.arrays(F32, st.integers(1, 40), elements=FINITE),
    cuts=st.lists(st.integers(0, 40), max_size=4),
    order=st.randoms(use_true_random=False),
)
def test_what_is_observed_does_not_depend_on_the_batches(kind, x, cuts, order):
    whole, pieces = OBSERVERS[kind](), OBSERVERS[kind]()
    whole.update(x)
    batches = np.split(x, sorted(min(cut, len(x)) for cut in cuts))
    order.shuffle(batches)
    for batch in batches:
        pieces.update(batch)
    for symmetric in (False, True):
        assert whole.qparams(np.int8, symmetric) == pieces.qparams(np.int8, symmetric)


@pytest.mark.parametrize("kind", OBSERVERS)
def test_channels_are_observed_apart(kind):
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
def test_min_max_observer_is_min_and_max(dtype, symmetric, x):
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
def test_percentile_observer_leaves_out_the_tails(seed, n, percentile, mean):
    x = np.random.default_rng(seed).standard_cauchy(n).astype(F32) + F32(mean)
    observer = PercentileObserver(percentile)
    observer.update(x)
    width = 2.0 ** math.frexp(float(np.abs(x).max()))[1] / 2048
    out = (100 - Fraction(str(percentile))) * n / 100

    def quantile(values, left_out):
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


def thresholds(count, whole):
    return sorted({int(t) for t in np.linspace(1, whole, count)}, reverse=True)


def best_threshold(x, criterion, dtype, symmetric, count):
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

        def level(i, step=float(scale), z=point, lim=limits):
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
def test_histogram_observer_finds_the_best_threshold(criterion, symmetric, seed, dtype):
    x = np.random.default_rng(seed).standard_t(3, 2000).astype(F32)
    observer = HistogramObserver(criterion, bins=512, candidates=12)
    observer.update(x)
    scale, _ = observer.qparams(dtype, symmetric)
    assert float(scale) in best_threshold(x, criterion, dtype, symmetric, 12)


@pytest.mark.parametrize("criterion", ["entropy", "mse"])
def test_histogram_observer_clips_an_outlier(criterion):
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
def test_hard_values_give_usable_parameters(kind, values, dtype, symmetric):
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


# --- What is refused ------------------------------------------------------------------------------


def test_a_refused_batch_changes_nothing():
    for make in OBSERVERS.values():
        observer = make(axis=0)
        observer.update(X)
        before = observer.qparams()
        for bad in (NAN, X[:1]):
            with pytest.raises(ValueError, match="batch must"):
                observer.update(bad)
        observer.update(np.empty((2, 0), F32))
        np.testing.assert_array_equal(observer.qparams(), before)
