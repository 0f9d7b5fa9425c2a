"""Biases of attention scores by the distance of query and key: tables, and ALiBi."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt


@dataclass(frozen=True)
class Buckets:
    """The mapping of distances of key and query to rows of a table of biases (T5, MPNet).

    Half of the rows are for keys after the query. In each half, the first half has a row for each
    distance, and the second grows by powers up to `longest`.
    """

    count: int
    longest: int


def distance_buckets(distances: npt.NDArray[np.int64], buckets: Buckets) -> npt.NDArray[np.int64]:
    """Return the row of the table for each place of a key minus the place of a query."""
    half = buckets.count // 2
    exact, away = half // 2, np.abs(distances)
    with np.errstate(divide="ignore"):
        power = np.log(away.astype(np.float32) / exact) / math.log(buckets.longest / exact)
    far = exact + np.where(away < exact, 0, power * np.float32(half - exact)).astype(np.int64)
    near: npt.NDArray[np.int64] = np.where(away < exact, away, np.minimum(far, half - 1))
    return near + np.where(distances > 0, half, 0)


def alibi_slopes(heads: int) -> npt.NDArray[np.float64]:
    """Return the rate of each head: powers of 2^(-8 / heads); for numbers other than powers of two,
    the rates for the next smaller one, then every other rate for twice that.
    """
    power = 1 << (heads.bit_length() - 1)
    first = 2.0 ** (-8.0 / power * np.arange(1, power + 1))
    between = 2.0 ** (-4.0 / power * np.arange(1, 2 * power, 2))
    return np.concatenate([first, between])[:heads]
