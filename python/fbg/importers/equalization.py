"""Cross-layer equalization: channels between two convolutions are given similar ranges.

A tensor is quantized with one scale, so channels of a small range lose most of their bits, as they
do between the convolutions of depthwise separable networks. A function f with f(s x) = s f(x) for
s > 0 allows for another factor in each channel (Nagel et al., 2019, arXiv:1906.04721, section 4):

    w2 f(w1 x + b1) = (w2 s) f(w1 / s x + b1 / s)

As weights have a scale for each output channel, only the range a of a channel of the tensor between
the two and the inputs of w2 matter. A depthwise w2 takes any factor without a loss, so all channels
get the same range, s = a. For others, s = sqrt(a / u), where u is the largest |w2| of the channel,
each relative to the largest weight of its output.

A channel that never falls below c > 0 behind a ReLU uses its bits better without c, which is
absorbed: w2 f(x) + b2 = w2 f(x - c) + (b2 + w2 c), as long as w2 has no padding.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg.importers.description import Network, Node, TensorType
from fbg.importers.passes import readers_of, with_inputs
from fbg.importers.static_quantization import Run

__all__ = ["Pair", "Range", "channel_ranges", "equalize_channels", "pairs_of"]

Array = npt.NDArray[Any]
Range = tuple[Array, Array]  # least and largest value of each channel
LARGEST_FACTOR = 1e3
# How many times as large as in the feeds a channel may get before a Clip cuts that scaling moved.
HEADROOM = 2.0


@dataclass(frozen=True)
class Pair:
    """Two convolutions, one of which alone reads the other.

    between: the tensor that the second reads. function: "", "Relu" or "Clip" (of 0 and `bound`).
    """

    first: Node
    second: Node
    between: str
    function: str
    bound: float


def pairs_of(network: Network) -> list[Pair]:
    """Return the pairs of convolutions with constant weights, directly or by ReLU or Clip."""
    readers = readers_of(network)
    writers = {name: node for node in network.nodes for name in node.outputs if name}

    def only_writer(name: str) -> Node | None:
        return writers.get(name) if readers[name] == 1 else None

    found = []
    for second in network.nodes:
        if not _has_constant_weights(second, network):
            continue
        first, function, bound = only_writer(second.inputs[0]), "", math.inf
        if first is not None and first.op in ("Relu", "Clip") and first.domain == "":
            function = first.op
            low, bound = _bounds(first, network)
            first = only_writer(first.inputs[0]) if low == 0 and bound > 0 else None
        if first is not None and _has_constant_weights(first, network):
            found.append(Pair(first, second, second.inputs[0], function, bound))
    return found


def _has_constant_weights(node: Node, network: Network) -> bool:
    return (node.op, node.domain) == ("Conv", "") and all(
        name in network.constants and network.constants[name].dtype == np.float32
        for name in filter(None, node.inputs[1:])
    )


def _bounds(node: Node, network: Network) -> tuple[float, float]:
    """Return the bounds of a Relu or Clip; those that vary are NaN."""
    if node.op == "Relu":
        return 0.0, math.inf
    if node.version < 11:
        return node.attributes.get("min", -math.inf), node.attributes.get("max", math.inf)
    low, high = ([*node.inputs[1:], "", ""])[:2]
    return (
        float(network.constants.get(low, math.nan)) if low else -math.inf,
        float(network.constants.get(high, math.nan)) if high else math.inf,
    )


def channel_ranges(
    network: Network, feeds: Iterable[Mapping[str, Array]], run: Run
) -> dict[str, Range]:
    """Return the least and the largest value of each channel between the convolutions of pairs.

    run: computes a network on a feed.
    """
    names = {pair.between for pair in pairs_of(network)}
    kinds = {name: TensorType(np.dtype(np.float32), None) for name in names}
    watched = replace(network, outputs={**kinds, **network.outputs})
    ranges: dict[str, Range] = {}
    for feed in feeds:
        values = run(watched, feed)
        for name in names:
            pixels = (0, *range(2, values[name].ndim))
            low, high = values[name].min(pixels), values[name].max(pixels)
            if name in ranges:
                low, high = np.minimum(low, ranges[name][0]), np.maximum(high, ranges[name][1])
            ranges[name] = low, high
    return ranges


def equalize_channels(network: Network, ranges: Mapping[str, Range]) -> Network:
    """Return the network with channels between convolutions scaled to similar ranges.

    ranges: of the channels between pairs; others stay as they are. The results are the same but for
    the rounding of float32, and for values far outside of the ranges: a Clip may cut off what is
    larger than HEADROOM times what the feeds had, and a ReLU what is below an absorbed minimum.
    """
    constants = dict(network.constants)
    changed = {node.name: node for node in network.nodes}
    for pair in pairs_of(network):
        if pair.between not in ranges:
            continue
        first, second = changed[pair.first.name], changed[pair.second.name]
        w1, b1 = _weights(first, constants)
        w2, b2 = _weights(second, constants)
        low, high = (np.asarray(end, np.float64) for end in ranges[pair.between])
        by_group = w2.reshape(len(low) // w2.shape[1], -1, *w2.shape[1:])
        if pair.function == "Relu" and not _pads(second):
            absorbed = np.maximum(low, 0)
            sums = by_group.sum(axis=tuple(range(3, by_group.ndim)))
            b1, high = b1 - absorbed, high - absorbed
            parts = absorbed.reshape(len(by_group), -1)
            b2 = b2 + np.einsum("goi,gi->go", sums, parts).reshape(-1)
        factors = _factors(np.abs(by_group), np.maximum(np.abs(low), high), pair.bound)
        w1 = w1 / factors.reshape(-1, *[1] * (w1.ndim - 1))
        of_inputs = factors.reshape(len(by_group), 1, w2.shape[1], *[1] * (w2.ndim - 2))
        w2 = (by_group * of_inputs).reshape(w2.shape)
        changed[first.name] = _with_weights(first, constants, w1, b1 / factors)
        changed[second.name] = _with_weights(second, constants, w2, b2)
    nodes = [changed[node.name] for node in network.nodes]
    return replace(network, constants=constants, nodes=nodes)


def _weights(conv: Node, constants: Mapping[str, Array]) -> tuple[Array, Array]:
    w = constants[conv.inputs[1]].astype(np.float64)
    named = len(conv.inputs) > 2 and conv.inputs[2] != ""
    return w, constants[conv.inputs[2]].astype(np.float64) if named else np.zeros(len(w))


def _with_weights(conv: Node, constants: dict[str, Array], w: Array, b: Array) -> Node:
    names = (f"{conv.name}.equalized_weight", f"{conv.name}.equalized_bias")
    constants.update(zip(names, (w.astype(np.float32), b.astype(np.float32)), strict=True))
    return with_inputs(conv, (conv.inputs[0], *names))


def _pads(conv: Node) -> bool:
    automatic = conv.attributes.get("auto_pad", "NOTSET") not in ("NOTSET", "VALID")
    return automatic or any(conv.attributes.get("pads", ()))


def _factors(weights: Array, largest: Array, bound: float) -> Array:
    """Return the number by which the weights of each channel between the two are multiplied.

    weights: absolute values of the second ones, (groups, outputs, inputs, *kernel). largest: the
    largest absolute value of each channel. The largest of all stays the largest.
    """
    by_input = weights.reshape(*weights.shape[:3], -1).max(axis=3)
    by_output = by_input.max(axis=2, keepdims=True)
    shares = by_input / np.where(by_output > 0, by_output, 1)
    used = shares.max(axis=1).reshape(-1)  # by channel between the two
    alive = (largest > 0) & (used > 0)
    if not alive.any() or not np.isfinite(largest).all():
        return np.ones(len(largest))
    ranges, used = np.where(alive, largest, 1), np.where(alive, used, 1)
    wanted = ranges if weights.shape[2] == 1 else np.sqrt(ranges / used)
    factors = wanted * ((ranges / wanted)[alive].max() / largest.max())
    if math.isfinite(bound):
        factors = np.minimum(np.maximum(factors, HEADROOM * ranges / bound), 1)
    return np.where(alive, np.clip(factors, 1 / LARGEST_FACTOR, LARGEST_FACTOR), 1)
