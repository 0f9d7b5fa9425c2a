"""Sizes that files leave open, in every spelling that exporters have for them."""

import numpy as np
import onnx
import pytest
from onnx import helper

import fbg
from helpers.onnx_models import make_model

SPELLINGS = {
    "minus_one": {"dim_value": -1},
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


@pytest.mark.parametrize("size", [-2, -(2**40)])
def test_other_negative_sizes_are_damage(tmp_path, size):
    node = helper.make_node("Relu", ["x"], ["y"], "relu")
    model = make_model([node], {"x": (np.float32, (2, 3))}, ["y"])
    spell(model.graph.input[0], 0, {"dim_value": size})
    onnx.save(model, str(tmp_path / "net.onnx"))
    with pytest.raises(fbg.ModelError, match=f"tensor 'x' has a size of {size}"):
        fbg.load(tmp_path / "net.onnx")
