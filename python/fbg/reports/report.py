"""report: all that the other reports say about a model or a network on this machine, in one result.

Accuracy is that of `compare`, speed that of `bench`, and where the time goes that of `profile`;
memory and kernels are what `memory_report` and `plan` return. page.py shows the JSON as a page.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Any

import fbg
from fbg.arrays import require_integer
from fbg.model.load import load, load_encoder
from fbg.model.load_net import is_onnx
from fbg.reports.benchmark import Benchmark, NetBenchmark, bench, bench_net
from fbg.reports.comparison import Comparison, NetComparison, compare, compare_net
from fbg.reports.facts import ModelFacts, NetFacts, model_facts, net_facts
from fbg.reports.inputs import feeds_of, require_texts, sequence_lengths, thread_counts
from fbg.reports.machine import machine_facts
from fbg.reports.measuring import Report, compared_dtypes
from fbg.reports.profiling import NetProfile, ProfileReport, profile
from fbg.runtime.reports import MemoryReport, PlanReport

if TYPE_CHECKING:
    from fbg.importers.net import Net
    from fbg.importers.session import PlacedStep

COMPARED = ("bfloat16", "int8")


@dataclass(frozen=True)
class _Whole(Report):
    """What reports of models and of networks share.

    machine: the output of `fbg info --json`.
    comparison: with float32; None for what was saved, which has one dtype only.
    """

    model: str
    machine: dict[str, Any]
    facts: ModelFacts | NetFacts
    comparison: Comparison | NetComparison | None
    benchmark: Benchmark | NetBenchmark

    def __str__(self) -> str:
        own = (getattr(self, each.name) for each in fields(self))
        lists = (
            x.values() if isinstance(x, dict) else x if isinstance(x, tuple) else [x] for x in own
        )
        shown = Report | MemoryReport | PlanReport
        return "\n\n".join(str(x) for each in lists for x in each if isinstance(x, shown))


@dataclass(frozen=True)
class ModelReport(_Whole):
    """Result of `report`.

    dtype: the one that profile, memory and plans are about.
    plans: plans of `forward`, one for each length.
    """

    dtype: str
    profile: ProfileReport
    memory: MemoryReport
    plans: tuple[PlanReport, ...]


@dataclass(frozen=True)
class NetReport(_Whole):
    """Result of `net_report`.

    profiles: by dtype, on the largest number of threads. operators: the time by operators; share is
    the part of the whole run, steps the number of those that compute them.
    """

    profiles: dict[str, NetProfile]
    operators: dict[str, list[dict[str, Any]]]


def report(
    model: str | os.PathLike[str],
    tokens: Sequence[int] | None = None,
    *,
    texts: Sequence[str] | None = None,
    dtypes: Sequence[str] | None = None,
    num_threads: Sequence[int] | None = None,
    rounds: int = 9,
) -> ModelReport:
    """Compare, time and profile a model of a directory or a hub id on this machine.

    tokens: lengths to time and to profile; None takes 8, 32, 128 and 384, as far as there are
        positions.
    texts: to compare dtypes on; None takes `fbg.reports.comparison.sample_texts()`.
    dtypes: to compare with float32, and to time; None takes bfloat16 and int8. Profile, memory and
        kernels are those of the last one. A saved model has one dtype, and is not compared.
    num_threads: thread counts; None takes 1 and `fbg.get_num_threads()`. Accuracy is measured with
        the largest.
    rounds: number of rounds of each measurement.

    Raises the errors of `fbg.load`, and ValueError for arguments that do not fit.

    >>> from fbg.reports.report import report
    >>> print(report("path/to/all-MiniLM-L6-v2", [8, 128]))  # doctest: +SKIP
    """
    rounds, counts = _rounds_and_threads(rounds, num_threads)
    timed = compared_dtypes("report", COMPARED if dtypes is None else dtypes)
    examined, comparison = [*timed, *(dtypes or ())][-1], None
    sentences = require_texts("report", texts, 2)
    loaded = load_encoder(model)
    if loaded.is_saved:
        wrong = [name for name in dtypes or () if name != loaded.dtype]
        if wrong:
            raise ValueError(
                f"report: dtype of a saved model is {loaded.dtype!r}, got {wrong[0]!r}"
            )
        timed, examined = [loaded.dtype], loaded.dtype
    else:
        loaded = load_encoder(model, dtype=examined)
    lengths = sequence_lengths("report", tokens, loaded)
    if not loaded.is_saved:
        comparison = compare(model, sentences, timed, num_threads=max(counts), rounds=rounds)
    benchmark = bench(model, lengths, num_threads=counts, dtypes=timed, rounds=rounds)
    found = profile(model, lengths, num_threads=counts, dtype=examined, rounds=rounds)
    plans = tuple(loaded.plan(min(length, 1024)) for length in dict.fromkeys(lengths))
    about = str(model), machine_facts(), model_facts(os.fspath(model))
    return ModelReport(
        *about, comparison, benchmark, examined, found, loaded.memory_report(), plans
    )


def net_report(
    path: str,
    *,
    shapes: Mapping[str, Sequence[int]] | None = None,
    inputs: str | None = None,
    num_threads: Sequence[int] | None = None,
    dtypes: Sequence[str] | None = None,
    rounds: int = 9,
) -> NetReport:
    """Compare, time and profile an ONNX file, or a network saved from one, on this machine.

    shapes: those of inputs with open sizes in the file. inputs: a .npz file with an array for each
    input, whose first axis counts runs, half of which calibrate int8; None: random numbers.
    dtypes: which are profiled; None: float32 and int8, or that of a saved network.
    num_threads: thread counts; None takes 1 and `fbg.get_num_threads()`. rounds: number for each
    measurement. Raises the errors of `fbg.load`, and ValueError for arguments that do not fit.
    """
    rounds, counts = _rounds_and_threads(rounds, num_threads)
    threads = max(counts)
    options: dict[str, Any] = {"shapes": shapes or {}, "num_threads": threads}
    net = load(path, **options)
    from fbg.importers.variants import results_of_products

    feeds = feeds_of(net, inputs)
    nets: dict[str, Net] = {net.dtype: net}
    comparison = None
    if is_onnx(path) and results_of_products(net):
        comparison = compare_net(
            path, shapes=shapes, inputs=inputs, num_threads=threads, rounds=rounds
        )
        calibrate = feeds[: max(1, len(feeds) // 2)]
        nets["int8"] = load(path, dtype="int8", calibrate=calibrate, **options)
    for dtype in dtypes or ():
        if dtype == "bfloat16" and is_onnx(path):
            nets[dtype] = load(path, dtype=dtype, **options)
        if dtype not in nets:
            raise ValueError(f"report: dtypes must be among {', '.join(nets)}, got {dtype!r}")
    nets = {dtype: nets[dtype] for dtype in dtypes or nets}
    plans = {dtype: each.profile(feeds[-1], rounds) for dtype, each in nets.items()}
    profiles = {dtype: NetProfile.of(path, threads, plan) for dtype, plan in plans.items()}
    operators = {dtype: _by_operator(nets[dtype], plan.steps) for dtype, plan in plans.items()}
    times = bench_net(path, shapes=shapes, num_threads=counts, dtypes=list(nets), rounds=rounds)
    about = path, machine_facts(), net_facts(path, shapes=shapes)
    return NetReport(*about, comparison, times, profiles, operators)


def _by_operator(net: Net, steps: Sequence[PlacedStep]) -> list[dict[str, Any]]:
    """Add up the steps of a profile by the operators that they compute, the slowest first."""
    kinds = {node.name: node.op for node in net.network.nodes}
    total = max(sum(step.seconds or 0.0 for step in steps), 1e-12)
    found: dict[tuple[str, str], dict[str, Any]] = {}
    for step in steps:
        operators = dict.fromkeys(kinds[node] for node in step.nodes if node in kinds)
        name = " + ".join(operators) or step.algorithm.partition(" ")[0]
        row = found.setdefault((name, step.backend), {"operators": name, "backend": step.backend})
        row["steps"] = row.get("steps", 0) + 1
        row["seconds"] = row.get("seconds", 0.0) + (step.seconds or 0.0)
        row["share"] = row["seconds"] / total
    return sorted(found.values(), key=lambda row: -row["seconds"])


def _rounds_and_threads(rounds: int, counts: Sequence[int] | None) -> tuple[int, list[int]]:
    """Return both, checked; None takes 1 thread and the number of threads of the process."""
    checked = require_integer(rounds, "report: rounds", 1, 10_000)
    default = (1, fbg.get_num_threads())
    return checked, list(dict.fromkeys(thread_counts("report", counts, default)))
