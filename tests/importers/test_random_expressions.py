"""Random expressions of elements behind every kind of producer, against ONNX Runtime."""

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import fbg
from helpers.onnx_models import make_model, make_net, node, plain_onnxruntime

PRODUCERS = ("conv", "pointwise", "depthwise", "grouped", "strided", "transposed", "linear")
OTHERS = ("pool", "average", "norm", "reduction", "softmax", "nothing")
SAME = ("Relu", "Sigmoid", "Tanh", "HardSwish", "HardSigmoid", "LeakyRelu", "Abs", "Neg", "Erf")
MADE = ("Softplus", "Elu", "Mish", "Selu", "Celu", "Softsign")  # of other functions
UNARY = (*SAME, *MADE, "Clip", "Sqrt", "Exp", "Log", "Reciprocal")
COMPARISONS = ("Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal")
ROUNDINGS = ("Floor", "Ceil", "Round", "Sign")
BINARY = ("Add", "Sub", "Mul", "Div", "Max", "Min")
CHANNELS = 12


class Writer:
    """A network that ends with an expression of what a producer computes."""

    def __init__(self, draw):
        self.draw = draw
        self.rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
        self.nodes, self.constants, self.values = [], {}, []
        self.feeds = {"x": self.array(1, CHANNELS, 6, draw(st.sampled_from([4, 9])))}

    def array(self, *shape):
        return self.rng.standard_normal(shape).astype(np.float32)

    def constant(self, array):
        name = f"k{len(self.constants)}"
        self.constants[name] = np.asarray(array, np.float32)
        return name

    def add(self, op, inputs, **attributes):
        name = f"t{len(self.nodes)}"
        self.nodes.append(node(op, inputs, name, **attributes))
        return name

    def produce(self, kind):
        """Append a producer; returns its result, whose channels are along axis 1."""
        c = CHANNELS
        sizes = {"conv": (3, 1), "pointwise": (1, 1), "depthwise": (3, c), "grouped": (3, 3)}
        size, groups = sizes.get(kind, (3, 1))
        weights = self.array(c, c // groups, size, size) / np.float32(size * np.sqrt(c // groups))
        pads = [size // 2] * 4
        if kind in sizes or kind in ("strided", "transposed"):
            op = "ConvTranspose" if kind == "transposed" else "Conv"
            strides = [1, 1] if kind in sizes else [2, 2]
            inputs = ["x", self.constant(weights), self.constant(self.array(c))]
            return self.add(op, inputs, group=groups, pads=pads, strides=strides)
        if kind == "linear":
            x = self.add("Transpose", ["x"], perm=[0, 2, 3, 1])
            y = self.add("MatMul", [x, self.constant(self.array(c, c) / 3)])
            return self.add("Transpose", [y], perm=[0, 3, 1, 2])
        if kind in ("pool", "average"):
            op = "MaxPool" if kind == "pool" else "AveragePool"
            return self.add(op, ["x"], kernel_shape=[2, 2])
        if kind == "norm":
            width = self.feeds["x"].shape[-1]
            scale = [self.constant(self.array(width)) for _ in range(2)]
            return self.add("LayerNormalization", ["x", *scale], axis=-1)
        if kind == "reduction":
            axes = f"axes{len(self.constants)}"
            self.constants[axes] = np.array([2, 3])
            return self.add("ReduceMean", ["x", axes], keepdims=1)
        return self.add("Softmax", ["x"], axis=-1) if kind == "softmax" else "x"

    def operand(self, shape):
        """Return an operand that broadcasts to the result of the producer."""
        kind = self.draw(
            st.sampled_from(["value", "value", "number", "channels", "tensor", "gate", "rounded"])
        )
        if kind == "value":
            return self.draw(st.sampled_from(self.values))
        if kind == "number":
            return self.constant(self.draw(st.sampled_from([-1.5, 0.5, 3.0, 6.0])))
        if kind == "channels":
            return self.constant(self.array(shape[1], 1, 1))
        name = self.feed((*shape[:2], 1, 1) if kind == "gate" else shape)
        return (
            self.add(self.draw(st.sampled_from(ROUNDINGS)), [name]) if kind == "rounded" else name
        )

    def feed(self, shape):
        name = f"in{len(self.feeds)}"
        self.feeds[name] = self.array(*shape)
        return name

    def choice(self, x, shape):
        """Append a choice by the numbers of an input, whose comparison is exact."""
        numbers = [self.feed(shape), self.constant(self.draw(st.sampled_from([-0.5, 0.0, 0.7])))]
        where = self.add(self.draw(st.sampled_from(COMPARISONS)), numbers)
        if self.draw(st.booleans()):
            where = self.add("Not", [where])
        return self.add("Where", [where, x, self.draw(st.sampled_from(self.values))])

    def step(self, shape):
        """Append a node of the expression; values stay small."""
        op = self.draw(st.sampled_from([*UNARY, *BINARY, *BINARY, "Where"]))
        x = self.draw(st.sampled_from(self.values))
        if op == "Where":
            y = self.choice(x, shape)
        elif op in BINARY:
            other = self.operand(shape)
            if op == "Div":
                other = self.add("Max", [self.add("Abs", [other]), self.constant(0.5)])
            pair = (x, other) if self.draw(st.booleans()) or op == "Div" else (other, x)
            y = self.add(op, pair)
            if op in ("Mul", "Div"):
                bounds = [self.constant(-20), self.constant(20)]
                y = self.add("Clip", [y, *bounds])
        elif op == "Clip":
            y = self.add(op, [x, self.constant(-0.7), self.constant(1.1)])
        elif op in ("Sqrt", "Reciprocal", "Log"):
            low = self.add("Max", [self.add("Abs", [x]), self.constant(0.3)])
            y = self.add(op, [low])
        elif op == "Exp":
            y = self.add(op, [self.add("Min", [x, self.constant(2)])])
        else:
            y = self.add(op, [x])
        self.values.append(y)


@st.composite
def networks(draw, producers):
    """A model, its constants and feeds."""
    writer = Writer(draw)
    y = writer.produce(draw(st.sampled_from(producers)))
    first = make_model(
        writer.nodes or [node("Identity", ["x"], "t0")],
        writer.feeds,
        [y if writer.nodes else "t0"],
        writer.constants,
    )
    shape = plain_onnxruntime(first, {"x": writer.feeds["x"]})[0].shape
    writer.values = [y]
    for _ in range(draw(st.integers(1, 12))):
        writer.step(shape)
    return writer, writer.values[-1]


def expect_same(writer, y):
    model = make_model(writer.nodes, writer.feeds, [y], writer.constants)
    wanted = plain_onnxruntime(model, writer.feeds)[0]
    scale = max(1.0, np.abs(wanted).max())
    for isa in fbg.isa.supported():
        with fbg.isa.limit(isa):
            results = []
            for threads in (1, 2):
                net = make_net(
                    writer.nodes, writer.feeds, [y], writer.constants, num_threads=threads
                )
                results.append(net.run(writer.feeds)[y])
        np.testing.assert_allclose(results[0], wanted, rtol=1e-4, atol=2e-4 * scale)
        assert results[0].tobytes() == results[1].tobytes()


@settings(max_examples=40, suppress_health_check=list(HealthCheck), deadline=None)
@given(networks(PRODUCERS))
def test_expressions_behind_products(drawn):
    expect_same(*drawn)


@settings(max_examples=25, suppress_health_check=list(HealthCheck), deadline=None)
@given(networks(OTHERS))
def test_expressions_behind_other_producers(drawn):
    expect_same(*drawn)
