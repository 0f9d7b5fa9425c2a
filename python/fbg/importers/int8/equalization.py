"""Cross-layer equalization: channels between two convolutions are given similar ranges.

A tensor is quantized with one scale, so channels of a small range lose most of their bits, as they
do between the convolutions of depthwise separable networks. A function f with f(s x) = s f(x) for
s > 0 allows a different factor in each channel (Nagel et al., 2019, arXiv:1906.04721, section 4):

    w2 f(w1 x + b1) = (w2 s) f(w1 / s x + b1 / s)

As weights have a scale for each output channel, only the range a of a channel of the tensor between
the two and the inputs of w2 matter (graph/passes/migration.py). A depthwise w2 takes any factor
without a loss, so all channels get the same range, s = a. For others, s = sqrt(a / u), where u is
the largest |w2| of the channel, each relative to the largest weight of its output.

A channel that never falls below c > 0 behind a ReLU uses its bits better without c, which is
absorbed: w2 f(x) + b2 = w2 f(x - c) + (b2 + w2 c), as long as w2 has no padding.

Behind any other function, such as a hard-swish, the tensor itself is divided by the factors, by a
Mul that joins the functions before it.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import numpy as np
from onnx import helper

from fbg.arrays import Array
from fbg.graph.passes.correction import mean_outputs
from fbg.graph.passes.migration import tensor_factors
from fbg.importers.description import Network, Node
from fbg.importers.int8.integer_tensors import ELEMENTWISE
from fbg.importers.int8.observe import Prepare
from fbg.importers.passes import conv_bias, readers_of, watching, with_inputs
from fbg.importers.products import by_group

Range = tuple[Array, Array]  # the least and largest value of each channel
LEAST = 2.0  # between the least and the largest factor, or a tensor is not divided


@dataclass(frozen=True)
class Pair:
    """Two convolutions, the second of which is the only reader of the first.

    between: the tensor that the second reads. function: "", "Relu" or "Clip" (0 to `bound`).
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
    """Return the bounds of a Relu or Clip; bounds that vary are NaN."""
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
    network: Network, feeds: Iterable[Mapping[str, Array]], prepare: Prepare
) -> dict[str, Range]:
    """Return the least and the largest value of each channel between convolutions.

    prepare: makes the network that runs.
    """
    names = {pair.between for pair in pairs_of(network)} | divisible(network).keys()
    watched = prepare(watching(network, names))
    ranges: dict[str, Range] = {}
    for feed in feeds:
        values = watched.run(feed)
        for name in names:
            if values[name].size == 0:
                continue
            pixels = (0, *range(2, values[name].ndim))
            low, high = values[name].min(pixels), values[name].max(pixels)
            if name in ranges:
                low, high = np.minimum(low, ranges[name][0]), np.maximum(high, ranges[name][1])
            ranges[name] = low, high
    return ranges


def equalize_channels(network: Network, ranges: Mapping[str, Range]) -> Network:
    """Return the network with channels between convolutions scaled to similar ranges.

    ranges: of the channels of tensors; others do not change. Results are the same except for
    the rounding of float32, and for values far outside of the ranges: a Clip may cut off what is
    larger than HEADROOM times what the feeds had, and a ReLU what is below an absorbed minimum.
    """
    constants = dict(network.constants)
    changed = {node.name: node for node in network.nodes}
    for pair in pairs_of(network):
        if pair.between not in ranges:
            continue
        first, second = changed[pair.first.name], changed[pair.second.name]
        w1, w2 = (constants[node.inputs[1]].astype(np.float64) for node in (first, second))
        b1, b2 = (conv_bias(node, constants).astype(np.float64) for node in (first, second))
        low, high = (np.asarray(end, np.float64) for end in ranges[pair.between])
        weights = by_group(w2, len(low))
        if pair.function == "Relu" and not _pads(second):
            absorbed = np.maximum(low, 0)
            b1, high = b1 - absorbed, high - absorbed
            b2 = b2 + mean_outputs(weights.sum(axis=3), absorbed)
        largest = np.maximum(np.abs(low), high)
        factors = _factors([np.abs(weights).max(axis=3)], largest, pair.bound)
        w1 = w1 / factors.reshape(-1, *[1] * (w1.ndim - 1))
        w2 = (weights * factors.reshape(len(weights), 1, -1, 1)).reshape(w2.shape)
        changed[first.name] = _with_weights(first, constants, w1, b1 / factors)
        changed[second.name] = _with_weights(second, constants, w2, b2)
    nodes = [changed[node.name] for node in network.nodes]
    network = replace(network, constants=constants, nodes=nodes)
    return _divided(network, {name: r for name, r in ranges.items() if name in divisible(network)})


def divisible(network: Network) -> dict[str, list[Node]]:
    """Return the tensors of functions of elements that only convolutions read, with these, without
    those between the convolutions of pairs.
    """
    paired = {pair.between for pair in pairs_of(network)}
    readers: dict[str, list[Node]] = {}
    for node in network.nodes:
        for name in node.reads:
            readers.setdefault(name, []).append(node)
    found = {}
    for node in network.nodes:
        name = node.outputs[0]
        by_elements = node.domain == "" and node.op in (*ELEMENTWISE, "Conv")
        reading = readers.get(name, [])
        convolved = reading and all(_has_constant_weights(each, network) for each in reading)
        if by_elements and convolved and name not in paired and name not in network.outputs:
            found[name] = reading
    return found


def _divided(network: Network, ranges: Mapping[str, Range]) -> Network:
    """Return the network with tensors divided by factors, by which weights are multiplied."""
    constants, readers = dict(network.constants), divisible(network)
    divided: dict[str, Node] = {}
    changed = {}
    for name, (low, high) in ranges.items():
        sizes = np.maximum(np.abs(low), np.abs(high)).astype(np.float64)
        weights = {
            conv.name: by_group(constants[conv.inputs[1]].astype(np.float64), len(sizes))
            for conv in readers[name]
        }
        factors = _factors([np.abs(w).max(axis=3) for w in weights.values()], sizes, math.inf)
        if factors.max() < LEAST * factors.min():
            continue
        divided[name] = node = _division(network, name, factors, constants)
        for conv in readers[name]:
            w = weights[conv.name] * factors.reshape(len(weights[conv.name]), 1, -1, 1)
            kernel = f"{conv.name}.divided_weight"
            constants[kernel] = w.reshape(constants[conv.inputs[1]].shape).astype(np.float32)
            inputs = (node.outputs[0], kernel, *conv.inputs[2:])
            changed[conv.name] = with_inputs(conv, inputs)
    nodes = []
    for node in network.nodes:
        nodes.append(changed.get(node.name, node))
        nodes += [divided[name] for name in node.outputs if name in divided]
    return replace(network, constants=constants, nodes=nodes)


def _division(network: Network, name: str, factors: Array, constants: dict[str, Array]) -> Node:
    """Return the node that divides the channels of what convolutions read."""
    axes = next(
        constants[node.inputs[1]].ndim for node in network.nodes if node.inputs[:1] == (name,)
    )
    by, result = f"{name}.factors", f"{name}.divided"
    constants[by] = (1 / factors).astype(np.float32).reshape(-1, *[1] * (axes - 2))
    source = helper.make_node("Mul", [name, by], [result], result)
    version = max(network.versions.get("", 13), 13)
    return Node("Mul", "", result, (name, by), (result,), {}, version, (), source)


def _with_weights(conv: Node, constants: dict[str, Array], w: Array, b: Array) -> Node:
    names = (f"{conv.name}.equalized_weight", f"{conv.name}.equalized_bias")
    constants.update(zip(names, (w.astype(np.float32), b.astype(np.float32)), strict=True))
    return with_inputs(conv, (conv.inputs[0], *names))


def _pads(conv: Node) -> bool:
    automatic = conv.attributes.get("auto_pad", "NOTSET") not in ("NOTSET", "VALID")
    return automatic or any(conv.attributes.get("pads", ()))


def _used(weights: Array) -> Array:
    """Return the largest weight of each channel, relative to the largest of its output.

    weights: the largest of each window, (groups, outputs, inputs).
    """
    by_output = weights.max(axis=2, keepdims=True)
    used: Array = (weights / np.where(by_output > 0, by_output, 1)).max(axis=1).reshape(-1)
    return used


def _factors(weights: list[Array], ranges: Array, bound: float) -> Array:
    """Return the factor of each channel of a tensor.

    weights: of each convolution that reads it, the largest of each window, (groups, outputs,
    inputs). ranges: the largest absolute value of each channel.
    """
    used = np.max([_used(each) for each in weights], axis=0)
    if all(each.shape[2] == 1 for each in weights):  # depthwise
        return tensor_factors(ranges, (used > 0).astype(np.float64), 1.0, bound)
    return tensor_factors(ranges, used, 0.5, bound)
