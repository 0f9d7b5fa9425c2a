"""Constants that many nodes share are held, packed and prepared once, whatever reads them."""

import warnings
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

import fbg
from helpers.onnx_models import make_model, node
from helpers.peak_memory import peak

RNG = np.random.default_rng(0)
NODES = 128
WIDTH = 1024  # of weights of 1 or 4 MB
BYTE = np.array(3, np.uint8)
STEP = np.array(0.01, np.float32)
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
        "step": STEP,
        "byte": BYTE,
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
    constants = {"q": q, "scales": scales, "step": STEP, "byte": BYTE}
    nodes = [
        node("DequantizeLinear", ["q", "scales"], "w", axis=1),
        node("QuantizeLinear", ["x", "step", "byte"], "xq"),
        node("DequantizeLinear", ["xq", "step", "byte"], "xd"),
        node("MatMul", ["xd", "w"], "y"),
    ]
    path, inputs = tmp_path / "m.onnx", {"x": (np.float32, (1, q.shape[0]))}
    onnx.save(make_model(nodes, inputs, ["y"], constants, opset=17), path)
    x = np.rint(RNG.uniform(0, 1, (1, q.shape[0])) * 100) * STEP
    size, result = grown(path, x.astype(np.float32))
    assert size < 8 * path.stat().st_size
    np.testing.assert_allclose(result, x @ (q * scales.astype(np.float64)), 1e-3, 1e-3)
