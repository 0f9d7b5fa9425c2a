"""Networks from ONNX files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import onnx
from cases import Array, Case, everywhere

import fbg
from helpers.small_cnns import FAMILIES


def net_cases(models: Path) -> Iterator[Case]:
    """Networks in float32 and in int8, run under each setting."""
    for path in sorted((models / "nets").glob("*.onnx")):
        graph = onnx.load(path).graph
        given = graph.input[0]
        shape = tuple(d.dim_value or 2 for d in given.type.tensor_type.shape.dim)
        x: Array = np.random.default_rng(6).standard_normal(shape, np.float32)
        for dtype in ("float32", "int8"):
            options: dict[str, Any] = {"dtype": dtype}
            if dtype == "int8":
                options["calibrate"] = [{given.name: x}]
            with fbg.isa.limit("generic"):  # what is calibrated depends on the ISA
                net = fbg.load(path, **options)
            for setting in everywhere():
                yield f"{path.stem}/{dtype}/{setting}", net.run({given.name: x})


def make_nets(models: Path) -> None:
    """Write the small networks of the tests."""
    (models / "nets").mkdir(parents=True, exist_ok=True)
    for name, make in FAMILIES.items():
        onnx.save(make()[0], models / "nets" / f"{name}.onnx")
