"""Functions of elements."""

from __future__ import annotations

import numpy as np

from fbg.graph.ops.op import Value
from fbg.graph.ops.tensors import Convert, Words
from fbg.graph.ops.windows import Reduce
from fbg.graph.refusal import Unsupported
from fbg.importers.backends.base import TypedNode
from fbg.importers.description import HALVES
from fbg.importers.ops.builder import Builder, constant_of
from fbg.importers.ops.registry import BYTES, FLOAT, op

# Operators of one input without parameters, and the functions that compute them.
_UNARY = {
    "Abs": "absolute",
    "Ceil": "ceil",
    "Cos": "cos",
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
    "Softplus": "softplus",
    "Softsign": "softsign",
    "Sqrt": "square_root",
    "Tanh": "tanh",
}
# Operators of an input and attributes, which become constants of the function: (name, default).
_WITH_ATTRIBUTES: dict[str, tuple[str, tuple[tuple[str, float], ...]]] = {
    "Celu": ("celu", (("alpha", 1.0),)),
    "Elu": ("elu", (("alpha", 1.0),)),
    "HardSigmoid": ("hard_sigmoid", (("alpha", 0.2), ("beta", 0.5))),
    "LeakyRelu": ("leaky", (("alpha", 0.01),)),
    "Selu": ("selu", (("alpha", 1.67326319217681884765625), ("gamma", 1.05070102214813232421875))),
    "ThresholdedRelu": ("threshold", (("alpha", 1.0),)),
}
_BINARY = {
    "Add": "add",
    "Sub": "subtract",
    "Mul": "multiply",
    "Div": "divide",
    "Pow": "power",
    "PRelu": "prelu",
}
_COMPARISONS = {"Less": "less", "Greater": "greater", "Equal": "equal"}


@op(*_UNARY)
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


@op(*_BINARY, types=(*FLOAT, "int32"))
def build_binary(builder: Builder, node: TypedNode) -> None:
    """f(a, b) with broadcasting, of int32 only sums, differences and products."""
    if "axis" in node.node.attributes:
        raise Unsupported(node.node.name, "broadcasting of operator set 6")
    a, b = builder.input(node, 0), builder.input(node, 1)
    if a.dtype != b.dtype or (a.dtype == "int32" and node.node.op not in ("Add", "Sub", "Mul")):
        raise Unsupported(node.node.name, f"operands of {a.dtype} and {b.dtype}")
    if a.dtype == "int32":
        function = f"{_BINARY[node.node.op]}_int32"
        return builder.set_output(node, builder.apply(function, a, b, dtype=np.int32))
    if node.node.op == "PRelu" and node.node.version < 7 and (known := constant_of(b)) is not None:
        b = builder.constant(known.reshape(-1, *[1] * (len(a.shape) - 2)))
    builder.set_output(node, builder.apply(_BINARY[node.node.op], a, b))


@op("Max", "Min", "Sum", "Mean")
def build_variadic(builder: Builder, node: TypedNode) -> None:
    """A function of any number of operands, applied from left to right."""
    function = {"Max": "maximum", "Min": "minimum"}.get(node.node.op, "add")
    result = builder.input(node, 0)
    for i in range(1, len(node.node.inputs)):
        result = builder.apply(function, result, builder.input(node, i))
    count = len(node.node.inputs)
    if node.node.op == "Mean":
        result = builder.apply("affine", result, c0=1.0 / count)
    elif count == 1:
        result = builder.apply("affine", result, c0=1.0)
    builder.set_output(node, result)


@op(*_COMPARISONS, types=(*FLOAT, *BYTES, "bool", "int32", "int64"))
def build_comparison(builder: Builder, node: TypedNode) -> None:
    """a < b and other comparisons, as bool; of int64, whether the words of both are equal."""
    function = _COMPARISONS[node.node.op]
    a, b = builder.input(node, 0), builder.input(node, 1)
    if a.dtype != b.dtype or (a.dtype == "int64" and function != "equal"):
        raise Unsupported(node.node.name, f"operands of {a.dtype} and {b.dtype}")
    if a.dtype == "int64":
        words = builder.apply("equal_int32", builder.add(Words(a)), builder.add(Words(b)))
        both = builder.add(Reduce(words, "min", (len(words.shape) - 1,)))
        return builder.set_output(node, builder.apply("affine", both, c0=1.0, dtype=np.bool_))
    function += "_int32" if a.dtype == "int32" else ""
    builder.set_output(node, builder.apply(function, a, b, dtype=np.bool_))


@op("Cast", types=(*FLOAT, *HALVES, "uint8", "int8", "int32", "int64", "bool"))
def build_cast(builder: Builder, node: TypedNode) -> None:
    """Casts to float32 and int32, and from float32 to 16 bits; others are for other back ends."""
    target = node.types[node.node.outputs[0]].dtype
    value = builder.input(node, 0)
    if target == value.dtype:
        builder.set_output(node, value)
    elif value.dtype == "int64":
        builder.set_output(node, builder.add(Convert(value, str(target))))
    elif target == np.float32:
        builder.set_output(node, builder.apply("affine", value, c0=1.0))
    elif target == np.int32:
        builder.set_output(node, builder.apply("to_int32", value, dtype=np.int32))
    elif value.dtype == "float32" and str(target) in HALVES:
        builder.set_output(node, builder.apply("affine", value, c0=1.0, dtype=target))
    else:
        raise Unsupported(node.node.name, f"to {target}")


@op("BatchNormalization", constants=(1, 2, 3, 4))
def build_batch_norm(builder: Builder, node: TypedNode) -> None:
    """(x - mean) / sqrt(variance + eps) * scale + bias, folded into the weights before it."""
    trained = node.node.version < 7 and not node.attribute("is_test", 0)
    if trained or not node.attribute("spatial", 1):
        raise Unsupported(node.node.name, "training, or statistics of every pixel")
    if node.attribute("training_mode", 0) or len(list(filter(None, node.node.outputs))) > 1:
        raise Unsupported(node.node.name, "training mode")
    x, epsilon = builder.input(node, 0), node.attribute("epsilon", 1e-5)
    shape = (-1, *[1] * (len(x.shape) - 2))

    given = [builder.constants[name] for name in node.node.inputs[1:5]]

    def terms() -> list[Value]:
        scale, bias, mean, variance = (values.astype(np.float64) for values in given)
        factor = scale / np.sqrt(variance + epsilon)
        made = (factor, bias - mean * factor)
        return [builder.constant(v.astype(np.float32).reshape(shape)) for v in made]

    factors, offsets = builder.packer.once(("normalization", epsilon, shape), given, terms)
    scaled = builder.apply("multiply", x, factors)
    builder.set_output(node, builder.apply("add", scaled, offsets))
