"""The layering of the sources: who may include what, and what the built extension needs."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from fbg import _fbg

ROOT = Path(__file__).parents[2]

# What each layer may include and link: itself and the layers below it. A layer is a folder of src/
# and, where it has public headers, a folder of include/fbg/.
BELOW = {
    "core": set(),
    "simd": {"core"},
    "kernels": {"core"},
    "gemm": {"core", "simd", "kernels"},
    "conv": {"core", "simd", "kernels", "gemm"},
    "tables": {"core", "simd", "kernels"},
    "plan": {"core", "simd", "kernels", "gemm", "conv", "tables"},
    "bindings": {"core", "simd", "kernels", "gemm", "conv", "tables", "plan"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
INTRINSICS = re.compile(r"^(\w*intrin|arm_\w+)\.h$")


def includes_under(folder):
    files = [p for p in (ROOT / folder).rglob("*") if p.suffix in {".h", ".cc"}]
    assert files, f"no sources under {folder}"
    return [(p.relative_to(ROOT), name) for p in files for name in INCLUDE.findall(p.read_text())]


ALL_INCLUDES = includes_under("src") + includes_under("include") + includes_under("tests")


@pytest.mark.parametrize(
    ("pattern", "home"),
    [
        (re.compile("xbyak/"), ("src/kernels/x64", "tests/kernels")),
        (re.compile("hwy/"), ("src/simd",)),
        (INTRINSICS, ()),
    ],
    ids=["xbyak", "highway", "intrinsics"],
)
def test_header_stays_in_its_layer(pattern, home):
    strays = [
        f"{path}: {name}"
        for path, name in ALL_INCLUDES
        if pattern.search(name) and not any(path.is_relative_to(folder) for folder in home)
    ]
    assert strays == []


def test_the_library_has_no_streams():
    """They bring the locales of the static C++ library, which would be 5 % of a wheel."""
    streams = {"fstream", "iomanip", "iostream", "istream", "locale", "ostream", "regex", "sstream"}
    sources = includes_under("src") + includes_under("include")
    assert [f"{path}: {name}" for path, name in sources if name in streams] == []


def layer_of(path):
    """The layer of a source file, or of a header as it is included; "" outside of all layers."""
    parts = [part for part in path.parts[:-1] if part not in ("src", "include", "fbg")]
    return parts[0] if parts and parts[0] in BELOW else ""


@pytest.mark.parametrize("folder", ["src", "include"])
def test_dependencies_point_down(folder):
    upward = []
    for path, name in includes_under(folder):
        layer, target = layer_of(path), layer_of(Path(name))
        if layer and target not in {"", layer, *BELOW[layer]}:
            upward.append(f"{path}: {name}")
    assert upward == []


def test_only_users_of_the_library_include_all_of_it():
    inside = [str(path) for path, name in ALL_INCLUDES if name == "fbg/fbg.h" and layer_of(path)]
    assert inside == []


def test_every_header_and_source_belongs_to_a_layer():
    files = {path for path, _ in includes_under("src") + includes_under("include")}
    assert {path for path in files if not layer_of(path)} == {Path("include/fbg/fbg.h")}


def test_public_headers_include_no_private_ones():
    private = [f"{p}: {n}" for p, n in includes_under("include") if n.split("/")[0] in BELOW]
    assert private == []


def test_products_are_compiled_once():
    """Python and plans know packers and weights only at run time, and share `GemmDriver`."""
    of_types = re.compile(r"\bGemm\b\s*[<(]")
    sources = [*(ROOT / "src/bindings").rglob("*"), *(ROOT / "src/plan").rglob("*")]
    assert [str(p) for p in sources if p.is_file() and of_types.search(p.read_text())] == []


def test_details_of_a_layer_are_included_by_that_layer_alone():
    strays = [
        f"{path}: {name}"
        for path, name in ALL_INCLUDES
        if "detail" in Path(name).parts and layer_of(path) != layer_of(Path(name))
    ]
    assert strays == []


def test_targets_link_only_what_lies_below_them():
    upward = []
    call = re.compile(r"target_link_libraries\(\s*(\w+)([^)]*)\)")
    lists = list((ROOT / "src").glob("*/**/CMakeLists.txt"))
    assert len(lists) >= 8
    for path in lists:
        layer = path.relative_to(ROOT / "src").parts[0]
        for target, libraries in call.findall(path.read_text()):
            # The part of a target that is optimized for size: see cmake/SmallCode.cmake.
            assert target.removesuffix("_small") in {f"fbg_{layer}", "_fbg"}, path
            linked = set(re.findall(r"\bfbg_(\w+)", libraries))
            upward += [f"{target}: fbg_{name}" for name in linked - BELOW[layer] - {"options"}]
    assert upward == []


def test_extension_needs_only_system_libraries():
    command = ["readelf", "--dynamic", "--wide", _fbg.__file__]
    dynamic = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    needed = set(re.findall(r"\(NEEDED\).*\[(.+?)\.so", dynamic))
    assert "libc" in needed
    assert needed <= {"libc", "libm", "libgcc_s", "libstdc++", "libpthread", "ld-linux-x86-64"}


def test_kernels_import_with_numpy_alone():
    optional = ["click", "tqdm", "matplotlib", "torch", "transformers", "pyarrow"]
    optional += ["safetensors", "tokenizers", "huggingface_hub"]
    code = f"import sys; sys.modules.update(dict.fromkeys({optional})); import fbg"
    subprocess.run([sys.executable, "-c", code], check=True)
