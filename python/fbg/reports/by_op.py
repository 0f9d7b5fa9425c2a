"""Which operator of a network from a file is wrong.

Each node in turn is moved to the reference; the report says how much that changes the outputs.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from fbg.arrays import Array
from fbg.errors import ModelError
from fbg.model.load import load
from fbg.reports.inputs import random_feeds, read_feeds
from fbg.reports.measuring import Report, table


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
