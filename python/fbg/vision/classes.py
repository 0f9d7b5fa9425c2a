"""Labels of classifiers: the best classes of each picture, and files with labels."""

from __future__ import annotations

import os
from collections.abc import Sequence

import numpy as np

from fbg.arrays import require_flag, require_integer
from fbg.files import read_regular
from fbg.tasks.results import LabelScore
from fbg.vision.arguments import finite_numbers


def top_k(
    scores: object, k: int = 5, labels: Sequence[str] | None = None, *, softmax: bool = False
) -> list[list[LabelScore]]:
    """Return the k best classes of each picture, best first, as ``{"label": …, "score": …}``.

    scores: (N, classes), an output of a network; further axes of size 1 are left out. k: at most
    this many. labels: a name for each class; None: their numbers. softmax: turn scores into
    probabilities. The first of equal scores is better. Raises TypeError or ValueError for other
    arguments, among them labels of another number than that of the classes.

    >>> top_k(np.array([[0.1, 0.7, 0.2]]), 2, ["cat", "dog", "cow"])
    [[{'label': 'dog', 'score': 0.7}, {'label': 'cow', 'score': 0.2}]]
    """
    array = finite_numbers(scores, "top_k: scores")
    count, classes = array.shape[:2] if array.ndim > 1 else (0, 0)
    if array.size != count * classes or array.size == 0:
        raise ValueError(f"top_k: scores must be (N, classes), got shape {array.shape}")
    values = array.reshape(count, classes)
    most = require_integer(k, "top_k: k", 1, 1 << 31)
    names = require_labels(labels, classes, "top_k")
    if require_flag(softmax, "top_k: softmax"):
        values = np.exp(values - values.max(1, keepdims=True))
        values /= values.sum(1, keepdims=True)
    order = np.argsort(-values, axis=1, kind="stable")[:, :most]
    return [
        [{"label": names[n], "score": float(row[n])} for n in best]
        for row, best in zip(values, order, strict=True)
    ]


def require_labels(labels: Sequence[str] | None, count: int, function: str) -> Sequence[str]:
    """Return the names of the classes: those given, of which there must be so many, or numbers."""
    if labels is None:
        return [str(n) for n in range(count)]
    if isinstance(labels, str) or len(labels) != count:
        got = repr(labels) if isinstance(labels, str) else str(len(labels))
        raise ValueError(f"{function}: labels must be a list of {count} names, got {got}")
    return labels


def read_labels(path: str | os.PathLike[str]) -> list[str]:
    """Return the lines of a file as labels; empty lines at the end are left out.

    Raises OSError if the file cannot be read, and ValueError if it is not text in UTF-8.

    >>> _ = (tmp / "animals.txt").write_text("cat\\ndog\\n")
    >>> read_labels(tmp / "animals.txt")
    ['cat', 'dog']
    """
    try:
        text = read_regular(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise ValueError(f"read_labels: {os.fspath(path)} is not text in UTF-8: {error}") from None
    return [line.strip() for line in text.rstrip().split("\n")] if text.strip() else []
