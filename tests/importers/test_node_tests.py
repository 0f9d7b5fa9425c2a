"""ONNX's own tests of single operators, through the `Backend` of fbg.

`ON_FBG` lists the operators that fbg computes itself: with ``backends=("fbg",)`` all of their tests
pass but those of `ELSEWHERE`, which run on another back end.
"""

import collections
import functools
import warnings

import numpy as np
import onnx
import pytest
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests
from onnx.backend.test.runner import Runner

import fbg.onnx_backend
from helpers.poison import poisoned

ON_FBG = """
    Abs Acos Acosh Add And ArgMax ArgMin Asin Asinh Atan Atanh AveragePool BatchNormalization
    BitShift BitwiseAnd BitwiseNot BitwiseOr BitwiseXor Cast CastLike Ceil Celu Clip Concat
    ConstantOfShape Conv ConvInteger ConvTranspose Cos Cosh CumProd CumSum DepthToSpace
    DequantizeLinear Div Dropout DynamicQuantizeLinear Einsum Elu Equal Erf Exp Expand Flatten Floor
    GRU Gather GatherElements GatherND Gelu Gemm GlobalAveragePool GlobalMaxPool
    Greater GreaterOrEqual GridSample GroupNormalization HardSigmoid HardSwish Hardmax
    InstanceNormalization IsInf IsNaN LRN LSTM LayerNormalization LeakyRelu Less LessOrEqual Log
    LogSoftmax LpNormalization LpPool MatMul MatMulInteger Max MaxPool MaxUnpool Mean
    MeanVarianceNormalization Min Mish Mod Mul Neg OneHot Or PRelu Pad Pow QLinearConv QLinearMatMul
    QuantizeLinear RMSNormalization RNN Range Reciprocal ReduceL1 ReduceL2 ReduceLogSum
    ReduceLogSumExp ReduceMax ReduceMean ReduceMin ReduceProd ReduceSum ReduceSumSquare Relu Reshape
    Resize Round Scatter ScatterElements ScatterND Selu Shrink Sigmoid Sign Sin Sinh Slice Softmax
    Softplus Softsign SpaceToDepth Split Sqrt Squeeze Sub Sum Swish Tan Tanh ThresholdedRelu Tile
    TopK Transpose Trilu Unsqueeze Where Xor
"""

# Parts of test names, by operator: types that fbg does not have (float8, integers of 2 and 4 bits,
# texts, some functions of float64), and random numbers.
NARROW = ["FLOAT4", "FLOAT8", "INT2", "INT4"]
NARROW_INTEGERS = ["e4m3", "e5m2", "int4", "int2", "e2m1"]
ELSEWHERE = {
    "Cast": NARROW,
    "CastLike": NARROW,
    "DequantizeLinear": NARROW_INTEGERS,
    "Dropout": ["training"],
    "Equal": ["string"],
    "MaxUnpool": ["with_output_shape"],  # which is a tensor of the run, and no inference follows it
    "QuantizeLinear": NARROW_INTEGERS,
    "ReduceLogSumExp": ["_keepdims_"],
}

# Their positions are computed from a scale that the sizes do not have. PyTorch, whose exports have
# such scales, and onnxruntime compute them from the sizes.
CONTRADICTED = (
    "test_resize_downsample_scales_cubic_align_corners",
    "test_resize_downsample_scales_linear_align_corners",
)

PARTS = 8  # of all other operators, whose names are computed when a test needs them


@functools.cache
def node_tests():
    found = collections.defaultdict(list)
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")  # of the arithmetic that makes the expected results
        cases = load_model_tests(kind="node")
    for case in cases:
        if len(case.model.graph.node) == 1:
            found[case.model.graph.node[0].op_type].append(case)
    return found


def check(case, backends):
    rep = fbg.onnx_backend.prepare(case.model, "CPU", backends)
    for inputs, outputs in case.data_sets:
        results = rep.run([as_array(value) for value in inputs])
        wanted = [as_array(value) for value in outputs]
        Runner.assert_similar_outputs(wanted, list(results), case.rtol, case.atol)


def as_array(value):
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value


def is_elsewhere(case, op):
    return any(part in case.name for part in ELSEWHERE.get(op, ()))


@pytest.mark.parametrize("op", ON_FBG.split())
def test_operator_on_fbg_itself(op):
    cases = [case for case in node_tests()[op] if not is_elsewhere(case, op)]
    assert cases
    for case in cases:
        if case.name not in CONTRADICTED:
            with poisoned(0xA5):  # results that nothing has written are not the expected ones
                check(case, ("fbg",))


def test_results_that_pytorch_and_onnxruntime_contradict_are_theirs():
    cases = [case for case in node_tests()["Resize"] if case.name in CONTRADICTED]
    assert len(cases) == len(CONTRADICTED)
    for case in cases:
        results = [
            fbg.onnx_backend.prepare(case.model, "CPU", (name,)).run(case.data_sets[0][0])[0]
            for name in ("fbg", "onnxruntime")
        ]
        np.testing.assert_allclose(*results, rtol=1e-5)


def test_at_least_800_tests_of_those_operators_run_on_fbg_itself():
    assert (
        sum(not is_elsewhere(case, op) for op in ON_FBG.split() for case in node_tests()[op]) >= 800
    )


# The operators of the networks that fbg was first made for.
FIRST = (
    *("Add", "AveragePool", "BatchNormalization", "Clip", "Concat", "Conv", "ConvInteger"),
    *("ConvTranspose", "Swish"),
    *("DepthToSpace", "DequantizeLinear", "Div", "DynamicQuantizeLinear", "Flatten"),
    *("Gather", "Gelu", "Gemm", "GlobalAveragePool", "GlobalMaxPool", "HardSigmoid"),
    *("HardSwish", "LayerNormalization", "LeakyRelu", "MatMul", "MatMulInteger", "MaxPool"),
    *("Mul", "PRelu", "Pad", "QLinearConv", "QLinearMatMul", "QuantizeLinear", "ReduceMean"),
    *("Relu", "Reshape", "Resize", "Sigmoid", "Slice", "Softmax", "Split", "Squeeze", "Sub"),
    *("Tanh", "Transpose", "Unsqueeze"),
)


def test_all_but_16_tests_of_the_first_operators_run_on_fbg_itself():
    cases = [(case, op) for op in FIRST for case in node_tests()[op]]
    here = [case for case, op in cases if not is_elsewhere(case, op)]
    assert len(here) >= 330
    assert len(here) >= len(cases) - 16


@pytest.mark.parametrize("op", ON_FBG.split())
def test_what_fbg_refuses_is_refused_by_name(op):
    for case in node_tests()[op]:
        if is_elsewhere(case, op):
            with pytest.raises(fbg.ModelError, match=f"node {op} '.*back ends fbg"):
                check(case, ("fbg",))


@pytest.mark.filterwarnings("ignore:.*onnx.reference:UserWarning")
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("op", sorted(ELSEWHERE))
def test_what_fbg_refuses_runs_elsewhere(op):
    for case in node_tests()[op]:
        if is_elsewhere(case, op):
            (check if op in FIRST else check_where_onnxruntime_does)(case, None)


@pytest.mark.filterwarnings("ignore::UserWarning", "ignore::RuntimeWarning")
@pytest.mark.parametrize("part", range(PARTS))
def test_all_other_operators_run_where_onnxruntime_runs_them(part):
    ops = sorted(node_tests().keys() - {*ON_FBG.split()})
    assert len(ops) > 50
    for case in (case for op in ops[part::PARTS] for case in node_tests()[op]):
        check_where_onnxruntime_does(case, None)


def check_where_onnxruntime_does(case, backends):
    try:
        check(case, backends)
    except Exception:
        with pytest.raises((Exception, AssertionError)):
            check(case, ("onnxruntime",))
            pytest.fail(f"{case.name} runs on onnxruntime alone")
