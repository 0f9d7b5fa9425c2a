"""Constants that repeat one element take no memory until they are packed, wherever they go."""

import numpy as np
import onnx
import pytest
from onnx import helper, numpy_helper

import fbg
from fbg.importers.onnx.read import read_model
from fbg.importers.session import infer
from helpers.onnx_models import make_model, make_net

RNG = np.random.default_rng(0)
SIZE = 1024  # of a side of each weight, which has 4 MB


def network(op, count):
    """Return a model of products with matrices that each repeat one number."""
    nodes, constants = [], {"shape": np.array([SIZE, SIZE])}
    for i in range(count):
        value = np.array([(i + 1) / SIZE], np.float32)
        if op == "ConstantOfShape":
            tensor = numpy_helper.from_array(value, f"v{i}")
            nodes.append(helper.make_node(op, ["shape"], [f"w{i}"], value=tensor))
        else:
            constants[f"v{i}"] = value
            nodes.append(helper.make_node(op, [f"v{i}", "shape"], [f"w{i}"]))
        nodes.append(helper.make_node("MatMul", [f"x{i}", f"w{i}"], [f"x{i + 1}"], f"product{i}"))
    inputs = {"x0": (np.float32, (1, SIZE))}
    return make_model(nodes, inputs, [f"x{count}"], constants, opset=17)


@pytest.mark.parametrize("op", ["ConstantOfShape", "Expand"])
@pytest.mark.filterwarnings("ignore:.*onnx.reference")
@pytest.mark.parametrize("backend", ["fbg", "onnxruntime", "reference"])
def test_their_products_are_right_on_every_back_end(tmp_path, op, backend):
    if backend == "onnxruntime":
        pytest.importorskip("onnxruntime")
    onnx.save(network(op, 3), tmp_path / "m.onnx")
    x = RNG.standard_normal((1, SIZE)).astype(np.float32)
    found = fbg.load(tmp_path / "m.onnx", backends=[backend])(x)
    np.testing.assert_allclose(found, np.full_like(x, 6 * x.mean(dtype=np.float64)), 1e-3, 1e-4)


def test_as_much_as_a_deep_network_has_is_known_beforehand(tmp_path):
    onnx.save(network("ConstantOfShape", 25), tmp_path / "m.onnx")  # 100 MB of weights
    net = fbg.load(tmp_path / "m.onnx")
    assert {step.backend for step in net.plan().steps} == {"fbg"}
    assert len(net.plan().steps) == 25


@pytest.mark.parametrize("op", ["ConstantOfShape", "Expand"])
def test_they_are_views_of_one_element(op):
    described = read_model(network(op, 2), "m", None)
    inferred = infer(described, described.inputs, {})
    assert not any(inferred.constants["w0"].strides)
    assert inferred.constants["w0"].shape == (SIZE, SIZE)


def test_too_much_is_left_to_every_run():
    described = read_model(network("ConstantOfShape", 40), "m", None)
    inferred = infer(described, described.inputs, {})
    assert "w0" in inferred.constants
    assert "w39" not in inferred.constants


def test_a_session_forgets_what_is_packed(tmp_path):
    onnx.save(network("ConstantOfShape", 2), tmp_path / "m.onnx")
    net = fbg.load(tmp_path / "m.onnx")
    (session,) = net._sessions.plans
    assert not session._known


BYTE, STEP = np.array(7, np.uint8), np.array(0.5, np.float32)


@pytest.mark.parametrize(
    ("op", "x", "others", "zero"),
    [
        ("MatMul", np.float64, [np.ones((0, 999))], 0),
        ("MatMul", np.int64, [np.ones((0, 999), np.int64)], 0),
        ("MatMulInteger", np.uint8, [np.ones((0, 999), np.uint8)], 0),
        (
            "QLinearMatMul",
            np.uint8,
            [STEP, BYTE, np.ones((0, 999), np.uint8), STEP, BYTE, STEP, BYTE],
            7,
        ),
    ],
)
def test_sums_of_nothing_are_zeros_in_every_type(op, x, others, zero):
    names = [f"c{i}" for i in range(len(others))]
    nodes = [helper.make_node(op, ["x", *names], ["y"])]
    x = np.zeros((40, 0), x)
    net = make_net(nodes, {"x": x}, ["y"], dict(zip(names, map(np.asarray, others), strict=True)))
    for _ in range(3):
        np.full((40, 999), 1e9)  # memory that is used again
        y = net(x)
        assert y.shape == (40, 999)
        assert (y == zero).all()
