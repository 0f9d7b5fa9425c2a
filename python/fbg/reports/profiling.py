"""profile: where the time of a run goes, by sub-layer and by module.

A plan times its ops, and within the fused ones the phases of include/fbg/core/phase.h: packing
(which quantizes), scores, softmax, context. The activation is computed in registers between the
sums of a linear layer and its output, where no clock can look: its time is the difference to the
same network without it, run in turn with this one. What remains of linear layers is the product
with the rest of its epilogue (scales, bias, residual)."""

from __future__ import annotations

import os
import statistics
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import fbg
from fbg import _fbg
from fbg.arrays import require_integer
from fbg.compression.precision import linears
from fbg.model.model import Model
from fbg.networks.transformer import ROUNDED, describe_pooler
from fbg.reports.benchmark import sequence_lengths, synthetic_ids
from fbg.reports.measuring import Report, table
from fbg.reports.peaks import peak_rate
from fbg.runtime.batches import pack_padded
from fbg.runtime.runner import Runner

__all__ = ["Part", "Profile", "ProfileReport", "profile"]

PACK, SCORES, SOFTMAX, CONTEXT = range(4)  # include/fbg/core/phase.h
PHASES = 4

SUB_LAYERS = {
    "embedding": "embeddings",
    "embeddings.projection": "embeddings",
    "qkv": "QKV linear",
    "rotate": "rotary positions",
    "attention": "attention",
    "attention_output": "attention output linear",
    "layer_norm": "LayerNorm",
    "intermediate": "intermediate linear, activation",
    "geglu": "intermediate linear, activation",
    "output": "output linear",
}
POOLING = "pooling"  # all that follows the last layer
GEMM, MATMUL = "GEMM", "attention matmul"


@dataclass(frozen=True)
class Part:
    """A part of a run.

    share: of the whole run.
    rate: G op/s, a multiply-add being two; None for what does no products.
    of_peak: rate by what the instructions could do on as many cores; None where that is not known.
    """

    name: str
    seconds: float
    share: float
    rate: float | None
    of_peak: float | None


@dataclass(frozen=True)
class Profile:
    """A run of one sequence of `tokens` tokens, split up in two ways; medians of the rounds."""

    tokens: int
    threads: int
    seconds: float
    sub_layers: tuple[Part, ...]
    modules: tuple[Part, ...]


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
            count = f"{p.threads} thread{'s' * (p.threads > 1)}"
            lines += ["", f"{p.tokens} tokens, {count}: {p.seconds * 1e3:.3f} ms", ""]
            lines += [_table("by sub-layer", p.sub_layers), "", _table("by module", p.modules)]
        return "\n".join(lines)

    def shares(self) -> dict[str, dict[str, dict[str, float]]]:
        """Return percentages by kind of breakdown, by run and by part: what a plot stacks."""
        result: dict[str, dict[str, dict[str, float]]] = {"by sub-layer": {}, "by module": {}}
        for p in self.profiles:
            label = f"{p.tokens} tokens\n{p.threads} thr."
            for title, parts in zip(result, (p.sub_layers, p.modules), strict=True):
                result[title][label] = {part.name: 100 * part.share for part in parts}
        return result


def _table(title: str, parts: Sequence[Part]) -> str:
    rows = [
        [
            part.name,
            f"{part.seconds * 1e3:.3f}",
            f"{part.share:.1%}",
            "" if part.rate is None else f"{part.rate:.0f}",
            "" if part.of_peak is None else f"{part.of_peak:.0%}",
        ]
        for part in parts
    ]
    return table([title, "ms", "share", "G op/s", "of peak"], rows)


def profile(
    model: str | os.PathLike[str],
    tokens: Sequence[int] | None = None,
    *,
    num_threads: Sequence[int] | None = None,
    dtype: str | None = None,
    rounds: int = 15,
) -> ProfileReport:
    """Split the time of a run of one sequence by sub-layer and by module.

    model: what `fbg.load` takes.
    tokens: lengths of the sequence; None takes 8, 32, 128 and 384, as far as there are positions.
    num_threads: thread counts; None takes `fbg.get_num_threads()`. An op's time is that of all
        threads, barrier included; within an op, the phases are those of the first thread.
    dtype: as for `fbg.load`.

    Raises what `fbg.load` raises, ValueError for numbers out of range.

    >>> from fbg.reports.profiling import profile
    >>> print(profile("path/to/all-MiniLM-L6-v2", [128], dtype="int8"))  # doctest: +SKIP
    """
    rounds = require_integer(rounds, "profile: rounds", 1, 1_000_000)
    counts = [fbg.get_num_threads()] if num_threads is None else num_threads
    limit = _fbg.MAX_THREADS
    counts = [require_integer(count, "profile: num_threads", 1, limit) for count in counts]
    loaded = fbg.load(model, dtype=dtype)
    lengths = sequence_lengths("profile", tokens, loaded)
    full, bare = _Network(loaded, activations=True), _Network(loaded, activations=False)
    profiles = [_profile(full, bare, n, count, rounds) for count in counts for n in lengths]
    return ProfileReport(str(model), loaded.dtype, fbg.isa.active(), tuple(profiles))


class _NamedGraph(_fbg.Graph):
    """A graph that knows which linear layer each op is; it may leave activations out."""

    def __init__(self, names: dict[int, str], activations: bool) -> None:
        super().__init__()
        self._names, self._activations = names, activations
        self.layers: dict[int, str] = {}  # by op
        self.depth_width: dict[int, int] = {}  # K * N
        self.activated: set[int] = set()

    def linear(self, x: int, w: Any, *arguments: Any, **options: Any) -> int:
        active = options.get("activation", "none") != "none"
        if not self._activations:
            options["activation"] = "none"
        op = super().linear(x, w, *arguments, **options)
        self.layers[op] = self._names.get(id(w), POOLING)
        self.depth_width[op] = w.shape[0] * w.shape[1]
        if active:
            self.activated.add(op)
        return op


class _Network:
    """The encoder of a model with its pooler, and how to time its ops."""

    def __init__(self, model: Model, activations: bool) -> None:
        self.model, transformer = model, model._transformer
        names = {id(linear.weight): name for name, linear in linears(transformer).items()}
        self.graph = _NamedGraph(names, activations)
        hidden = transformer.describe(self.graph)
        self.graph.output(hidden)
        self._pooled = transformer.pooler is not None
        if transformer.pooler is not None:
            self.graph.output(describe_pooler(self.graph, hidden, transformer.pooler))
        self._runner = Runner(self.graph, model.config.max_length)

    def ops(self, tokens: int, threads: int) -> list[str]:
        """Return the name of each op: of linear layers that of the layer."""
        plan = self._runner.plan(tokens, threads)
        return [self.graph.layers.get(n, op[0]) for n, op in enumerate(plan.ops)]

    def time(
        self, tokens: int, threads: int
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Return seconds of each op, and of its phases."""
        config = self.model.config
        ids = synthetic_ids(self.model, tokens, 1)
        packed = pack_padded(ids, None, None, config.pad_token_id)
        outputs = [np.empty((tokens, config.hidden_size), np.float32)]
        if self._pooled:
            outputs.append(np.empty((1, config.hidden_size), np.float32))
        count = len(self._runner.plan(tokens, threads).ops)
        seconds, phases = np.zeros(count), np.zeros((count, PHASES))
        self._runner.run(packed, outputs, threads)
        self._runner.run(packed, outputs, threads, seconds, phases)
        return seconds, phases


def _profile(full: _Network, bare: _Network, tokens: int, threads: int, rounds: int) -> Profile:
    dtype = full.model.dtype
    runs, bare_runs, peaks, attention_peaks = [], [], [], []
    for _ in range(rounds):
        runs.append(full.time(tokens, threads))
        bare_runs.append(bare.time(tokens, threads)[0])
        peaks.append(peak_rate(dtype, 0.002))
        products = "bfloat16" if dtype in ROUNDED else "float32"
        attention_peaks.append(peak_rate(products, 0.002))
    seconds = np.median([run[0] for run in runs], axis=0)
    phases = np.median([run[1] for run in runs], axis=0)
    saved = seconds - np.median(bare_runs, axis=0)

    sub_layers: dict[str, float] = defaultdict(float)
    modules: dict[str, float] = defaultdict(float)
    work: dict[str, float] = defaultdict(float)  # operations, by part of either kind
    graph = full.graph
    for n, name in enumerate(full.ops(tokens, threads)):
        time, phase = float(seconds[n]), [float(x) for x in phases[n]]
        part = sub_layer(name)
        sub_layers[part] += time
        if n in graph.layers:
            operations = 2.0 * graph.depth_width[n] * (1 if part == POOLING else tokens)
            active = min(max(float(saved[n]), 0.0), time - phase[PACK])
            active = active if n in graph.activated else 0.0
            modules[GEMM] += time - phase[PACK] - active
            modules["quantization, packing"] += phase[PACK]
            modules["activation"] += active
            work[part] += operations
            work[GEMM] += operations
        elif part == "attention":
            operations = 4.0 * tokens * tokens * full.model.config.hidden_size
            modules[MATMUL] += phase[SCORES] + phase[CONTEXT]
            modules["softmax"] += phase[SOFTMAX]
            modules["attention packing"] += phase[PACK]
            modules["other"] += max(time - sum(phase), 0.0)
            work[part] += operations
            work[MATMUL] += operations
        else:
            modules["LayerNorm" if part == "LayerNorm" else "other"] += time

    total = float(seconds.sum())
    # The pooler is one row in float32, whatever the model's dtype.
    limits = {name: _peak(attention_peaks, threads) for name in ("attention", MATMUL)}
    limits[POOLING] = None
    linear_peak = _peak(peaks, threads)

    def parts(times: dict[str, float]) -> tuple[Part, ...]:
        result = []
        for name, time in times.items():
            operations = work.get(name, 0.0)
            rate = operations / time * 1e-9 if operations and time > 0 else None
            peak = limits.get(name, linear_peak)
            of_peak = rate / peak if rate and peak else None
            result.append(Part(name, time, time / total, rate, of_peak))
        return tuple(sorted(result, key=lambda part: -part.seconds))

    return Profile(tokens, threads, total, parts(sub_layers), parts(modules))


def _peak(samples: list[float | None], threads: int) -> float | None:
    known = [sample for sample in samples if sample is not None]
    return statistics.median(known) * threads if known else None


def sub_layer(op: str) -> str:
    """Return the sub-layer of an op, given its name in a plan or that of its linear layer."""
    op = op.partition(" ")[0]  # what follows are options: "attention window 64"
    if op in SUB_LAYERS:
        return SUB_LAYERS[op]
    last = op.rpartition(".")[2]
    return SUB_LAYERS.get(last, last if op.startswith("layers.") else POOLING)
