"""Everything that threads share, used and changed by many of them at the same time.

Each test is right under any order of events; `make tsan` looks for accesses without an order.
"""

import itertools
import pickle

import numpy as np
import pytest

import fbg
from helpers.callers import call_together
from helpers.formulas import assert_same_bits, product
from helpers.operands import random_f32, random_s8, random_u8
from helpers.saved_models import IDS, MASK, results

pytestmark = pytest.mark.races

ROUNDS = 12


def test_kernels_are_generated_and_listed_while_others_run():
    rng = np.random.default_rng(0)
    x, w = random_f32(rng, 9, 40), fbg.PackedB(random_f32(rng, 40, 70), symmetric=False)
    stages = (fbg.ReLU(), fbg.GELU(), fbg.Add(random_f32(rng, 9, 70)))
    pipelines = [[fbg.Dequantize(), *order] for order in itertools.permutations(stages)]
    a = fbg.PackAWithQuantRowOffset(x)

    def multiply(n):
        for i in range(ROUNDS):
            pipeline = pipelines[(n + i) % len(pipelines)]
            got = fbg.gemm(a, w, pipeline, num_threads=1 + n % 2)
            assert_same_bits(got, fbg.gemm(a, w, pipeline, num_threads=1))
            names = [kernel.name for kernel in fbg.kernels()]
            assert len(set(names)) == len(names)

    call_together(6, multiply)


def test_settings_change_while_others_multiply(keep_settings):
    rng = np.random.default_rng(1)
    a, b = random_u8(rng, 40, 130), random_s8(rng, 130, 70)
    packed, wanted = fbg.PackedB(b), product(a, b)

    def change_or_multiply(n):
        for i in range(ROUNDS):
            if n == 0:
                with fbg.isa.limit(fbg.isa.supported()[i % len(fbg.isa.supported())]):
                    fbg.set_num_threads(1 + i % 3)
            np.testing.assert_array_equal(fbg.gemm(fbg.PackA(a), packed), wanted)

    call_together(4, change_or_multiply)


def test_weights_are_packed_saved_and_loaded_by_many(tmp_path):
    rng = np.random.default_rng(2)
    w, x = random_f32(rng, 60, 90), random_f32(rng, 3, 60)
    wanted = fbg.linear(x, fbg.PackedB(w))

    def round_trip(n):
        for _ in range(ROUNDS):
            packed = fbg.PackedB(w)
            packed.save(tmp_path / f"{n % 2}", overwrite=True)  # two write each file
            loaded = fbg.PackedB.load(tmp_path / f"{n % 2}")
            for some in (loaded, pickle.loads(pickle.dumps(packed))):
                assert_same_bits(fbg.linear(x, some), wanted)

    call_together(4, round_trip)


def test_a_model_plans_and_runs_for_many_sizes(original):
    expected = results(original)

    def use(n):
        for i in range(ROUNDS):
            tokens = 1 + (7 * n + 11 * i) % 30
            hidden = original.forward(np.full((1 + i % 3, tokens), 5)).last_hidden_state
            assert np.isfinite(hidden).all()
            assert results(original) == expected
            original.plan(tokens=64 * (1 + i))
            assert original.memory_report().total > 0

    call_together(4, use)


def test_models_are_loaded_and_saved_by_many(saved, tmp_path):
    expected = fbg.load(saved).forward(IDS, MASK).last_hidden_state

    def load_and_save(n):
        for i in range(3):
            model = fbg.load(saved, num_threads=1 + n % 2)
            assert_same_bits(model.forward(IDS, MASK).last_hidden_state, expected)
            model.save(tmp_path / f"{n}-{i}")
            assert results(fbg.load(tmp_path / f"{n}-{i}")) == results(model)

    call_together(4, load_and_save)
