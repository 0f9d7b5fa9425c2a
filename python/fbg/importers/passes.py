"""Passes over the description of a network: each a function from a network to a network.

These passes run before types are known. Fusion needs types, and is done on
the graph of the network (`fbg.graph.passes`). Nodes in `kept` stay nodes of their own,
so that they can be placed on a different back end.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace

import numpy as np

from fbg.arrays import Array
from fbg.importers.description import Network, Node, TensorType
from fbg.importers.onnx.budget import Budget


def readers_of(network: Network) -> Counter[str]:
    """Return how often each tensor is read, by nodes or as an output."""
    readers = Counter(name for node in network.nodes for name in node.reads)
    readers.update(list(network.outputs))
    return readers


def watching(network: Network, names: Iterable[str]) -> Network:
    """Return the network with more outputs: float32 tensors of these names."""
    kinds = {name: TensorType(np.dtype(np.float32), None) for name in names}
    return replace(network, outputs={**kinds, **network.outputs})


def conv_bias(conv: Node, constants: Mapping[str, Array]) -> Array:
    """Return the bias of a convolution, a constant; zeros if it has none."""
    if len(conv.inputs) > 2 and conv.inputs[2]:
        return constants[conv.inputs[2]]
    return np.zeros(len(constants[conv.inputs[1]]), np.float32)


def take_constants(network: Network, kept: Collection[str] = ()) -> Network:
    """Make the tensors of Constant nodes constants of the network, where other passes find them."""
    constants, nodes = dict(network.constants), []
    for node in network.nodes:
        value = node.attributes.get("value", node.attributes.get("sparse_value"))
        named = (node.op, node.domain) == ("Constant", "") and node.name not in kept
        if named and isinstance(value, np.ndarray):
            constants[node.outputs[0]] = value
        else:
            nodes.append(node)
    return replace(network, constants=constants, nodes=nodes)


# Operators whose outputs after the first are optional. Exporters name them even if nobody reads
# them; the types of some are then unknown, as those of the masks of old Dropouts.
OPTIONAL_OUTPUTS = {"BatchNormalization", "Dropout", "LayerNormalization", "MaxPool"}


def drop_unread_outputs(network: Network, kept: Collection[str] = ()) -> Network:
    """Leave out optional outputs that nobody reads: nothing is computed for them."""
    readers = readers_of(network)
    nodes = []
    for node in network.nodes:
        optional = node.domain == "" and node.op in OPTIONAL_OUTPUTS and node.name not in kept
        if optional and not any(readers[name] for name in node.outputs[1:]):
            node = with_inputs(node, node.inputs, node.outputs[:1])
        nodes.append(node)
    return replace(network, nodes=nodes)


def drop_identities(network: Network, kept: Collection[str] = ()) -> Network:
    """Remove nodes that return their input: Identity, and Dropout in inference."""
    renamed: dict[str, str] = {}
    nodes = []
    for node in network.nodes:
        names = tuple(renamed.get(name, name) for name in node.inputs)
        outputs = [name for name in node.outputs if name]
        trained = len(node.inputs) > 2 and node.inputs[2] != ""
        identity = node.op == "Identity" or (node.op == "Dropout" and not trained)
        inside = len(outputs) == 1 and outputs[0] not in network.outputs
        if node.domain == "" and identity and inside and node.name not in kept:
            renamed[outputs[0]] = names[0]
            continue
        nodes.append(with_inputs(node, names))
    captured = {name for node in network.nodes for name in node.captures}
    if captured & renamed.keys():
        return network
    return replace(network, nodes=nodes)


def fold_batch_norm(network: Network, kept: Collection[str] = ()) -> Network:
    """Fold BatchNormalization after a Conv with constant weights into weights and bias."""
    constants = dict(network.constants)
    readers = readers_of(network)
    writers = {name: node for node in network.nodes for name in node.outputs}
    budget = Budget.of(sum(value.nbytes for value in constants.values()))
    replaced: dict[str, Node | None] = {}
    for node in network.nodes:
        conv = writers.get(node.inputs[0]) if node.inputs else None
        if conv is None or not {node.name, conv.name}.isdisjoint(kept):
            continue
        if not _foldable(node, conv, constants, readers):
            continue
        factor, mean, bias = norm_terms(node, constants)
        w = constants[conv.inputs[1]]
        if not budget.take(w.nbytes):  # many convolutions may share weights
            break
        b = conv_bias(conv, constants)
        names = (f"{node.name}.folded_weight", f"{node.name}.folded_bias")
        constants[names[0]] = (w * factor.reshape(-1, *[1] * (w.ndim - 1))).astype(np.float32)
        constants[names[1]] = ((b - mean) * factor + bias).astype(np.float32)
        replaced[conv.name] = with_inputs(conv, (conv.inputs[0], *names), node.outputs)
        replaced[node.name] = None
    nodes = [replaced.get(node.name, node) for node in network.nodes]
    return replace(network, constants=constants, nodes=[node for node in nodes if node is not None])


def _foldable(
    node: Node, conv: Node, constants: Mapping[str, Array], readers: Mapping[str, int]
) -> bool:
    if not (
        (conv.op, conv.domain) == ("Conv", "")
        and is_known_norm(node, constants)
        and readers[conv.outputs[0]] == 1
        and all(name in constants for name in filter(None, conv.inputs[1:]))
    ):
        return False
    w = constants[conv.inputs[1]]
    channels = (*node.inputs[1:5], *filter(None, conv.inputs[2:]))
    return w.ndim > 1 and all(constants[name].shape == w.shape[:1] for name in channels)


def is_known_norm(node: Node, constants: Mapping[str, Array]) -> bool:
    """Whether a node is a BatchNormalization in inference, all of whose numbers are known."""
    return (
        (node.op, node.domain) == ("BatchNormalization", "")
        and not node.attributes.get("training_mode", 0)
        and len(list(filter(None, node.outputs))) == 1
        and all(name in constants for name in node.inputs[1:5])
    )


def norm_terms(node: Node, constants: Mapping[str, Array]) -> tuple[Array, Array, Array]:
    """Return factor, mean and bias of (x - mean) factor + bias, which such a node computes."""
    scale, bias, mean, variance = (constants[name] for name in node.inputs[1:5])
    factor = scale / np.sqrt(variance + np.float32(node.attributes.get("epsilon", 1e-5)))
    return factor, mean, bias


def with_inputs(
    node: Node, inputs: tuple[str, ...], outputs: tuple[str, ...] | None = None
) -> Node:
    """Return the node with other inputs, and outputs if they are given; its source follows."""
    outputs = node.outputs if outputs is None else outputs
    if (inputs, outputs) == (node.inputs, node.outputs):
        return node
    source = type(node.source)()
    source.CopyFrom(node.source)
    for field, names in ((source.input, inputs), (source.output, outputs)):
        del field[:]
        field.extend(names)
    return replace(node, inputs=inputs, outputs=outputs, source=source)
