# The native module, one block per src/bindings/bind_<noun>.cc.
from collections.abc import Sequence
from typing import Any, TypedDict

import numpy as np
import numpy.typing as npt

from fbg._fbg_tensors import (
    run_tensors as run_tensors,
)
from fbg._fbg_tensors import (
    stage_add_buffer as stage_add_buffer,
)
from fbg._fbg_tensors import (
    tensor_arrange as tensor_arrange,
)
from fbg._fbg_tensors import (
    tensor_attend as tensor_attend,
)
from fbg._fbg_tensors import (
    tensor_bytes as tensor_bytes,
)
from fbg._fbg_tensors import (
    tensor_constant as tensor_constant,
)
from fbg._fbg_tensors import (
    tensor_conv as tensor_conv,
)
from fbg._fbg_tensors import (
    tensor_elementwise as tensor_elementwise,
)
from fbg._fbg_tensors import (
    tensor_gather as tensor_gather,
)
from fbg._fbg_tensors import (
    tensor_input as tensor_input,
)
from fbg._fbg_tensors import (
    tensor_int64_to_float as tensor_int64_to_float,
)
from fbg._fbg_tensors import (
    tensor_layer_norm as tensor_layer_norm,
)
from fbg._fbg_tensors import (
    tensor_look_up as tensor_look_up,
)
from fbg._fbg_tensors import (
    tensor_multiply as tensor_multiply,
)
from fbg._fbg_tensors import (
    tensor_reduce_rows as tensor_reduce_rows,
)
from fbg._fbg_tensors import (
    tensor_resample as tensor_resample,
)
from fbg._fbg_tensors import (
    tensor_softmax as tensor_softmax,
)
from fbg._fbg_tensors import (
    tensor_window as tensor_window,
)

_Floats = npt.NDArray[np.float32]
_Indices = npt.NDArray[np.int32]

# bind_isa.cc
__version__: str
MAX_THREADS: int

class _CpuInfo(TypedDict):
    name: str
    l1d_bytes: int
    l2_bytes: int
    l3_bytes: int

def supported_isas() -> list[str]: ...
def active_isa() -> str: ...
def active_features() -> int: ...
def best_isa(features: int) -> str: ...
def isa_limit() -> str | None: ...
def set_isa_limit(name: str | None) -> None: ...
def cpu_info() -> _CpuInfo: ...
def available_cpus() -> int: ...
def num_threads() -> int: ...
def set_num_threads(n: int) -> None: ...
def enter_call() -> None: ...
def leave_call() -> None: ...
def gives_way() -> bool: ...
def set_gives_way(gives_way: bool) -> None: ...

# bind_plan.cc: buffers of a graph are numbered; arrays are C-contiguous.
class AttentionShape:
    def __init__(
        self,
        q_heads: int,
        kv_heads: int,
        head_dim: int,
        causal: bool = False,
        window: int | None = None,
    ) -> None: ...

class Graph:
    def __init__(self) -> None: ...
    def input(
        self,
        cols: int,
        rows: str = "token",
        dtype: str = "float32",
        image: tuple[int, int, int] = ...,  # depth, height and width, where rows are pixels
    ) -> int: ...
    def embedding(
        self, word: _Floats, position: _Floats | None = None, type: _Floats | None = None
    ) -> int: ...
    def layer_norm(self, x: int, gamma: _Floats, beta: _Floats | None, eps: float) -> int: ...
    def rms_norm(self, x: int, gamma: _Floats, eps: float) -> int: ...
    def norm_heads(
        self, qkv: int, shape: AttentionShape, q_gamma: _Floats, k_gamma: _Floats, eps: float
    ) -> int: ...
    def add(self, a: int, b: int) -> int: ...
    def linear(
        self,
        x: int,
        w: _LinearB,
        bias: _Floats | None = None,
        activation: str = "none",
        residual: int | None = None,
        channel_scale: _Floats | None = None,
    ) -> int: ...
    def rotate(self, qkv: int, shape: AttentionShape, cos_sin: _Floats) -> int: ...
    def attention(
        self,
        qkv: int,
        shape: AttentionShape,
        allow_bfloat16: bool = False,
        distance_bias: _Floats | None = None,
        scale: float | None = None,
        softcap: float | None = None,
        relative_keys: _Floats | None = None,
        relative_queries: _Floats | None = None,
        relative_rows: _Indices | None = None,
    ) -> int: ...
    def gated(self, x: int, gate: str) -> int: ...
    def first_token(self, x: int) -> int: ...
    def pool(self, x: int, pooling: str, skipped: int = 0) -> int: ...
    def tanh(self, x: int) -> int: ...
    def normalize(self, x: int) -> int: ...
    def output(self, x: int) -> None: ...
    @property
    def products(self) -> list[_Kind]: ...

_Kind = tuple[str, int, int]  # dtype of the weights, K, N
_Blocking = tuple[int, int, int, int]  # rows, panels, a_kib, row_parts

class Tuner:
    def __init__(
        self, graph: Graph, kind: _Kind, threads: int, features: int | None = None
    ) -> None: ...
    def candidates(self, rows: int) -> list[_Blocking]: ...
    def seconds(self, rows: int, blockings: Sequence[_Blocking], budget: float) -> list[float]: ...

def tuner_count() -> int: ...

class Plan:
    def __init__(
        self,
        graph: Graph,
        tokens: int,
        sequences: int,
        length: int,
        threads: int,
        tuned: Sequence[tuple[_Kind, int, int, _Blocking]] = ...,  # first and last row
        images: int = 0,
        features: int | None = None,  # those of active_features() if None
    ) -> None: ...
    def run(
        self,
        ids: _Indices | None,  # None, here and below, where no op reads them
        position_ids: _Indices | None,
        types: _Indices | None,
        sequence_positions: _Indices | None,
        offsets: _Indices,
        outputs: Sequence[npt.NDArray[Any]],
        num_threads: int,
        seconds: npt.NDArray[np.float64] | None = None,
        phases: npt.NDArray[np.float64] | None = None,  # (ops, 4): fbg/core/phase.h
        inputs: Sequence[npt.NDArray[Any]] = ...,
    ) -> None: ...
    @property
    def isa(self) -> str: ...
    @property
    def ops(self) -> list[tuple[str, str, int, int, int, int, str]]: ...
    @property
    def arena_bytes(self) -> int: ...  # of one arena
    @property
    def num_arenas(self) -> int: ...  # one for every run at the same time so far
    @property
    def nbytes(self) -> int: ...  # of all arenas and what else the plan has to itself

# bind_pack.cc
class _PackedB:  # what the native classes have in common
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def block(self) -> npt.NDArray[np.uint8]: ...
    def unpack(self) -> npt.NDArray[Any]: ...
    # bind_gemm.cc
    def gemm(
        self, a: AOperand, stages: list[Stage], out: object, num_threads: int
    ) -> npt.NDArray[Any]: ...
    def linear(
        self,
        x: npt.NDArray[Any],
        bias: npt.NDArray[Any] | None,
        activation: str,
        num_threads: int,
        blocking: _Blocking | None = None,
    ) -> _Floats: ...

class PackedBInt8(_PackedB):
    @property
    def scale(self) -> _Floats | None: ...
    @property
    def zero_point(self) -> _Indices | None: ...
    @property
    def column_offsets(self) -> _Indices: ...

class PackedBFloat32(_PackedB): ...
class PackedBFloat16(_PackedB): ...
class PackedBBFloat16(_PackedB): ...

class PackedBInt16(PackedBInt8):  # for types: the same properties, no subclass
    @property
    def outliers(
        self,
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.int8]]: ...
    @property
    def spill_depths(self) -> npt.NDArray[np.int64]: ...

class PackedBInt4G32(_PackedB):
    @property
    def group(self) -> int: ...
    @property
    def scale(self) -> npt.NDArray[np.uint16]: ...  # bits of float16, (K / group, N)

class PackedBInt4G64(PackedBInt4G32): ...  # for types: the same properties, no subclass
class PackedBInt4G128(PackedBInt4G32): ...

_Int4B = PackedBInt4G32 | PackedBInt4G64 | PackedBInt4G128
_LinearB = PackedBInt8 | PackedBFloat32 | PackedBBFloat16 | PackedBFloat16 | _Int4B
_AnyB = _LinearB | PackedBInt16

def pack_b_quantize(w: npt.NDArray[Any], per_column: bool, symmetric: bool) -> PackedBInt8: ...
def pack_b_int8(
    w: npt.NDArray[Any],
    scale: npt.NDArray[Any] | None,
    zero_point: npt.NDArray[Any] | None,
    per_column: bool,
) -> PackedBInt8: ...
def pack_b_split(b: PackedBInt8, outlier_bits: int) -> PackedBInt16 | None: ...
def pack_b_float32(w: npt.NDArray[Any]) -> PackedBFloat32: ...
def pack_b_float16(w: npt.NDArray[Any]) -> PackedBFloat16: ...
def pack_b_bfloat16(w: npt.NDArray[Any]) -> PackedBBFloat16: ...
def pack_b_int4(w: npt.NDArray[np.int8], scales: npt.NDArray[np.uint16], group: int) -> _Int4B: ...
def packed_b_from_bytes(block: npt.NDArray[np.uint8]) -> _AnyB: ...
def map_packed_b(fd: int, offset: int, size: int, verify: bool) -> _AnyB: ...
def map_bytes(fd: int, offset: int, size: int) -> npt.NDArray[np.uint8]: ...
def pack_b_count() -> int: ...

# bind_weights.cc: parts are (N_i, K) with contiguous rows, divisor is (N,), factor (K,).
def pack_linear(
    parts: Sequence[_Floats],
    dtype: str,
    divisor: _Floats | None,
    factor: _Floats | None,
    limit: float,
    checksum: bool,
    num_threads: int,
) -> _LinearB: ...
def largest_weights(
    parts: Sequence[_Floats], divisor: _Floats | None, num_threads: int
) -> _Floats: ...
def copy_floats(x: _Floats, num_threads: int) -> tuple[_Floats, float]: ...
def sum_squares(x: _Floats, num_threads: int) -> npt.NDArray[np.float64]: ...

class Checksum:
    def __init__(self) -> None: ...
    def add(self, bytes: npt.NDArray[np.uint8] | memoryview) -> None: ...
    @property
    def value(self) -> int: ...

# bind_pipeline.cc
class Stage:
    @property
    def key(self) -> tuple[int, int, bool]: ...

def stage_correct_zero_points() -> Stage: ...
def stage_dequantize() -> Stage: ...
def stage_relu() -> Stage: ...
def stage_gelu() -> Stage: ...
def stage_gelu_tanh() -> Stage: ...
def stage_tanh() -> Stage: ...
def stage_sigmoid() -> Stage: ...
def stage_clip(lo: float, hi: float) -> Stage: ...
def stage_scale(factor: float) -> Stage: ...
def stage_cast(bfloat: bool) -> Stage: ...
def stage_bias(values: npt.NDArray[Any]) -> Stage: ...
def stage_add(residual: npt.NDArray[Any]) -> Stage: ...
def stage_add_bfloat16(residual: npt.NDArray[np.uint16]) -> Stage: ...
def stage_add_quantized(residual: npt.NDArray[Any], scale: float, zero_point: int) -> Stage: ...
def stage_row_range(out: _Floats) -> Stage: ...
def stage_requantize(scale: float, zero_point: int, is_signed: bool) -> Stage: ...
def stage_round(zero_point: int, is_signed: bool) -> Stage: ...

# bind_gemm.cc
class AOperand:
    def __init__(
        self,
        kind: str,
        array: npt.NDArray[Any],
        scale: float = 1.0,
        zero_point: int = 0,
        row_range: _Floats | None = None,
        channel_scale: _Floats | None = None,
    ) -> None: ...

def kernels() -> list[tuple[str, str, str, int, int]]: ...
def prepared_gemm_bytes() -> int: ...
def kernel_isa(accumulator: str) -> str: ...
def peak_names() -> list[str]: ...
def measure_peak(name: str, seconds: float) -> float: ...
def measure_read(bytes: int, seconds: float) -> float: ...

# bind_prepare.cc
class PreparedCall:
    def __call__(
        self, x: npt.NDArray[Any], out: npt.NDArray[Any] | None = None
    ) -> npt.NDArray[Any]: ...
    @property
    def rows(self) -> int: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...
    @property
    def num_threads(self) -> int: ...

def prepare(
    sample: AOperand,
    b: _AnyB,
    stages: list[Stage],
    rows: int,
    num_threads: int,
    x_dtype: np.dtype[Any],
    out_dtype: np.dtype[Any] | None,
    text: str,
) -> PreparedCall: ...
def product_seconds(
    call: PreparedCall, x: npt.NDArray[Any], out: npt.NDArray[Any], repeats: int
) -> float: ...

# bind_conv.cc: weights are dense (O, taps, I / groups), spatial sizes are (depth, height, width).
class ConvGeometry:
    def __init__(
        self,
        in_channels: int,
        out_channels: int,
        groups: int,
        kernel: Sequence[int],
        stride: Sequence[int],
        dilation: Sequence[int],
        pad_before: Sequence[int],
        pad_after: Sequence[int],
        transposed: bool,
        output_padding: Sequence[int],
    ) -> None: ...
    def output_shape(self, batch: int, spatial: Sequence[int]) -> list[int]: ...

class _ConvCall:
    def run(self, x: object, out: object, /) -> bool: ...

class _PreparedConv:
    output: tuple[int, list[int]]
    dtype: np.dtype[Any]
    algorithm: str
    kernel: str
    num_threads: int
    workspace_bytes: int
    def run(
        self,
        x: npt.NDArray[Any],
        stages: Sequence[Stage],
        scale: float,
        zero_point: int,
        out: npt.NDArray[Any] | None,
    ) -> npt.NDArray[Any]: ...
    def bind(  # shapes: of x and out
        self, stages: Sequence[Stage], scale: float, zero_point: int, *shapes: Sequence[int]
    ) -> _ConvCall: ...

class _ConvWeights:
    nbytes: int
    scale: _Floats | None
    zero_point: npt.NDArray[np.int32] | None
    def unpack(self) -> npt.NDArray[Any]: ...
    def algorithms(
        self,
        batch: int,
        spatial: Sequence[int],
        stages: Sequence[Stage],
        source: str,
        has_scale: bool,
        exact: bool,
    ) -> list[tuple[str, float, bool]]: ...
    def prepare(
        self,
        batch: int,
        spatial: Sequence[int],
        stages: Sequence[Stage],
        source: str,
        has_scale: bool,
        algorithm: str,
        measured: str,
        exact: bool,
        num_threads: int,
    ) -> _PreparedConv: ...

class ConvInt8(_ConvWeights): ...
class ConvInt16(_ConvWeights): ...
class ConvFloat32(_ConvWeights): ...
class ConvFloat16(_ConvWeights): ...
class ConvBFloat16(_ConvWeights): ...

def conv_int8(
    w: npt.NDArray[np.int8],
    geometry: ConvGeometry,
    scale: list[float] | None,
    zero_point: list[int],
) -> ConvInt8: ...
def conv_int16(w: ConvInt8) -> ConvInt16: ...
def conv_quantize(
    w: _Floats, geometry: ConvGeometry, granularity: str, symmetric: bool
) -> ConvInt8: ...
def conv_float32(
    w: _Floats, geometry: ConvGeometry, granularity: str, symmetric: bool
) -> ConvFloat32: ...
def conv_float16(
    w: _Floats, geometry: ConvGeometry, granularity: str, symmetric: bool
) -> ConvFloat16: ...
def conv_bfloat16(
    w: _Floats, geometry: ConvGeometry, granularity: str, symmetric: bool
) -> ConvBFloat16: ...

# bind_search.cc: queries are contiguous (Q, n), rows of the corpus (N, n) too; the metric is
# "cosine" with queries of length 1, "dot" of float32 or int8, or "hamming" of uint8.
def similarity(
    queries: npt.NDArray[Any], corpus: npt.NDArray[Any], metric: str, num_threads: int
) -> npt.NDArray[Any]: ...
def search(
    queries: npt.NDArray[Any], corpus: npt.NDArray[Any], metric: str, top_k: int, num_threads: int
) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]: ...
