"""Static int8 quantization of a float32 network: from feeds to calibrate on, to a network with
QuantizeLinear and DequantizeLinear around what is multiplied, added, pooled or joined.

    weights       int8, symmetric, one scale for each output channel
    biases        of convolutions: corrected by what rounding the weights adds on average
    activations   uint8, one scale and zero point for a tensor, chosen by an observer

Tensors whose range fills of padding or masks would take stay in float32 (fills.py), and so does
what is passed on within a step (integer_tensors.py). What computes the network then finds the
integers (ops/quantized.py).
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt
from onnx import helper

from fbg.importers.description import Network, Node, TensorType
from fbg.importers.fills import Magnitudes, padded_for_maxima
from fbg.importers.integer_tensors import FusedSteps, integer_tensors
from fbg.importers.onnx.inference import Inferred, infer
from fbg.importers.products import MOVES, PRODUCTS, Operands, output_axis
from fbg.quantization import HistogramObserver, Observer

__all__ = ["Calibration", "Run", "Sample", "calibrate_network", "products", "quantize_network"]

Array = npt.NDArray[Any]
Parameters = tuple[Any, Any]  # scale, zero point


class Run(Protocol):
    """Runs networks on feeds."""

    def __call__(self, network: Network, feed: Mapping[str, Array]) -> dict[str, Array]:
        """Return the outputs."""
        ...

    def fused_steps(self, network: Network, feed: Mapping[str, Array]) -> FusedSteps:
        """Return what a run does."""
        ...


@dataclass(frozen=True)
class Sample:
    """A feed, and what the network in float32 makes of it."""

    feed: Mapping[str, Array]
    outputs: Mapping[str, Array]
    inferred: Inferred


@dataclass(frozen=True)
class Calibration:
    """What feeds have shown.

    parameters: scale and zero point of tensors. coarseness: their step, as a multiple of the
    median magnitude. means: of the channels of tensors that are convolved. readers: the products
    that read the integers of a tensor, None for everyone. sample: the first feed.
    """

    parameters: Mapping[str, Parameters]
    coarseness: Mapping[str, float]
    means: Mapping[str, Array]
    readers: Mapping[str, frozenset[str] | None]
    sample: Sample


def products(network: Network) -> list[str]:
    """Return the names of the nodes with constant weights that could multiply integers, and do not.

    Their weights are in float32, or stand for integers while what they are multiplied by does not.
    """
    parameters = {name: None for node in network.nodes for name in node.inputs}
    operands = Operands(network)
    return [
        node.name
        for node in network.nodes
        if _is_quantized(node, parameters, network.constants)
        or (operands.weights_are_integers(node) and not operands.x_is_integers(node))
    ]


def calibrate_network(
    network: Network,
    feeds: Iterable[Mapping[str, Array]],
    run: Run,
    observer: Callable[[], Observer] = lambda: HistogramObserver("mse"),
) -> Calibration:
    """Return the ranges of the tensors of a network.

    feeds: what a run takes, at least one. run: computes a network on a feed. observer: makes what
    chooses the range of a tensor. Raises ValueError where there is no feed, or a value is NaN.
    """
    seen: dict[str, _Seen] = {}
    sample: Sample | None = None
    convolved = {node.inputs[0] for node in network.nodes if node.op == "Conv"}
    for n, feed in enumerate(feeds):
        if sample is None:
            inferred = _inferred(network, feed)
            data = padded_for_maxima(inferred.nodes, inferred.constants)
            chosen = integer_tensors(network, inferred, run.fused_steps(network, feed))
            floats = [name for name, array in feed.items() if array.dtype == np.float32]
            checked = dict.fromkeys([*chosen, *floats])
            seen = {name: _Seen(data.get(name, name), observer()) for name in checked}
            kind = TensorType(np.dtype(np.float32), None)
            kinds = {tensor.data: kind for tensor in seen.values()}
            watched = replace(network, outputs={**kinds, **network.outputs})
        values = {**run(watched, feed), **feed}
        if sample is None:
            sample = Sample(feed, {name: values[name] for name in network.outputs}, inferred)
        for name, tensor in seen.items():
            try:
                tensor.update(values[tensor.data], name in convolved)
            except ValueError as error:
                raise ValueError(f"calibrate[{n}]: tensor '{tensor.data}': {error}") from error
    if sample is None:
        raise ValueError("calibrate: must hold at least one feed")
    usable = {name: seen[name] for name in chosen if not seen[name].magnitudes.have_fills}
    parameters = {name: tensor.observer.qparams() for name, tensor in usable.items()}
    parameters = _shared(network, parameters)
    coarseness = {n: float(p[0]) / seen[n].magnitudes.median for n, p in parameters.items()}
    averages = {name: np.mean(t.means, axis=0) for name, t in usable.items() if t.means}
    return Calibration(parameters, coarseness, averages, chosen, sample)


def quantize_network(
    network: Network, calibration: Calibration, kept: Collection[str] = ()
) -> Network:
    """Return the network with quantized weights and activations.

    kept: names of products that stay in float32. If there are any, only tensors that the others
    read are rounded.
    """
    parameters = calibration.parameters
    if kept:
        read = _read_by_products(network, kept)
        parameters = {name: value for name, value in parameters.items() if name in read}
    return _rewritten(network, calibration, parameters, kept)


def _read_by_products(network: Network, kept: Collection[str]) -> set[str]:
    """Return what products other than `kept` read, directly or through nodes of a single input."""
    multiplying = set(products(network)).difference(kept)
    read: set[str] = set()
    for node in reversed(network.nodes):
        varying = [name for name in node.reads if name not in network.constants]
        passes = len(varying) == 1 and any(name in read for name in node.outputs)
        if node.name in multiplying or (passes and node.op not in PRODUCTS):
            read.update(varying[:1])
    return read


def _shared(network: Network, parameters: dict[str, Parameters]) -> dict[str, Parameters]:
    """Give tensors one scale where elements only move from one to the other.

    What is joined takes the scale of the result; what is chosen or moved keeps that of its source.
    """
    for node in reversed(network.nodes):
        if node.op == "Concat" and node.outputs[0] in parameters:
            for name in node.inputs:
                if name in parameters:
                    parameters[name] = parameters[node.outputs[0]]
    sources: dict[str, str] = {}  # of tensors that moves have made of others
    for node in network.nodes:
        if node.op in MOVES:
            source = sources.get(node.inputs[0], node.inputs[0])
            sources[node.outputs[0]] = source
            if source in parameters and node.outputs[0] in parameters:
                parameters[node.outputs[0]] = parameters[source]
    return parameters


@dataclass
class _Seen:
    """What feeds have shown of a tensor. data: the tensor that has its data, and no fills.

    means: over all pixels, of each channel; one for each feed.
    """

    data: str
    observer: Observer
    magnitudes: Magnitudes = field(default_factory=Magnitudes)
    means: list[Array] = field(default_factory=list)

    def update(self, values: Array, convolved: bool) -> None:
        """Take in what a feed has made of the tensor; without a range if it has none."""
        self.magnitudes.add(values)
        if np.isinf(values).any() and not np.isnan(values).any():
            return
        self.observer.update(values)
        if convolved:
            pixels = (0, *range(2, values.ndim))
            self.means.append(values.mean(axis=pixels, dtype=np.float64))


def _inferred(network: Network, feed: Mapping[str, Array]) -> Inferred:
    types = {name: TensorType(array.dtype, array.shape) for name, array in feed.items()}
    return infer(network, types, {})


def _rewritten(
    network: Network,
    calibration: Calibration,
    parameters: Mapping[str, Parameters],
    kept: Collection[str],
) -> Network:
    means, constants = calibration.means, dict(network.constants)
    version = max(network.versions.get("", 13), 13)
    renamed: dict[str, str] = {}
    nodes: list[Node] = []

    def follow(name: str) -> None:
        if name in parameters:
            scale, zero_point = parameters[name]
            values = (np.float32(scale), np.uint8(zero_point))
            nodes.extend(_round_trip(name, values, constants, version))
            renamed[name] = f"{name}.dequantized"

    for name in network.inputs:
        follow(name)
    for node in network.nodes:
        if node.name in kept:
            nodes.append(node)
            for name in node.outputs:
                follow(name)
            continue
        inputs = [
            renamed[name] if name in renamed and _reads(node, calibration.readers[name]) else name
            for name in node.inputs
        ]
        quantized = _is_quantized(node, parameters, constants)
        if quantized:
            inputs[1] = _quantized_weights(node, constants, nodes, version)
            if node.op == "Conv" and node.inputs[0] in means:
                inputs[2:] = [_corrected_bias(node, constants, means[node.inputs[0]])]
        source = type(node.source)()
        source.CopyFrom(node.source)
        del source.input[:]
        source.input.extend(inputs)
        nodes.append(replace(node, inputs=tuple(inputs), source=source))
        for name in node.outputs:
            follow(name)
    read = {name for node in nodes for name in node.reads} | network.outputs.keys()
    constants = {name: value for name, value in constants.items() if name in read}
    return replace(network, constants=constants, nodes=nodes)


def _reads(node: Node, readers: frozenset[str] | None) -> bool:
    return readers is None or node.name in readers


def _is_quantized(
    node: Node, parameters: Mapping[str, object], constants: Mapping[str, Array]
) -> bool:
    if node.domain or node.op not in PRODUCTS or node.inputs[0] not in parameters:
        return False
    w = constants.get(node.inputs[1])
    plain = node.op != "Gemm" or node.attributes.get("alpha", 1.0) == 1.0
    return w is not None and w.dtype == np.float32 and plain and (node.op == "Conv" or w.ndim == 2)


def _quantized_weights(
    node: Node, constants: dict[str, Array], nodes: list[Node], version: int
) -> str:
    """Add the integers of the weights of a node, and return the name of what they stand for."""
    name = node.inputs[1]
    axis = output_axis(node)
    result = f"{name}.dequantized_{axis}"
    if f"{name}.quantized_{axis}" not in constants:
        w = constants[name]
        others = tuple(i for i in range(w.ndim) if i != axis)
        largest = np.abs(w).max(axis=others)
        scale = (np.where(largest > 0, largest, 1) / 127).astype(np.float32)
        shape = [-1 if i == axis else 1 for i in range(w.ndim)]
        q = np.clip(np.rint(w / scale.reshape(shape)), -127, 127).astype(np.int8)
        constants[f"{name}.quantized_{axis}"] = q
        constants[f"{name}.scale_{axis}"] = scale
        inputs = (f"{name}.quantized_{axis}", f"{name}.scale_{axis}")
        nodes.append(_linear("DequantizeLinear", result, inputs, result, version, axis=axis))
    return result


def _corrected_bias(node: Node, constants: dict[str, Array], mean: Array) -> str:
    """Return the bias plus the mean of (w - quantized w) x: what rounding the weights has taken.

    mean: of each channel of x. Pixels of the padding count as all others. (Nagel et al., 2019,
    arXiv:1906.04721, section 4.2)
    """
    named = len(node.inputs) > 2 and node.inputs[2] != ""
    if named and node.inputs[2] not in constants:
        return node.inputs[2]
    name = node.inputs[1]
    w, scale = constants[name].astype(np.float64), constants[f"{name}.scale_0"]
    rounded = constants[f"{name}.quantized_0"] * scale.reshape(-1, *[1] * (w.ndim - 1))
    error = (w - rounded).sum(axis=tuple(range(2, w.ndim)))  # (O, I / groups)
    groups = int(node.attributes.get("group", 1))
    by_group = error.reshape(groups, -1, error.shape[1])
    lost = np.einsum("goi,gi->go", by_group, mean.reshape(groups, -1)).reshape(-1)
    bias = constants[node.inputs[2]] if named else np.zeros(len(w), np.float32)
    result = f"{node.name}.corrected_bias"
    constants[result] = (bias + lost).astype(np.float32)
    return result


def _round_trip(
    name: str, values: tuple[Any, Any], constants: dict[str, Array], version: int
) -> list[Node]:
    """Return the nodes that quantize a tensor and stand for it afterwards."""
    parameters = (f"{name}.scale", f"{name}.zero_point")
    for parameter, value in zip(parameters, values, strict=True):
        constants[parameter] = np.asarray(value)
    q, real = f"{name}.quantized", f"{name}.dequantized"
    return [
        _linear("QuantizeLinear", q, (name, *parameters), q, version),
        _linear("DequantizeLinear", real, (q, *parameters), real, version),
    ]


def _linear(
    op: str, name: str, inputs: tuple[str, ...], output: str, version: int, **attributes: int
) -> Node:
    source = helper.make_node(op, inputs, [output], name, **attributes)
    return Node(op, "", name, inputs, (output,), attributes, version, (), source)
