"""Random small float32 networks with fills and masks in them: int8 by calibration against float32.

Somewhere between the convolutions, something puts constants among the data that may be far beyond
it: padding, masks, constants that are joined or compared, crops beyond an image. Weights may be
what nodes compute of constants: the bits are those of the network whose weights are constants.
"""

from __future__ import annotations

import numpy as np
from onnx import helper

from helpers.onnx_models import make_net
from helpers.random_cases import Different, Kind

HUGE = float(np.finfo(np.float32).max)
MOST = 0.2  # error, as the ratio of the lengths of vectors


class Graph:
    """A chain of nodes from x, with the shape of the last tensor."""

    def __init__(self, random):
        self.random = random
        self.rng = np.random.default_rng(random.getrandbits(32))
        self.nodes = []
        self.constants = {}
        self.computed = {}  # weights that nodes compute, by name
        self.name = "x"
        self.shape = (random.randint(1, 2), random.randint(1, 4), *self.sizes(9, 16))

    def sizes(self, low, high):
        return self.random.randint(low, high), self.random.randint(low, high)

    def constant(self, values):
        name = f"k{len(self.constants)}"
        self.constants[name] = np.asarray(values)
        return name

    def op(self, kind, *inputs, **attributes):
        """Append a node on the last tensor and other inputs."""
        self.append(kind, (self.name, *inputs), attributes)

    def append(self, kind, inputs, attributes):
        self.name = f"t{len(self.nodes)}"
        self.nodes.append(helper.make_node(kind, inputs, [self.name], self.name, **attributes))

    def fill(self):
        """Return a constant that is not data: within its range, beyond it, or far beyond it."""
        anywhere = self.random.choice([-1, -1, -1, 1]) * 10 ** self.random.uniform(-1, 12)
        return self.random.choice([anywhere, -100.0, -1e4, -1e9, -HUGE, -np.inf, 0.0])

    # Layers ------------------------------------------------------------------------------------

    def conv(self):
        n, c, *sizes = self.shape
        kernel = self.random.choice([1, 3]) if min(sizes) > 2 else 1
        groups = self.random.choice([g for g in range(1, c + 1) if c % g == 0])
        outputs = groups * self.random.randint(2, 4)
        w = self.rng.standard_normal((outputs, c // groups, kernel, kernel))
        w = self.weights((w / np.sqrt(w[0].size)).astype(np.float32))
        pads = self.random.randint(0, kernel // 2)
        self.op("Conv", w, group=groups, pads=[pads] * 4)
        self.shape = (n, outputs, *(size + 2 * pads - kernel + 1 for size in sizes))

    def weights(self, w):
        """Return the name of weights: constants, or what up to two nodes compute of others."""
        count = self.random.choice([0, 0, 0, 1, 2])
        if count == 0:
            return self.constant(w)
        steps, source = [], w
        for _ in range(count):  # from the last one to the first
            kind = self.random.choice(["Transpose", "Reshape", "Cast", "Mul", "Identity", "Neg"])
            attributes = {}
            others = []
            if kind == "Transpose":
                perm = self.random.sample(range(source.ndim), source.ndim)
                attributes, source = {"perm": perm}, source.transpose(np.argsort(perm))
            elif kind == "Reshape":
                others, source = [np.array(source.shape)], source.reshape(-1)
            elif kind == "Cast" and source.dtype == np.float32:
                attributes, source = {"to": 1}, source.astype(np.float64)
            elif kind == "Mul" and source.dtype == np.float32:
                others, source = [np.float32(2)], source / np.float32(2)
            elif kind == "Neg":
                source = -source
            else:
                kind = "Identity"
            steps.append((kind, others, attributes))
        name = self.constant(np.ascontiguousarray(source))
        for i, (kind, others, attributes) in enumerate(reversed(steps)):
            result = f"{name}.{i}"
            inputs = [name if i == 0 else f"{name}.{i - 1}", *map(self.constant, others)]
            self.nodes.append(helper.make_node(kind, inputs, [result], result, **attributes))
        self.computed[result] = w
        return result

    def without_computing(self):
        """Return nodes and constants in which all weights are constants."""
        nodes = [node for node in self.nodes if not node.name.startswith("k")]
        return nodes, {**self.constants, **self.computed}

    def function(self):
        kind = self.random.choice(["Relu", "Clip", "Sigmoid", "LeakyRelu", "HardSwish", "Tanh"])
        bounds = [self.constant(np.float32(b)) for b in (0, 6)] if kind == "Clip" else []
        self.op(kind, *bounds)

    def pool(self):
        n, c, *sizes = self.shape
        if min(sizes) < 4:
            return
        kernel, stride = self.random.randint(2, 3), self.random.randint(1, 2)
        pads = self.random.randint(0, 1)
        kind = self.random.choice(["MaxPool", "MaxPool", "AveragePool"])
        window = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": [pads] * 4}
        self.op(kind, **window)
        self.shape = (n, c, *((size + 2 * pads - kernel) // stride + 1 for size in sizes))

    # Constants among the data --------------------------------------------------------------------

    def pad(self):
        pads = [0, 0, *self.sizes(0, 2), 0, 0, *self.sizes(0, 2)]
        self.op("Pad", self.constant(np.array(pads)), self.constant(np.float32(self.fill())))
        self.shape = tuple(n + pads[i] + pads[i + 4] for i, n in enumerate(self.shape))

    def where(self):
        drawn = [n if self.random.random() < 0.7 else 1 for n in self.shape]
        keep = self.constant(self.rng.random(drawn) < self.random.random())
        self.append("Where", (keep, self.name, self.constant(np.float32(self.fill()))), {})

    def mask(self):
        drawn = [n if self.random.random() < 0.7 else 1 for n in self.shape]
        hidden = self.rng.random(drawn) < self.random.random()
        mask = np.where(hidden, np.float32(self.fill()), np.float32(0)).astype(np.float32)
        self.op("Add", self.constant(mask))

    def join(self):
        axis = self.random.randint(1, 3)
        shape = [n if i != axis else self.random.randint(1, 3) for i, n in enumerate(self.shape)]
        self.op("Concat", self.constant(np.full(shape, self.fill(), np.float32)), axis=axis)
        self.shape = tuple(n + shape[i] * (i == axis) for i, n in enumerate(self.shape))

    def bound(self):
        number = self.constant(np.float32(self.fill()))
        self.op(self.random.choice(["Max", "Min"]), number)

    def crop(self):
        starts, ends = [self.random.uniform(-0.5, 0.2)] * 2, [self.random.uniform(0.8, 1.5)] * 2
        roi = np.array([0, 0, *starts, 1, 1, *ends], np.float32)
        sizes = (*self.shape[:2], *self.sizes(8, 20))
        names = self.constant(roi), "", self.constant(np.array(sizes))
        fill = max(self.fill(), -HUGE)
        crops = {"coordinate_transformation_mode": "tf_crop_and_resize"}
        self.op("Resize", *names, mode="linear", extrapolation_value=fill, **crops)
        self.shape = sizes

    def overflows(self, feed):
        """Whether sums overflow, so that even in float32 their order decides what they are."""
        names = [node.output[0] for node in self.nodes if node.op_type in ("Conv", "AveragePool")]
        sums = make_net(self.nodes, feed, names, self.constants).run(feed)
        return any(np.isinf(sums[name]).any() for name in names)

    # The whole -----------------------------------------------------------------------------------

    def draw(self):
        random = self.random
        constants = [self.pad, self.pad, self.where, self.mask, self.join, self.bound, self.crop]
        self.conv()
        for _ in range(random.randint(1, 2)):
            if random.random() < 0.8:
                self.function()
            if random.random() < 0.8:
                random.choice(constants)()
                random.choice([self.pool, self.pool, self.function])()
            elif random.random() < 0.5:
                self.pool()
            self.conv()
        if random.random() < 0.2:
            self.op("Tanh")  # of large scores, the softmax would magnify the error
            self.mask()
            self.op("Softmax", axis=-1)


def results(random):
    """Draw a network for fingerprints."""
    graph = Graph(random)
    shape = graph.shape
    graph.draw()
    feeds = [{"x": graph.rng.standard_normal(shape, np.float32)} for _ in range(2)]

    def compute(threads):
        given = (graph.nodes, feeds[0], [graph.name], graph.constants)
        try:
            net = make_net(*given, calibrate=feeds, num_threads=threads)
            yield "outputs", net.run(feeds[0])
        except ValueError as error:
            yield "refused", str(error)

    return compute


def run(random):
    """Compare one network with itself in float32."""
    graph = Graph(random)
    shape = graph.shape
    graph.draw()
    feeds = [{"x": graph.rng.standard_normal(shape, np.float32)} for _ in range(2)]
    given = (graph.nodes, feeds[0], [graph.name], graph.constants)
    wanted = make_net(*given).run(feeds[0])[graph.name]
    if not np.isfinite(wanted).all():
        return "not finite"
    if graph.overflows(feeds[0]):
        return "sums overflow"
    try:
        y = make_net(*given, calibrate=feeds).run(feeds[0])[graph.name]
    except ValueError as error:  # of a tensor whose NaN does not reach the output
        if "batch must be finite" not in str(error):
            raise
        return "not finite"
    if graph.computed:
        nodes, constants = graph.without_computing()
        same = make_net(nodes, feeds[0], [graph.name], constants, calibrate=feeds).run(feeds[0])
        if not np.array_equal(y, same[graph.name]):
            text = helper.printable_graph(helper.make_graph(graph.nodes, "random", [], []))
            raise Different(f"other bits than with weights that are constants\n{text}")
    size = float(np.linalg.norm(wanted.astype(np.float64)))
    error = float(np.linalg.norm(y.astype(np.float64) - wanted)) / (size or 1.0)
    if not error <= MOST:
        text = helper.printable_graph(helper.make_graph(graph.nodes, "random", [], []))
        small = {name: value for name, value in graph.constants.items() if value.size < 16}
        raise Different(f"error {error:.0%} of {size}\n{text}\n{small}")
    return "close" if error > 0.02 else "closer than 2 %"


KIND = Kind("differential.int8_calibration", run, cases=30, needs="onnxruntime", results=results)
