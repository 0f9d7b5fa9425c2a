"""The limit of the ISA may change at any moment: what is kept belongs to the ISA of its key."""

from __future__ import annotations

import ast
from pathlib import Path

import numpy as np
import pytest
from onnx import helper

import fbg
from fbg.importers.backends.native import Native
from fbg.tuning.store import Store
from helpers.onnx_models import make_net

PACKAGE = Path(fbg.__file__).parent
ISAS = ("generic", fbg.isa.supported()[-1])


@pytest.fixture
def changing(monkeypatch):
    """Another thread sets the limit while a convolution or a session is prepared."""

    def change_to(isa):
        for place, name in ((Store, "algorithm"), (Native, "prepare")):
            original = getattr(place, name)

            def changed(*arguments, original=original):
                fbg.isa.limit(isa)
                return original(*arguments)

            monkeypatch.setattr(place, name, changed)

    return change_to


def convolution():
    rng = np.random.default_rng(3)
    x = rng.standard_normal((1, 20, 20, 24), np.float32)
    w = fbg.PackedConv(rng.standard_normal((48, 24, 3, 3), np.float32), padding=1, dtype="float32")
    return lambda: fbg.conv(x, w)


def network():
    rng = np.random.default_rng(3)
    x = rng.standard_normal((1, 24, 20, 20), np.float32)
    w = rng.standard_normal((48, 24, 3, 3), np.float32)
    node = helper.make_node("Conv", ["x", "w"], ["y"])
    net = make_net([node], {"x": (np.float32, ("n", 24, 20, 20))}, ["y"], {"w": w})
    return lambda: net(x)


@pytest.mark.parametrize("make", [convolution, network])
@pytest.mark.parametrize(("first", "second"), [ISAS, ISAS[::-1]])
def test_what_is_kept_is_not_that_of_a_limit_set_meanwhile(
    changing, monkeypatch, make, first, second
):
    with fbg.isa.limit(first):
        wanted = make()()
    run = make()
    with monkeypatch.context(), fbg.isa.limit(first):
        changing(second)
        run()
        assert fbg.isa.active() == second
    monkeypatch.undo()
    with fbg.isa.limit(first):
        np.testing.assert_array_equal(run(), wanted)


def test_every_plan_of_the_package_is_made_for_features_that_were_read_before():
    calls = [
        (path.relative_to(PACKAGE).as_posix(), call)
        for path in PACKAGE.rglob("*.py")
        for call in ast.walk(ast.parse(path.read_text()))
        if isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "Plan"
    ]
    assert len(calls) >= 4
    for name, call in calls:
        assert "features" in [keyword.arg for keyword in call.keywords], (name, call.lineno)
