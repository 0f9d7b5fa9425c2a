"""Ratios of times that were measured in turn, with the effect of noise on them.

Every ratio in a report is one of these: its value is the ratio of the medians beside it, so that
it cannot contradict them, and it says so where other rounds might have shown the opposite.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

OUTLIERS = 5  # among so many rounds, one may be disturbed from outside
DEVIATIONS = 3  # part of a round that a difference must exceed if a round disagrees
DOUBT = 1 / 16  # the probability that the interval misses the median; 5 rounds are the least for it


@dataclass(frozen=True)
class Speedup:
    """How many times as fast something is as a reference.

    ratio: of the medians of the times. low, high: the bounds of the median ratio of a round,
    with a probability of 15/16 whatever the distribution; all rounds, where they are fewer than 5.
    agreeing: how many rounds have the same one faster as the medians. spread: the median deviation
    of the logarithm of a round's ratio from its median.
    """

    ratio: float
    low: float
    high: float
    rounds: int
    agreeing: int
    spread: float

    @classmethod
    def of(cls, reference: Sequence[float], seconds: Sequence[float]) -> Speedup:
        """Compare times of the same rounds."""
        ratios = sorted(a / b for a, b in zip(reference, seconds, strict=True))
        rank = max(median_rank(len(ratios)), 1)
        ratio = statistics.median(reference) / statistics.median(seconds)
        low, high = min(ratios[rank - 1], ratio), max(ratios[-rank], ratio)
        logs = [math.log(each) for each in ratios]
        agreeing = sum(log * math.log(ratio) > 0 for log in logs)
        spread = statistics.median(abs(log - statistics.median(logs)) for log in logs)
        return cls(ratio, low, high, len(ratios), agreeing, spread)

    @property
    def doubt(self) -> str:
        """Why the ratio says little, in words; empty if it shows which one is faster."""
        if self.low == self.high == 1:  # something against itself
            return ""
        if median_rank(self.rounds) == 0:
            return "too few rounds to tell"
        if not self.low <= 1 <= self.high:
            return ""
        # Five rounds cannot outvote a single one that something else has slowed down. What is much
        # larger than rounds differ by is no noise for that.
        few_disagree = OUTLIERS * (self.rounds - self.agreeing) <= self.rounds
        if few_disagree and abs(math.log(self.ratio)) > DEVIATIONS * self.spread:
            return f"{self.agreeing} of {self.rounds} rounds agree"
        return "within noise"

    def __str__(self) -> str:
        return f"{self.ratio:.2f}" + (f" ({self.doubt})" if self.doubt else "")


def median_rank(count: int) -> int:
    """Return k: the median is between the k-th least and the k-th largest of the samples, but for
    a probability of DOUBT; 0 if there are too few samples to say so.

    A sample is below the median with probability 1/2, so that the number below it is binomial.
    """
    rank, ways, below = 0, 1, 1
    while 2 * below <= DOUBT * 2**count:
        rank += 1
        ways = ways * (count - rank + 1) // rank
        below += ways
    return rank
