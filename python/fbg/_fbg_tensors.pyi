# A part of fbg._fbg, which is one module; only its types are in two files.
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg._fbg import ConvWeights, Graph, Plan, Stage, _Floats

__all__ = [
    "run_tensors",
    "stage_add_buffer",
    "tensor_arrange",
    "tensor_attend",
    "tensor_bytes",
    "tensor_constant",
    "tensor_conv",
    "tensor_elementwise",
    "tensor_gather",
    "tensor_input",
    "tensor_int64_to_float",
    "tensor_layer_norm",
    "tensor_look_up",
    "tensor_multiply",
    "tensor_reduce_rows",
    "tensor_resample",
    "tensor_softmax",
    "tensor_window",
]

# bind_tensor.cc: buffers of tensors are dense, in whatever order of axes the caller has chosen.
_Axis = tuple[int, int, int, Sequence[int]]  # extent, strides to and from, table of places
_Part = tuple[int, int, int, Sequence[_Axis]]  # input, first element to and from

def tensor_input(graph: Graph, bytes: int) -> int: ...
def tensor_bytes(graph: Graph, x: int) -> int: ...
def tensor_constant(graph: Graph, values: npt.NDArray[Any]) -> int: ...
def tensor_arrange(
    graph: Graph,
    inputs: Sequence[int],
    elements: int,
    element_bytes: int,
    parts: Sequence[_Part],
    fill: bytes = ...,
) -> int: ...
def tensor_elementwise(
    graph: Graph,
    extents: Sequence[int],
    operands: Sequence[tuple[int, str, Sequence[int]]],
    steps: Sequence[tuple[str, int, int, float, float]],
    output: str = "float32",
) -> int: ...
def tensor_look_up(graph: Graph, x: int, table: npt.NDArray[np.uint8]) -> int: ...

_Extent3 = tuple[int, int, int]

def tensor_window(
    graph: Graph,
    x: int,
    function: str,
    batch: int,
    channels: int,
    sizes: Sequence[_Extent3],  # input, output, kernel, stride, dilation, padding before and after
    count_padding: bool = False,
    type: str = "float32",
    factor: float = 1.0,
    zero_point: int = 0,
    output_zero_point: int = 0,
    float_output: bool = False,
) -> int: ...
def tensor_reduce_rows(graph: Graph, x: int, function: str, rows: int, cols: int) -> int: ...
def tensor_resample(
    graph: Graph,
    x: int,
    outer: int,
    input: int,
    output: int,
    inner: int,
    sources: Sequence[int],
    weights: Sequence[float],
) -> int: ...
def tensor_multiply(
    graph: Graph,
    stack: Sequence[int],
    sizes: tuple[int, int, int],
    a: tuple[int, list[int], int, int],
    b: tuple[int, list[int], int, int],
    c: tuple[int, list[int], int, int],
) -> int: ...
def tensor_attend(
    graph: Graph,
    stack: Sequence[int],
    sizes: tuple[int, int, int, int],
    q: tuple[int, list[int], int, int],
    k: tuple[int, list[int], int, int],
    v: tuple[int, list[int], int, int],
    output: tuple[int, list[int], int, int],
    bias: tuple[int, list[int], int, int] | None = None,
    scale: float = 1.0,
) -> int: ...
def tensor_gather(
    graph: Graph,
    table: int,
    indices: int,
    outer: int,
    extent: int,
    count: int,
    row_bytes: int,
    index_bytes: int,
) -> int: ...
def tensor_int64_to_float(graph: Graph, x: int) -> int: ...
def tensor_softmax(graph: Graph, x: int, rows: int, cols: int) -> int: ...
def tensor_layer_norm(
    graph: Graph, x: int, rows: int, gamma: _Floats, beta: _Floats | None, eps: float
) -> int: ...
def stage_add_buffer(type: str = "float32", scale: float = 1.0, zero_point: int = 0) -> Stage: ...
def tensor_conv(
    graph: Graph,
    x: int,
    weights: ConvWeights,
    batch: int,
    spatial: _Extent3,
    stages: Sequence[Stage],
    source: str = "native",
    has_scale: bool = False,
    scale: float = 1.0,
    zero_point: int = 0,
    algorithm: str = "",
    measured: str = "",
    exact: bool = False,
    residual: int | None = None,
    channels: int = 0,
    first: int = 0,
    before: int | None = None,
) -> int: ...
def run_tensors(
    plan: Plan,
    inputs: Sequence[npt.NDArray[Any]],
    outputs: Sequence[npt.NDArray[Any]],
    num_threads: int,
    seconds: npt.NDArray[np.float64] | None = None,
) -> None: ...
