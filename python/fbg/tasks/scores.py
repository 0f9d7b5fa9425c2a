"""From logits to scores, and the best of them. Pure functions of the logits of one text.

In float64, one text at a time: what a text gets cannot depend on others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
import numpy.typing as npt

Values = npt.NDArray[np.float64]


def softmax(logits: npt.ArrayLike) -> Values:
    """exp(x) / Σ exp(x) along the last axis."""
    x = np.asarray(logits, np.float64)
    powers = np.exp(x - x.max(axis=-1, keepdims=True))
    return np.asarray(powers / powers.sum(axis=-1, keepdims=True))


def sigmoid(logits: npt.ArrayLike) -> Values:
    """1 / (1 + exp(-x)), by way of tanh, which cannot overflow."""
    x = np.asarray(logits, np.float64)
    return np.asarray(0.5 + 0.5 * np.tanh(0.5 * x))


def unchanged(logits: npt.ArrayLike) -> Values:
    return np.asarray(logits, np.float64)


# By the names that users know them by.
SCORES: Mapping[str, Callable[[npt.ArrayLike], Values]] = {
    "softmax": softmax,
    "sigmoid": sigmoid,
    "none": unchanged,
}


def top_k(scores: npt.ArrayLike, k: int | None) -> npt.NDArray[np.intp]:
    """The places of the k largest scores, best first; the first of equals. None: of all."""
    values = np.asarray(scores, np.float64)
    k = values.size if k is None else min(k, values.size)
    if 0 < k < values.size:
        # All that reach the k-th: sorting them is little, and keeps the order of equals.
        least = np.partition(values, values.size - k)[values.size - k]
        places = np.flatnonzero(values >= least)
    else:
        places = np.arange(values.size)
    return places[np.argsort(-values[places], kind="stable")][:k]
