"""sensitivity: which linear layers lose the most accuracy in int8, and which to keep out of it.

Each layer in turn is quantized while all others stay in float32. The loss is 1 - mean cosine of the
embeddings to those in float32. Losses of several layers add up approximately, so the layers with
the largest losses are kept in higher precision; how many are needed is found by bisection.
"""

from __future__ import annotations

import bisect
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fbg.compression.precision import DEFAULT
from fbg.compression.smoothing import compress_linears
from fbg.errors import ModelError
from fbg.model.compress import compress
from fbg.model.load import load_encoder
from fbg.model.model import Model
from fbg.model.observe import observe, random_sequences
from fbg.networks.registry import read_checkpoint
from fbg.networks.transformer import Transformer, linears, replace_linears
from fbg.reading import changed_file
from fbg.reports.comparison import cosines
from fbg.reports.inputs import require_texts
from fbg.reports.measuring import Report, require_unsaved, table

__all__ = ["LayerLoss", "Sensitivity", "sensitivity"]

TARGET = 5e-4


@dataclass(frozen=True)
class LayerLoss:
    """The loss of embeddings, 1 - mean cosine, if only this linear layer is quantized."""

    layer: str
    loss: float


@dataclass(frozen=True)
class Sensitivity(Report):
    """Result of `sensitivity`.

    layers: the loss of each layer, largest first.
    int8_loss: the loss if all layers are quantized.
    proposed: the layers for `fbg.load(..., higher_precision=proposed)`; empty if int8 suffices.
    proposed_loss: the loss with these layers in bfloat16 and the others in int8. It exceeds the
        target if no such list reaches it.
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
    """Measure the loss of each linear layer in int8, and propose layers for higher precision.

    model: a checkpoint for `fbg.load`, not a model that was saved in a lower precision.
    texts: texts to embed, at least one of them not empty. None: the sentences that fbg contains.
    target: the loss, 1 - mean cosine, that the proposed layers should reach, within (0, 1).
    num_threads: as for `fbg.load`.
    progress: called with the name of each layer before it is measured.

    Layers are quantized as by `fbg.load(dtype="int8")`, smoothed without data. Raises the errors of
    `fbg.load`, TypeError or ValueError for texts, and ValueError for the target.

    >>> from fbg.reports.sensitivity import sensitivity
    >>> report = sensitivity("path/to/all-MiniLM-L6-v2")  # doctest: +SKIP
    >>> fbg.load("path/to/all-MiniLM-L6-v2", dtype="int8", higher_precision=report.proposed)
    ... # doctest: +SKIP
    """
    if not 0 < target < 1:
        raise ValueError(f"sensitivity: target must be in (0, 1), got {target}")
    require_unsaved("sensitivity", os.fspath(model))
    sentences = require_texts("sensitivity", texts, 1)
    base = load_encoder(model, dtype="float32", num_threads=num_threads)
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
    """A float32 model, with the losses of variants of its weights on some texts."""

    def __init__(self, base: Model, texts: list[str]) -> None:
        self._base, self._texts = base, texts
        self._exact = base.encode(texts)
        changed = changed_file(base.reads)
        if changed is not None:
            raise ModelError(f"{changed}: changed since the model was loaded")
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
