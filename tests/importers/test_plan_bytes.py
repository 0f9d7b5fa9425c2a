"""Plans of a network count for about the memory that they take, so that the bound on it holds."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from helpers.fresh_python import run_python
from helpers.onnx_models import make_net, node

TESTS = Path(__file__).parents[1]
PROGRAM = """
import gc, json, resource
import numpy as np
import fbg
from helpers.onnx_models import make_net, node

fbg.set_num_threads(1)
rng, width, heads, kind = np.random.default_rng(0), 48, 6, "KIND"
nodes, constants, x = [], {}, "x"
constants["heads"] = np.array([0, 0, heads, width // heads])
constants["joined"] = np.array([0, 0, width])


def add(op, inputs, **attributes):
    nodes.append(node(op, inputs, f"t{len(nodes)}", **attributes))
    return nodes[-1].output[0]


def linear(x, activation=None):
    name = f"w{len(nodes)}"
    constants[name] = rng.standard_normal((width, width)).astype(np.float32) / 7
    y = add("MatMul", [x, name])
    return add(activation, [y]) if activation else y


for _ in range(12):
    if kind == "attention":
        orders = ([0, 2, 1, 3], [0, 2, 3, 1], [0, 2, 1, 3])
        shaped = [add("Reshape", [linear(x), "heads"]) for _ in orders]
        q, k, v = (add("Transpose", [p], perm=o) for p, o in zip(shaped, orders))
        y = add("MatMul", [add("Softmax", [add("MatMul", [q, k])], axis=-1), v])
        y = add("Reshape", [add("Transpose", [y], perm=[0, 2, 1, 3]), "joined"])
        x = add("Add", [linear(y), x])
    else:
        x = add("Softmax", [linear(linear(x, "Tanh"), "Tanh")], axis=-1)
net = make_net(nodes, {"x": (np.float32, (1, "n", width))}, [x], constants)


def resident():
    gc.collect()
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def run(lengths):
    for n in lengths:
        net.run({"x": np.zeros((1, n, width), np.float32)})


run(range(1, 15))
before = resident()
run(range(15, 55))
plans = net._sessions.plans[-40:]
print(json.dumps([resident() - before, sum(plan.kept_bytes for plan in plans)]))
"""


@pytest.mark.parametrize("kind", ["attention", "products"])
def test_plans_count_for_what_they_take(kind):
    ran = run_python(PROGRAM.replace("KIND", kind), PYTHONPATH=str(TESTS))
    assert ran.returncode == 0, ran.stderr
    taken, counted = json.loads(ran.stdout)
    assert taken / 1.6 < counted < 1.6 * taken, np.array([taken, counted]) / 40


def test_plans_beyond_the_bound_are_given_up(monkeypatch: pytest.MonkeyPatch) -> None:
    bound = 400_000
    monkeypatch.setattr("fbg.importers.net.MAX_PLAN_BYTES", bound)
    weights = np.random.default_rng(0).standard_normal((16, 16)).astype(np.float32)
    net = make_net(
        [node("MatMul", ["x", "w"], "y")], {"x": (np.float32, ("n", 16))}, ["y"], {"w": weights}
    )
    plans = net._sessions
    kept = []
    for n in range(1, 40):
        net.run({"x": np.ones((n, 16), np.float32)})
        kept.append(len(plans.plans))
        assert sum(plan.kept_bytes for plan in plans.plans) <= bound
    assert 1 < max(kept) < 39
    (first,) = net.run({"x": np.ones((1, 16), np.float32)}).values()
    np.testing.assert_allclose(first[0], weights.sum(0), rtol=1e-5)
