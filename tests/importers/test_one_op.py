"""Single operators with the shapes and values that onnxruntime gives, known early or in a run."""

import collections
import dataclasses
from random import Random

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from differential.kinds import onnx_ops
from differential.onnx_cases.draw import Draw
from fbg.errors import ModelError
from fbg.importers.net import Net
from fbg.importers.onnx.read import read_model
from helpers.one_op import OneOp
from helpers.onnx_models import make_net, node, plain_onnxruntime
from helpers.random_cases import outcome

# Single operators with the shapes and values that onnxruntime gives, known early or in a run.

# Ops that compute their own shapes: those of onnxruntime, where ONNX's inference has others.


def numbers(*shape):
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def one(op, version, inputs, constant=(), **attributes):
    return OneOp(op, version, inputs, attributes, frozenset(constant))


def check(case):
    (wanted,) = case.on_onnxruntime()
    (got,) = case.on_fbg()
    assert got.shape == wanted.shape, str(case)
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5, err_msg=str(case))


# Operators of many geometries and attributes, which are drawn more often here than among all.
DRAWN = (
    *("AveragePool", "LpPool", "MaxPool", "GlobalLpPool", "Conv", "ConvTranspose", "Resize"),
    *("Upsample", "Slice", "Squeeze", "Unsqueeze", "Celu", "STFT", "Compress", "ReverseSequence"),
    *("EyeLike", "Pad", "Tile", "DepthToSpace", "SpaceToDepth"),
)


@pytest.mark.parametrize("op", DRAWN)
def test_results_are_those_of_onnxruntime(op):
    def run(draw):
        return onnx_ops.compared(draw, onnx_ops.drawn(draw, op))

    kind, ended = dataclasses.replace(onnx_ops.KIND, run=run), collections.Counter()
    for number in range(60):
        end, problem = outcome(kind, Draw(Random(f"{op} {number}")))
        assert problem is None, problem
        ended[end] += 1
    assert ended["same"] >= 10, ended


@pytest.mark.parametrize("op", ["AveragePool", "MaxPool"])
@pytest.mark.parametrize("auto_pad", ["SAME_LOWER", "SAME_UPPER"])
def test_auto_pad_of_windows_shorter_than_the_stride_cuts_the_image(op, auto_pad):
    x = np.arange(12, dtype=np.float32).reshape(1, 1, 12)
    case = one(op, 11, [x], kernel_shape=[1], strides=[5], auto_pad=auto_pad)
    (got,) = case.on_fbg(("fbg",))
    # ceil(12 / 5) windows need 11 elements: the one that is left over is at the end
    np.testing.assert_array_equal(got, [[[0, 5, 10]]])


@pytest.mark.parametrize("op", ["AveragePool", "Conv", "ConvTranspose", "MaxPool"])
def test_windows_that_do_not_fit_are_named(op):
    x, w = numbers(1, 1, 3, 3), numbers(1, 1, 5, 5)
    pools = op.endswith("Pool")
    attributes = {"kernel_shape": [5, 5]} if pools else {"pads": [3] * 4}
    if op == "Conv":
        attributes = {}
    if op == "ConvTranspose":
        attributes = {"pads": [4] * 4}
    case = one(op, 11, [x] if pools else [x, w], {1}, **attributes)
    with pytest.raises(ModelError, match=f"node {op} .* axis 2"):
        case.on_fbg()


@pytest.mark.parametrize("shape", [(2, 1), (2, 3), (7,)], ids=str)
def test_a_foreign_result_may_have_another_shape_than_declared(shape):
    x = numbers(2, 3)
    case = one("QuickGelu", 1, [x])
    case.domain, case.declared = "com.microsoft", [(x.dtype, shape)]
    check(case)


@pytest.mark.parametrize("backend", ["fbg", "onnxruntime"])
def test_scalars_stay_scalars(backend):
    nodes = [
        helper.make_node("Gather", ["x", "index"], ["g"], "g"),
        helper.make_node("Mul", ["g", "factor"], ["m"], "m"),
        helper.make_node("Add", ["m", "given"], ["y"], "y"),
    ]
    constants = {"index": np.array(1), "factor": np.array(3, np.float32)}
    feed = {"x": np.float32([1, 2, 4]), "given": np.array(0.5, np.float32)}
    y = make_net(nodes, feed, ["y"], constants, backends=(backend,)).run(feed)["y"]
    assert y.shape == ()
    assert y == 6.5


def test_dynamic_quantization_of_nothing_but_zeros_has_scale_one():
    for constant in ((), {0}):
        case = OneOp(
            "DynamicQuantizeLinear", 11, [np.zeros(3, np.float32)], {}, frozenset(constant)
        )
        case.outputs = 3
        case.declared = [(np.dtype(kind), None) for kind in ("uint8", "float32", "uint8")]
        for got, wanted in zip(case.on_fbg(), case.on_onnxruntime(), strict=True):
            np.testing.assert_array_equal(got, wanted)


def test_nearest_neighbours_of_positions_between_two_pixels():
    scales = np.float32([1, 1, 1, 2.8])
    modes = {"mode": "nearest", "coordinate_transformation_mode": "half_pixel_symmetric"}
    for nearest in ("round_prefer_ceil", "round_prefer_floor"):
        inputs = [numbers(1, 1, 1, 9), None, scales]
        check(one("Resize", 19, inputs, {2}, nearest_mode=nearest, **modes))


@pytest.mark.filterwarnings("ignore:.*onnx.reference:UserWarning")
def test_what_a_foreign_step_raises_is_named():
    case = one("Gather", 13, [numbers(3), np.int64([7])])
    for name, title in (("onnxruntime", "onnxruntime"), ("reference", "the reference")):
        with pytest.raises(ModelError, match=f"node Gather 'Gather_0' failed on {title}: "):
            case.on_fbg((name,))


# Values and shapes that are known before a run are what the run gives.

REFUSED = {  # by onnxruntime
    "Div by zero": OneOp("Div", 14, [np.array([5, -5, 7]), np.array([0, 2, -2])]),
    "OneHot of negative indices": OneOp(
        "OneHot", 9, [np.float32([-1, 0, 2]), np.array(3), np.float32([0, 1])]
    ),
}


@pytest.mark.parametrize("case", REFUSED.values(), ids=REFUSED)
def test_a_constant_that_fbg_computes_has_the_bits_of_a_run(case):
    case.constant = frozenset()
    (run,) = case.on_fbg()
    case.constant = frozenset(range(len(case.inputs)))
    (folded,) = case.on_fbg()
    assert (folded.dtype, folded.shape) == (run.dtype, run.shape)
    assert folded.tobytes() == run.tobytes()


@pytest.mark.parametrize("constant", [set(), {0}, {0, 2}, {0, 1, 2}], ids=str)
def test_ends_of_a_range_may_have_an_axis(constant):
    ends = [np.array([value]) for value in (1, 9, 3)]
    case = OneOp("Range", 17, ends, constant=frozenset(constant))
    assert case.on_fbg()[0].tolist() == [1, 4, 7]


def test_ends_of_a_range_may_be_sliced_from_a_shape():
    nodes = [
        node("Shape", ["x"], "sizes"),
        node("Slice", ["sizes", "zero", "one"], "rows"),
        node("Range", ["zero", "rows", "one"], "y"),
    ]
    constants = {"zero": np.array([0]), "one": np.array([1])}
    net = make_net(nodes, {"x": (np.float32, ("n", 3))}, {"y": (np.int64, None)}, constants)
    assert net.run({"x": np.zeros((4, 3), np.float32)})["y"].tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("opset", [11, 13])
@pytest.mark.parametrize("fill", [np.inf, -np.inf, np.nan])
def test_log_softmax_of_rows_that_are_not_finite(fill, opset):
    x = np.float32([[1, fill, 2, 3], [1, 2, 3, 4], [fill] * 4])
    case = OneOp("LogSoftmax", opset, [x])
    np.testing.assert_allclose(case.on_fbg(("fbg",)), case.on_onnxruntime(), rtol=1e-5)


@pytest.mark.parametrize("kinds", [True, False], ids=["typed", "untyped"])
def test_a_loop_whose_body_states_no_types(kinds):
    def value(name, element=TensorProto.FLOAT, shape=(2,), typed=kinds):
        named = onnx.ValueInfoProto(name=name)
        return onnx.helper.make_tensor_value_info(name, element, shape) if typed else named

    counted = value("i", TensorProto.INT64, (), True), value("c", TensorProto.BOOL, (), True)
    nodes = [
        node("Add", ["v", "w"], "v2"),
        node("Identity", ["c"], "c2"),
        node("Mul", ["v2", "w"], "s"),
    ]
    results = [value("c2", TensorProto.BOOL, ()), value("v2"), value("s")]
    body = onnx.helper.make_graph(nodes, "body", [*counted, value("v")], results)
    loop = onnx.helper.make_node("Loop", ["n", "t", "x"], ["y", "all"], body=body)
    constants = [("n", np.array(3)), ("t", np.array(True)), ("w", np.float32([2, 3]))]
    graph = onnx.helper.make_graph(
        [loop, node("Relu", ["y"], "z"), node("ReduceSum", ["all"], "total", keepdims=0)],
        "g",
        [onnx.helper.make_tensor_value_info("x", TensorProto.FLOAT, [2])],
        [onnx.ValueInfoProto(name="z"), onnx.ValueInfoProto(name="total")],
        [onnx.numpy_helper.from_array(value, name) for name, value in constants],
    )
    opsets = [onnx.helper.make_opsetid("", 13)]
    model = onnx.helper.make_model(graph, opset_imports=opsets, ir_version=8)
    x = np.float32([-20, 1])
    net = Net(read_model(model, "loop", None))
    for got, wanted in zip(
        net.run({"x": x}).values(), plain_onnxruntime(model, {"x": x}), strict=True
    ):
        np.testing.assert_array_equal(got, wanted)


# Indices that a run computes: in range, out of range, and whatever the number of threads.

rng = np.random.default_rng(5)
X = rng.standard_normal((5, 7)).astype(np.float32)
# Each op reads indices k + 0, which the run computes.
CASES = {
    "Gather": (["x", "i"], {"axis": 1}, (4,), r"within \[-7, 6\]", 7),
    "GatherElements": (["x", "i"], {"axis": 0}, (2, 7), r"within \[-5, 4\]", 5),
    "GatherND": (["x", "i"], {}, (3, 2), r"within \[-5, 4\] and within \[-7, 6\]", 7),
    "ScatterElements": (["x", "i", "u"], {"axis": 1}, (5, 2), r"within \[-7, 6\]", -8),
    "ScatterND": (["x", "i", "u"], {}, (3, 1), r"within \[-5, 4\]", -6),
}


def built(op, **options):
    inputs, attributes, shape, *_ = CASES[op]
    updates = {"ScatterElements": shape, "ScatterND": (3, 7)}.get(op, (1,))
    nodes = [node("Add", ["k", "zero"], "i"), node(op, inputs, "y", **attributes)]
    constants = {"zero": np.zeros((), np.int64), "u": np.ones(updates, np.float32)}
    return make_net(nodes, {"x": X, "k": (np.int64, shape)}, ["y"], constants, **options)


@pytest.mark.parametrize("op", CASES)
def test_computed_indices_are_followed_as_onnxruntime_follows_them(op):
    shape = CASES[op][2]
    k = rng.permutation(5)[:1].repeat(np.prod(shape)).reshape(shape) if "Sc" not in op else None
    if k is None:
        k = np.broadcast_to(np.arange(shape[-1]), shape) if op == "ScatterElements" else None
    if k is None:
        k = np.array([[4], [-4], [0]])
    wanted = built(op, backends=("onnxruntime",)).run({"x": X, "k": np.array(k)})["y"]
    for threads in (1, 2, 3):
        net = built(op, backends=("fbg",), num_threads=threads)
        np.testing.assert_array_equal(net.run({"x": X, "k": np.array(k)})["y"], wanted)


@pytest.mark.parametrize("op", CASES)
def test_an_index_out_of_range_is_an_error_of_its_node(op):
    *_, shape, limits, wrong = CASES[op]
    net = built(op, backends=("fbg",))
    k = np.zeros(shape, np.int64)
    net.run({"x": X, "k": k})
    k.reshape(-1)[-1] = wrong
    with pytest.raises(ModelError, match=f"node 'y': indices must be {limits}"):
        net.run({"x": X, "k": k})
    net.run({"x": X, "k": np.zeros(shape, np.int64)})  # later runs are not concerned


def test_tensors_without_elements_are_known_beforehand():
    nodes = [
        node("Slice", ["x", "five", "five"], "none"),
        node("ReduceSum", ["none", "zero"], "sum", keepdims=0),
        node("Add", ["sum", "x"], "y"),
    ]
    constants = {"five": np.array([5]), "zero": np.array([0])}
    net = make_net(nodes, {"x": X}, ["y"], constants, backends=("fbg",))
    np.testing.assert_array_equal(net(X), X)


# Operators that fbg computes as moves: what is refused, ones on a diagonal, whole images.


@pytest.mark.parametrize("wrong", [-1, 5, 2**40, -(2**63)])
def test_a_sequence_cannot_be_longer_than_its_steps_or_shorter_than_none(wrong):
    nodes = [node("ReverseSequence", ["x", "n"], "y")]
    feeds = {"x": np.ones((4, 2), np.float32), "n": np.array([4, 0])}
    net = make_net(nodes, feeds, ["y"], backends=("fbg",))
    net.run(feeds)
    with pytest.raises(ModelError, match="node 'y'"):
        net.run(feeds | {"n": np.array([wrong, 1])})


@pytest.mark.parametrize("k", [-9, -3, 0, 2, 9, 2**40])
@pytest.mark.parametrize("dtype", [None, 1, 7, 9, 10])
def test_ones_on_a_diagonal(k, dtype):
    x = np.zeros((4, 6), np.float32)
    own = {} if dtype is None else {"dtype": dtype}
    like = {None: "float32", 1: "float32", 7: "int64", 9: "bool", 10: "float16"}[dtype]
    compare_eye = np.eye(4, 6, max(min(k, 6), -4)).astype(like)
    net = make_net(
        [node("EyeLike", ["x"], "y", k=k, **own)],
        {"x": x},
        {"y": (np.dtype(like), None)},
        backends=("fbg",),
    )
    np.testing.assert_array_equal(net.run({"x": x})["y"], compare_eye)


@pytest.mark.parametrize("op", ["GlobalAveragePool", "GlobalMaxPool"])
@pytest.mark.parametrize("turned", [False, True])
def test_whole_images_are_pooled_where_they_lie(op, turned):
    rng = np.random.default_rng(3)
    x = rng.standard_normal((2, 5, 9, 11)).astype(np.float32)
    nodes = [node(op, ["t" if turned else "x"], "y")]
    if turned:
        nodes.insert(0, node("Transpose", ["x"], "t", perm=[0, 3, 1, 2]))
    net = make_net(nodes, {"x": x}, ["y"], backends=("fbg",))
    image = x.transpose(0, 3, 1, 2) if turned else x
    pick = np.max if op == "GlobalMaxPool" else np.mean
    np.testing.assert_allclose(net(x), pick(image, (2, 3), keepdims=True), 1e-5, 1e-6)
    assert any("arrange" in step.algorithm for step in net.plan().steps) is False
