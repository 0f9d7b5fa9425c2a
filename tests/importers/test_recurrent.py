"""RNN, GRU and LSTM on fbg itself, as onnxruntime and torch compute them."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fbg
from fbg.importers.net import Net
from fbg.importers.onnx.read import read_model
from helpers.one_op import OneOp

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}
FUNCTIONS = {"RNN": 1, "GRU": 2, "LSTM": 3}
# Activations that fbg has, with the defaults of alpha and beta of the operators of these names.
ON_FBG = {
    **dict.fromkeys(("Relu", "Tanh", "Sigmoid", "Softsign", "Softplus"), ()),
    **{"Affine": (1.0, 0.0), "LeakyRelu": (0.01,), "ThresholdedRelu": (1.0,), "Elu": (1.0,)},
    "HardSigmoid": (0.2, 0.5),
}
WEIGHTS = frozenset({1, 2, 3, 7})


@dataclass
class Layer:
    """A node and what it reads; weights are constant."""

    op: str = "LSTM"
    steps: int = 5
    batch: int = 2
    columns: int = 7
    hidden: int = 9
    direction: str = "forward"
    seed: int = 0
    bias: bool = True
    lengths: bool = False
    states: bool = False
    peepholes: bool = False
    attributes: dict = field(default_factory=dict)

    @property
    def directions(self):
        return 2 if self.direction == "bidirectional" else 1

    def node(self, constant=WEIGHTS):
        rng = np.random.default_rng(self.seed)
        gates, d, h = GATES[self.op] * self.hidden, self.directions, self.hidden

        def floats(*shape):
            return (rng.uniform(-2, 2, shape) / np.sqrt(shape[-1])).astype(np.float32)

        x = rng.standard_normal((self.steps, self.batch, self.columns)).astype(np.float32)
        inputs = [x, floats(d, gates, self.columns), floats(d, gates, h)]
        inputs.append(floats(d, 2 * gates) * 3 if self.bias else None)
        lengths = rng.integers(1, self.steps + 1, self.batch).astype(np.int32)
        inputs.append(lengths if self.lengths else None)
        inputs.append(floats(d, self.batch, h) if self.states else None)
        if self.op == "LSTM":
            inputs.append(floats(d, self.batch, h) if self.states else None)
            inputs.append(floats(d, 3 * h) * 3 if self.peepholes else None)
        attributes = {"hidden_size": h, "direction": self.direction, **self.attributes}
        present = {i for i, value in enumerate(inputs) if value is not None}
        return OneOp(self.op, 14, inputs, attributes, frozenset(constant & present), self.outputs)

    @property
    def outputs(self):
        return 3 if self.op == "LSTM" else 2


@st.composite
def layers(draw):
    op = draw(st.sampled_from(sorted(GATES)))
    attributes = {"clip": draw(st.sampled_from([0.1, 0.5, 3.0]))} if draw(st.booleans()) else {}
    if op == "GRU":
        attributes["linear_before_reset"] = draw(st.integers(0, 1))
    if op == "LSTM":
        attributes["input_forget"] = draw(st.integers(0, 1))
    return Layer(
        op,
        draw(st.integers(1, 8)),
        draw(st.integers(1, 6)),
        draw(st.integers(1, 40)),
        draw(st.integers(1, 70)),
        draw(st.sampled_from(["forward", "reverse", "bidirectional"])),
        draw(st.integers(0, 2**32 - 1)),
        *(draw(st.booleans()) for _ in range(4)),
        attributes,
    )


def results(node, **options):
    net = Net(read_model(node.model(), "layer", None), backends=("fbg",), **options)
    return list(net.run(node.feeds).values())


@settings(max_examples=60)
@given(layer=layers(), threads=st.integers(1, 3), isa=st.sampled_from(fbg.isa.supported()))
def test_layers_give_what_onnxruntime_gives(layer, threads, isa):
    node = layer.node()
    with fbg.isa.limit(isa):
        got = results(node, num_threads=threads)
    for mine, wanted in zip(got, node.on_onnxruntime(), strict=True):
        np.testing.assert_allclose(mine, wanted, 1e-5, 2e-6)


@pytest.mark.parametrize("op", sorted(GATES))
@pytest.mark.parametrize("bidirectional", [False, True])
def test_layers_give_what_torch_gives(op, bidirectional):
    torch = pytest.importorskip("torch")
    torch.manual_seed(3)
    module = getattr(torch.nn, op)(11, 20, bidirectional=bidirectional, batch_first=True).eval()
    suffixes = ("", "_reverse")[: 1 + bidirectional]
    orders = {"RNN": [0], "GRU": [1, 0, 2], "LSTM": [0, 3, 1, 2]}  # of ONNX's gates in torch's

    def stacked(name):
        parts = [getattr(module, f"{name}_l0{suffix}").detach().numpy() for suffix in suffixes]
        blocks = [part.reshape(-1, 20, *part.shape[1:]) for part in parts]
        return np.stack(
            [b[orders[op]].reshape(p.shape) for b, p in zip(blocks, parts, strict=True)]
        )

    bias = np.concatenate([stacked("bias_ih"), stacked("bias_hh")], axis=1)
    x = torch.randn(3, 6, 11)
    with torch.no_grad():
        wanted, last = module(x)
    node = OneOp(
        op,
        14,
        [x.numpy().transpose(1, 0, 2), stacked("weight_ih"), stacked("weight_hh"), bias],
        {
            "hidden_size": 20,
            "direction": "bidirectional" if bidirectional else "forward",
            **({"linear_before_reset": 1} if op == "GRU" else {}),
        },
        WEIGHTS & {1, 2, 3},
        3 if op == "LSTM" else 2,
    )
    got = results(node, num_threads=1)
    sequence = got[0].transpose(2, 0, 1, 3).reshape(wanted.shape)
    np.testing.assert_allclose(sequence, wanted.numpy(), 1e-5, 2e-6)
    for mine, state in zip(got[1:], last if op == "LSTM" else (last,), strict=True):
        np.testing.assert_allclose(mine, state.numpy(), 1e-5, 2e-6)


@pytest.mark.parametrize("op", sorted(GATES))
def test_batch_first_is_the_same_with_other_axes(op):
    layer = Layer(op, direction="bidirectional", states=True, lengths=True)
    node = layer.node()
    wanted = results(node, num_threads=1)
    for index in (0, 5, 6):
        if index < len(node.inputs):
            node.inputs[index] = np.ascontiguousarray(np.swapaxes(node.inputs[index], 0, 1))
    node.attributes["layout"] = 1
    got = results(node, num_threads=1)
    np.testing.assert_array_equal(got[0].transpose(1, 2, 0, 3), wanted[0])
    for mine, state in zip(got[1:], wanted[1:], strict=True):
        np.testing.assert_array_equal(mine.swapaxes(0, 1), state)


# The last ones are large enough for threads to share the columns of a product; the weights of the
# very last exceed the L2s of two threads in float32, so that they are read in pieces.
@pytest.mark.races
@pytest.mark.parametrize("op", sorted(GATES))
@pytest.mark.parametrize(
    ("batch", "hidden", "direction"),
    [
        (1, 33, "bidirectional"),
        (7, 40, "forward"),
        (1, 1050, "forward"),
        (1, 620, "bidirectional"),
        (2, 1300, "bidirectional"),
    ],
)
def test_results_do_not_depend_on_the_number_of_threads(op, batch, hidden, direction):
    node = Layer(op, 4, batch, 6, hidden, direction, lengths=True, states=True).node()
    first, *others = (results(node, num_threads=threads) for threads in (1, 2, 3))
    for other in others:
        for mine, wanted in zip(other, first, strict=True):
            np.testing.assert_array_equal(mine.view(np.int32), wanted.view(np.int32))


def test_a_row_does_not_depend_on_its_batch():
    node = Layer("LSTM", 6, 5, 7, 24, "bidirectional", lengths=True, states=True).node()
    whole = results(node, num_threads=1)
    for index, axis in ((0, 1), (4, 0), (5, 1), (6, 1)):
        node.inputs[index] = np.take(node.inputs[index], [3], axis)
    single = results(node, num_threads=1)
    for all_, one, axis in zip(whole, single, (2, 1, 1), strict=True):
        np.testing.assert_array_equal(np.take(all_, [3], axis), one)


@pytest.mark.parametrize("name", ON_FBG)
@pytest.mark.parametrize("op", sorted(GATES))
def test_activations_with_their_parameters(op, name):
    names = [name, "Tanh", name][: FUNCTIONS[op]]
    alphas = {"activation_alpha": [0.3, 0.7], "activation_beta": [0.1, 0.2]}
    node = Layer(op, steps=4, attributes={"activations": names, **alphas}).node()
    for mine, wanted in zip(results(node), node.on_onnxruntime(), strict=True):
        np.testing.assert_allclose(mine, wanted, 2e-5, 3e-6)


# onnxruntime takes 0 for those of Affine and ThresholdedRelu.
@pytest.mark.parametrize("name", ON_FBG)
def test_the_defaults_of_parameters_are_those_of_the_operators(name):
    node = Layer("RNN", attributes={"activations": [name]}).node()
    given = [[value] for value in ON_FBG[name]]
    names = ("activation_alpha", "activation_beta")
    explicit = {"activations": [name], **dict(zip(names, given, strict=False))}
    wanted = results(Layer("RNN", attributes=explicit).node())
    np.testing.assert_array_equal(results(node)[0], wanted[0])


def test_other_activations_run_on_onnxruntime():
    node = Layer("RNN", attributes={"activations": ["ScaledTanh"]}).node()
    for mine, wanted in zip(node.on_fbg(), node.on_onnxruntime(), strict=True):
        np.testing.assert_array_equal(mine, wanted)


def test_weights_that_vary_run_on_onnxruntime():
    node = Layer("GRU").node(constant=frozenset())
    for mine, wanted in zip(node.on_fbg(), node.on_onnxruntime(), strict=True):
        np.testing.assert_allclose(mine, wanted, 1e-5, 1e-6)


def test_an_empty_sequence_keeps_its_first_state():
    node = Layer("LSTM", lengths=True, states=True, direction="bidirectional").node()
    node.inputs[4] = np.array([0, 3], np.int32)
    y, h, c = results(node)
    assert not y[:, :, 0].any()
    np.testing.assert_array_equal(h[:, 0], node.inputs[5][:, 0])
    np.testing.assert_array_equal(c[:, 0], node.inputs[6][:, 0])


@pytest.mark.parametrize("cell", ["RNN", "GRU", "LSTM"])
@pytest.mark.parametrize("lengths", [(0, 6), (-1, 5), (-(2**31), 2**31 - 1)])
def test_lengths_of_a_run_must_fit(cell, lengths):
    node = Layer(cell, lengths=True).node()
    node.inputs[4] = np.array(lengths, np.int32)
    with pytest.raises(fbg.ModelError, match=r"node '.*sequence_lens must be between 0 and 5"):
        results(node)
    node.inputs[4] = np.array([0, 5], np.int32)
    results(node)


HOSTILE = {
    "weights of too few gates": (1, (1, 35, 7)),
    "weights of other columns": (1, (1, 36, 8)),
    "recurrent weights that are not square": (2, (1, 36, 8)),
    "recurrent weights of two directions": (2, (2, 36, 9)),
    "weights of two axes": (2, (36, 9)),
    "a bias that is too short": (3, (1, 36)),
    "lengths of another batch": (4, (3,)),
    "a state of other columns": (5, (1, 2, 8)),
    "a state of another batch": (6, (1, 3, 9)),
    "a state of two axes": (6, (2, 9)),
    "peepholes that are too long": (7, (1, 28)),
}


@pytest.mark.parametrize("reason", HOSTILE)
def test_shapes_that_do_not_fit_are_refused_by_the_name_of_the_node(reason):
    node = Layer(lengths=True, states=True, peepholes=True).node()
    index, shape = HOSTILE[reason]
    node.inputs[index] = np.ones(shape, node.inputs[index].dtype)
    with pytest.raises(fbg.ModelError, match="node LSTM"):
        results(node)


@pytest.mark.parametrize(
    "attributes",
    [
        {"direction": "sideways"},
        {"hidden_size": 8},
        {"clip": -1.0},
        {"activations": ["Tanh"]},
        {"activations": ["Tanh", "Tanh", "Cosine"]},
    ],
)
def test_attributes_that_do_not_fit_are_refused_by_the_name_of_the_node(attributes):
    with pytest.raises(fbg.ModelError, match="node LSTM"):
        results(Layer(attributes=attributes).node())


def test_lengths_of_the_file_must_fit():
    node = Layer("RNN", lengths=True).node(WEIGHTS | {4})
    node.inputs[4] = np.array([1, 6], np.int32)
    with pytest.raises(fbg.ModelError, match=r"node RNN.*between 0 and 5"):
        results(node)


def test_the_graph_prints_the_layer():
    node = Layer("GRU", direction="bidirectional", states=True).node()
    net = Net(read_model(node.model(), "layer", None), backends=("fbg",))
    assert "gru(%2, float32[2, 9, 9], bidirectional, hidden_state=" in str(net.graph)
