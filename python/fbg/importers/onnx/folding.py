"""Constant folding: computes nodes whose inputs are all known, as a run would.

What rounds is computed by the back end that would compute it in a run, so that a constant is what a
run gives, to the bit. Moves and integers, which are the same everywhere, are computed by
`onnx.reference`, which takes less time for the few elements of shapes; so is what no back end has.

Only ops are computed whose work and memory follow from the types of inputs and outputs, and
only as long as there is a budget for both: the types of the outputs are inferred first. All others
are left to the back ends, such as loops, whose trip count is a number in the file.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import onnx
from onnx import helper
from onnx.reference import ReferenceEvaluator

from fbg.arrays import Array
from fbg.errors import ModelError
from fbg.graph.quantized_weights import QuantizedWeights
from fbg.importers.description import Node, TensorType
from fbg.importers.onnx.budget import Budget

Types = Mapping[str, TensorType]

# Ops with a step of work for each element, if the reference computes them.
_VECTORIZED = """
    Abs Acos Acosh Add And ArgMax ArgMin Asin Asinh Atan Atanh BitShift BitwiseAnd BitwiseNot
    BitwiseOr BitwiseXor Cast CastLike Ceil Celu Clip Concat Constant ConstantOfShape Cos Cosh
    CumSum DepthToSpace DequantizeLinear Div Einsum Elu Equal Exp Expand EyeLike Flatten Floor
    Gather Gemm Greater GreaterOrEqual HardSigmoid HardSwish Hardmax Identity IsInf IsNaN
    LeakyRelu Less LessOrEqual Log LogSoftmax MatMul MatMulInteger Max Mean Min Mish Mod Mul Neg Not
    OneHot Or PRelu Pad Pow QuantizeLinear Range Reciprocal ReduceL1 ReduceL2 ReduceLogSum
    ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare Relu Reshape
    Round Selu Shape Shrink Sigmoid Sign Sin Sinh Size Slice Softmax Softplus Softsign SpaceToDepth
    Split Sqrt Squeeze Sub Sum Tan Tanh ThresholdedRelu Tile Transpose Trilu Unsqueeze Where Xor
"""
# Ops that sort, or that are loops in Python there, with the steps for each element.
_SLOW = {
    "Compress": 16,
    "Erf": 64,
    "GatherND": 512,
    "Gelu": 64,
    "NonZero": 16,
    "ScatterElements": 512,
    "ScatterND": 512,
    "TopK": 64,
    "Unique": 512,
}
_STEPS = {**dict.fromkeys(_VECTORIZED.split(), 1), **_SLOW}
# Ops that the reference computes as every back end does: those that move elements of any type, and
# those of integers that neither divide nor leave the range of their type.
_MOVES = """
    Concat Constant ConstantOfShape DepthToSpace Expand Flatten Gather Identity Reshape Slice
    SpaceToDepth Split Squeeze Tile Transpose Unsqueeze Where
"""
_INTEGERS = """
    Add And Cast Equal Greater GreaterOrEqual Less LessOrEqual Max Min Mul Not Or Range ReduceMax
    ReduceMin ReduceProd ReduceSum Sub Xor
"""
_MOVING, _OF_INTEGERS = frozenset(_MOVES.split()), frozenset(_INTEGERS.split())
# Operator sets since which they mean what the reference computes for all versions.
MEANT_SINCE = {"Hardmax": 13, "LogSoftmax": 13, "Softmax": 13}
_BY_VALUE = ("Compress", "NonZero", "Unique")  # the size of their outputs depends on values
# Products of matrices, and the input that is added to their result; NONE: there is no such input.
NONE = 99
_ADDED = {"MatMul": NONE, "MatMulInteger": NONE, "QLinearMatMul": 7, "Gemm": 2}
_PRODUCTS = ("MatMul", "MatMulInteger", "Gemm")
_QUANTIZING = ("QuantizeLinear", "DequantizeLinear")
MOST_REPEATED = 2**24  # most bytes of a tensor that repeats one element
_VALUES = {"value", "value_float", "value_floats", "value_int", "value_ints"}  # of Constant nodes


# Computes the outputs of a node for values of all that it reads; None: no back end can.
Compute = Callable[[Node, Mapping[str, Array]], dict[str, Array] | None]


class Folding:
    """Computes nodes of a network beforehand, within a budget.

    constants: known tensors; the caller adds outputs. predict: infers the types of the
    outputs of a node; raises ModelError. compute: what computes nodes in a run; None: nothing.
    """

    def __init__(
        self,
        constants: Mapping[str, Array],
        predict: Callable[[Node], Types],
        compute: Compute | None,
    ) -> None:
        self._constants = constants
        self._predict = predict
        self._run = compute
        self._budget = Budget.of(sum(value.nbytes for value in constants.values()))

    def give(self, constants: Mapping[str, Array]) -> None:
        """Add the budget for more constants."""
        self._budget.give(sum(value.nbytes for value in constants.values()))

    def shape(self, node: Node, types: Types) -> dict[str, Array] | None:
        """Return the output of a Shape or Size of a tensor whose shape is known, or None."""
        if node.domain != "" or node.op not in ("Shape", "Size") or node.inputs[0] not in types:
            return None
        fixed = types[node.inputs[0]].fixed
        if fixed is None or math.prod(fixed) >= 2**63:
            return None
        if node.op == "Size":
            return {node.outputs[0]: np.array(math.prod(fixed), np.int64)}
        part = fixed[node.attributes.get("start", 0) : node.attributes.get("end")]
        return {node.outputs[0]: np.array(part, np.int64)}

    def weights(self, node: Node) -> QuantizedWeights | None:
        """Return the integers of a DequantizeLinear of constants that is worth it, or None."""
        if node.op != "DequantizeLinear" or not self._known(node):
            return None
        q, scale = (self._constants[name] for name in node.inputs[:2])
        named = len(node.inputs) > 2 and node.inputs[2] != ""
        zero_point = self._constants[node.inputs[2]] if named else np.zeros(scale.shape, q.dtype)
        whole = q.dtype in (np.int8, np.uint8, np.int32) and scale.dtype == np.float32
        axis = node.attributes.get("axis", 1) % max(q.ndim, 1)
        if not whole or not (scale.size == 1 or scale.shape == q.shape[axis : axis + 1]):
            return None
        if zero_point.size != scale.size or not self._budget.take(4 * q.size, q.size):
            return None
        return QuantizedWeights(q, scale, zero_point, axis)

    def compute(self, node: Node) -> dict[str, Array] | None:
        """Return the outputs of a node if they can be computed beforehand, else None."""
        if node.domain != "" or node.op not in _STEPS or not self._known(node):
            return None
        if node.op == "Constant" and not node.attributes.keys() <= _VALUES:
            return None
        if "broadcast" in node.attributes:
            return None
        values = [self._constants[name] for name in node.reads]
        written = _written(node, values, self._predict)
        if any(value.dtype.kind in "OSU" for value in values) or written is None:
            return None
        steps = _steps(node, values, sum(math.prod(shape) for shape, _ in written))
        size = sum(math.prod(shape) * dtype.itemsize for shape, dtype in written)
        if size == 0 and node.op not in _BY_VALUE:  # the reference may write more on its way there
            names = filter(None, node.outputs)
            return {n: np.empty(*kind) for n, kind in zip(names, written, strict=True)}
        if node.op == "ConstantOfShape" or (node.op == "Expand" and values[0].size == 1):
            return self._repeated(node, values[0], *written[0])
        if not self._budget.take(size, steps):
            return None
        given = dict(zip(node.reads, values, strict=True))
        dtypes = [value.dtype for value in values] + [dtype for _, dtype in written]
        exact = node.op in _OF_INTEGERS and all(dtype.kind in "iub" for dtype in dtypes)
        exact = exact or node.op in _MOVING
        found = None if exact or self._run is None else self._run(node, given)
        found = _evaluate(node, given) if found is None else found
        if found is None:
            return None
        # Results that differ from inferred types are left to the back ends, too.
        kinds = [(value.shape, value.dtype) for value in found.values()]
        return found if node.op in _BY_VALUE or kinds == written else None

    def _repeated(
        self, node: Node, value: Array, shape: tuple[int, ...], dtype: np.dtype[Any]
    ) -> dict[str, Array] | None:
        """Return a tensor that repeats one element as a view of it, which takes no memory."""
        if node.op == "ConstantOfShape":
            value = node.attributes.get("value", np.zeros(1, dtype))
        size = math.prod(shape) * dtype.itemsize
        if value.size != 1 or value.dtype != dtype or size > MOST_REPEATED:
            return None
        if not self._budget.take(0, repeated=size):
            return None
        return {node.outputs[0]: np.broadcast_to(value.reshape(()), shape)}

    def empty_product(self, node: Node, types: Types) -> dict[str, Array] | None:
        """Return a product of matrices whose inner size is 0, else None: empty sums are 0.

        onnxruntime leaves the memory of such a result unwritten, except for float32. Before version
        1.32, its Gemm forgets the factor beta there.
        """
        if node.domain != "" or node.op not in _ADDED or node.inputs[0] not in types:
            return None
        inner = 0 if node.op == "Gemm" and node.attributes.get("transA", 0) else -1
        if (types[node.inputs[0]].fixed or (1, 1))[inner] != 0:
            return None
        try:
            kind = self._predict(node).get(node.outputs[0])
        except ModelError:
            return None
        if kind is None or kind.fixed is None:
            return None
        name = "".join(node.inputs[_ADDED[node.op] :][:1])
        if name == "":
            return self._repeated(node, np.zeros(1, kind.dtype), kind.fixed, kind.dtype)
        if name not in self._constants:
            return None
        added, beta = self._constants[name], node.attributes.get("beta", 1.0)
        if beta != 1.0:
            added = (added * np.float32(beta)).astype(kind.dtype)
        if added.size == 1:
            return self._repeated(node, added, kind.fixed, kind.dtype)
        return {node.outputs[0]: np.broadcast_to(added, kind.fixed)}

    def _known(self, node: Node) -> bool:
        return all(name in self._constants for name in node.reads)


def _written(
    node: Node, values: Sequence[Array], predict: Callable[[Node], Types]
) -> list[tuple[tuple[int, ...], np.dtype[Any]]] | None:
    """Return the largest shapes and the types of the outputs of a node; None if unknown."""
    if node.op in _BY_VALUE:
        most = (sum(value.size for value in values), max(values[0].ndim, 1))
        return [(most, np.dtype(np.int64)) for _ in node.outputs]
    try:
        types = predict(node)
    except ModelError:
        return None
    found = []
    for name in filter(None, node.outputs):
        fixed = types[name].fixed if name in types else None
        if fixed is None or types[name].dtype.kind in "OSU":
            return None
        found.append((fixed, types[name].dtype))
    return found if _stays_inside(node, values, found[0][0]) else None


def _stays_inside(node: Node, values: Sequence[Array], shape: tuple[int, ...]) -> bool:
    """Whether no operand makes the reference write more than the shape that was inferred."""
    if node.op in ("Clip", "PRelu", "Gemm"):
        others = values[2:] if node.op == "Gemm" else values[1:]
        try:
            return all(np.broadcast_shapes(shape, other.shape) == shape for other in others)
        except ValueError:
            return False
    if node.op in _QUANTIZING:
        x, block = values[0], node.attributes.get("block_size", 0)
        axis = node.attributes.get("axis", 1) % max(x.ndim, 1)
        return all(
            other.size == 1
            or (block == 0 and other.shape == x.shape[axis : axis + 1])
            or (other.ndim == x.ndim and 0 < block * other.size < 2 * x.size)
            for other in values[1:]
        )
    return True


def _steps(node: Node, values: Sequence[Array], written: int) -> int:
    """Return the steps of work of a node that writes so many elements."""
    read = sum(value.size for value in values)
    if node.op in _PRODUCTS:
        return read + written * max(values[0].shape, default=1)
    if node.op == "Einsum":
        return read + _einsum_steps(str(node.attributes.get("equation", "")), values)
    # Modes of Pad that repeat the tensor do so copy by copy.
    loops = node.op == "Pad" and node.attributes.get("mode") in ("reflect", "wrap")
    return (_SLOW["ScatterND"] if loops else _STEPS[node.op]) * (read + written)


def _einsum_steps(equation: str, values: Sequence[Array]) -> int:
    """Return in how many ways the indices of all operands can be chosen together."""
    terms = equation.replace(" ", "").split("->")[0].split(",")
    sizes: dict[str, int] = {}
    for term, value in zip(terms, values, strict=False):
        # If an ellipsis stands for some axes, all of these count as different axes.
        letters = [f"{term}{i}" for i in range(value.ndim)] if "." in term else list(term)
        for letter, size in zip(letters, value.shape, strict=False):
            sizes[letter] = max(size, sizes.get(letter, 1))
    return math.prod(sizes.values())


def node_proto(node: Node) -> onnx.NodeProto:
    """Return the node as ONNX defines it."""
    proto = onnx.NodeProto()
    proto.CopyFrom(node.source)
    proto.name = node.name
    return proto


def _evaluate(node: Node, values: Mapping[str, Array]) -> dict[str, Array] | None:
    """Return the outputs of one node, computed by `onnx.reference`, or None if it cannot."""
    if node.version < MEANT_SINCE.get(node.op, 0):
        return None
    outputs = [name for name in node.outputs if name]
    graph = helper.make_graph(
        [node_proto(node)],
        "node",
        [helper.make_value_info(name, onnx.TypeProto()) for name in values],
        [helper.make_value_info(name, onnx.TypeProto()) for name in outputs],
    )
    opsets = [helper.make_opsetid(node.domain, node.version)]
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            evaluator = ReferenceEvaluator(helper.make_model(graph, opset_imports=opsets))
            results = evaluator.run(outputs, dict(values))
        except Exception:  # it has an exception type for each kind of failure
            return None
    return {name: np.asarray(value) for name, value in zip(outputs, results, strict=True)}
