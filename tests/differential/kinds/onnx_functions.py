"""Networks whose nodes are in local functions, against what NumPy computes for these nodes.

Drawn are functions that call each other, also in branches of If, with attributes that calls pass
on, leave to their default, or change; with operator sets of their own; and with operators that mean
another thing, or have other inputs, in these.
"""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

from fbg.errors import ModelError
from fbg.importers.net import Net
from fbg.importers.onnx.read import read_model
from helpers.random_cases import Different, Kind

SHAPE, FLOAT = (2, 3, 4), onnx.AttributeProto.FLOAT
# Of a function that a branch calls: all nodes of a branch are from one operator set.
REFUSALS = ("would mean another thing there", "input size")
VERSIONS = (11, 12, 13, 15, 17, 18, 21)


def softmax(x, version):
    """Along axis 1; before version 13 along all axes from there on."""
    rows = x.reshape(2, 12) if version < 13 else x
    powers = np.exp(rows - rows.max(1, keepdims=True))
    return (powers / powers.sum(1, keepdims=True)).reshape(x.shape)


class Functions:
    """Draws functions of one tensor, each with what it computes for given attributes."""

    def __init__(self, random):
        self.random = random
        self.protos = []
        self.made = []

    def step(self, version, names, inside):
        """Draw nodes from tensor "a" to tensor "b", and what they compute.

        names: attributes of the function around. inside: whether the nodes are in a branch.
        """
        kinds = ["leaky", "unsqueezed", "clip", *([] if inside else ["softmax", "if"])]
        kind = self.random.choice([*kinds, "call", "call"] if self.made else kinds)
        if kind == "leaky":
            node, slope = helper.make_node("LeakyRelu", ["a"], ["b"]), self._attribute(names, 0.01)
            slope.give(node, "alpha")
            return [node], lambda x, given: np.where(x < 0, x * slope.value(given), x)
        if kind == "softmax":
            node = helper.make_node("Softmax", ["a"], ["b"], axis=1)
            return [node], lambda x, given: softmax(x, version)
        if kind == "clip":
            least = numpy_helper.from_array(np.array(-0.25, np.float32))
            low = helper.make_node("Constant", [], ["low"], value=least)
            clip = helper.make_node("Clip", ["a", "low"], ["b"])
            return [low, clip], lambda x, given: np.maximum(x, -0.25)
        if kind == "unsqueezed":
            return self._unsqueezed(version), lambda x, given: x
        return self._branched(version, names) if kind == "if" else self._call(names)

    def _unsqueezed(self, version):
        ends = ("Unsqueeze", "a", "t"), ("Squeeze", "t", "b")
        if version < 13:
            return [helper.make_node(op, [x], [y], axes=[-1]) for op, x, y in ends]
        last = numpy_helper.from_array(np.array([-1]))
        axes = helper.make_node("Constant", [], ["axes"], value=last)
        return [axes, *(helper.make_node(op, [x, "axes"], [y]) for op, x, y in ends)]

    def _branched(self, version, names):
        nodes, apply = self.step(version, names, inside=True)
        taken = np.array(self.random.random() < 0.5)
        rename(nodes, {"b": "r"})
        other = [helper.make_node("Abs", ["a"], ["s"])]
        both = [
            helper.make_graph(part, "branch", [], [onnx.ValueInfoProto(name=part[-1].output[0])])
            for part in ((nodes, other) if taken else (other, nodes))
        ]
        condition = helper.make_node("Constant", [], ["c"], value=numpy_helper.from_array(taken))
        choice = helper.make_node("If", ["c"], ["e"], then_branch=both[0], else_branch=both[1])
        return [condition, choice, helper.make_node("Identity", ["e"], ["b"])], apply

    def _call(self, names):
        name, inner, apply = self.random.choice(self.made)
        node = helper.make_node(name, ["a"], ["b"], domain="local")
        chosen = {own: self._attribute(names, None) for own in inner}
        for own, attribute in chosen.items():
            attribute.give(node, own)

        def called(x, given):
            passed = {own: chosen[own].value(given) for own in inner}
            return apply(x, {own: value for own, value in passed.items() if value is not None})

        return [node], called

    def _attribute(self, names, default):
        kind = self.random.choice(("left", "set", "passed") if names else ("left", "set"))
        value = float(np.float32(round(self.random.uniform(0.05, 0.95), 2)))
        return Attribute(kind, value, self.random.choice(names) if names else "", default)

    def add(self):
        """Draw a function of up to three steps, with up to two attributes that have defaults."""
        version = self.random.choice(VERSIONS)
        names = [f"p{i}" for i in range(self.random.randint(0, 2))]
        defaults = {n: float(np.float32(self.random.uniform(0.05, 0.95))) for n in names}
        nodes, steps = [], []
        count = self.random.randint(1, 3)
        for i in range(count):
            made, apply = self.step(version, names, inside=False)
            ends = {"a": f"x{i}", "b": f"x{i + 1}"}
            rename(made, ends | {n: f"{n}{i}" for n in ("t", "low", "axes", "c", "e", "r", "s")})
            nodes += made
            steps.append(apply)
        name = f"f{len(self.made)}"
        self.protos.append(
            helper.make_function(
                *("local", name, ["x0"], [f"x{count}"], nodes),
                [helper.make_opsetid("", version), helper.make_opsetid("local", 1)],
                attribute_protos=[helper.make_attribute(n, v) for n, v in defaults.items()],
            )
        )

        def all_steps(x, given):
            for apply in steps:
                x = apply(x, defaults | given)
            return x

        self.made.append((name, names, all_steps))


class Attribute:
    """A float attribute of a node: left out, set, or that of the function around it."""

    def __init__(self, kind, set_to, name, default):
        self.kind, self.set_to, self.name, self.default = kind, set_to, name, default

    def give(self, node, name):
        if self.kind == "set":
            node.attribute.append(helper.make_attribute(name, self.set_to))
        elif self.kind == "passed":
            node.attribute.append(
                onnx.AttributeProto(name=name, ref_attr_name=self.name, type=FLOAT)
            )

    def value(self, given):
        if self.kind == "set":
            return self.set_to
        return given.get(self.name, self.default) if self.kind == "passed" else self.default


def rename(nodes, names):
    for node in nodes:
        for field in (node.input, node.output):
            field[:] = [names.get(name, name) for name in field]
        for attribute in node.attribute:
            rename(list(attribute.g.node), names)
            for value in attribute.g.output:
                value.name = names.get(value.name, value.name)


def run(random):
    functions = Functions(random)
    for _ in range(random.randint(1, 5)):
        functions.add()
    _, names, apply = functions.made[-1]
    given = {name: 0.375 for name in names if random.random() < 0.5}
    node = helper.make_node(functions.made[-1][0], ["x"], ["y"], domain="local", **given)
    x = np.random.default_rng(random.getrandbits(64)).standard_normal(SHAPE).astype(np.float32)
    ends = (helper.make_tensor_value_info(name, TensorProto.FLOAT, SHAPE) for name in "xy")
    graph = helper.make_graph([node], "g", *([end] for end in ends))
    version = random.choice(VERSIONS)
    opsets = [helper.make_opsetid("", version), helper.make_opsetid("local", 1)]
    model = helper.make_model(
        graph, opset_imports=opsets, functions=functions.protos, ir_version=10
    )
    backends = random.choice((None, None, ("onnxruntime",)))
    try:
        network = read_model(model, "functions", None)
    except ModelError as error:
        if any(reason in str(error) for reason in REFUSALS):  # a call in a branch
            return "refused"
        raise
    got = Net(network, backends=backends, num_threads=1).run({"x": x})
    wanted = apply(x.astype(np.float64), given)
    if not np.allclose(got["y"], wanted, rtol=1e-4, atol=1e-6):
        raise Different(f"file of {version}, {backends}: {helper.printable_graph(graph)}")
    return "same"


KIND = Kind("differential.onnx_functions", run, cases=60, seconds=20)
