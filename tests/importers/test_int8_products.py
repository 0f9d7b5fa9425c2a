"""How many products of a network multiply integers: weights that nodes compute of constants are
quantized like all others, and what is said about the network is what its plan does.
"""

import random

import numpy as np
import onnx
import pytest
from onnx import TensorProto, numpy_helper

import fbg
from fbg.errors import ModelError
from fbg.importers.net import Net
from fbg.importers.onnx.read import read_model
from fbg.importers.products import ProductCount, fold_weights, integer_products
from helpers.commands import invoke
from helpers.onnx_models import make_model, make_net, node
from helpers.quantized_graphs import Graph

RNG = np.random.default_rng(5)
W = RNG.standard_normal((8, 16)).astype(np.float32)
INTEGERS = RNG.integers(-127, 128, (8, 16)).astype(np.int8)
SCALES = RNG.uniform(0.01, 0.02, 16).astype(np.float32)


# Nodes that compute the weights "w" of 8 rows and 16 columns, and their constants.
COMPUTED = {
    "Transpose": ([node("Transpose", ["a"], "w", perm=[1, 0])], {"a": W.T.copy()}),
    "Cast": ([node("Cast", ["a"], "w", to=TensorProto.FLOAT)], {"a": W.astype(np.float16)}),
    "ConstantOfShape": (
        [node("ConstantOfShape", ["a"], "w", value=numpy_helper.from_array(np.float32([0.5])))],
        {"a": np.int64([8, 16])},
    ),
    "Mul": ([node("Mul", ["a", "b"], "w")], {"a": W, "b": np.float32(0.5)}),
    "several": (
        [node("Reshape", ["a", "shape"], "r"), node("Transpose", ["r"], "w", perm=[1, 0])],
        {"a": W.reshape(-1), "shape": np.int64([16, 8])},
    ),
    "integers": (
        [node("DequantizeLinear", ["a", "s"], "w", axis=1)],
        {"a": INTEGERS, "s": SCALES},
    ),
    "integers behind Transpose": (
        [
            node("DequantizeLinear", ["a", "s"], "d", axis=0),
            node("Transpose", ["d"], "w", perm=[1, 0]),
        ],
        {"a": INTEGERS.T.copy(), "s": SCALES},
    ),
    "integers scaled by rows": (
        [node("DequantizeLinear", ["a", "s"], "w", axis=0)],
        {"a": INTEGERS, "s": SCALES[:8]},
    ),
    "integers of floats": (
        [
            node("QuantizeLinear", ["a", "s", "z"], "q", axis=1),
            node("DequantizeLinear", ["q", "s", "z"], "w", axis=1),
        ],
        {"a": W, "s": SCALES, "z": np.zeros(16, np.int8)},
    ),
}
PRODUCTS = {
    "MatMul": [node("MatMul", ["x", "w"], "y")],
    "Gemm": [node("Gemm", ["x", "w"], "y")],
    "two": [
        node("MatMul", ["x", "w"], "p"),
        node("Tanh", ["p"], "t"),
        node("Gemm", ["t", "v"], "y"),
    ],
}


def runs(count=4):
    return [{"x": RNG.standard_normal((5, 8), dtype=np.float32)} for _ in range(count)]


def planned(net):
    """How many of the products of a plan multiply integers."""
    steps = [step.algorithm for step in net.plan().steps]
    return sum(step.startswith("conv") and "int32" in step for step in steps)


@pytest.mark.parametrize("product", list(PRODUCTS))
@pytest.mark.parametrize("kind", list(COMPUTED))
def test_weights_that_nodes_compute_are_quantized(kind, product):
    nodes, constants = COMPUTED[kind]
    nodes = [*nodes, *PRODUCTS[product]]
    constants = {**constants, "v": W.T.copy()} if product == "two" else constants
    feeds = runs()
    exact = make_net(nodes, feeds[0], ["y"], constants)
    net = make_net(nodes, feeds[0], ["y"], constants, calibrate=feeds)
    count = 2 if product == "two" else 1
    assert exact.products == ProductCount(0, count)
    assert net.products == ProductCount(count, count)
    assert planned(net) == count
    for feed in feeds:
        wanted = exact.run(feed)["y"]
        assert np.linalg.norm(net.run(feed)["y"] - wanted) < 0.03 * np.linalg.norm(wanted)


def test_only_what_quantization_needs_is_computed():
    nodes = [
        node("Transpose", ["a"], "w", perm=[1, 0]),
        node("MatMul", ["x", "w"], "p"),
        node("Add", ["b", "b"], "c"),
        node("Add", ["p", "c"], "y"),
    ]
    constants = {"a": W.T.copy(), "b": np.ones(16, np.float32)}
    network = make_net(nodes, runs(1)[0], ["y"], constants).network
    folded = fold_weights(network)
    assert [each.name for each in folded.nodes] == ["p", "c", "y"]
    assert set(folded.constants) == {"w", "b"}
    assert fold_weights(network, {"w"}) is network
    plain = make_net(PRODUCTS["MatMul"], runs(1)[0], ["y"], {"w": W}).network
    assert fold_weights(plain) is plain


def test_networks_hold_no_float32_weights_once_they_are_quantized():
    net = make_net(PRODUCTS["MatMul"], runs(1)[0], ["y"], {"w": W}, calibrate=runs())
    assert "w" not in net.network.constants


def test_repr_tells_how_many_products_multiply_integers():
    nodes = [*PRODUCTS["MatMul"], node("Transpose", ["x"], "t", perm=[1, 0])]
    nodes.append(node("MatMul", ["t", "y"], "z"))  # of two tensors that vary
    feeds = runs()
    assert "int8 in 0 of 2 products" in repr(make_net(nodes, feeds[0], ["z"], {"w": W}))
    net = make_net(nodes, feeds[0], ["z"], {"w": W}, calibrate=feeds)
    assert "int8 in 1 of 2 products" in repr(net)
    assert "no products" in repr(make_net([node("Relu", ["x"], "y")], feeds[0], ["y"]))


def quantized_file(path, product="MatMul"):
    """Write a file whose only product multiplies integers already."""
    nodes = [
        node("QuantizeLinear", ["x", "xs", "xz"], "xq"),
        node("DequantizeLinear", ["xq", "xs", "xz"], "xd"),
        node("DequantizeLinear", ["a", "s"], "w", axis=1),
        node(product, ["xd", "w"], "y"),
    ]
    constants = {"a": INTEGERS, "s": SCALES, "xs": np.float32(0.03), "xz": np.uint8(128)}
    write(path, nodes, constants)


def write(path, nodes, constants):
    onnx.save(make_model(nodes, {"x": (np.float32, (5, 8))}, ["y"], constants, opset=17), path)


def unchanged(path):
    """Files in which int8 changes no product, and what is said about them."""
    varying = [node("Transpose", ["x"], "t", perm=[1, 0]), node("MatMul", ["x", "t"], "y")]
    double = [
        node("Cast", ["x"], "c", to=TensorProto.DOUBLE),
        node("MatMul", ["c", "w"], "p"),
        node("Cast", ["p"], "y", to=TensorProto.FLOAT),
    ]
    write(path / "varying.onnx", varying, {})
    write(path / "double.onnx", double, {"w": W.astype(np.float64)})
    write(path / "relu.onnx", [node("Relu", ["x"], "y")], {})
    quantized_file(path / "quantized.onnx")
    return {
        "varying.onnx": "int8 in 0 of 1 product: only Conv, Gemm and MatMul",
        "double.onnx": "int8 in 0 of 1 product: only Conv, Gemm and MatMul",
        "relu.onnx": "no products",
        "quantized.onnx": "is quantized already, int8 in 1 of 1 product",
    }


@pytest.mark.parametrize("name", ["varying.onnx", "double.onnx", "relu.onnx", "quantized.onnx"])
def test_that_int8_changes_nothing_is_said(tmp_path, name):
    message = unchanged(tmp_path)[name]
    file, feeds = tmp_path / name, runs()
    with pytest.warns(UserWarning) as caught:
        net = fbg.load(file, dtype="int8", calibrate=feeds)
    assert [message in str(each.message) for each in caught] == [True]
    assert caught[0].filename == __file__
    np.savez(tmp_path / "x.npz", x=np.stack([feed["x"] for feed in feeds]))
    result = invoke("quantize", file, tmp_path / "out", "--calibrate", tmp_path / "x.npz")
    assert result.exit_code == 0, result.output
    assert f"Warning: {file}: {message.split(':')[0]}" in result.stderr
    assert result.stderr.splitlines()[-1].startswith(f"{tmp_path / 'out'}: {net.products}")
    result = invoke("compare", file)
    assert result.exit_code == 1
    assert message in result.stderr


def test_weights_alone_in_integers_are_no_quantized_network(tmp_path):
    """Products take integers once what they multiply is quantized, too."""
    nodes, constants = COMPUTED["integers"]
    write(tmp_path / "net.onnx", [*nodes, *PRODUCTS["MatMul"]], constants)
    result = invoke("compare", tmp_path / "net.onnx", "--rounds", "1")
    assert result.exit_code == 0, result.output
    assert "int8 in 1 of 1 products against float32" in result.output
    result = invoke("compare", tmp_path / "net.onnx", "--sensitivity")
    assert result.exit_code == 0, result.output


DEEP = 33_030  # products of a sum, more than int32 holds for certain
FIRST = RNG.standard_normal((8, DEEP)).astype(np.float32)
LAST = RNG.standard_normal((DEEP, 3)).astype(np.float32)
WINDOWS = LAST.T.reshape(3, DEEP // 9, 3, 3).copy()
DEEP_PRODUCTS = {
    "Gemm": ([node("Gemm", ["h", "w"], "y")], {"w": LAST}),
    "Gemm transposed": ([node("Gemm", ["h", "w"], "y", transB=1)], {"w": LAST.T.copy()}),
    "MatMul": ([node("MatMul", ["h", "w"], "y")], {"w": LAST}),
    "Conv": (
        [node("Reshape", ["h", "shape"], "image"), node("Conv", ["image", "w"], "y")],
        {"w": WINDOWS, "shape": np.array([5, *WINDOWS.shape[1:]])},
    ),
}


@pytest.mark.parametrize("kind", DEEP_PRODUCTS)
def test_a_product_too_deep_for_int32_sums_stays_in_float32(tmp_path, kind):
    """It is not counted, and what it reads is not rounded."""
    nodes, constants = DEEP_PRODUCTS[kind]
    first = node("MatMul", ["x", "r"], "h")
    write(tmp_path / "net.onnx", [first, *nodes], {**constants, "r": FIRST})
    net = fbg.load(tmp_path / "net.onnx", dtype="int8", calibrate=runs(), backends=("fbg",))
    feed = runs()[0]
    y = net.run(feed)["y"]
    assert net.products == ProductCount(int8=1, all=2)
    assert not any("h.quantized" in name for step in net.plan().steps for name in step.nodes)
    wanted = feed["x"] @ FIRST @ LAST
    assert np.linalg.norm(y.reshape(5, 3) - wanted) < 0.1 * np.linalg.norm(wanted)


@pytest.mark.parametrize("product", ["Gemm", "MatMul"])
def test_a_quantized_file_with_a_product_too_deep_for_int32_sums_runs(tmp_path, product):
    q = np.clip(np.rint(LAST * 40), -127, 127).astype(np.int8)
    nodes = [
        node("QuantizeLinear", ["x", "s", "z"], "xq"),
        node("DequantizeLinear", ["xq", "s", "z"], "xd"),
        node("DequantizeLinear", ["q", "s"], "w"),
        node(product, ["xd", "w"], "y"),
    ]
    constants = {"q": q, "s": np.float32(0.025), "z": np.uint8(128)}
    model = make_model(nodes, {"x": (np.float32, (2, DEEP))}, ["y"], constants, opset=17)
    onnx.save(model, tmp_path / "net.onnx")
    net = fbg.load(tmp_path / "net.onnx", backends=("fbg",))
    x = RNG.standard_normal((2, DEEP)).astype(np.float32)
    rounded = np.clip(np.rint(x / np.float32(0.025)), -128, 127).astype(np.float64)
    wanted = rounded @ q.astype(np.float64) * 0.025**2
    assert net.products == ProductCount(int8=0, all=1)
    np.testing.assert_allclose(net(x), wanted, rtol=1e-3, atol=1e-2)


def test_counts_are_what_plans_do_with_random_quantized_networks():
    compared = 0
    for seed in range(60):
        model, feed = Graph(random.Random(seed)).draw()
        try:
            net = Net(read_model(model, "random", None))
            net.run(feed)
        except (ModelError, ValueError):
            continue
        found = integer_products(net.network)
        for step in net.plan().steps:
            if step.backend == "fbg" and step.algorithm.startswith("conv"):
                for name in set(step.nodes) & found.keys():
                    assert found[name] == ("int32" in step.algorithm), (seed, step)
                    compared += 1
    assert compared > 20
