"""Packed weights of a network, which plans of other shapes and thread counts have in common."""

from __future__ import annotations

import hashlib
import weakref
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg.conv.packed_conv import PackedConv
from fbg.locks import Lock

__all__ = ["PackedWeights"]

Array = npt.NDArray[Any]


class PackedWeights:
    """Weights by what they hold. They are kept as long as a plan holds them.

    What is packed has been folded and scaled, so equal weights are found by their values and not by
    the name of a tensor.
    """

    def __init__(self) -> None:
        self._known: weakref.WeakValueDictionary[bytes, PackedConv] = weakref.WeakValueDictionary()
        self._lock = Lock()

    def get(self, w: Array, options: dict[str, Any]) -> PackedConv:
        """Return `PackedConv(w, **options)`, packed now unless a plan has it."""
        key = _digest(w, options)
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


def _digest(w: Array, options: dict[str, Any]) -> bytes:
    digest = hashlib.sha256()
    for name, value in (("w", w), *sorted(options.items())):
        if isinstance(value, (np.ndarray, np.generic)):
            array = np.ascontiguousarray(value)
            digest.update(f"{name} {array.dtype} {np.shape(value)} ".encode())
            digest.update(array.reshape(-1).view(np.uint8).data)
        else:
            digest.update(f"{name} {value!r} ".encode())
    return digest.digest()
