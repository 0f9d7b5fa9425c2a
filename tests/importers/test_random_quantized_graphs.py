"""Random networks of quantized operators: the same bits as `onnx.reference`.

All scales are powers of two and all sums are small, so that every product, sum and quotient is
exact in float32: the specification then leaves a single result. In QLinearConv and QLinearMatMul,
zero points are even, because the reference adds them before it rounds halves to even, where the
text of the specification rounds first; for even ones that is the same. (Scales of any value are
tested operator by operator in test_random_integers.py.)
"""

import warnings
from dataclasses import dataclass

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import helper
from onnx.reference import ReferenceEvaluator

import fbg
from fbg.importers.net import Net
from fbg.importers.onnx.read import read_model
from helpers.onnx_models import make_model


@dataclass(frozen=True)
class Tensor:
    """Integers of a network, and the names of their scale and zero point."""

    name: str
    shape: tuple[int, ...]
    scale: str
    zero_point: str


class Writer:
    """Appends random layers from integers to integers."""

    def __init__(self, draw):
        self.draw = draw
        self.rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
        self.nodes, self.constants = [], {}
        self.shape = (draw(st.integers(1, 2)), draw(st.integers(1, 6)), 4, 4)
        self.tensors = []
        self.quantize("x", self.shape)

    def op(self, kind, *inputs, **attributes):
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [name], name, **attributes))
        return name

    def constant(self, values):
        name = f"k{len(self.constants)}"
        self.constants[name] = values
        return name

    def parameters(self, low=-5, high=-2):
        """Names of a scale and of a zero point, of uint8 or int8."""
        dtype = self.draw(st.sampled_from([np.uint8, np.int8]))
        point = 2 * self.draw(st.integers(0, 100)) - (0 if dtype is np.uint8 else 100)
        scale = np.float32(2.0 ** self.draw(st.integers(low, high)))
        return self.constant(scale), self.constant(dtype(point))

    def quantize(self, name, shape, parameters=None):
        scale, point = parameters or self.parameters()
        q = self.op("QuantizeLinear", name, scale, point)
        self.tensors.append(Tensor(q, tuple(shape), scale, point))

    def result(self, name, shape, parameters):
        self.tensors.append(Tensor(name, tuple(shape), *parameters))

    def pick(self):
        return self.draw(st.sampled_from(self.tensors[-4:]))

    def real(self, tensor):
        return self.op("DequantizeLinear", tensor.name, tensor.scale, tensor.zero_point)

    def weights(self, *shape):
        """Names of int8 weights, of a scale for each channel and of their zero points."""
        q = self.rng.integers(-127, 128, shape, dtype=np.int8)
        scales = 2.0 ** self.rng.integers(-8, -5, shape[0])
        zeros = np.zeros(shape[0], np.int8)
        return self.constant(q), self.constant(scales.astype(np.float32)), self.constant(zeros)

    # Layers ------------------------------------------------------------------------------------

    def conv(self):
        x = self.pick()
        n, c, h, w = x.shape
        k = self.draw(st.sampled_from([1, 3]))
        groups = self.draw(st.sampled_from([g for g in (1, 2, c) if c % g == 0]))
        outputs = groups * self.draw(st.integers(1, 3))
        q, scale, zero = self.weights(outputs, c // groups, k, k)
        geometry = {"group": groups, "pads": [k // 2] * 4}
        shape = (n, outputs, h, w)
        kind = self.draw(st.sampled_from(["qdq", "qlinear", "integer"]))
        if kind == "qdq":
            y = self.op("Conv", self.real(x), self.op("DequantizeLinear", q, scale, axis=0))
            self.nodes[-1].attribute.extend(helper.make_node("", [], [], **geometry).attribute)
            same = [t for t in self.tensors if t.shape == shape]
            if same and self.draw(st.booleans()):
                y = self.op("Add", y, self.real(self.draw(st.sampled_from(same))))
            if self.draw(st.booleans()):
                y = self.op("Relu", y)
            self.quantize(y, shape)
        elif kind == "qlinear":
            parameters = self.parameters()
            inputs = [x.name, x.scale, x.zero_point, q, scale, zero, *parameters]
            if self.draw(st.booleans()):
                bias = self.rng.integers(-3000, 3000, outputs, dtype=np.int32)
                inputs.append(self.constant(bias))
            self.result(self.op("QLinearConv", *inputs, **geometry), shape, parameters)
        else:
            sums = self.op("ConvInteger", x.name, q, x.zero_point, **geometry)
            self.scaled(sums, shape)

    def scaled(self, sums, shape):
        """int32 sums as a tensor: to float32, times a power of two."""
        real = self.op("Cast", sums, to=1)
        factor = self.constant(np.float32(2.0 ** self.draw(st.integers(-13, -10))))
        self.quantize(self.op("Mul", real, factor), shape)

    def product(self):
        x = self.pick()
        depth, outputs = x.shape[-1], self.draw(st.integers(1, 8))
        shape = (*x.shape[:-1], outputs)
        q = self.constant(self.rng.integers(-127, 128, (depth, outputs), dtype=np.int8))
        scale, zero = self.constant(np.float32(2.0**-7)), self.constant(np.int8(0))
        kind = self.draw(st.sampled_from(["qdq", "qlinear", "integer"]))
        if kind == "qdq":
            w = self.op("DequantizeLinear", q, scale, zero)
            self.quantize(self.op("MatMul", self.real(x), w), shape)
        elif kind == "qlinear":
            parameters = self.parameters()
            inputs = [x.name, x.scale, x.zero_point, q, scale, zero, *parameters]
            self.result(self.op("QLinearMatMul", *inputs), shape, parameters)
        else:
            self.scaled(self.op("MatMulInteger", x.name, q, x.zero_point), shape)

    def binary(self):
        x = self.pick()
        same = [tensor for tensor in self.tensors if tensor.shape == x.shape]
        y = self.draw(st.sampled_from(same))
        kind = self.draw(st.sampled_from(["Add", "Sub", "Mul", "Max"]))
        self.quantize(self.op(kind, self.real(x), self.real(y)), x.shape)

    def unary(self):
        x = self.pick()
        kind = self.draw(st.sampled_from(["Relu", "Neg", "Abs", "LeakyRelu"]))
        more = {"alpha": 0.25} if kind == "LeakyRelu" else {}
        self.quantize(self.op(kind, self.real(x), **more), x.shape)

    def pool(self):
        x = self.pick()
        n, c, h, w = x.shape
        if h % 2 or w % 2:
            return
        window = {"kernel_shape": [2, 2], "strides": [2, 2]}
        shape, kind = (n, c, h // 2, w // 2), self.draw(st.sampled_from(["max", "mean", "bytes"]))
        if kind == "bytes":
            self.result(self.op("MaxPool", x.name, **window), shape, (x.scale, x.zero_point))
        elif kind == "max":
            y = self.op("MaxPool", self.real(x), **window)
            self.quantize(y, shape, (x.scale, x.zero_point))
        else:
            self.quantize(self.op("AveragePool", self.real(x), **window), shape)

    def move(self):
        x = self.pick()
        own = (x.scale, x.zero_point)
        perm = self.draw(st.permutations(range(4)))
        shape = [x.shape[axis] for axis in perm]
        if self.draw(st.booleans()):
            self.result(self.op("Transpose", x.name, perm=perm), shape, own)
        else:
            self.quantize(self.op("Transpose", self.real(x), perm=perm), shape, own)

    def join(self):
        x = self.pick()
        fitting = [
            t for t in self.tensors if (t.shape[0], *t.shape[2:]) == (x.shape[0], *x.shape[2:])
        ]
        y = self.draw(st.sampled_from(fitting))
        shape = (x.shape[0], x.shape[1] + y.shape[1], *x.shape[2:])
        self.quantize(self.op("Concat", self.real(x), self.real(y), axis=1), shape)


KINDS = [
    *(Writer.conv, Writer.conv, Writer.conv, Writer.product, Writer.binary, Writer.unary),
    *(Writer.pool, Writer.move, Writer.join),
]


@st.composite
def networks(draw):
    writer = Writer(draw)
    for kind in draw(st.lists(st.sampled_from(KINDS), min_size=2, max_size=12)):
        if np.prod(writer.tensors[-1].shape) < 2**12 and len(writer.nodes) < 28:
            kind(writer)
    read = {name for node in writer.nodes for name in node.input}
    outputs = [t.name for t in writer.tensors if t.name not in read] or [writer.tensors[-1].name]
    x = writer.rng.uniform(-6, 6, writer.shape).astype(np.float32)
    return make_model(writer.nodes, {"x": x}, outputs, writer.constants, opset=21), x


@settings(max_examples=200, deadline=None, suppress_health_check=list(HealthCheck))
@given(networks(), st.sampled_from(fbg.isa.supported()), st.integers(1, 2))
def test_random_quantized_networks_have_the_bits_of_the_reference(case, isa, threads):
    model, x = case
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wanted = ReferenceEvaluator(model).run(None, {"x": x})
    with fbg.isa.limit(isa):
        net = Net(read_model(model, "random", None), backends=("fbg",), num_threads=threads)
        results = net.run({"x": x})
    for y, other in zip(results.values(), wanted, strict=True):
        assert y.dtype == other.dtype
        np.testing.assert_array_equal(y, other)
