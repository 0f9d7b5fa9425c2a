"""Runs whose inputs are like those of the last one go through a single call, without Python's
checks: they give the same results, and whatever is not like them is checked as before.
"""

import threading

import numpy as np
import pytest

import fbg
from fbg.errors import ModelError
from helpers.onnx_models import make_net, node

RNG = np.random.default_rng(0)
SHAPE = (3, 4)


def floats(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


def two_outputs(**options):
    """Return a network that writes `product` first and lists it last; z is not used."""
    nodes = [node("Mul", ["x", "y"], "product"), node("Sub", ["product", "x"], "difference")]
    kind = (np.float32, ("n", 4))
    inputs = {"x": kind, "y": kind}
    outputs = {"difference": kind, "product": kind}
    return make_net(nodes, inputs, outputs, **options)


def check(net, x, y):
    found = net.run({"x": x, "y": y})
    assert list(found) == ["difference", "product"]
    a, b = (np.asarray(array, np.float32) for array in (x, y))
    np.testing.assert_array_equal(found["product"], a * b)
    np.testing.assert_array_equal(found["difference"], a * b - a)
    return found


def test_results_are_new_arrays_in_the_order_of_the_file():
    net = two_outputs()
    first = check(net, floats(*SHAPE), floats(*SHAPE))
    assert net._ready is not None
    kept = {name: y.copy() for name, y in first.items()}
    for _ in range(3):
        check(net, floats(*SHAPE), floats(*SHAPE))
    for name, y in first.items():
        np.testing.assert_array_equal(y, kept[name])
        assert y.flags.writeable


class Own(np.ndarray):
    pass


def variants():
    """Yield inputs that hold the same numbers in other ways."""
    x = floats(*SHAPE)
    raw = np.zeros(x.nbytes + 1, np.uint8)
    raw[1:] = x.view(np.uint8).reshape(-1)
    yield "as it is", x
    yield "columns first", np.asfortranarray(x)
    yield "every second", np.repeat(x, 2, axis=1)[:, ::2]
    yield "backwards", x[::-1].copy()[::-1]
    yield "not aligned", raw[1:].view(np.float32).reshape(SHAPE)
    yield "subclass", x.view(Own)
    frozen = x.copy()
    frozen.flags.writeable = False
    yield "read only", frozen


@pytest.mark.parametrize(("how", "x"), list(variants()))
def test_arrays_that_are_not_dense_give_the_same(how, x):
    net, y = two_outputs(), floats(*SHAPE)
    for _ in range(2):
        check(net, np.ascontiguousarray(x), y)
        check(net, x, y)


def test_what_does_not_fit_is_refused_after_a_run_as_before_it():
    net, x = two_outputs(), floats(*SHAPE)
    check(net, x, x)
    for error, feeds in (
        (TypeError, {"x": x, "y": x.astype(np.float64)}),
        (TypeError, {"x": x, "y": x.tolist()}),
        (TypeError, [x, x]),
        (ValueError, {"x": x}),
        (ValueError, {"x": x, "z": x}),
        (ValueError, {"x": x, "y": x, "z": x}),
        (ValueError, {"x": x, "y": x[:2]}),
        (ValueError, {"x": x, "y": x[:, :2]}),
    ):
        with pytest.raises(error):
            net.run(feeds)
        check(net, x, x)


def test_other_shapes_and_settings_have_plans_of_their_own(keep_settings):
    net = two_outputs()
    for n in (3, 5, 3, 0, 3, 20000, 3):
        check(net, floats(n, 4), floats(n, 4))
        assert net._last_inputs is not None and net._last_inputs[0] == ((n, 4), (n, 4))
    session = net._current("test")
    fbg.set_num_threads(1 + fbg.get_num_threads() % 2)
    check(net, floats(*SHAPE), floats(*SHAPE))
    assert net._current("test") is not session
    with fbg.isa.limit("generic"):
        check(net, floats(*SHAPE), floats(*SHAPE))
        assert net._current("test")._features != session._features
    before = net._current("test")
    net.prepare({"x": floats(*SHAPE), "y": floats(*SHAPE)})
    check(net, floats(*SHAPE), floats(*SHAPE))
    assert net._current("test") is not before


def test_a_large_output_begins_with_a_line_of_the_cache():
    net, x = two_outputs(), floats(20000, 4)
    check(net, x, x)
    for y in check(net, x, x).values():
        assert y.ctypes.data % 64 == 0


def test_initializers_and_indices_are_looked_at():
    nodes = [node("Gather", ["w", "i"], "y")]
    w = floats(5, 2)
    net = make_net(nodes, {"i": (np.int64, (3,))}, {"y": (np.float32, (3, 2))}, {"w": w})
    for _ in range(3):
        np.testing.assert_array_equal(net.run({"i": np.array([0, -1, 4])})["y"], w[[0, -1, 4]])
        with pytest.raises((ModelError, ValueError)):
            net.run({"i": np.array([0, 5, 1])})


@pytest.mark.races
def test_threads_share_the_call():
    net, failed = two_outputs(), []

    def work(n):
        x, y = floats(n, 4), floats(n, 4)
        for _ in range(50):
            try:
                check(net, x, y)
            except BaseException as error:
                failed.append(error)
                raise

    threads = [threading.Thread(target=work, args=(n,)) for n in (3, 3, 7, 40)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failed
