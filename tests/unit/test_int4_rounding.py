"""Rounding to int4 on data, and weights that make up for errors of earlier layers."""

import numpy as np
import pytest

from fbg import PackedB
from fbg.compression import int4_rounding
from fbg.compression.correction import Pairs
from fbg.compression.int4_rounding import round_int4
from fbg.compression.rounding import round_to_gram

Floats = np.ndarray


def correlated(rows: int, k: int, seed: int) -> Floats:
    rng = np.random.default_rng(seed)
    return (rng.standard_normal((rows, k)) @ rng.standard_normal((k, k)) / k**0.5).astype(
        np.float32
    )


def dequantized(q: Floats, scale: Floats, group: int) -> Floats:
    return q * scale.astype(np.float32).repeat(group, axis=0)[: len(q)]


@pytest.mark.parametrize(("k", "n", "group"), [(128, 300, 32), (100, 7, 64), (130, 20, 128)])
def test_errors_on_the_data_are_less_than_those_of_gptq_alone(k: int, n: int, group: int) -> None:
    x = correlated(600, k, k)
    w = np.random.default_rng(n).standard_normal((k, n)).astype(np.float32)
    gram = x.T @ x
    q, scale, offset = round_int4(w, gram, group)
    assert offset is None
    assert q.dtype == np.int8 and scale.dtype == np.float16
    assert q.min() >= -8 and q.max() <= 7 and scale.shape == (-(-k // group), n)
    start = int4_rounding._search_scales(w, np.diag(gram), group)
    steps = start.repeat(group, axis=0)[:k]
    gptq = round_to_gram(w, steps, gram, -8, 7) * steps
    error = np.linalg.norm(x @ (w - dequantized(q, scale, group)))
    assert error < 0.97 * np.linalg.norm(x @ (w - gptq))


@pytest.mark.parametrize(("k", "n", "group"), [(128, 300, 32), (100, 7, 64), (130, 20, 128)])
@pytest.mark.parametrize(("shift", "bound"), [(0.0, 0.97), (2.0, 0.8)])
def test_offsets_make_errors_on_the_data_smaller(
    k: int, n: int, group: int, shift: float, bound: float
) -> None:
    x = correlated(600, k, k)
    rng = np.random.default_rng(n)
    w = (rng.standard_normal((k, n)) + shift * rng.standard_normal(n)).astype(np.float32)
    gram = x.T @ x
    rounded = round_int4(w, gram, group, symmetric=False)
    q, scale, offset = rounded
    assert q.dtype == np.int8 and q.min() >= -8 and q.max() <= 7
    assert offset is not None and offset.dtype == scale.dtype == np.float16
    assert offset.shape == scale.shape == (-(-k // group), n)
    steps, shifts = (
        of_groups.astype(np.float32).repeat(group, axis=0)[:k] for of_groups in (scale, offset)
    )
    np.testing.assert_array_equal(rounded.dequantize(group), q * steps + shifts)
    error = np.linalg.norm(x @ (w - rounded.dequantize(group)))
    symmetric = round_int4(w, gram, group).dequantize(group)
    assert error < bound * np.linalg.norm(x @ (w - symmetric))
    nearest = PackedB(w, dtype="int4", group=group, symmetric=False).dequantize()  # type: ignore
    assert error < 0.9 * np.linalg.norm(x @ (w - nearest))


@pytest.mark.parametrize("symmetric", [True, False])
def test_channels_without_data_and_weights_of_zero_do_no_harm(symmetric: bool) -> None:
    w = np.random.default_rng(0).standard_normal((64, 5)).astype(np.float32)
    w[:, 3] = 0
    for gram in (np.zeros((64, 64), np.float32), np.diag(np.arange(64) % 2).astype(np.float32)):
        rounded = round_int4(w, gram, 32, symmetric=symmetric)
        q, scale, offset = rounded
        assert np.isfinite(scale).all() and not rounded.dequantize(32)[:, 3].any()
        if symmetric:
            assert not q[:, 3].any()
        # Without correlation, each weight is rounded to the nearest value of its group.
        steps = np.abs(scale.astype(np.float32)).repeat(32, axis=0)
        shifts = 0 if offset is None else offset.astype(np.float32).repeat(32, axis=0)
        inside = np.abs(w - shifts) < 7 * steps
        assert (np.abs(rounded.dequantize(32) - w) <= 0.501 * steps)[inside].all()


@pytest.mark.parametrize("n", [9, 50])
def test_corrected_weights_bring_outputs_closer_to_the_exact_ones(n: int) -> None:
    rng = np.random.default_rng(1)
    exact = correlated(500, 40, 2) + 1
    rounded = exact @ (np.eye(40) + 0.1 * rng.standard_normal((40, 40))) + 0.3
    rounded = rounded.astype(np.float32)
    w = rng.standard_normal((40, n)).astype(np.float32)
    residual = 0.2 * rounded @ rng.standard_normal((40, n)).astype(np.float32)
    for error in (None, residual):
        pairs = Pairs(w)
        for rows in (slice(0, 200), slice(200, 500)):
            pairs.add(exact[rows], rounded[rows], None if error is None else error[rows])
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


def test_inputs_that_hardly_vary_give_matrices_that_can_be_factored() -> None:
    rng = np.random.default_rng(5)
    row = 300 * rng.standard_normal(64).astype(np.float32)
    w = rng.standard_normal((64, 8)).astype(np.float32)
    for spread in (0.0, 1e-3):
        for seed in range(10):
            noise = np.random.default_rng(seed).standard_normal((100, 64)).astype(np.float32)
            rounded = row + np.float32(spread) * noise
            pairs = Pairs(w)
            pairs.add(rounded + 1, rounded, None)
            gram = pairs.gram_of(True)
            _, scale, _ = round_int4(pairs.corrected(True), gram, 32)
            assert np.isfinite(scale).all()
            low = np.linalg.eigvalsh(gram.astype(np.float64)).min()
            assert low >= -1e-4 * max(np.trace(gram) / 64, 1e-6)


def test_weights_behind_an_exact_network_stay_as_they_are() -> None:
    x = correlated(300, 20, 3)
    w = np.random.default_rng(4).standard_normal((20, 6)).astype(np.float32)
    pairs = Pairs(w)
    pairs.add(x, x, np.zeros((300, 6), np.float32))
    for centered in (True, False):
        np.testing.assert_array_equal(pairs.corrected(centered), w)
    np.testing.assert_array_equal(pairs.bias_change(w), np.zeros(6, np.float32))
