"""Factors that move scale between the channels of an activation and the weights that they meet.

For a product y = x w and any factors s > 0 of its K input channels,

    y = (x / s) (s w),    s_k = (a_k / u_k)^p

where a are the sizes of the channels of x, and u those of the weights that they meet. Channels that
share a scale with larger ones, and lose accuracy beside them, become more alike. The weights become
less so, but they have a scale for each output. What computes x is divided by s, if x is linear in
its result; x itself is divided otherwise, when it is quantized. There are two kinds:

    rows      each row of x has a scale, which its largest channel determines: only the ratios of
              factors matter (Xiao et al., 2022, arXiv:2211.10438, with p = 0.5; the paper takes
              max |x_k| for a_k instead of the root mean square, which is less accurate here:
              docs/quantization.md). p of int4 weights, whose errors outweigh those of x, is smaller
    tensors   x has one scale, and its largest channel keeps its size (Nagel et al., 2019,
              arXiv:1906.04721, section 4)
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np

from fbg.arrays import Doubles, Floats
from fbg.graph.linear import Linear
from fbg.matmul.weights import QUANTIZED
from fbg.quantization.observers import Moments

INT8_EXPONENT, INT4_EXPONENT = 0.5, 0.25
LOG_LIMIT = 10.0  # of |log s|, so that no product with a factor overflows
LARGEST_FACTOR = 1e3  # for tensors only
# How many times as large as observed a channel may get before a bound that scaling moved cuts it.
HEADROOM = 2.0


def row_factors(sizes: Doubles, weights: Floats, exponent: float = INT8_EXPONENT) -> Floats:
    """Return s, (K,), for rows with scales of their own; 1 for channels that are always 0 or have
    no weights.

    sizes: the sizes of the channels. weights: the largest magnitude that each multiplies.
    """
    used = (weights > 0) & (sizes > 0) & np.isfinite(sizes)
    factors = np.ones(len(weights), np.float32)
    if used.any():
        # Logarithms neither overflow nor underflow. Their mean is 0, so that rows keep their size.
        log = (np.log(sizes[used]) - np.log(weights[used].astype(np.float64))) * exponent
        factors[used] = np.exp(np.clip(log - log.mean(), -LOG_LIMIT, LOG_LIMIT))
    return factors


def tensor_factors(ranges: Doubles, weights: Doubles, exponent: float, bound: float) -> Doubles:
    """Return s, (K,), for a tensor with one scale; 1 for channels that have no part in it.

    ranges: the largest magnitude of each channel. weights: those it multiplies, relative to the
    largest weight of the same output. bound: cuts off all channels alike, or infinity.
    """
    used = (ranges > 0) & (weights > 0)
    if not used.any() or not np.isfinite(ranges).all():
        return np.ones(len(ranges))
    ranges, largest = np.where(used, ranges, 1), ranges.max()
    wanted = (ranges / np.where(used, weights, 1)) ** exponent
    factors = wanted * ((ranges / wanted)[used].max() / largest)
    if math.isfinite(bound):
        factors = np.minimum(np.maximum(factors, HEADROOM * ranges / bound), 1)
    return np.where(used, np.clip(factors, 1 / LARGEST_FACTOR, LARGEST_FACTOR), 1)


@dataclass(frozen=True)
class SmoothingGroup:
    """Layers that read the same rows and therefore have the same factors.

    readers: the names of these layers.
    producer: the name of the layer whose output columns [begin, end) determine the rows by linear
        maps of single channels. Its weights are divided by the factors. None: the rows are divided.
    """

    readers: tuple[str, ...]
    producer: str | None = None
    begin: int = 0
    end: int = 0


def smooth(
    layers: Mapping[str, Linear],
    groups: Iterable[SmoothingGroup],
    dtypes: Mapping[str, str],
    moments: Mapping[str, Moments],
    num_threads: int,
) -> dict[str, Linear]:
    """Return layers, whose weights are not packed yet, with factors for those that are quantized.

    dtypes: of the layers. moments: statistics of their inputs. num_threads: never changes a result.
    """
    smoothed = dict(layers)
    # Layers with a producer come first, because they change its weights, on which its own factors
    # depend.
    for group in sorted(groups, key=lambda group: group.producer is None):
        readers = [name for name in group.readers if dtypes[name] in QUANTIZED]
        if not readers or (group.producer is not None and len(readers) < len(group.readers)):
            continue
        largest = [smoothed[name].unpacked.largest(num_threads) for name in readers]
        eight = all(dtypes[name] == "int8" for name in readers)
        exponent = INT8_EXPONENT if eight else INT4_EXPONENT
        factors = row_factors(moments[readers[0]].sizes, np.max(largest, axis=0), exponent)
        scale = np.float32(1) / factors if group.producer is None else None
        for name in readers:
            weight = replace(smoothed[name].unpacked, factors=factors)
            smoothed[name] = replace(smoothed[name], weight=weight, channel_scale=scale)
        if group.producer is not None:
            layer = smoothed[group.producer]
            divisor = np.ones(layer.weight.shape[1], np.float32)
            divisor[group.begin : group.end] = factors
            weight = replace(layer.unpacked, divisor=divisor)
            bias = None if layer.bias is None else layer.bias / divisor
            smoothed[group.producer] = replace(layer, weight=weight, bias=bias)
    return smoothed
