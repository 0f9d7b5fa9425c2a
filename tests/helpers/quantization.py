"""What the tests of fbg.quantization share: value strategies, observers, a round trip."""

from typing import Any

import numpy as np
from hypothesis import strategies as st

from fbg.quantization import (
    HistogramObserver,
    MinMaxObserver,
    PercentileObserver,
    dequantize,
    quantize,
)

F32 = np.float32
Array = np.ndarray[Any, Any]
FINITE = st.floats(width=32, allow_nan=False, allow_infinity=False)
DTYPES = [np.uint8, np.int8]
OBSERVERS = {
    "minmax": MinMaxObserver,
    "percentile": lambda **kw: PercentileObserver(99.0, **kw),
    "entropy": lambda **kw: HistogramObserver("entropy", **kw),
    "mse": lambda **kw: HistogramObserver("mse", **kw),
}


def round_trip(x, scale, zero_point, dtype):
    return dequantize(quantize(x, scale, zero_point, dtype), scale, zero_point)


def correlated(rows, channels, seed):
    """Rows whose channels depend on each other."""
    rng = np.random.default_rng(seed)
    x = rng.standard_normal((rows, channels)) @ rng.standard_normal((channels, channels))
    return (x / channels**0.5).astype(F32)


X = np.ones((2, 3), F32)
NAN, INF = X * F32(np.nan), X * F32(np.inf)
