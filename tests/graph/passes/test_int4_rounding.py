"""Rounding to int4 on data, with the scales and offsets of groups."""

import numpy as np
import pytest

from fbg import PackedB
from fbg.graph.passes import int4_rounding
from fbg.graph.passes.gptq import round_to_gram
from fbg.graph.passes.rounding import round_by_gram
from fbg.matmul.weights import int4_name
from helpers.quantization import correlated

Floats = np.ndarray


def rounded(w, gram, group, symmetric=True):
    return round_by_gram(w, gram, int4_name(group, symmetric))


@pytest.mark.parametrize(("k", "n", "group"), [(128, 300, 32), (100, 7, 64), (130, 20, 128)])
def test_errors_on_the_data_are_less_than_those_of_gptq_alone(k, n, group):
    x = correlated(600, k, k)
    w = np.random.default_rng(n).standard_normal((k, n)).astype(np.float32)
    gram = x.T @ x
    found = rounded(w, gram, group)
    q, scale = found.q, found.scale
    assert found.offset is None
    assert q.dtype == np.int8 and scale.dtype == np.float16
    assert q.min() >= -8 and q.max() <= 7 and scale.shape == (-(-k // group), n)
    start = int4_rounding._search_scales(w, np.diag(gram), group)
    steps = start.repeat(group, axis=0)[:k]
    gptq = round_to_gram(w, steps, gram, -8, 7) * steps
    error = np.linalg.norm(x @ (w - found.dequantize()))
    assert error < 0.97 * np.linalg.norm(x @ (w - gptq))


@pytest.mark.parametrize(("k", "n", "group"), [(128, 300, 32), (100, 7, 64), (130, 20, 128)])
@pytest.mark.parametrize(("shift", "bound"), [(0.0, 0.97), (2.0, 0.8)])
def test_offsets_make_errors_on_the_data_smaller(k, n, group, shift, bound):
    x = correlated(600, k, k)
    rng = np.random.default_rng(n)
    w = (rng.standard_normal((k, n)) + shift * rng.standard_normal(n)).astype(np.float32)
    gram = x.T @ x
    found = rounded(w, gram, group, symmetric=False)
    q, scale, offset = found.q, found.scale, found.offset
    assert q.dtype == np.int8 and q.min() >= -8 and q.max() <= 7
    assert offset is not None and offset.dtype == scale.dtype == np.float16
    assert offset.shape == scale.shape == (-(-k // group), n)
    steps, shifts = (
        of_groups.astype(np.float32).repeat(group, axis=0)[:k] for of_groups in (scale, offset)
    )
    np.testing.assert_array_equal(found.dequantize(), q * steps + shifts)
    error = np.linalg.norm(x @ (w - found.dequantize()))
    symmetric = rounded(w, gram, group).dequantize()
    assert error < bound * np.linalg.norm(x @ (w - symmetric))
    nearest = PackedB(w, dtype="int4", group=group, symmetric=False).dequantize()  # type: ignore
    assert error < 0.9 * np.linalg.norm(x @ (w - nearest))


@pytest.mark.parametrize("symmetric", [True, False])
def test_channels_without_data_and_weights_of_zero_do_no_harm(symmetric):
    w = np.random.default_rng(0).standard_normal((64, 5)).astype(np.float32)
    w[:, 3] = 0
    for gram in (np.zeros((64, 64), np.float32), np.diag(np.arange(64) % 2).astype(np.float32)):
        found = rounded(w, gram, 32, symmetric)
        q, scale, offset = found.q, found.scale, found.offset
        assert np.isfinite(scale).all() and not found.dequantize()[:, 3].any()
        if symmetric:
            assert not q[:, 3].any()
        # Without correlation, each weight is rounded to the nearest value of its group.
        steps = np.abs(scale.astype(np.float32)).repeat(32, axis=0)
        shifts = 0 if offset is None else offset.astype(np.float32).repeat(32, axis=0)
        inside = np.abs(w - shifts) < 7 * steps
        assert (np.abs(found.dequantize() - w) <= 0.501 * steps)[inside].all()
