"""Weights and biases that make up for what rounding changes."""

import numpy as np
import pytest

from fbg.graph.passes.correction import Pairs
from fbg.graph.passes.int4_rounding import round_int4
from helpers.onnx_models import make_net, node
from helpers.quantization import correlated


@pytest.mark.parametrize("n", [9, 50])
def test_corrected_weights_bring_outputs_closer_to_the_exact_ones(n):
    rng = np.random.default_rng(1)
    exact = correlated(500, 40, 2) + 1
    rounded = exact @ (np.eye(40) + 0.1 * rng.standard_normal((40, 40))) + 0.3
    rounded = rounded.astype(np.float32)
    w = rng.standard_normal((40, n)).astype(np.float32)
    residual = 0.2 * rounded @ rng.standard_normal((40, n)).astype(np.float32)
    for error in (None, residual):
        pairs = Pairs(w)
        for rows in (slice(0, 200), slice(200, 500)):
            pairs.update(exact[rows], rounded[rows], None if error is None else error[rows])
        corrected = pairs.corrected(True)
        target = exact @ w + (0 if error is None else error)
        change = pairs.bias_change(corrected)
        np.testing.assert_allclose(
            (rounded @ corrected + change - target).mean(axis=0), 0, atol=1e-3
        )
        off = np.linalg.norm(rounded @ corrected + change - target)
        assert off < 0.7 * np.linalg.norm(rounded @ w + pairs.bias_change(w) - target)
        np.testing.assert_allclose(
            pairs.gram_of(True), np.cov(rounded.T, bias=True) * 500, rtol=2e-3, atol=0.2
        )


def test_inputs_that_hardly_vary_give_matrices_that_can_be_factored():
    rng = np.random.default_rng(5)
    row = 300 * rng.standard_normal(64).astype(np.float32)
    w = rng.standard_normal((64, 8)).astype(np.float32)
    for spread in (0.0, 1e-3):
        for seed in range(10):
            noise = np.random.default_rng(seed).standard_normal((100, 64)).astype(np.float32)
            rounded = row + np.float32(spread) * noise
            pairs = Pairs(w)
            pairs.update(rounded + 1, rounded, None)
            gram = pairs.gram_of(True)
            _, scale, _ = round_int4(pairs.corrected(True), gram, 32)
            assert np.isfinite(scale).all()
            low = np.linalg.eigvalsh(gram.astype(np.float64)).min()
            assert low >= -1e-4 * max(np.trace(gram) / 64, 1e-6)


def test_weights_behind_an_exact_network_stay_as_they_are():
    x = correlated(300, 20, 3)
    w = np.random.default_rng(4).standard_normal((20, 6)).astype(np.float32)
    pairs = Pairs(w)
    pairs.update(x, x, np.zeros((300, 6), np.float32))
    for centered in (True, False):
        np.testing.assert_array_equal(pairs.corrected(centered), w)
    np.testing.assert_array_equal(pairs.bias_change(w), np.zeros(6, np.float32))


@pytest.mark.parametrize("groups", [1, 4])
def test_rounded_weights_do_not_shift_the_mean_of_a_channel(groups):
    rng = np.random.default_rng(7)
    w = rng.uniform(0.0, 0.02, (8, 8 // groups, 3, 3)).astype(np.float32)
    w[:, 0, 0, 0] = 8.0  # makes a step of the rounded weights as large as most of them
    x = rng.uniform(0.5, 1.5, (1, 8, 24, 24)).astype(np.float32)
    nodes = [node("Conv", ["x", "w"], "y", group=groups)]
    exact = make_net(nodes, {"x": x}, ["y"], {"w": w})(x)
    y = make_net(nodes, {"x": x}, ["y"], {"w": w}, calibrate=[x])(x)
    shift = np.abs((y - exact).mean(axis=(0, 2, 3)))
    lost = np.abs((w - np.rint(w * 127 / 8) * 8 / 127).sum(axis=(1, 2, 3)))
    assert (lost > 0.1).any()
    assert shift.max() < 0.02
