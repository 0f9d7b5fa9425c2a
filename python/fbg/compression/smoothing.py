"""int8 and int4 weights that are more accurate than rounded ones: SmoothQuant, and GPTQ if there
are texts.

A row x of activations has one scale, which its largest channel determines, so that small channels
lose accuracy. For a linear layer y = x w and any factors s > 0 of its K input channels,

    y = (x / s) (s w),    s_k = sqrt(rms x_k / max_j |w_kj|)

makes the channels of x about equally large. The weights become less so, but they have a scale per
column (Xiao et al., 2022, arXiv:2211.10438, with exponent 0.5; the paper takes max |x_k| instead of
the root mean square, which is less accurate here: docs/quantization.md). The exponent of int4
weights, whose errors outweigh those of x, is smaller: 0.25. Rows are divided by s when
they are quantized. If x is linear in the output of another layer, the weights and the bias of that
layer are divided instead. The size of x_k has to be observed first.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.checkpoints.weights import UnpackedWeight
from fbg.compression.int4_rounding import round_int4
from fbg.compression.linear import Linear
from fbg.compression.rounding import round_int8
from fbg.matmul.weights import INT4_DTYPES, QUANTIZED, PackedWeight
from fbg.progress import Progress

__all__ = [
    "Factors",
    "Inputs",
    "SmoothingGroup",
    "choose_factors",
    "compress_linears",
    "pack_by_gram",
]

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]

INT8_EXPONENT, INT4_EXPONENT = 0.5, 0.25
LOG_LIMIT = 10.0  # of |log s|, so that no product with a factor overflows


@dataclass(frozen=True)
class SmoothingGroup:
    """Linear layers that read the same input and therefore have the same factors.

    readers: the names of these layers.
    producer: the name of the layer whose output columns [begin, end) determine the input by linear
        maps of single channels. Its weights are divided by the factors. None: the input is divided.
    """

    readers: tuple[str, ...]
    producer: str | None = None
    begin: int = 0
    end: int = 0


@dataclass
class Inputs:
    """What was observed about the inputs of a linear layer with K channels, over `rows` rows."""

    squares: Doubles  # (K,): sum of x_k^2
    gram: Floats | None = None  # (K, K): sum of x^T x
    rows: int = 0

    @classmethod
    def empty(cls, channels: int, gram: bool) -> Inputs:
        return cls(np.zeros(channels), np.zeros((channels, channels), np.float32) if gram else None)

    def add(self, x: Floats, num_threads: int) -> None:
        self.rows += len(x)
        self.squares += _fbg.sum_squares(x, num_threads)
        if self.gram is not None:
            self.gram += x.T @ x


@dataclass
class Factors:
    """The factors of linear layers, by their names.

    rows: factors by which the rows of int8 weights are multiplied.
    columns: divisors of the columns of weights, and of the bias.
    scaled: layers whose input is divided by the factors when it is quantized.
    """

    rows: dict[str, Floats] = field(default_factory=dict)
    columns: dict[str, Floats] = field(default_factory=dict)
    scaled: set[str] = field(default_factory=set)


def compress_linears(
    linears: Iterable[Linear],
    dtypes: Mapping[str, str],
    num_threads: int,
    groups: Iterable[SmoothingGroup] = (),
    inputs: Mapping[str, Inputs] | None = None,
    progress: Progress | None = None,
) -> dict[str, Linear]:
    """Pack unpacked linear layers, each once, in the dtype that `dtypes` has for its name.

    groups, inputs: the smoothing groups of the layers and the inputs observed. int8 layers of these
        groups are smoothed, and rounded by GPTQ where their inputs have Gram matrices. Without
        groups, weights are rounded to the nearest integer.
    progress: called with "quantizing", or "packing" if no layer is quantized, and how many layers
        of how many are packed.

    Raises ModelError for weights that a dtype cannot represent.
    """
    unpacked = {linear.name: linear for linear in linears}
    observed = inputs or {}
    factors = choose_factors(unpacked, dtypes, num_threads, groups, observed)
    stage = "packing" if set(QUANTIZED).isdisjoint(dtypes.values()) else "quantizing"
    packed = {}
    for name, linear in unpacked.items():
        weight, divisor, rows = _unpacked(linear), factors.columns.get(name), factors.rows.get(name)
        bias = linear.bias
        if bias is not None and divisor is not None:
            bias = bias / divisor
        gram, native = None if rows is None else observed[name].gram, None
        if rows is not None and gram is not None:
            smooth = weight.read(divisor) * rows[:, None]
            inverse = np.float32(1) / rows
            # It may overflow.
            with contextlib.suppress(np.linalg.LinAlgError), np.errstate(all="ignore"):
                native, _ = pack_by_gram(smooth, gram * inverse[:, None] * inverse, dtypes[name])
        if native is None:
            native = weight.pack(dtypes[name], num_threads, divisor, rows)
        scale = np.float32(1) / rows if rows is not None and name in factors.scaled else None
        packed[name] = replace(linear, weight=native, bias=bias, channel_scale=scale)
        if progress is not None:
            progress(stage, len(packed), len(unpacked))
    return packed


def choose_factors(
    linears: Mapping[str, Linear],
    dtypes: Mapping[str, str],
    num_threads: int,
    groups: Iterable[SmoothingGroup],
    inputs: Mapping[str, Inputs],
) -> Factors:
    """Return the factors of linear layers with the dtypes `dtypes`; inputs: what they read."""
    chosen = Factors()
    # Groups with a producer come first, because they change the weights of that layer, on which its
    # own factors depend.
    for group in sorted(groups, key=lambda group: group.producer is None):
        readers = [name for name in group.readers if dtypes[name] in QUANTIZED]
        if not readers or (group.producer is not None and len(readers) < len(group.readers)):
            continue
        weights = [(_unpacked(linears[name]), chosen.columns.get(name)) for name in readers]
        largest = np.max([w.largest(num_threads, divisor) for w, divisor in weights], axis=0)
        eight = all(dtypes[name] == "int8" for name in readers)
        exponent = INT8_EXPONENT if eight else INT4_EXPONENT
        common = smoothing_factors(inputs[readers[0]], largest, exponent)
        chosen.rows.update(dict.fromkeys(readers, common))
        if group.producer is None:
            chosen.scaled.update(readers)
        else:
            divisor = np.ones(linears[group.producer].weight.shape[1], np.float32)
            divisor[group.begin : group.end] = common
            chosen.columns[group.producer] = divisor
    return chosen


def _unpacked(linear: Linear) -> UnpackedWeight:
    assert isinstance(linear.weight, UnpackedWeight), f"{linear.name} is already packed"
    return linear.weight


def smoothing_factors(x: Inputs, largest: Floats, exponent: float = INT8_EXPONENT) -> Floats:
    """Return s, (K,), given max_j |w_kj|; 1 for channels that are always 0 or have no weights."""
    size = np.sqrt(x.squares / x.rows)
    used = (largest > 0) & (size > 0) & np.isfinite(size)
    if not used.any():
        return np.ones(len(largest), np.float32)
    # Logarithms neither overflow nor underflow. Their mean is 0, so that rows keep their size.
    log = (np.log(size[used]) - np.log(largest[used].astype(np.float64))) * exponent
    factors = np.ones(len(largest), np.float32)
    factors[used] = np.exp(np.clip(log - log.mean(), -LOG_LIMIT, LOG_LIMIT))
    return factors


def pack_by_gram(weight: Floats, gram: Floats, dtype: str) -> tuple[PackedWeight, Floats]:
    """Round a matrix (K, N) so that errors cancel on data with a Gram matrix (K, K). Return it
    packed, and the weights that it stands for.
    """
    if dtype == "int8":
        q, scales = round_int8(weight, gram)
        return _fbg.pack_b_int8(q, scales, None, per_column=True), q * scales
    group, symmetric = INT4_DTYPES[dtype]
    rounded = round_int4(weight, gram, group, symmetric=symmetric)
    offset = None if rounded.offset is None else rounded.offset.view(np.uint16)
    packed = _fbg.pack_b_int4(rounded.q, rounded.scale.view(np.uint16), offset, group)
    return packed, rounded.dequantize(group)
