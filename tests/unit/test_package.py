"""The wheel that pip builds: the Python package and the C++ library in it, used as a user does."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Without a sanitizer's runtime and without the folder of the package that is under test.
CLEAN = {k: v for k, v in os.environ.items() if k not in ("LD_PRELOAD", "PYTHONPATH")}
CLEAN["PATH"] = f"{Path(sys.executable).parent}:{CLEAN['PATH']}"


def run(*command: object, **env: str) -> str:
    words = [str(word) for word in command]
    result = subprocess.run(words, capture_output=True, text=True, env=CLEAN | env, cwd=ROOT)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet")
    # In the folder of `make test`, where everything is compiled already.
    options = ("--no-deps", "--no-build-isolation", "--config-settings=build-dir=build")
    run(*pip, *options, f"--wheel-dir={folder}", ROOT)
    (file,) = folder.glob("*.whl")
    return file


def test_a_wheel_holds_the_package_and_the_cpp_library_only(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    headers = {f"fbg/{path.relative_to(ROOT)}" for path in ROOT.glob("include/**/*.h")}
    sources = {str(path.relative_to(ROOT / "python")) for path in ROOT.glob("python/**/*.py")}
    archives = {f"fbg/lib/libfbg_{name}.a" for name in ("core", "simd", "kernels", "gemm", "plan")}
    assert headers | sources | archives <= names
    assert {"fbg/py.typed", "fbg/_fbg.pyi", "fbg/lib/cmake/fbg/fbgConfig.cmake"} <= names
    folders = {name.split("/")[0] for name in names}
    assert {folder for folder in folders if not folder.endswith(".dist-info")} == {"fbg"}
    assert not [name for name in names if name.endswith((".cc", ".o", ".ninja"))]


def test_find_package_works_from_an_installed_wheel(wheel: Path, tmp_path: Path) -> None:
    site, build = tmp_path / "site", tmp_path / "build"
    zipfile.ZipFile(wheel).extractall(site)
    # -S: the package that is installed for the tests would be found first.
    others = run(sys.executable, "-c", "import sysconfig; print(sysconfig.get_path('platlib'))")
    path = f"{site}:{others.strip()}"
    code = "import fbg; print(fbg.get_cmake_dir(), fbg.get_include(), sep='\\n')"
    cmake_dir, include = run(sys.executable, "-S", "-c", code, PYTHONPATH=path).split()
    assert (Path(include) / "fbg/fbg.h").is_file()
    assert Path(include).is_relative_to(site)
    run("cmake", "-S", "examples/cpp", "-B", build, f"-Dfbg_DIR={cmake_dir}")
    run("cmake", "--build", build)
    assert "largest distance from plain loops" in run(build / "project_embeddings")
