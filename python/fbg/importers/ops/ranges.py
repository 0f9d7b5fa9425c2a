"""The elements that a Slice or a Compress takes along each axis."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from fbg.arrays import Array
from fbg.importers.description import Node

Parameter = Sequence[int] | None
TO_THE_END = (2**31 - 1, 2**63 - 1)  # in the direction of the step


def slices(
    node: Node, rank: int, parameters: Sequence[Parameter]
) -> dict[int, Callable[[int], range]]:
    """Return for each axis a function from its size to the range of elements.

    parameters: the inputs of the node after the first; attributes before version 10. Raises
    ValueError if they do not fit.
    """
    names = ("starts", "ends", "axes", "steps")
    padded = [*parameters, None, None, None, None]
    given = [
        padded[i] if padded[i] is not None else node.attributes.get(name)
        for i, name in enumerate(names)
    ]
    starts, ends = given[:2]
    if starts is None or ends is None:
        raise ValueError("starts and ends must be given")
    axes = range(len(starts)) if given[2] is None else given[2]
    steps = [1] * len(starts) if given[3] is None else given[3]
    if 0 in steps or any(not -rank <= axis < rank for axis in axes):
        raise ValueError(f"axes {list(axes)} with steps {list(steps)} of a tensor of rank {rank}")
    items = zip(axes, starts, ends, steps, strict=True)
    return {axis % rank: _elements(*item) for axis, *item in items}


def _elements(start: int, end: int, step: int) -> Callable[[int], range]:
    def of(extent: int) -> range:
        low, high = (0, extent) if step > 0 else (-1, extent - 1)
        first = start + extent if start < 0 else start
        last = end + extent if end < 0 else end
        if step < 0 and end in TO_THE_END:
            last = -1
        first = min(max(first, 0), high)
        return range(first, min(max(last, low), high), step)

    return of


def taken_by(condition: Array, extent: int) -> list[int]:
    """Return the positions along an axis that a condition takes; it may be shorter or longer."""
    return [int(i) for i in np.flatnonzero(condition.reshape(-1)[:extent])]
