"""A run may rely on what the last one found: that must not show, whatever changed between them."""

import numpy as np
import pytest

import fbg
from helpers.onnx_models import make_net, node

X = np.arange(12, dtype=np.float32).reshape(3, 4)


def net_of_any_size(**options):
    inputs = {"x": (np.float32, ("n", 4)), "z": (np.float32, ("n", 4))}
    return make_net([node("Sub", ["x", "z"], "y")], inputs, ["y"], **options)


def check(net, x, z):
    np.testing.assert_array_equal(net.run({"x": x, "z": z})["y"], x - z)


def test_runs_of_other_sizes_and_orders_follow_each_other():
    net = net_of_any_size()
    for rows in (3, 3, 1, 1, 3, 2, 2):
        check(net, X[:rows], X[:rows] * 2)
        assert net.plan().steps[0].types == (f"float32({rows}, 4)",)
    np.testing.assert_array_equal(net.run({"z": X, "x": 3 * X})["y"], 2 * X)
    check(net, X.T.copy().T, X)  # other strides
    check(net, np.frombuffer(b"0" + X.tobytes(), np.uint8)[1:].view(np.float32).reshape(3, 4), X)


def test_what_does_not_fit_is_refused_after_a_run_that_did():
    net = net_of_any_size()
    check(net, X, X)
    with pytest.raises(TypeError, match="input 'z' must be float32"):
        net.run({"x": X, "z": X.astype(np.float64)})
    with pytest.raises(ValueError, match="input 'z' is missing"):
        net.run({"x": X})
    with pytest.raises(ValueError, match="there is no input 'q'"):
        net.run({"x": X, "q": X})
    with pytest.raises(ValueError, match="input 'z' must be"):
        net.run({"x": X, "z": X[:2]})
    with pytest.raises(TypeError, match="must be an array"):
        net.run({"x": X, "z": X.tolist()})
    check(net, X, X)


@pytest.mark.parametrize("reads_shape", [False, True])
def test_an_input_that_no_step_reads_is_checked_in_every_run(reads_shape):
    inputs = {"x": (np.float32, ("n", 4)), "u": (np.float32, ("m", 4))}
    nodes = [node("Relu", ["x"], "y"), *([node("Shape", ["u"], "s")] if reads_shape else [])]
    net = make_net(nodes, inputs, ["y", "s"] if reads_shape else ["y"])
    for _ in range(2):
        np.testing.assert_array_equal(net.run({"x": X, "u": X})["y"], np.maximum(X, 0))
    with pytest.raises(ValueError, match="input 'u' is missing"):
        net.run({"x": X})
    if reads_shape:
        np.testing.assert_array_equal(net.run({"x": X, "u": X[:2]})["s"], [2, 4])


def test_settings_between_runs_make_another_plan(keep_settings):
    net = net_of_any_size()
    check(net, X, X)
    fbg.set_num_threads(fbg.get_num_threads() + 1)
    check(net, X, X)
    with fbg.isa.limit("generic"):
        check(net, X, X)
    check(net, X, X)
    net.prepare({"x": X, "z": X})
    check(net, X, X)


def test_values_that_a_plan_depends_on_are_looked_at_in_every_run():
    inputs = {"x": X, "s": np.array([0, 0])}
    net = make_net([node("Reshape", ["x", "s"], "y")], inputs, ["y"])
    for shape in ([4, 3], [4, 3], [2, 6], [12, 1]):
        assert net.run({"x": X, "s": np.array(shape)})["y"].shape == tuple(shape)
