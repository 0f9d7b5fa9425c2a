"""Weights of a network: the constants they are made from, and one packed copy for all who use them.

Constants are shared by nodes, and by plans of other shapes and thread counts. So nothing is made of
them before it is packed, and what has been packed is found again: by the constants in memory that
it was made of, and how, while a graph is built; otherwise by values.
"""

from __future__ import annotations

import hashlib
import math
import weakref
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from fbg.arrays import Array
from fbg.conv.packed_conv import PackedConv
from fbg.errors import ModelError
from fbg.graph.quantized_weights import QuantizedWeights
from fbg.locks import Lock

T = TypeVar("T")
SLACK_BYTES = 2**26  # bytes of packed weights that a small network may have


def identity(array: Array) -> Hashable:
    """Return a key that identifies an array as long as it is in memory."""
    if array.size <= 1:
        return array.tobytes(), array.shape, array.dtype
    return array.__array_interface__["data"][0], array.shape, array.strides, array.dtype


@dataclass(frozen=True)
class Weights:
    """Weights that are computed whenever they are asked for. key: what they are made from, and how.

    Equal weights are made from the same constants in the same way; these stay in memory.
    """

    key: Hashable
    shape: tuple[int, ...] = field(compare=False)
    dtype: np.dtype[Any] = field(compare=False)
    make: Callable[[], Array] = field(compare=False)

    @classmethod
    def of(cls, constant: Array | QuantizedWeights) -> Weights:
        """Return a constant, with quantized weights as the numbers that they stand for."""
        if isinstance(constant, QuantizedWeights):
            parts = (constant.integers, constant.scale, constant.zero_point)
            key = (*map(identity, parts), constant.axis)
            return cls(key, constant.shape, np.dtype(np.float32), constant.dequantized)
        return cls(identity(constant), constant.shape, constant.dtype, lambda: constant)

    def then(
        self,
        step: Hashable,
        function: Callable[[Array], Array],
        shape: tuple[int, ...] | None = None,
        dtype: npt.DTypeLike | None = None,
    ) -> Weights:
        """Return function(weights); `step` distinguishes it from other functions of the weights."""
        return replace(
            self,
            key=(self.key, step),
            shape=self.shape if shape is None else shape,
            dtype=self.dtype if dtype is None else np.dtype(dtype),
            make=lambda: function(self.make()),
        )

    @property
    def nbytes(self) -> int:
        """The number of bytes of the weights once they are made."""
        return math.prod(self.shape) * self.dtype.itemsize


class PackedWeights:
    """Packed weights of a network by content. They are kept as long as a plan holds them.

    What is packed has been folded and scaled, so equal weights are found by their values and not by
    the name of a tensor.
    """

    def __init__(self) -> None:
        self._known: weakref.WeakValueDictionary[bytes, PackedConv] = weakref.WeakValueDictionary()
        self._lock = Lock()

    def get(self, w: Array, options: dict[str, Any]) -> PackedConv:
        """Return `PackedConv(w, **options)`, packed now unless a plan has it."""
        key = _digest({"w": w, **options})
        with self._lock:
            found = self._known.get(key)
        if found is None:
            made = PackedConv(w, **options)
            with self._lock:
                found = self._known.setdefault(key, made)
        return found

    def __len__(self) -> int:
        return len(self._known)

    @property
    def nbytes(self) -> int:
        """Bytes of memory held, including all layouts that algorithms have requested so far."""
        with self._lock:
            return sum(packed.nbytes for packed in self._known.values())


class Packer:
    """Packs the weights of one graph while it is built.

    shared: the packed weights of the network. size: bytes of its constants. rounds: whether
    products of floats round to bfloat16. kept: what the graph reads. room: bytes of the weights
    that it may pack.
    """

    def __init__(self, shared: PackedWeights, size: int, rounds: bool = False) -> None:
        self._shared = shared
        self.rounds = rounds
        self.room = size + SLACK_BYTES
        self._found: weakref.WeakValueDictionary[tuple[Weights, bytes], PackedConv]
        self._found = weakref.WeakValueDictionary()
        self._seen: set[Weights] = set()  # so that their constants stay in memory
        self._most = 0  # bound of the bytes of all weights found
        self._once: dict[Hashable, tuple[Sequence[Array], Any]] = {}
        self.kept: list[PackedConv] = []

    def get(self, weights: Weights, options: dict[str, Any]) -> PackedConv:
        """Return the packed weights; raises ModelError for more than belong to so few constants."""
        key = (weights, _digest(options))
        found = self._found.get(key)
        if found is None:
            if not self.has_room(weights):
                raise ModelError(
                    f"weights of shape {weights.shape} are packed in too many ways for their size"
                )
            found = self._shared.get(np.ascontiguousarray(weights.make()), options)
            self._found[key] = found
            self._seen.add(weights)
            self._most += weights.nbytes
        return found

    def has_room(self, weights: Weights) -> bool:
        """Whether such weights may be packed in addition to those that the graph has."""
        if self._most + weights.nbytes > self.room:
            self._most = sum(known.nbytes for known, _ in list(self._found))
        return self._most + weights.nbytes <= self.room

    def once(self, step: Hashable, constants: Sequence[Array], make: Callable[[], T]) -> T:
        """Return a function of constants, computed once. step: identifies the function."""
        key = (step, *map(identity, constants))
        if key not in self._once:
            self._once[key] = constants, make()
        found: T = self._once[key][1]
        return found


def _digest(values: dict[str, Any]) -> bytes:
    digest = hashlib.sha256()
    for name, value in sorted(values.items()):
        if isinstance(value, (np.ndarray, np.generic)):
            array = np.ascontiguousarray(value)
            digest.update(f"{name} {array.dtype} {np.shape(value)} ".encode())
            digest.update(array.reshape(-1).view(np.uint8).data)
        else:
            digest.update(f"{name} {value!r} ".encode())
    return digest.digest()
