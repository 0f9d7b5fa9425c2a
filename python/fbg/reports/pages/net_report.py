"""The report of a network from an ONNX file, as model_report.py makes it for encoders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import fbg
from fbg.arrays import require_integer
from fbg.model.load import load
from fbg.model.load_net import is_onnx
from fbg.reports.benchmark import NetBenchmark, bench_net
from fbg.reports.comparison import NetComparison, compare_net
from fbg.reports.facts import NetFacts, net_facts
from fbg.reports.inputs import feeds_of, thread_counts
from fbg.reports.machine import machine_facts
from fbg.reports.measuring import Report
from fbg.reports.profiling import NetProfile

if TYPE_CHECKING:
    from fbg.importers.net import Net
    from fbg.importers.session import PlacedStep


@dataclass(frozen=True)
class OperatorTime:
    """All steps that compute the same operators: their number and their time.

    share: part of the whole run.
    """

    operators: str
    backend: str
    steps: int
    seconds: float
    share: float


@dataclass(frozen=True)
class NetReport(Report):
    """Result of `net_report`.

    machine: the output of `fbg info --json`.
    comparison: int8 against float32; None for a saved network, which has one dtype only.
    profiles: by dtype, on the largest number of threads. operators: the same by operator.
    """

    model: str
    machine: dict[str, Any]
    facts: NetFacts
    comparison: NetComparison | None
    benchmark: NetBenchmark
    profiles: dict[str, NetProfile]
    operators: dict[str, tuple[OperatorTime, ...]]

    def __str__(self) -> str:
        parts = [str(self.facts), str(self.benchmark), *map(str, self.profiles.values())]
        if self.comparison is not None:
            parts.insert(1, str(self.comparison))
        return "\n\n".join(parts)


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
    rounds = require_integer(rounds, "report: rounds", 1, 10_000)
    default = (1, fbg.get_num_threads())
    counts = list(dict.fromkeys(thread_counts("report", num_threads, default)))
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
    profiles = {
        dtype: NetProfile.of(path, threads, each.profile(feeds[-1], rounds))
        for dtype, each in nets.items()
    }
    return NetReport(
        path,
        machine_facts(),
        net_facts(path, shapes=shapes),
        comparison,
        bench_net(path, shapes=shapes, num_threads=counts, dtypes=list(nets), rounds=rounds),
        profiles,
        {dtype: by_operator(nets[dtype], profiles[dtype].plan.steps) for dtype in nets},
    )


def by_operator(net: Net, steps: Sequence[PlacedStep]) -> tuple[OperatorTime, ...]:
    """Add up the steps of a profile by the operators that they compute, the slowest first."""
    kinds = {node.name: node.op for node in net.network.nodes}
    groups: dict[tuple[str, str], list[float]] = {}
    for step in steps:
        operators = dict.fromkeys(kinds[node] for node in step.nodes if node in kinds)
        name = " + ".join(operators) or step.algorithm.partition(" ")[0]
        groups.setdefault((name, step.backend), []).append(step.seconds or 0.0)
    total = max(sum(map(sum, groups.values())), 1e-12)
    found = [
        OperatorTime(name, backend, len(times), sum(times), sum(times) / total)
        for (name, backend), times in groups.items()
    ]
    return tuple(sorted(found, key=lambda row: -row.seconds))
