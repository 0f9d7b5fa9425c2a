"""Functions of elements."""

from __future__ import annotations

import numpy as np

from fbg.graph.ops.common import Map
from fbg.graph.ops.elements import COMPARISONS, Convert, Function
from fbg.graph.ops.op import Value
from fbg.graph.ops.tensors import shape_of
from fbg.graph.refusal import Unsupported
from fbg.importers.backends.base import TypedNode
from fbg.importers.description import HALVES
from fbg.importers.ops.builder import Builder, constant_of
from fbg.importers.ops.registry import BYTES, FLOAT, INTEGERS, MOVABLE, NUMBERS, op

# Operators of one input without parameters, and the functions that compute them.
_UNARY = {
    "Abs": "absolute",
    "Acos": "acos",
    "Acosh": "acosh",
    "Asin": "asin",
    "Asinh": "asinh",
    "Atan": "atan",
    "Atanh": "atanh",
    "Ceil": "ceil",
    "Cos": "cos",
    "Cosh": "cosh",
    "Erf": "erf",
    "Exp": "exp",
    "Floor": "floor",
    "HardSwish": "hard_swish",
    "Log": "log",
    "Mish": "mish",
    "Neg": "negate",
    "Reciprocal": "reciprocal",
    "Relu": "relu",
    "Round": "round",
    "Sigmoid": "sigmoid",
    "Sign": "sign",
    "Sin": "sin",
    "Sinh": "sinh",
    "Softplus": "softplus",
    "Softsign": "softsign",
    "Sqrt": "square_root",
    "Tan": "tan",
    "Tanh": "tanh",
}
# Operators of an input and attributes, which become constants of the function: (name, default).
_WITH_ATTRIBUTES: dict[str, tuple[str, tuple[tuple[str, float], ...]]] = {
    "Celu": ("celu", (("alpha", 1.0),)),
    "Elu": ("elu", (("alpha", 1.0),)),
    "HardSigmoid": ("hard_sigmoid", (("alpha", 0.2), ("beta", 0.5))),
    "LeakyRelu": ("leaky", (("alpha", 0.01),)),
    "Shrink": ("shrink", (("bias", 0.0), ("lambd", 0.5))),
    "Selu": ("selu", (("alpha", 1.67326319217681884765625), ("gamma", 1.05070102214813232421875))),
    "ThresholdedRelu": ("threshold", (("alpha", 1.0),)),
}
_BINARY = {"Add": "add", "Sub": "subtract", "Mul": "multiply", "Div": "divide"}
_COMPARISONS = {
    "Less": "less",
    "LessOrEqual": "less_equal",
    "Greater": "greater",
    "GreaterOrEqual": "greater_equal",
}
# The function of the graph that an operator of elements is.
FUNCTIONS = {name: function for name, (function, _) in _WITH_ATTRIBUTES.items()} | _UNARY | _BINARY
FUNCTIONS |= {"Clip": "clip", "Gelu": "gelu", "Max": "maximum", "Min": "minimum", "Pow": "power"}
FUNCTIONS |= {"PRelu": "prelu", "Swish": "silu"}
_OF_INT32 = ("add", "subtract", "multiply", "less", "greater", "equal")
_LOGICAL = {"And": "and", "Or": "or", "Xor": "xor"}
_BITWISE = {
    "BitwiseAnd": "bitwise_and",
    "BitwiseOr": "bitwise_or",
    "BitwiseXor": "bitwise_xor",
    "BitwiseNot": "bitwise_not",
}


def applied(builder: Builder, function: str, *operands: Value) -> Value:
    """Return a function of one or two tensors of one type, whatever that is."""
    dtype = operands[0].dtype
    if any(value.dtype != dtype for value in operands):
        raise Unsupported(builder.node, "operands of different types")
    result = "bool" if function in COMPARISONS else dtype
    if dtype == "float32":
        return builder.apply(function, *operands, dtype=result)
    if dtype == "int32" and function in _OF_INT32:  # which can be fused
        return builder.apply(f"{function}_int32", *operands, dtype=result)
    return builder.add(Function(function, operands))


def _identity(builder: Builder, value: Value, dtype: str = "float32") -> Value:
    # An `affine` that changes nothing, and can be fused. Adding -0 keeps the sign of a zero, too.
    return builder.apply("affine", value, c0=1.0, c1=-0.0, dtype=dtype)


def converted(builder: Builder, value: Value, dtype: str) -> Value:
    """Return a tensor whose elements have another type."""
    if value.dtype == dtype:
        return value
    if (known := constant_of(value)) is not None and np.dtype(dtype).kind in "fb":
        return builder.constant(known.astype(dtype))
    if (value.dtype, dtype) == ("float32", "int32"):
        return builder.apply("to_int32", value, dtype=dtype)
    if value.dtype == "float32" and dtype in HALVES:
        return _identity(builder, value, dtype)
    if dtype == "float32" and value.dtype in (*HALVES, "uint8", "int8", "int32", "bool"):
        return _identity(builder, value)
    return builder.add(Convert(value, dtype))


def chosen(builder: Builder, condition: Value, a: Value, b: Value) -> Value:
    """Return the elements of a where the condition is true, those of b elsewhere."""
    if a.dtype != "float32":
        return builder.add(Function("select", (condition, a, b)))
    for kept, other, function in ((a, b, "keep_where"), (b, a, "keep_unless")):
        if _is_zero(other) and shape_of(other) in ((), shape_of(kept)):
            return builder.apply(function, condition, kept)
    operands = tuple(dict.fromkeys((condition, a, b)))
    at = [operands.index(value) for value in (condition, a, b)]
    steps = (
        ("keep_where", at[0], at[1], 0.0, 0.0),
        ("keep_unless", at[0], at[2], 0.0, 0.0),
        ("merge", len(operands), len(operands) + 1, 0.0, 0.0),
    )
    return builder.add(Map(operands, steps))


def _is_zero(value: Value) -> bool:
    """Whether a tensor is one zero that has no sign."""
    known = constant_of(value)
    return known is not None and known.size == 1 and not known.tobytes().strip(b"\0")


@op("Abs", "Neg", "Sign", types=NUMBERS)
def build_exact(builder: Builder, node: TypedNode) -> None:
    """Build y = f(x) of numbers of any type."""
    builder.set_output(node, applied(builder, _UNARY[node.node.op], builder.input(node, 0)))


@op(*_UNARY.keys() - {"Abs", "Neg", "Sign"})
def build_unary(builder: Builder, node: TypedNode) -> None:
    """Build y = f(x)."""
    builder.set_output(node, builder.apply(_UNARY[node.node.op], builder.input(node, 0)))


@op(*_WITH_ATTRIBUTES)
def build_with_attributes(builder: Builder, node: TypedNode) -> None:
    """Build y = f(x) with parameters."""
    function, defaults = _WITH_ATTRIBUTES[node.node.op]
    given = [float(node.attribute(name, default)) for name, default in defaults]
    c0, c1 = (*given, 0.0, 0.0)[:2]
    builder.set_output(node, builder.apply(function, builder.input(node, 0), c0=c0, c1=c1))


@op("Gelu")
def build_gelu(builder: Builder, node: TypedNode) -> None:
    """GELU, exact or by tanh."""
    exact = node.attribute("approximate", "none") == "none"
    function = "gelu" if exact else "gelu_tanh"
    builder.set_output(node, builder.apply(function, builder.input(node, 0)))


@op("Swish")
def build_swish(builder: Builder, node: TypedNode) -> None:
    """x sigmoid(alpha x)."""
    x, alpha = builder.input(node, 0), node.attribute("alpha", 1.0)
    if alpha == 1.0:
        return builder.set_output(node, builder.apply("silu", x))
    inner = builder.apply("sigmoid", builder.apply("affine", x, c0=alpha))
    builder.set_output(node, builder.apply("multiply", x, inner))


@op("Clip", types=(*FLOAT, *BYTES), constants=(1, 2))
def build_clip(builder: Builder, node: TypedNode) -> None:
    """min(max(x, lo), hi); bounds are attributes before version 11 and inputs later."""
    low, high = node.attribute("min", -np.inf), node.attribute("max", np.inf)
    x = builder.input(node, 0)
    if (given := node.constant(1)) is not None:
        low = given.item()
    if (given := node.constant(2)) is not None:
        high = given.item()
    builder.set_output(node, builder.apply("clip", x, c0=low, c1=high, dtype=x.dtype))


def _operands(builder: Builder, node: TypedNode) -> tuple[Value, Value]:
    if "axis" in node.node.attributes:
        raise Unsupported(node.node.name, "broadcasting of operator set 6")
    return builder.input(node, 0), builder.input(node, 1)


@op(*_BINARY, types=NUMBERS)
@op(*_COMPARISONS, types=NUMBERS)
def build_binary(builder: Builder, node: TypedNode) -> None:
    """f(a, b) with broadcasting."""
    function = (_BINARY | _COMPARISONS)[node.node.op]
    builder.set_output(node, applied(builder, function, *_operands(builder, node)))


@op("Equal", types=(*NUMBERS, "bool"))
def build_equal(builder: Builder, node: TypedNode) -> None:
    """Whether elements are equal."""
    builder.set_output(node, applied(builder, "equal", *_operands(builder, node)))


@op("PRelu")
def build_prelu(builder: Builder, node: TypedNode) -> None:
    """x, or slope x where x is negative."""
    x, slope = _operands(builder, node)
    if node.node.version < 7 and (known := constant_of(slope)) is not None:
        slope = builder.constant(known.reshape(-1, *[1] * (len(x.shape) - 2)))
    builder.set_output(node, applied(builder, "prelu", x, slope))


@op("Pow", types=NUMBERS)
def build_power(builder: Builder, node: TypedNode) -> None:
    """a^b with the type of a; integers to a power that is no integer are computed in float64."""
    a, b = _operands(builder, node)
    dtype = a.dtype
    if np.dtype(dtype).kind in "iu" and np.dtype(b.dtype).kind == "f":
        a, b = (converted(builder, value, "float64") for value in (a, b))
    exponent = constant_of(b)
    is_two = exponent is not None and exponent.size == 1 and (exponent == 2).all()
    if is_two and np.dtype(a.dtype).kind == "f" and len(b.shape) <= len(a.shape):
        power = applied(builder, "multiply", a, a)
    else:
        power = applied(builder, "power", a, converted(builder, b, a.dtype))
    builder.set_output(node, converted(builder, power, dtype))


@op("Mod", types=NUMBERS)
def build_modulo(builder: Builder, node: TypedNode) -> None:
    """The remainder, with the sign of the divisor, or, as in C (fmod), of the dividend."""
    function = "remainder" if node.attribute("fmod", 0) else "modulo"
    operands = _operands(builder, node)
    if operands[0].dtype != operands[1].dtype:
        raise Unsupported(node.node.name, "operands of different types")
    builder.set_output(node, builder.add(Function(function, operands)))


@op("BitShift", types=INTEGERS)
def build_shift(builder: Builder, node: TypedNode) -> None:
    """Bits moved to the left or to the right."""
    function = "shift_left" if node.attribute("direction") == "LEFT" else "shift_right"
    builder.set_output(node, applied(builder, function, *_operands(builder, node)))


@op(*_BITWISE, types=INTEGERS)
def build_bitwise(builder: Builder, node: TypedNode) -> None:
    """A function of the bits of integers."""
    operands = [builder.input(node, i) for i in range(len(node.node.inputs))]
    builder.set_output(node, applied(builder, _BITWISE[node.node.op], *operands))


@op(*_LOGICAL, types=("bool",))
def build_logical(builder: Builder, node: TypedNode) -> None:
    """A function of two truth values."""
    function = _LOGICAL[node.node.op]
    operands = _operands(builder, node)
    builder.set_output(node, builder.apply(function, *operands, dtype=np.bool_))


@op("Not", types=("bool",))
def build_not(builder: Builder, node: TypedNode) -> None:
    """Whether a truth value is false."""
    builder.set_output(node, builder.apply("not", builder.input(node, 0), dtype=np.bool_))


@op("IsNaN")
def build_is_nan(builder: Builder, node: TypedNode) -> None:
    """Whether an element is no number: it is not equal to itself."""
    x = builder.input(node, 0)
    same = builder.apply("equal", x, x, dtype=np.bool_)
    builder.set_output(node, builder.apply("not", same, dtype=np.bool_))


@op("IsInf")
def build_is_infinite(builder: Builder, node: TypedNode) -> None:
    """Whether an element is infinite, of the signs that the attributes ask for."""
    x = builder.input(node, 0)
    positive, negative = (node.attribute(f"detect_{sign}", 1) for sign in ("positive", "negative"))
    if positive and negative:
        x = builder.apply("absolute", x)
    infinity = np.inf if positive else -np.inf if negative else np.nan
    bound = builder.constant(np.array(infinity, np.float32))
    builder.set_output(node, builder.apply("equal", x, bound, dtype=np.bool_))


@op("Where", types=("bool",))
def build_where(builder: Builder, node: TypedNode) -> None:
    """Elements of the second input where the first is true, else those of the third."""
    condition, a, b = (builder.input(node, i) for i in range(3))
    if a.dtype not in MOVABLE:
        raise Unsupported(node.node.name, f"elements of {a.dtype}")
    builder.set_output(node, chosen(builder, condition, a, b))


@op("Max", "Min", "Sum", types=NUMBERS)
@op("Mean")
def build_variadic(builder: Builder, node: TypedNode) -> None:
    """A function of any number of operands, applied from left to right."""
    function = {"Max": "maximum", "Min": "minimum"}.get(node.node.op, "add")
    result = builder.input(node, 0)
    for i in range(1, len(node.node.inputs)):
        result = applied(builder, function, result, builder.input(node, i))
    count = len(node.node.inputs)
    if node.node.op == "Mean":
        result = builder.apply("affine", result, c0=1.0 / count)
    elif count == 1 and result.dtype == "float32":
        result = builder.apply("affine", result, c0=1.0)
    builder.set_output(node, result)


@op("Cast", "CastLike", types=MOVABLE)
def build_cast(builder: Builder, node: TypedNode) -> None:
    """Elements as another type."""
    target = str(node.types[node.node.outputs[0]].dtype)
    if target not in MOVABLE:
        raise Unsupported(node.node.name, f"to {target}")
    builder.set_output(node, converted(builder, builder.input(node, 0), target))
