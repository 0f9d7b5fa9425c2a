"""Subnormal numbers count as zeros in networks and models, whatever the thread of the caller does,
which goes on as before."""

import threading

import numpy as np
import pytest

import fbg
from fbg import _fbg
from helpers.float_modes import flushes, flushing
from helpers.onnx_models import make_model, make_net, node, plain_onnxruntime
from helpers.row_plans import compute, draw

TINY = np.float32(1e-40)
X = draw(1, 1, 8, 9, 9)
W, V, U = draw(2, 16, 8, 1, 1), draw(3, 16, 1, 3, 3), draw(4, 16 * 81, 5)
NODES = [
    node("Conv", ["x", "w"], "c"),
    node("Relu", ["c"], "r"),
    node("Conv", ["r", "v"], "d", group=16, pads=[1, 1, 1, 1]),
    node("Flatten", ["d"], "f"),
    node("MatMul", ["f", "u"], "y"),
]


def constants(w: float = 1.0, u: float = 1.0) -> dict[str, np.ndarray]:
    """Weights of the first and the last layer, scaled by a factor each."""
    return {"w": W * np.float32(w), "v": V, "u": U * np.float32(u)}


def network(w: float = 1.0, u: float = 1.0, **options):
    return make_net(NODES, {"x": X}, ["y"], constants(w, u), **options)


def output(net, x: float = 1.0) -> np.ndarray:
    return net.run({"x": X * np.float32(x)})["y"]


# Magnitudes of x, w and u for which inputs, weights, or results of the first layer are subnormal.
@pytest.mark.parametrize("scales", [(1e-40, 1e20, 1e15), (1e20, 1e-40, 1e15), (1e-20, 1e-20, 1e35)])
@pytest.mark.parametrize("num_threads", [1, 2])
def test_networks_take_subnormal_numbers_for_zeros(num_threads, scales, isa):
    x, w, u = scales
    model = make_model(NODES, {"x": X}, ["y"], constants(w, u))
    assert np.abs(plain_onnxruntime(model, {"x": X * np.float32(x)})[0]).max() > 1e-5
    net = network(w, u, num_threads=num_threads)
    assert np.count_nonzero(output(net, x)) == 0
    assert not flushes()
    with flushing():
        assert np.count_nonzero(output(net, x)) == 0


@pytest.mark.parametrize("num_threads", [1, 2])
def test_networks_give_the_same_bits_on_threads_that_flush(num_threads, isa):
    wanted = output(network(num_threads=num_threads))
    assert np.abs(wanted).max() > 1
    with flushing():  # and prepare the same of weights
        np.testing.assert_array_equal(output(network(num_threads=num_threads)), wanted)


def test_steps_of_other_back_ends_run_as_the_thread_of_the_caller_does():
    nodes = [node("Mul", ["x", "half"], "y"), node("Atan", ["x"], "z"), node("Relu", ["z"], "r")]
    tiny = np.full((2, 3), TINY)
    constants, foreign = {"half": np.float32(0.5)}, {"z": "onnxruntime"}
    net = make_net(nodes, {"x": tiny}, ["y", "z"], constants, placement=foreign)
    results = net.run({"x": tiny})
    assert np.count_nonzero(results["y"]) == 0
    np.testing.assert_array_equal(results["z"], tiny)


@pytest.mark.parametrize("num_threads", [1, 2])
def test_layers_of_encoders_take_subnormal_numbers_for_zeros(num_threads, isa):
    rows, hidden, inner = 7, 32, 64

    def layer(scale: float) -> np.ndarray:
        """Attention; then linear layers, the first of which scales by a factor."""

        def linear(x: int, k: int, n: int, factor: float, **options: str) -> int:
            w = draw(n, k, n) * np.float32(factor)
            return graph.append("linear", x, _fbg.pack_b_convert(w, "float32"), **options)

        graph = _fbg.Graph()
        qkv = linear(graph.append("input", hidden), hidden, 3 * hidden, 1.0)
        context = graph.append("attention", qkv, (2, 2, hidden // 2))
        x = linear(context, hidden, inner, scale, activation="gelu")
        y = linear(x, inner, hidden, 1e20)
        return compute(graph, draw(8, rows, hidden) * np.float32(1e-20), y, hidden, num_threads)

    wanted, zeros = layer(1e-10), layer(1e-20)
    assert np.count_nonzero(wanted) == wanted.size
    assert np.count_nonzero(zeros) == 0
    with flushing():
        np.testing.assert_array_equal(layer(1e-10), wanted)
        np.testing.assert_array_equal(layer(1e-20), zeros)
    assert not flushes()


@pytest.mark.parametrize(
    ("function", "at_zero"),
    [("log", -np.inf), ("sign", 0), ("sin", 0), ("sqrt", 0), ("elu", 0), ("not", 1), ("exp", 1)],
)
def test_functions_of_elements_have_their_value_at_zero(function, at_zero):
    name = {"sqrt": "square_root"}.get(function, function)
    x = np.array([TINY, TINY if function == "log" else -TINY], np.float32)
    graph = _fbg.Graph()
    a = graph.append("input", x.nbytes, "tensor")
    operands, program = [(a, "float32", [1])], [(name, 0, 0, 1.0, 0.0)]
    graph.output(graph.append("elementwise", [2], operands, program))
    out = np.empty(2, np.float32)
    _fbg.run_tensors(_fbg.Plan(graph, 1, 1, 1, 1), [x], [out], 1)
    np.testing.assert_array_equal(out, np.full(2, at_zero, np.float32))


@pytest.mark.races
def test_threads_serve_plans_and_products_in_turn():
    net = network(1e-20, 1e35, num_threads=2)
    x, w = draw(5, 4, 64) * TINY, fbg.PackedB(draw(6, 64, 64), dtype="float32")
    wanted = fbg.linear(x, w, num_threads=2)
    assert wanted.any()
    failures: list[BaseException] = []

    def call(flush: bool) -> None:
        try:
            for _ in range(20):
                assert not output(net, 1e-20).any()
                np.testing.assert_array_equal(fbg.linear(x, w, num_threads=2), wanted)
                assert not fbg.linear(x, w, num_threads=2, flush_subnormals=True).any()
                assert flushes() == flush
        except BaseException as error:  # told by the thread that waits
            failures.append(error)

    def call_flushing() -> None:
        with flushing():
            call(True)

    threads = [threading.Thread(target=call, args=(False,)) for _ in range(2)]
    threads += [threading.Thread(target=call_flushing) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
