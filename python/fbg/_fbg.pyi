# The native module, one block per src/bindings/bind_<noun>.cc.
from collections.abc import Sequence
from typing import Any, Literal, TypedDict

import numpy as np
import numpy.typing as npt

_Floats = npt.NDArray[np.float32]
_Indices = npt.NDArray[np.int32]

# bind_isa.cc
__version__: str
MAX_DEPTH: int
MAX_THREADS: int
PANEL_COLUMNS: int  # of packed weights

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
def rest_team() -> None: ...
def own_team(max_threads: int) -> None: ...
def gives_way() -> bool: ...
def set_gives_way(gives_way: bool) -> None: ...
def trim_memory() -> None: ...

# bind_graph.cc, bind_plan.cc: buffers of a graph are numbered; arrays are C-contiguous.
class Graph:
    def __init__(self) -> None: ...
    # The kinds of ops: src/plan/kinds.cc. Their fields, which are those that the ops beside it
    # read, are given in their order, by name, or both; nested ones are tuples in their order.
    def append(self, kind: str, /, *fields: object, **named: object) -> int: ...
    def output(self, x: int) -> None: ...
    def allow_bfloat16(self) -> None: ...
    def columns(self, x: int) -> int: ...  # of a tensor: its bytes
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
    def arena_bytes(self) -> int: ...  # bytes of one arena
    def kernels(self, tokens: int, num_threads: int) -> list[str]: ...
    @property
    def num_arenas(self) -> int: ...  # one for every run at the same time so far
    @property
    def tokens(self) -> int: ...  # the most of a run
    def free_idle(self) -> None: ...  # frees the arenas that no run uses, if they are large
    @property
    def nbytes(self) -> int: ...  # of one arena and what else the plan has to itself

def run_tensors(
    plan: Plan,
    inputs: Sequence[npt.NDArray[Any]],
    outputs: Sequence[npt.NDArray[Any]],
    num_threads: int,
    seconds: npt.NDArray[np.float64] | None = None,
) -> int: ...  # -1, or the number of the op that met indices out of range

_Tensor = tuple[str, np.dtype[Any], tuple[int, ...]]

# bind_tensor_call.cc
class TensorCall:
    def __init__(
        self,
        plan: Plan,
        inputs: Sequence[_Tensor],
        outputs: Sequence[_Tensor],
        named: dict[str, None],  # the outputs in the order of results
        num_threads: int,
    ) -> None: ...
    def __call__(self, feeds: object) -> dict[str, npt.NDArray[Any]] | None: ...

# For tests: see Plan::set_poison in include/fbg/plan/plan.h.
def set_poison(byte: int | None) -> int | None: ...

# bind_pack.cc
class PackedB:
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def nbytes(self) -> int: ...
    @property
    def block(self) -> npt.NDArray[np.uint8]: ...
    def unpack(self) -> npt.NDArray[Any]: ...
    # bind_gemm.cc
    def gemm(
        self,
        a: AOperand,
        stages: list[Stage],
        out: object,
        num_threads: int,
        flush_subnormals: bool,
    ) -> npt.NDArray[Any]: ...
    def linear(
        self,
        x: npt.NDArray[Any],
        bias: npt.NDArray[Any] | None,
        activation: str,
        num_threads: int,
        flush_subnormals: bool,
        rounds: bool = False,
        blocking: _Blocking | None = None,
    ) -> _Floats: ...
    # What a type of weights does not have is None.
    @property
    def dtype(self) -> str: ...  # as fbg.load names it: "int8", "int4_g64_offset"
    @property
    def accum(self) -> str: ...
    @property
    def is_narrow(self) -> bool: ...
    @property
    def group(self) -> int | None: ...
    @property
    def scale(self) -> npt.NDArray[Any] | None: ...  # of groups: float16, (K / group, N)
    @property
    def offset(self) -> npt.NDArray[np.float16] | None: ...
    @property
    def zero_point(self) -> _Indices | None: ...
    @property
    def column_offsets(self) -> _Indices | None: ...
    @property
    def outliers(
        self,
    ) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int32], npt.NDArray[np.int8]] | None: ...
    @property
    def spill_depths(self) -> npt.NDArray[np.int64] | None: ...

def pack_b_quantize(w: npt.NDArray[Any], per_column: bool, symmetric: bool) -> PackedB: ...
def pack_b_int8(
    w: npt.NDArray[Any],
    scale: npt.NDArray[Any] | None,
    zero_point: npt.NDArray[Any] | None,
    per_column: bool,
) -> PackedB: ...
def pack_b_split(b: PackedB, outlier_bits: int) -> PackedB | None: ...
def pack_b_convert(w: npt.NDArray[Any], dtype: str) -> PackedB: ...  # floats of some type
def pack_b_int4(
    w: npt.NDArray[np.int8],
    scales: npt.NDArray[np.uint16],
    offsets: npt.NDArray[np.uint16] | None,
    group: int,
) -> PackedB: ...
def pack_codes(
    parts: Sequence[npt.NDArray[Any]],  # (N, K) int8, or int32 words of 4 bits
    inputs: int,
    of_outputs: bool,
    dtype: str,
    scale: _Floats | None,
    points: npt.NDArray[np.int32] | None,
    scales: npt.NDArray[np.uint16] | None,
    offsets: npt.NDArray[np.uint16] | None,
    num_threads: int,
) -> PackedB: ...
def packed_b_from_bytes(block: npt.NDArray[np.uint8]) -> PackedB: ...
def map_packed_b(fd: int, offset: int, size: int, verify: bool) -> PackedB: ...
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
) -> PackedB: ...
def largest_weights(
    parts: Sequence[_Floats], divisor: _Floats | None, num_threads: int
) -> _Floats: ...
def copy_floats(
    x: npt.NDArray[Any], is_bfloat16: bool, num_threads: int
) -> tuple[_Floats, float]: ...
def sum_squares(x: _Floats, num_threads: int) -> npt.NDArray[np.float64]: ...

class Checksum:
    def __init__(self) -> None: ...
    def add(self, bytes: npt.NDArray[np.uint8] | memoryview) -> None: ...
    @property
    def value(self) -> int: ...

# bind_pipeline.cc
MAX_STAGES: int
MAX_SLOTS: int
OPERATIONS: frozenset[str]
FUNCTIONS: frozenset[str]
COSTS: dict[str, int]

class StageRow:
    @property
    def name(self) -> str: ...
    @property
    def function(self) -> str | None: ...
    @property
    def operand(self) -> Literal["none", "columns", "matrix", "row_extents"]: ...
    @property
    def constants(self) -> list[str]: ...
    @property
    def bounds(self) -> Literal["open", "low", "both"]: ...
    @property
    def scales(self) -> bool: ...
    @property
    def ends(self) -> bool: ...

class Stage:
    @property
    def key(self) -> tuple[int, int, tuple[bool, bool, bool], str]: ...
    @property
    def row(self) -> StageRow: ...
    @property
    def types(self) -> dict[str, str]: ...

def stage_rows() -> list[StageRow]: ...
def stage(
    name: str,
    constants: Sequence[float] = (),
    operand: npt.NDArray[Any] | None = None,
    type: str = "float32",
) -> Stage: ...
def stage_binary(
    operation: str,
    operand: str,
    slot: int = 0,
    reversed: bool = False,
    type: str = "float32",
    constant: float = 1.0,
    zero_point: int = 0,
    values: _Floats | None = None,
) -> Stage: ...
def stage_save(slot: int) -> Stage: ...
def stage_requantize(
    scale: float,
    zero_point: int,
    type: str,
    constant: bool = False,
    bounded: bool = False,
    table: npt.NDArray[np.uint8] | None = None,
) -> Stage: ...
def looks_up(features: int) -> bool: ...

# bind_gemm.cc
class AOperand:
    @staticmethod
    def plain(array: npt.NDArray[Any], rounds: bool) -> AOperand: ...
    @staticmethod
    def with_offset(array: npt.NDArray[Any], scale: float | None, zero_point: int) -> AOperand: ...
    @staticmethod
    def quantized(
        array: npt.NDArray[Any],
        per_row: bool = True,
        row_range: _Floats | None = None,
        channel_scale: _Floats | None = None,
    ) -> AOperand: ...

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
    @property
    def kernel(self) -> str: ...

def prepare(
    sample: AOperand,
    b: PackedB,
    stages: list[Stage],
    rows: int,
    num_threads: int,
    flush_subnormals: bool,
    x_dtype: np.dtype[Any],
    out_dtype: np.dtype[Any] | None,
    text: str,
    origin: tuple[Any, ...],
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
    stride: list[int]
    dilation: list[int]
    pad_before: list[int]
    pad_after: list[int]
    output_padding: list[int]
    def output_shape(self, batch: int, spatial: Sequence[int]) -> list[int]: ...

class _ConvCall:
    def run(self, x: object, out: object, /) -> bool: ...

class _PreparedConv:
    output: tuple[int, list[int]]
    dtype: np.dtype[Any]
    algorithm: str
    kernel: str
    num_threads: int
    def run(
        self,
        x: npt.NDArray[Any],
        stages: Sequence[Stage],
        scale: float,
        zero_point: int,
        out: npt.NDArray[Any] | None,
        flush_subnormals: bool,
    ) -> npt.NDArray[Any]: ...
    def bind(
        self,
        stages: Sequence[Stage],
        scale: float,
        zero_point: int,
        x_shape: Sequence[int],
        out_shape: Sequence[int],
        flush_subnormals: bool,
    ) -> _ConvCall: ...

class ConvWeights:
    dtype: str  # "int8", "float32", "float16" or "bfloat16"
    sums_int16: bool
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
        features: int,
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
        features: int,
    ) -> _PreparedConv: ...

def conv_int8(
    w: npt.NDArray[np.int8],
    geometry: ConvGeometry,
    scale: list[float] | None,
    zero_point: list[int],
) -> ConvWeights: ...
def conv_int16(w: ConvWeights) -> ConvWeights: ...
def conv_bfloat16(w: ConvWeights) -> ConvWeights: ...  # the same for images of bfloat16
def conv_convert(
    w: _Floats, geometry: ConvGeometry, dtype: str, granularity: str, symmetric: bool
) -> ConvWeights: ...

# bind_tables.cc: parts are those of EmbeddingBag._part. look_up returns what is wrong: (table,
# "indices" or "offsets", position). quantize_rows returns the number of the first row that has no
# such values; format: the RowFormat of C++.
def look_up(
    parts: list[tuple[Any, ...]], intact: bool, num_threads: int
) -> tuple[int, str, int] | None: ...
def quantize_rows(
    x: npt.NDArray[np.float32], format: int, half: bool, num_threads: int
) -> npt.NDArray[np.uint8] | int: ...

# bind_search.cc: queries are contiguous (Q, n), rows of the corpus (N, n) too; the metric is
# "cosine" with queries of length 1, "dot" of float32 or int8, or "hamming" of uint8.
def similarity(
    queries: npt.NDArray[Any], corpus: npt.NDArray[Any], metric: str, num_threads: int
) -> npt.NDArray[Any]: ...
def search(
    queries: npt.NDArray[Any], corpus: npt.NDArray[Any], metric: str, top_k: int, num_threads: int
) -> tuple[npt.NDArray[Any], npt.NDArray[np.int64]]: ...
