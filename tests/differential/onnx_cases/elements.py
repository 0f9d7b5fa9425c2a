"""Functions of elements, of one tensor or of several that are broadcast."""

from __future__ import annotations

import numpy as np
import onnx

from differential.onnx_cases.draw import draws

NUMBERS = ("float32", "float32", "float32", "float32", "int32", "int64", "float64")


@draws(
    *("Ceil", "Cos", "Erf", "Exp", "Floor", "HardSwish", "Log", "Mish", "Reciprocal", "Relu"),
    *("Round", "Sigmoid", "Sin", "Softplus", "Softsign", "Sqrt", "Tanh", "Acos", "Acosh", "Asin"),
    *("Asinh", "Atan", "Atanh", "Cosh", "Sinh", "Tan"),
)
def unary(d, op, version):
    return [d.floats(*d.shape())], {}


@draws("Abs", "Neg", "Sign")
def exact(d, op, version):
    return [d.array(d.one((*NUMBERS, "int8", "uint8", "int16")), d.shape())], {}


@draws("IsInf", "IsNaN")
def special(d, op, version):
    x = d.floats(*d.shape())
    kind = d.rng.integers(0, 5, x.shape)
    for number, value in enumerate((np.nan, np.inf, -np.inf)):
        x = np.where(kind == number, np.float32(value), x)
    positive, negative = d.flag(), d.flag()
    return [x], {"detect_positive": positive, "detect_negative": negative}


@draws("Shrink")
def shrink(d, op, version):
    lambd, bias = (d.maybe(round(d.random.uniform(0.05, 1), 3)) for _ in range(2))
    return [d.floats(*d.shape())], {"lambd": lambd, "bias": bias}


@draws("Celu", "Elu", "HardSigmoid", "LeakyRelu", "Selu", "Swish", "ThresholdedRelu")
def with_parameters(d, op, version):
    a, b, c = (d.maybe(round(d.random.uniform(-2, 2), 3)) for _ in range(3))
    return [d.floats(*d.shape())], {"alpha": a, "beta": b, "gamma": c}


@draws("Gelu")
def gelu(d, op, version):
    return [d.floats(*d.shape())], {"approximate": d.one((None, "none", "tanh"))}


@draws("Add", "Div", "Equal", "Greater", "GreaterOrEqual", "Less", "LessOrEqual", "Mul", "Sub")
def binary(d, op, version):
    shape, dtype = d.shape(), d.one(NUMBERS)
    a, b = d.array(dtype, shape), d.array(dtype, d.partner(shape))
    if op == "Div":
        b = b + (b == 0).astype(b.dtype)
    return ([a, b] if d.random.random() < 0.5 or op == "Div" else [b, a]), {}


@draws("Pow")
def power(d, op, version):
    shape = d.shape()
    x = d.floats(*shape)
    y = d.floats(*d.partner(shape)).round() if d.flag() else d.floats()
    return [abs(x) if d.flag() else x, y], {}


@draws("Mod")
def modulo(d, op, version):
    shape, dtype = d.shape(), d.one((*NUMBERS, "int8", "uint16"))
    a, b = d.array(dtype, shape), d.array(dtype, d.partner(shape))
    fmod = 1 if np.dtype(dtype).kind == "f" else d.flag()
    return [a, b + (b == 0).astype(b.dtype)], {"fmod": fmod}


@draws("And", "Or", "Xor", "Not")
def logical(d, op, version):
    shape = d.shape()
    others = [] if op == "Not" else [d.array("bool", d.partner(shape))]
    return [d.array("bool", shape), *others], {}


@draws("BitwiseAnd", "BitwiseNot", "BitwiseOr", "BitwiseXor", "BitShift")
def bits(d, op, version):
    shape = d.shape()
    dtype = d.one(("uint8", "uint16", "uint32", "uint64", "int8", "int32", "int64"))
    dtype = dtype if op != "BitShift" else d.one(("uint8", "uint32", "uint64"))
    a, b = d.array(dtype, shape), d.array(dtype, d.partner(shape))
    if op == "BitShift":
        b = b % np.asarray(8 * b.itemsize, b.dtype)
    inputs = [a] if op == "BitwiseNot" else [a, b]
    return inputs, {"direction": d.one(("LEFT", "RIGHT"))}


@draws("Where")
def where(d, op, version):
    shape = d.shape()
    dtype = d.one((*NUMBERS, "uint8", "int8", "bool"))
    a, b = (d.array(dtype, d.partner(shape)) for _ in range(2))
    return [d.array("bool", shape), a, b], {}


@draws("CastLike")
def cast_like(d, op, version):
    types = ("float32", "float32", "uint8", "int8", "int32", "int64", "bool", "float16", "float64")
    x = d.array(d.one(types), d.shape())
    like = d.array(d.one(types), ())
    return [abs(x) if x.dtype.kind == "f" else x, like], {"saturate": None, "round_mode": None}


@draws("PRelu")
def prelu(d, op, version):
    shape = d.shape(1)
    kept = shape[d.random.randint(0, len(shape)) :]
    return [d.floats(*shape), d.floats(*(1 if d.flag() else size for size in kept))], {}


@draws("Max", "Mean", "Min", "Sum")
def variadic(d, op, version):
    shape = d.shape()
    dtype = d.one(NUMBERS) if op in ("Max", "Min") and version >= 12 else "float32"
    own = [d.partner(shape) if d.flag() and version >= 8 else shape for _ in range(4)]
    return [d.array(dtype, own[i]) for i in range(d.random.randint(1, 4))], {}


@draws("Clip")
def clip(d, op, version):
    low, high = (
        d.maybe(round(d.random.uniform(-2, 0.5), 2)),
        d.maybe(round(d.random.uniform(0, 2), 2)),
    )
    dtype = d.one(("float32", "float32", "float32", "uint8", "int8", "int32", "float64"))
    if version < 11:
        return [d.floats(*d.shape())], {"min": low, "max": high}
    dtype = dtype if version >= 12 else "float32"
    return [d.array(dtype, d.shape()), *(d.maybe(d.array(dtype, ())) for _ in range(2))], {
        "min": None,
        "max": None,
    }


@draws("Cast")
def cast(d, op, version):
    types = ("float32", "float32", "uint8", "int8", "int32", "int64", "bool", "float16", "float64")
    names = {"float32": "FLOAT", "float64": "DOUBLE"}
    wanted = d.one(types)
    target = getattr(onnx.TensorProto, names.get(wanted, wanted.upper()))
    x = d.array(d.one(types), d.shape())
    return [abs(x) if x.dtype.kind == "f" else x], {
        "to": target,
        "saturate": d.maybe(1, 0.3),
        "round_mode": None,
    }


@draws("BatchNormalization")
def batch_norm(d, op, version):
    shape = d.shape(2, 5)
    c = shape[1]
    inputs = [d.floats(*shape), d.floats(c), d.floats(c), d.floats(c), d.positive(c)]
    return inputs, {
        "epsilon": d.maybe(1e-3),
        "momentum": d.maybe(0.5),
        "spatial": d.maybe(1),
        "training_mode": d.maybe(0, 0.3),
        "is_test": None,
    }
