"""What a case is: a name and a result, its fingerprint, and the settings that it runs under."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

import fbg

Array = npt.NDArray[Any]
Case = tuple[str, Any]  # a name, and what was computed

SLOW = ("generic/1", "generic/2")  # a second for a thousand million multiply-adds


def fingerprint(value: Any, crc: int = 0) -> int:
    """CRC-32 of a result: of arrays with their types and shapes, and of what they are nested in."""
    if isinstance(value, dict):
        return fingerprint([(key, value[key]) for key in sorted(value)], crc)
    if isinstance(value, (list, tuple)):
        crc = zlib.crc32(f"{len(value)} items".encode(), crc)
        for item in value:
            crc = fingerprint(item, crc)
        return crc
    if isinstance(value, np.ndarray):
        crc = zlib.crc32(f"{value.dtype} {value.shape}".encode(), crc)
        return zlib.crc32(value.tobytes(), crc)
    return zlib.crc32(repr(value).encode(), crc)


def everywhere() -> Iterator[str]:
    """Set every ISA with one thread and with two, and yield the name of what is set."""
    for isa in fbg.isa.supported():
        for threads in (1, 2):
            with fbg.isa.limit(isa):
                fbg.set_num_threads(threads)
                yield f"{isa}/{threads}"
