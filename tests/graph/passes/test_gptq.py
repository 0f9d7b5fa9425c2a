"""GPTQ: what is rounded so that errors cancel on data, by the Gram matrix of these."""

import numpy as np
import pytest

from fbg.graph.passes.gptq import damped_gram, round_to_gram
from fbg.graph.passes.rounding import round_by_gram


def test_rounding_without_correlation_is_rounding_to_the_nearest():
    rng = np.random.default_rng(1)
    w = rng.standard_normal((130, 7)).astype(np.float32)
    scale = np.abs(w).max(axis=0) / np.float32(127)
    got = round_to_gram(w, scale, np.eye(130, dtype=np.float32))
    np.testing.assert_array_equal(got, np.rint(w / scale))


def test_rounding_by_the_gram_matrix_loses_less_on_its_data():
    rng = np.random.default_rng(2)
    for k, n in [(1, 3), (5, 1), (64, 20), (200, 33)]:
        x = (rng.standard_normal((500, 9)) @ rng.standard_normal((9, k))).astype(np.float32)
        x += 0.1 * rng.standard_normal(x.shape).astype(np.float32)
        w = rng.standard_normal((k, n)).astype(np.float32)
        scale = np.abs(w).max(axis=0) / np.float32(7)
        q = round_to_gram(w, scale, x.T @ x)
        assert q.dtype == np.int8
        error = np.linalg.norm(x @ (q * scale - w))
        nearest = np.linalg.norm(x @ (np.rint(w / scale) * scale - w))
        assert error <= (0.7 if k >= 64 else 1.001) * nearest


def test_the_weights_are_those_of_gptq_by_the_inverse():
    rng = np.random.default_rng(4)
    k, n = 150, 20  # more rows than a block
    x = rng.standard_normal((400, k)) @ rng.standard_normal((k, k))
    gram = (x.T @ x).astype(np.float32)
    w = rng.standard_normal((k, n)).astype(np.float32)
    scale = np.abs(w).max(axis=0) / np.float32(15)

    h = damped_gram(gram).astype(np.float64)
    order = np.argsort(-np.diag(h), kind="stable")
    upper = np.linalg.cholesky(np.linalg.inv(h[np.ix_(order, order)])).T
    rest, want = (w / scale)[order].astype(np.float64), np.empty((k, n))
    for i in range(k):
        want[order[i]] = np.rint(rest[i])
        errors = (rest[i] - np.rint(rest[i])) / upper[i, i]
        rest[i + 1 :] -= np.outer(upper[i, i + 1 :], errors)
    got = round_to_gram(w, scale, gram, damping=0.3)
    # A tie that float32 breaks the other way changes what comes after it in its column.
    assert (got == np.clip(want, -127, 127)).all(axis=0).mean() >= 0.8


def test_descent_after_gptq_never_loses():
    rng = np.random.default_rng(5)
    x = (rng.standard_normal((600, 100)) @ rng.standard_normal((100, 100))).astype(np.float32)
    w = rng.standard_normal((100, 30)).astype(np.float32)
    gram = x.T @ x
    rounded = round_by_gram(w, gram, "int8")
    q, scale = rounded.q, rounded.scale
    assert q.dtype == np.int8 and np.abs(q.astype(int)).max() <= 127
    damped = damped_gram(gram).astype(np.float64)

    def error(values):
        lost = (w - values * scale).astype(np.float64)
        return np.einsum("kn,kl,ln->n", lost, damped, lost)

    assert (error(q) <= error(round_to_gram(w, scale, gram, damping=0.3)) * (1 + 1e-5)).all()


def test_channels_that_are_never_used_do_no_harm():
    w = np.array([[3.0, 1.0], [0.0, 0.0], [5.0, -2.0]], np.float32)
    scale = np.abs(w).max(axis=0) / np.float32(127)
    gram = np.diag(np.array([0, 4, 0], np.float32))
    np.testing.assert_array_equal(round_to_gram(w, scale, gram), np.rint(w / scale))
    np.testing.assert_array_equal(round_to_gram(w, scale, 0 * gram), np.rint(w / scale))


def test_a_gram_matrix_that_overflows_is_refused():
    gram = np.full((2, 2), np.inf, np.float32)
    with np.errstate(all="ignore"), pytest.raises(np.linalg.LinAlgError, match="not finite"):
        round_to_gram(np.ones((2, 1), np.float32), np.ones(1, np.float32), gram)


def test_rounding_with_the_scales_of_groups_stays_within_4_bits():
    rng = np.random.default_rng(0)
    weight = rng.standard_normal((100, 20)).astype(np.float32)
    x = rng.standard_normal((400, 100)).astype(np.float32) @ rng.standard_normal((100, 100))
    gram = (x.T @ x).astype(np.float32)
    scale = np.full((100, 20), 0.3, np.float32)
    q = round_to_gram(weight, scale, gram, -8, 7)
    assert q.min() >= -8 and q.max() <= 7

    def error(values):
        return float(np.linalg.norm(x @ (weight - values * scale)))

    assert error(q) < 0.7 * error(np.clip(np.rint(weight / scale), -8, 7))
