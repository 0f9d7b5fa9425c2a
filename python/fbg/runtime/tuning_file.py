"""The file in which tuning keeps what it measured: what an entry is, reading it, adding to it.

    {"format": 1, "machines": {"<CPU, caches, version>": {
        "avx512_vnni 2 int8 768 2304 8":
            {"blocking": [6, 2, 0, 0], "seconds": 1e-5, "default": 2e-5}
    }}}

Several processes, also on several machines with one home directory, may use it at the same time: it
is replaced as a whole, by one writer after the other. What it holds is checked, value by value;
whatever is wrong with it costs the speed that tuning brought, and never more.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import re
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from fbg import _fbg
from fbg.files import open_in_place, open_regular, replace_file, require_replaceable

try:
    import fcntl
except ModuleNotFoundError:  # not a POSIX system: writers may lose each other's entries
    fcntl = None  # type: ignore[assignment]

__all__ = ["Blocking", "Key", "Measured", "merge", "path", "read"]

FORMAT = 1
REVISION = 1  # of kernels and their driver: what was measured with another says nothing
MAX_BYTES = 4 << 20
LIMITS = (32, 8, 1 << 16, _fbg.MAX_THREADS)  # of the members of a blocking


class Blocking(NamedTuple):
    """How a product is cut; 0 leaves it to the cost model. No choice changes a bit of a result.

    rows: of the tallest tile. panels: of 32 columns, that the widest tile spans. a_kib: of A that
    a thread works on at a time. row_parts: threads side by side along the rows.
    """

    rows: int = 0
    panels: int = 0
    a_kib: int = 0
    row_parts: int = 0

    def __str__(self) -> str:
        chosen = [f"{name}={value}" for name, value in self._asdict().items() if value]
        return " ".join(chosen) or "cost model"


class Key(NamedTuple):
    """What a measurement is of: a product of `tokens` rows, and where it ran."""

    isa: str
    threads: int
    dtype: str
    k: int
    n: int
    tokens: int


class Measured(NamedTuple):
    """The blocking to use, its median seconds, and those of the cost model's."""

    blocking: Blocking
    seconds: float
    default_seconds: float


def path() -> Path | None:
    """Return where the file lies, or None where FBG_TUNING_CACHE is "off"."""
    named = os.environ.get("FBG_TUNING_CACHE")
    if named == "off":
        return None
    if named:
        return Path(named)
    cache = os.environ.get("XDG_CACHE_HOME")
    try:
        home = Path(cache) if cache else Path.home() / ".cache"
    except RuntimeError:  # no home directory
        return None
    return home / "fbg" / f"tuning-{FORMAT}.json"


def read() -> dict[Key, Measured]:
    """Return the entries for this machine; a file that cannot be used counts as empty."""
    file = path()
    if file is None:
        return {}
    entries = _machines(file).get(_machine(), {})
    found = {}
    for name, value in entries.items():
        entry = _entry(name, value)
        if entry is None:
            _ignore(file, f"not a measurement: {name!r}")
            continue
        found[entry[0]] = entry[1]
    return found


def merge(found: Mapping[Key, Measured]) -> None:
    """Add entries to the file; warns where it cannot be written."""
    file = path()
    if file is None:
        return
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file = require_replaceable(file)  # processes that name it differently share its lock
        with _lock(file):
            machines = _machines(file)
            entries = machines.setdefault(_machine(), {})
            for key, value in found.items():
                entries[" ".join(map(str, key))] = {
                    "blocking": list(value.blocking),
                    "seconds": value.seconds,
                    "default": value.default_seconds,
                }
            text = json.dumps({"format": FORMAT, "machines": machines}, indent=1)
            with replace_file(file) as opened:
                opened.write(f"{text}\n".encode())
    except OSError as error:
        _warn(f"tune: results are kept for this process only: {error}")


def _machine() -> str:
    cpu = _fbg.cpu_info()
    caches = f"L2 {cpu['l2_bytes'] >> 10} KiB, L3 {cpu['l3_bytes'] >> 10} KiB"
    return f"{cpu['name']}, {caches}, fbg {_fbg.__version__} revision {REVISION}"


def _machines(file: Path) -> dict[str, dict[str, Any]]:
    """Return what a file holds, by machine; empty if it is none of ours."""
    try:
        with open_regular(file) as opened:
            text = opened.read(MAX_BYTES + 1)
        if len(text) > MAX_BYTES:
            return _ignore(file, "too large")
        content = json.loads(text)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        return _ignore(file, error.strerror or str(error))
    except (ValueError, RecursionError) as error:
        return _ignore(file, str(error))
    machines = content.get("machines") if isinstance(content, dict) else None
    if not isinstance(machines, dict) or content.get("format") != FORMAT:
        return _ignore(file, "not a tuning file of this version")
    return {name: value for name, value in machines.items() if isinstance(value, dict)}


def _entry(name: str, value: object) -> tuple[Key, Measured] | None:
    """Return an entry of the file, or None if any part of it is not what it should be."""
    words = name.split(" ")
    if not isinstance(value, dict) or len(words) != len(Key._fields):
        return None
    isa, dtype, numbers = words[0], words[2], [words[1], *words[3:]]
    if not all(re.fullmatch("[1-9][0-9]{0,8}", number) for number in numbers):
        return None
    threads, k, n, tokens = map(int, numbers)
    members, seconds, default = (value.get(part) for part in ("blocking", "seconds", "default"))
    if not isinstance(members, list) or len(members) != len(LIMITS):
        return None
    if not all(type(m) is int and 0 <= m <= most for m, most in zip(members, LIMITS, strict=True)):
        return None
    if not isinstance(seconds, float) or not isinstance(default, float):
        return None
    if not (0 < seconds < math.inf and 0 < default < math.inf):
        return None
    measured = Measured(Blocking(*members), seconds, default)
    return Key(isa, threads, dtype, k, n, tokens), measured


@contextlib.contextmanager
def _lock(file: Path) -> Iterator[None]:
    """Wait for other writers; the lock has a file of its own, because `file` is replaced."""
    with open_in_place(Path(f"{file}.lock")) as lock:
        if fcntl is not None:
            with contextlib.suppress(OSError):  # a file system without locks
                fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def _ignore(file: Path, why: str) -> dict[str, dict[str, Any]]:
    _warn(f"{file}: ignored: {why}")
    return {}


def _warn(message: str) -> None:
    warnings.warn(message, RuntimeWarning, stacklevel=2)
