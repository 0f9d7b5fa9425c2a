"""sensitivity: which products lose the most accuracy in int8, and which to keep out of it.

Each linear layer of an encoder, or product of a network from a file, is quantized in turn while all
others stay in float32. The loss is 1 - mean cosine of the embeddings, or outputs, to those in
float32. Losses of several products add up approximately, so those with the largest losses are kept
in higher precision; how many are needed is found by bisection.
"""

from __future__ import annotations

import os
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fbg.errors import ModelError
from fbg.graph.passes.precision import DEFAULT, propose
from fbg.model.load import load, load_encoder
from fbg.model.model import Model
from fbg.model.observe import observe, random_sequences
from fbg.model.quantize import pack_linears, quantize
from fbg.networks.registry import open_checkpoint, read_opened
from fbg.networks.transformer import Transformer, linears, replace_linears
from fbg.reading import changed_file
from fbg.reports.accuracy import cosine, cosines
from fbg.reports.inputs import Feed, feeds_of, require_texts
from fbg.reports.measuring import Report, require_unsaved, table

if TYPE_CHECKING:
    from fbg.importers.net import Net

TARGET = 5e-4
NET_TARGET = 1e-3


@dataclass(frozen=True)
class LayerLoss:
    """The loss of embeddings, 1 - mean cosine, if only this linear layer is quantized."""

    layer: str
    loss: float


@dataclass(frozen=True)
class NodeLoss:
    """The loss, 1 - mean cosine of the outputs, if only this node multiplies integers."""

    node: str
    loss: float


@dataclass(frozen=True)
class _Losses(Report):
    """The results for encoders and for networks.

    int8_loss: the loss if all is quantized.
    proposed: names for `fbg.load(..., higher_precision=proposed)`; empty if int8 suffices.
    proposed_loss: the loss with these in higher precision. It exceeds the target if no such list
        reaches it.
    """

    target: float
    int8_loss: float
    proposed: tuple[str, ...]
    proposed_loss: float

    def _show(self, losses: Mapping[str, float], what: str, measured_on: str, higher: str) -> str:
        """Return the text. losses: by name, of each `what`. higher: dtype of those proposed."""
        lines = [
            f"{measured_on}; loss is 1 - mean cosine to float32",
            "",
            table(["int8 alone in", "loss"], [[n, f"{x:.2e}"] for n, x in losses.items()]),
            "",
            f"all in int8: {self.int8_loss:.2e}, target {self.target:.2e}",
        ]
        if not self.proposed:
            return "\n".join([*lines, f"no {what} needs a higher precision"])
        count = f"{len(self.proposed)} of {len(losses)} {what}s"
        lines.append(f"{count} in {higher}: {self.proposed_loss:.2e}")
        if self.proposed_loss > self.target:
            lines.append(f"int8 cannot reach the target on these {measured_on.split()[-1]}")
        return "\n".join([*lines, f"higher_precision={list(self.proposed)}"])


@dataclass(frozen=True)
class Sensitivity(_Losses):
    """Result of `sensitivity`.

    layers: the loss of each layer, largest first. Proposed layers are computed in bfloat16.
    """

    model: str
    texts: int
    layers: tuple[LayerLoss, ...]

    def __str__(self) -> str:
        losses = {row.layer: row.loss for row in self.layers}
        return self._show(losses, "layer", f"{self.model}: {self.texts} texts", DEFAULT)


@dataclass(frozen=True)
class NetSensitivity(_Losses):
    """Result of `net_sensitivity`.

    nodes: the loss of each product, largest first. Proposed nodes are computed in float32.
    """

    path: str
    runs: int
    nodes: tuple[NodeLoss, ...]

    def __str__(self) -> str:
        losses = {row.node: row.loss for row in self.nodes}
        head = f"{self.path}: {self.runs} run{'s' * (self.runs > 1)}"
        return self._show(losses, "node", head, "float32")


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
    _require_target(target)
    require_unsaved("sensitivity", os.fspath(model))
    sentences = require_texts("sensitivity", texts, 1)
    base = load_encoder(model, dtype="float32", num_threads=num_threads)
    trial = _Encoder(base, sentences)
    found = propose(trial.names, trial.alone, trial.all_but, target, progress)
    layers = tuple(LayerLoss(name, loss) for name, loss in found.losses.items())
    return Sensitivity(target, *found[1:], str(model), len(sentences), layers)


def net_sensitivity(
    path: str,
    *,
    shapes: Mapping[str, Sequence[int]] | None = None,
    inputs: str | None = None,
    target: float = NET_TARGET,
    num_threads: int | None = None,
    progress: Callable[[str], object] = lambda node: None,
) -> NetSensitivity:
    """Measure the loss of each product in int8, and propose nodes to keep in float32.

    target: the loss, 1 - mean cosine of the outputs, that the proposal should reach, in (0, 1).
    Other arguments as of `compare_net`.
    """
    _require_target(target)
    net = load(path, shapes=shapes or {}, num_threads=num_threads)
    from fbg.importers.variants import require_products

    require_products(net, path)
    feeds = feeds_of(net, inputs)
    trial = _Network(net, feeds)
    found = propose(trial.names, trial.alone, trial.all_but, target, progress)
    nodes = tuple(NodeLoss(name, loss) for name, loss in found.losses.items())
    return NetSensitivity(target, *found[1:], path, len(feeds), nodes)


def _require_target(target: float) -> None:
    if not 0 < target < 1:
        raise ValueError(f"sensitivity: target must be in (0, 1), got {target}")


class _Encoder:
    """A float32 model, with the losses of variants of its weights on some texts.

    names: of products. alone: the loss if only one is quantized; all_but: if all others are.
    """

    def __init__(self, base: Model, texts: list[str]) -> None:
        self._base, self._texts = base, texts
        self._exact = base.encode(texts)
        changed = changed_file(base.reads)
        if changed is not None:
            raise ModelError(f"{changed}: changed since the model was loaded")
        self._unpacked = read_opened(
            open_checkpoint(base.directory, base.config), base.config, base.num_threads
        )
        sequences = random_sequences(base.config, base.tokenizer([""])[0])
        self._moments = observe(self._unpacked, sequences, base.num_threads)
        self.names = list(linears(base.network))

    def all_but(self, kept: Sequence[str]) -> float:
        higher, threads = dict.fromkeys(kept, DEFAULT), self._base.num_threads
        return self._loss(quantize(self._unpacked, "int8", higher, threads, self._moments))

    def alone(self, name: str) -> float:
        """Quantize one layer; all else is in float32, attention too: so that the loss is its."""
        groups = [g for g in self._unpacked.smoothing_groups() if name in g.readers]
        changed = {name: "int8", **{g.producer: "float32" for g in groups if g.producer}}
        unpacked = linears(self._unpacked)
        layers = pack_linears(
            {layer: unpacked[layer] for layer in changed},
            changed,
            self._base.num_threads,
            groups,
            self._moments,
        )
        return self._loss(replace_linears(self._base.network, layers))

    def _loss(self, transformer: Transformer) -> float:
        base = self._base
        cosine = cosines(base.with_network(transformer).encode(self._texts), self._exact)
        return float(np.maximum(0.0, 1 - cosine.mean()))


class _Network:
    """A float32 network, with the losses of variants of it on some inputs; as _Encoder."""

    def __init__(self, net: Net, feeds: list[Feed]) -> None:
        from fbg.importers.variants import quantizer, results_of_products

        self._feeds = feeds
        self._expected = [net.run(feed) for feed in feeds]
        self._quantize = quantizer(net, feeds)
        self.names = list(results_of_products(net))

    def alone(self, name: str) -> float:
        return self.all_but([other for other in self.names if other != name])

    def all_but(self, kept: Sequence[str]) -> float:
        rounded, runs = self._quantize(kept), zip(self._feeds, self._expected, strict=True)
        cosines = [cosine(rounded.run(feed), exact) for feed, exact in runs]
        return max(0.0, 1 - statistics.fmean(cosines))
