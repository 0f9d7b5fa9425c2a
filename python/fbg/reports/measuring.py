"""How the reports measure and show: calls timed in turn, tables, dictionaries for JSON.

A machine's speed drifts, so what is compared is sampled side by side: each round calls everything
once, and figures are taken over rounds.
"""

from __future__ import annotations

import dataclasses
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

import fbg
from fbg.errors import ModelError
from fbg.matmul.weights import WEIGHT_LIMITS
from fbg.model.load import load_encoder
from fbg.model.model import Model
from fbg.progress import counted, told_to
from fbg.reports.accuracy import REFERENCE
from fbg.saved_file import WEIGHTS

FEWEST = 5  # rounds whose quartiles say something
SPREAD = 0.1  # between the quartiles of a quiet run, relative to its median
NOISY = "noisy: measure again on a quiet machine, in 15 rounds or more"

Key = TypeVar("Key")


class Report:
    """A base of dataclasses that hold a result."""

    def to_dict(self) -> dict[str, Any]:
        """Return the result as dictionaries, lists, numbers and text."""
        return dataclasses.asdict(self)  # type: ignore[call-overload, no-any-return]


def time_in_turn(
    calls: Mapping[Key, Callable[[], object]],
    rounds: int,
    warm: bool = False,
    stage: str = "timing",
) -> dict[Key, list[float]]:
    """Return the seconds of a call, one for each round.

    One more round, the first, is not counted. warm: neither is a call before each sample, so that
    a call finds only its own data in the caches. stage: what progress is called; that of the calls
    themselves is not told.
    """
    with told_to(None):
        for call in calls.values():
            call()  # kernels are generated, pages touched
    samples: dict[Key, list[float]] = {key: [] for key in calls}
    keys = list(calls)
    for n in counted(stage, range(rounds)):
        first = n % len(keys)
        with told_to(None):
            for key in keys[first:] + keys[:first]:
                if warm:
                    calls[key]()
                start = time.perf_counter()
                calls[key]()
                samples[key].append(max(time.perf_counter() - start, 1e-9))
    return samples


@contextmanager
def threads(count: int) -> Iterator[None]:
    """Set the number of threads of the process for as long as this lasts."""
    before = fbg.get_num_threads()
    fbg.set_num_threads(count)
    try:
        yield
    finally:
        fbg.set_num_threads(before)


def threads_text(count: int) -> str:
    """Return "1 thread" or "2 threads"."""
    return f"{count} thread{'s' * (count > 1)}"


def is_steady(seconds: npt.NDArray[np.float64]) -> bool:
    """Whether the rounds of a profile agree: their sums, and the share of each op in its round.

    seconds: (rounds, ops). Rounds that are too few to disagree do not agree either.
    """
    if len(seconds) < FEWEST:
        return False
    totals = seconds.sum(axis=1)
    low, median, high = np.percentile(totals, [25, 50, 75])
    shares = np.percentile(seconds / totals[:, None], [25, 75], axis=0)
    apart = float((shares[1] - shares[0]).max(initial=0.0))
    return bool(high - low <= SPREAD * median and apart <= SPREAD)


def noise(names: Iterable[str]) -> str:
    """Return the sentence of a page about profiles that are noisy."""
    return (
        f"The figures of {'; '.join(names)} disagree with each other by more than 10 %, or are of "
        "fewer than 5 rounds: measure again when the machine is quiet, with more rounds."
    )


def require_unsaved(
    where: str, model: str, reason: str = "so that there is no float32 to compare it with"
) -> None:
    """Raise ModelError for a saved model: it has one dtype, and no other can be made of it."""
    if os.path.isfile(os.path.join(model, WEIGHTS)):
        raise ModelError(
            f"{where}: {model} was saved by fbg in one dtype, {reason}: give the checkpoint or the "
            "ONNX file that it was saved from"
        )


def compared_dtypes(where: str, dtypes: Sequence[str]) -> list[str]:
    """Return float32 and the others, each once; raises ValueError for what is no dtype."""
    if isinstance(dtypes, str) or not set(dtypes) <= set(WEIGHT_LIMITS):
        raise ValueError(
            f"{where}: dtypes must be among {', '.join(WEIGHT_LIMITS)}, got {dtypes!r}"
        )
    return list(dict.fromkeys([REFERENCE, *dtypes]))


def load_each(model: str, dtypes: Sequence[str], num_threads: int | None) -> dict[str, Model]:
    """Load a checkpoint in several dtypes."""
    return {dtype: load_encoder(model, dtype=dtype, num_threads=num_threads) for dtype in dtypes}


def aligned(rows: dict[str, str]) -> str:
    """Return a line for each row, with the values below each other."""
    width = max(map(len, rows))
    return "\n".join(f"{name:<{width}}  {value}" for name, value in rows.items())


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return lines of aligned columns, the first to the left and the others to the right."""
    lines = [list(head), *(list(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(head))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if column else cell.ljust(width)
            for column, (cell, width) in enumerate(zip(line, widths, strict=True))
        ).rstrip()
        for line in lines
    )
