"""Shapes to measure, which data/shapes.json has: published with FBGEMM and oneDNN, and of networks.

Facts only, written down from the public benchmark sources, with rows that the originals repeat
removed. A layer names its class, which says what it is called in tables.
"""

import json
import math
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Layer:
    """One convolution of one image; channels and sizes as torch names them."""

    kind: str
    inputs: int
    outputs: int
    size: tuple[int, ...]
    kernel: tuple[int, ...]
    stride: int = 1
    dilation: int = 1
    groups: int = 1
    padding: tuple[int, ...] = ()

    @property
    def pads(self) -> tuple[int, ...]:
        """Padding of each axis, the same before and after: by default what keeps the size."""
        if self.padding:
            return self.padding
        return tuple((k - 1) * self.dilation // 2 for k in self.kernel)

    @property
    def output(self) -> tuple[int, ...]:
        return tuple(
            (n + 2 * p - self.dilation * (k - 1) - 1) // self.stride + 1
            for n, p, k in zip(self.size, self.pads, self.kernel, strict=True)
        )

    @property
    def depth(self) -> int:
        return self.inputs // self.groups * math.prod(self.kernel)

    @property
    def operations(self) -> float:
        return 2.0 * math.prod(self.output) * self.outputs * self.depth

    @property
    def name(self) -> str:
        """Like 64->256 56x56 k3x3 s2 d2 g32."""
        text = f"{self.inputs}->{self.outputs} {_by(self.size)} k{_by(self.kernel)}"
        for letter, value in (("s", self.stride), ("d", self.dilation), ("g", self.groups)):
            text += f" {letter}{value}" if value != 1 else ""
        return text


def _by(values: tuple[int, ...]) -> str:
    return "x".join(map(str, values))


_products, _convolutions = json.loads(
    Path(__file__).with_name("data").joinpath("shapes.json").read_text()
).values()
# What bench/products.py and bench/convolutions.py --set name; products by (M, N, K).
SETS = {name: [tuple(row) for row in own["shapes"]] for name, own in _products.items()}
CONVOLUTIONS = {
    name: [
        Layer(kind, inputs, outputs, tuple(size), tuple(kernel), *more, *map(tuple, padding))
        for kind, inputs, outputs, size, kernel, *more, padding in (
            (*row[:8], row[8:]) for row in own["layers"]
        )
    ]
    for name, own in _convolutions.items()
}
LAYERS = CONVOLUTIONS["layers"]
