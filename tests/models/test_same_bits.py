"""Who calls a model, with how many threads and beside whom: the bits of the results do not tell."""

import threading

import numpy as np
import pytest

import fbg
from fbg import _fbg
from fbg.runtime import engine
from helpers.callers import call_together
from helpers.forks import run_in_child

CALLERS = 8
DTYPES = ["float32", "bfloat16", "int8"]
TEXTS = ["a", "b c d", "one two three, four", "x y z " * 9, "", "q w e r t y u i o p"]
RNG = np.random.default_rng(3)
BATCHES = [RNG.integers(0, 99, (rows, columns)) for rows, columns in ((1, 3), (4, 17), (2, 40))]


def results(model):
    """Return results of encode, one by one and as a batch, and of forward."""
    arrays = [model.encode(TEXTS), *(model.encode(text) for text in TEXTS)]
    for ids in BATCHES:
        output = model.forward(ids)
        assert output.pooler_output is not None
        arrays += [output.last_hidden_state, output.pooler_output]
    return arrays


def same(these, those):
    return all(np.array_equal(a, b) for a, b in zip(these, those, strict=True))


def same_in_child(model, wanted):
    def check():
        assert same(results(model), wanted)

    return run_in_child(check) == 0


@pytest.mark.races
@pytest.mark.parametrize("num_threads", [1, 2])
@pytest.mark.parametrize("dtype", DTYPES)
def test_callers_at_the_same_time(directory, dtype, num_threads):
    model = fbg.load(directory, dtype=dtype, num_threads=num_threads)
    wanted = results(model)

    def forward(_):
        for _ in range(5):
            assert same(results(model), wanted)

    call_together(CALLERS, forward)


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_forked_child(directory, dtype):
    model = fbg.load(directory, dtype=dtype, num_threads=2)
    wanted = results(model)
    assert same_in_child(model, wanted)
    assert same(results(model), wanted)


def test_plans_are_kept_by_capacity(directory):
    model = fbg.load(directory, num_threads=1)
    runner = model._hidden_states.runner
    plan = runner.plan(8, 1)
    assert runner.plan(1, 1) is runner.plan(64, 1) is plan
    assert runner.arena_bytes == plan.arena_bytes
    plans = [runner.plan(tokens, 1) for tokens in (65, 129, 257)]
    assert runner.arena_bytes == sum(p.arena_bytes for p in (plan, *plans))
    assert model.memory_report().arenas == runner.arena_bytes
    assert runner.plan(8, 1) is plan


def test_plans_are_bounded_by_bytes(directory, monkeypatch):
    runner = fbg.load(directory)._hidden_states.runner
    first, second = runner.plan(8, 1), runner.plan(500, 1)
    assert 0 < first.arena_bytes < first.nbytes < second.nbytes
    bound = first.nbytes + second.nbytes
    monkeypatch.setattr(engine, "MAX_BYTES", bound)
    # Sizes, thread counts and ISAs share one bound; what was not used for longest goes first.
    assert runner.plan(8, 1) is first
    third = runner.plan(65, 1)
    assert runner.plan(8, 1) is first
    assert runner.plan(65, 1) is third
    assert runner.plan(500, 1) is not second
    for threads in (1, 2, 3):
        for isa in fbg.isa.supported():
            with fbg.isa.limit(isa):
                for tokens in (8, 100, 500):
                    last = runner.plan(tokens, threads)
                    assert runner.plan(tokens, threads) is last
                    kept = sum(plan.nbytes for plan in runner._plans.plans)
                    assert kept <= max(bound, last.nbytes)


def test_a_plan_larger_than_the_bound_runs(directory, monkeypatch):
    model = fbg.load(directory)
    wanted = model.encode(TEXTS)
    monkeypatch.setattr(engine, "MAX_BYTES", 1)
    assert np.array_equal(model.encode(TEXTS), wanted)
    assert np.array_equal(np.stack([model.encode(text) for text in TEXTS]), wanted)


def test_callers_at_the_same_time_share_weights_and_kernels(directory):
    model = fbg.load(directory, num_threads=1)
    ids = np.full((8, 40), 5)
    model.forward(ids)
    plan = model._hidden_states.runner.plan(ids.size, 1)
    callers = [threading.Thread(target=lambda: model.forward(ids)) for _ in range(CALLERS)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join()
    assert model._hidden_states.runner.plan(ids.size, 1) is plan
    assert 1 <= plan.num_arenas <= _fbg.available_cpus()


def test_callers_that_give_way_have_as_many_arenas_as_others(directory):
    model = fbg.load(directory, num_threads=1)
    ids = np.full((8, 40), 5)
    wanted = model.forward(ids).last_hidden_state

    def call(caller):
        _fbg.set_gives_way(caller % 2 == 0)
        assert np.array_equal(model.forward(ids).last_hidden_state, wanted)

    call_together(CALLERS, call)
    plan = model._hidden_states.runner.plan(ids.size, 1)
    assert 1 <= plan.num_arenas <= 2 * _fbg.available_cpus()
