"""Random small quantized graphs, layer by layer; the kind `onnx_quantized` compares them."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from onnx import helper, numpy_helper

import fbg
from helpers.foreign_layers import DOMAIN, foreign_layer
from helpers.onnx_models import value_info

HUGE = float(np.finfo(np.float32).max)
FILLS = (0.0, -0.0, 1.0, -1.0, 0.3, -100.0, 300.0, -1e4, 1e9, -HUGE, HUGE, -np.inf, np.inf, np.nan)
# Without VNNI, onnxruntime saturates sums of two products of uint8 and int8 to 16 bits.
WIDEST = 127 if any("vnni" in isa for isa in fbg.isa.supported()) else 63


@dataclass(frozen=True)
class Tensor:
    """A tensor of a graph. parameters: names of scale and zero point of quantized integers.

    rounded: whether its last rounding may differ by a step.
    """

    name: str
    shape: tuple[int, ...]
    dtype: str = "float32"
    parameters: tuple[str, str] | None = None
    scale: float = 1.0
    point: int = 0
    rounded: bool = False


class Graph:
    """Nodes and constants of a case while its layers are drawn."""

    def __init__(self, random):
        self.random = random
        self.rng = np.random.default_rng(random.getrandbits(32))
        self.opset = random.randint(10, 21)
        self.exact = random.random() < 0.5
        self.nodes = []
        self.constants = {}
        self.tensors = []
        self.loose = set()  # float32 outputs that sums in another order may change

    def op(self, kind, *inputs, outputs=1, **attributes):
        """Append a node and return the name of its first output."""
        name = f"t{len(self.nodes)}"
        names = [name, *(f"{name}.{i}" for i in range(1, outputs))]
        while inputs and not inputs[-1]:
            inputs = inputs[:-1]
        self.nodes.append(helper.make_node(kind, inputs, names, name, **attributes))
        return name

    def constant(self, values):
        name = f"k{len(self.constants)}"
        self.constants[name] = np.asarray(values)
        return name

    def scale(self):
        """Return a scale: a power of two where results are compared bit by bit."""
        if self.exact:
            return 2.0 ** self.random.randint(-5, -1)
        if not self.nodes and self.random.random() < 0.2:  # of x, whose sums are exact enough
            return self.random.choice([1e-30, 1e-12, 1e-6])
        return float(np.float32(10 ** self.random.uniform(-3, 0)))

    def integers(self, shape, dtype):
        limits = np.iinfo(dtype)
        low, high = (-WIDEST - 1, WIDEST) if dtype == "int8" else (0, limits.max)
        return self.rng.integers(low, high, shape, endpoint=True).astype(dtype)

    def point(self, dtype):
        """Return a zero point, which often is at an end."""
        limits = np.iinfo(dtype)
        ends = [int(limits.min), int(limits.max), 0, 128 + int(limits.min)]
        anywhere = self.random.randint(int(limits.min), int(limits.max))
        return self.random.choice([*ends, anywhere, anywhere])

    def byte(self):
        return self.random.choice(["uint8", "int8"])

    def parameters(self, scale, point, dtype):
        return self.constant(np.float32(scale)), self.constant(np.dtype(dtype).type(point))

    # From real numbers to integers and back ------------------------------------------------------

    def quantize(self, name, shape, like=None):
        """Append QuantizeLinear, by parameters of its own or those of another tensor."""
        if like is None or like.parameters is None:
            dtype = self.byte()
            scale, point = self.scale(), self.point(dtype)
            parameters = self.parameters(scale, point, dtype)
        else:
            dtype, scale, point, parameters = like.dtype, like.scale, like.point, like.parameters
        q = self.op("QuantizeLinear", name, *parameters)
        return Tensor(q, shape, dtype, parameters, scale, point, rounded=not self.exact)

    def real(self, x):
        """Return the name of the real numbers that integers stand for."""
        assert x.parameters is not None
        return self.op("DequantizeLinear", x.name, *x.parameters)

    def known(self, numbers):
        """Return the name of constants, which may be rounded before they are used."""
        name = self.constant(numbers)
        if self.random.random() < 0.5:
            return name
        return self.real(self.quantize(name, numbers.shape))

    def pick(self):
        return self.random.choice(self.tensors[-4:])

    def rounded_again(self, name, x, shape):
        """Quantize the result of an op on x: by the parameters of x or by others."""
        return self.quantize(name, shape, x if self.random.random() < 0.5 else None)

    # Layers --------------------------------------------------------------------------------------

    def pad(self):
        """Pad integers or real numbers, and perhaps take maxima of what is padded."""
        x = self.pick()
        rank, random = len(x.shape), self.random
        modes = ["constant"] * 3 + ["reflect", "edge"] + ["wrap"] * (self.opset >= 19)
        mode = random.choice(modes)
        lowest = -1 if mode == "constant" else 0
        pads = [random.randint(lowest, 2) if random.random() < 0.6 else 0 for _ in range(2 * rank)]
        if mode in ("reflect", "wrap"):
            pads = [min(pad, x.shape[i % rank] - 1) for i, pad in enumerate(pads)]
        shape = tuple(n + pads[i] + pads[i + rank] for i, n in enumerate(x.shape))
        if min(shape) < 1 or np.prod(shape) > 5000:
            return None
        on_integers = self.opset >= 13 and random.random() < 0.3
        fill = self.fill(x)
        if on_integers:
            fill = self.integers((), x.dtype)
        source = x.name if on_integers else self.real(x)
        y = self.padded(source, mode, pads, fill, x.dtype if on_integers else "float32")
        if on_integers:
            return Tensor(y, shape, x.dtype, x.parameters, x.scale, x.point, x.rounded)
        if fill != fill:
            return None if mode == "constant" else self.rounded_again(y, x, shape)
        if rank == 4 and random.random() < 0.5 and min(shape[2:]) > 1:
            y = self.op("MaxPool", y, kernel_shape=[2, 2])
            shape = (*shape[:2], shape[2] - 1, shape[3] - 1)
        elif random.random() < 0.3:
            y = self.op("Relu", y)
        return self.rounded_again(y, x, shape)

    def padded(self, x, mode, pads, fill, dtype):
        if self.opset < 11:
            return self.op("Pad", x, mode=mode, pads=pads, value=float(fill))
        value = "" if self.random.random() < 0.1 else self.constant(np.dtype(dtype).type(fill))
        return self.op("Pad", x, self.constant(np.array(pads)), value, mode=mode)

    def fill(self, x):
        """Return a number that the integers of x may be able to hold or not."""
        steps = self.random.randint(-255, 255)
        held = float(np.float32(x.scale) * np.float32(steps))
        return self.random.choice([held, *FILLS])

    def resize(self):
        """Nearest neighbours of integers or real numbers, or their interpolation, and crops."""
        x, random = self.pick(), self.random
        if len(x.shape) != 4:
            return None
        mode = random.choice(["nearest", "linear"])
        on_integers = mode == "nearest" and random.random() < 0.3
        source = x.name if on_integers else self.real(x)
        scales = [1.0, 1.0, *(random.choice([1.0, 2.0]) for _ in range(2))]
        shape = tuple(int(n * s) for n, s in zip(x.shape, scales, strict=True))
        if np.prod(shape) > 5000:
            return None
        factors = self.constant(np.array(scales, np.float32))
        if self.opset < 11:
            y = self.op("Resize", source, factors, mode=mode)
        else:
            y = self.resized(source, factors, mode)
        if on_integers:
            return Tensor(y, shape, x.dtype, x.parameters, x.scale, x.point, x.rounded)
        return self.rounded_again(y, x, shape)

    def resized(self, source, factors, mode):
        random = self.random
        more = {"mode": mode}
        roi = self.constant(np.zeros(0, np.float32))
        more["coordinate_transformation_mode"] = "asymmetric"
        # onnxruntime does not crop along axes whose scale is 1.
        if random.random() < 0.5 and not self.exact and (self.constants[factors][2:] > 1).all():
            starts = [0.0, 0.0, random.uniform(-0.5, 0.3), random.uniform(-0.5, 0.3)]
            ends = [1.0, 1.0, random.uniform(0.6, 1.5), random.uniform(0.6, 1.5)]
            roi = self.constant(np.array([*starts, *ends], np.float32))
            more["coordinate_transformation_mode"] = "tf_crop_and_resize"
            more["extrapolation_value"] = random.choice([0.0, 0.3, -100.0, 300.0, -1e4, 7.0])
        if mode == "nearest":
            more["nearest_mode"] = random.choice(["floor", "ceil", "round_prefer_floor"])
        return self.op("Resize", source, roi, factors, **more)

    def clip(self):
        x, random = self.pick(), self.random
        low, high = (random.choice([None, self.fill(x)]) for _ in range(2))
        low, high = (None if b is None or b != b else b for b in (low, high))
        if low is not None and high is not None and low > high:
            low, high = high, low
        if self.opset < 11:
            given = {"min": low, "max": high}
            bounds = {name: float(b) for name, b in given.items() if b is not None}
            return self.rounded_again(self.op("Clip", self.real(x), **bounds), x, x.shape)
        names = ["" if b is None else self.constant(np.float32(b)) for b in (low, high)]
        return self.rounded_again(self.op("Clip", self.real(x), *names), x, x.shape)

    def window(self, x, padded):
        random = self.random
        if len(x.shape) != 4:
            return None
        kernel = [random.randint(1, 3), random.randint(1, 3)]
        strides = [random.randint(1, 3), random.randint(1, 3)]
        pads = [random.randint(0, k - 1) if padded else 0 for k in kernel * 2]
        if padded and random.random() < 0.3:  # the result is as large as x
            side = random.choice([1, 3])
            kernel, strides, pads = [side] * 2, [1, 1], [side // 2] * 4
        sizes = [
            (n + pads[i] + pads[i + 2] - kernel[i]) // strides[i] + 1
            for i, n in enumerate(x.shape[2:])
        ]
        if min(sizes) < 1:
            return None
        attributes = {"kernel_shape": kernel, "strides": strides, "pads": pads}
        return attributes, (*x.shape[:2], *sizes)

    def max_pool(self):
        x = self.pick()
        found = self.window(x, True)
        if found is None:
            return None
        attributes, shape = found
        if self.opset >= 12 and self.random.random() < 0.5:
            y = self.op("MaxPool", x.name, **attributes)
            return Tensor(y, shape, x.dtype, x.parameters, x.scale, x.point, x.rounded)
        return self.rounded_again(self.op("MaxPool", self.real(x), **attributes), x, shape)

    def average_pool(self):
        x = self.pick()
        found = self.window(x, not self.exact)
        if found is None or (self.exact and 3 in found[0]["kernel_shape"]):
            return None
        more = {"count_include_pad": self.random.randint(0, 1)}
        y = self.op("AveragePool", self.real(x), **found[0], **more)
        return self.rounded_again(y, x, found[1])

    def concat(self):
        x = self.pick()
        fitting = [t for t in self.tensors if len(t.shape) == len(x.shape)]
        y = self.random.choice(fitting)
        axis = self.random.randrange(len(x.shape))
        if any(a != b for i, (a, b) in enumerate(zip(x.shape, y.shape, strict=True)) if i != axis):
            return None
        shape = tuple(n + y.shape[i] * (i == axis) for i, n in enumerate(x.shape))
        names = [self.real(x), self.real(y)]
        if self.random.random() < 0.4:  # a constant that the integers may not hold
            names[1] = self.known(np.full(y.shape, self.number(y), np.float32))
        if np.prod(shape) > 5000:
            return None
        return self.rounded_again(self.op("Concat", *names, axis=axis), x, shape)

    def number(self, x):
        """Return a number that is not NaN."""
        fill = self.fill(x)
        return 0.5 if fill != fill else fill

    def binary(self):
        """A function of two tensors, or of a tensor and a constant."""
        x, random = self.pick(), self.random
        y = random.choice([t for t in self.tensors if t.shape == x.shape])
        kind = random.choice(["Add", "Sub", "Mul", "Max", "Min", "PRelu"])
        if random.random() < 0.5:
            other = self.real(y)
        elif kind in ("Max", "Min"):
            other = self.known(np.float32(self.number(x)))
        else:
            shape = [n if random.random() < 0.5 else 1 for n in x.shape]
            steps = self.rng.integers(-8, 8, shape)
            other = self.constant((steps * 2.0**-3).astype(np.float32))
        return self.rounded_again(self.op(kind, self.real(x), other), x, x.shape)

    def unary(self):
        x = self.pick()
        kind = self.random.choice(["Relu", "Neg", "Abs", "LeakyRelu", "Identity"])
        more = {"alpha": self.random.choice([0.25, -0.5, 2.0])} if kind == "LeakyRelu" else {}
        return self.rounded_again(self.op(kind, self.real(x), **more), x, x.shape)

    def transpose(self):
        x = self.pick()
        perm = self.random.sample(range(len(x.shape)), len(x.shape))
        shape = tuple(x.shape[axis] for axis in perm)
        if self.random.random() < 0.5:
            y = self.op("Transpose", x.name, perm=perm)
            return Tensor(y, shape, x.dtype, x.parameters, x.scale, x.point, x.rounded)
        return self.rounded_again(self.op("Transpose", self.real(x), perm=perm), x, shape)

    # Products ------------------------------------------------------------------------------------

    def weights(self, shape, axis, x):
        """Names of integers, scales and zero points, one or one for each channel; the scales."""
        dtype = self.byte() if x.dtype == "uint8" else "int8"
        each = self.random.random() < 0.5 and self.opset >= 13
        count = (shape[axis],) if each else ()
        scales = np.array([self.scale() / 64 for _ in range(shape[axis])], np.float32)[: each or 1]
        scales = np.resize(scales, count) if each else scales.reshape(())
        if self.random.random() < 0.5:
            points = np.zeros(count, dtype)
        else:
            points = np.array([self.point(dtype) for _ in range(shape[axis])], dtype)
            points = points if each else points[0].reshape(())
        q = self.constant(self.integers(shape, dtype))
        return q, self.constant(scales), self.constant(points), scales

    def conv(self):
        x, random = self.pick(), self.random
        found = self.window(x, True)
        if found is None:
            return None
        attributes, (n, c, *sizes) = found
        groups = random.choice([g for g in range(1, c + 1) if c % g == 0])
        outputs = groups * random.choice([1, 2, 3, c // groups])
        shape = (n, outputs, *sizes)
        own = (outputs, c // groups, *attributes["kernel_shape"])
        if np.prod(own[1:]) > 200:
            return None
        more = {**attributes, "group": groups}
        w = self.weights(own, 0, x)
        kind = random.choice(["qdq", "qlinear", "integer"])
        if kind == "integer" and w[3].ndim:
            kind = "qdq"
        return self.product("Conv", kind, x, w, shape, outputs, 0, more)

    def matmul(self):
        x, random = self.pick(), self.random
        depth, outputs = x.shape[-1], random.randint(1, 9)
        shape = (*x.shape[:-1], outputs)
        w = self.weights((depth, outputs), 1, x)
        kind = random.choice(["qdq", "qlinear", "integer"])
        if w[3].ndim and kind != "qdq":
            return None
        return self.product("MatMul", kind, x, w, shape, 0, 1, {})

    def product(self, op, kind, x, w, shape, outputs, axis, more):
        """Append a product of integers: between Q and DQ, as a QLinear op, or with int32 sums.

        outputs: channels of a bias; 0 if the op takes none.
        """
        q, scale, point, scales = w
        assert x.parameters is not None
        bias = self.rng.integers(-3000, 3000, outputs, dtype=np.int32)
        has_bias = outputs > 0 and self.random.random() < 0.5
        if kind == "qlinear":
            dtype = x.dtype
            real, zero = self.scale(), self.point(dtype)
            parameters = self.parameters(real, zero, dtype)
            names = [x.name, *x.parameters, q, scale, point, *parameters]
            names += [self.constant(bias)] * has_bias
            y = self.op(f"QLinear{op}", *names, **more)
            return Tensor(y, shape, dtype, parameters, real, zero, rounded=not self.exact)
        if kind == "integer":
            sums = self.op(f"{op}Integer", x.name, q, x.parameters[1], point, **more)
            factor = self.constant(np.float32(2.0 ** self.random.randint(-13, -8)))
            return self.quantize(self.op("Mul", self.op("Cast", sums, to=1), factor), shape)
        axes = {"axis": axis} if self.opset >= 13 else {}
        names = [self.real(x), self.op("DequantizeLinear", q, scale, point, **axes)]
        if has_bias:
            names.append(self.constant((bias * scales * x.scale).astype(np.float32)))
        y = self.op(op, *names, **more)
        same = [t for t in self.tensors if t.shape == shape]
        if same and self.random.random() < 0.4:
            y = self.op("Add", y, self.real(self.random.choice(same)))
        if self.random.random() < 0.4:
            y = self.op("Relu", y)
        return self.quantize(y, shape)

    def dynamic(self):
        """Integers whose scale is found in each run, and products of them; nothing follows."""
        if self.opset < 11:
            return
        x, random = self.pick(), self.random
        real = self.real(x)
        if random.random() < 0.5:
            least = np.clip(np.float32(self.number(x)), -1e4, 1e4)
            real = self.op("Max", real, self.constant(least))
        q = self.op("DynamicQuantizeLinear", real, outputs=3)
        if random.random() < 0.5:
            self.op("DequantizeLinear", q, f"{q}.1", f"{q}.2")
            return
        dtype = self.byte()
        w = self.constant(self.integers((x.shape[-1], random.randint(1, 9)), dtype))
        point = self.constant(np.dtype(dtype).type(self.point(dtype)))
        sums = self.op("MatMulInteger", q, w, f"{q}.2", point)
        scale = self.op("Mul", f"{q}.1", self.constant(np.float32(self.scale() / 64)))
        self.loose.add(self.op("Mul", self.op("Cast", sums, to=1), scale))

    def draw(self):
        """Return a model and its feed."""
        random = self.random
        rank = random.choice([4, 4, 4, 2, 3])
        shape = tuple(random.randint(1, 7) for _ in range(rank))
        first = self.quantize("x", shape)
        self.tensors = [replace(first, rounded=False)]  # x / scale is not near a half
        layers = [
            *(self.pad, self.pad, self.pad, self.resize, self.clip, self.max_pool),
            *(self.average_pool, self.concat, self.binary, self.unary, self.transpose),
            *(self.conv, self.conv, self.matmul, self.dynamic),
            lambda: foreign_layer(self),
        ]
        for _ in range(random.randint(2, 8) if self.exact else 1):
            made = random.choice(layers)()
            if made is not None:
                self.tensors.append(made)
        read = {name for node in self.nodes for name in node.input}
        outputs = {n.output[0]: "float32" for n in self.nodes if n.output[0] not in read}
        outputs |= {t.name: t.dtype for t in self.tensors if t.name not in read}
        outputs |= {t.name: t.dtype for t in self.tensors[-1:]}
        steps = self.rng.integers(-300, 300, shape)
        noise = 0 if self.exact else self.rng.uniform(-0.4, 0.4, shape)
        x = ((steps + noise) * first.scale).astype(np.float32)
        return self.model(outputs, x), {"x": x}

    def model(self, outputs, x):
        graph = helper.make_graph(
            self.nodes,
            "random",
            [value_info("x", x)],
            [value_info(name, (dtype, None)) for name, dtype in outputs.items()],
            [numpy_helper.from_array(v, n) for n, v in self.constants.items()],
        )
        versions = [helper.make_opsetid("", self.opset), helper.make_opsetid(DOMAIN, 1)]
        return helper.make_model(graph, opset_imports=versions, ir_version=9)
