"""The wheel that pip builds: the Python package and the C++ library in it, used as a user does."""

import email
import importlib.metadata
import json
import os
import platform
import re
import runpy
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import fbg

ROOT = Path(__file__).parents[2]
# Without a sanitizer's runtime and without the folder of the package that is under test.
CLEAN = {k: v for k, v in os.environ.items() if k not in ("LD_PRELOAD", "PYTHONPATH")}
CLEAN["PATH"] = f"{Path(sys.executable).parent}:{CLEAN['PATH']}"

# The licence file of each library that may be compiled in.
LICENCES = {
    "highway": "highway.txt",
    "libstdc++": "gcc-runtime.txt",
    "libunwind": "gcc-runtime.txt",
    "pybind11": "pybind11.txt",
    "xbyak": "xbyak.txt",
    "zig-compiler-rt": "zig.txt",
}
ASSEMBLER = {"x86_64": {"xbyak"}}


def run(*command, **env):
    words = [str(word) for word in command]
    result = subprocess.run(words, capture_output=True, text=True, env=CLEAN | env, cwd=ROOT)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "wheel", "--quiet")
    # In the folder of `make test`, where everything is compiled already.
    options = ("--no-deps", "--no-build-isolation", "--config-settings=build-dir=build")
    run(*pip, *options, f"--wheel-dir={folder}", ROOT)
    (file,) = folder.glob("*.whl")
    return file


def test_a_wheel_holds_the_package_and_the_cpp_library_only(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    headers = {f"fbg/{path.relative_to(ROOT)}" for path in ROOT.glob("include/**/*.h")}
    sources = {str(path.relative_to(ROOT / "python")) for path in ROOT.glob("python/**/*.py")}
    assert headers | sources <= names
    assert {name for name in names if name.endswith(".a")} == {"fbg/lib/libfbg.a"}
    assert {"fbg/py.typed", "fbg/_fbg.pyi", "fbg/lib/cmake/fbg/fbgConfig.cmake"} <= names
    folders = {name.split("/")[0] for name in names}
    assert {folder for folder in folders if not folder.endswith(".dist-info")} == {"fbg"}
    assert not [name for name in names if name.endswith((".cc", ".o", ".ninja"))]


def test_find_package_works_from_an_installed_wheel(wheel, tmp_path):
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


def test_make_smoke_uses_the_python_of_its_caller(tmp_path):
    python = tmp_path / "python"
    python.write_text("#!/bin/sh\necho the python of the caller: $*\n")
    python.chmod(0o755)
    path = os.pathsep.join([str(tmp_path), os.environ["PATH"]])
    shown = run("make", "smoke", "PYTHON=python", PATH=path)
    assert "the python of the caller: -I scripts/wheel_smoke.py" in shown


def libraries(sbom):
    """Names and versions of the components of an SBOM of fbg."""
    document = json.loads(sbom)
    assert (document["bomFormat"], document["specVersion"]) == ("CycloneDX", "1.6")
    assert document["metadata"]["component"]["name"] == "fbg"
    for part in document["components"]:
        assert part["licenses"], part["name"]
        assert part["purl"].endswith(part["version"]), part["purl"]
    return {part["name"]: part["version"] for part in document["components"]}


def test_a_wheel_lists_what_is_compiled_in_with_versions_and_licences(wheel):
    prefix = f"fbg-{fbg.__version__}.dist-info"
    with zipfile.ZipFile(wheel) as archive:
        sbom = archive.read(f"{prefix}/sboms/fbg.cdx.json")
        held = libraries(sbom)
        names = archive.namelist()
    about = json.loads(sbom)["metadata"]["component"]
    assert about["version"] == fbg.__version__
    assert about["purl"] == f"pkg:pypi/fbg@{fbg.__version__}"
    # The toolchain of `make wheels` adds the runtimes of its compilers.
    assert set(held) == {"highway", "pybind11"} | ASSEMBLER.get(platform.machine(), set())
    assert held["pybind11"] == importlib.metadata.version("pybind11")
    assert all(re.fullmatch(r"\d+(\.\d+)+", version) for version in held.values()), held
    assert f"{prefix}/licenses/LICENSE" in names
    for file in LICENCES.values():
        assert f"{prefix}/licenses/packaging/licenses/{file}" in names


def test_a_source_distribution_holds_all_licences_and_the_list_of_libraries(tmp_path):
    code = "import sys; from scikit_build_core.build import build_sdist; build_sdist(sys.argv[1])"
    run(sys.executable, "-c", code, tmp_path)
    with tarfile.open(tmp_path / f"fbg-{fbg.__version__}.tar.gz") as archive:
        names = {name.split("/", 1)[1] for name in archive.getnames()}
        sbom = archive.extractfile(f"fbg-{fbg.__version__}/packaging/sbom.cdx.json")
        assert sbom is not None
        assert set(libraries(sbom.read())) == set(LICENCES)
    licences = {f"packaging/licenses/{file}" for file in LICENCES.values()}
    wanted = {"LICENSE", "CMakeLists.txt", "pyproject.toml"}
    assert wanted | licences <= names
    assert not [name for name in names if name.endswith((".o", ".so", ".a", ".whl"))]


def test_the_package_needs_numpy_alone_and_its_extras_are_documented(wheel):
    with zipfile.ZipFile(wheel) as archive:
        metadata = archive.read(f"fbg-{fbg.__version__}.dist-info/METADATA").decode()
    about = email.message_from_string(metadata)
    needed = [line for line in about.get_all("Requires-Dist", []) if "extra ==" not in line]
    assert [re.match(r"\w+", line)[0] for line in needed] == ["numpy"]
    table = set(re.findall(r"^\| `([\w-]+)` \|", (ROOT / "docs/packaging.md").read_text(), re.M))
    ours = {"test", "browser", "lint", "wheels", "docs", "peers", "bench"}  # of contributors
    assert table == set(about.get_all("Provides-Extra", [])) - ours


def test_a_wheel_that_lacks_something_is_refused(tmp_path):
    contents = runpy.run_path(str(ROOT / "scripts" / "wheel_contents.py"))
    path = tmp_path / "fbg-0-cp311-cp311-linux_aarch64.whl"
    wanted = {*contents["WANTED"], "fbg/_fbg.cpython-311-aarch64-linux-gnu.so"}
    for missing in wanted:
        with zipfile.ZipFile(path, "w") as archive:
            for name in wanted:
                if name != missing:
                    archive.writestr(name, "")
        with pytest.raises(SystemExit, match=f"holds no {re.escape(missing)}"):
            contents["check"](path)


def test_a_wheel_that_is_too_large_is_refused(tmp_path):
    contents = runpy.run_path(str(ROOT / "scripts" / "wheel_contents.py"))
    small, large = tmp_path / "small.whl", tmp_path / "large.whl"
    small.write_bytes(bytes(contents["MOST_BYTES"]))
    contents["check_size"]([small])
    large.write_bytes(bytes(contents["MOST_BYTES"] + 1))
    with pytest.raises(SystemExit, match=r"got large\.whl: 4000001 bytes"):
        contents["check_size"]([small, large])
