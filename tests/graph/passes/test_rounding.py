"""Weights as integers: each rounded to the nearest, and what integers stand for."""

import numpy as np
import pytest

from fbg.graph.passes.rounding import round_by_gram, round_to_nearest
from fbg.matmul.weights import INT4_DTYPES

RNG = np.random.default_rng(6)


@pytest.mark.parametrize(("shape", "axis"), [((9, 7), 1), ((6, 5), 0), ((4, 3, 3, 2), 0)])
def test_rounding_to_the_nearest_is_within_half_a_step(shape, axis):
    w = np.random.default_rng(6).standard_normal(shape).astype(np.float32)
    np.moveaxis(w, axis, 0)[1] = 0
    q, scale = round_to_nearest(w, axis)
    assert q.dtype == np.int8 and scale.shape == (shape[axis],)
    steps = scale.reshape([-1 if i == axis else 1 for i in range(w.ndim)])
    assert (np.abs(q * steps - w) <= 0.501 * steps).all()
    largest = np.abs(np.moveaxis(q, axis, 0).reshape(shape[axis], -1)).max(axis=1)
    assert set(np.delete(largest, 1)) == {127} and largest[1] == 0 and (scale > 0).all()


@pytest.mark.parametrize("value", [0.0, 1e-45, 1e-38])
def test_weights_without_a_usable_scale_get_scale_one(value):
    _, scale = round_to_nearest(np.full((2, 1), value, np.float32), -1)
    assert scale.tolist() == [1.0]


@pytest.mark.parametrize("dtype", ["int8", *INT4_DTYPES])
def test_integers_are_packed_as_they_are_and_stand_for_the_weights(dtype):
    w = RNG.standard_normal((150, 40)).astype(np.float32)  # the last group has fewer rows
    x = RNG.standard_normal((300, 150)).astype(np.float32)
    rounded = round_by_gram(w, x.T @ x, dtype)
    packed = rounded.pack()
    assert (packed.shape, packed.dtype) == (w.shape, dtype)
    np.testing.assert_array_equal(packed.unpack(), rounded.q)
    lost = np.linalg.norm(x @ (rounded.dequantize() - w)) / np.linalg.norm(x @ w)
    assert lost < (0.01 if dtype == "int8" else 0.2)
