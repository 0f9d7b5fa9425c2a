"""GroupNorm, which exporters write as InstanceNorm of joined channels, becomes one op."""

from __future__ import annotations

import numpy as np
import pytest

from fbg.graph.ops.moves import Reshape
from fbg.graph.ops.windows import GroupNorm
from fbg.graph.passes.group_norm import find_group_norms
from helpers.onnx_models import make_model, make_net, node, plain_onnxruntime
from helpers.tensor_graphs import Tensors


def nodes(factor="w", summand="b"):
    return [
        node("Reshape", ["x", "joined"], "r"),
        node("InstanceNormalization", ["r", "ones", "zeros"], "n", epsilon=1e-3),
        node("Reshape", ["n", "apart"], "s"),
        node("Mul", ["s", factor], "m"),
        node("Add", [summand, "m"], "y"),
    ]


@pytest.mark.parametrize("groups", [1, 2, 6])
@pytest.mark.parametrize("shape", [(2, 6, 5), (2, 6, 5, 4), (1, 6, 2, 3, 4)])
def test_exported_group_norm_is_one_step(groups, shape):
    rng = np.random.default_rng(groups)
    each = (6, *[1] * (len(shape) - 2))
    constants = {
        "joined": np.array([0, groups, -1]),
        "apart": np.array(shape),
        "ones": rng.standard_normal(groups).astype(np.float32),
        "zeros": rng.standard_normal(groups).astype(np.float32),
        "w": rng.standard_normal(each).astype(np.float32),
        "b": rng.standard_normal(each).astype(np.float32),
    }
    x = rng.standard_normal(shape).astype(np.float32)
    net = make_net(nodes(), {"x": x}, ["y"], constants, backends=("fbg",))
    steps = [step.algorithm for step in net.plan().steps]
    assert [name for name in steps if not name.startswith("arrange")] == ["group_norm"]
    wanted = plain_onnxruntime(make_model(nodes(), {"x": x}, ["y"], constants), {"x": x})[0]
    np.testing.assert_allclose(net(x), wanted, rtol=1e-4, atol=1e-5)


def test_norms_that_others_read_or_that_join_other_axes_stay():
    ones, zeros = np.ones(2, np.float32), np.zeros(2, np.float32)
    tensors = Tensors()
    x = tensors.input(4, 3, 5)
    norm = tensors.add(GroupNorm(tensors.add(Reshape(x, (6, 2, 5))), 2, ones, zeros, 0.0))
    tensors.graph.output(tensors.add(Reshape(norm, (4, 3, 5))))
    assert "group_norm" in str(find_group_norms(tensors.graph))
    assert str(find_group_norms(tensors.graph)).count("reshape") == 2
    tensors = Tensors()
    x = tensors.input(2, 4, 5)
    norm = tensors.add(GroupNorm(tensors.add(Reshape(x, (2, 2, 10))), 2, ones, zeros, 0.0))
    tensors.graph.output(norm)
    tensors.graph.output(tensors.add(Reshape(norm, (2, 4, 5))))
    assert str(find_group_norms(tensors.graph)).count("reshape") == 2
