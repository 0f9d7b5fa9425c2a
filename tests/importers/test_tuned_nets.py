"""fbg.tune for networks from files: each distinct convolution once; plans use what it found."""

import numpy as np
import onnx
import pytest
from onnx import helper

import fbg
from fbg.tuning.store import Measured, store
from helpers.onnx_models import make_model, make_net

RNG = np.random.default_rng(5)
X = RNG.standard_normal((1, 16, 9, 8), dtype=np.float32)
W = RNG.standard_normal((16, 16, 3, 3), dtype=np.float32)
POINTWISE = RNG.standard_normal((16, 16, 1, 1), dtype=np.float32)

pytestmark = pytest.mark.usefixtures("tuning_cache")


def residual_net(**options):
    """Two convolutions of the same shape, one of which adds a residual, and a pointwise one."""
    nodes = [
        helper.make_node("Conv", ["x", "w"], ["a"], "first", pads=[1] * 4),
        helper.make_node("Relu", ["a"], ["b"], "relu"),
        helper.make_node("Conv", ["b", "w"], ["c"], "second", pads=[1] * 4),
        helper.make_node("Relu", ["c"], ["d"], "relu2"),
        helper.make_node("Conv", ["d", "p"], ["e"], "third"),
        helper.make_node("Add", ["e", "x"], ["y"], "add"),
    ]
    shape = options.pop("inputs", {"x": X})
    return make_net(nodes, shape, ["y"], {"w": W, "p": POINTWISE}, backends=("fbg",), **options)


def algorithms(net):
    return [step.algorithm.split(": ")[1].split()[0] for step in net.plan().steps
            if step.algorithm.startswith("conv")]  # fmt: skip


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_a_net_is_tuned_and_keeps_its_bits(dtype):
    net = residual_net(**({"calibrate": [X]} if dtype == "int8" else {}))
    wanted = net(X)
    report = fbg.tune(net, show_progress_bar=False)
    assert report.profilings == 2, "two of the three convolutions have the same shape"
    assert len(report.results) == 2
    assert np.array_equal(net(X), wanted)
    assert fbg.tune(net, show_progress_bar=False).profilings == 0


def test_a_file_is_tuned_as_it_is_loaded(tmp_path):
    node = helper.make_node("Conv", ["x", "w"], ["y"], "conv", pads=[1] * 4)
    path = tmp_path / "conv.onnx"
    onnx.save(make_model([node], {"x": X}, ["y"], {"w": W}), path)
    stages = set()
    net = fbg.load(path, backends=("fbg",), tune=True, progress=lambda *told: stages.add(told))
    assert stages == {("convolutions", 1, 1)}
    assert fbg.tune(net, show_progress_bar=False).profilings == 0


def test_the_plan_uses_what_was_measured():
    net = residual_net()
    wanted, before = net(X), algorithms(net)
    trial = net.trials()[-1]
    assert before[-1] == trial.algorithms[0][0] == "pointwise"
    store.add({trial.key: Measured("im2col", 1e-6, 2e-6)})
    assert algorithms(net) == [*before[:-1], "im2col"]
    assert np.array_equal(net(X), wanted)


def test_shapes_must_be_known():
    net = residual_net(inputs={"x": (np.float32, ("n", 16, "h", "w"))})
    with pytest.raises(ValueError, match="tune: the shapes of the inputs are not known yet"):
        fbg.tune(net)
    net(X)
    assert fbg.tune(net, show_progress_bar=False).profilings == 2
