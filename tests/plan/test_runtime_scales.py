"""Numbers that are quantized by a scale and a zero point that the run computes, and choices between
an element and zero: against NumPy and onnxruntime, on every instruction set.
"""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from fbg import _fbg
from helpers.onnx_models import make_model, make_net, node, plain_onnxruntime
from helpers.row_plans import whole_rows

SCALES = [1e-30, 3e-5, 0.02, 1.0, 1.7, 2.5e8, 1e30, np.inf, np.nan]


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize(("dtype", "point"), [(np.uint8, 3), (np.int8, -7), (np.uint8, 255)])
def test_quantizing_by_computed_numbers_rounds_as_division_does(isa, scale, dtype, point):
    rng = np.random.default_rng(1)
    unit = 1.0 if not np.isfinite(scale) else scale
    x = (rng.standard_normal(3001) * 90 * unit).astype(np.float32)
    x[:500] = (np.arange(500) - 250 + 0.5) * np.float32(unit)  # halves
    x[500:504] = [np.inf, -np.inf, np.nan, 0]
    graph = _fbg.Graph()
    given_x = graph.append("input", x.nbytes, "tensor")
    numbers = [graph.append("input", 4, "tensor") for _ in range(2)]
    operands = [(given_x, "float32", [1]), *((b, "float32", [0]) for b in numbers)]
    steps = [("quantize_by", 0, 1, 0.0, 0.0), ("add", 3, 2, 0.0, 0.0)]
    graph.output(graph.append("elementwise", [x.size], operands, steps, np.dtype(dtype).name))
    plan = _fbg.Plan(graph, 1, 1, 1, 2)
    assert [name for name, *_ in plan.ops][-1] == "quantize"
    y = np.empty(x.size, dtype)
    arrays = [x, np.array([scale], np.float32), np.array([point], np.float32)]
    _fbg.run_tensors(plan, arrays, [y], 2)
    info = np.iinfo(dtype)
    with np.errstate(all="ignore"):
        exact = np.rint(x / arrays[1]) + arrays[2]
    wanted = np.where(np.isnan(exact), info.min, np.clip(exact, info.min, info.max))
    np.testing.assert_array_equal(y, wanted.astype(dtype))


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(st.data())
def test_dynamic_quantization_follows_onnxruntime(data):
    shape = data.draw(st.lists(st.integers(1, 40), min_size=1, max_size=3))
    rng = np.random.default_rng(data.draw(st.integers(0, 2**16)))
    spread, mean = data.draw(st.sampled_from([0, 1e-3, 1, 1e6])), data.draw(st.integers(-3, 3))
    x = ((rng.standard_normal(shape) + mean) * spread).astype(np.float32)
    nodes = [node("DynamicQuantizeLinear", ["x"], "y")]
    nodes[0].output[:] = ["y", "s", "z"]
    outputs = {"y": (np.uint8, None), "s": (np.float32, ()), "z": (np.uint8, ())}
    wanted = plain_onnxruntime(make_model(nodes, {"x": x}, outputs), {"x": x})
    got = make_net(nodes, {"x": x}, outputs, backends=("fbg",)).run({"x": x})
    for name, value in zip(outputs, wanted, strict=True):
        np.testing.assert_array_equal(got[name], value)


@pytest.mark.parametrize("other", [0.0, -0.0, 1.5])
@pytest.mark.parametrize("first", [True, False])
@pytest.mark.parametrize("shape", [(), (1,), (1, 1, 1)])
def test_choices_between_an_element_and_a_number(isa, other, first, shape):
    rng = np.random.default_rng(2)
    x = rng.standard_normal((5, 37)).astype(np.float32)
    x[0, :4] = [np.nan, np.inf, -np.inf, -0.0]
    condition = rng.random((5, 37)) < 0.5
    nodes = [node("Where", ["c", "n", "x"] if first else ["c", "x", "n"], "y")]
    feeds, number = {"c": condition, "x": x}, np.full(shape, other, np.float32)
    y = make_net(nodes, feeds, ["y"], {"n": number}, backends=("fbg",)).run(feeds)["y"]
    wanted = np.where(condition, number, x) if first else np.where(condition, x, number)
    assert y.shape == wanted.shape
    np.testing.assert_array_equal(y.view(np.int32), wanted.view(np.int32))


@pytest.mark.parametrize("function", [np.max, np.min])
def test_extremes_of_rows_see_a_nan_anywhere(isa, function):
    name = "max" if function is np.max else "min"
    for n in (1, 5, 17, 64, 65, 130, 300):
        for bad in {0, n // 3, n // 2, n - 1}:
            x = np.random.default_rng(n).standard_normal((3, n)).astype(np.float32)
            x[1, bad] = np.nan
            graph = _fbg.Graph()
            b = graph.append("input", x.nbytes, "tensor")
            graph.output(graph.append("window", b, whole_rows(n), name, 3, 1))
            y = np.empty(3, np.float32)
            _fbg.run_tensors(_fbg.Plan(graph, 1, 1, 1, 1), [x], [y], 1)
            np.testing.assert_array_equal(y, function(x, 1))
