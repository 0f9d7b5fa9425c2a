"""Small networks with the building blocks of well-known families, with random weights.

Each has few channels and a small image, but the operators, kernel sizes, strides and joins of the
family after which it is named. FAMILIES: a function for each, which returns (model, shape of x).
"""

from __future__ import annotations

import numpy as np
from onnx import helper

from helpers.onnx_models import make_model


class Layers:
    """Appends layers to a network; `shape` is that of the last tensor, and `x` its name."""

    def __init__(self, *shape):
        self.rng = np.random.default_rng(sum(shape))
        self.input = tuple(shape)
        self.x, self.shape = "x", tuple(shape)
        self.nodes, self.constants = [], {}

    def constant(self, values, dtype=np.float32):
        name = f"k{len(self.constants)}"
        self.constants[name] = np.asarray(values, dtype)
        return name

    def random(self, *shape, fan_in=1):
        return self.constant(self.rng.standard_normal(shape) * np.sqrt(2 / fan_in))

    def op(self, kind, *more, shape=None, first=None, **attributes):
        """Append an operator to the last tensor, or to `first`; return the name of its result."""
        name = f"{kind}_{len(self.nodes)}"
        inputs = [self.x if first is None else first, *more]
        self.nodes.append(helper.make_node(kind, inputs, [name], name, **attributes))
        self.x, self.shape = name, self.shape if shape is None else tuple(shape)
        return name

    def conv(self, outputs, kernel=3, stride=1, groups=1, act=None, norm=True, **attributes):
        """Append a convolution that keeps the size, up to its stride, and what follows it."""
        n, channels, *spatial = self.shape
        axes = len(spatial)
        kernel = [kernel] * axes if isinstance(kernel, int) else list(kernel)
        stride = [stride] * axes if isinstance(stride, int) else list(stride)
        inner = channels // groups
        w = self.random(outputs, inner, *kernel, fan_in=inner * np.prod(kernel))
        bias = [] if norm else [self.random(outputs, fan_in=20)]
        pads = [k // 2 for k in kernel] * 2
        sizes = zip(spatial, kernel, stride, strict=True)
        shape = [(s + 2 * (k // 2) - k) // t + 1 for s, k, t in sizes]
        attributes |= {"pads": pads, "strides": stride, "group": groups}
        self.op("Conv", w, *bias, shape=(n, outputs, *shape), **attributes)
        if norm:
            self.batch_norm(outputs)
        return self.activation(act)

    def batch_norm(self, channels):
        scale = self.constant(self.rng.uniform(0.8, 1.2, channels))
        others = [self.random(channels, fan_in=20) for _ in range(2)]
        variance = self.constant(self.rng.uniform(0.8, 1.2, channels))
        self.op("BatchNormalization", scale, *others, variance)

    def activation(self, act):
        x = self.x
        if act == "relu6":
            self.op("Clip", self.constant(0.0), self.constant(6.0))
        elif act == "silu":
            self.op("Mul", self.op("Sigmoid"), first=x)
        elif act is not None:
            self.op(act)
        return self.x

    def pool(self, kind="MaxPool", kernel=3, stride=2, pad=1, **attributes):
        n, c, *spatial = self.shape
        shape = [(s + 2 * pad - kernel) // stride + 1 for s in spatial]
        axes = len(spatial)
        attributes |= {"kernel_shape": [kernel] * axes, "strides": [stride] * axes}
        self.op(kind, shape=(n, c, *shape), pads=[pad] * (2 * axes), **attributes)

    def add(self, other):
        return self.op("Add", other)

    def branch(self, *builders):
        """Join the results of several functions of the last tensor, along the channels."""
        x, shape = self.x, self.shape
        results, channels = [], 0
        for build in builders:
            self.x, self.shape = x, shape
            build()
            results.append(self.x)
            channels += self.shape[1]
        self.op("Concat", *results[1:], first=results[0], axis=1)
        self.shape = (self.shape[0], channels, *self.shape[2:])

    def gate(self, squeezed, act, gate):
        """Squeeze and excite: a factor for each channel that follows from the mean image."""
        x, shape = self.x, self.shape
        self.op("GlobalAveragePool", shape=(*shape[:2], *[1] * (len(shape) - 2)))
        self.conv(squeezed, 1, act=act, norm=False)
        self.conv(shape[1], 1, norm=False)
        gated = self.op(gate, **({"alpha": 1 / 6} if gate == "HardSigmoid" else {}))
        self.op("Mul", gated, first=x, shape=shape)

    def classify(self, classes=10):
        self.op("GlobalAveragePool", shape=(*self.shape[:2], *[1] * (len(self.shape) - 2)))
        self.op("Flatten", shape=self.shape[:2])
        w = self.random(classes, self.shape[1], fan_in=self.shape[1])
        self.op("Gemm", w, self.random(classes), shape=(1, classes), transB=1)

    def model(self):
        value = helper.make_tensor_value_info
        x = ["n", *self.input[1:]]
        result = make_model(self.nodes, {"x": (np.float32, x)}, [self.x], self.constants, 17)
        result.graph.output[0].CopyFrom(value(self.x, 1, None))
        return result, self.input


def mobilenet_v1():
    net = Layers(1, 3, 16, 16)
    net.conv(8, stride=2, act="relu6")
    for outputs, stride in [(16, 1), (24, 2), (24, 1)]:
        net.conv(net.shape[1], 3, stride, groups=net.shape[1], act="relu6")
        net.conv(outputs, 1, act="relu6")
    net.classify()
    return net.model()


def mobilenet_v2():
    net = Layers(1, 3, 16, 18)
    net.conv(8, stride=2, act="relu6")
    _inverted_residuals(net, [(4, 12, 2), (4, 12, 1), (4, 12, 1)])
    net.conv(40, 1, act="relu6")
    net.classify()
    return net.model()


def whole_mobilenet_v2():
    """MobileNetV2 of width 1 (arXiv:1801.04381, table 2), with random weights."""
    net = Layers(1, 3, 224, 224)
    net.conv(32, stride=2, act="relu6")
    table = [(1, 16, 1, 1), (6, 24, 2, 2), (6, 32, 3, 2), (6, 64, 4, 2)]
    table += [(6, 96, 3, 1), (6, 160, 3, 2), (6, 320, 1, 1)]
    for factor, outputs, count, stride in table:
        strides = [stride, *[1] * (count - 1)]
        _inverted_residuals(net, [(factor, outputs, stride) for stride in strides])
    net.conv(1280, 1, act="relu6")
    net.classify(1000)
    return net.model()


def _inverted_residuals(net, blocks):
    for factor, outputs, stride in blocks:
        x, kept = net.x, outputs == net.shape[1] and stride == 1
        if factor != 1:
            net.conv(factor * net.shape[1], 1, act="relu6")
        net.conv(net.shape[1], 3, stride, groups=net.shape[1], act="relu6")
        net.conv(outputs, 1)
        if kept:
            net.add(x)


def _gated_blocks(net, blocks, act, inner, gate):
    for outputs, kernel, stride in blocks:
        x, kept = net.x, outputs == net.shape[1] and stride == 1
        net.conv(3 * net.shape[1], 1, act=act)
        net.conv(net.shape[1], kernel, stride, groups=net.shape[1], act=act)
        net.gate(8, inner, gate)
        net.conv(outputs, 1)
        if kept:
            net.add(x)
    net.conv(32, 1, act=act)
    net.classify()
    return net.model()


def mobilenet_v3():
    net = Layers(1, 3, 20, 16)
    net.conv(8, stride=2, act="HardSwish")
    return _gated_blocks(net, [(12, 5, 2), (12, 3, 1)], "HardSwish", "Relu", "HardSigmoid")


def efficientnet():
    net = Layers(1, 3, 20, 20)
    net.conv(8, stride=2, act="silu")
    return _gated_blocks(net, [(12, 3, 1), (16, 5, 2), (16, 5, 1)], "silu", "silu", "Sigmoid")


def squeezenet():
    net = Layers(1, 3, 23, 21)
    net.conv(16, 3, 2, norm=False, act="Relu")
    for squeezed, expanded in [(4, 12), (8, 16)]:
        net.pool(pad=0)
        net.conv(squeezed, 1, norm=False, act="Relu")
        net.branch(
            lambda n=expanded: net.conv(n, 1, norm=False, act="Relu"),
            lambda n=expanded: net.conv(n, 3, norm=False, act="Relu"),
        )
    net.conv(10, 1, norm=False, act="Relu")
    net.op("GlobalAveragePool", shape=(1, 10, 1, 1))
    net.op("Flatten", shape=(1, 10))
    return net.model()


def _residual(net, layers, stride, outputs):
    x, shape = net.x, net.shape
    for layer in layers:
        layer()
    y, after = net.x, net.shape
    if stride > 1 or shape[1] != outputs:
        net.x, net.shape = x, shape
        x = net.conv(outputs, 1, stride)
    net.x, net.shape = y, after
    net.add(x)
    net.op("Relu")


def resnet18():
    net = Layers(1, 3, 32, 32)
    net.conv(16, 7, 2, act="Relu")
    net.pool()
    for outputs, stride in [(16, 1), (32, 2)]:
        first = lambda o=outputs, s=stride: net.conv(o, 3, s, act="Relu")  # noqa: E731
        _residual(net, [first, lambda o=outputs: net.conv(o, 3)], stride, outputs)
    net.classify()
    return net.model()


def _bottlenecks(groups, *sizes):
    net = Layers(1, 3, *sizes)
    net.conv(16, 7, 2, act="Relu")
    net.pool()
    for outputs, stride in [(32, 1), (48, 2)]:
        inner = outputs // 2
        layers = [
            lambda i=inner: net.conv(i, 1, act="Relu"),
            lambda i=inner, s=stride: net.conv(i, 3, s, groups=groups, act="Relu"),
            lambda o=outputs: net.conv(o, 1),
        ]
        _residual(net, layers, stride, outputs)
    net.classify()
    return net.model()


def resnet50():
    return _bottlenecks(1, 32, 32)


def resnext50():
    return _bottlenecks(4, 28, 28)


def resnext3d():
    return _bottlenecks(4, 6, 20, 20)


def r2plus1d():
    net = Layers(1, 3, 4, 16, 16)
    net.conv(12, (1, 7, 7), (1, 2, 2), act="Relu")
    net.conv(16, (3, 1, 1), act="Relu")
    for outputs, stride in [(16, 1), (24, 2)]:
        layers = [
            lambda s=stride: net.conv(20, (1, 3, 3), (1, s, s), act="Relu"),
            lambda o=outputs, s=stride: net.conv(o, (3, 1, 1), (s, 1, 1)),
        ]
        _residual(net, layers, stride, outputs)
    net.classify()
    return net.model()


def inception():
    net = Layers(1, 3, 23, 23)
    net.conv(12, 3, 2, act="Relu")
    net.pool("MaxPool", 3, 1, 0)

    def long():
        net.conv(8, 1, act="Relu")
        net.conv(8, (1, 7), act="Relu")
        net.conv(12, (7, 1), act="Relu")

    def pooled():
        net.pool("AveragePool", 3, 1, 1, count_include_pad=1)
        net.conv(8, 1, act="Relu")

    net.branch(lambda: net.conv(12, 1, act="Relu"), long, pooled)
    net.branch(lambda: net.conv(8, 5, act="Relu"), lambda: net.pool("MaxPool", 3, 1, 1))
    net.classify()
    return net.model()


def convnext():
    net = Layers(1, 3, 16, 16)
    net.conv(16, 4, 4, norm=False)
    for _ in range(2):
        x, (n, c, h, w) = net.x, net.shape
        net.conv(c, 7, groups=c, norm=False)
        net.op("Transpose", perm=[0, 2, 3, 1])
        net.op("LayerNormalization", net.constant(np.ones(c)), net.random(c), epsilon=1e-6)
        net.op("MatMul", net.random(c, 4 * c, fan_in=c))
        net.op("Add", net.random(4 * c))
        wide = net.x
        net.op("Div", net.constant(np.sqrt(2)))
        net.op("Erf")
        net.op("Add", net.constant(1.0))
        net.op("Mul", wide)
        net.op("Mul", net.constant(0.5))
        net.op("MatMul", net.random(4 * c, c, fan_in=4 * c))
        net.op("Add", net.random(c))
        net.op("Transpose", perm=[0, 3, 1, 2])
        net.op("Mul", net.random(c, 1, 1))
        net.op("Add", x, shape=(n, c, h, w))
    net.classify()
    return net.model()


def vit():
    net = Layers(1, 3, 16, 16)
    net.conv(32, 4, 4, norm=False)
    n, c, h, w = net.shape
    tokens = h * w
    # The size of a batch is not fixed: 0 keeps it.
    net.op("Reshape", net.constant([0, c, tokens], np.int64), shape=(n, c, tokens))
    net.op("Transpose", perm=[0, 2, 1], shape=(n, tokens, c))
    net.op("Add", net.random(tokens, c, fan_in=9))
    for _ in range(2):
        x = net.x
        net.op("LayerNormalization", net.constant(np.ones(c)), net.random(c), epsilon=1e-6)
        norm, heads = net.x, []
        for number in range(3):
            net.op("MatMul", net.random(c, c, fan_in=c), first=norm)
            net.op("Reshape", net.constant([0, tokens, 4, c // 4], np.int64))
            turned = [0, 2, 3, 1] if number == 1 else [0, 2, 1, 3]
            heads.append(net.op("Transpose", perm=turned))
        net.op("MatMul", heads[1], first=heads[0])
        net.op("Mul", net.constant(1 / np.sqrt(c // 4)))
        net.op("Softmax", axis=-1)
        net.op("MatMul", heads[2])
        net.op("Transpose", perm=[0, 2, 1, 3])
        net.op("Reshape", net.constant([0, tokens, c], np.int64))
        net.op("MatMul", net.random(c, c, fan_in=c))
        x = net.add(x)
        net.op("MatMul", net.random(c, 2 * c, fan_in=c))
        net.op("Relu")
        net.op("MatMul", net.random(2 * c, c, fan_in=2 * c))
        net.add(x)
    net.op("ReduceMean", shape=(n, c), axes=[1], keepdims=0)
    net.op("Gemm", net.random(10, c, fan_in=c), net.random(10), shape=(n, 10), transB=1)
    return net.model()


def yolo_head():
    net = Layers(1, 3, 16, 16)
    net.conv(12, 3, 2, act="silu")
    large, shape = net.x, net.shape
    net.conv(24, 3, 2, act="silu")
    net.conv(12, 1, act="silu")
    net.op("Resize", "", net.constant([1, 1, 2, 2]), mode="nearest", shape=(1, 12, *shape[2:]))
    small = net.x
    net.op("Concat", large, first=small, axis=1, shape=(1, 24, *shape[2:]))
    net.conv(3 * 7, 1, norm=False)
    n, _, h, w = net.shape
    net.op("Reshape", net.constant([0, 3, 7, h * w], np.int64), shape=(n, 3, 7, h * w))
    net.op("Transpose", perm=[0, 1, 3, 2], shape=(n, 3, h * w, 7))
    net.op("Sigmoid")
    return net.model()


def proposals():
    """A pyramid of two levels, and a head with the same weights for both (Faster-RCNN)."""
    net = Layers(1, 3, 24, 20)
    net.conv(12, 3, 2, act="Relu")
    fine = net.x
    net.conv(24, 3, 2, act="Relu")
    coarse = net.conv(16, 1, norm=False)
    net.op("Resize", "", net.constant([1, 1, 2, 2]), mode="nearest")
    upper = net.x
    net.x, net.shape = fine, (1, 12, 12, 10)
    net.conv(16, 1, norm=False)
    net.add(upper)
    w, v = net.random(16, 16, 3, 3, fan_in=144), net.random(9, 16, 1, 1, fan_in=16)
    bias, rows = net.random(16, fan_in=20), []
    for level in (net.x, coarse):
        feature = net.op("Conv", net.random(16, 16, 3, 3, fan_in=144), first=level, pads=[1] * 4)
        net.op("Conv", w, bias, first=feature, pads=[1] * 4)
        net.op("Relu")
        net.op("Conv", v)
        rows.append(net.op("Reshape", net.constant([0, 9, -1], np.int64)))
    net.op("Concat", rows[1], first=rows[0], axis=2)
    return net.model()


FAMILIES = {
    function.__name__: function
    for function in (
        *(mobilenet_v1, mobilenet_v2, mobilenet_v3, efficientnet, squeezenet, resnet18, resnet50),
        *(resnext50, resnext3d, r2plus1d, inception, convnext, vit, yolo_head, proposals),
    )
}
