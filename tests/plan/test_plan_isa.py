"""A plan runs with one instruction set: the one that was active when its preparation began."""

import threading
from types import SimpleNamespace

import numpy as np
import pytest

import fbg
from fbg import _fbg
from fbg.graph.graph import Graph
from fbg.graph.linear import Linear
from fbg.graph.lower.rows import lower_rows
from fbg.graph.ops import rows as ops
from fbg.graph.ops.common import LayerNorm, Norm
from fbg.runtime.engine import Runner, pack_sequences
from fbg.tuning.store import store

WIDTH, TOKENS = 48, 40


def floats(*shape):
    return np.random.default_rng(5).standard_normal(shape).astype(np.float32)


def network():
    """Layers of all dtypes, attention that may round, and row kernels."""
    graph = Graph()
    heads = ops.Heads(3, 3, WIDTH // 3)
    norm = LayerNorm(floats(WIDTH), None, 1e-6)
    x = graph.add(ops.Embed(floats(99, WIDTH)))
    for pack in (pack_float32, pack_bfloat16, pack_int8):
        wide = Linear("qkv", pack(floats(WIDTH, 3 * WIDTH)), None)
        qkv = graph.add(ops.Linear(graph.add(Norm(x, norm)), wide))
        context = graph.add(ops.Attention(qkv, heads, rounds=True))
        narrow = Linear("output", pack(floats(WIDTH, WIDTH)), None)
        x = graph.add(ops.Linear(context, narrow, "gelu", residual=x))
    graph.output(x)
    return graph


def runner_of(graph):
    return Runner(graph, SimpleNamespace(max_length=64, long_from=None))


def pack_float32(w):
    return _fbg.pack_b_convert(w, "float32")


def pack_bfloat16(w):
    return _fbg.pack_b_convert(w, "bfloat16")


def pack_int8(w):
    return _fbg.pack_b_quantize(w, per_column=True, symmetric=True)


def kernels(plan):
    return [kernel for _, kernel, *_ in plan.ops if kernel]


def run(plan):
    out = np.empty((TOKENS, WIDTH), np.float32)
    packed = pack_sequences([np.arange(TOKENS, dtype=np.int32)])
    plan.run(packed.ids, None, packed.types, None, packed.offsets, [out], 1)
    return out


@pytest.fixture(scope="module")
def graph():
    return network()


@pytest.fixture(scope="module")
def pure(graph):
    """Kernels and results under each ISA, with nobody else about."""
    found = {}
    for isa in fbg.isa.supported():
        with fbg.isa.limit(isa):
            plan = _fbg.Plan(lower_rows(graph).native, tokens=64, sequences=4, length=64, threads=1)
            assert plan.isa == isa
            found[isa] = kernels(plan), run(plan)
    return found


def test_a_plan_keeps_the_isa_under_which_the_runner_looked_for_it(graph, pure, monkeypatch):
    *_, best = fbg.isa.supported()

    def changes_the_limit(*_):
        _fbg.set_isa_limit("generic")
        return []

    runner = runner_of(graph)
    monkeypatch.setattr(store, "blockings", changes_the_limit)
    with fbg.isa.limit(best):
        plan = runner.plan(TOKENS, 1)
    assert (plan.isa, kernels(plan)) == (best, pure[best][0])
    np.testing.assert_array_equal(run(plan), pure[best][1])
    with fbg.isa.limit(best):
        assert runner.plan(TOKENS, 1) is plan
    with fbg.isa.limit("generic"):
        assert runner.plan(TOKENS, 1).isa == "generic"


def test_limits_that_change_while_plans_are_prepared_mix_nothing(graph, pure):
    done = threading.Event()

    def change_limits():
        while not done.is_set():
            for isa in fbg.isa.supported():
                _fbg.set_isa_limit(isa)

    thread = threading.Thread(target=change_limits)
    thread.start()
    try:
        for _ in range(30):
            plan = runner_of(graph).plan(TOKENS, 1)
            assert kernels(plan) == pure[plan.isa][0]
            np.testing.assert_array_equal(run(plan), pure[plan.isa][1])
    finally:
        done.set()
        thread.join()


def test_features_that_this_cpu_lacks_are_refused(graph):
    with pytest.raises(ValueError, match="Plan: features has some that this CPU lacks"):
        _fbg.Plan(
            lower_rows(graph).native, tokens=8, sequences=1, length=8, threads=1, features=1 << 31
        )
