"""The inputs of runs: those of a calibration, one after the other, and random ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np

from fbg.arrays import Array
from fbg.importers.description import TensorType
from fbg.progress import counted


def calibration_feeds(
    calibrate: object, inputs: Mapping[str, TensorType]
) -> Iterator[Mapping[str, object]]:
    """Yield the inputs of each run by name; an item that is not a mapping is the only input.

    Raises TypeError for other objects, and ValueError for an item whose shape shows that the
    first axis of an array does not count runs.
    """
    if isinstance(calibrate, (str, bytes, Mapping)) or not isinstance(calibrate, Iterable):
        raise TypeError(
            "calibrate must hold the inputs of one run after the other, such as a list of mappings "
            f"by name, got {type(calibrate).__name__}"
        )
    for n, feed in enumerate(counted("calibrating", calibrate)):
        if isinstance(feed, Mapping):
            yield feed
            continue
        if len(inputs) != 1:
            raise TypeError("calibrate: must hold mappings by name: the network has several inputs")
        ((name, kind),) = inputs.items()
        shape = getattr(feed, "shape", None)
        if isinstance(shape, tuple) and not kind.takes(shape):
            given = getattr(calibrate, "shape", None)
            raise ValueError(
                f"calibrate[{n}]: input '{name}' must be {kind}, got shape {shape}; "
                f"{runs_of(kind, 'calibrate', given)}"
            )
        yield {name: feed}


def sizes_by_name(
    shapes: Mapping[str, tuple[int, ...]], inputs: Mapping[str, TensorType], where: str
) -> dict[str, int]:
    """Return the sizes to which a file gives names, of inputs that have these shapes.

    Raises ValueError for an input with another size than one before it has for the same name. A
    name that stands for several sizes within an input says nothing.
    """
    known: dict[str, int] = {}
    for name, shape in shapes.items():
        own: dict[str, set[int]] = {}
        for size, symbol in zip(shape, inputs[name].shape or (), strict=False):
            if isinstance(symbol, str):
                own.setdefault(symbol, set()).add(size)
        for symbol, (size, *others) in own.items():
            if not others and known.setdefault(symbol, size) != size:
                raise ValueError(
                    f"{where}: input '{name}' must be {inputs[name]}, where {symbol} is "
                    f"{known[symbol]} already, got shape {shape}"
                )
    return known


def runs_of(kind: TensorType, array: str, shape: tuple[int, ...] | None) -> str:
    """Describe the shape of an array that holds the input of several runs, and how to fix it.

    shape: the shape of the given array; None if it is not one array.
    """
    sizes = ", ".join("?" if size is None else str(size) for size in ("runs", *(kind.shape or ())))
    wanted = f"the first axis of an array counts runs: it must have shape ({sizes})"
    if shape is None:
        return wanted
    lacks_axis = kind.takes((1, *shape[1:]))
    return f"{wanted}, got {shape}" + (f": pass {array}[:, None]" if lacks_axis else "")


def random_array(kind: TensorType, rng: np.random.Generator) -> Array:
    """Return normally distributed floats; integers are 0, and bool is true. Sizes must be known."""
    shape = kind.fixed
    assert shape is not None
    if kind.dtype.kind == "f":
        return rng.standard_normal(shape).astype(kind.dtype)
    return (np.ones if kind.dtype == np.bool_ else np.zeros)(shape, kind.dtype)
