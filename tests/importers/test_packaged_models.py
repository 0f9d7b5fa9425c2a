"""The models that the package onnx carries with their results: exports of torch, and whole CNNs.

Those CNNs have constants for weights, so that all of their classes have the same probability: they
show that a network of that structure is read and run, in integers too, and no more.
"""

import functools
from pathlib import Path

import numpy as np
import onnx
import onnx.backend.test
import pytest
from onnx import helper, numpy_helper
from onnx.backend.test.loader import load_model_tests
from onnx.backend.test.runner import Runner

import fbg.onnx_backend
from helpers.onnx_models import make_net

LIGHT = Path(onnx.backend.test.__file__).parent / "data" / "light"
ROUNDING = ("avx512_bf16", "avx512_fp16", "avx512_amx")
CNNS = sorted(path.stem for path in LIGHT.glob("*.onnx"))
# Training.
NOT_ON_FBG = ("test_gradient_of_add", "test_gradient_of_add_and_mul")


def read(path):
    tensor = onnx.TensorProto.FromString(path.read_bytes())
    if tensor.data_type == onnx.TensorProto.UNDEFINED:
        return None
    return numpy_helper.to_array(tensor)


@functools.cache
def cases_of(kind):
    return [
        (case, onnx.load(f"{case.model_dir}/model.onnx")) for case in load_model_tests(kind=kind)
    ]


def check(case, model, backends):
    rep = fbg.onnx_backend.prepare(model, "CPU", backends)
    for data in sorted(Path(case.model_dir).glob("test_data_set_*")):
        inputs = [read(path) for path in sorted(data.glob("input_*.pb"))]
        outputs = [read(path) for path in sorted(data.glob("output_*.pb"))]
        results = list(rep.run(inputs))
        if outputs[0].dtype == object:
            np.testing.assert_array_equal(results[0], outputs[0])
        else:
            Runner.assert_similar_outputs(outputs, results, case.rtol, case.atol)


# Before the seventh set of operators, an attribute said where a smaller operand lies in a greater
# one. onnxruntime has no such operators: they run on onnx.reference.
OLD = (
    "test_operator_add_broadcast",
    "test_operator_add_size1_broadcast",
    "test_operator_add_size1_right_broadcast",
    "test_operator_add_size1_singleton_broadcast",
)


@pytest.mark.parametrize(("kind", "count"), [("pytorch-converted", 82), ("pytorch-operator", 31)])
def test_exports_of_torch_run_on_fbg_itself(kind, count):
    cases = [(case, model) for case, model in cases_of(kind) if case.name not in OLD]
    assert len(cases) >= count
    for case, model in cases:
        check(case, model, ("fbg",))


@pytest.mark.filterwarnings("ignore:.*onnx.reference:UserWarning")
def test_exports_of_torch_with_the_oldest_operators_run():
    cases = [(case, model) for case, model in cases_of("pytorch-operator") if case.name in OLD]
    assert len(cases) == len(OLD)
    for case, model in cases:
        check(case, model, None)


# onnxruntime needs a locale for the operators of texts, which this machine may not have.
@pytest.mark.filterwarnings("ignore:.*onnx.reference:UserWarning")
def test_simple_models_run_but_for_training():
    for case, model in cases_of("simple"):
        if case.name not in NOT_ON_FBG:
            check(case, model, None)


@pytest.mark.parametrize("name", NOT_ON_FBG)
def test_training_is_refused_by_name(name):
    (model,) = (model for case, model in cases_of("simple") if case.name == name)
    with pytest.raises(fbg.ModelError, match="node Gradient 'my_gradient'"):
        fbg.onnx_backend.prepare(model, "CPU")


def run_cnn(name, dtype):
    path = LIGHT / f"{name}.onnx"
    graph = onnx.load(path).graph
    weights = {tensor.name for tensor in graph.initializer}
    (x,) = (x for x in graph.input if x.name not in weights)
    shape = [axis.dim_value for axis in x.type.tensor_type.shape.dim]
    values = np.arange(np.prod(shape)) / np.prod(shape)
    feed = {x.name: values.astype(np.float32).reshape(shape)}
    net = fbg.load(path, dtype=dtype, calibrate=[feed] if dtype == "int8" else None)
    (y,) = net.run(feed).values()
    # Images are rounded to bfloat16. Weights are constants here, so that errors do not cancel.
    rounds = dtype == "bfloat16" and fbg.isa.active() in ROUNDING
    np.testing.assert_allclose(
        y, read(LIGHT / f"{name}_output_0.pb"), rtol=2**-9 if rounds else 1e-3
    )


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
@pytest.mark.parametrize("name", CNNS)
def test_whole_cnns_give_the_results_that_they_came_with(name, dtype):
    run_cnn(name, dtype)


# Others take up to half a minute to calibrate.
@pytest.mark.parametrize("name", ["bvlc_alexnet", "inception_v1", "shufflenet", "squeezenet"])
def test_whole_cnns_give_those_results_in_int8(name):
    run_cnn(f"light_{name}", "int8")


def test_outputs_that_nobody_reads_are_not_computed():
    """Exporters of older operators name masks and statistics, whose types no inference finds."""
    rng = np.random.default_rng(0)
    constants = {name: rng.random(3, np.float32) + 1 for name in ("scale", "bias", "mean", "var")}
    nodes = [
        helper.make_node("BatchNormalization", ["x", *constants], ["n", "m", "v", "sm", "sv"]),
        helper.make_node("Dropout", ["n"], ["d", "mask"]),
        helper.make_node("MaxPool", ["d"], ["y", "indices"], kernel_shape=[2, 2]),
    ]
    x = rng.random((1, 3, 4, 4), np.float32)
    net = make_net(nodes, {"x": x}, ["y"], constants, opset=8, backends=("fbg",))
    (y,) = net.run({"x": x}).values()
    scale, bias, mean, var = (array.reshape(3, 1, 1) for array in constants.values())
    wanted = (x - mean) / np.sqrt(var + 1e-5) * scale + bias
    wanted = np.lib.stride_tricks.sliding_window_view(wanted, (2, 2), axis=(2, 3)).max((-2, -1))
    np.testing.assert_allclose(y, wanted, rtol=1e-5, atol=1e-6)
