"""Operators of ONNX one by one: is fbg about as fast as onnxruntime on each?

Each case is a network of one operator at a size that networks have. Its outputs are compared with
those of onnxruntime first, and then both are timed in turn on one thread, by its CPU time.

    python bench/operators.py [part of a name ...] [--rounds N] [--below RATIO]
"""

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnxruntime
import timing
from onnx import helper, numpy_helper

import fbg

Array = npt.NDArray[Any]
MICROSOFT = "com.microsoft"
RNG = np.random.default_rng(0)
SAMPLE_SECONDS = 0.002
SCALE, SCALE_OF_RESULT = np.float32(0.02), np.float32(0.025)
ZERO, ZERO_OF_RESULT = np.uint8(128), np.uint8(120)

IMAGE, ROWS, WORDS = (1, 64, 56, 56), (128, 768), (1, 128, 768)


@dataclass
class Case:
    """A network of one node. inputs: what a run brings. constants: further inputs, in order after
    them, unless `order` names all of them. exact: whether results must be the same.
    """

    name: str
    op: str
    inputs: list[Array]
    constants: list[Array | None]
    attributes: dict[str, Any]
    domain: str = ""
    outputs: int = 1
    exact: bool = False
    order: list[int] | None = None

    def model(self) -> Any:
        """Return the network: inputs x0, x1, ..., constants c0, c1, ..., outputs y0, y1, ..."""
        names = [f"x{i}" for i in range(len(self.inputs))]
        names += ["" if c is None else f"c{i}" for i, c in enumerate(self.constants)]
        if self.order is not None:
            names = [names[i] for i in self.order]
        outputs = [f"y{i}" for i in range(self.outputs)]
        node = helper.make_node(self.op, names, outputs, domain=self.domain, **self.attributes)
        known = [numpy_helper.from_array(c, f"c{i}") for i, c in self._known()]
        types = [
            helper.make_tensor_value_info(
                f"x{i}", helper.np_dtype_to_tensor_dtype(x.dtype), x.shape
            )
            for i, x in enumerate(self.inputs)
        ]
        results = [helper.make_empty_tensor_value_info(name) for name in outputs]
        graph = helper.make_graph([node], "operator", types, results, known)
        sets = [helper.make_opsetid("", 17 if not self._is_new else 22)]
        sets.append(helper.make_opsetid(MICROSOFT, 1))
        model = helper.make_model(graph, opset_imports=sets, ir_version=10)
        session = onnxruntime.InferenceSession(model.SerializeToString(), _options())
        del graph.output[:]
        for value in session.get_outputs():
            kind = helper.np_dtype_to_tensor_dtype(np.dtype(TYPES[value.type]))
            graph.output.append(helper.make_tensor_value_info(value.name, kind, value.shape))
        return helper.make_model(graph, opset_imports=sets, ir_version=10)

    @property
    def _is_new(self) -> bool:
        return self.op in NEW

    def _known(self) -> Iterator[tuple[int, Array]]:
        return ((i, c) for i, c in enumerate(self.constants) if c is not None)


NEW = {"Gelu", "Mish", "ReduceMax", "ReduceMin", "GroupNormalization"}
TYPES = {
    "tensor(float)": "float32",
    "tensor(uint8)": "uint8",
    "tensor(int8)": "int8",
    "tensor(int32)": "int32",
    "tensor(int64)": "int64",
    "tensor(bool)": "bool",
    "tensor(float16)": "float16",
    "tensor(double)": "float64",
}


def _options() -> Any:
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.log_severity_level = 4
    return options


def normal(*shape: int) -> Array:
    """Return numbers of a normal distribution."""
    return RNG.standard_normal(shape).astype(np.float32)


def uniform(*shape: int, low: float = 0.05, high: float = 0.95) -> Array:
    """Return numbers between two limits."""
    return RNG.uniform(low, high, shape).astype(np.float32)


def octets(*shape: int, dtype: type = np.uint8) -> Array:
    """Return bytes."""
    limits = np.iinfo(dtype)
    return RNG.integers(limits.min, limits.max + 1, shape).astype(dtype)


def integers(*shape: int, most: int = 100, dtype: type = np.int64) -> Array:
    """Return integers from zero."""
    return RNG.integers(0, most, shape).astype(dtype)


def case(op: str, *inputs: Array, constants: Any = (), name: str = "", **more: Any) -> Case:
    """Return a case; what is left of the arguments are attributes of the node."""
    fields = {key: more.pop(key) for key in ("domain", "outputs", "exact", "order") if key in more}
    return Case(name or op, op, list(inputs), list(constants), more, **fields)


def ms(op: str, *inputs: Array, **more: Any) -> Case:
    """Return a case of onnxruntime's own operators."""
    return case(op, *inputs, domain=MICROSOFT, **more)


def elements() -> Iterator[Case]:
    """Functions of elements."""
    small, positive = uniform(*ROWS), uniform(*ROWS, low=0.1, high=4)
    for op in ("Abs", "Neg", "Sign", "Relu", "Ceil", "Floor", "Round", "Erf", "Exp", "Sigmoid"):
        yield case(op, normal(*ROWS))
    for op in ("Tanh", "Sin", "Cos", "Tan", "Sinh", "Cosh", "Asinh", "Atan", "Softplus"):
        yield case(op, normal(*ROWS))
    for op in ("Softsign", "HardSigmoid", "HardSwish", "LeakyRelu", "Elu", "Selu", "Celu"):
        yield case(op, normal(*ROWS))
    for op in ("ThresholdedRelu", "Gelu", "Mish", "Shrink", "IsNaN", "IsInf"):
        yield case(op, normal(*ROWS))
    for op in ("Asin", "Acos", "Atanh"):
        yield case(op, small)
    for op in ("Log", "Sqrt", "Reciprocal"):
        yield case(op, positive)
    yield case("Acosh", positive + np.float32(1))
    for op in ("Add", "Sub", "Mul", "Div", "Max", "Min", "Mean", "Sum"):
        yield case(op, normal(*ROWS), positive)
    for op in ("Less", "LessOrEqual", "Greater", "GreaterOrEqual", "Equal"):
        yield case(op, normal(*ROWS), normal(*ROWS))
    for op in ("Add", "Mul"):
        yield case(op, normal(*ROWS), constants=[normal(768)], name=f"{op} of a row")
        yield case(op, integers(*ROWS), integers(*ROWS), name=f"{op} int64")
    yield case("Pow", positive, uniform(*ROWS))
    yield case("Pow", normal(*ROWS), constants=[np.array(2, np.float32)], name="Pow 2")
    yield case("Mod", normal(*ROWS), positive, fmod=1)
    yield case("Mod", integers(*ROWS), integers(*ROWS) + 1, name="Mod int64")
    yield case("PRelu", normal(*IMAGE), constants=[normal(64, 1, 1)])
    yield case("Clip", normal(*ROWS), constants=[np.float32(-1), np.float32(1)])
    truth = normal(*ROWS) > 0
    yield case("And", truth, normal(*ROWS) > 0)
    yield case("Or", truth, normal(*ROWS) > 0)
    yield case("Xor", truth, normal(*ROWS) > 0)
    yield case("Not", truth)
    yield case("Where", truth, normal(*ROWS), normal(*ROWS))
    yield case("BitShift", octets(*ROWS), octets(*ROWS) % 8, direction="LEFT")
    yield case("Cast", normal(*ROWS), to=6, name="Cast to int32")
    yield case("Cast", normal(*ROWS), to=7, name="Cast to int64")
    yield case("Cast", normal(*ROWS), to=10, name="Cast to float16")
    yield case("Cast", integers(*ROWS), to=1, name="Cast from int64")


def moves() -> Iterator[Case]:
    """Operators that move elements."""
    x = normal(*IMAGE)
    yield case("Transpose", x, perm=[0, 2, 3, 1])
    yield case("Transpose", normal(1, 128, 12, 64), perm=[0, 2, 1, 3], name="Transpose heads")
    yield case("Transpose", normal(768, 768), perm=[1, 0], name="Transpose matrix")
    yield case("Reshape", x, constants=[np.array([64, -1])])
    yield case("Flatten", x)
    yield case("Squeeze", x, constants=[np.array([0])])
    yield case("Unsqueeze", x, constants=[np.array([0])])
    yield case("Identity", x)
    yield case("Concat", x, x, axis=1)
    yield case("Split", x, constants=[np.array([32, 32])], axis=1, outputs=2)
    every = [np.array([0, 0]), np.array([56, 56]), np.array([2, 3]), np.array([2, 2])]
    yield case("Slice", x, constants=every, name="Slice with steps")
    block = [np.array([4, 4]), np.array([52, 52]), np.array([2, 3])]
    yield case("Slice", x, constants=block)
    for mode in ("constant", "edge", "reflect"):
        yield case("Pad", x, constants=[np.array([0, 0, 1, 1, 0, 0, 1, 1])], mode=mode)
    yield case("Tile", normal(64, 128), constants=[np.array([4, 2])])
    yield case("Expand", normal(128, 1, 64), constants=[np.array([128, 12, 64])])
    yield case("DepthToSpace", x, blocksize=2)
    yield case("SpaceToDepth", x, blocksize=2)
    yield case("Gather", integers(128, most=30000), constants=[normal(30000, 384)], order=[1, 0])
    yield case("Gather", normal(128, 768), constants=[integers(64)], axis=1, name="Gather axis 1")
    yield case("GatherElements", normal(*ROWS), integers(*ROWS), axis=1)
    yield case("GatherND", normal(64, 64, 32), integers(256, 2, most=64))
    yield case("ScatterElements", normal(*ROWS), integers(*ROWS), normal(*ROWS), axis=1)
    yield case("ScatterND", normal(256, 256), integers(64, 1), normal(64, 256))
    yield case("OneHot", integers(128), constants=[np.array(1000), np.array([0, 1], np.float32)])
    yield case("Trilu", normal(512, 512))
    yield case("Compress", normal(*ROWS), constants=[normal(128) > 0], axis=0)
    yield case("NonZero", (normal(*ROWS) > 0).astype(np.float32))
    yield case("ReverseSequence", normal(32, 8, 64), integers(8, most=31) + 1)
    yield case("Range", constants=[np.array(0), np.array(1000), np.array(1)])
    yield case("EyeLike", normal(256, 256))
    yield case("Shape", x)


def reductions() -> Iterator[Case]:
    """Reductions, norms, sorts and sums along an axis."""
    x, rows = normal(*IMAGE), normal(*ROWS)
    for op in ("Sum", "Mean", "Max", "Min", "Prod", "L1", "L2", "LogSum", "LogSumExp", "SumSquare"):
        positive = uniform(*ROWS, low=0.9, high=1.1)
        known = [np.array([-1])] if op in ("Sum", "Max", "Min") else []
        more: dict[str, Any] = {} if known else {"axes": [-1]}
        yield case(f"Reduce{op}", positive, constants=known, **more)
    yield case("ReduceMean", x, axes=[2, 3], name="ReduceMean pixels")
    yield case("ReduceMean", x, axes=[1], name="ReduceMean channels")
    yield case("ReduceSum", rows, constants=[np.array([0])], name="ReduceSum columns")
    yield case("ReduceMax", x, constants=[np.array([1])], name="ReduceMax channels")
    yield case("ArgMax", rows, axis=-1)
    yield case("ArgMin", rows, axis=-1)
    yield case("ArgMax", x, axis=1, name="ArgMax channels")
    for k, width in ((5, 1000), (10, 30522), (100, 8400), (300, 8400)):
        yield case("TopK", normal(1, width), constants=[np.array([k])], outputs=2, name=f"TopK {k}")
    yield case("TopK", rows, constants=[np.array([8])], outputs=2, axis=0, name="TopK axis 0")
    yield case("CumSum", rows, constants=[np.array(1)])
    for op in ("Softmax", "LogSoftmax", "Hardmax"):
        yield case(op, rows, axis=-1)
    for op in ("Softmax", "LogSoftmax"):
        yield case(op, normal(8, 30522), axis=-1, name=f"{op} vocabulary")
        yield case(op, x, axis=1, name=f"{op} channels")
    yield case("LayerNormalization", normal(*WORDS), constants=[normal(768), normal(768)])
    yield case("InstanceNormalization", x, constants=[normal(64), normal(64)])
    norm = [normal(64), normal(64), normal(64), uniform(64)]
    yield case("BatchNormalization", x, constants=norm)
    yield case("GroupNormalization", x, constants=norm[:2], num_groups=8)
    yield case("LpNormalization", rows)
    yield case("LRN", x, size=5)
    yield case("MeanVarianceNormalization", x)


def windows() -> Iterator[Case]:
    """Pools, resizing, sampling and convolutions."""
    x = normal(*IMAGE)
    pool: dict[str, Any] = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}
    yield case("MaxPool", x, **pool)
    yield case("AveragePool", x, **pool)
    yield case("LpPool", x, kernel_shape=[2, 2], strides=[2, 2])
    yield case("GlobalAveragePool", x)
    yield case("GlobalMaxPool", x)
    twice, half = (np.array([1, 1, by, by], np.float32) for by in (2, 0.5))
    odd = np.array([1, 64, 75, 83])
    for mode in ("nearest", "linear", "cubic"):
        name, way = f"Resize {mode}", "asymmetric" if mode == "nearest" else "align_corners"
        yield case("Resize", x, constants=[None, twice], mode=mode, name=name)
        yield case("Resize", x, constants=[None, half], mode=mode, name=f"{name} half")
        more: dict[str, Any] = {"mode": mode, "coordinate_transformation_mode": way}
        yield case("Resize", x, constants=[None, None, odd], name=f"{name} odd", **more)
    yield case("GridSample", x, uniform(1, 56, 56, 2, low=-1, high=1))
    yield case("Conv", x, constants=[normal(64, 64, 3, 3), normal(64)], pads=[1] * 4)
    yield case("Conv", x, constants=[normal(128, 64, 1, 1)], name="Conv 1x1")
    yield case(
        "Conv",
        x,
        constants=[normal(64, 1, 3, 3)],
        pads=[1] * 4,
        group=64,
        name="Conv 3x3 depthwise",
    )
    yield case(
        "ConvTranspose", normal(1, 64, 28, 28), constants=[normal(64, 32, 2, 2)], strides=[2, 2]
    )


def products() -> Iterator[Case]:
    """Products of matrices, and recurrent networks."""
    yield case("MatMul", normal(*WORDS), constants=[normal(768, 768)])
    yield case("MatMul", normal(12, 128, 64), normal(12, 64, 128), name="MatMul batch")
    yield case("Gemm", normal(32, 768), constants=[normal(1000, 768), normal(1000)], transB=1)
    yield case("Einsum", normal(1, 128, 12, 64), normal(1, 128, 12, 64), equation="bqhd,bkhd->bhqk")
    for op, gates in (("LSTM", 4), ("GRU", 3), ("RNN", 1)):
        weights = [normal(1, gates * 128, 128) / 12, normal(1, gates * 128, 128) / 12]
        yield case(op, normal(32, 1, 128), constants=weights, hidden_size=128, outputs=2)
    yield case(
        "MatMulInteger", octets(128, 768), constants=[octets(768, 768, dtype=np.int8)], exact=True
    )
    yield case("DynamicQuantizeLinear", normal(*ROWS), outputs=3, exact=True)


def quantized() -> Iterator[Case]:
    """Operators on bytes, as onnxruntime's quantization to QOperator format writes them."""
    image, b = octets(*IMAGE), octets(*IMAGE)
    own, result = [SCALE, ZERO], [SCALE_OF_RESULT, ZERO_OF_RESULT]
    yield case("QuantizeLinear", normal(*IMAGE), constants=own, exact=True)
    yield case("DequantizeLinear", image, constants=own, exact=True)
    for op in ("QLinearAdd", "QLinearMul"):
        order = [0, 2, 3, 1, 4, 5, 6, 7]
        yield ms(op, image, b, constants=[*own, *own, *result], order=order, exact=True)
    yield ms(
        "QLinearConcat",
        image,
        b,
        constants=[*result, *own, *own],
        order=[2, 3, 0, 4, 5, 1, 6, 7],
        axis=1,
        exact=True,
    )
    yield ms("QLinearSigmoid", image, constants=[*own, *result], exact=True)
    yield ms("QLinearLeakyRelu", image, constants=[*own, *result], alpha=0.1, exact=True)
    yield ms(
        "QLinearSoftmax",
        octets(*ROWS),
        constants=[*own, np.float32(1 / 256), np.uint8(0)],
        axis=-1,
        opset=13,
        exact=True,
    )
    yield ms("QLinearGlobalAveragePool", image, constants=[*own, *result], exact=True)
    pool: dict[str, Any] = {"kernel_shape": [3, 3], "strides": [2, 2], "pads": [1, 1, 1, 1]}
    yield ms("QLinearAveragePool", image, constants=[*own, *result], exact=True, **pool)
    yield ms(
        "QLinearWhere",
        normal(*ROWS) > 0,
        octets(*ROWS),
        octets(*ROWS),
        constants=[*own, *own, *result],
        order=[0, 1, 3, 4, 2, 5, 6, 7, 8],
        exact=True,
    )
    weights = octets(768, 768, dtype=np.int8)
    yield ms(
        "QGemm",
        octets(*ROWS),
        exact=True,
        order=None,
        constants=[
            *own,
            weights,
            np.float32(0.01),
            np.int8(0),
            integers(768, dtype=np.int32),
            np.float32(2),
            ZERO_OF_RESULT,
        ],
    )
    yield case(
        "QLinearMatMul",
        octets(*ROWS),
        exact=True,
        constants=[*own, weights, np.float32(0.01), np.int8(0), np.float32(2), ZERO_OF_RESULT],
    )
    yield case(
        "QLinearConv",
        image,
        exact=True,
        pads=[1] * 4,
        constants=[
            *own,
            octets(64, 64, 3, 3, dtype=np.int8),
            np.float32(0.01),
            np.int8(0),
            np.float32(2),
            ZERO_OF_RESULT,
        ],
    )
    yield ms(
        "DynamicQuantizeMatMul", normal(*ROWS), constants=[weights, np.float32(0.01), np.int8(0)]
    )
    yield ms(
        "MatMulIntegerToFloat",
        octets(*ROWS),
        constants=[weights, SCALE, np.float32(0.01), ZERO, np.int8(0)],
    )


def fused() -> Iterator[Case]:
    """Operators that onnxruntime's optimizer writes."""
    x, gamma, beta = normal(*WORDS), normal(768), normal(768)
    for op in ("Gelu", "FastGelu", "QuickGelu"):
        yield ms(op, x, name=f"{op} of onnxruntime")
    yield ms("BiasGelu", normal(1, 128, 3072), constants=[normal(3072)])
    yield ms("FastGelu", normal(1, 128, 3072), constants=[normal(3072)], name="FastGelu with bias")
    yield ms(
        "SkipLayerNormalization",
        x,
        normal(*WORDS),
        constants=[gamma, beta, normal(768)],
        epsilon=1e-5,
    )
    yield ms("SkipSimplifiedLayerNormalization", x, normal(*WORDS), constants=[gamma], epsilon=1e-5)
    yield ms("FusedMatMul", normal(12, 128, 64), normal(12, 128, 64), transB=1, alpha=0.125)
    yield ms(
        "FusedGemm", normal(32, 768), constants=[normal(768, 768), normal(768)], activation="Relu"
    )
    yield ms(
        "FusedConv",
        normal(*IMAGE),
        constants=[normal(64, 64, 3, 3), normal(64)],
        pads=[1] * 4,
        activation="Relu",
    )
    yield ms("Attention", x, constants=[normal(768, 2304) / 28, normal(2304)], num_heads=12)
    yield ms("MultiHeadAttention", x, normal(*WORDS), normal(*WORDS), num_heads=12)
    yield ms(
        "EmbedLayerNormalization",
        integers(1, 128, dtype=np.int32),
        integers(1, 128, most=2, dtype=np.int32),
        outputs=2,
        constants=[normal(30000, 384), normal(512, 384), normal(2, 384), normal(384), normal(384)],
    )


def cases() -> list[Case]:
    """Return all cases."""
    kinds = (elements, moves, reductions, windows, products, quantized, fused)
    return [found for kind in kinds for found in kind()]


def contestants(found: Case) -> list[timing.Contestant]:
    """fbg and onnxruntime, after a look at how far their results differ, and where fbg runs it."""
    data = found.model().SerializeToString()
    session = onnxruntime.InferenceSession(data, _options())
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "operator.onnx")
        path.write_bytes(data)
        net = fbg.load(str(path))
    feeds = {f"x{i}": x for i, x in enumerate(found.inputs)}
    names = [value.name for value in session.get_outputs()]
    expected, got = session.run(None, feeds), net.run(feeds)
    off = 0.0
    for name, y in zip(names, expected, strict=True):
        assert got[name].dtype == y.dtype and got[name].shape == y.shape, (got[name].shape, y.shape)
        a, b = got[name].astype(np.float64), y.astype(np.float64)
        assert np.array_equal(np.isfinite(a), np.isfinite(b))
        scale = 1.0 if y.dtype.kind in "iu" else max(float(np.nanmax(np.abs(b), initial=0)), 1e-30)
        off = max(off, float(np.nanmax(np.abs(a - b), initial=0)) / scale)
    wrong = off > (0 if found.exact else 1e-3)
    places = {step.backend for step in net.plan().steps} or {"constant"}
    figures = {"ran on": "+".join(sorted(places)), "off": f"{off:.1e}{' WRONG' * wrong}"}
    return [
        timing.Contestant("fbg", lambda: net.run(feeds), figures=figures),
        timing.Contestant("onnxruntime", lambda: session.run(None, feeds)),
    ]


def main() -> None:
    """Print one line a case: times, ratio, back ends, difference."""
    parser = timing.parser(__doc__)
    parser.set_defaults(clock="thread")
    parser.add_argument("names", nargs="*", help="parts of names of cases")
    parser.add_argument("--below", type=float, default=float("inf"), help="the largest ratio shown")
    given = parser.parse_args()
    report = timing.begin("operators", given)
    timing.SAMPLE_SECONDS = SAMPLE_SECONDS
    fbg.set_num_threads(1)
    for found in cases():
        if given.names and not any(name in found.name for name in given.names):
            continue
        case = timing.Case({"operator": found.name}, partial(contestants, found))
        try:
            results = report.run(case, timing.rounds(given))
        except Exception as error:
            print(f"{found.name:34} failed: {type(error).__name__}: {str(error)[:150]}", flush=True)
            continue
        ours, theirs = (results[name].median for name in ("fbg", "onnxruntime"))
        if theirs / ours < given.below:
            said = report.rows(case.names)[0]["figures"]
            times = f"{1e6 * ours:9.1f} us {1e6 * theirs:9.1f} us {said['ran on']:14} {said['off']}"
            print(f"{theirs / ours:6.2f} {found.name:34} {times}", flush=True)


if __name__ == "__main__":
    main()
