"""What a case is: a name and a result, its fingerprint, and the settings that it runs under."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

import fbg

Array = npt.NDArray[Any]
Case = tuple[str, Any]  # a name, and what was computed

SLOW = "generic"  # this ISA takes a second for a thousand million multiply-adds


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


class Setting(NamedTuple):
    """The limit that is in force, and the default number of threads."""

    isa: str
    threads: int

    def __str__(self) -> str:
        return f"{self.isa}/{self.threads}"


def everywhere(thread_counts: Iterable[int] = (1, 2)) -> Iterator[Setting]:
    """Set every ISA with every number of threads, one after the other."""
    for isa in fbg.isa.supported():
        for threads in thread_counts:
            with fbg.isa.limit(isa):
                fbg.set_num_threads(threads)
                yield Setting(isa, threads)
