"""Random networks of If, Loop and Scan inside of each other, against ONNX Runtime."""

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

from fbg.importers.net import Net
from fbg.importers.onnx.read import read_model
from helpers.onnx_models import make_model, node, plain_onnxruntime

ROWS, SHAPE = 3, (3, 4)
UNARY = ("Relu", "Neg", "Sigmoid", "Tanh", "Softplus")
MOST_DEPTH = 2


def typed(name, shape=SHAPE, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


class Block:
    """A graph that is being written: the network or one inside of it, which reads from outside."""

    def __init__(self, draw, rng, outside, depth, prefix):
        self.draw, self.rng, self.depth, self.prefix = draw, rng, depth, prefix
        self.values = list(outside)
        self.nodes, self.constants = [], {}

    def name(self):
        """Blocks beside each other use the same names, as they may."""
        return f"{self.prefix}t{len(self.nodes) + len(self.constants)}"

    def pick(self):
        return self.draw(st.sampled_from(self.values[-4:]))

    def constant(self, value):
        name = f"{self.prefix}k{len(self.constants)}"
        self.constants[name] = np.asarray(value)
        return name

    def grow(self, most):
        kinds = ["unary", "binary", "product"]
        kinds += ["choose", "loop", "scan"] if self.depth < MOST_DEPTH else []
        for _ in range(self.draw(st.integers(1, most))):
            kind = self.draw(st.sampled_from(kinds))
            self.values.append(getattr(self, kind)())

    def add(self, op, inputs, **attributes):
        name = self.name()
        self.nodes.append(helper.make_node(op, inputs, [name], name, **attributes))
        return name

    def unary(self):
        return self.add(self.draw(st.sampled_from(UNARY)), [self.pick()])

    def binary(self):
        return self.add(
            self.draw(st.sampled_from(["Add", "Sub", "Mul"])), [self.pick() for _ in "xy"]
        )

    def product(self):
        w = self.constant(self.rng.standard_normal((4, 4)).astype(np.float32) / 4)
        return self.add("MatMul", [self.pick(), w])

    def inside(self, *more):
        block = Block(self.draw, self.rng, [*self.values, *more], self.depth + 1, self.prefix + "i")
        block.grow(3)
        return block

    def graph(self, inputs=(), kept=(), results=None):
        """Return what was written as a graph that ends with its last value."""
        results = results or [typed(self.values[-1])]
        initializers = [numpy_helper.from_array(a, n) for n, a in self.constants.items()]
        nodes = [*kept, *self.nodes]
        return helper.make_graph(nodes, "inside", list(inputs), results, initializers)

    def choose(self):
        condition = self.draw(st.sampled_from(["flag", "true", "false", "computed"]))
        if condition == "computed":
            total = self.add("ReduceMax", [self.pick()], keepdims=0)
            condition = self.add("Greater", [total, self.constant(np.float32(0.5))])
        branches = {side: self.inside().graph() for side in ("then_branch", "else_branch")}
        return self.add("If", [condition], **branches)

    def loop(self):
        trips = self.draw(st.sampled_from(["trips", "two"]))
        state, scope = self.pick(), self.prefix + "l"
        body = self.inside(f"{scope}v")
        counted = [
            typed(f"{scope}i", (), TensorProto.INT64),
            typed(f"{scope}c", (), TensorProto.BOOL),
        ]
        kept = [node("Identity", [f"{scope}c"], f"{scope}on")]
        results = [typed(f"{scope}on", (), TensorProto.BOOL), typed(body.values[-1])]
        inputs = [*counted, typed(f"{scope}v")]
        return self.add("Loop", [trips, "", state], body=body.graph(inputs, kept, results))

    def scan(self):
        """A running sum of functions of rows, which are put together again."""
        scope, x = self.prefix + "s", self.pick()
        rows = [node("Add", [f"{scope}sum", f"{scope}row"], f"{scope}next")]
        for n in range(self.draw(st.integers(1, 2))):
            last = rows[-1].output[0]
            rows.append(node(self.draw(st.sampled_from(UNARY)), [last], f"{scope}r{n}"))
        kept = node("Identity", [f"{scope}next"], f"{scope}carried")
        inputs = [typed(f"{scope}sum", (4,)), typed(f"{scope}row", (4,))]
        results = [typed(f"{scope}carried", (4,)), typed(rows[-1].output[0], (4,))]
        body = helper.make_graph([*rows, kept], "rows", inputs, results)
        start, name = self.constant(np.zeros(4, np.float32)), self.name()
        self.nodes.append(
            helper.make_node(
                "Scan", [start, x], [f"{name}carried", name], name, body=body, num_scan_inputs=1
            )
        )
        return name


@st.composite
def networks(draw):
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    outer = Block(draw, rng, ["x"], 0, "")
    outer.grow(5)
    feeds = [
        {
            "x": rng.standard_normal(SHAPE).astype(np.float32),
            "flag": np.array(flag),
            "trips": np.array(trips),
        }
        for flag, trips in ((True, draw(st.integers(0, 3))), (False, 1))
    ]
    constants = {"true": np.array(True), "false": np.array(False), "two": np.array(2)}
    results = dict.fromkeys({*outer.values[-2:]} - {"x"}, (np.float32, SHAPE))
    return make_model(outer.nodes, feeds[0], results, {**constants, **outer.constants}), feeds


@settings(max_examples=60, suppress_health_check=[HealthCheck.too_slow])
@given(networks())
def test_results_are_those_of_onnxruntime(network):
    model, feeds = network
    net = Net(read_model(model, "test.onnx", None))
    for feed in feeds:
        wanted, got = plain_onnxruntime(model, feed), net.run(feed)
        for value, expected in zip(got.values(), wanted, strict=True):
            np.testing.assert_allclose(value, expected, rtol=1e-4, atol=1e-5)
    assert all(step.backend != "reference" for step in net.plan().steps)
