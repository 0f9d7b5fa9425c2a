"""Agreement of the most probable class is told of classifiers, and not of embeddings."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

import fbg
from fbg.importers.class_scores import class_scores
from fbg.importers.net import Net
from fbg.reports.comparison import compare_net
from helpers.onnx_models import make_model
from helpers.small_cnns import FAMILIES

SIZES = {"w": (6, 10), "b": (10,), "scale": (10,)}
GEMM = ("Gemm", ["x", "w", "b"])
# The nodes of a network with the input x, and whether its output y is scores of classes.
ENDS = {
    "linear layer": ([GEMM], True),
    "product and bias": ([("MatMul", ["x", "w"]), ("Add", ["t0", "b"])], True),
    "softmax": ([("MatMul", ["x", "w"]), ("Softmax", ["t0"])], True),
    "logarithm of softmax, moved": (
        [GEMM, ("LogSoftmax", ["t0"]), ("Flatten", ["t1"])],
        True,
    ),
    "projection": ([("MatMul", ["x", "w"])], False),
    "projection without bias": ([("Gemm", ["x", "w"])], False),
    "norm": ([GEMM, ("LayerNormalization", ["t0", "scale", "b"])], False),
    "unit length": ([GEMM, ("LpNormalization", ["t0"])], False),
    "pooler": ([GEMM, ("Tanh", ["t0"])], False),
    "residual": ([GEMM, GEMM, ("Add", ["t0", "t1"])], False),
}


def write(path: Path, nodes: list[tuple[str, list[str]]], output: str = "y") -> Path:
    made = []
    for n, (op, inputs) in enumerate(nodes):
        result = output if n + 1 == len(nodes) else f"t{n}"
        made.append(helper.make_node(op, inputs, [result]))
    rng = np.random.default_rng(0)
    constants = {name: rng.standard_normal(n).astype(np.float32) for name, n in SIZES.items()}
    given, results = {"x": (np.float32, (2, 6))}, {output: (np.float32, (2, 10))}
    onnx.save(make_model(made, given, results, constants, opset=17), path)
    return path


@pytest.mark.parametrize("end", ENDS)
def test_compare_tells_the_agreement_of_classes_where_there_are_some(
    end: str, tmp_path: Path
) -> None:
    nodes, has_classes = ENDS[end]
    found = compare_net(str(write(tmp_path / "net.onnx", nodes)), rounds=1)
    assert (found.top_1 is not None) == has_classes
    assert ("most probable class" in str(found)) == has_classes
    assert has_classes == (found.to_dict()["top_1"] is not None)


@pytest.mark.parametrize(("name", "known"), [("logits", True), ("embedding", False)])
def test_a_name_says_so_too(name: str, known: bool, tmp_path: Path) -> None:
    net = fbg.load(write(tmp_path / "net.onnx", [("MatMul", ["x", "w"])], name))
    assert isinstance(net, Net)
    assert bool(class_scores(net.network)) == known


def test_networks_of_images_are_classifiers(tmp_path: Path) -> None:
    model, _ = FAMILIES["resnet18"]()
    onnx.save(model, tmp_path / "net.onnx")
    net = fbg.load(tmp_path / "net.onnx")
    assert isinstance(net, Net)
    assert class_scores(net.network) == list(net.outputs)
