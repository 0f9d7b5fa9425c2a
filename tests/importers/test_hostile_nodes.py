"""Nodes whose attributes or sizes make libraries that compute with them end or take memory."""

import tracemalloc
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import fbg


def write(path: Path, node: onnx.NodeProto, **constants: Any) -> Path:
    """Write a file of a node with the output z beside a Relu of its input x."""
    kinds = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in "xyz"]
    kinds[0] = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4])
    nodes = [node, helper.make_node("Relu", ["x"], ["y"])]
    tensors = [numpy_helper.from_array(np.array(c), name) for name, c in constants.items()]
    graph = helper.make_graph(nodes, "graph", kinds[:1], kinds[1:], tensors)
    opset = helper.make_opsetid("", 17)
    onnx.save(helper.make_model(graph, opset_imports=[opset], ir_version=8), path)
    return path


@pytest.mark.parametrize("batch_dims", [-1, -2, -64, 65])
def test_a_number_of_axes_is_not_negative(tmp_path: Path, batch_dims: int) -> None:
    """ONNX's inference would read before the shape of the data."""
    node = helper.make_node("GatherND", ["x", "n"], ["z"], batch_dims=batch_dims)
    path = write(tmp_path / "m.onnx", node, n=[0])
    with pytest.raises(fbg.ModelError, match=f"attribute batch_dims is {batch_dims}"):
        fbg.load(path)


def test_a_result_without_elements_takes_no_memory_on_its_way(tmp_path: Path) -> None:
    node = helper.make_node("Tile", ["c", "n"], ["z"])
    path = write(tmp_path / "m.onnx", node, c=np.ones((1, 5, 1), np.float32), n=[4096, 4096, 0])
    tracemalloc.start()
    try:
        found = fbg.load(path).run({"x": np.zeros((1, 4), np.float32)})
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()
    assert found["z"].shape == (4096, 20480, 0)
