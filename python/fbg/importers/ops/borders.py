"""Borders that a Pad puts around an image, as padding of the windows that read it.

Exporters of TensorFlow write the padding of its mode "same" as a Pad. Borders as wide as the
windows stay where they are.
"""

from __future__ import annotations

from collections.abc import Sequence

from fbg.graph.ops.moves import AxisMap, Move
from fbg.graph.ops.op import Value
from fbg.graph.ops.tensors import Sizes, shape_of

Sides = tuple[tuple[int, int], ...]  # elements before and after, by spatial axis


def without_borders(x: Value, fill: float) -> tuple[Value, Sides]:
    """Return the image (N, C, *spatial) inside a border of `fill`, and the border's sides.

    Without a border, x itself and no sides.
    """
    move = x.op
    if not isinstance(move, Move) or move.fill != fill:
        return x, ()
    borders = []
    for i, (extent, axis) in enumerate(zip(shape_of(move.x), move.axes, strict=True)):
        before = next((n for n, at in enumerate(axis.table) if at >= 0), 0)
        after = len(axis.table) - before - extent if axis.table else 0
        table = (*[-1] * before, *range(extent), *[-1] * after) if axis.table else ()
        if axis != AxisMap(len(table) or extent, i, table=table):
            return x, ()
        borders.append((before, after))
    if borders[:2] != [(0, 0), (0, 0)]:
        return x, ()
    return move.x, tuple(borders[2:])


def widened(padding: Sides, borders: Sides, kernel: Sizes, dilation: Sequence[int]) -> Sides | None:
    """Return the padding with the borders added to it, or None if there are none that fit."""
    if not borders:
        return None
    pairs = zip(padding, borders, strict=True)
    widths = tuple((before + b, after + a) for (before, after), (b, a) in pairs)
    reaches = [(k - 1) * d for k, d in zip(kernel, dilation, strict=True)]
    fits = all(max(width) <= reach for width, reach in zip(widths, reaches, strict=True))
    return widths if fits else None
