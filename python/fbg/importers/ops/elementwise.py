"""Functions of elements: each extends a deferred program, or the epilogue of a convolution."""

from __future__ import annotations

import numpy as np

from fbg import _fbg
from fbg.importers.backends.base import Op, Unsupported
from fbg.importers.ops.builder import Builder
from fbg.importers.ops.convolution import extend_conv, fold_into_conv, join_residual
from fbg.importers.ops.movement import reshaped
from fbg.importers.ops.registry import BYTES, FLOAT, op
from fbg.importers.ops.stacked import extend_scores
from fbg.importers.ops.value import Value

__all__ = ["combine", "unary"]

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


def unary(builder: Builder, value: Value, function: str, c0: float = 0.0, c1: float = 0.0) -> Value:
    """Return function(value): part of the epilogue of a convolution where that is possible."""
    fused = extend_conv(value, function, c0, c1)
    return fused if fused is not None else builder.apply(function, [value], c0, c1)


def combine(builder: Builder, function: str, a: Value, b: Value) -> Value:
    """Return function(a, b): part of a product before it where that is possible."""
    fused = extend_scores(function, a, b)
    if fused is not None:
        return fused
    if (constant := b.constant) is not None:
        fused = fold_into_conv(builder.packer, a, function, constant)
    elif (constant := a.constant) is not None and function in ("add", "multiply"):
        fused = fold_into_conv(builder.packer, b, function, constant)
    elif function == "add":
        fused = join_residual(builder, a, b) or join_residual(builder, b, a)
    return fused if fused is not None else builder.apply(function, [a, b])


@op(*_UNARY)
def build_unary(builder: Builder, node: Op) -> None:
    """y = f(x)."""
    builder.set_output(node, unary(builder, builder.input(node, 0), _UNARY[node.node.op]))


@op(*_WITH_ATTRIBUTES)
def build_with_attributes(builder: Builder, node: Op) -> None:
    """y = f(x), with parameters."""
    function, defaults = _WITH_ATTRIBUTES[node.node.op]
    parameters = [float(node.attribute(name, default)) for name, default in defaults]
    builder.set_output(node, unary(builder, builder.input(node, 0), function, *parameters))


@op("Gelu")
def build_gelu(builder: Builder, node: Op) -> None:
    """GELU, exact or by tanh."""
    exact = node.attribute("approximate", "none") == "none"
    function = "gelu" if exact else "gelu_tanh"
    builder.set_output(node, unary(builder, builder.input(node, 0), function))


@op("Swish")
def build_swish(builder: Builder, node: Op) -> None:
    """x sigmoid(alpha x)."""
    x, alpha = builder.input(node, 0), node.attribute("alpha", 1.0)
    if alpha == 1.0:
        return builder.set_output(node, unary(builder, x, "silu"))
    inner = builder.apply("sigmoid", [builder.apply("affine", [x], alpha, 0.0)])
    builder.set_output(node, builder.apply("multiply", [x, inner]))


@op("Clip", types=(*FLOAT, *BYTES), constants=(1, 2))
def build_clip(builder: Builder, node: Op) -> None:
    """min(max(x, lo), hi); bounds are attributes before version 11 and inputs later."""
    low, high = node.attribute("min", -np.inf), node.attribute("max", np.inf)
    x = builder.input(node, 0)
    if (given := node.constant(1)) is not None:
        low = given.item()
    if (given := node.constant(2)) is not None:
        high = given.item()
    if x.dtype == np.float32:
        builder.set_output(node, unary(builder, x, "clip", low, high))
    else:
        builder.set_output(node, builder.apply("clip", [x], low, high, dtype=x.dtype))


@op(*_BINARY)
def build_binary(builder: Builder, node: Op) -> None:
    """f(a, b) with broadcasting; a residual joins the epilogue of a convolution."""
    if "axis" in node.node.attributes:
        raise Unsupported(node.node.name, "broadcasting of operator set 6")
    if node.input_type(1).dtype != np.float32:
        raise Unsupported(node.node.name, "both operands must be float32")
    a, b = builder.input(node, 0), builder.input(node, 1)
    if node.node.op == "PRelu" and node.node.version < 7 and b.is_constant:
        b = reshaped(builder, b, (-1, *[1] * (len(a.shape) - 2)))
    builder.set_output(node, combine(builder, _BINARY[node.node.op], a, b))


@op("Max", "Min", "Sum", "Mean")
def build_variadic(builder: Builder, node: Op) -> None:
    """A function of any number of operands, from the left to the right."""
    function = {"Max": "maximum", "Min": "minimum"}.get(node.node.op, "add")
    result = builder.input(node, 0)
    for i in range(1, len(node.node.inputs)):
        result = builder.apply(function, [result, builder.input(node, i)])
    count = len(node.node.inputs)
    if node.node.op == "Mean":
        result = builder.apply("affine", [result], 1.0 / count, 0.0)
    elif count == 1:
        result = builder.apply("affine", [result], 1.0, 0.0)
    builder.set_output(node, result)


@op(*_COMPARISONS)
def build_comparison(builder: Builder, node: Op) -> None:
    """a < b and the like, as bool."""
    function = _COMPARISONS[node.node.op]
    operands = [builder.input(node, 0), builder.input(node, 1)]
    builder.set_output(node, builder.apply(function, operands, dtype=np.bool_))


@op("Cast", types=(*FLOAT, "uint8", "int8", "int32", "int64", "bool"))
def build_cast(builder: Builder, node: Op) -> None:
    """To float32, and from int64 to int32; other targets are left to other back ends."""
    target = node.types[node.node.outputs[0]].dtype
    value = builder.input(node, 0)
    if target == value.dtype:
        builder.set_output(node, builder.alias(value, value.shape, value.order))
    elif value.dtype == np.int64 and target == np.float32:
        buffer = _fbg.tensor_int64_to_float(builder.graph, builder.buffer(value))
        result = Value(value.shape, target, value.order, buffer=builder.append(buffer))
        builder.set_output(node, result)
    elif value.dtype == np.int64 and target == np.int32:
        lower: list[tuple[int, int, int, list[int]]] = [(value.size, 1, 2, [])]  # of two words
        buffer = builder.buffer(value)
        part = (0, 0, 0, lower)
        buffer = _fbg.tensor_arrange(builder.graph, [buffer], value.size, 4, [part])
        result = Value(value.shape, target, value.order, buffer=builder.append(buffer))
        result.origin = value.origin
        builder.set_output(node, result)
    elif target == np.float32:
        builder.set_output(node, builder.apply("affine", [value], 1.0, 0.0))
    else:
        raise Unsupported(node.node.name, f"to {target}")


@op("BatchNormalization", constants=(1, 2, 3, 4))
def build_batch_norm(builder: Builder, node: Op) -> None:
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
        return [builder.from_constant(v.astype(np.float32).reshape(shape)) for v in made]

    factors, offsets = builder.packer.once(("normalization", epsilon, shape), given, terms)
    builder.set_output(
        node, combine(builder, "add", combine(builder, "multiply", x, factors), offsets)
    )
