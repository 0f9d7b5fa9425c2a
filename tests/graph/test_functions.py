"""Functions of elements: their accuracy in float64's eyes, and functions that are added."""

from __future__ import annotations

import math

import numpy as np
import pytest

import fbg
from fbg.graph import functions
from fbg.importers.ops import elementwise
from helpers.onnx_models import make_net, node

FLOATS = np.finfo(np.float32)


def softplus(x):
    return np.logaddexp(0, x)


def erf(x):
    return np.vectorize(math.erf)(x)


def selu(x, alpha=1.6732631921768188, gamma=1.0507010221481323):
    return gamma * np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0)))


# Operators: what they compute, and how many units in the last place the result may be off.
UNARY = {
    "Celu": (lambda x: np.maximum(x, 0) + np.expm1(np.minimum(x, 0)), 2),
    "Elu": (lambda x: np.where(x > 0, x, np.expm1(np.minimum(x, 0))), 2),
    "Erf": (erf, 1.5),
    "Log": (np.log, 1),
    "Mish": (lambda x: x * np.tanh(softplus(x)), 5),
    "Selu": (selu, 3),
    "Sign": (np.sign, 0),
    "Softplus": (softplus, 2.5),
    "Softsign": (lambda x: x / (1 + np.abs(x)), 1.5),
}


def applied(op, x):
    net = make_net([node(op, ["x"], "y")], {"x": x}, ["y"], backends=("fbg",))
    return net.run({"x": x})["y"], net


@pytest.mark.parametrize("op", UNARY)
def test_errors_are_a_few_units_in_the_last_place(op):
    wanted_of, ulps = UNARY[op]
    powers = np.geomspace(1e-30, 80, 3000)
    x = np.concatenate([np.linspace(-60, 60, 6007), powers, -powers]).astype(np.float32)
    if op == "Log":
        x = np.geomspace(1e-37, 3e38, 9000).astype(np.float32)
    wanted = wanted_of(x.astype(np.float64))
    unit = np.spacing(np.maximum(np.abs(wanted), FLOATS.tiny).astype(np.float32))
    results = []
    for isa in fbg.isa.supported():
        with fbg.isa.limit(isa):
            results.append(applied(op, x)[0])
    error = np.abs(results[0] - wanted)
    error[np.abs(wanted) < FLOATS.tiny] = 0  # which is flushed to zero
    assert (error / unit).max() <= ulps
    assert len({y.tobytes() for y in results}) == 1


@pytest.mark.parametrize("op", UNARY)
def test_what_is_no_number_or_infinite(op):
    x = np.array([np.nan, np.inf, -np.inf, 0], np.float32)
    with np.errstate(all="ignore"):
        wanted = UNARY[op][0](x.astype(np.float64))
    if op == "Softsign":
        wanted[1:3] = np.nan
    np.testing.assert_allclose(applied(op, x)[0], wanted, 1e-6)


@pytest.mark.parametrize("row", [lambda x, _a, _b: x @ 2.0, lambda _x, a, _b: a])
def test_a_mistake_in_a_row_is_not_computed_elsewhere(monkeypatch, row):
    monkeypatch.setitem(functions.COMPOSED, "mish", row)
    x, w = np.ones((1, 8, 4, 16), np.float32), np.ones((8, 8, 1, 1), np.float32)
    nodes = [node("Conv", ["x", "w"], "t"), node("Mish", ["t"], "y")]
    with pytest.raises(AssertionError, match=r"functions\.py: the row of 'mish'"):
        make_net(nodes, {"x": x}, ["y"], {"w": w}).run({"x": x})


def test_numbers_may_stand_on_either_side(monkeypatch):
    monkeypatch.setitem(
        functions.COMPOSED, "mish", lambda x, _a, _b: 2.0 - (-x + 3.0 * x) * 0.5 + (1.0 + x) / 2.0
    )
    x, w = np.ones((1, 8, 4, 16), np.float32), np.eye(8, dtype=np.float32).reshape(8, 8, 1, 1)
    nodes = [node("Conv", ["x", "w"], "t"), node("Mish", ["t"], "y")]
    net = make_net(nodes, {"x": x}, ["y"], {"w": w}, backends=("fbg",))
    np.testing.assert_array_equal(net.run({"x": x})["y"], 2 - x + (1 + x) / 2)


PRODUCERS = ("convolution", "product", "nothing", "rows")


@pytest.mark.parametrize("producer", PRODUCERS)
def test_a_row_of_the_table_is_a_function_that_pipelines_compute(monkeypatch, producer):
    """Only a row, and an operator of that name: here in the place of Mish."""
    monkeypatch.setitem(
        functions.COMPOSED,
        "gaussian_gate",
        lambda x, _a, _b: x * (x * x * -0.5).to("exp") + x.clip(-1, 1),
    )
    monkeypatch.setitem(elementwise._UNARY, "Mish", "gaussian_gate")
    rng = np.random.default_rng(0)
    x = rng.standard_normal((1, 8, 4, 16), np.float32)
    w = rng.standard_normal((8, 8, 1, 1), np.float32)
    nodes, constants, z = [node("Mish", ["t"], "y")], {"w": w}, x
    if producer == "nothing":
        nodes, constants = [node("Mish", ["x"], "y")], {}
    elif producer == "rows":  # which no pipeline reads
        nodes = [node("Add", ["x", "gate"], "t"), node("Mish", ["t"], "y")]
        constants = {"gate": rng.standard_normal((1, 8, 4, 1), np.float32)}
        z = x + constants["gate"]
    elif producer == "product":
        x, z = x.reshape(64, 8), x.reshape(64, 8) @ w[:, :, 0, 0]
        constants = {"w": w[:, :, 0, 0]}
        nodes.insert(0, node("MatMul", ["x", "w"], "t"))
    else:
        z = np.einsum("oi,nihw->nohw", w[:, :, 0, 0], x)
        nodes.insert(0, node("Conv", ["x", "w"], "t"))
    wanted = z * np.exp(-0.5 * z * z) + np.clip(z, -1, 1)
    for isa in fbg.isa.supported():
        with fbg.isa.limit(isa):
            net = make_net(nodes, {"x": x}, ["y"], constants, backends=("fbg",))
            np.testing.assert_allclose(net.run({"x": x})["y"], wanted, 1e-5, 1e-5)
            algorithms = {step.algorithm.split()[0] for step in net.plan().steps}
            by_itself = {"nothing": {"expression"}, "rows": {"elementwise"}}.get(producer, set())
            assert algorithms & {"elementwise", "expression"} == by_itself


def test_conditions_and_choices_run_behind_a_convolution():
    rng = np.random.default_rng(1)
    x = rng.standard_normal((1, 4, 3, 16), np.float32)
    w = np.eye(4, dtype=np.float32).reshape(4, 4, 1, 1)
    nodes = [
        node("Conv", ["x", "w"], "t"),
        node("LessOrEqual", ["t", "bound"], "low"),
        node("Not", ["low"], "high"),
        node("Softplus", ["t"], "a"),
        node("Log", ["a"], "b"),
        node("Where", ["high", "b", "t"], "y"),
    ]
    constants = {"w": w, "bound": np.array(0.25, np.float32)}
    net = make_net(nodes, {"x": x}, ["y"], constants, backends=("fbg",))
    positive = softplus(x.astype(np.float64))
    wanted = np.where(x > 0.25, np.log(positive), x)
    np.testing.assert_allclose(net.run({"x": x})["y"], wanted, 2e-6, 1e-6)
    assert {step.algorithm.split()[0] for step in net.plan().steps}.isdisjoint(
        {"elementwise", "expression"}
    )


SHAPES = {
    "one number for each channel of each image": (3, 1, 1, 10),
    "numbers for each pixel": (1, 4, 5, 10),
    "rows and images": (1, 4, 1, 10),
    "columns": (10,),
}


@pytest.mark.parametrize("kind", SHAPES)
def test_operands_are_broadcast_in_registers(kind):
    """Axes that cannot be merged into a matrix: pipelines run on one after the other."""
    rng = np.random.default_rng(2)
    feeds = {
        "x": rng.standard_normal((3, 4, 5, 10), np.float32),
        "gate": rng.standard_normal(SHAPES[kind], np.float32),
    }
    nodes = [
        node("Add", ["x", "gate"], "a"),
        node("Softplus", ["a"], "b"),
        node("Mul", ["b", "gate"], "c"),
        node("Sub", ["c", "x"], "y"),
    ]
    x, gate = (feed.astype(np.float64) for feed in feeds.values())
    wanted = softplus(x + gate) * gate - x
    for isa in fbg.isa.supported():
        with fbg.isa.limit(isa):
            for threads in (1, 2):
                net = make_net(nodes, feeds, ["y"], backends=("fbg",), num_threads=threads)
                np.testing.assert_allclose(net.run(feeds)["y"], wanted, 1e-5, 1e-5)
            (step,) = net.plan().steps
            assert step.algorithm.startswith("expression")
