"""profile: where the time of a run goes, by sub-layer and by module, or by step of a network.

Ops and their phases are timed by the plan (timed_network.py). The activation is computed in
registers between the sums of a linear layer and its output, where no clock can look: its time is
the difference from the same network without it, run in turn with this one. What remains of linear
layers is the product with the rest of its epilogue (scales, bias, residual).
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

import fbg
from fbg.arrays import Doubles, require_integer
from fbg.model.load import load, load_encoder
from fbg.model.load_net import is_onnx
from fbg.networks.transformer import ROUNDED
from fbg.progress import counted
from fbg.reports.inputs import (
    calibrated_net,
    random_feeds,
    sequence_lengths,
    synthetic_ids,
    thread_counts,
)
from fbg.reports.measuring import NOISY, Report, is_steady, table, threads_text
from fbg.reports.peaks import PeakSamples
from fbg.reports.timed_network import (
    ATTENTION,
    CONTEXT,
    LAYER_NORM,
    OTHER,
    PACK,
    POOLING,
    SCORES,
    SOFTMAX,
    TimedNetwork,
    TimedOp,
)

if TYPE_CHECKING:
    from fbg.importers.net_plan import NetPlan

GEMM, MATMUL = "GEMM", "attention matmul"
HEAD = ("ms", "share", "G op/s", "of peak")  # width of tables of parts


@dataclass(frozen=True)
class Part:
    """A part of a run.

    share: part of the whole run.
    rate: G op/s, a multiply-add is two; None for parts without products.
    of_peak: rate relative to the peak of the instructions on as many cores; None where that is
        not known.
    """

    name: str
    seconds: float
    share: float
    rate: float | None
    of_peak: float | None

    def cells(self) -> list[str]:
        """Return the row of a table."""
        return [
            self.name,
            f"{1e3 * self.seconds:.3f}",
            f"{self.share:.1%}",
            "" if self.rate is None else f"{self.rate:.0f}",
            "" if self.of_peak is None else f"{self.of_peak:.0%}",
        ]


@dataclass(frozen=True)
class Profile:
    """A run of one sequence of `tokens` tokens, split up in three ways; medians of the rounds.

    seconds: of the whole call; "other" is what it takes besides the ops of the plan.
    sub_layers, modules: the slowest part first. layers: in the order in which they run; the
        embeddings come first, and the rest behind layers last. They have no rates, since a layer
        multiplies in several precisions.
    noisy: the samples of the run, of the share of a part in it, or of the peak disagree by more
        than 10 %, or a part came out above its peak: something else was using the machine, and the
        figures are not reliable. So are those of fewer than 5 rounds, which cannot disagree.
    """

    tokens: int
    threads: int
    seconds: float
    noisy: bool
    sub_layers: tuple[Part, ...]
    modules: tuple[Part, ...]
    layers: tuple[Part, ...]

    @property
    def run(self) -> str:
        """The run: numbers of tokens and threads."""
        return f"{self.tokens} tokens, {threads_text(self.threads)}"

    @property
    def label(self) -> str:
        """The run, with a mark if it is noisy."""
        return self.run + " (noisy)" * self.noisy


@dataclass(frozen=True)
class ProfileReport(Report):
    """Result of `profile`."""

    model: str
    dtype: str
    isa: str
    profiles: tuple[Profile, ...]

    def __str__(self) -> str:
        lines = [f"{self.model}: {self.dtype}, {self.isa}"]
        for p in self.profiles:
            lines += ["", f"{p.run}: {p.seconds * 1e3:.3f} ms{_noise(p.noisy)}", ""]
            lines += [_table("by sub-layer", p.sub_layers), "", _table("by module", p.modules)]
        return "\n".join(lines)

    def shares(self) -> dict[str, dict[str, dict[str, float]]]:
        """Return percentages by kind of breakdown, by run and by part: for a stacked plot."""
        result: dict[str, dict[str, dict[str, float]]] = {"by sub-layer": {}, "by module": {}}
        for p in self.profiles:
            for title, parts in zip(result, (p.sub_layers, p.modules), strict=True):
                result[title][p.label] = {part.name: 100 * part.share for part in parts}
        return result


def _noise(noisy: bool) -> str:
    return f" ({NOISY})" if noisy else ""


def _table(title: str, parts: Sequence[Part]) -> str:
    return table([title, *HEAD], [part.cells() for part in parts])


@dataclass(frozen=True)
class NetProfile(Report):
    """The steps of a network with their median times, as its method `profile` returns them.

    noisy: the rounds disagree by more than 10 % in the time of a run or in the share of a step in
    it, or there are fewer than 5: something else was using the machine.
    """

    path: str
    threads: int
    plan: NetPlan
    noisy: bool

    @classmethod
    def of(cls, path: str, threads: int, plan: NetPlan) -> NetProfile:
        """Return the profile of a plan with samples."""
        return cls(path, threads, plan, not is_steady(np.array(plan.samples, np.float64)))

    def __str__(self) -> str:
        total = sum(step.seconds or 0.0 for step in self.plan.steps)
        head = f"{self.path}, {threads_text(self.threads)}: {1e3 * total:.3f} ms"
        return f"{head}{_noise(self.noisy)}\n\n{self.plan}"


def profile(
    model: str | os.PathLike[str],
    tokens: Sequence[int] | None = None,
    *,
    num_threads: Sequence[int] | None = None,
    dtype: str | None = None,
    rounds: int = 15,
) -> ProfileReport:
    """Split the time of a run of one sequence by sub-layer and by module.

    model: as for `fbg.load`.
    tokens: lengths of the sequence; None takes 8, 32, 128 and 384, as far as there are positions.
    num_threads: thread counts; None takes `fbg.get_num_threads()`. An op's time is that of all
        threads, waiting included; within an op, the phases are those of the first share.
    dtype: as for `fbg.load`.
    rounds: in each of which the run and the peak of the instructions are measured.

    Raises the errors of `fbg.load`, and ValueError for numbers out of range.

    >>> from fbg.reports.profiling import profile
    >>> print(profile("path/to/all-MiniLM-L6-v2", [128], dtype="int8"))  # doctest: +SKIP
    """
    rounds = require_integer(rounds, "profile: rounds", 1, 1_000_000)
    counts = thread_counts("profile", num_threads, [fbg.get_num_threads()])
    loaded = load_encoder(model, dtype=dtype)
    lengths = sequence_lengths("profile", tokens, loaded)
    profiler = _Profiler(loaded, rounds)
    profiles = [profiler.profile(length, count) for count in counts for length in lengths]
    return ProfileReport(str(model), loaded.dtype, fbg.isa.active(), tuple(profiles))


def profile_net(
    path: str,
    *,
    shapes: Mapping[str, tuple[int, ...]] | None = None,
    num_threads: int | None = None,
    rounds: int = 15,
    dtype: str | None = None,
    calibrate: str | None = None,
) -> NetProfile:
    """Load a network and time it on random inputs; integers are 0, and bool is true.

    shapes: of inputs by name, where the file leaves sizes open. dtype: as for `fbg.load`.
    calibrate: a .npz file for int8, as for `bench_net`. Raises ValueError for an input whose size
    is not known, and the errors of `fbg.load`.
    """
    threads = num_threads or fbg.get_num_threads()
    options: dict[str, Any] = {"num_threads": threads, "shapes": shapes or {}}
    quantizes = dtype == "int8" and is_onnx(path)
    if calibrate is not None and not quantizes:
        raise ValueError("profile: calibrate requires dtype='int8' and an ONNX file")
    net = load(path, None if quantizes else dtype, **options)
    if quantizes:
        net = calibrated_net(path, net, calibrate, options)
    return NetProfile.of(path, threads, net.profile(random_feeds(net, 1)[0], rounds))


@dataclass
class _Breakdown:
    """Seconds and operations, by sub-layer, by module and by layer."""

    sub_layers: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    modules: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    layers: dict[str, float] = field(default_factory=lambda: defaultdict(float))
    operations: dict[str, float] = field(default_factory=lambda: defaultdict(float))

    def add(self, op: TimedOp, seconds: float, phases: Doubles, saved: float) -> None:
        """Add an op. phases: its time in each; saved: time saved without activation."""
        phase = [float(x) for x in phases]
        modules = self.modules
        self.sub_layers[op.sub_layer] += seconds
        self.layers[op.layer] += seconds
        if op.is_linear:
            active = min(max(saved, 0.0), seconds - phase[PACK]) if op.activated else 0.0
            modules[GEMM] += seconds - phase[PACK] - active
            modules["quantization, packing"] += phase[PACK]
            modules["activation"] += active
            self._count(op, GEMM)
        elif op.sub_layer == ATTENTION:
            modules[MATMUL] += phase[SCORES] + phase[CONTEXT]
            modules["softmax"] += phase[SOFTMAX]
            modules["attention packing"] += phase[PACK]
            modules[OTHER] += max(seconds - sum(phase), 0.0)
            self._count(op, MATMUL)
        else:
            modules[LAYER_NORM if op.sub_layer.endswith(LAYER_NORM) else OTHER] += seconds

    def _count(self, op: TimedOp, module: str) -> None:
        self.operations[op.sub_layer] += op.operations
        self.operations[module] += op.operations

    def parts(
        self, times: Mapping[str, float], peaks: Mapping[str, float | None]
    ) -> tuple[Part, ...]:
        """Return the parts in `times`, the slowest first.

        peaks: by part, in G op/s; those of GEMM count for parts that are not named.
        """
        total = sum(self.sub_layers.values())
        result = []
        for name, seconds in times.items():
            operations = self.operations.get(name, 0.0)
            rate = operations / seconds * 1e-9 if operations and seconds > 0 else None
            peak = peaks.get(name, peaks[GEMM])
            of_peak = rate / peak if rate and peak else None
            result.append(Part(name, seconds, seconds / total, rate, of_peak))
        return tuple(sorted(result, key=lambda part: -part.seconds))


class _Profiler:
    """Measures runs of a model, with and without its activations, and the peak, all in turn."""

    def __init__(self, model: fbg.Model, rounds: int) -> None:
        self._model, self._rounds = model, rounds
        self._full = TimedNetwork(model.network)
        self._bare = TimedNetwork(model.network, activations=False)

    def profile(self, tokens: int, threads: int) -> Profile:
        products = "bfloat16" if self._model.dtype in ROUNDED else "float32"  # phases of attention
        linear_peak, attention_peak = PeakSamples(self._model.dtype), PeakSamples(products)
        ids = synthetic_ids(self._model, tokens, 1)
        runs, bare_runs = [], []
        stage = f"profiling {tokens} tokens, {threads_text(threads)}"
        for _ in counted(stage, range(self._rounds)):
            linear_peak.measure()
            attention_peak.measure()
            runs.append(self._full.time(ids, threads))
            bare_runs.append(self._bare.time(ids, threads)[0])
        linear_peak.measure()
        attention_peak.measure()
        seconds = np.median([run[0] for run in runs], axis=0)
        phases = np.median([run[1] for run in runs], axis=0)
        saved = seconds - np.median(bare_runs, axis=0)

        found = _Breakdown()
        for n, op in enumerate(self._full.ops(tokens, threads)):
            found.add(op, float(seconds[n]), phases[n], float(saved[n]))
        attention = attention_peak.best(threads)
        peaks = {GEMM: linear_peak.best(threads), ATTENTION: attention, MATMUL: attention}
        peaks[POOLING] = None  # one row in float32, whatever the dtype of the model
        sub_layers = found.parts(found.sub_layers, peaks)
        modules = found.parts(found.modules, peaks)
        total = sum(found.layers.values())
        layers = tuple(
            Part(name, seconds, seconds / total, None, None)
            for name, seconds in found.layers.items()
        )
        steady = (
            is_steady(np.array([run[0] for run in runs]))
            and linear_peak.steady
            and attention_peak.steady
            and all((part.of_peak or 0.0) <= 1.0 for part in (*sub_layers, *modules))
        )
        return Profile(
            tokens, threads, float(seconds.sum()), not steady, sub_layers, modules, layers
        )
