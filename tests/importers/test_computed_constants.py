"""Constants that nodes compute, read anywhere by networks in int8: close to float32."""

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

from helpers.onnx_models import make_net, node

RNG = np.random.default_rng(0)
IMAGE, ROWS = (2, 8, 6, 6), (2, 9, 8)


def numbers(*shape):
    return (RNG.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)


CONSTANTS = {
    "k": numbers(8, 8, 3, 3),
    "v": numbers(8, 8),
    "zeros": np.zeros(8, np.float32),
    "ones": np.ones(8, np.float32),
    "half": np.float32(0.5),
    "axis": np.array([0]),
    "two": np.array(2),
}

# Nodes that compute an array `c` and the constants that they read.


def with_shape(c):
    return [node("Reshape", ["c0", "c1"], "c")], {"c0": c.ravel(), "c1": np.array(c.shape)}


def transposed(c):
    perm = list(range(c.ndim))[::-1]
    return [node("Transpose", ["c0"], "c", perm=perm)], {"c0": np.ascontiguousarray(c.T)}


def gathered(c):
    indices = np.arange(c.size)[::-1].reshape(c.shape)
    return [node("Gather", ["c0", "c1"], "c")], {"c0": c.ravel()[::-1].copy(), "c1": indices}


def moved_twice(c):
    nodes = [node("Unsqueeze", ["c0", "axis"], "c1"), node("Squeeze", ["c1", "axis"], "c")]
    return nodes, {"c0": c}


def taken_apart(c):
    split = helper.make_node("Split", ["c0"], ["c", "c1"], "split", axis=0, num_outputs=2)
    return [split], {"c0": np.concatenate([c, c])}


def cast(c):
    return [node("Cast", ["c0"], "c", to=TensorProto.FLOAT)], {"c0": c.astype(np.float16)}


def repeated(c):
    value = numpy_helper.from_array(np.float32([0.02]))
    return [node("ConstantOfShape", ["c0"], "c", value=value)], {"c0": np.array(c.shape)}


def dequantized(c):
    q = np.clip(np.rint(c * 64), -127, 127).astype(np.int8)
    return [node("DequantizeLinear", ["c0", "c1"], "c")], {"c0": q, "c1": np.float32(1 / 64)}


def dequantized_and_moved(c):
    (first,), constants = dequantized(c.ravel())
    first.output[0] = "c2"
    return [first, node("Reshape", ["c2", "c3"], "c")], {**constants, "c3": np.array(c.shape)}


def from_the_shape_of_x(c):
    """Known only when the shape of x is, although it is the same for all shapes."""
    nodes = [
        node("Shape", ["x"], "c1", end=1),
        node("Sub", ["c1", "two"], "c2"),
        node("Cast", ["c2"], "c3", to=TensorProto.FLOAT),
        node("Add", ["c0", "c3"], "c"),
    ]
    return nodes, {"c0": c}


def from_a_branch(c):
    """Not known before a run, nor is its type by the file."""

    def branch(name):
        nodes = [node("Constant", [], name, value=numpy_helper.from_array(c))]
        return helper.make_graph(nodes, name, [], [helper.make_value_info(name, no_type())])

    def no_type():
        return helper.make_tensor_type_proto(TensorProto.FLOAT, None)

    condition = [
        node("ReduceMax", ["x"], "c1", keepdims=0),
        node("Greater", ["c1", "half"], "c2"),
    ]
    choice = node("If", ["c2"], "c", then_branch=branch("then"), else_branch=branch("else"))
    return [*condition, choice], {}


SOURCES = (
    *(with_shape, transposed, gathered, moved_twice, taken_apart, cast, repeated, dequantized),
    *(dequantized_and_moved, from_the_shape_of_x, from_a_branch),
)

# Networks that read c: the shape of c, of x, and nodes between x and y.


def conv(x, w, y):
    return node("Conv", [x, w], y, pads=[1] * 4)


READERS = {
    "weights of a convolution": (
        (8, 8, 3, 3),
        IMAGE,
        [conv("x", "k", "a"), node("Relu", ["a"], "b"), conv("b", "c", "y")],
    ),
    "weights that are moved again": (
        (8, 8, 3, 3),
        IMAGE,
        [
            conv("x", "k", "a"),
            node("Transpose", ["c"], "w", perm=[1, 0, 2, 3]),
            conv("a", "w", "y"),
        ],
    ),
    "weights of transposed convolutions": (
        (8, 8, 2, 2),
        IMAGE,
        [conv("x", "k", "a"), node("ConvTranspose", ["a", "c"], "b"), node("Relu", ["b"], "y")],
    ),
    "weights of a matrix product": (
        (8, 8),
        ROWS,
        [
            node("MatMul", ["x", "v"], "a"),
            node("Relu", ["a"], "b"),
            node("MatMul", ["b", "c"], "y"),
        ],
    ),
    "a stack of matrices": (
        (2, 8, 8),
        ROWS,
        [node("MatMul", ["x", "v"], "a"), node("MatMul", ["a", "c"], "y")],
    ),
    "a bias": (
        (8,),
        IMAGE,
        [conv("x", "k", "a"), node("Conv", ["a", "k", "c"], "y")],
    ),
    "a summand": (
        (8, 1, 1),
        IMAGE,
        [conv("x", "k", "a"), node("Add", ["a", "c"], "b"), conv("b", "k", "y")],
    ),
    "what is joined": (
        IMAGE,
        IMAGE,
        [conv("x", "k", "a"), node("Concat", ["a", "c"], "b", axis=2), conv("b", "k", "y")],
    ),
    "x of a product": (
        IMAGE,
        IMAGE,
        [
            conv("x", "k", "a"),
            conv("c", "k", "b"),
            node("Transpose", ["a"], "d", perm=[0, 1, 3, 2]),
            node("Add", ["b", "d"], "e"),
            conv("e", "k", "y"),
        ],
    ),
    "a bias of attention": (
        (9, 9),
        ROWS,
        [
            node("MatMul", ["x", "v"], "q"),
            node("Transpose", ["q"], "t", perm=[0, 2, 1]),
            node("MatMul", ["q", "t"], "s"),
            node("Mul", ["s", "half"], "m"),
            node("Add", ["m", "c"], "a"),
            node("Softmax", ["a"], "p"),
            node("MatMul", ["p", "q"], "o"),
            node("MatMul", ["o", "v"], "y"),
        ],
    ),
    "a scale of a norm": (
        (8,),
        ROWS,
        [
            node("MatMul", ["x", "v"], "a"),
            node("LayerNormalization", ["a", "c", "zeros"], "n"),
            node("MatMul", ["n", "v"], "y"),
        ],
    ),
    "a factor of a batch norm": (
        (8,),
        IMAGE,
        [
            conv("x", "k", "a"),
            node("BatchNormalization", ["a", "c", "zeros", "zeros", "ones"], "b"),
            conv("b", "k", "y"),
        ],
    ),
    "an output": (
        (8,),
        IMAGE,
        [conv("x", "k", "a"), node("Mul", ["half", "c"], "z"), conv("a", "k", "y")],
    ),
}


@pytest.mark.parametrize("source", SOURCES)
@pytest.mark.parametrize("reader", READERS)
def test_int8_is_close_to_float32(reader, source):
    size, shape, nodes = READERS[reader]
    more, constants = source(numbers(*size))
    constants |= CONSTANTS
    nodes, outputs = [*more, *nodes], ["y", "z"] if reader == "an output" else ["y"]
    feed = {"x": RNG.standard_normal(shape).astype(np.float32)}
    exact = make_net(nodes, feed, outputs, constants).run(feed)
    for equalize in (False, True):
        options = {"calibrate": [feed], "equalize": equalize}
        net = make_net(nodes, feed, outputs, constants, **options)
        for name, got in net.run(feed).items():
            assert np.linalg.norm(got - exact[name]) < 0.05 * np.linalg.norm(exact[name])
        assert net.products.int8 > 0


def rounded(net):
    return {n.inputs[0] for n in net.network.nodes if n.op == "QuantizeLinear"}


@pytest.mark.parametrize("source", [from_the_shape_of_x, from_a_branch])
def test_nothing_is_rounded_for_weights_that_are_not(source):
    more, constants = source(numbers(8, 8))
    nodes = [*more, node("MatMul", ["x", "v"], "a"), node("MatMul", ["x", "c"], "b")]
    nodes += [node("Add", ["a", "b"], "y")]
    feed = {"x": RNG.standard_normal(ROWS).astype(np.float32)}
    net = make_net(nodes, feed, ["y"], {**constants, **CONSTANTS}, calibrate=[feed])
    reads = {n.name: n.inputs[0] for n in net.network.nodes}
    assert (reads["a"], reads["b"]) == ("x.dequantized", "x")


def test_computed_biases_are_corrected_and_equalized():
    k, b = numbers(8, 8, 3, 3), numbers(8)
    nodes = [conv("x", "k", "a"), node("Conv", ["a", "k", "c"], "y")]
    feed = {"x": RNG.uniform(0, 1, IMAGE).astype(np.float32)}
    results = []
    for more, constants in (([], {"c": b}), with_shape(b)):
        constants = {**CONSTANTS, **constants, "k": k}
        options = {"calibrate": [feed], "equalize": True}
        results.append(make_net([*more, *nodes], feed, ["y"], constants, **options).run(feed)["y"])
    np.testing.assert_array_equal(*results)


HUGE = np.float32([3e38, -3e38, np.inf, -1, 0, np.nan, 300, 1e-40])


@pytest.mark.filterwarnings("error::RuntimeWarning")
@pytest.mark.parametrize("before", ["", "Conv"])
@pytest.mark.parametrize(
    "op", ["BatchNormalization", "DequantizeLinear", "GRU", "InstanceNormalization", "Mul"]
)
def test_constants_that_overflow_show_in_results_and_give_no_warning(op, before):
    """NaN of a negative variance or of inf - inf, and infinities, are what the file says."""
    x = numbers(1, 8, 3, 3)
    terms = {
        "BatchNormalization": [HUGE] * 4,
        "DequantizeLinear": [HUGE],
        "GRU": [numbers(1, 24, 3), numbers(1, 24, 8), np.tile(HUGE, 6).reshape(1, 48)],
        "InstanceNormalization": [HUGE] * 2,
        "Mul": [HUGE.reshape(8, 1, 1)],
    }[op]
    constants = {f"c{i}": term for i, term in enumerate(terms)}
    nodes, read = [], "x"
    if before:
        nodes, read = [node("Conv", ["x", "w"], "t", pads=[1, 1, 1, 1])], "t"
        constants["w"] = np.full((8, 8, 3, 3), 3e38, np.float32)
    if op == "GRU":
        constants["shape"] = np.array([8, 3, 3])
        nodes.append(node("Reshape", [read, "shape"], "r"))
        read = "r"
    if op == "DequantizeLinear":
        constants["q"] = np.full((1, 8, 3, 3), 100, np.int32)
        nodes += [node(op, ["q", "c0"], "d", axis=1), node("Add", [read, "d"], "y")]
    else:
        more = {"hidden_size": 8} if op == "GRU" else {}
        nodes.append(node(op, [read, *(f"c{i}" for i in range(len(terms)))], "y", **more))
    shape = (8, 1, 3, 8) if op == "GRU" else x.shape
    net = make_net(nodes, {"x": x}, {"y": (np.float32, shape)}, constants)
    (y,) = net.run({"x": x}).values()
    assert not np.isfinite(y).all()
