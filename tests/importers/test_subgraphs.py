"""Nodes inside of If, Loop and Scan that do not fit each other never reach onnxruntime.

Its inference ends the process where ellipses of an Einsum stand for different axes.
"""

import warnings

import numpy as np
import pytest
from onnx import TensorProto, helper, numpy_helper

import fbg


def value(name, shape, kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def inside_if(nodes, output="z"):
    body = helper.make_graph(nodes, "body", [], [value("r", None)])
    return helper.make_node("If", ["true"], [output], then_branch=body, else_branch=body)


def inside_loop(nodes):
    count, go = value("count", (), TensorProto.INT64), value("go", (), TensorProto.BOOL)
    on = helper.make_node("Identity", ["go"], ["on"])
    outputs = [value("on", (), TensorProto.BOOL), value("r", None)]
    body = helper.make_graph([on, *nodes], "body", [count, go], outputs)
    return helper.make_node("Loop", ["two", "true"], ["z"], body=body)


def inside_scan(nodes):
    body = helper.make_graph(nodes, "body", [value("row", None)], [value("r", None)])
    return helper.make_node("Scan", ["x"], ["z"], body=body, num_scan_inputs=1)


def einsum(*operands):
    return helper.make_node("Einsum", operands, ["r"], equation="...i,...j->...")


def load(path, *nodes):
    arrays = {
        "true": np.array(True),
        "two": np.array(2),
        "vector": np.ones(1, np.float32),
        "tensor": np.ones((1, 5, 1, 2), np.float32),
    }
    constants = [numpy_helper.from_array(array, name) for name, array in arrays.items()]
    graph = helper.make_graph(nodes, "g", [value("x", (1, 4))], [value("z", None)], constants)
    opsets = [helper.make_opsetid("", 20)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=9)
    path.write_bytes(model.SerializeToString())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fbg.load(path)


@pytest.mark.parametrize("inside", [inside_loop, inside_scan])
@pytest.mark.parametrize("deep", [False, True])
def test_nodes_that_do_not_fit_their_inputs_run_elsewhere(tmp_path, inside, deep):
    wrong = einsum("vector", "tensor")
    net = load(tmp_path / "m.onnx", inside([inside_if([wrong], "r") if deep else wrong]))
    assert "onnxruntime" not in str(net.plan())


@pytest.mark.parametrize("deep", [False, True])
def test_branches_that_are_taken_and_do_not_fit_are_refused(tmp_path, deep):
    wrong = einsum("vector", "tensor")
    with pytest.raises(fbg.ModelError, match=r"node Einsum .* does not fit its inputs"):
        load(tmp_path / "m.onnx", inside_if([inside_if([wrong], "r") if deep else wrong]))


def test_branches_that_run_may_take_and_do_not_fit_never_reach_onnxruntime(tmp_path):
    body = helper.make_graph([einsum("vector", "tensor")], "body", [], [value("r", None)])
    nodes = [
        helper.make_node("ReduceMax", ["x"], ["top"], keepdims=0),
        helper.make_node("Cast", ["top"], ["flag"], to=TensorProto.BOOL),
        helper.make_node("If", ["flag"], ["z"], "choice", then_branch=body, else_branch=body),
    ]
    with pytest.raises(fbg.ModelError, match=r"node Einsum .* does not fit its inputs"):
        load(tmp_path / "m.onnx", *nodes)


@pytest.mark.parametrize("inside", [inside_if, inside_loop, inside_scan])
def test_nodes_that_fit_run_on_onnxruntime(tmp_path, inside):
    net = load(tmp_path / "m.onnx", inside([einsum("tensor", "tensor")]))
    backends = {step.backend for step in net.plan().steps}
    assert backends == (set() if inside is inside_if else {"onnxruntime"})  # it is folded
    (found,) = net.run({"x": np.ones((1, 4), np.float32)}).values()
    assert (found == 4).all()
