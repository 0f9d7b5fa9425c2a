"""Convolutions by every algorithm that applies, and networks from ONNX files."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from cases import Array, Case, Setting, everywhere
from inputs import floats, integers

# Shape of x, of w, and the geometry: every class of convolution, with tails and odd padding.
GEOMETRIES: dict[str, tuple[tuple[int, ...], tuple[int, ...], dict[str, Any]]] = {
    "pointwise": ((2, 7, 9, 24), (40, 24, 1, 1), {}),
    "pointwise-strided": ((1, 9, 8, 16), (33, 16, 1, 1), {"stride": 2}),
    "stem": ((1, 21, 23, 3), (24, 3, 3, 3), {"stride": 2, "padding": 1}),
    "dense": ((2, 11, 13, 20), (37, 20, 3, 3), {"padding": 1}),
    "wide": ((1, 20, 20, 64), (64, 64, 3, 3), {"padding": 1}),
    "dilated": ((1, 12, 15, 12), (16, 12, 3, 3), {"dilation": 2, "padding": ((1, 2), (0, 3))}),
    "long": ((1, 5, 30, 16), (20, 16, 1, 7), {"padding": ((0, 0), (3, 3))}),
    "grouped": ((1, 10, 11, 24), (36, 6, 3, 3), {"groups": 4, "padding": 1}),
    "depthwise": ((2, 14, 15, 37), (37, 1, 3, 3), {"groups": 37, "padding": 1}),
    "depthwise-5": ((1, 16, 17, 32), (32, 1, 5, 5), {"groups": 32, "padding": 2, "stride": 2}),
    "line": ((2, 40, 10), (14, 10, 5), {"padding": 2}),
    "volume": ((1, 5, 6, 7, 6), (9, 6, 3, 3, 3), {"padding": 1}),
    "transposed": ((1, 6, 7, 12), (12, 10, 3, 3), {"stride": 2, "padding": 1, "transposed": True}),
    "transposed-2": ((1, 6, 7, 16), (16, 8, 2, 2), {"stride": 2, "transposed": True}),
}


def _operands(kind: str, image: tuple[int, ...], shape: tuple[int, ...]) -> Iterator[Any]:
    """Yield names, x, w, and what PackedConv and conv are given beside them."""
    x, w = floats(image, 1), floats(shape, 2)
    for dtype in ("float32", "float16", "bfloat16", "int8"):
        yield f"{kind}/{dtype}", x, w, {"dtype": dtype}, {}
    unsigned = integers(image, 0, 255, np.uint8, 3)
    q = integers(shape, -128, 127, np.int8, 4)
    yield f"{kind}/sums", unsigned, q, {}, {}
    small = integers(shape, -4, 4, np.int8, 5)
    yield f"{kind}/int16", unsigned, small, {"accum": "int16"}, {}
    yield f"{kind}/scaled", unsigned, q, {"scale": 0.02}, {"scale": 0.05, "zero_point": 110}


def conv_cases(setting: Setting) -> Iterator[Case]:
    import fbg

    for kind, (image, shape, geometry) in GEOMETRIES.items():
        for name, x, w, packing, scales in _operands(kind, image, shape):
            packed = fbg.PackedConv(w, **geometry, **packing)
            stages = [fbg.Dequantize(), fbg.ReLU()] if scales else None
            for algorithm in (None, *(a.name for a in packed.algorithms(x.shape))):
                options = {"algorithm": algorithm, **scales}
                yield (
                    f"conv/{name}/{algorithm or 'chosen'}/{setting}",
                    fbg.conv(x, packed, stages, **options),
                )


def net_cases(models: Path) -> Iterator[Case]:
    """Networks in float32 and in int8, run under each setting."""
    import onnx

    import fbg

    for path in sorted((models / "nets").glob("*.onnx")):
        graph = onnx.load(path).graph
        given = graph.input[0]
        shape = tuple(d.dim_value or 2 for d in given.type.tensor_type.shape.dim)
        x: Array = floats(shape, 6)
        for dtype in ("float32", "int8"):
            options: dict[str, Any] = {"dtype": dtype}
            if dtype == "int8":
                options["calibrate"] = [{given.name: x}]
            with fbg.isa.limit("generic"):  # what is calibrated depends on the ISA
                net = fbg.load(path, **options)
            for setting in everywhere():
                yield f"{path.stem}/{dtype}/{setting}", net.run({given.name: x})


def make_nets(models: Path, small_cnns: Any) -> None:
    """Write the small networks of the tests."""
    import onnx

    (models / "nets").mkdir(parents=True, exist_ok=True)
    for name, make in small_cnns.FAMILIES.items():
        onnx.save(make()[0], models / "nets" / f"{name}.onnx")
