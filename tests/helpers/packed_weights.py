"""Packed weights of every kind, and how two of them are compared."""

import numpy as np

import fbg

RNG = np.random.default_rng(5)
FLOATS = RNG.standard_normal((37, 70), dtype=np.float32)
INTS = RNG.integers(-128, 128, (37, 70), dtype=np.int8)
FEW_LARGE = np.where(RNG.random(INTS.shape) < 0.02, INTS, INTS >> 5)


def with_outliers():
    with fbg.isa.limit("generic"):  # where sums in int16 are not left to VNNI
        return fbg.PackedB(FEW_LARGE, scale=np.float32(0.1), accum="int16")


PACKED = {
    "int8": lambda: fbg.PackedB(FLOATS),
    "int8_asymmetric": lambda: fbg.PackedB(FLOATS, symmetric=False),
    "int8_tensor": lambda: fbg.PackedB(FLOATS, granularity="tensor"),
    "int8_given": lambda: fbg.PackedB(INTS, scale=0.5, zero_point=3),
    "int8_no_scale": lambda: fbg.PackedB(INTS),
    "int16": with_outliers,
    "int4": lambda: fbg.PackedB(FLOATS, dtype="int4"),
    "int4_offsets": lambda: fbg.PackedB(FLOATS, dtype="int4", group=64, symmetric=False),
    "float32": lambda: fbg.PackedB(FLOATS, dtype="float32"),
    "float16": lambda: fbg.PackedB(FLOATS, dtype="float16"),
    "bfloat16": lambda: fbg.PackedB(FLOATS, dtype="bfloat16"),
    "no_rows": lambda: fbg.PackedB(FLOATS[:0]),
    "no_columns": lambda: fbg.PackedB(FLOATS[:, :0], symmetric=False),
    "no_elements": lambda: fbg.PackedB(FLOATS[:0, :0], dtype="float32"),
}


def product(w):
    k = w.shape[0]
    x = np.random.default_rng(k).standard_normal((9, k), dtype=np.float32)
    if w.scale is not None:
        return fbg.linear(x, w)
    return fbg.gemm(fbg.PackA(x if w.accum == "float32" else np.abs(x * 50).astype(np.uint8)), w)


def assert_same(a, b):
    assert repr(a) == repr(b)
    assert a.nbytes == b.nbytes
    assert a.dtype == b.dtype
    for name in ("scale", "zero_point", "offset", "column_offsets", "spill_depths"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    assert a.unpack().tobytes() == b.unpack().tobytes()
    assert product(a).tobytes() == product(b).tobytes()
