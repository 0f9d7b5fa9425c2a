"""The file in which `fbg.tune` keeps its measurements: reading it, and adding to it.

    {"format": 1, "machines": {"<CPU, caches, version>": {
        "avx512_vnni 2 int8 768 2304 8":
            {"blocking": [6, 2, 0, 0], "seconds": 1e-5, "default": 2e-5},
        "conv avx512_vnni ConvInt8 native 1x56x56 0-0 3x3 64->64 pad 1":
            {"algorithm": "implicit_gemm", "seconds": 1e-5, "default": 2e-5},
        "moves avx512_vnni 2 onnxruntime 0123456789abcdef":
            {"nodes": [3, 4, 5], "seconds": 1e-3, "default": 2e-3}
    }}}

Entries are those of products, convolutions or networks; fbg.tuning.store checks every value of
theirs.
Several processes, also on several machines with one home directory, may use the file at the same
time: it is replaced as a whole, by one writer after the other. A damaged file costs the speed that
tuning brought, and never more.
"""

from __future__ import annotations

import contextlib
import json
import os
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, TypeVar

from fbg import _fbg
from fbg.files import open_in_place, open_regular, parse_json, replace_file, require_replaceable
from fbg.reading import not_recorded

try:
    import fcntl
except ModuleNotFoundError:  # not a POSIX system: writers may lose each other's entries
    fcntl = None  # type: ignore[assignment]

FORMAT = 1
REVISION = 2  # version of kernels and driver: measurements of another one say nothing
MAX_BYTES = 4 << 20

Entry = TypeVar("Entry")


def path() -> Path | None:
    """Return the path of the file, or None where FBG_TUNING_CACHE is "off"."""
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


def read(parse: Callable[[str, dict[str, Any]], Entry | None]) -> dict[str, Entry]:
    """Return the entries for this machine by name.

    parse: turns the name and the value of an entry into its content, or into None if any part of
        it is wrong. A file that cannot be used counts as empty.
    """
    file = path()
    if file is None:
        return {}
    found = {}
    for name, value in _machines(file).get(_machine(), {}).items():
        entry = parse(name, value) if isinstance(value, dict) else None
        if entry is None:
            _ignore(file, f"not a measurement: {name!r}")
        else:
            found[name] = entry
    return found


def merge(found: Mapping[str, Mapping[str, object]]) -> None:
    """Add entries, by name, to the file; warns where it cannot be written."""
    file = path()
    if file is None:
        return
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        file = require_replaceable(file)  # processes that name it differently share its lock
        with _lock(file):
            machines = _machines(file)
            machines.setdefault(_machine(), {}).update(found)
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
    """Return what a file holds, by machine; empty if it is not ours."""
    try:
        with not_recorded(), open_regular(file) as opened:
            text = opened.read(MAX_BYTES + 1)
        if len(text) > MAX_BYTES:
            return _ignore(file, "too large")
        content = parse_json(text)
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except OSError as error:
        return _ignore(file, error.strerror or str(error))
    except ValueError as error:
        return _ignore(file, str(error))
    machines = content.get("machines") if isinstance(content, dict) else None
    if not isinstance(machines, dict) or content.get("format") != FORMAT:
        return _ignore(file, "not a tuning file of this version")
    return {name: value for name, value in machines.items() if isinstance(value, dict)}


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
