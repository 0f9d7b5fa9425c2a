"""The layering of the sources: who may include what, and what the built extension needs."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from fbg import _fbg

ROOT = Path(__file__).parents[2]

# What each directory of src/ may include, beside include/fbg: itself and the layers below it.
BELOW = {
    "core": set(),
    "simd": {"core"},
    "kernels": {"core"},
    "gemm": {"core", "simd", "kernels"},
    "conv": {"core", "simd", "kernels", "gemm"},
    "plan": {"core", "simd", "kernels", "gemm", "conv"},
    "bindings": {"core", "simd", "kernels", "gemm", "conv", "plan"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)
INTRINSICS = re.compile(r"^(\w*intrin|arm_\w+)\.h$")


def includes_under(folder: str) -> list[tuple[Path, str]]:
    files = [p for p in (ROOT / folder).rglob("*") if p.suffix in {".h", ".cc"}]
    assert files, f"no sources under {folder}"
    return [(p.relative_to(ROOT), name) for p in files for name in INCLUDE.findall(p.read_text())]


ALL_INCLUDES = includes_under("src") + includes_under("include") + includes_under("tests")


@pytest.mark.parametrize(
    ("pattern", "home"),
    [
        (re.compile("xbyak/"), ("src/kernels/x64",)),
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


def test_dependencies_point_down():
    upward = []
    for path, name in includes_under("src"):
        layer, target = path.parts[1], name.split("/")[0]
        if target in BELOW and target != layer and target not in BELOW[layer]:
            upward.append(f"{path}: {name}")
    assert upward == []


def test_public_headers_include_no_private_ones():
    private = [f"{p}: {n}" for p, n in includes_under("include") if n.split("/")[0] in BELOW]
    assert private == []


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
