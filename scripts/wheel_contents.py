"""What a wheel of fbg must hold: headers, licences, no libraries of the machine that built it."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable
from pathlib import Path

MOST_BYTES = 4_000_000
WANTED = (
    "fbg/include/fbg/gemm/gemm.h",
    "fbg/lib/cmake/fbg/fbgConfig.cmake",
    "licenses/LICENSE",
    "licenses/packaging/licenses/gcc-runtime.txt",
    "sboms/fbg.cdx.json",
)


def check(wheel: Path) -> None:
    """Raise SystemExit unless a wheel holds what it should."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    _, _, version, _, platforms = wheel.stem.split("-")
    machine = "aarch64" if platforms.endswith("aarch64") else "x86_64"
    extension = f"fbg/_fbg.{version.replace('cp', 'cpython-')}-{machine}-linux-gnu.so"
    for wanted in (*WANTED, extension):
        if not any(name.endswith(wanted) for name in names):
            raise SystemExit(f"{wheel.name}: holds no {wanted}")
    if bundled := [name for name in names if name.startswith("fbg.libs/")]:
        raise SystemExit(f"{wheel.name}: needs libraries of this machine: {', '.join(bundled)}")


def check_size(wheels: Iterable[Path]) -> None:
    """Raise SystemExit if any is larger than MOST_BYTES."""
    sizes = {wheel.name: wheel.stat().st_size for wheel in wheels}
    if large := [f"{name}: {size} bytes" for name, size in sizes.items() if size > MOST_BYTES]:
        raise SystemExit(f"wanted at most {MOST_BYTES} bytes, got {', '.join(large)}")
