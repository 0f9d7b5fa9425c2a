"""Classify digits with a small convolutional network from an ONNX file, in float32 and in int8.

    python examples/digits.py

The images are 1797 handwritten digits of 8 x 8 pixels: the test set of the "Optical Recognition of
Handwritten Digits" by E. Alpaydin and C. Kaynak, UCI Machine Learning Repository, 1998, CC BY 4.0.
The network is trained here, in a few seconds of NumPy, and written as an ONNX file, as any other
program might. fbg then runs the file, and quantizes it with some of the training images.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from onnx import TensorProto, helper, numpy_helper, save

import fbg

Array = npt.NDArray[Any]
TEST_IMAGES = 500
CALIBRATION_IMAGES = 200
EPOCHS = 12
CHANNELS = (16, 32)
MODEL_OPSET = 17


def load_digits() -> tuple[Array, Array]:
    """Return images (N, 1, 8, 8) in [0, 1] and their digits, in a fixed random order."""
    with np.load(Path(__file__).with_suffix(".npz")) as file:
        images, digits = file["images"], file["digits"]
    order = np.random.default_rng(0).permutation(len(digits))
    return (images[order, None] / 16).astype(np.float32), digits[order]


def patches(x: Array) -> Array:
    """Return the 3 x 3 neighbourhood of each pixel: (N, H, W, C * 9)."""
    padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
    windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), axis=(2, 3))
    n, c, h, w = x.shape
    return windows.transpose(0, 2, 3, 1, 4, 5).reshape(n, h, w, c * 9)


class Layer:
    """A 3 x 3 convolution, ReLU, and the maximum of 2 x 2 pixels: forward and backward."""

    def __init__(self, rng: np.random.Generator, inputs: int, outputs: int) -> None:
        scale = np.sqrt(2 / (inputs * 9))
        self.w = (rng.standard_normal((inputs * 9, outputs)) * scale).astype(np.float32)
        self.b = np.zeros(outputs, np.float32)

    def forward(self, x: Array) -> Array:
        self.shape, self.columns = x.shape, patches(x)
        self.sums = np.maximum(self.columns @ self.w + self.b, 0)
        n, h, w, c = self.sums.shape
        blocks = self.sums.reshape(n, h // 2, 2, w // 2, 2, c)
        self.pooled = blocks.max((2, 4))
        return self.pooled.transpose(0, 3, 1, 2)

    def backward(self, gradient: Array, rate: float) -> Array:
        wide = gradient.transpose(0, 2, 3, 1).repeat(2, 1).repeat(2, 2)
        largest = self.pooled.repeat(2, 1).repeat(2, 2)
        back = wide * ((self.sums == largest) & (self.sums > 0))
        inner = (back @ self.w.T).reshape(*back.shape[:3], self.shape[1], 3, 3)
        padded = np.zeros((*self.shape[:2], self.shape[2] + 2, self.shape[3] + 2), np.float32)
        for i, j in np.ndindex(3, 3):
            h, w = self.shape[2:]
            padded[:, :, i : i + h, j : j + w] += inner[..., i, j].transpose(0, 3, 1, 2)
        flat = back.reshape(-1, back.shape[-1])
        self.w -= rate * self.columns.reshape(len(flat), -1).T @ flat
        self.b -= rate * flat.sum(0)
        return padded[:, :, 1:-1, 1:-1]


def train(images: Array, labels: Array) -> tuple[list[Layer], Array, Array]:
    """Return convolutions and the last layer, trained by gradient descent."""
    rng = np.random.default_rng(1)
    layers = [Layer(rng, 1, CHANNELS[0]), Layer(rng, *CHANNELS)]
    features = CHANNELS[1] * 4
    w = (rng.standard_normal((features, 10)) / np.sqrt(features)).astype(np.float32)
    b = np.zeros(10, np.float32)
    for epoch in range(EPOCHS):
        rate = 0.1 * 0.85**epoch
        for batch in np.array_split(rng.permutation(len(images)), len(images) // 32):
            x = images[batch]
            for layer in layers:
                x = layer.forward(x)
            flat = x.reshape(len(x), -1)
            logits = flat @ w + b
            odds = np.exp(logits - logits.max(1, keepdims=True))
            gradient = odds / odds.sum(1, keepdims=True)
            gradient[np.arange(len(batch)), labels[batch]] -= 1
            gradient /= len(batch)
            back = (gradient @ w.T).reshape(x.shape)
            w -= rate * flat.T @ gradient
            b -= rate * gradient.sum(0)
            for layer in reversed(layers):
                back = layer.backward(back, rate)
    return layers, w, b


def write_model(path: Path, layers: list[Layer], w: Array, b: Array) -> None:
    """Write the network as an ONNX file."""
    nodes, constants, x = [], {"w": w, "b": b}, "images"
    for i, layer in enumerate(layers):
        inputs = layer.w.shape[0] // 9
        constants[f"w{i}"] = np.ascontiguousarray(layer.w.T.reshape(-1, inputs, 3, 3))
        constants[f"b{i}"] = layer.b
        operands = [x, f"w{i}", f"b{i}"]
        x = f"pooled{i}"
        nodes += [
            helper.make_node("Conv", operands, [f"conv{i}"], f"conv{i}", pads=[1] * 4),
            helper.make_node("Relu", [f"conv{i}"], [f"relu{i}"], f"relu{i}"),
            helper.make_node(
                "MaxPool", [f"relu{i}"], [x], f"pool{i}", kernel_shape=[2, 2], strides=[2, 2]
            ),
        ]
    nodes += [
        helper.make_node("Flatten", [x], ["flat"], "flatten"),
        helper.make_node("Gemm", ["flat", "w", "b"], ["logits"], "classify"),
    ]
    graph = helper.make_graph(
        nodes,
        "digits",
        [helper.make_tensor_value_info("images", TensorProto.FLOAT, ["n", 1, 8, 8])],
        [helper.make_tensor_value_info("logits", TensorProto.FLOAT, ["n", 10])],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    opsets = [helper.make_opsetid("", MODEL_OPSET)]
    save(helper.make_model(graph, opset_imports=opsets, ir_version=8), str(path))


def load_both(trained: tuple[list[Layer], Array, Array], images: Array) -> dict[str, Any]:
    """Write the trained network, and return it as fbg loads it: in float32, and in int8.

    images: those of the training; some of them choose the ranges of the integers.
    """
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "digits.onnx"
        write_model(path, *trained)
        calibration = [images[i : i + 50] for i in range(0, CALIBRATION_IMAGES, 50)]
        int8 = fbg.load(path, dtype="int8", calibrate=calibration)
        return {"float32": fbg.load(path), "int8": int8}


def accuracy(net: Any, images: Array, labels: Array) -> float:
    """Return the share of images that a network classifies correctly."""
    return float((net(images).argmax(1) == labels).mean())


def main() -> None:
    images, labels = load_digits()
    start = time.perf_counter()
    trained = train(images[TEST_IMAGES:], labels[TEST_IMAGES:])
    print(f"trained on {len(images) - TEST_IMAGES} images in {time.perf_counter() - start:.1f} s")
    nets = load_both(trained, images[TEST_IMAGES:])
    test, wanted = images[:TEST_IMAGES], labels[:TEST_IMAGES]
    for name, net in nets.items():
        right = accuracy(net, test, wanted)
        seconds = []
        for _ in range(9):
            start = time.perf_counter()
            net(test)
            seconds.append(time.perf_counter() - start)
        rate = TEST_IMAGES / statistics.median(seconds)
        print(f"  {name:8} {100 * right:6.2f} % right, {rate:9,.0f} images a second")
    print("\nwhat runs where, in int8")
    for step in nets["int8"].plan().steps:
        kind = step.algorithm.split(":")[0]
        print(f"  {step.backend}  {kind:28} {' + '.join(step.nodes)}")


if __name__ == "__main__":
    main()
