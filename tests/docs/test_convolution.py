"""docs/convolution.md says which algorithms the layers of networks run, on any instruction set."""

import re
import runpy
import sys
from functools import cache
from pathlib import Path

import numpy as np
import pytest

import fbg

ROOT = Path(__file__).parents[2]
COLUMNS = ("int8", "float32", "bfloat16")


@pytest.fixture(scope="module")
def layers():
    """One layer of each class that networks have."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(ROOT / "bench"), *sys.path])
        return runpy.run_path(str(ROOT / "bench" / "shapes.py"))["LAYERS"]


@cache
def table():
    """The cells of int8, float32 and 16-bit weights, by kind of layer."""
    page = (ROOT / "docs" / "convolution.md").read_text(encoding="utf-8")
    rows = page.split("| layer | int8 |")[1].split("\n\n")[0].splitlines()[2:]
    cells = [[cell.strip() for cell in row.strip("|").split("|")] for row in rows]
    return {kind: rest for kind, *rest in cells}


def kind_of(layer):
    if layer.groups > 1:
        return "depthwise" if layer.groups == layer.inputs else "groups of 4 to 16 channels"
    if layer.inputs < 8:
        return "few input channels"
    if layer.stride > 1:
        return "others with stride 2"
    return "kernel 1×1, stride 1" if set(layer.kernel) == {1} else "others with stride 1"


def named(cell):
    """The algorithms of a cell; a range of Winograd's has all of it."""
    names = set(re.findall(r"`(\w+)`", cell))
    return names | {f"winograd{n}" for n in range(2, 7) if "winograd2` to" in cell}


@pytest.mark.parametrize("column", range(3), ids=COLUMNS)
def test_layers_run_what_the_table_says(column, layers, isa):
    if not isa.startswith("avx"):
        pytest.skip("the table is of x86")
    for layer in layers:
        w = np.ones((layer.outputs, layer.inputs // layer.groups, *layer.kernel), np.float32)
        wc = fbg.PackedConv(
            w,
            dtype=COLUMNS[column],
            stride=layer.stride,
            padding=layer.pads,
            dilation=layer.dilation,
            groups=layer.groups,
        )
        stages = fbg.Dequantize() if column == 0 else None
        chosen = fbg.prepare(wc, stages, shape=(1, *layer.size, layer.inputs)).algorithm
        assert chosen in named(table()[kind_of(layer)][column]), (layer.name, isa, chosen)
