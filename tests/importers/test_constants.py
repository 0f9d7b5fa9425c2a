"""Constants that nodes compute, that repeat one element, and that several nodes share."""

import warnings
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import fbg
from fbg.importers.onnx.read import read_model
from fbg.importers.session import infer
from helpers.onnx_models import make_model, make_net, node
from helpers.peak_memory import peak

# Constants that nodes compute, read anywhere by networks in int8: close to float32.

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


# Constants that repeat one element take no memory until they are packed, wherever they go.

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


# Constants that many nodes share are held, packed and prepared once, whatever reads them.

NODES = 128
WIDTH = 1024  # of weights of 1 or 4 MB
LITTLE = np.array(3, np.uint8)
FRACTION = np.array(0.01, np.float32)
FLOATS = (RNG.standard_normal((WIDTH, WIDTH)) / 32).astype(np.float32)
BYTES = RNG.integers(0, 256, (WIDTH, WIDTH), dtype=np.uint8)
LONG = RNG.uniform(0.5, 1, 2**20).astype(np.float32)


def matmul(x, y, i):
    return [node("MatMul", [x, "floats"], y)]


def scaled_gemm(x, y, i):
    return [node("Gemm", [x, "floats", "row"], y, alpha=0.5, beta=0.5, transB=1)]


def scaled_channels(x, y, i):
    return [node("MatMul", [x, "floats"], f"{y}p"), node("Mul", [f"{y}p", f"factors{i}"], y)]


def qlinear_matmul(x, y, i):
    return [
        node("QuantizeLinear", [x, "step", "byte"], f"{y}q"),
        node(
            "QLinearMatMul",
            [f"{y}q", "step", "byte", "bytes", "step", "byte", "step", "byte"],
            f"{y}p",
        ),
        node("DequantizeLinear", [f"{y}p", "step", "byte"], y),
    ]


def integer_matmul(x, y, i):
    return [
        node("QuantizeLinear", [x, "step", "byte"], f"{y}q"),
        node("MatMulInteger", [f"{y}q", "bytes", "byte", "byte"], f"{y}p"),
        node("Cast", [f"{y}p"], y, to=TensorProto.FLOAT),
    ]


def dynamic_matmul(x, y, i):  # with a zero point that every run finds
    names = [f"{y}q", f"{y}s", f"{y}z"]
    return [
        helper.make_node("DynamicQuantizeLinear", [x], names, y),
        node("MatMulInteger", [names[0], "bytes", names[2], "byte"], f"{y}p"),
        node("Cast", [f"{y}p"], y, to=TensorProto.FLOAT),
    ]


def quantized_weights(x, y, i):
    return [
        node("DequantizeLinear", ["bytes", "step", "byte"], f"{y}w"),
        node("QuantizeLinear", [x, "step", "byte"], f"{y}q"),
        node("DequantizeLinear", [f"{y}q", "step", "byte"], f"{y}d"),
        node("MatMul", [f"{y}d", f"{y}w"], y),
    ]


def scales_of_channels(x, y, i):
    return [
        node("QuantizeLinear", [x, "long"], f"{y}q", axis=1),
        node("DequantizeLinear", [f"{y}q", "long"], y, axis=1),
    ]


def convolutions_of_other_padding(x, y, i):
    pads = [1 + i % 16, 1 + i // 16]
    conv = node("Conv", [f"{y}x", "kernel"], f"{y}p", pads=[*pads, 0, 0])
    return [
        node("Reshape", [x, "image"], f"{y}x"),
        conv,
        node("ReduceMax", [f"{y}p"], f"{y}m", axes=[2, 3]),
        node("Reshape", [f"{y}m", "row_shape"], y),
    ]


def saved(path, make, width):
    constants = {
        "step": FRACTION,
        "byte": LITTLE,
        "floats": FLOATS,
        "row": FLOATS[0],
        "bytes": BYTES,
        "long": LONG,
        "kernel": FLOATS.reshape(WIDTH, WIDTH, 1, 1),
        "image": np.array([1, WIDTH, 1, 1]),
        "row_shape": np.array([1, WIDTH]),
    }
    constants |= {
        f"factors{i}": RNG.uniform(0.5, 1, WIDTH).astype(np.float32) for i in range(NODES)
    }
    nodes = [n for i in range(NODES) for n in make(f"x{i}", f"x{i + 1}", i)]
    read = {name for n in nodes for name in n.input}
    constants = {name: value for name, value in constants.items() if name in read}
    inputs = {"x0": (np.float32, (1, width))}
    model = make_model(nodes, inputs, [f"x{NODES}"], constants, opset=17)
    path.write_bytes(model.SerializeToString())
    return model


def grown(path, x):
    """Return the most bytes of memory that a network takes to load and to run, and its result."""
    Path("/proc/self/clear_refs").write_text("5")
    before = peak()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = fbg.load(path, num_threads=1)(x)
    return peak() - before, result


# Length of the input, and the most megabytes of memory. Weights that are different after a factor
# for each channel may be packed each, as long as there is room.
CASES = {
    matmul: (WIDTH, 64),
    scaled_gemm: (WIDTH, 64),
    scaled_channels: (WIDTH, 256),
    qlinear_matmul: (WIDTH, 64),
    integer_matmul: (WIDTH, 64),
    dynamic_matmul: (WIDTH, 128),
    quantized_weights: (WIDTH, 64),
    scales_of_channels: (len(LONG), 128),
}


@pytest.mark.parametrize("make", CASES, ids=lambda make: make.__name__)
def test_what_many_nodes_make_of_one_constant_is_in_memory_once(tmp_path, make):
    path = tmp_path / "m.onnx"
    width, most = CASES[make]
    saved(path, make, width)
    x = RNG.standard_normal((1, width)).astype(np.float32)
    size, result = grown(path, x)
    assert size < most << 20
    assert np.isfinite(result).all()


def test_weights_that_are_packed_in_too_many_ways_are_refused(tmp_path):
    path = tmp_path / "m.onnx"
    saved(path, convolutions_of_other_padding, WIDTH)
    Path("/proc/self/clear_refs").write_text("5")
    before = peak()
    with pytest.raises(fbg.ModelError, match=r"m\.onnx: node 'x\d+p': weights of shape .* ways"):
        fbg.load(path)
    assert peak() - before < (256 << 20) + 4 * path.stat().st_size


def test_steps_elsewhere_that_compute_the_same_share_a_session(tmp_path):
    saved(tmp_path / "m.onnx", dynamic_matmul, WIDTH)
    elsewhere = {f"x{i + 1}p": "onnxruntime" for i in range(NODES)}
    net = fbg.load(tmp_path / "m.onnx", placement=elsewhere)
    (session,) = net._sessions.plans
    foreign = [p.prepared for p in session._parts if p.backend.name == "onnxruntime"]
    assert len(foreign) == NODES
    assert len({id(part._session) for part in foreign}) == 1


@pytest.mark.parametrize("make", [matmul, scaled_gemm, scaled_channels, qlinear_matmul])
def test_results_are_those_of_onnxruntime(tmp_path, make):
    onnxruntime = pytest.importorskip("onnxruntime")
    path = tmp_path / "m.onnx"
    model = saved(path, make, WIDTH)
    x = RNG.standard_normal((1, WIDTH)).astype(np.float32)
    model.graph.output[0].name = "x2"  # later ones differ by steps of quantization
    expected = onnxruntime.InferenceSession(model.SerializeToString()).run(None, {"x0": x})[0]
    onnx.save(model, path)
    np.testing.assert_allclose(fbg.load(path)(x), expected, 1e-3, 1e-3)


def test_weights_that_are_integers_are_never_held_as_floats(tmp_path):
    q = RNG.integers(-127, 128, (2048, 8192), dtype=np.int8)
    scales = RNG.uniform(0.001, 0.002, q.shape[1]).astype(np.float32)
    constants = {"q": q, "scales": scales, "step": FRACTION, "byte": LITTLE}
    nodes = [
        node("DequantizeLinear", ["q", "scales"], "w", axis=1),
        node("QuantizeLinear", ["x", "step", "byte"], "xq"),
        node("DequantizeLinear", ["xq", "step", "byte"], "xd"),
        node("MatMul", ["xd", "w"], "y"),
    ]
    path, inputs = tmp_path / "m.onnx", {"x": (np.float32, (1, q.shape[0]))}
    onnx.save(make_model(nodes, inputs, ["y"], constants, opset=17), path)
    x = np.rint(RNG.uniform(0, 1, (1, q.shape[0])) * 100) * FRACTION
    size, result = grown(path, x.astype(np.float32))
    assert size < 8 * path.stat().st_size
    np.testing.assert_allclose(result, x @ (q * scales.astype(np.float64)), 1e-3, 1e-3)
