"""Inputs to measure networks from files with: random ones, or those of a file of the user's."""

from __future__ import annotations

import zipfile
import zlib
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fbg.files import open_regular
from fbg.importers.feeds import runs_of

if TYPE_CHECKING:
    from fbg.importers.description import TensorType
    from fbg.importers.net import Net

__all__ = ["random_feeds", "read_feeds"]

Array = npt.NDArray[Any]
Feed = dict[str, Array]
# What NumPy lets through of damaged archives.
NOT_NPZ = (zipfile.BadZipFile, zlib.error, KeyError, NotImplementedError)


def random_feeds(net: Net, count: int, seed: int = 0) -> list[Feed]:
    """Return inputs for some runs: normally distributed floats; integers are 0, and bool is true.

    Raises ValueError for an input whose size is not known.
    """
    rng = np.random.default_rng(seed)
    inputs = net.inputs.items()
    return [{name: _values(name, kind, rng) for name, kind in inputs} for _ in range(count)]


def _values(name: str, kind: TensorType, rng: np.random.Generator) -> Array:
    shape = kind.fixed
    if shape is None:
        raise ValueError(f"the shape of input '{name}' is {kind}: pass --shape {name}=1,…")
    if kind.dtype.kind == "f":
        return rng.standard_normal(shape).astype(kind.dtype)
    return (np.ones if kind.dtype == np.bool_ else np.zeros)(shape, kind.dtype)


def read_feeds(path: str, net: Net) -> list[Feed]:
    """Return the inputs of some runs from a .npz file.

    It holds an array for each input, by name, with one more axis before those of the input: that of
    the runs. Raises ValueError naming the file and what is wrong with it.
    """
    try:
        with open_regular(path) as file, np.load(file, allow_pickle=False) as stored:
            arrays: Mapping[str, Array] = {name: stored[name] for name in stored.files}
    except (*NOT_NPZ, ValueError, EOFError, AttributeError, TypeError):
        inputs = ", ".join(f"{name}=…" for name in net.inputs)
        written = f"as np.savez(FILE, {inputs}) writes it"
        raise ValueError(f"{path}: not a .npz file, {written}") from None
    missing = [name for name in net.inputs if name not in arrays]
    if missing:
        held = ", ".join(arrays) or "none"
        raise ValueError(f"{path}: has no array for input '{missing[0]}'; its arrays are {held}")
    counts = {name: len(arrays[name]) if arrays[name].ndim else 0 for name in net.inputs}
    count = min(counts.values())
    if count < 1 or count != max(counts.values()):
        raise ValueError(f"{path}: arrays must hold the same number of runs, got {counts}")
    for name, kind in net.inputs.items():
        shape = arrays[name].shape
        if not kind.takes(shape[1:]):
            raise ValueError(f"{path}: array '{name}': {runs_of(kind, name, shape)}")
        if arrays[name].dtype != kind.dtype:
            raise ValueError(
                f"{path}: array '{name}' must be {kind.dtype}, got {arrays[name].dtype}; "
                f"convert it with astype(np.{kind.dtype})"
            )
    return [{name: arrays[name][i] for name in net.inputs} for i in range(count)]
