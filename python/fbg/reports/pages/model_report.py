"""report: all that the other reports say about a model on this machine, in one result.

Accuracy is that of `compare`, speed that of `bench`, and where the time goes that of `profile`;
memory and kernels are what `Model.memory_report` and `Model.plan` return. model_page.py shows it as
a page.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import fbg
from fbg.arrays import require_integer
from fbg.matmul.weights import WEIGHT_LIMITS
from fbg.model.load import load_encoder
from fbg.model.model import Model
from fbg.reports.benchmark import Benchmark, bench
from fbg.reports.comparison import Comparison, compare
from fbg.reports.inputs import require_texts, sequence_lengths, thread_counts
from fbg.reports.machine import machine_facts
from fbg.reports.measuring import Report
from fbg.reports.profiling import ProfileReport, profile
from fbg.runtime.reports import MemoryReport, PlanReport

COMPARED = ("bfloat16", "int8")
EXAMINED = "int8"


@dataclass(frozen=True)
class ModelReport(Report):
    """Result of `report`.

    summary: the model, as text by name.
    machine: the output of `fbg info --json`.
    comparison: None for a saved model, which has one dtype only.
    dtype: the one that profile, memory and plans are about.
    plans: plans of `forward`, one for each length.
    """

    model: str
    summary: dict[str, str]
    machine: dict[str, Any]
    comparison: Comparison | None
    benchmark: Benchmark
    dtype: str
    profile: ProfileReport
    memory: MemoryReport
    plans: tuple[PlanReport, ...]

    def __str__(self) -> str:
        parts = [str(self.benchmark), str(self.profile), f"memory, {self.dtype}\n{self.memory}"]
        if self.comparison is not None:
            parts.insert(0, str(self.comparison))
        return "\n\n".join([*parts, *(str(plan) for plan in self.plans)])


def report(
    model: str | os.PathLike[str],
    tokens: Sequence[int] | None = None,
    *,
    texts: Sequence[str] | None = None,
    dtypes: Sequence[str] | None = None,
    dtype: str | None = None,
    num_threads: Sequence[int] | None = None,
    rounds: int = 9,
) -> ModelReport:
    """Compare, time and profile a model of a directory or a hub id on this machine.

    tokens: lengths to time and to profile; None takes 8, 32, 128 and 384, as far as there are
        positions.
    texts: to compare dtypes on; None takes `fbg.reports.comparison.sample_texts()`.
    dtypes: to compare with float32, and to time; None takes bfloat16 and int8. A saved model has
        one dtype, and is not compared.
    dtype: whose profile, memory and kernels are examined; None takes int8, or the dtype of a saved
        model.
    num_threads: thread counts; None takes 1 and `fbg.get_num_threads()`. Accuracy is measured with
        the largest.
    rounds: number of rounds of each measurement.

    Raises the errors of `fbg.load`, and ValueError for arguments that do not fit.

    >>> from fbg.reports.pages.model_report import report
    >>> print(report("path/to/all-MiniLM-L6-v2", [8, 128]))  # doctest: +SKIP
    """
    rounds = require_integer(rounds, "report: rounds", 1, 10_000)
    default = (1, fbg.get_num_threads())
    counts = list(dict.fromkeys(thread_counts("report", num_threads, default)))
    wanted = [dtype, *(dtypes or ())]
    unknown = [name for name in wanted if name is not None and name not in WEIGHT_LIMITS]
    if unknown:
        raise ValueError(
            f"report: dtype must be among {', '.join(WEIGHT_LIMITS)}, got {unknown[0]!r}"
        )
    sentences = require_texts("report", texts, 2)

    first = load_encoder(model)
    if first.is_saved:
        wrong = [name for name in wanted if name not in (None, first.dtype)]
        if wrong:
            raise ValueError(f"report: dtype of a saved model is {first.dtype!r}, got {wrong[0]!r}")
        timed, examined, loaded = [first.dtype], first.dtype, first
    else:
        timed = list(dict.fromkeys(["float32", *(COMPARED if dtypes is None else dtypes)]))
        examined = dtype or (EXAMINED if EXAMINED in timed else timed[-1])
        loaded = load_encoder(model, dtype=examined)
    lengths = sequence_lengths("report", tokens, loaded)
    comparison = None
    if not first.is_saved:
        comparison = compare(model, sentences, timed, num_threads=max(counts), rounds=rounds)
    del first
    benchmark = bench(model, lengths, num_threads=counts, dtypes=timed, rounds=rounds)
    found = profile(model, lengths, num_threads=counts, dtype=examined, rounds=rounds)
    plans = tuple(loaded.plan(min(length, 1024)) for length in dict.fromkeys(lengths))
    measured = (comparison, benchmark, examined, found, loaded.memory_report(), plans)
    return ModelReport(str(model), _summary(loaded), machine_facts(), *measured)


def _summary(model: Model) -> dict[str, str]:
    config = model.config
    parameters = {
        "kind": config.model_type,
        "layers": str(config.num_layers),
        "hidden size": str(config.hidden_size),
        "heads": str(config.num_heads),
        "vocabulary": f"{config.vocab_size:,}",
        "tokens at most": f"{config.max_length:,}",
        "directory": str(model.directory),
    }
    return {"model": model.name, **parameters}
