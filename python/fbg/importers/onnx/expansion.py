"""Operators of onnxruntime's own as operators of ONNX, which fbg fuses again.

Its optimizer and its quantization to QOperator files write them. A node is expanded while types are
inferred; one that is not understood in all of its inputs and attributes stays as it is.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from onnx import TensorProto, helper

from fbg.arrays import Array
from fbg.graph.refusal import Unsupported
from fbg.importers.backends.base import TypedNode
from fbg.importers.description import HALVES, Constants, Network, Node, TensorType

MICROSOFT = "com.microsoft"
LEAST_VERSION = 13  # of the operator set, since which it has all operators as they are used here


class _Stays(Exception):
    """The node is not understood."""


def _require(understood: bool) -> None:
    if not understood:
        raise _Stays


@dataclass(frozen=True)
class Quantized:
    """An operator between integers. op: the same of numbers. operands: where (integers, scale, zero
    point) of each begin; None: the rest. result: where (scale, zero point) are. plain: the inputs
    in front of the operands that are passed on.
    """

    op: str
    operands: tuple[int, ...] | None
    result: int
    plain: tuple[int, ...] = ()


# QLinearAveragePool and QLinearSoftmax stay: onnxruntime rounds them on its way to the result.
QUANTIZED = {
    "QLinearAdd": Quantized("Add", (0, 3), 6),
    "QLinearConcat": Quantized("Concat", None, 0),
    "QLinearGlobalAveragePool": Quantized("GlobalAveragePool", (0,), 3),
    "QLinearLeakyRelu": Quantized("LeakyRelu", (0,), 3),
    "QLinearMul": Quantized("Mul", (0, 3), 6),
    "QLinearSigmoid": Quantized("Sigmoid", (0,), 3),
    "QLinearWhere": Quantized("Where", (1, 4), 7, plain=(0,)),
}
# Activations by name, and what their parameters are called.
ACTIVATIONS: dict[str, tuple[str, ...]] = {
    "": (),
    "Relu": (),
    "Sigmoid": (),
    "Tanh": (),
    "LeakyRelu": ("alpha",),
    "HardSigmoid": ("alpha", "beta"),
    "Clip": ("min", "max"),
}


@dataclass
class Expansion:
    """The nodes and constants in place of a node. taken: names of nodes and tensors elsewhere."""

    typed: TypedNode
    versions: Mapping[str, int]
    taken: Collection[str]
    nodes: list[Node] = field(default_factory=list)
    constants: dict[str, Array] = field(default_factory=dict)

    def apply(self, op: str, *inputs: str, results: int = 1, **attributes: Any) -> str:
        """Append a node, all of whose inputs must be there. Return the name of its first result."""
        _require("" not in inputs)
        name = self._name(op)
        outputs = [f"{name}:{i}" for i in range(results)]
        self._append(op, name, inputs, outputs, attributes)
        return outputs[0]

    def rename(self, result: str, output: int = 0) -> None:
        """Let what writes a result write an output of the node, and have its name."""
        node = self.typed.node
        wanted = node.outputs[output]
        for i, made in enumerate(self.nodes):
            if result in made.outputs:
                name = node.name if output == 0 else made.name
                outputs = [wanted if each == result else each for each in made.outputs]
                self.nodes[i] = self._made(made.op, name, made.inputs, outputs, made.attributes)
            elif result in made.inputs:
                inputs = [wanted if each == result else each for each in made.inputs]
                self.nodes[i] = self._made(
                    made.op, made.name, inputs, made.outputs, made.attributes
                )

    def constant(self, value: Any, dtype: Any = np.float32) -> str:
        """Return the name of a new constant."""
        name = self._name("constant")
        self.constants[name] = np.asarray(value, dtype)
        return name

    def _name(self, what: str) -> str:
        own = {*self.constants, *(node.name for node in self.nodes)}
        name, count = f"{self.typed.node.name}/{what}", 1
        while name in own or name in self.taken:
            count += 1
            name = f"{self.typed.node.name}/{what}_{count}"
        return name

    def _append(
        self, op: str, name: str, inputs: Any, outputs: Any, attributes: Mapping[str, Any]
    ) -> None:
        self.nodes.append(self._made(op, name, inputs, outputs, attributes))

    def _made(
        self, op: str, name: str, inputs: Any, outputs: Any, attributes: Mapping[str, Any]
    ) -> Node:
        source = helper.make_node(op, list(inputs), list(outputs), name, **attributes)
        version = self.versions[""]
        return Node(op, "", name, tuple(inputs), tuple(outputs), attributes, version, source=source)

    # What several expansions have -------------------------------------------------------------

    def input(self, index: int) -> str:
        """Return the name of an input, or "" if it is absent."""
        return self.typed.node.inputs[index] if self.typed.has_input(index) else ""

    def only_inputs(self, *allowed: int) -> None:
        """Leave the node as it is if it has other inputs."""
        count = len(self.typed.node.inputs)
        _require(not any(self.typed.has_input(i) for i in range(count) if i not in allowed))

    def only_attributes(self, *allowed: str, **defaults: Any) -> None:
        """Leave the node as it is if it has other attributes, or others than these values."""
        for name, value in self.typed.node.attributes.items():
            _require(name in allowed or (name in defaults and defaults[name] == value))

    def only_outputs(self, *allowed: int) -> None:
        """Leave the node as it is if it has other outputs."""
        outputs = enumerate(self.typed.node.outputs)
        _require(not any(name for i, name in outputs if i not in allowed))

    def added(self, x: str, index: int) -> str:
        """Return x plus an input, if there is one."""
        return self.apply("Add", x, self.input(index)) if self.input(index) else x

    def dequantized(self, q: int, scale: int, zero_point: int, **attributes: Any) -> str:
        """Return the numbers that integers stand for."""
        names = [self.input(q), self.input(scale), self.input(zero_point)]
        return self.apply("DequantizeLinear", *names[: 3 if names[2] else 2], **attributes)

    def quantized(self, x: str, scale: int, zero_point: int) -> str:
        """Return the integers that stand for numbers."""
        names = [x, self.input(scale), self.input(zero_point)]
        return self.apply("QuantizeLinear", *names[: 3 if names[2] else 2])

    def activated(self, x: str, name: str, parameters: tuple[float, ...]) -> str:
        """Return the activation of x that an attribute names."""
        _require(name in ACTIVATIONS)
        named: dict[str, Any] = dict(zip(ACTIVATIONS[name], parameters, strict=False))
        if name == "Clip":
            _require(len(named) == 2)
            return self.apply(name, x, *(self.constant(bound) for bound in parameters[:2]))
        return self.apply(name, x, **named) if name else x

    def gelu(self, x: str) -> str:
        """Return x / 2 (1 + erf(x / sqrt(2)))."""
        inner = self.apply("Erf", self.apply("Div", x, self.constant(math.sqrt(2))))
        sum_ = self.apply("Add", inner, self.constant(1))
        return self.apply("Mul", self.apply("Mul", x, sum_), self.constant(0.5))

    def normalized(self, x: str, gamma: int, beta: int) -> str:
        """Return the layer normalization of x."""
        _require(self.versions[""] >= 17)
        epsilon = self.typed.attribute("epsilon", 1e-12)
        names = [x, self.input(gamma), self.input(beta)]
        given = names[: 3 if names[2] else 2]
        return self.apply("LayerNormalization", *given, axis=-1, epsilon=epsilon)


Rule = Callable[[Expansion], str]
RULES: dict[str, Rule] = {}


def _rule(*names: str) -> Callable[[Rule], Rule]:
    def register(rule: Rule) -> Rule:
        RULES.update(dict.fromkeys(names, rule))
        return rule

    return register


class Expanding:
    """Expands nodes of a network, whose constants it completes. waiting: its nodes. kept: names of
    nodes that stay.
    """

    def __init__(self, network: Network, waiting: Iterable[Node], kept: Collection[str]) -> None:
        self._network, self._kept = network, kept
        nodes = [node for node in waiting if node.domain == MICROSOFT]
        self._taken = set(network.constants) | set(network.inputs) if nodes else set()
        for node in waiting if nodes else ():
            self._taken.update((node.name, *node.outputs))

    def expansion(
        self, node: Node, types: Mapping[str, TensorType], constants: Constants
    ) -> Expansion | None:
        """Return what takes the place of a node, or None if it stays. types: of known tensors."""
        versions = self._network.versions
        if node.domain != MICROSOFT or node.op not in RULES or node.name in self._kept:
            return None
        if versions.get("", 0) < LEAST_VERSION or any(name not in types for name in node.reads):
            return None
        kinds = [types[name].dtype for name in node.reads]
        if any(kind.name in HALVES or kind == np.float64 for kind in kinds):
            return None
        made = Expansion(TypedNode(node, types, constants), versions, self._taken)
        try:
            made.rename(RULES[node.op](made))
        except (_Stays, Unsupported, IndexError):  # an input that it requires is missing
            return None
        self._network.constants.update(made.constants)
        self._taken.update(made.constants)
        for each in made.nodes:
            self._taken.update((each.name, *each.outputs))
        return made


@_rule(*QUANTIZED)
def _quantized(e: Expansion) -> str:
    node = e.typed.node
    how = QUANTIZED[node.op]
    operands = how.operands or tuple(range(2, len(node.inputs), 3))
    attributes = dict(node.attributes)
    _require(not attributes.pop("channels_last", 0))
    numbers = [e.dequantized(i, i + 1, i + 2) for i in operands]
    y = e.apply(how.op, *(e.input(i) for i in how.plain), *numbers, **attributes)
    return e.quantized(y, how.result, how.result + 1)


@_rule("QGemm")
def _qgemm(e: Expansion) -> str:
    e.only_attributes("transA", "transB", alpha=1.0)
    turned = {name: e.typed.attribute(name, 0) for name in ("transA", "transB")}
    scales = [e.typed.constant(i) for i in (1, 4)]
    operands = [e.dequantized(0, 1, 2), e.dequantized(3, 4, 5, axis=0 if turned["transB"] else 1)]
    if e.input(6):
        a, b = scales
        _require(a is not None and b is not None)
        assert a is not None and b is not None
        _require(b.size == 1 or len(e.typed.input_type(6).shape or ()) == 1)
        scale = e.constant((a.reshape(()) * b).reshape(() if b.size == 1 else -1))
        operands.append(e.apply("DequantizeLinear", e.input(6), scale, axis=0))
    y = e.apply("Gemm", *operands, **turned)
    return e.quantized(y, 7, 8) if e.input(7) else y


@_rule("MatMulIntegerToFloat")
def _matmul_to_float(e: Expansion) -> str:
    e.only_attributes()
    y = e.apply("MatMul", e.dequantized(0, 2, 4), e.dequantized(1, 3, 5, axis=-1))
    return e.added(y, 6)


@_rule("DynamicQuantizeMatMul")
def _dynamic_matmul(e: Expansion) -> str:
    e.only_attributes()
    q = e.apply("DynamicQuantizeLinear", e.input(0), results=3)
    _, scale, zero_point = e.nodes[-1].outputs
    operands = [q, e.input(1), zero_point, e.input(3)]
    sums = e.apply("MatMulInteger", *operands[: 4 if operands[3] else 3])
    numbers = e.apply("Cast", sums, to=TensorProto.FLOAT)
    y = e.apply("Mul", numbers, e.apply("Mul", scale, e.input(2)))
    return e.added(y, 4)


@_rule("FusedConv")
def _fused_conv(e: Expansion) -> str:
    attributes = dict(e.typed.node.attributes)
    name = attributes.pop("activation", "")
    parameters = tuple(attributes.pop("activation_params", ()))
    names = [e.input(i) for i in range(3)]
    y = e.added(e.apply("Conv", *names[: 3 if names[2] else 2], **attributes), 3)
    return e.activated(y, name, parameters)


@_rule("FusedGemm")
def _fused_gemm(e: Expansion) -> str:
    attributes = dict(e.typed.node.attributes)
    name = attributes.pop("activation", "")
    given = [attributes.pop(f"activation_{each}", None) for each in ("alpha", "beta", "gamma")]
    names = [e.input(i) for i in range(3)]
    y = e.apply("Gemm", *names[: 3 if names[2] else 2], **attributes)
    return e.activated(y, name, tuple(each for each in given if each is not None))


@_rule("FusedMatMul")
def _fused_matmul(e: Expansion) -> str:
    e.only_attributes("transA", "transB", "alpha", transBatchA=0, transBatchB=0)
    operands = []
    for i, name in enumerate(("transA", "transB")):
        operand = e.input(i)
        if e.typed.attribute(name, 0):
            shape = e.typed.input_type(i).shape
            _require(shape is not None and len(shape) > 1)
            axes = list(range(len(shape or ())))
            operand = e.apply("Transpose", operand, perm=[*axes[:-2], axes[-1], axes[-2]])
        operands.append(operand)
    alpha = e.typed.attribute("alpha", 1.0)
    if alpha != 1.0 and math.frexp(alpha)[0] == 0.5:  # exact, and queries are fewer than scores
        operands[0], alpha = e.apply("Mul", operands[0], e.constant(alpha)), 1.0
    y = e.apply("MatMul", *operands)
    return y if alpha == 1.0 else e.apply("Mul", y, e.constant(alpha))


@_rule("Gelu", "BiasGelu")
def _gelu(e: Expansion) -> str:
    e.only_attributes()
    return e.gelu(e.added(e.input(0), 1))


@_rule("FastGelu")
def _fast_gelu(e: Expansion) -> str:
    e.only_attributes()
    x = e.added(e.input(0), 1)
    cube = e.apply("Mul", e.apply("Mul", x, x), x)
    sum_ = e.apply("Add", x, e.apply("Mul", cube, e.constant(0.044715)))
    inner = e.apply("Tanh", e.apply("Mul", sum_, e.constant(math.sqrt(2 / math.pi))))
    half = e.apply("Mul", x, e.constant(0.5))
    return e.apply("Mul", half, e.apply("Add", inner, e.constant(1)))


@_rule("QuickGelu")
def _quick_gelu(e: Expansion) -> str:
    e.only_attributes("alpha")
    x, alpha = e.input(0), e.typed.attribute("alpha", 1.702)
    return e.apply("Mul", x, e.apply("Sigmoid", e.apply("Mul", x, e.constant(alpha))))


@_rule("SkipLayerNormalization", "SkipSimplifiedLayerNormalization")
def _skip_norm(e: Expansion) -> str:
    e.only_attributes("epsilon")
    e.only_outputs(0, 3)
    simple = e.typed.node.op.startswith("SkipSimplified")
    x = e.added(e.apply("Add", e.input(0), e.input(1)), 3 if simple else 4)
    y = _rms(e, x) if simple else e.normalized(x, 2, 3)
    if len(e.typed.node.outputs) > 3 and e.typed.node.outputs[3]:
        e.rename(x, 3)
    return y


def _rms(e: Expansion, x: str) -> str:
    """Return x / sqrt(mean(x^2) + epsilon) * gamma."""
    squares, last = e.apply("Mul", x, x), [-1]
    if e.versions[""] < 18:
        mean = e.apply("ReduceMean", squares, axes=last, keepdims=1)
    else:
        mean = e.apply("ReduceMean", squares, e.constant(last, np.int64), keepdims=1)
    shifted = e.apply("Add", mean, e.constant(e.typed.attribute("epsilon", 1e-12)))
    return e.apply("Mul", e.apply("Div", x, e.apply("Sqrt", shifted)), e.input(2))


@_rule("EmbedLayerNormalization")
def _embed(e: Expansion) -> str:
    """The second output is how many tokens of each row a mask lets through; 0 without a mask."""
    e.only_attributes("epsilon", mask_index_type=0)
    ids = e.typed.input_type(0).fixed
    _require(ids is not None and len(ids) == 2)
    batch, tokens = ids or (0, 0)
    positions = e.input(8) or e.constant(np.arange(tokens)[None], np.int64)
    x = e.apply("Gather", e.input(2), e.input(0))
    if e.input(1):
        x = e.apply("Add", x, e.apply("Gather", e.input(4), e.input(1)))
    x = e.apply("Add", x, e.apply("Gather", e.input(3), positions))
    y = e.normalized(x, 5, 6)
    counts = e.constant(np.zeros(batch), np.int32)
    if e.input(7):
        counts = e.apply("ReduceSum", e.input(7), e.constant([1], np.int64), keepdims=0)
    for output, result in ((1, e.apply("Identity", counts)), (2, x)):
        if len(e.typed.node.outputs) > output and e.typed.node.outputs[output]:
            e.rename(result, output)
    return y


def _attend(e: Expansion, parts: list[str], mask: str = "") -> str:
    """Return softmax(Q K^T) V of parts (batch, tokens, heads * width)."""
    heads = e.typed.attribute("num_heads", 0)
    split = e.constant([0, 0, heads, -1], np.int64)
    shaped = [e.apply("Reshape", part, split) for part in parts]
    orders = ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])
    q, k, v = (e.apply("Transpose", x, perm=o) for x, o in zip(shaped, orders, strict=True))
    scores = e.apply("Mul", e.apply("MatMul", q, k), e.constant(_scale(e, heads)))
    if mask:
        scores = e.apply("Add", scores, mask)
    y = e.apply("MatMul", e.apply("Softmax", scores, axis=-1), v)
    y = e.apply("Transpose", y, perm=[0, 2, 1, 3])
    return e.apply("Reshape", y, e.constant([0, 0, -1], np.int64))


def _scale(e: Expansion, heads: int) -> float:
    """Return the factor of scores, for heads that are equally wide."""
    at = 1 if e.typed.node.op == "Attention" else 0
    shape = e.typed.input_type(at).shape
    width = shape[-1] if shape else None
    _require(isinstance(width, int) and heads > 0)
    assert isinstance(width, int)
    width = width // 3 if at else width
    _require(width % heads == 0)
    return float(e.typed.attribute("scale", 0.0) or 1 / math.sqrt(width / heads))


@_rule("Attention")
def _attention(e: Expansion) -> str:
    e.only_attributes("num_heads", "scale", "mask_filter_value", unidirectional=0, do_rotary=0)
    e.only_inputs(0, 1, 2, 3)
    e.only_outputs(0)
    x, mask = e.added(e.apply("MatMul", e.input(0), e.input(1)), 2), ""
    if e.input(3):
        given, rank = e.input(3), len(e.typed.input_type(3).shape or ())
        batch, tokens, *_ = e.typed.shape(0)
        if rank == 1:  # how many tokens are read, from the first one on
            _require(e.typed.shape(3) == (batch,))
            places = e.constant(np.arange(tokens)[None], np.int32)
            given = e.apply("Less", places, e.apply("Unsqueeze", given, e.constant([1], np.int64)))
        else:  # 1 for tokens that are read
            _require(e.typed.shape(3) == (batch, tokens))
        given = e.apply("Cast", given, to=TensorProto.FLOAT)
        given = e.apply("Unsqueeze", given, e.constant([1, 2], np.int64))
        left_out = e.apply("Sub", e.constant(1), given)
        lowest = e.constant(e.typed.attribute("mask_filter_value", -10000.0))
        mask = e.apply("Mul", left_out, lowest)
    width = (e.typed.input_type(1).shape or (0,))[-1]
    _require(isinstance(width, int) and width % 3 == 0)
    sizes = e.constant([int(width or 0) // 3] * 3, np.int64)
    e.apply("Split", x, sizes, results=3, axis=-1)
    return _attend(e, list(e.nodes[-1].outputs), mask)


@_rule("MultiHeadAttention")
def _multi_head_attention(e: Expansion) -> str:
    e.only_attributes("num_heads", "scale", unidirectional=0)
    e.only_inputs(0, 1, 2)
    e.only_outputs(0)
    ranks = [len(e.typed.input_type(i).shape or ()) for i in range(3)]
    _require(ranks == [3, 3, 3])
    return _attend(e, [e.input(i) for i in range(3)])
