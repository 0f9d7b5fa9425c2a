"""sensitivity: which linear layers lose the most in int8, and a short list to keep more precise.

Each layer alone is quantized, all others in float32, and embeddings compared with those of float32:
the loss is 1 - mean cosine. Losses about add up, so the list that a target needs is made of the
most sensitive layers; how many is found by trying, with everything else in int8.
"""

from __future__ import annotations

import bisect
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

import fbg
from fbg.compression.precision import DEFAULT
from fbg.compression.smoothing import compress_linears
from fbg.model.compress import compress
from fbg.model.model import Model
from fbg.model.observe import observe, random_sequences
from fbg.networks.registry import read_checkpoint
from fbg.networks.transformer import Transformer, linears, replace_linears
from fbg.reports.comparison import cosines, require_texts
from fbg.reports.measuring import Report, table

__all__ = ["LayerLoss", "Sensitivity", "sensitivity"]

TARGET = 5e-4


@dataclass(frozen=True)
class LayerLoss:
    """What embeddings lose, 1 - mean cosine, when this linear layer alone is quantized."""

    layer: str
    loss: float


@dataclass(frozen=True)
class Sensitivity(Report):
    """Result of `sensitivity`.

    layers: the most sensitive first.
    int8_loss: with all layers quantized.
    proposed: layers for `fbg.load(..., higher_precision=proposed)`; none where int8 will do.
    proposed_loss: with these in bfloat16 and the others in int8; above the target where even all of
        them do not reach it.
    """

    model: str
    texts: int
    target: float
    layers: tuple[LayerLoss, ...]
    int8_loss: float
    proposed: tuple[str, ...]
    proposed_loss: float

    def __str__(self) -> str:
        rows = [[row.layer, f"{row.loss:.2e}"] for row in self.layers]
        lines = [
            f"{self.model}: {self.texts} texts; loss is 1 - mean cosine to float32",
            "",
            table(["int8 alone in", "loss"], rows),
            "",
            f"all in int8: {self.int8_loss:.2e}, target {self.target:.2e}",
        ]
        if not self.proposed:
            return "\n".join([*lines, "no layer needs a higher precision"])
        count = f"{len(self.proposed)} of {len(self.layers)} layers"
        lines.append(f"{count} in {DEFAULT}: {self.proposed_loss:.2e}")
        if self.proposed_loss > self.target:
            lines.append("int8 cannot reach the target on these texts")
        return "\n".join([*lines, f"higher_precision={list(self.proposed)}"])


def sensitivity(
    model: str | os.PathLike[str],
    texts: Sequence[str] | None = None,
    *,
    target: float = TARGET,
    num_threads: int | None = None,
    progress: Callable[[str], object] = lambda layer: None,
) -> Sensitivity:
    """Find the linear layers that int8 suits least, and how few of them make up for the loss.

    model: a checkpoint that `fbg.load` takes, not one saved in a lower precision.
    texts: at least one that is not empty; None takes the sentences that come with fbg.
    target: the loss, 1 - mean cosine, that the proposed list must bring int8 below.
    progress: called with the name of each layer before it is tried.

    Layers are quantized as `fbg.load(dtype="int8")` does it, smoothed without data. Raises what
    `fbg.load` raises, ValueError for a target that is not positive.

    >>> from fbg.reports.sensitivity import sensitivity
    >>> report = sensitivity("path/to/all-MiniLM-L6-v2")  # doctest: +SKIP
    >>> fbg.load("path/to/all-MiniLM-L6-v2", dtype="int8", higher_precision=report.proposed)
    ... # doctest: +SKIP
    """
    if not 0 < target < 1:
        raise ValueError(f"sensitivity: target must be in (0, 1), got {target}")
    sentences = require_texts("sensitivity", texts, 1)
    base = fbg.load(model, dtype="float32", num_threads=num_threads)
    trial = _Trial(base, sentences)
    names = list(linears(base.network))

    losses = []
    for name in names:
        progress(name)
        losses.append(LayerLoss(name, trial.loss(trial.one_quantized(name))))
    losses.sort(key=lambda row: -row.loss)

    ranked = [row.layer for row in losses]
    tried: dict[int, float] = {}

    def loss_of(count: int) -> float:
        if count not in tried:
            chosen = dict.fromkeys(ranked[:count], DEFAULT)
            tried[count] = trial.loss(trial.quantized(chosen))
        return tried[count]

    # The least count that reaches the target, by bisection; all of them if none does.
    counts = range(len(ranked))
    count = bisect.bisect_left(counts, True, key=lambda count: loss_of(count) <= target)
    return Sensitivity(
        str(model),
        len(sentences),
        target,
        tuple(losses),
        loss_of(0),
        tuple(ranked[:count]),
        loss_of(count),
    )


class _Trial:
    """A float32 model, and how far variants of its weights are from it on some texts."""

    def __init__(self, base: Model, texts: list[str]) -> None:
        self._base, self._texts = base, texts
        self._exact = base.encode(texts)
        self._unpacked = read_checkpoint(base.directory, base.config, base.num_threads)
        sequences = random_sequences(base.config, base.tokenizer([""])[0])
        self._inputs = observe(self._unpacked, sequences, base.num_threads)

    def quantized(self, higher: Mapping[str, str]) -> Transformer:
        """Return the network in int8, but for some layers in another dtype."""
        return compress(self._unpacked, "int8", higher, self._base.num_threads, self._inputs)

    def one_quantized(self, name: str) -> Transformer:
        """Return the network with one layer in int8, and all else in float32, attention too: so
        that the loss is this layer's.
        """
        groups = [g for g in self._unpacked.smoothing_groups() if name in g.readers]
        changed = {name: "int8", **{g.producer: "float32" for g in groups if g.producer}}
        unpacked = linears(self._unpacked)
        layers = compress_linears(
            [unpacked[layer] for layer in changed],
            changed,
            self._base.num_threads,
            groups,
            self._inputs,
        )
        return replace_linears(self._base.network, layers)

    def loss(self, transformer: Transformer) -> float:
        base = self._base
        cosine = cosines(base.with_network(transformer).encode(self._texts), self._exact)
        return float(np.maximum(0.0, 1 - cosine.mean()))
