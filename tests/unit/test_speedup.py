"""Ratios of times: those of the medians beside them, and marked where noise could explain them."""

import math
import random
import statistics

import pytest

from fbg.reports.speedup import Speedup, median_rank


def test_the_ratio_is_that_of_the_medians():
    # Medians of 97.9 and 144.4 ms, where the median of the ratios of rounds is 0.95.
    reference, seconds = [95.0, 97.9, 137.0, 96.0, 150.0], [100.0, 144.4, 144.5, 101.0, 158.0]
    found = Speedup.of(reference, seconds)
    assert found.ratio == pytest.approx(97.9 / 144.4)
    assert found.low <= found.ratio <= found.high
    ratios = [a / b for a, b in zip(reference, seconds, strict=True)]
    assert found.low <= statistics.median(ratios) <= found.high


@pytest.mark.parametrize(
    ("ratios", "doubt"),
    [
        ([2.0] * 5, ""),
        ([0.5, 0.6, 0.7, 0.5, 0.6], ""),
        ([1.1, 1.2, 0.99, 1.1, 1.2], "within noise"),
        ([0.44, 0.45, 0.43, 2.0, 0.44], "4 of 5 rounds agree"),  # something slowed a round down
        ([2.2, 2.3, 0.5, 2.3, 2.2, 2.2, 2.1], "6 of 7 rounds agree"),
        ([1.01, 1.02, 1.01, 0.99, 1.03], "within noise"),  # as large as rounds differ by
        ([0.44, 0.45, 2.0, 2.0, 0.44], "within noise"),
        ([1.01] * 21, ""),
        ([0.9] * 3 + [1.1] * 18, ""),  # few rounds disagree
        ([0.9] * 10 + [1.1] * 11, "within noise"),
        ([2.0] * 4, "too few rounds to tell"),
        ([2.0], "too few rounds to tell"),
        ([1.0], ""),  # against itself
    ],
)
def test_it_says_where_it_says_little(ratios, doubt):
    found = Speedup.of(ratios, [1.0] * len(ratios))
    assert found.doubt == doubt
    assert str(found) == f"{found.ratio:.2f}" + (f" ({doubt})" if doubt else "")


@pytest.mark.parametrize("count", [0, 1, 4, 5, 6, 9, 21, 100])
def test_the_interval_misses_the_median_as_rarely_as_it_says(count):
    rank = median_rank(count)
    beyond = [2 * sum(math.comb(count, k) for k in range(r)) / 2**count for r in (rank, rank + 1)]
    assert beyond[0] <= 1 / 16 < beyond[1]


def test_equal_times_are_within_noise_most_of_the_time():
    rng = random.Random(0)
    draws = [[rng.lognormvariate(0, 0.1) for _ in range(9)] for _ in range(4000)]
    pairs = zip(draws[::2], draws[1::2], strict=True)
    told = [Speedup.of(a, b).doubt for a, b in pairs]
    assert told.count("within noise") > 0.9 * len(told)
