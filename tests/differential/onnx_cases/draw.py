"""What all operators draw from, and the table of functions that draw a node of each."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import numpy.typing as npt
import onnx

from helpers.quantized_graphs import WIDEST

__all__ = ["DRAWN", "Draw", "Drawn", "draws", "with_all_attributes"]

Array = npt.NDArray[Any]
Drawn = tuple[list[Array | None], dict[str, Any]]
WITHOUT_MEANING = {"consumed_inputs"}
DRAWN = {}
_FLOATS = ("float16", "float32", "float64")


def draws(*names):
    """Register a function that draws inputs and attributes of operators, by name and version."""

    def register(function):
        DRAWN.update(dict.fromkeys(names, function))
        return function

    return register


def with_all_attributes(op, version, drawn):
    """Return the attributes that are present and known to this version.

    Raises KeyError for an attribute that is never drawn.
    """
    known = onnx.defs.get_schema(op, version).attributes
    for name in known:
        if name not in drawn and name not in WITHOUT_MEANING:
            raise KeyError(f"attribute {name} of {op}-{version} is not drawn")
    return {name: value for name, value in drawn.items() if value is not None and name in known}


class Draw:
    """Sizes, shapes and arrays from one source of random numbers."""

    def __init__(self, random):
        self.random = random
        self.rng = np.random.default_rng(random.getrandbits(64))

    def maybe(self, value, chance=0.5):
        return value if self.random.random() < chance else None

    def one(self, items):
        return self.random.choice(items)

    def flag(self):
        return self.one((None, 0, 1))

    def size(self, most=6):
        """Return the size of an axis: now and then none, or more than a vector has lanes."""
        chance = self.random.random()
        if chance < 0.02:
            return 0
        return self.random.randint(16, 40) if chance < 0.05 else self.random.randint(1, most)

    def shape(self, least=0, most=5):
        return tuple(self.size() for _ in range(self.random.randint(least, most)))

    def axis(self, rank):
        """Return an axis of a tensor, counted from either end; now and then one beyond."""
        if rank == 0 or self.random.random() < 0.01:
            return self.random.randint(-rank - 1, rank)
        return self.random.randint(-rank, rank - 1)

    def axes(self, rank):
        chosen = self.random.sample(range(rank), self.random.randint(0, rank))
        return [axis - rank if self.random.random() < 0.3 else axis for axis in chosen]

    def array(self, dtype, shape):
        """Return random elements, which are small and often alike."""
        if dtype == "bool":
            return self.rng.random(shape) < 0.5
        if dtype in ("bfloat16", *_FLOATS):
            scale = self.one((0.1, 1.0, 1.0, 4.0))
            values = np.asarray(self.rng.standard_normal(shape) * scale, np.float32)
            values = np.round(values) if self.random.random() < 0.15 else values
            return values.astype(ml_dtypes.bfloat16 if dtype == "bfloat16" else dtype)
        kind = np.iinfo(dtype)
        low, high = (kind.min, kind.max) if kind.bits == 8 else (max(kind.min, -9), 9)
        return np.asarray(self.rng.integers(low, high, shape, endpoint=True), dtype)

    def factor(self, dtype, shape):
        """Return random 8-bit integers for a product, whose sums onnxruntime does not saturate.

        That of int8 is the right factor of a matrix product, and either one of a convolution.
        """
        drawn = self.array(dtype, shape)
        return drawn if dtype == "uint8" else np.clip(drawn, -WIDEST - 1, WIDEST)

    def floats(self, *shape):
        return self.array("float32", shape)

    def positive(self, *shape):
        return np.asarray(self.rng.uniform(0.02, 1.0, shape), np.float32)

    def partner(self, shape):
        """Return a shape that is broadcast with another, in one direction or both."""
        kept = shape[self.random.randint(0, len(shape)) if self.random.random() < 0.4 else 0 :]
        mine = [1 if self.random.random() < 0.3 else size for size in kept]
        if self.random.random() < 0.1:
            mine = [self.size() for _ in range(self.random.randint(1, 2))] + mine
        return tuple(mine)
