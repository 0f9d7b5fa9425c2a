"""Images at places that are no pixels."""

from __future__ import annotations

from fbg.graph.ops.windows import GridSample
from fbg.graph.refusal import Unsupported
from fbg.importers.backends.base import TypedNode
from fbg.importers.ops.builder import Builder
from fbg.importers.ops.registry import op

_MODES = {"bilinear": "linear", "bicubic": "cubic"}  # before version 20


@op("GridSample")
def build_grid_sample(builder: Builder, node: TypedNode) -> None:
    """Interpolated pixels at places that another input names."""
    x, grid = builder.input(node, 0), builder.input(node, 1)
    mode = node.attribute("mode", "bilinear")
    mode, beyond = _MODES.get(mode, mode), node.attribute("padding_mode", "zeros")
    if mode not in ("nearest", "linear", "cubic") or grid.dtype != "float32":
        raise Unsupported(node.node.name, f"mode '{mode}' with places of {grid.dtype}")
    align = bool(node.attribute("align_corners", 0))
    builder.set_output(node, builder.add(GridSample(x, grid, mode, beyond, align)))
