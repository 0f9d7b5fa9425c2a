"""Compress the files of a wheel by Zopfli's Deflate: 5 % fewer bytes than zlib's.

    python scripts/recompress_wheel.py WHEEL

The contents stay the same, and any program unpacks them. Needs the extra `wheels`.
"""

from __future__ import annotations

import sys
import zipfile
from pathlib import Path

ITERATIONS = 15
ZLIB_HEADER, ZLIB_CHECKSUM = 2, 4  # bytes around a stream of Deflate


class Deflate:
    """Collects a file and compresses it in the end, in as many blocks as make it smaller."""

    def __init__(self) -> None:
        self._data = bytearray()

    def compress(self, data: bytes) -> bytes:
        self._data += data
        return b""

    def flush(self) -> bytes:
        from zopfli.zlib import compress

        made: bytes = compress(bytes(self._data), numiterations=ITERATIONS, blocksplittingmax=0)
        return made[ZLIB_HEADER:-ZLIB_CHECKSUM]


def recompress(wheel: Path) -> None:
    """Replace a wheel by one of the same files, smaller."""
    smaller = wheel.with_suffix(".smaller")
    with zipfile.ZipFile(wheel) as source, zipfile.ZipFile(smaller, "w") as target:
        for old in source.infolist():
            info = zipfile.ZipInfo(old.filename, old.date_time)
            info.compress_type = zipfile.ZIP_DEFLATED
            info.external_attr, info.create_system = old.external_attr, old.create_system
            with target.open(info, "w") as file:
                vars(file)["_compressor"] = Deflate()  # in the place of zlib's
                file.write(source.read(old))
    smaller.replace(wheel)


if __name__ == "__main__":
    recompress(Path(sys.argv[1]))
