"""16-bit float weights: packing rounds as NumPy and ml_dtypes do, products agree with float64."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import fbg

BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
# Instruction sets whose kernels widen bfloat16 and multiply in float32.
WITHOUT_DOT_PRODUCT = ("generic", "avx2", "avx2_vnni", "avx512", "avx512_vnni", "neon", "neon_dot")
DTYPES = {"float16": np.dtype(np.float16), "bfloat16": BFLOAT16}
SHAPES = [
    (1, 1, 1),
    (1, 33, 3),
    (5, 31, 17),
    (12, 64, 64),
    (13, 70, 37),
    (25, 129, 255),
    (64, 96, 256),
]


def normal(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape, dtype=np.float32)


def special_values():
    """Every exponent, halfway cases of both formats, denormals, zeros of both signs."""
    bits = np.arange(0, 1 << 16, dtype=np.uint32) << 16
    around = np.concatenate(
        [bits | low for low in (0, 0x0FFF, 0x1000, 0x1001, 0x7FFF, 0x8000, 0x8001)]
    )
    values = around.view(np.float32)
    return values[np.isfinite(values)]


@pytest.mark.parametrize("dtype", DTYPES)
def test_packing_rounds_half_to_even_like_numpy(dtype):
    values = special_values()
    if dtype == "float16":
        values = values[np.abs(values) < 65500]
    w = values[: values.size // 64 * 64].reshape(-1, 64)
    packed = fbg.PackedB(w, dtype=dtype)
    assert packed.dtype == DTYPES[dtype]
    expected = w.astype(DTYPES[dtype])
    np.testing.assert_array_equal(packed.unpack().view(np.uint16), expected.view(np.uint16))
    np.testing.assert_array_equal(packed.dequantize(), expected.astype(np.float32))


@pytest.mark.parametrize("isa", [isa for isa in fbg.isa.supported() if isa in WITHOUT_DOT_PRODUCT])
@pytest.mark.parametrize("source", ["float32", "rounded to float32", "bfloat16"])
def test_without_a_dot_product_bfloat16_has_the_bits_of_float32(isa, source):
    for m, n, k in (*SHAPES, (3, 40, 5001), (130, 70, 1537)):
        x, w = normal(m, k), normal(k, n, seed=1)
        xr, wr = (v.astype(BFLOAT16).astype(np.float32) for v in (x, w))
        a = {
            "float32": fbg.PackA(x, dtype="bfloat16"),
            "rounded to float32": fbg.PackA(xr),
            "bfloat16": fbg.PackA(x.astype(BFLOAT16)),
        }[source]
        with fbg.isa.limit(isa):
            y = fbg.gemm(a, fbg.PackedB(w, dtype="bfloat16"))
            expected = fbg.gemm(fbg.PackA(xr), fbg.PackedB(wr, dtype="float32"))
        np.testing.assert_array_equal(y.view(np.uint32), expected.view(np.uint32))


def test_half_the_memory_of_float32():
    w = normal(768, 768)
    full = fbg.PackedB(w, dtype="float32").nbytes
    for dtype in DTYPES:
        assert fbg.PackedB(w, dtype=dtype).nbytes < 0.51 * full


def test_16_bit_source_arrays_are_accepted():
    w = normal(9, 7).astype(np.float16)
    np.testing.assert_array_equal(fbg.PackedB(w, dtype="float16").unpack(), w)
    assert fbg.PackedB(w.astype(BFLOAT16)).dtype == np.int8


def test_packers_that_do_not_go_with_bfloat16():
    wp = fbg.PackedB(normal(4, 4), dtype="bfloat16")
    with pytest.raises(TypeError, match="float weights take PackA"):
        fbg.gemm(fbg.PackAWithQuantRowOffset(normal(2, 4)), wp)
    with pytest.raises(TypeError):
        fbg.gemm(
            fbg.PackA(normal(2, 4), dtype="bfloat16"), fbg.PackedB(normal(4, 4), dtype="float32")
        )
    with pytest.raises(TypeError, match="float32 or bfloat16"):
        fbg.PackA(np.zeros((2, 4), np.uint8), dtype="bfloat16")
    with pytest.raises(ValueError, match="dtype"):
        fbg.PackA(normal(2, 4), dtype="float16")
