"""If, Loop and Scan against onnxruntime: known branches become part of the network around them,
others are plans of their own, and loops run on onnxruntime as a whole.
"""

import subprocess
import sys
import textwrap
import threading

import numpy as np
import onnx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from onnx import TensorProto, helper, numpy_helper

import fbg
from fbg.importers.net import Net
from fbg.importers.onnx.read import read_model
from helpers.onnx_models import make_model, node, plain_onnxruntime

# If, Loop and Scan against onnxruntime: known branches become part of the network around them,
# others are plans of their own, and loops run on onnxruntime as a whole.

pytestmark = pytest.mark.filterwarnings("error:.*onnx.reference:UserWarning")

RNG = np.random.default_rng(8)
X = RNG.standard_normal((1, 3, 8, 8)).astype(np.float32)
W = RNG.standard_normal((4, 3, 3, 3)).astype(np.float32)
YES, NO = np.array(True), np.array(False)


def value(name, shape=None, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def graph(nodes, outputs, inputs=(), constants=None):
    initializers = [onnx.numpy_helper.from_array(a, n) for n, a in (constants or {}).items()]
    results = [value(each) if isinstance(each, str) else each for each in outputs]
    return helper.make_graph(nodes, "inside", list(inputs), results, initializers)


def choice(condition, then, other, outputs=("y",), name="choice"):
    return helper.make_node(
        "If", [condition], list(outputs), name, then_branch=then, else_branch=other
    )


def loop_body(nodes, outputs, inputs):
    counted = [value("i", (), TensorProto.INT64), value("go", (), TensorProto.BOOL)]
    kept = node("Identity", ["go"], "on")
    return graph([kept, *nodes], [value("on", (), TensorProto.BOOL), *outputs], [*counted, *inputs])


def check(model, *feeds, atol=1e-5, **options):
    """Compare with onnxruntime; return the back ends of the steps of the last run."""
    net = Net(read_model(model, "test.onnx", None), **options)
    for feed in feeds:
        got, wanted = net.run(feed), plain_onnxruntime(model, feed)
        for array, expected in zip(got.values(), wanted, strict=True):
            assert array.shape == expected.shape
            np.testing.assert_allclose(array, expected, atol=atol)
    steps = net.plan().steps
    assert all(step.backend != "reference" for step in steps)
    return {name: step.backend for step in steps for name in step.nodes}


CONV = [node("Conv", ["x", "w"], "c", pads=[1, 1, 1, 1]), node("Relu", ["c"], "r")]
POOL = [node("AveragePool", ["x"], "p", kernel_shape=[1, 1]), node("Conv", ["p", "w"], "r")]
THEN, ELSE = graph(CONV, ["r"]), graph(POOL, ["r"])


@pytest.mark.parametrize("condition", [YES, NO])
def test_a_constant_condition_leaves_the_nodes_of_its_branch(condition):
    nodes = [choice("true", THEN, ELSE), node("Sigmoid", ["y"], "z")]
    model = make_model(nodes, {"x": X}, ["z"], {"w": W, "true": condition})
    ran = check(model, {"x": X}, backends=("fbg",))
    assert ran.keys() == ({"c", "r", "z"} if condition else {"p", "r", "z"})


def test_a_constant_condition_is_known_to_calibration_and_in_saved_networks(tmp_path):
    nodes = [choice("true", THEN, ELSE)]
    model = make_model(nodes, {"x": X}, ["y"], {"w": W, "true": YES})
    network = read_model(model, "test.onnx", None)
    net = Net(network, calibrate=[X])
    assert net.products.int8 == 1
    net.save(tmp_path / "saved")
    np.testing.assert_array_equal(fbg.load(tmp_path / "saved")(X), net(X))


def by_size(then, other):
    """A choice by the size of the second axis of x."""
    return [
        node("Shape", ["x"], "shape", start=1, end=2),
        node("Squeeze", ["shape"], "size"),
        node("Equal", ["size", "three"], "fits"),
        choice("fits", then, other),
    ]


def test_a_condition_that_depends_on_shapes_is_known_to_each_plan():
    sizes = {"x": (np.float32, (1, "c", 8, 8))}
    wide = graph([node("ReduceSum", ["x", "one"], "s")], ["s"])
    constants = {"w": W, "three": np.array(3), "one": np.array([1])}
    model = make_model(by_size(THEN, wide), sizes, ["y"], constants)
    other = RNG.standard_normal((1, 5, 8, 8)).astype(np.float32)
    assert check(model, {"x": X}, backends=("fbg",)).keys() == {"c", "r"}
    assert check(model, {"x": X}, {"x": other}, backends=("fbg",)).keys() == {"s"}


def test_a_branch_may_choose_again():
    inner = choice("no", graph(POOL, ["r"]), graph(CONV, ["r"]), ["inner"], "inner")
    then = graph([inner, node("Neg", ["inner"], "n")], ["n"])
    model = make_model(
        [choice("true", then, ELSE)], {"x": X}, ["y"], {"w": W, "true": YES, "no": NO}
    )
    assert check(model, {"x": X}, backends=("fbg",)).keys() == {"c", "r", "n"}


def test_names_that_branches_share_with_each_other_and_with_loops_are_made_unique():
    adding = loop_body([node("Add", ["v", "t"], "q")], ["q"], [value("v", (1, 2))])
    doubling = loop_body(
        [node("Relu", ["v"], "t"), node("Add", ["t", "t"], "r")], ["r"], [value("v", (1, 2))]
    )
    nodes = [node("Neg", ["x"], "a")]
    for i, (read, written) in enumerate([("a", "b"), ("b", "c")]):
        then = graph(
            [
                node("Mul", [read, "k"], "t"),
                helper.make_node("Loop", ["two", "", "k"], ["u"], "loop", body=adding),
                node("Add", ["u", "k"], "r"),
            ],
            ["r"],
            constants={"k": np.array([[1 + i, 2]], np.float32)},
        )
        other = graph([node("Neg", [read], "n")], ["n"])
        nodes.append(choice("true", then, other, [written], f"choice{i}"))
    nodes.append(helper.make_node("Loop", ["two", "", "c"], ["y"], "loop", body=doubling))
    x = np.array([[3, -4]], np.float32)
    constants = {"true": YES, "two": np.array(2)}
    ran = check(make_model(nodes, {"x": x}, ["y"], constants), {"x": x})
    assert [name for name in ran if "loop" in name] == ["choice0/loop", "choice1/loop", "loop"]


def test_results_of_a_branch_may_be_tensors_from_outside_or_constants():
    then = graph([], ["x", "k"], constants={"k": np.ones(2, np.float32)})
    other = graph([node("Neg", ["x"], "n"), node("Identity", ["w"], "v")], ["n", "v"])
    x, w = np.array([1, -2], np.float32), np.zeros(2, np.float32)
    nodes = [choice("true", then, other, ["y", "z"])]
    for condition, wanted in ((YES, (x, np.ones(2))), (NO, (-x, w))):
        varying = {"x": x, "true": condition}
        constant = {"w": w, "true": condition}
        for model, feed in [
            (make_model(nodes, varying, ["y", "z"], {"w": w}), varying),
            (make_model(nodes, {"x": x}, ["y", "z"], constant), {"x": x}),
        ]:
            found = Net(read_model(model, "test.onnx", None)).run(feed)
            np.testing.assert_array_equal(found["y"], wanted[0])
            np.testing.assert_array_equal(found["z"], wanted[1])
            assert not np.shares_memory(found["y"], x)


# Conditions of a run -----------------------------------------------------------------------------


def test_a_condition_of_a_run_chooses_between_plans_of_fbg():
    nodes = [
        node("Relu", ["x"], "x2"),
        choice(
            "flag", THEN, graph([node("Conv", ["x2", "w"], "c"), node("Neg", ["c"], "n")], ["n"])
        ),
        node("Sigmoid", ["y"], "z"),
    ]
    model = make_model(nodes, {"x": X, "flag": YES}, ["z"], {"w": W})
    ran = check(model, {"x": X, "flag": YES}, {"x": X, "flag": NO})
    assert ran["choice"] == "branches"
    assert ran["c"] == ran["r"] == ran["n"] == ran["x2"] == "fbg"


def test_results_whose_shape_both_branches_share_stay_on_fbg():
    other = graph([node("Conv", ["x", "w"], "c", pads=[1, 1, 1, 1])], ["c"])
    nodes = [choice("flag", THEN, other), node("Sigmoid", ["y"], "z")]
    model = make_model(nodes, {"x": X, "flag": YES}, ["z"], {"w": W})
    ran = check(model, {"x": X, "flag": NO}, {"x": X, "flag": YES}, backends=("fbg",))
    assert ran["z"] == "fbg"


def test_choices_inside_of_choices_of_a_run():
    inner = choice("second", graph(POOL, ["r"]), THEN, ["inner"], "inner")
    then = graph([inner, node("Neg", ["inner"], "n")], ["n"])
    inputs = {"x": X, "flag": YES, "second": YES}
    model = make_model([choice("flag", then, ELSE)], inputs, ["y"], {"w": W})
    feeds = [{"x": X, "flag": a, "second": b} for a in (YES, NO) for b in (YES, NO)]
    ran = check(model, *feeds)
    assert ran["choice"] == ran["inner"] == "branches"
    assert ran["n"] == "onnxruntime"  # its shape depends on the choice
    assert ran["p"] == "fbg"


def test_a_branch_that_does_not_fit_is_an_error_in_a_run_that_takes_it():
    wide = np.ones((7, 3), np.float32)
    wrong = graph([node("MatMul", ["x", "wide"], "p")], ["p"])
    model = make_model(
        [choice("flag", THEN, wrong)], {"x": X, "flag": YES}, ["y"], {"w": W, "wide": wide}
    )
    net = Net(read_model(model, "test.onnx", None))
    for _ in range(2):
        assert net.run({"x": X, "flag": YES})["y"].shape == (1, 4, 8, 8)
        with pytest.raises(fbg.ModelError, match=r"If 'choice': else_branch: node MatMul 'p'"):
            net.run({"x": X, "flag": NO})


def test_inputs_that_branches_need_as_shapes_are_known_to_plans():
    then = graph([node("Reshape", ["x", "shape"], "r")], ["r"])
    inputs = {"x": X, "flag": YES, "shape": np.array([3, 64])}
    model = make_model(
        [choice("flag", then, graph([node("Neg", ["x"], "n")], ["n"]))], inputs, ["y"]
    )
    ran = check(model, *({**inputs, "flag": flag} for flag in (YES, NO)))
    assert ran["r"] == "fbg"
    check(model, inputs, {**inputs, "shape": np.array([64, 3])})


def test_captured_tensors_of_unknown_shape_run_on_onnxruntime():
    nodes = [
        node("NonZero", ["x"], "places"),
        node("Cast", ["places"], "p", to=TensorProto.FLOAT),
        choice(
            "flag", graph([node("Neg", ["p"], "n")], ["n"]), graph([node("Exp", ["p"], "e")], ["e"])
        ),
    ]
    inputs = {"x": X, "flag": YES}
    ran = check(make_model(nodes, inputs, ["y"]), inputs, {"x": X, "flag": NO})
    assert set(ran.values()) == {"onnxruntime"}


def test_plans_of_branches_can_be_profiled_tuned_and_placed():
    inputs = {"x": X, "flag": YES}
    model = make_model([choice("flag", THEN, ELSE)], inputs, ["y"], {"w": W})
    net = Net(read_model(model, "test.onnx", None))
    profile = net.profile(inputs, rounds=2)
    assert [step.nodes for step in profile.steps] == [("choice",)]
    assert profile.steps[0].seconds > 0
    assert net.plan().arena_bytes > 0
    assert len(net.trials()) == 2
    whole = Net(net.network, placement={"choice": "onnxruntime"})
    np.testing.assert_allclose(whole.run(inputs)["y"], net.run(inputs)["y"], atol=1e-5)
    assert {step.backend for step in whole.plan().steps} == {"onnxruntime"}


# Loops -------------------------------------------------------------------------------------------


def test_a_loop_with_carried_values_scan_outputs_and_captured_values():
    body = loop_body(
        [node("MatMul", ["v", "m"], "p"), node("Add", ["p", "b"], "v2"), node("Neg", ["v2"], "s")],
        ["v2", "s"],
        [value("v", (2, 2))],
    )
    x, m = RNG.standard_normal((2, 2, 2)).astype(np.float32)
    nodes = [
        node("Relu", ["x"], "b"),
        helper.make_node("Loop", ["trips", "", "x"], ["y", "z"], "loop", body=body),
    ]
    model = make_model(nodes, {"x": x, "trips": np.array(3)}, ["y", "z"], {"m": m})
    ran = check(model, {"x": x, "trips": np.array(3)}, {"x": x, "trips": np.array(5)})
    assert ran == {"b": "fbg", "loop": "onnxruntime"}


@pytest.mark.parametrize("wrong", [(5, 9), (2, 2, 2)])
def test_shapes_that_a_file_declares_wrongly_inside_of_a_loop_are_ignored(wrong):
    body = loop_body([node("Relu", ["v"], "r")], [value("r", wrong)], [value("v", (2, 2))])
    x = RNG.standard_normal((2, 2)).astype(np.float32)
    nodes = [helper.make_node("Loop", ["three", "", "x"], ["y"], "loop", body=body)]
    model = make_model(nodes, {"x": x}, ["y"], {"three": np.array(3)})
    assert check(model, {"x": x}) == {"loop": "onnxruntime"}


def test_a_loop_whose_body_has_operators_of_onnxruntime():
    gelu = helper.make_node("Gelu", ["v"], ["r"], domain="com.microsoft")
    body = loop_body([gelu], ["r"], [value("v", (2, 2))])
    x = RNG.standard_normal((2, 2)).astype(np.float32)
    nodes = [helper.make_node("Loop", ["three", "", "x"], ["y"], "loop", body=body)]
    model = make_model(nodes, {"x": x}, ["y"], {"three": np.array(3)})
    model.opset_import.append(helper.make_opsetid("com.microsoft", 1))
    assert check(model, {"x": x}) == {"loop": "onnxruntime"}


def test_a_scan_with_captured_values():
    body = graph(
        [node("Mul", ["row", "k"], "p"), node("Add", ["p", "sum"], "t"), node("Exp", ["t"], "e")],
        ["t", "e"],
        [value("sum", (3,)), value("row", (3,))],
    )
    x = RNG.standard_normal((4, 3)).astype(np.float32)
    nodes = [
        node("ReduceMean", ["x", "axes"], "k", keepdims=0),
        helper.make_node("Scan", ["k", "x"], ["y", "z"], "scan", body=body, num_scan_inputs=1),
    ]
    model = make_model(nodes, {"x": x}, ["y", "z"], {"axes": np.array([0])})
    assert check(model, {"x": x}) == {"k": "fbg", "scan": "onnxruntime"}


def endless_loop():
    body = loop_body([node("Neg", ["v"], "r")], ["r"], [value("v", (1,))])
    nodes = [helper.make_node("Loop", ["most", "", "x"], ["y"], "loop", body=body)]
    x = np.ones(1, np.float32)
    return make_model(nodes, {"x": x}, ["y"], {"most": np.array(2**60)})


def test_ctrl_c_ends_a_loop_whose_thread_has_just_started(tmp_path, monkeypatch):
    (tmp_path / "m.onnx").write_bytes(endless_loop().SerializeToString())
    net, x = fbg.load(tmp_path / "m.onnx"), np.ones(1, np.float32)
    net.prepare({"x": x})
    started = []

    def start(thread, real=threading.Thread.start):
        real(thread)
        started.append(thread)
        raise KeyboardInterrupt

    monkeypatch.setattr(threading.Thread, "start", start)
    with pytest.raises(KeyboardInterrupt):
        net(x)
    started[0].join(60)
    assert not started[0].is_alive()


@pytest.mark.parametrize(
    "send", ["os.kill(os.getpid(), 2)", "signal.pthread_kill(threading.get_ident(), 2)"]
)
def test_ctrl_c_ends_a_loop_without_end(tmp_path, send):
    """Also if the system delivers the signal to a thread that is not the main one."""
    (tmp_path / "m.onnx").write_bytes(endless_loop().SerializeToString())
    program = """
        import os, signal, sys, threading
        import numpy as np, fbg
        signal.signal(signal.SIGINT, signal.default_int_handler)  # which shells may leave ignored
        net = fbg.load("m.onnx")
        threading.Timer(0.5, eval, (sys.argv[1], globals())).start()
        try:
            net(np.ones(1, np.float32))
        except KeyboardInterrupt:
            print("ended")
    """
    ended = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(program), send],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert ended.stdout == "ended\n"


# Bad input ---------------------------------------------------------------------------------------


def test_captured_values_that_nothing_computes_are_refused():
    nodes = [choice("flag", graph([node("Neg", ["nothing"], "n")], ["n"]), THEN)]
    model = make_model(nodes, {"x": X, "flag": YES}, ["y"], {"w": W})
    with pytest.raises(fbg.ModelError, match=r"If 'choice' reads tensor 'nothing'"):
        read_model(model, "test.onnx", None)


@pytest.mark.parametrize("inside", [False, True])
def test_functions_that_call_themselves_are_refused_by_name(inside):
    call = helper.make_node("Endless", ["a"], ["b"], domain="local")
    true = helper.make_node("Constant", [], ["t"], value=onnx.numpy_helper.from_array(YES))
    nodes = [true, choice("t", graph([call], ["b"]), graph([call], ["b"]), ["b"])]
    opsets = [helper.make_opsetid("", 21), helper.make_opsetid("local", 1)]
    function = helper.make_function(
        "local", "Endless", ["a"], ["b"], nodes if inside else [call], opsets
    )
    outer = helper.make_node("Endless", ["x"], ["y"], domain="local")
    model = make_model([outer], {"x": X}, ["y"], functions=[function])
    model.opset_import.append(helper.make_opsetid("local", 1))
    with pytest.raises(fbg.ModelError, match="local function 'Endless' calls itself"):
        read_model(model, "test.onnx", None)


# Random networks of If, Loop and Scan inside of each other, against ONNX Runtime.

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
