"""How the axes of a tensor are stored in memory.

A tensor of shape (N, C, H, W) may be stored with its axes in another order, such as
(N, H, W, C). `order` names the axes from the outermost to the innermost; ops that do not care keep
it, and transposing or reshaping a tensor often only changes it.
"""

from __future__ import annotations

from collections.abc import Sequence

from fbg.graph.ops.tensors import Sizes

Order = tuple[int, ...]


def natural(rank: int) -> Order:
    """Return the order in which the last axis is the innermost."""
    return tuple(range(rank))


def channels_last(rank: int) -> Order:
    """Return the order (0, 2, 3, …, 1)."""
    return (0, *range(2, rank), 1) if rank > 2 else natural(rank)


def with_last(order: Order, axis: int) -> Order:
    """Return an order whose innermost axis is that one."""
    return (*[a for a in order if a != axis], axis)


def strides_of(shape: Sizes, order: Order) -> list[int]:
    """Return the distance between elements along each axis of a dense tensor in that order.

    >>> strides_of((2, 3, 4, 5), (0, 2, 3, 1))
    [60, 1, 15, 3]
    """
    strides, distance = [0] * len(shape), 1
    for axis in reversed(order):
        strides[axis] = distance
        distance *= shape[axis]
    return strides


def same_order(shape: Sizes, first: Order, second: Order) -> bool:
    """Whether elements are stored in the same places: axes of size 1 may stand anywhere."""
    mine = [axis for axis in first if shape[axis] != 1]
    return mine == [axis for axis in second if shape[axis] != 1]


def order_after(shape: Sizes, order: Order, new_shape: Sizes) -> Order | None:
    """Return the order of axes in which a reshaped tensor is stored, or None if it must be copied.

    The axes of both shapes are divided into the smallest groups of equal size. A group can be
    reshaped in place if its axes stand together in memory, in their natural order.
    """
    groups = _groups(shape, new_shape)
    if groups is None:
        return None
    result: list[int] = []
    stored = [axis for axis in order if shape[axis] != 1]
    at = 0
    while at < len(stored):
        group = next(g for g in groups if stored[at] in g[0])
        wanted = [axis for axis in group[0] if shape[axis] != 1]
        if stored[at : at + len(wanted)] != wanted:
            return None
        result += group[1]
        at += len(wanted)
    missing = [axis for axis in range(len(new_shape)) if axis not in result]
    return (*missing, *result)


def _groups(shape: Sizes, new_shape: Sizes) -> list[tuple[list[int], list[int]]] | None:
    """Return axes of both shapes that have the same elements, group by group."""
    groups: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(shape) or j < len(new_shape):
        old: list[int] = []
        new: list[int] = []
        a = b = 1
        while not (old or new) or a != b:
            if (a <= b and i < len(shape)) or j >= len(new_shape):
                if i >= len(shape):
                    return None
                a *= shape[i]
                old.append(i)
                i += 1
            else:
                b *= new_shape[j]
                new.append(j)
                j += 1
        groups.append((old, new))
    return groups


def stretched(shape: Sizes, order: Order, result: Sizes) -> list[int]:
    """Return the strides of an operand along the axes of a result that it is broadcast to."""
    own = strides_of(shape, order)
    missing = len(result) - len(shape)
    return [0] * missing + [
        0 if size == 1 else stride for size, stride in zip(shape, own, strict=True)
    ]


def merged_axes(
    extents: Sequence[int], strides: Sequence[Sequence[int]]
) -> tuple[list[int], list[list[int]]]:
    """Merge axes that are contiguous for all operands; axes of size 1 vanish.

    >>> merged_axes([1, 4, 5, 6], [[120, 30, 6, 1], [0, 0, 0, 1]])
    ([20, 6], [[6, 1], [0, 1]])
    """
    kept = [axis for axis, extent in enumerate(extents) if extent != 1] or [len(extents) - 1]
    sizes, own = [extents[kept[0]]], [[s[kept[0]]] for s in strides]
    for axis in kept[1:]:
        extent = extents[axis]
        if all(s[-1] == full[axis] * extent for s, full in zip(own, strides, strict=True)):
            sizes[-1] *= extent
            for s, full in zip(own, strides, strict=True):
                s[-1] = full[axis]
        else:
            sizes.append(extent)
            for s, full in zip(own, strides, strict=True):
                s.append(full[axis])
    return sizes, own
