"""Sizes that files leave open, in every spelling that exporters have for them."""

import numpy as np
import onnx
import pytest
from onnx import helper

import fbg
from helpers.onnx_models import make_model, make_net, node

SPELLINGS = {
    "minus_one": {"dim_value": -1},
    "negative": {"dim_value": -(2**40)},
    "question_mark": {"dim_param": "?"},
    "text_of_minus_one": {"dim_param": "-1"},
    "none": {"dim_param": "None"},
    "empty_name": {"dim_param": ""},
    "nothing": {},
    "name": {"dim_param": "batch"},
}
X = np.random.default_rng(0).standard_normal((2, 3, 5, 5)).astype(np.float32)
W = np.random.default_rng(1).standard_normal((4, 3, 3, 3)).astype(np.float32)


def spell(value, axis, spelling):
    dim = value.type.tensor_type.shape.dim[axis]
    dim.Clear()
    for field, text in spelling.items():
        setattr(dim, field, text)


@pytest.fixture(params=SPELLINGS)
def path(request, tmp_path):
    """A file whose input, output and tensor in between leave their first size open."""
    spelling = SPELLINGS[request.param]
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["c"], "conv"),
        helper.make_node("Relu", ["c"], ["y"], "relu"),
    ]
    model = make_model(nodes, {"x": (np.float32, X.shape)}, ["y"], {"w": W})
    inside = helper.make_tensor_value_info("c", onnx.TensorProto.FLOAT, (2, 4, 3, 3))
    result = helper.make_tensor_value_info("y", onnx.TensorProto.FLOAT, (2, 4, 3, 3))
    model.graph.output[0].CopyFrom(result)
    model.graph.value_info.append(inside)
    for value in (*model.graph.input, *model.graph.output, *model.graph.value_info):
        for axis in (0, 2):
            spell(value, axis, spelling)
    onnx.save(model, str(tmp_path / "net.onnx"))
    return tmp_path / "net.onnx"


def test_the_first_run_binds_them(path):
    net = fbg.load(path)
    assert not isinstance(net.inputs["x"].shape[0], int)
    assert net(X).shape == (2, 4, 3, 3)
    assert net(X[:1, :, :4]).shape == (1, 4, 2, 3)
    np.testing.assert_array_equal(net(X)[:1], net(X[:1]))
    with pytest.raises(ValueError, match="input 'x' must be"):
        net(X[:, :2])


def test_shapes_bind_them_at_once(path):
    net = fbg.load(path, shapes={"x": X.shape})
    assert net.inputs["x"].shape == X.shape
    assert net.plan().steps
    np.testing.assert_array_equal(net(X), fbg.load(path)(X))


def test_they_survive_saving_and_calibration(path, tmp_path):
    net = fbg.load(path, dtype="int8", calibrate=[X])
    net.save(tmp_path / "saved")
    saved = fbg.load(tmp_path / "saved")
    assert saved.inputs == net.inputs
    np.testing.assert_array_equal(saved(X), net(X))


def test_a_size_of_zero_is_known(tmp_path):
    model = make_model([node("Relu", ["x"], "y")], {"x": (np.float32, (0, 3))}, ["y"])
    onnx.save(model, str(tmp_path / "net.onnx"))
    net = fbg.load(tmp_path / "net.onnx")
    assert net(np.ones((0, 3), np.float32)).shape == (0, 3)
    with pytest.raises(ValueError, match=r"input 'x' must be float32\(0, 3\), got shape \(2, 3\)"):
        net(np.ones((2, 3), np.float32))


def two_inputs(first, second, **options):
    """A network that joins two inputs of two columns, whose numbers of rows have these names."""
    inputs = {"x": (np.float32, (first, 2)), "z": (np.float32, (second, 2))}
    return make_net([node("Concat", ["x", "z"], "y", axis=0)], inputs, ["y"], **options)


def rows(x, z):
    return {"x": np.ones((x, 2), np.float32), "z": np.zeros((z, 2), np.float32)}


@pytest.mark.parametrize("names", [("n", "m"), ("n", None), (None, None), ("?", "?"), ("n", 3)])
def test_inputs_of_different_names_have_any_sizes(names):
    net = two_inputs(*names)
    for count in (2, 3, 5):
        assert net.run(rows(count, 3))["y"].shape == (count + 3, 2)


def test_inputs_of_one_name_have_one_size():
    net = two_inputs("n", "n")
    assert net.run(rows(2, 2))["y"].shape == (4, 2)
    assert net.run(rows(3, 3))["y"].shape == (6, 2)
    message = r"input 'z' must be float32\(n, 2\), where n is 2 already, got shape \(3, 2\)"
    for call in (net.run, net.prepare, net.profile):
        with pytest.raises(ValueError, match=message):
            call(rows(2, 3))
    with pytest.raises(ValueError, match=r"shapes: " + message):
        two_inputs("n", "n", shapes={"x": (2, 2), "z": (3, 2)})
    with pytest.raises(ValueError, match=r"calibrate\[1\]: " + message):
        two_inputs("n", "n", calibrate=[rows(2, 2), rows(2, 3)])


def test_axes_of_one_input_have_any_sizes():
    net = make_net([node("Relu", ["x"], "y")], {"x": (np.float32, ("n", "n"))}, ["y"])
    assert net(np.ones((2, 2), np.float32)).shape == (2, 2)
    assert net(np.ones((2, 3), np.float32)).shape == (2, 3)


def test_shapes_of_an_input_bind_others_of_the_same_name():
    net = two_inputs("n", "n", shapes={"x": (2, 2)})
    assert net.inputs["z"].shape == (2, 2)
    assert net.plan().steps
    assert two_inputs("n", "m", shapes={"x": (2, 2)}).inputs["z"].shape == ("m", 2)
