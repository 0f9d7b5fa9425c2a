"""RNN, GRU and LSTM on fbg itself, as onnxruntime and torch compute them; DynamicQuantizeLSTM."""

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper

import fbg
from fbg.importers.net import Net
from fbg.importers.onnx.read import read_model
from helpers.one_op import OneOp
from helpers.onnx_models import make_net
from helpers.quantized_graphs import WIDEST

# RNN, GRU and LSTM on fbg itself, as onnxruntime and torch compute them.

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


# DynamicQuantizeLSTM, and integer products of an x whose zero point each run computes.


def quantized(x):
    """DynamicQuantizeLinear: q, scale, zero point."""
    low, high = min(np.float32(0), x.min()), max(np.float32(0), x.max())
    scale = np.float32(1) if low == high else np.float32(high - low) / np.float32(255)
    point = np.rint(np.clip(-low / scale, 0, 255)).astype(np.float32)
    return np.clip(np.rint(x / scale) + point, 0, 255).astype(np.int64), scale, int(point)


def product(x, w, w_scale, w_point):
    """Integer sums as float32, times both scales."""
    q, scale, point = quantized(x)
    sums = (q - point) @ (w.astype(np.int64) - w_point)
    return sums.astype(np.float32) * (scale * w_scale)


def lstm(x, w, r, bias, w_quant, r_quant, h, c):
    """The outputs of one direction by the definition: rows of a batch are quantized together."""
    total = bias[: bias.size // 2] + bias[bias.size // 2 :]
    inputs = product(x.reshape(-1, x.shape[-1]), w, *w_quant).reshape(*x.shape[:2], -1) + total
    outputs = []
    for step in inputs:
        gates = step + product(h, r, *r_quant)
        i, o, f, g = np.split(gates.astype(np.float64), 4, axis=-1)
        c = c / (1 + np.exp(-f)) + np.tanh(g) / (1 + np.exp(-i))
        c = c.astype(np.float32)
        h = (np.tanh(c.astype(np.float64)) / (1 + np.exp(-o))).astype(np.float32)
        outputs.append(h)
    return np.stack(outputs), h, c


def case(dtype, *, per_column, directions=1, batch=1, steps=4, columns=12, hidden=20, seed=0):
    rng = np.random.default_rng(seed)
    low, high = (0, 255) if dtype == np.uint8 else (-128, 127)

    def weights(rows):
        q = rng.integers(low, high, (directions, rows, 4 * hidden), endpoint=True).astype(dtype)
        shape = (directions, 4 * hidden) if per_column else (directions,)
        scale = rng.uniform(0.002, 0.004, shape).astype(np.float32)
        point = rng.integers(-9, 10, shape) + (128 if dtype == np.uint8 else 0)
        return q, scale, point.astype(dtype)

    x = rng.standard_normal((steps, batch, columns)).astype(np.float32)
    (w, *w_quant), (r, *r_quant) = weights(columns), weights(hidden)
    bias = rng.uniform(-1, 1, (directions, 8 * hidden)).astype(np.float32)
    states = rng.uniform(-1, 1, (2, directions, batch, hidden)).astype(np.float32)
    inputs = [x, w, r, bias, None, *states, None, *w_quant, *r_quant]
    direction = "bidirectional" if directions == 2 else "forward"
    return OneOp(
        "DynamicQuantizeLSTM",
        1,
        inputs,
        {"hidden_size": hidden, "direction": direction},
        frozenset({1, 2, 3, 8, 9, 10, 11}),
        3,
        domain="com.microsoft",
    )


def quantized_results(node, threads=1):
    net = Net(read_model(node.model(), "layer", None), backends=("fbg",), num_threads=threads)
    return list(net.run(node.feeds).values())


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("per_column", [False, True])
@pytest.mark.parametrize(("directions", "batch"), [(1, 1), (1, 3), (2, 1), (2, 3)])
def test_layers_follow_the_definition(dtype, per_column, directions, batch):
    node = case(dtype, per_column=per_column, directions=directions, batch=batch)
    x, w, r, bias, _, h, c, _, *quant = node.inputs
    y, last_h, last_c = quantized_results(node)
    for d in range(directions):
        points = [q[d].astype(np.float32 if i % 2 == 0 else np.int64) for i, q in enumerate(quant)]
        order = slice(None, None, -1 if d else 1)
        wanted = lstm(x[order], w[d], r[d], bias[d], points[:2], points[2:], h[d], c[d])
        # A state that rounds to another integer would change results by 1e-3 and more.
        np.testing.assert_allclose(y[order, d], wanted[0], 1e-4, 2e-6)
        np.testing.assert_allclose(last_h[d], wanted[1], 1e-4, 2e-6)
        np.testing.assert_allclose(last_c[d], wanted[2], 1e-4, 2e-6)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_quantized_layers_give_what_onnxruntime_gives(dtype):
    for seed in range(5):
        node = case(dtype, per_column=seed % 2 == 0, directions=1 + seed % 2, steps=9, seed=seed)
        for index in (9, 11):  # onnxruntime wants zero points that are alike, and 0 for int8
            node.inputs[index][:] = 0 if dtype == np.int8 else node.inputs[index].flat[0]
        for index in (1, 2) if dtype == np.int8 else ():  # and saturates sums of larger ones
            node.inputs[index] = np.clip(node.inputs[index], -WIDEST, WIDEST)
        for mine, wanted in zip(quantized_results(node), node.on_onnxruntime(), strict=True):
            np.testing.assert_allclose(mine, wanted, 1e-4, 1e-5)


@pytest.mark.races
@pytest.mark.parametrize(("batch", "hidden"), [(1, 33), (3, 600), (1, 1200)])
def test_quantized_results_do_not_depend_on_the_number_of_threads(batch, hidden):
    node = case(np.int8, per_column=True, directions=2, batch=batch, hidden=hidden)
    first, *others = (quantized_results(node, threads) for threads in (1, 2, 3))
    for other in others:
        for mine, wanted in zip(other, first, strict=True):
            np.testing.assert_array_equal(mine.view(np.int32), wanted.view(np.int32))


HOSTILE_QUANTIZED = {
    "weights of too few gates": (1, (1, 12, 79)),
    "weights of other columns": (1, (1, 13, 80)),
    "recurrent weights that are not square": (2, (1, 19, 80)),
    "a scale for each row": (8, (12,)),
    "two zero points": (11, (2,)),
    "a bias that is too short": (3, (1, 80)),
}


@pytest.mark.parametrize("reason", HOSTILE_QUANTIZED)
def test_quantized_shapes_that_do_not_fit_are_refused_by_the_name_of_the_node(reason):
    node = case(np.int8, per_column=False)
    index, shape = HOSTILE_QUANTIZED[reason]
    node.inputs[index] = np.ones(shape, node.inputs[index].dtype)
    with pytest.raises(fbg.ModelError, match="node DynamicQuantizeLSTM"):
        quantized_results(node)


# Products of dynamically quantized tensors ------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
@pytest.mark.parametrize("threads", [1, 2])
def test_integer_sums_with_a_zero_point_that_runs_compute(dtype, threads):
    rng = np.random.default_rng(4)
    kind = np.iinfo(dtype)
    x = rng.integers(kind.min, kind.max, (2, 6, 9, 8), endpoint=True).astype(dtype)
    w = rng.integers(-90, 90, (16, 6, 3, 3)).astype(np.int8)
    m = rng.integers(-90, 90, (8, 21)).astype(np.int8)
    nodes = [
        helper.make_node("ConvInteger", ["x", "w", "z"], ["conv"], "conv", pads=[1, 1, 1, 1]),
        helper.make_node("MatMulInteger", ["x", "m", "z"], ["product"], "product"),
    ]
    outputs = {"conv": (np.int32, None), "product": (np.int32, None)}
    point = np.array(0, dtype)
    net = make_net(
        nodes,
        {"x": x, "z": point},
        outputs,
        {"w": w, "m": m},
        backends=("fbg",),
        num_threads=threads,
    )
    for z in (kind.min, 3, kind.max):
        got = net.run({"x": x, "z": np.array(z, dtype)})
        real = x.astype(np.int64) - z
        np.testing.assert_array_equal(got["product"], real @ m.astype(np.int64))
        padded = np.pad(real, [(0, 0), (0, 0), (1, 1), (1, 1)])
        patches = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
        wanted = np.einsum("nchwij,ocij->nohw", patches, w.astype(np.int64))
        np.testing.assert_array_equal(got["conv"], wanted)


def test_a_zero_point_for_each_row_is_refused():
    x = np.arange(12, dtype=np.uint8).reshape(3, 4)
    node = helper.make_node("MatMulInteger", ["x", "m", "z"], ["y"], "y")
    point = np.array([1, 2, 3], np.uint8)
    m = np.eye(4, dtype=np.int8)
    outputs = {"y": (np.int32, None)}
    inputs = {"x": x, "z": point}
    with pytest.raises(fbg.ModelError, match="node MatMulInteger"):
        make_net([node], inputs, outputs, {"m": m}, backends=("fbg",))
