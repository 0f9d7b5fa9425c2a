"""Makes scores from logits, and finds the best ones. Pure functions of the logits of one text.

They work in float64 on one text at a time: results cannot depend on other texts.
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


# The functions by the names that users know.
SCORES: Mapping[str, Callable[[npt.ArrayLike], Values]] = {
    "softmax": softmax,
    "sigmoid": sigmoid,
    "none": unchanged,
}


def top_k(scores: npt.ArrayLike, k: int | None) -> npt.NDArray[np.intp]:
    """The places of the k largest scores, best first; the first of equal ones. None: all places."""
    values = np.asarray(scores, np.float64)
    k = values.size if k is None else min(k, values.size)
    if 0 < k < values.size:
        # Sorting only the scores that reach the k-th is cheap, and keeps the order of equal ones.
        least = np.partition(values, values.size - k)[values.size - k]
        places = np.flatnonzero(values >= least)
    else:
        places = np.arange(values.size)
    return places[np.argsort(-values[places], kind="stable")][:k]
