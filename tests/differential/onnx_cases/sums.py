"""Nodes that add up: products, reductions and normalization; and quantization."""

from __future__ import annotations

import numpy as np

from differential.onnx_cases.draw import draws


def factors(d):
    """Return shapes of two operands of a product; now and then they do not fit."""
    m, k, n = d.size(), d.size(), d.size()
    outer = d.shape(0, 2)
    a = (*outer, m, k)
    b = (*d.partner(outer), k + (d.random.random() < 0.01), n)
    if d.random.random() < 0.1:
        a = (k,)
    return a, (k,) if d.random.random() < 0.1 else b


@draws("MatMul")
def matmul(d, op, version):
    a, b = factors(d)
    dtype = d.one(("float32", "float32", "float32", "float64"))
    return [d.array(dtype, a), d.array(dtype, b)], {}


@draws("Gemm")
def gemm(d, op, version):
    m, k, n = d.size(), d.size(), d.size()
    turned = (d.flag(), d.flag())
    c = d.one(((m, n), (1, n), (m, 1), (n,), (1,), ()))
    optional = 0.6 if version >= 11 else 1.0
    inputs = [
        d.floats(*((k, m) if turned[0] else (m, k))),
        d.floats(*((n, k) if turned[1] else (k, n))),
        d.maybe(d.floats(*c), optional),
    ]
    scales = [d.maybe(round(d.random.uniform(-2, 2), 2)) for _ in range(2)]
    return inputs, {"transA": turned[0], "transB": turned[1], "alpha": scales[0], "beta": scales[1]}


@draws("MatMulInteger")
def matmul_integer(d, op, version):
    a, b = factors(d)
    a_type, b_type = d.one(("uint8", "int8")), d.one(("uint8", "int8"))
    point = d.array(b_type, d.one(((), (), (b[-1],))))
    points = [d.maybe(d.array(a_type, ())), d.maybe(point)]
    return [d.array(a_type, a), d.factor(b_type, b), *points], {}


@draws("QLinearMatMul")
def qlinear_matmul(d, op, version):
    a, b = factors(d)
    a_type, b_type = d.one(("uint8", "int8")), d.one(("uint8", "int8"))
    each = d.one(((), (), (b[-1],)))
    of_a = [d.array(a_type, a), d.positive(), d.array(a_type, ())]
    of_b = [d.factor(b_type, b), d.positive(*each), d.array(b_type, each)]
    return [*of_a, *of_b, d.positive() * 30, d.array(a_type, ())], {}


@draws(
    *("ReduceL1", "ReduceL2", "ReduceLogSum", "ReduceLogSumExp", "ReduceMax", "ReduceMean"),
    *("ReduceMin", "ReduceProd", "ReduceSum", "ReduceSumSquare"),
)
def reduction(d, op, version):
    shape = d.shape()
    if op == "ReduceMean":  # of nothing is not a number to NumPy and PyTorch, but not to all
        shape = tuple(max(size, 1) for size in shape)
    axes = d.maybe(d.axes(len(shape)), 0.7)
    if 0 in shape and axes is not None:  # negative axes of empty tensors are ignored elsewhere
        axes = [axis % len(shape) for axis in axes]
    x = d.floats(*shape) if op != "ReduceLogSum" else d.positive(*shape)
    if op in ("ReduceMax", "ReduceMin", "ReduceProd", "ReduceSum") and 0 not in shape:
        types = ("float32", "float32", "float32", "int32", "int64")
        x = d.array(d.one(types), shape)
        if op == "ReduceProd" and x.dtype.kind == "i":  # onnxruntime saturates what overflows
            x = x % 3
    attributes = {"keepdims": d.flag(), "noop_with_empty_axes": d.flag(), "axes": None}
    if version >= (13 if op == "ReduceSum" else 18):
        return [x, None if axes is None else np.int64(axes)], attributes
    if version < 11:
        axes = None if axes is None else [axis % len(shape) for axis in axes]
    return [x], attributes | {"axes": axes or None}


@draws("Hardmax", "LogSoftmax", "Softmax")
def softmax(d, op, version):
    shape = d.shape(1)
    low = -len(shape) if version >= 11 else 0
    return [d.floats(*shape)], {"axis": d.maybe(d.random.randint(low, len(shape) - 1), 0.8)}


@draws("LayerNormalization")
def layer_norm(d, op, version):
    shape = d.shape(1, 4)
    axis = d.maybe(d.axis(len(shape)), 0.7)
    own = shape[(-1 if axis is None else axis) % len(shape) :]
    inputs = [d.floats(*shape), d.floats(*own), d.maybe(d.floats(*own))]
    return inputs, {"axis": axis, "epsilon": d.maybe(1e-3), "stash_type": d.maybe(1)}


@draws("RMSNormalization")
def rms_norm(d, op, version):
    shape = d.shape(1, 4)
    axis = d.maybe(d.axis(len(shape)), 0.7)
    own = shape[(-1 if axis is None else axis) % len(shape) :]
    attributes = {"axis": axis, "epsilon": d.maybe(1e-3), "stash_type": d.maybe(1)}
    return [d.floats(*shape), d.floats(*own)], attributes


def varied(d, *shape):
    """Return floats that are not alike: a variance of 0 is nothing but rounding elsewhere."""
    noise = d.rng.permutation(int(np.prod(shape))).reshape(shape) / max(np.prod(shape), 1)
    return d.floats(*shape) + np.float32(4) * noise.astype(np.float32)


@draws("GroupNormalization", "InstanceNormalization")
def group_norm(d, op, version):
    batch, channels, *spatial = *d.shape(2, 4)[:4], d.random.randint(2, 6)
    groups = d.one([g for g in (1, 2, 3, channels) if g and channels % g == 0] or [1])
    each = groups if op == "GroupNormalization" and version < 21 else channels
    inputs = [varied(d, batch, channels, *spatial), d.floats(each), d.floats(each)]
    return inputs, {
        "num_groups": groups,
        "epsilon": d.maybe(1e-3),
        "stash_type": d.maybe(1),
    }


@draws("LpNormalization")
def lp_norm(d, op, version):
    shape = d.shape(1, 4)
    return [d.floats(*shape)], {"axis": d.maybe(d.axis(len(shape))), "p": d.one((None, 1, 2))}


@draws("MeanVarianceNormalization")
def mean_variance(d, op, version):
    return [varied(d, *(d.random.randint(2, 6) for _ in range(4)))], {
        "axes": d.maybe(d.one(([0, 2, 3], [0, 1, 2, 3])))
    }


@draws("LRN")
def local_response(d, op, version):
    alpha, beta, bias = (d.maybe(round(d.random.uniform(0.05, 2), 3)) for _ in range(3))
    x = d.floats(d.size(2), *(d.size() for _ in range(3)))
    return [x], {"size": d.one((1, 3, 5)), "alpha": alpha, "beta": beta, "bias": bias}


def scales(d, shape, dtype):
    """Return an axis, scales and zero points: one for the tensor or for each slice."""
    axis = d.axis(len(shape)) if shape and d.random.random() < 0.4 else None
    each = () if axis is None else (shape[axis % len(shape)],)
    point = np.zeros(each, dtype) if dtype == "int32" else d.array(dtype, each)
    return axis, d.positive(*each), d.maybe(point, 0.7)


UNUSED = {"block_size": None, "output_dtype": None, "precision": None}


@draws("QuantizeLinear")
def quantize(d, op, version):
    shape = d.shape()
    axis, scale, point = scales(d, shape, d.one(("uint8", "int8")))
    attributes = UNUSED | {"axis": axis, "saturate": d.maybe(1, 0.3)}
    return [d.floats(*shape), scale, point], attributes


@draws("DequantizeLinear")
def dequantize(d, op, version):
    shape, dtype = d.shape(), d.one(("uint8", "int8", "int32"))
    axis, scale, point = scales(d, shape, dtype)
    return [d.array(dtype, shape), scale, point], UNUSED | {"axis": axis}


@draws("DynamicQuantizeLinear")
def dynamic(d, op, version):
    return [d.floats(*d.shape())], {"": 3}
