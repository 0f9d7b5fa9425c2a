"""Random networks, and random expressions behind every kind of producer, against ONNX Runtime."""

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from onnx import helper

import fbg
import fbg.graph.lower.products as lowered
from fbg.importers.linear_branches import join_branches
from fbg.importers.net import Net
from fbg.importers.onnx.read import read_model
from fbg.importers.passes import drop_identities, fold_batch_norm
from helpers.onnx_models import make_model, make_net, node, plain_onnxruntime
from helpers.ways import rounding, widening

# Random networks of operators that fbg computes, against ONNX Runtime.

SPATIAL = [(1, 1), (5, 4), (8, 8), (7, 12)]


class Writer:
    """Appends random operators to a network; shapes are known all the time."""

    def __init__(self, draw):
        self.draw = draw
        self.rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
        self.nodes, self.constants = [], {}
        shape = (draw(st.integers(1, 2)), draw(st.integers(1, 9)), *draw(st.sampled_from(SPATIAL)))
        self.shapes = {"x": shape}

    def constant(self, *shape, positive=False):
        name = f"k{len(self.constants)}"
        values = self.rng.standard_normal(shape).astype(np.float32)
        self.constants[name] = np.abs(values) + np.float32(0.5) if positive else values
        return name

    def integers(self, *values):
        name = f"k{len(self.constants)}"
        self.constants[name] = np.array(values, np.int64)
        return name

    def add(self, op, inputs, shape, **attributes):
        name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name, **attributes))
        self.shapes[name] = tuple(shape)

    def pick(self, rank=4):
        names = [name for name, shape in self.shapes.items() if len(shape) == rank]
        return self.draw(st.sampled_from(names[-4:]))

    def conv(self):
        x = self.pick()
        n, c, *spatial = self.shapes[x]
        kernel = [self.draw(st.sampled_from([1, 2, 3])) for _ in spatial]
        stride = [self.draw(st.integers(1, 2)) for _ in spatial]
        pads = [self.draw(st.integers(0, 2)) for _ in range(4)]
        groups = self.draw(st.sampled_from([g for g in (1, 2, c) if c % g == 0]))
        outputs = groups * self.draw(st.integers(1, 5))
        output = [
            (size + pads[i] + pads[2 + i] - kernel[i]) // stride[i] + 1
            for i, size in enumerate(spatial)
        ]
        if min(output) < 1:
            return
        inputs = [x, self.constant(outputs, c // groups, *kernel)]
        if self.draw(st.booleans()):
            inputs.append(self.constant(outputs))
        self.add("Conv", inputs, (n, outputs, *output), group=groups, pads=pads, strides=stride)

    def unary(self):
        x = self.pick(self.draw(st.sampled_from([len(s) for s in self.shapes.values()])))
        ops = ["Relu", "Sigmoid", "Tanh", "HardSwish", "Neg", "Abs", "LeakyRelu", "Softplus", "Elu"]
        self.add(self.draw(st.sampled_from(ops)), [x], self.shapes[x])

    def binary(self):
        x = self.pick()
        n, c, h, w = self.shapes[x]
        same = [name for name, shape in self.shapes.items() if shape == self.shapes[x]]
        other = self.draw(st.sampled_from(["same", "channel", "scalar", "row", "image"]))
        y = {
            "same": lambda: self.draw(st.sampled_from(same)),
            "channel": lambda: self.constant(c, 1, 1, positive=True),
            "scalar": lambda: self.constant(positive=True),
            "row": lambda: self.constant(1, 1, h, w, positive=True),
            "image": lambda: self.constant(n, c, h, w, positive=True),
        }[other]()
        op = self.draw(st.sampled_from(["Add", "Sub", "Mul", *(["Div"] * (other != "same"))]))
        self.add(op, [x, y], self.shapes[x])

    def batch_norm(self):
        x = self.pick()
        c = self.shapes[x][1]
        names = [self.constant(c, positive=i in (0, 3)) for i in range(4)]
        self.add("BatchNormalization", [x, *names], self.shapes[x])

    def pool(self):
        x = self.pick()
        n, c, h, w = self.shapes[x]
        if min(h, w) < 2:
            return
        op = self.draw(st.sampled_from(["MaxPool", "AveragePool", "GlobalAveragePool"]))
        if op == "GlobalAveragePool":
            self.add(op, [x], (n, c, 1, 1))
        else:
            window = {"kernel_shape": [2, 2], "strides": [2, 1]}
            self.add(op, [x], (n, c, (h - 2) // 2 + 1, w - 1), **window)

    def move(self):
        x = self.pick()
        n, c, h, w = self.shapes[x]
        kind = self.draw(st.sampled_from(["transpose", "reshape", "slice", "pad", "concat"]))
        if kind == "transpose":
            perm = self.draw(st.permutations(range(4)))
            shape = [self.shapes[x][axis] for axis in perm]
            self.add("Transpose", [x], shape, perm=perm)
        elif kind == "reshape":
            shape = self.draw(st.sampled_from([(n, c * h, w, 1), (n, h, c, w), (1, n * c, w, h)]))
            self.add("Reshape", [x, self.integers(*shape)], shape)
        elif kind == "slice":
            start = self.draw(st.integers(0, w - 1))
            inputs = [x, *(self.integers(v) for v in (start, w, 3))]
            self.add("Slice", inputs, (n, c, h, w - start))
        elif kind == "pad":
            pads = [0, self.draw(st.integers(0, 1)), 1, 0, 0, 0, self.draw(st.integers(0, 2)), 1]
            shape = [s + pads[i] + pads[4 + i] for i, s in enumerate(self.shapes[x])]
            self.add("Pad", [x, self.integers(*pads)], shape)
        else:
            others = [s for s in self.shapes if self.shapes[s][2:] == (h, w)]
            others = [s for s in others if len(self.shapes[s]) == 4 and self.shapes[s][0] == n]
            y = self.draw(st.sampled_from(others))
            self.add("Concat", [x, y], (n, c + self.shapes[y][1], h, w), axis=1)

    def product(self):
        x = self.pick()
        w = self.shapes[x][3]
        outputs = self.draw(st.integers(1, 6))
        self.add("MatMul", [x, self.constant(w, outputs)], (*self.shapes[x][:3], outputs))

    def identity(self):
        x = self.pick()
        self.add(self.draw(st.sampled_from(["Identity", "Dropout"])), [x], self.shapes[x])

    def subgraph(self):
        """What exporters write for GELU and SiLU."""
        x = self.pick()
        shape = self.shapes[x]
        if self.draw(st.booleans()):
            steps = [("Sigmoid", ["{x}"]), ("Mul", ["{x}", "{last}"])]
        else:
            numbers = {"a": 2**0.5, "b": 1.0, "c": 0.5}
            self.constants |= {name: np.array(v, np.float32) for name, v in numbers.items()}
            steps = [("Div", ["{x}", "a"]), ("Erf", ["{last}"]), ("Add", ["{last}", "b"])]
            steps += [("Mul", ["{x}", "{last}"]), ("Mul", ["{last}", "c"])]
        for op, inputs in steps:
            last = f"t{len(self.nodes) - 1}"
            self.add(op, [name.format(x=x, last=last) for name in inputs], shape)

    def attention(self):
        """Rows of an image attend to each other, with or without a factor and a bias."""
        x = self.pick()
        n, c, h, w = self.shapes[x]
        turned, scores = f"t{len(self.nodes)}", (n, c, h, h)
        self.add("Transpose", [x], (n, c, w, h), perm=[0, 1, 3, 2])
        self.add("MatMul", [x, turned], scores)
        if self.draw(st.booleans()):
            self.constants["factor"] = np.array(0.3, np.float32)
            self.add("Mul", [f"t{len(self.nodes) - 1}", "factor"], scores)
        if self.draw(st.booleans()):
            self.add("Add", [f"t{len(self.nodes) - 1}", self.constant(1, c, 1, h)], scores)
        self.add("Softmax", [f"t{len(self.nodes) - 1}"], scores, axis=-1)
        self.add("MatMul", [f"t{len(self.nodes) - 1}", x], (n, c, h, w))

    def rows(self):
        x = self.pick()
        shape = self.shapes[x]
        if self.draw(st.booleans()):
            self.add("Softmax", [x], shape, axis=self.draw(st.integers(1, 3)))
        else:
            inputs = [x, self.constant(shape[3], positive=True), self.constant(shape[3])]
            # Rows that are nearly constant would amplify what rounding has left of them.
            self.add("LayerNormalization", inputs, shape, epsilon=0.1)

    def reduce(self):
        x = self.pick()
        axes = sorted(self.draw(st.sets(st.integers(0, 3), min_size=1, max_size=3)))
        shape = [1 if axis in axes else size for axis, size in enumerate(self.shapes[x])]
        op = self.draw(st.sampled_from(["ReduceMean", "ReduceMax", "ReduceMin"]))
        self.add(op, [x], shape, axes=axes, keepdims=1)


KINDS = [
    *(Writer.conv, Writer.conv, Writer.unary, Writer.unary, Writer.binary, Writer.binary),
    *(Writer.batch_norm, Writer.pool, Writer.move, Writer.product, Writer.rows, Writer.reduce),
    *(Writer.identity, Writer.subgraph, Writer.attention),
]


@st.composite
def networks(draw):
    writer = Writer(draw)
    for kind in draw(st.lists(st.sampled_from(KINDS), min_size=3, max_size=30)):
        if np.prod(writer.shapes[next(reversed(writer.shapes))]) < 2**14:
            kind(writer)
    if not writer.nodes:
        writer.unary()
    read = {name for node in writer.nodes for name in node.input}
    outputs = [name for name in writer.shapes if name not in read and name != "x"]
    x = writer.rng.standard_normal(writer.shapes["x"]).astype(np.float32)
    model = make_model(writer.nodes, {"x": x}, outputs, writer.constants, opset=17)
    return model, x


def is_well_conditioned(model, x, results):
    """Whether results hardly move where the values of x move by a few of their last bits.

    Softmax behind products of large values, for example, amplifies any rounding: what two correct
    implementations compute of such a network differs by more than any fixed bound.
    """
    signs = np.random.default_rng(0).choice(np.float32([-1, 1]), x.shape)
    moved = plain_onnxruntime(model, {"x": x * (1 + signs * np.float32(2**-20))})
    return all(
        np.allclose(other, y, rtol=0, atol=3e-5 * max(np.abs(y).max(), 1))
        for other, y in zip(moved, results, strict=True)
    )


ALL_PASSES = (drop_identities, join_branches, fold_batch_norm)
PASSES = [(), (drop_identities,), (join_branches,), (fold_batch_norm,), ALL_PASSES]


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(networks(), st.sampled_from(fbg.isa.supported()), st.sampled_from(PASSES))
def test_random_networks_agree_with_onnxruntime(case, isa, passes):
    """With all passes, on one thread and on two, and with some passes before a placement."""
    model, x = case
    # The optimizer of onnxruntime merges Pad into a following MaxPool, whose own padding never
    # wins: wrong where zeros do. It also refuses a network whose padding is as large as the window.
    expected = plain_onnxruntime(model, {"x": x})
    assume(is_well_conditioned(model, x, expected))
    network = read_model(model, "random", None)
    for change in passes:
        network = change(network)
    placed = {network.nodes[0].name: "fbg"}  # a placement leaves the nodes as they are
    with fbg.isa.limit(isa):
        one, two, some = (
            list(Net(given, backends=("fbg",), **options).run({"x": x}).values())
            for given, options in (
                (read_model(model, "random", None), {"num_threads": 1}),
                (read_model(model, "random", None), {"num_threads": 2}),
                (network, {"placement": placed}),
            )
        )
    for y, same, other, wanted in zip(one, two, some, expected, strict=True):
        np.testing.assert_array_equal(y, same)
        scale = max(float(np.abs(wanted).max()), 1.0)
        for result in (y, other):
            np.testing.assert_allclose(result / scale, wanted / scale, 1e-4, 1e-4)


@settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))
@given(networks(), st.sampled_from(fbg.isa.supported()))
def test_random_networks_agree_whichever_way_products_are_computed(case, isa):
    """Exactly so with weights that are widened before or as they are loaded. Where x is rounded,
    results are of the same types and shapes: some networks amplify errors without bounds.
    """
    model, x = case

    def run(way):
        network = read_model(model, "random", None)
        with pytest.MonkeyPatch.context() as patch:
            if way is not None:
                patch.setattr(lowered, "_ways", way)
            net = Net(network, backends=("fbg",), num_threads=1, dtype="bfloat16")
            return net.run({"x": x})

    with fbg.isa.limit(isa):
        wanted, got, rounded = (run(way) for way in (widening, None, rounding))
    for name, values in wanted.items():
        for other in (got[name], rounded[name]):
            assert (other.dtype, other.shape) == (values.dtype, values.shape)
        if isa not in lowered.ROUNDING_ISAS:
            scale = np.abs(values).max(initial=0, where=np.isfinite(values)) + 1
            np.testing.assert_allclose(got[name], values, rtol=1e-3, atol=1e-4 * scale)


# Random expressions of elements behind every kind of producer, against ONNX Runtime.

PRODUCERS = ("conv", "pointwise", "depthwise", "grouped", "strided", "transposed", "linear")
OTHERS = ("pool", "average", "norm", "reduction", "softmax", "nothing")
SAME = ("Relu", "Sigmoid", "Tanh", "HardSwish", "HardSigmoid", "LeakyRelu", "Abs", "Neg", "Erf")
MADE = ("Softplus", "Elu", "Mish", "Selu", "Celu", "Softsign")  # of other functions
UNARY = (*SAME, *MADE, "Clip", "Sqrt", "Exp", "Log", "Reciprocal")
COMPARISONS = ("Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal")
ROUNDINGS = ("Floor", "Ceil", "Round", "Sign")
BINARY = ("Add", "Sub", "Mul", "Div", "Max", "Min")
CHANNELS = 12


class Expression:
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
def expressions(draw, producers):
    """A model, its constants and feeds."""
    writer = Expression(draw)
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
@given(expressions(PRODUCERS))
def test_expressions_behind_products(drawn):
    expect_same(*drawn)


@settings(max_examples=25, suppress_health_check=list(HealthCheck), deadline=None)
@given(expressions(OTHERS))
def test_expressions_behind_other_producers(drawn):
    expect_same(*drawn)
