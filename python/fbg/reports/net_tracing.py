"""Which operator of a network from a file is wrong, and which ones int8 hurts.

by_op        moves each node in turn to the reference and reports how much that changes the outputs
sensitivity  quantizes each product alone, and proposes products to keep in float32
"""

from __future__ import annotations

import bisect
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

import fbg
from fbg.errors import ModelError
from fbg.model.load import load
from fbg.reports.inputs import feeds_of, random_feeds, read_feeds
from fbg.reports.measuring import Report, table
from fbg.reports.net_comparison import cosine

__all__ = ["ByOp", "NetSensitivity", "OpError", "compare_by_op", "net_sensitivity"]

Array = npt.NDArray[Any]
TARGET = 1e-3


@dataclass(frozen=True)
class OpError:
    """error: largest difference of an output, relative to its largest element, where this node runs
    on the reference and all others where they belong. None: the reference does not compute it.
    """

    node: str
    op: str
    error: float | None


@dataclass(frozen=True)
class ByOp(Report):
    """Result of `compare_by_op`. fused: the same error for the plan that fuses operators."""

    path: str
    fused: float
    ops: tuple[OpError, ...]

    def __str__(self) -> str:
        rows = [
            [row.node, row.op, "not computed" if row.error is None else f"{row.error:.1e}"]
            for row in self.ops
        ]
        return "\n".join(
            [
                f"{self.path}: change of the outputs with one node on onnx.reference",
                f"fused against not fused: {self.fused:.1e}",
                "",
                table(["node", "operator", "change"], rows),
            ]
        )


def compare_by_op(
    path: str,
    *,
    shapes: Mapping[str, Sequence[int]] | None = None,
    inputs: str | None = None,
    num_threads: int | None = None,
    progress: Callable[[str], object] = lambda node: None,
) -> ByOp:
    """Move each node in turn to `onnx.reference`, and compare the outputs.

    A node whose move changes the outputs by more than rounding is computed wrongly, or amplifies
    what is rounded before it. Arguments as of `compare_net`; of the inputs, the first run is used.
    """
    net = load(path, shapes=shapes or {}, num_threads=num_threads)
    from fbg.importers.variants import moved

    feed = (random_feeds(net, 1) if inputs is None else read_feeds(inputs, net))[0]
    fused = net.run(feed)
    expected = moved(net, None).run(feed)
    found = []
    for node in net.network.nodes:
        progress(node.name)
        try:
            error = _difference(moved(net, node.name).run(feed), expected)
        except ModelError:
            error = None
        found.append(OpError(node.name, node.op, error))
    return ByOp(path, _difference(fused, expected), tuple(found))


def _difference(results: Mapping[str, Array], expected: Mapping[str, Array]) -> float:
    largest = 0.0
    for name, wanted in expected.items():
        if wanted.dtype.kind not in "fiub" or wanted.size == 0:
            continue
        a, b = results[name].astype(np.float64), wanted.astype(np.float64)
        scale = max(float(np.abs(b).max()), 1e-30)
        largest = max(largest, float(np.abs(a - b).max()) / scale)
    return largest


@dataclass(frozen=True)
class NodeLoss:
    """The loss, 1 - mean cosine of the outputs, if only this node multiplies integers."""

    node: str
    loss: float


@dataclass(frozen=True)
class NetSensitivity(Report):
    """Result of `net_sensitivity`.

    nodes: the loss of each product, largest first. int8_loss: if all are quantized.
    proposed: nodes for `fbg.load(..., higher_precision=proposed)`; empty if int8 suffices.
    proposed_loss: the loss with these in float32. It exceeds the target if no such list reaches it.
    """

    path: str
    runs: int
    target: float
    nodes: tuple[NodeLoss, ...]
    int8_loss: float
    proposed: tuple[str, ...]
    proposed_loss: float

    def __str__(self) -> str:
        lines = [
            f"{self.path}: {self.runs} runs; loss is 1 - mean cosine to float32",
            "",
            table(["int8 alone in", "loss"], [[n.node, f"{n.loss:.2e}"] for n in self.nodes]),
            "",
            f"all in int8: {self.int8_loss:.2e}, target {self.target:.2e}",
        ]
        if not self.proposed:
            return "\n".join([*lines, "no node needs a higher precision"])
        count = f"{len(self.proposed)} of {len(self.nodes)} nodes"
        lines.append(f"{count} in float32: {self.proposed_loss:.2e}")
        return "\n".join([*lines, f"higher_precision={list(self.proposed)}"])


def net_sensitivity(
    path: str,
    *,
    shapes: Mapping[str, Sequence[int]] | None = None,
    inputs: str | None = None,
    target: float = TARGET,
    num_threads: int | None = None,
    progress: Callable[[str], object] = lambda node: None,
) -> NetSensitivity:
    """Measure what each product loses in int8, and propose nodes to keep in float32.

    target: the loss, 1 - mean cosine of the outputs, that the proposal should reach, in (0, 1).
    Other arguments as of `compare_net`.
    """
    if not 0 < target < 1:
        raise ValueError(f"sensitivity: target must be in (0, 1), got {target}")
    threads = num_threads or fbg.get_num_threads()
    net = load(path, shapes=shapes or {}, num_threads=threads)
    from fbg.importers.variants import quantizer, require_products, results_of_products

    require_products(net, path)
    feeds = feeds_of(net, inputs)
    expected = [net.run(feed) for feed in feeds]
    quantize = quantizer(net, feeds)
    names = list(results_of_products(net))

    def loss(kept: Sequence[str]) -> float:
        rounded = quantize(kept)
        cosines = [
            cosine(rounded.run(feed), exact) for feed, exact in zip(feeds, expected, strict=True)
        ]
        return max(0.0, 1 - statistics.fmean(cosines))

    losses = []
    for name in names:
        progress(name)
        losses.append(NodeLoss(name, loss([other for other in names if other != name])))
    losses.sort(key=lambda row: -row.loss)
    ranked = [row.node for row in losses]
    tried: dict[int, float] = {}

    def loss_of(count: int) -> float:
        if count not in tried:
            tried[count] = loss(ranked[:count])
        return tried[count]

    counts = range(len(ranked))
    count = bisect.bisect_left(counts, True, key=lambda count: loss_of(count) <= target)
    proposed = tuple(ranked[:count])
    return NetSensitivity(
        path, len(feeds), target, tuple(losses), loss_of(0), proposed, loss_of(count)
    )
