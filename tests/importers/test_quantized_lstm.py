"""DynamicQuantizeLSTM, and integer products of an x whose zero point each run computes."""

import numpy as np
import pytest
from onnx import helper

import fbg
from fbg.importers.net import Net
from fbg.importers.onnx.read import read_model
from helpers.one_op import OneOp
from helpers.onnx_models import make_net
from helpers.quantized_graphs import WIDEST


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


def results(node, threads=1):
    net = Net(read_model(node.model(), "layer", None), backends=("fbg",), num_threads=threads)
    return list(net.run(node.feeds).values())


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
@pytest.mark.parametrize("per_column", [False, True])
@pytest.mark.parametrize(("directions", "batch"), [(1, 1), (1, 3), (2, 1), (2, 3)])
def test_layers_follow_the_definition(dtype, per_column, directions, batch):
    node = case(dtype, per_column=per_column, directions=directions, batch=batch)
    x, w, r, bias, _, h, c, _, *quant = node.inputs
    y, last_h, last_c = results(node)
    for d in range(directions):
        points = [q[d].astype(np.float32 if i % 2 == 0 else np.int64) for i, q in enumerate(quant)]
        order = slice(None, None, -1 if d else 1)
        wanted = lstm(x[order], w[d], r[d], bias[d], points[:2], points[2:], h[d], c[d])
        # A state that rounds to another integer would change results by 1e-3 and more.
        np.testing.assert_allclose(y[order, d], wanted[0], 1e-4, 2e-6)
        np.testing.assert_allclose(last_h[d], wanted[1], 1e-4, 2e-6)
        np.testing.assert_allclose(last_c[d], wanted[2], 1e-4, 2e-6)


@pytest.mark.parametrize("dtype", [np.int8, np.uint8])
def test_layers_give_what_onnxruntime_gives(dtype):
    for seed in range(5):
        node = case(dtype, per_column=seed % 2 == 0, directions=1 + seed % 2, steps=9, seed=seed)
        for index in (9, 11):  # onnxruntime wants zero points that are alike, and 0 for int8
            node.inputs[index][:] = 0 if dtype == np.int8 else node.inputs[index].flat[0]
        for index in (1, 2) if dtype == np.int8 else ():  # and saturates sums of larger ones
            node.inputs[index] = np.clip(node.inputs[index], -WIDEST, WIDEST)
        for mine, wanted in zip(results(node), node.on_onnxruntime(), strict=True):
            np.testing.assert_allclose(mine, wanted, 1e-4, 1e-5)


@pytest.mark.races
@pytest.mark.parametrize(("batch", "hidden"), [(1, 33), (3, 600), (1, 1200)])
def test_results_do_not_depend_on_the_number_of_threads(batch, hidden):
    node = case(np.int8, per_column=True, directions=2, batch=batch, hidden=hidden)
    first, *others = (results(node, threads) for threads in (1, 2, 3))
    for other in others:
        for mine, wanted in zip(other, first, strict=True):
            np.testing.assert_array_equal(mine.view(np.int32), wanted.view(np.int32))


HOSTILE = {
    "weights of too few gates": (1, (1, 12, 79)),
    "weights of other columns": (1, (1, 13, 80)),
    "recurrent weights that are not square": (2, (1, 19, 80)),
    "a scale for each row": (8, (12,)),
    "two zero points": (11, (2,)),
    "a bias that is too short": (3, (1, 80)),
}


@pytest.mark.parametrize("reason", HOSTILE)
def test_shapes_that_do_not_fit_are_refused_by_the_name_of_the_node(reason):
    node = case(np.int8, per_column=False)
    index, shape = HOSTILE[reason]
    node.inputs[index] = np.ones(shape, node.inputs[index].dtype)
    with pytest.raises(fbg.ModelError, match="node DynamicQuantizeLSTM"):
        results(node)


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
