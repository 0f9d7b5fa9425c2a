"""int8 weights that lose less than plain rounding: SmoothQuant, and GPTQ where there are texts.

For a linear layer y = x w and any factors s > 0 of its K input channels,

    y = (x / s) (s w),    s_k = sqrt(rms x_k / max_j |w_kj|)

evens out the channels of x, whose largest would otherwise decide the one scale of each row, at the
cost of some of w's, which have a scale per column (Xiao et al., 2022, arXiv:2211.10438, exponent
0.5; there it is max |x_k|, which is less accurate here: docs/quantization.md). The division is a
factor per channel where a row is quantized; or, where x is linear in the outputs of another layer,
it is part of that layer's weights and bias. How large x_k is must have been observed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.checkpoints.weights import UnpackedWeight
from fbg.compression.linear import Linear
from fbg.compression.rounding import round_to_gram
from fbg.matmul.weights import PackedWeight

__all__ = ["Inputs", "SmoothingGroup", "compress_linears"]

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]

LOG_LIMIT = 10.0  # |log s|: no factor takes a float32 out of its range


@dataclass(frozen=True)
class SmoothingGroup:
    """Linear layers that read one input and share its factors; by their names.

    producer: the layer whose output columns [begin, end) are that input up to linear maps of each
        channel, and which is divided by the factors; None: the input itself is divided.
    """

    readers: tuple[str, ...]
    producer: str | None = None
    begin: int = 0
    end: int = 0


@dataclass
class Inputs:
    """What went into a linear layer with K input channels."""

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


def compress_linears(
    linears: Iterable[Linear],
    dtypes: Mapping[str, str],
    num_threads: int,
    groups: Iterable[SmoothingGroup] = (),
    inputs: Mapping[str, Inputs] | None = None,
) -> dict[str, Linear]:
    """Pack linear layers, each once, in the dtype that `dtypes` has for its name.

    groups, inputs: of those layers; int8 ones are smoothed by what was observed, and rounded as
        GPTQ does where `inputs` have Gram matrices. Without them they are rounded as they are.

    Raises ModelError for weights that a dtype cannot hold.
    """
    unpacked = {linear.name: linear for linear in linears}
    factors: dict[str, Floats] = {}  # of rows, by which int8 weights are multiplied
    divisors: dict[str, Floats] = {}  # of columns
    scaled = []  # layers whose input is divided when it is quantized
    observed = inputs or {}
    # Those that divide another layer's weights first: its factors depend on the result.
    for group in sorted(groups, key=lambda group: group.producer is None):
        readers = [name for name in group.readers if dtypes[name] == "int8"]
        if not readers or (group.producer is not None and len(readers) < len(group.readers)):
            continue
        weights = [(_unpacked(unpacked[name]), divisors.get(name)) for name in readers]
        largest = np.max([w.largest(num_threads, divisor) for w, divisor in weights], axis=0)
        common = smoothing_factors(observed[readers[0]], largest)
        factors.update(dict.fromkeys(readers, common))
        if group.producer is None:
            scaled += readers
        else:
            divisors[group.producer] = np.ones(unpacked[group.producer].weight.shape[1], np.float32)
            divisors[group.producer][group.begin : group.end] = common

    packed = {}
    for name, linear in unpacked.items():
        weight, divisor = _unpacked(linear), divisors.get(name)
        bias = linear.bias
        if bias is not None and divisor is not None:
            bias = bias / divisor
        gram = observed[name].gram if name in factors else None
        if gram is not None and np.isfinite(gram).all():  # it may overflow float32
            native = _round_by_gram(weight, factors[name], divisor, gram)
        else:
            native = weight.pack(dtypes[name], num_threads, divisor, factors.get(name))
        scale = np.float32(1) / factors[name] if name in scaled else None
        packed[name] = replace(linear, weight=native, bias=bias, channel_scale=scale)
    return packed


def _unpacked(linear: Linear) -> UnpackedWeight:
    assert isinstance(linear.weight, UnpackedWeight), f"{linear.name} is already packed"
    return linear.weight


def smoothing_factors(x: Inputs, largest: Floats) -> Floats:
    """Return s, given max_j |w_kj|; 1 where a channel is always zero, or its weights are."""
    size = np.sqrt(x.squares / x.rows)
    used = (largest > 0) & (size > 0) & np.isfinite(size)
    if not used.any():
        return np.ones(len(largest), np.float32)
    # Logarithms neither overflow nor vanish. A mean of 0: no common factor enters the rows.
    log = (np.log(size[used]) - np.log(largest[used].astype(np.float64))) / 2
    factors = np.ones(len(largest), np.float32)
    factors[used] = np.exp(np.clip(log - log.mean(), -LOG_LIMIT, LOG_LIMIT))
    return factors


def _round_by_gram(
    weight: UnpackedWeight, factors: Floats, divisor: Floats | None, gram: Floats
) -> PackedWeight:
    smooth = weight.read(divisor) * factors[:, None]
    scale = np.abs(smooth).max(axis=0) / np.float32(127)
    scale[scale < np.finfo(np.float32).tiny] = 1
    inverse = np.float32(1) / factors
    rounded = round_to_gram(smooth, scale, gram * inverse[:, None] * inverse)
    return _fbg.pack_b_int8(rounded, scale, None, per_column=True)
