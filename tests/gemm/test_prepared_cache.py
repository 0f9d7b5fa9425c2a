"""What `gemm` and `linear` keep from one call to the next is bounded, and never wrong."""

import numpy as np
import pytest

import fbg
from fbg import _fbg
from helpers.fresh_python import run_python

BOUND = 16 << 20

MANY_SHAPES = """
import resource
import numpy as np
import fbg
from fbg import _fbg

x = np.ones((1, 100), np.float32)
w = np.ones((100, 100), np.float32)

def multiply(k, n):
    y = fbg.linear(x[:, :k], fbg.PackedB(w[:k, :n], dtype="float32"), num_threads=1)
    assert y.shape == (1, n) and (y == k).all()

def peak_mib():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024

multiply(1, 1)
before = peak_mib()
for k in range(1, 101):
    for n in range(1, 101):
        multiply(k, n)
print(_fbg.prepared_gemm_bytes(), peak_mib() - before)
"""


def test_ten_thousand_shapes_take_bounded_memory():
    result = run_python(MANY_SHAPES)
    assert result.returncode == 0, result.stderr
    kept, grown_mib = result.stdout.split()
    assert 0 < int(kept) <= BOUND
    assert float(grown_mib) < 48


@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_a_shape_that_was_dropped_computes_the_same(dtype):
    rng = np.random.default_rng(0)
    x = rng.standard_normal((3, 50), np.float32)
    packed = fbg.PackedB(rng.standard_normal((50, 70), np.float32), dtype=dtype)
    first = fbg.linear(x, packed)
    one = np.ones((1, 1), np.float32)
    for n in range(1, 2000):
        fbg.linear(one, fbg.PackedB(np.ones((1, n), np.float32), dtype="float32"))
    assert _fbg.prepared_gemm_bytes() > BOUND * 9 // 10  # it is full: others were dropped
    assert np.array_equal(fbg.linear(x, packed), first)
