"""Which back end runs a node, in which way, and that a network is verified."""

import json
import re
from types import SimpleNamespace

import numpy as np
import onnx
import pytest
from onnx import helper

import fbg
from fbg.graph.refusal import Unsupported
from fbg.importers import net as nets
from fbg.importers import session
from fbg.importers.backends.foreign import modelled_seconds
from fbg.importers.backends.native import Native, PreparedPlan
from fbg.importers.backends.reference import Reference
from fbg.importers.onnx.read import read_model
from fbg.importers.placement.choice import COPIED, PASSED
from fbg.tuning import trials
from fbg.tuning.store import MOVES, Moved, store
from helpers.onnx_models import make_model, make_net, node, plain_onnxruntime

# Placement by cost: which runs of ops leave fbg for another back end, as modelled or measured.

RNG = np.random.default_rng(11)
X = RNG.standard_normal((256, 1024), np.float32)  # takes 0.2 ms to pass and 0.2 ms to compute
SMALL = X[:4]
IMAGE = RNG.standard_normal((1, 8, 64, 64), np.float32)
W = RNG.standard_normal((8, 8, 3, 3), np.float32)


class Fake(Reference):
    """A back end that says what it costs, and remembers what it was asked for."""

    name = "fake"

    def __init__(self, factor, ops=("Softmax",), refuses=""):
        self.factor, self.ops, self.refuses = factor, ops, refuses
        self.asked, self.parts = [], []

    def supports(self, op):
        self.asked.append(op.node.name)
        return op.node.op in self.ops

    def cost(self, op):
        return self.factor * modelled_seconds(op)

    def prepare(self, part):
        if any(op.node.name == self.refuses for op in part.ops):
            raise Unsupported(self.refuses, "not today")
        self.parts.append(tuple(op.node.name for op in part.ops))
        return super().prepare(part)


@pytest.fixture
def make_fake(monkeypatch):
    """Returns a function that makes a back end of that name."""

    def make(*of, kind=Fake, **options):
        fake = kind(*of, **options)
        monkeypatch.setitem(nets.BACK_ENDS, "fake", lambda: fake)
        return fake

    return make


def chain(*ops, x=X, backends=("fbg", "fake"), constants=None, **options):
    """A network of one op after the other; each node is named after its op and its place."""
    names = ["x", *(f"{op}{i}" for i, op in enumerate(ops))]
    nodes = []
    for i, op in enumerate(ops):
        inputs = [names[i], *(["w"] if op == "Conv" else [])]
        attributes = {"pads": [1] * 4} if op == "Conv" else {}
        nodes.append(node(op, inputs, names[i + 1], **attributes))
    return make_net(nodes, {"x": x}, [names[-1]], constants, backends=backends, **options)


def placed(net):
    return [(step.backend, step.nodes) for step in net.plan().steps]


def on_fake(net):
    return [name for backend, names in placed(net) if backend == "fake" for name in names]


def test_a_cheaper_back_end_gets_a_run_whole(make_fake):
    fake = make_fake(0.1)
    net = chain("Softmax", "Softmax", "Softmax")
    assert fake.parts == [("Softmax0", "Softmax1", "Softmax2")]
    assert len(on_fake(net)) == 3
    alone = chain("Softmax", "Softmax", "Softmax", backends=("fbg",))
    np.testing.assert_allclose(net(X), alone(X), rtol=1e-5)


def test_what_is_saved_has_to_pay_for_passing_tensors(make_fake):
    fake = make_fake(0.1)
    assert on_fake(chain("Softmax")) == on_fake(chain("Softmax", "Softmax")) == []
    assert fake.parts == []


@pytest.mark.parametrize("factor", [1.0, 1.5, 1e12, np.inf, np.nan])
def test_a_dearer_back_end_is_not_even_asked(make_fake, factor):
    fake = make_fake(factor)
    net = chain(*["Softmax"] * 6)
    assert (fake.asked, on_fake(net)) == ([], [])


def test_a_back_end_that_supports_some_ops_gets_those_runs_that_are_worth_it(make_fake):
    make_fake(0.1)
    net = chain("Softmax", "Softmax", "Softmax", "Neg", "Softmax")
    assert on_fake(net) == ["Softmax0", "Softmax1", "Softmax2"]
    assert placed(net)[-2:] == [("fbg", ("Neg3",)), ("fbg", ("Softmax4",))]


def test_a_dearer_op_between_cheaper_ones_stays(make_fake):
    class Uneven(Fake):
        def cost(self, op):
            return (1.2 if op.node.op == "Neg" else 0.1) * modelled_seconds(op)

    make_fake(0.1, ("Softmax", "Neg"), kind=Uneven)
    assert on_fake(chain("Softmax", "Softmax", "Neg", "Softmax")) == []
    softmax = [f"Softmax{n}" for n in range(3)]
    assert on_fake(chain("Softmax", "Softmax", "Softmax", "Neg", "Softmax")) == softmax


def test_a_tensor_is_passed_once_for_all_its_readers(make_fake):
    nodes = [node("Neg", ["x"], "a")]
    nodes += [node("Softmax", ["a"], f"s{i}", axis=i % 2) for i in range(4)]
    nodes += [node("Concat", [f"s{i}" for i in range(4)], "c", axis=0)]
    nodes += [node("ReduceMean", ["c"], "y")]
    make_fake(0.1, ("Softmax", "Concat", "ReduceMean"))
    net = make_net(nodes, {"x": X}, ["y"], backends=("fbg", "fake"))
    assert on_fake(net) == ["s0", "s1", "s2", "s3", "c", "y"]


def test_fused_ops_move_together_or_stay(make_fake):
    layers = ["Conv", "Relu"] * 4
    options = {"x": IMAGE, "constants": {"w": W}}
    fused = placed(chain(*layers, backends=("fbg",), **options))
    assert fused[0] == ("fbg", ("Conv0", "Relu1"))
    make_fake(0.0, ("Relu",))
    assert placed(chain(*layers, **options)) == fused
    fake = make_fake(0.0, ("Conv", "Relu"))
    net = chain(*layers, **options)
    assert [len(part) for part in fake.parts] == [8]
    assert len(on_fake(net)) == 8


def test_fused_ops_that_are_refused_are_fused_again_on_fbg(make_fake):
    options = {"x": IMAGE, "constants": {"w": W}}
    fake = make_fake(0.0, ("Conv", "Relu"), refuses="Relu1")
    net = chain(*["Conv", "Relu"] * 3, **options)
    assert placed(net)[0] == ("fbg", ("Conv0", "Relu1"))
    assert fake.parts == [("Conv2", "Relu3", "Conv4", "Relu5")]
    alone = chain(*["Conv", "Relu"] * 3, backends=("fbg",), **options)
    np.testing.assert_allclose(net(IMAGE), alone(IMAGE), rtol=1e-3, atol=1e-3)


def test_what_a_user_has_placed_stays(make_fake):
    make_fake(0.0)
    net = chain(*["Softmax"] * 7, placement={"Softmax3": "fbg"})
    assert ("fbg", ("Softmax3",)) in placed(net)
    assert len(on_fake(net)) == 6
    dear = make_fake(1e9)
    assert len(on_fake(chain("Softmax", "Neg", backends=("fake", "fbg")))) == 1
    assert dear.parts == [("Softmax0",)]


def test_the_cost_of_fbg_counts(monkeypatch):
    pytest.importorskip("onnxruntime")
    backends = ("fbg", "onnxruntime")
    assert {at for at, _ in placed(chain("Softmax", "Neg", backends=backends))} == {"fbg"}
    monkeypatch.setattr(Native, "cost", lambda self, op: 1e9)
    assert placed(chain("Softmax", "Neg", backends=backends)) == [
        ("onnxruntime", ("Softmax0", "Neg1"))
    ]


def test_runs_of_random_networks_save_what_their_borders_cost(make_fake):
    """Whatever moves is cheaper than on fbg, and results are those of fbg alone."""
    rng = np.random.default_rng(5)
    kinds = ("Softmax", "Neg", "Exp", "Sigmoid", "Add")
    moved = []
    for _ in range(30):
        nodes, names = [], ["x"]
        for n in range(int(rng.integers(4, 16))):
            op = kinds[rng.integers(len(kinds))]
            read = [names[-rng.integers(1, min(len(names), 3) + 1)] for _ in range(2)]
            nodes.append(node(op, read[: 1 + (op == "Add")], f"v{n}"))
            names.append(f"v{n}")
        factors = dict(zip(kinds, rng.uniform(0, 1.5, len(kinds)), strict=True))
        fake = make_fake(1.0, kinds)
        fake.cost = lambda op, factors=factors: factors[op.node.op] * modelled_seconds(op)
        x = rng.standard_normal((64, 256), np.float32)
        net = make_net(nodes, {"x": x}, [names[-1]], backends=("fbg", "fake"))
        prepared = net._current("plan")
        parts = [part for part in prepared._parts if part.backend is fake]
        for part in parts:
            ops = [prepared.ops[name] for name in part.nodes]
            saved = sum(modelled_seconds(op) - fake.cost(op) for op in ops)
            tensors = len(part.inputs) + len(part.outputs)
            assert saved > tensors * (PASSED + 2 * x.nbytes / COPIED)
        moved.append(len(parts))
        alone = make_net(nodes, {"x": x}, [names[-1]], backends=("fbg",))
        np.testing.assert_allclose(net(x), alone(x), rtol=1e-4, atol=1e-6)
    assert 5 <= np.count_nonzero(moved) <= 25


def test_the_cheapest_of_several_back_ends_gets_a_run(make_fake, monkeypatch):
    make_fake(0.2)
    other = Fake(0.1, ("Softmax",))
    other.name = "other"
    monkeypatch.setitem(nets.BACK_ENDS, "other", lambda: other)
    for backends in (("fbg", "fake", "other"), ("fbg", "other", "fake")):
        assert {at for at, _ in placed(chain(*["Softmax"] * 4, backends=backends))} == {"other"}


# Measured costs --------------------------------------------------------------------------------


class Clock:
    """A clock that only runs of back ends advance: fbg takes 1 ms for each step."""

    def __init__(self, monkeypatch):
        self.now = 0.0
        for module in (trials, session):
            monkeypatch.setattr(module, "time", SimpleNamespace(perf_counter=lambda: self.now))
        run, timed = PreparedPlan.run, PreparedPlan.timed

        def run_slowly(plan, *arrays):
            self.now += 1e-3 * len(plan.steps())
            return run(plan, *arrays)

        def timed_slowly(plan, *arrays):
            results, seconds = timed(plan, *arrays)
            return results, [1e-3] * len(seconds)

        monkeypatch.setattr(PreparedPlan, "run", run_slowly)
        monkeypatch.setattr(PreparedPlan, "timed", timed_slowly)


class Timed(Fake):
    """A back end that the model takes for as fast as fbg. seconds: of a part of so many ops."""

    def __init__(self, clock, seconds):
        super().__init__(1.0)
        self.clock, self.seconds = clock, seconds

    def prepare(self, part):
        prepared = super().prepare(part)
        run, ops = prepared.run, len(part.ops)

        def advance(*arrays):
            self.clock.now += self.seconds(ops)
            return run(*arrays)

        prepared.run = advance
        return prepared


@pytest.fixture
def make_timed(make_fake, monkeypatch, tuning_cache):
    clock = Clock(monkeypatch)
    return lambda seconds: make_fake(clock, seconds, kind=Timed)


def test_what_was_measured_to_be_faster_moves(make_timed):
    make_timed(lambda ops: 1e-4)
    net = chain("Softmax", "Softmax", "Neg", "Softmax", x=SMALL)
    before, wanted = placed(net), net(SMALL)
    assert on_fake(net) == []
    (found,) = fbg.tune(net, show_progress_bar=False).placements
    moved = ["Softmax0", "Softmax1", "Softmax3"]
    assert (found.backend, list(found.nodes)) == ("fake", moved)
    assert found.gain == pytest.approx(4e-3 / 1.2e-3)
    assert on_fake(net) == moved
    store.forget()  # another process
    assert on_fake(chain("Softmax", "Softmax", "Neg", "Softmax", x=SMALL)) == moved
    assert on_fake(chain("Softmax", "Softmax", x=SMALL)) == []
    alone = chain("Softmax", "Softmax", "Neg", "Softmax", x=SMALL, backends=("fbg",))
    assert placed(alone) == before
    np.testing.assert_array_equal(alone(SMALL), wanted)


@pytest.mark.parametrize(
    "seconds",
    [lambda ops: 2e-3 * ops, lambda ops: 1e-4 if ops == 1 else 1.0],
    ids=["slower", "faster by itself only"],
)
def test_what_is_slower_in_the_network_stays(make_timed, seconds):
    fake = make_timed(seconds)
    net = chain("Softmax", "Softmax", "Softmax", x=SMALL)
    (found,) = fbg.tune(net, show_progress_bar=False).placements
    assert (found.nodes, found.gain, on_fake(net)) == ((), 1.0, [])
    fake.parts.clear()
    assert "fake: 0 nodes" in str(fbg.tune(net, show_progress_bar=False))
    assert fake.parts == [], "it was measured before"


@pytest.mark.usefixtures("tuning_cache")
def test_back_ends_that_are_hopeless_or_not_wanted_are_not_measured(make_fake):
    make_fake(100.0)
    assert fbg.tune(chain("Softmax", x=SMALL), show_progress_bar=False).placements == ()
    make_fake(1.0)
    net = chain("Softmax", x=SMALL)
    assert fbg.tune(net, placement=False, show_progress_bar=False).placements == ()
    assert not any(key.startswith(MOVES) for key in store.known())
    prepared = fbg.prepare(fbg.PackedConv(W, padding=1), shape=(1, 8, 8, 8))
    with pytest.raises(TypeError, match="tune: placement requires a network from a file"):
        fbg.tune(prepared, placement=False)


def test_a_network_that_refuses_random_inputs_is_not_measured(make_timed, monkeypatch):
    make_timed(lambda ops: 1e-4)
    net = chain("Softmax", x=SMALL)

    def refuse(*arrays):
        raise fbg.ModelError("indices must be positive")

    monkeypatch.setattr(PreparedPlan, "run", refuse)
    assert fbg.tune(net, show_progress_bar=False).placements == ()


@pytest.mark.parametrize("nodes", [[-1], [1, 1], [2, 1], [1 << 24], ["1"], [True], "1", None])
def test_damaged_entries_are_ignored(make_timed, tuning_cache, nodes):
    make_timed(lambda ops: 1e-4)
    net = chain("Softmax", "Softmax", "Softmax", x=SMALL)
    fbg.tune(net, show_progress_bar=False)
    ((key, measured),) = [item for item in store.known().items() if item[0].startswith(MOVES)]
    assert measured.choice == Moved((0, 1, 2))
    good = '"nodes": [\n     0,\n     1,\n     2\n    ]'
    text = tuning_cache.read_text()
    assert good in text
    tuning_cache.write_text(text.replace(good, f'"nodes": {json.dumps(nodes)}'))
    store.forget()
    with pytest.warns(RuntimeWarning, match="not a measurement"):
        assert key not in store.known()


@pytest.mark.parametrize(
    "between",
    [
        node("Identity", ["a"], "r"),
        node("Reshape", ["a", "shape"], "r"),
        node("Dropout", ["a"], "r"),
    ],
    ids=lambda between: between.op_type,
)
def test_tensors_that_fbg_passes_on_unchanged_join_ops_of_another_back_end(between):
    nodes = [
        node("Relu", ["x"], "a"),
        between,
        node("Sigmoid", ["r"], "y"),
        node("Neg", ["r"], "z"),
    ]
    model = make_model(nodes, {"x": SMALL}, ["y", "z"], {"shape": np.array(SMALL.shape)})
    network = read_model(model, "test.onnx", None)
    net = nets.Net(network, placement=dict.fromkeys("ayz", "onnxruntime"))
    wanted = plain_onnxruntime(model, {"x": SMALL})
    for got, expected in zip(net.run({"x": SMALL}).values(), wanted, strict=True):
        np.testing.assert_array_equal(got, expected)
    assert {step.backend for step in net.plan().steps} == {"onnxruntime"}


# Networks that calibration has quantized are compared with float32 on the first feed.

VERIFIED_RNG = np.random.default_rng(0)
FEED = {"x": VERIFIED_RNG.standard_normal((2, 4, 16, 16), np.float32)}
WEIGHTS = {
    "w1": VERIFIED_RNG.standard_normal((8, 4, 3, 3), np.float32) / 6,
    "w2": VERIFIED_RNG.standard_normal((8, 8, 3, 3), np.float32) / 8,
    "w3": VERIFIED_RNG.standard_normal((4, 8, 1, 1), np.float32) / 3,
    "pads": np.array([0, 0, 3, 3, 0, 0, 3, 3]),
    "zero": np.float32(0),
    "one": np.array([3]),
}


def int8_error(nodes, output, **more):
    """The error of int8, as the ratio of the lengths of vectors, and the network."""
    exact = make_net(nodes, FEED, [output], WEIGHTS | more).run(FEED)[output]
    net = make_net(nodes, FEED, [output], WEIGHTS | more, calibrate=[FEED])
    return np.linalg.norm(net.run(FEED)[output] - exact) / np.linalg.norm(exact), net


def rounded(net):
    """The tensors that are quantized."""
    return {n.inputs[0] for n in net.network.nodes if n.op == "QuantizeLinear"}


@pytest.mark.parametrize("fill", [-1e3, -1e4, -1e9, -1e30])
@pytest.mark.parametrize("mixing", ["Conv", "AveragePool"])
@pytest.mark.parametrize("function", ["Tanh", "Sigmoid", "HardSwish", "LeakyRelu"])
def test_what_mixes_data_with_a_fill_does_not_lose_the_data(function, mixing, fill):
    kernel = {"pads": [1, 1, 1, 1]} if mixing == "Conv" else {"kernel_shape": [3, 3]}
    nodes = [
        node("Conv", ["x", "w1"], "a"),
        node("Tanh", ["a"], "b"),
        node("Pad", ["b", "pads", "fill"], "c"),
        node(mixing, ["c", "w2"][: 2 if mixing == "Conv" else 1], "d", **kernel),
        node(function, ["d"], "e"),
        node("Sigmoid", ["e"], "f"),
        node("Conv", ["f", "w3"], "y"),
    ]
    constants = WEIGHTS | {"fill": np.float32(fill)}
    exact = make_net(nodes, FEED, ["y"], constants).run(FEED)["y"]
    net = make_net(nodes, FEED, ["y"], constants, calibrate=[FEED], narrow_weights=False)
    inside = np.s_[:, :, 5:-5, 5:-5]  # which no fill has reached
    wanted, got = exact[inside], net.run(FEED)["y"][inside]
    spread = wanted - wanted.mean(axis=(0, 2, 3), keepdims=True)
    assert np.linalg.norm(got - wanted) < 0.1 * np.linalg.norm(spread)
    assert "x" in rounded(net)


def test_a_network_that_is_close_is_quantized_wholly():
    nodes = [
        node("Conv", ["x", "w1"], "a"),
        node("Relu", ["a"], "b"),
        node("Conv", ["b", "w2"], "y"),
    ]
    error, net = int8_error(nodes, "y")
    assert error < 0.02
    assert net.int8_error == pytest.approx(error)
    assert rounded(net) == {"x", "b"}
    assert make_net(nodes, FEED, ["y"], WEIGHTS).int8_error is None


def coarse(*ending):
    """A network with a tensor of which few values are large; the others decide the result."""
    return [
        node("Mul", ["x", "scales"], "a"),
        node("Conv", ["a", "w1"], "b"),
        node("Tanh", ["b"], "c"),
        node("Conv", ["c", "w2"], "y"),
        *ending,
    ]


# Half as many are twice as large, which leaves no gap.
SCALES = (0.1 / VERIFIED_RNG.uniform(1e-4, 1, (1, 4, 16, 16))).astype(np.float32)


def test_the_coarsest_tensors_stay_in_float32():
    error, net = int8_error(coarse(), "y", scales=SCALES)
    assert error < 0.15
    assert net.int8_error == pytest.approx(error)
    assert rounded(net) == {"b", "c"}


def test_errors_that_add_up_leave_all_in_integers():
    """Of many tensors, none is the cause of the error: a few in float32 change little."""
    rng = np.random.default_rng(5)
    nodes, last = [], "x"
    for i in range(24):
        nodes += [node("Conv", [last, f"k{i}"], f"a{i}"), node("Tanh", [f"a{i}"], f"b{i}")]
        last = f"b{i}"
    nodes.append(node("Conv", [last, "k0"], "y"))
    weights = {f"k{i}": rng.normal(0, 1.5, (4, 4, 1, 1)).astype(np.float32) for i in range(24)}
    error, net = int8_error(nodes, "y", **weights)
    assert error > 0.15 and len(rounded(net)) == 49


@pytest.mark.parametrize(
    "ending",
    [
        [node("Greater", ["y", "zero"], "p"), node("Where", ["p", "y", "zero"], "z")],
        [
            helper.make_node("TopK", ["y", "one"], ["values", "places"], "top", axis=1),
            node("Cast", ["places"], "z", to=1),
        ],
    ],
)
def test_outputs_that_jump_do_not_count(ending):
    _, net = int8_error(coarse(*ending), "z", scales=SCALES)
    assert rounded(net) >= {"a", "c"}
    assert net.int8_error is None


def test_an_error_that_remains_is_told(tmp_path):
    nodes, outputs = [], [f"y{i}" for i in range(8)]
    for i, y in enumerate(outputs):  # each the small difference of two large results
        nodes += [
            node("Mul", ["x", f"s{i}"], f"a{i}"),
            node("Conv", [f"a{i}", "w1"], f"b{i}"),
            node("Conv", [f"a{i}", "w4"], f"c{i}"),
            node("Relu", [f"b{i}"], f"positive_b{i}"),
            node("Relu", [f"c{i}"], f"positive_c{i}"),
            node("Sub", [f"positive_b{i}", f"positive_c{i}"], y),
        ]
    more = {f"s{i}": np.float32(i + 1) for i in range(8)}
    more["w4"] = (
        WEIGHTS["w1"] + VERIFIED_RNG.standard_normal(WEIGHTS["w1"].shape, np.float32) / 2000
    )
    path = tmp_path / "net.onnx"
    onnx.save(make_model(nodes, FEED, outputs, WEIGHTS | more), str(path))
    said = "differ by .* % from those in float32: fbg compare .* --sensitivity proposes which nodes"
    with pytest.warns(UserWarning, match=said) as warned:
        net = fbg.load(path, dtype="int8", calibrate=[FEED])
    assert [warning.filename for warning in warned] == [__file__]
    exact, got = fbg.load(path).run(FEED), net.run(FEED)
    errors = [np.linalg.norm(got[y] - exact[y]) / np.linalg.norm(exact[y]) for y in outputs]
    assert net.int8_error == pytest.approx(max(errors))
    percent = float(re.search(r"by (\S+) %", str(warned[0].message))[1])
    assert percent == pytest.approx(100 * max(errors), rel=0.06)
