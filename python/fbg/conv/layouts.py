"""Advice for images and weights whose axes are not in the order of kernels.

It is looked for only when shapes do not fit. A remedy is named if it makes the shapes fit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

Shape = tuple[int, ...]


def image_hint(shape: Shape, axes: int, channels: int) -> str:
    """Return how an x of that shape becomes (N, *spatial, channels), or "".

    axes: how many spatial axes there are.
    """
    batch = len(shape) == axes + 1
    sizes = (1, *shape) if batch else shape
    if len(sizes) != axes + 2:
        return ""
    if sizes[-1] == channels:
        return "; for a single image, pass x[None]" if batch else ""
    if sizes[1] != channels:
        return ""
    order = (1, *range(2, axes + 1), 0) if batch else (0, *range(2, axes + 2), 1)
    added = "[None]" if batch else ""
    axis = 0 if batch else 1
    return f"; axis {axis} has that size: for channels first, pass x.transpose{_text(order)}{added}"


def axes_hint(shape: Shape, takes: Callable[[Shape], bool]) -> str:
    """Return how an array of that shape becomes one that fits: images with channels last where they
    are first or the other way round, and single ones; or "".

    takes: whether a shape fits.
    """
    count = len(shape)
    orders = [(*range(count),)]
    for first in (0, 1):  # without and with an axis of the batch
        if count - first > 2:
            batch, rest = (*range(first),), (*range(first, count),)
            orders += [(*batch, rest[-1], *rest[:-1]), (*batch, *rest[1:], rest[0])]
    for order in orders:
        moved = tuple(shape[axis] for axis in order)
        text = "x" if order == orders[0] else f"x.transpose{_text(order)}"
        if order != orders[0] and takes(moved):
            return f"; pass {text}"
        if takes((1, *moved)):
            return f"; pass {text}[None]"
    return ""


def weight_hint(shape: Shape, groups: int, transposed: bool, channels: int | None) -> str:
    """Return how weights of that shape fit images with so many channels, or any (None); or ""."""
    axes = len(shape) - 2
    for layout, order in _orders(axes, transposed):
        first, second, *kernel = (shape[axis] for axis in order)
        inputs, divided = (first, first) if transposed else (second * groups, first)
        fits = divided % groups == 0 and channels in (None, inputs)
        if fits and (first, second, *kernel) != shape:
            return f"; for w of {shape} as {layout}, pass w.transpose{_text(order)}"
    if channels is None and not transposed and shape[-2] == groups:
        flat = (groups * shape[-1], 1, *shape[:-2])
        order = (axes, axes + 1, *range(axes))
        return (
            f"; for w of {shape} as (*kernel, channels, multiplier), pass "
            f"w.transpose{_text(order)}.reshape{_text(flat)}"
        )
    if groups > 1 and not transposed and channels == shape[1] and channels % groups == 0:
        return f"; with groups={groups}, axis 1 of w must be I / groups = {channels // groups}"
    return ""


def _orders(axes: int, transposed: bool) -> Iterator[tuple[str, Shape]]:
    """Yield other orders of axes of weights, and how to convert them to that of PackedConv."""
    kernel = tuple(range(axes))
    ends = "(*kernel, O / groups, I)" if transposed else "(*kernel, I / groups, O)"
    yield ends, (axes + 1, axes, *kernel)
    if not transposed:
        yield "(O, *kernel, I / groups)", (0, axes + 1, *(axis + 1 for axis in kernel))
    yield "(O, I, *kernel)" if transposed else "(I, O, *kernel)", (1, 0, *(k + 2 for k in kernel))


def _text(order: Sequence[int]) -> str:
    return f"({', '.join(map(str, order))})"
