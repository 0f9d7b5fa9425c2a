"""Subnormal numbers: products and convolutions keep them unless asked, whatever the thread does."""

import pickle

import numpy as np
import pytest

import fbg
from helpers.float_modes import flushes, flushing

M, K, N = 6, 64, 64
RNG = np.random.default_rng(1)


def normal(*shape):
    return RNG.standard_normal(shape).astype(np.float32)


X, W = normal(M, K), normal(K, N)
IMAGE, PIXELS = normal(1, 9, 11, 32), normal(64, 32, 3, 3)
GROUPED, DEPTHWISE = normal(64, 4, 3, 3), normal(32, 1, 3, 3)
# Magnitudes of x and w for which operands, weights, results, or none of them are subnormal.
TINY = {"x": (1e-40, 1e30), "w": (1e30, 1e-40), "results": (1e-12, 1e-30)}


def product(packer, dtype):
    def call(x, w, **options):
        return fbg.gemm(packer(x), fbg.PackedB(w, dtype=dtype), num_threads=2, **options)

    return call


def prepared(x, w, **options):
    call = fbg.prepare(fbg.PackedB(w, dtype="float32"), rows=M, num_threads=2, **options)
    copy = pickle.loads(pickle.dumps(call))
    np.testing.assert_array_equal(copy(x), call(x))
    return copy(x)


def strassen(x, w, **options):
    packed = fbg.PackedConv(w.T[:, :, None], dtype="float32")
    return fbg.conv(x[None], packed, algorithm="strassen", **options)[0]


PRODUCTS = {
    "float32": product(fbg.PackA, "float32"),
    "linear": lambda x, w, **options: fbg.linear(x, fbg.PackedB(w, dtype="float32"), **options),
    "linear of many axes": lambda x, w, **options: fbg.linear(
        x[None], fbg.PackedB(w, dtype="float32"), activation="gelu", num_threads=2, **options
    )[0],
    "prepared": prepared,
    "strassen": strassen,
}


@pytest.mark.parametrize("kind", TINY)
@pytest.mark.parametrize("name", PRODUCTS)
def test_products_keep_them_unless_asked(name, kind, isa):
    call = PRODUCTS[name]
    x, w = X * np.float32(TINY[kind][0]), W * np.float32(TINY[kind][1])
    wanted = call(x, w)
    assert np.count_nonzero(wanted) > wanted.size // 2
    assert not call(x, w, flush_subnormals=True).any()
    with flushing():
        flushed, kept = call(x, w, flush_subnormals=True), call(x, w)
    assert np.count_nonzero(flushed) == 0
    np.testing.assert_array_equal(kept.view(np.uint32), wanted.view(np.uint32))
    assert not flushes()
    # Where nothing is subnormal, the option changes no bit.
    np.testing.assert_array_equal(call(X, W, flush_subnormals=True), call(X, W))


def convolution(weights, groups=1):
    def call(x, w, algorithm, **options):
        wc = fbg.PackedConv(w, padding=1, groups=groups, dtype="float32")
        y = fbg.conv(x, wc, algorithm=algorithm, num_threads=2, **options)
        ready = fbg.prepare(wc, shape=x.shape, algorithm=algorithm, num_threads=1, **options)
        for again in (ready, pickle.loads(pickle.dumps(ready))):
            out = np.empty_like(y)
            again(x, out)
            np.testing.assert_array_equal(again(x, out), y)
        return y

    call.weights, call.groups = weights, groups
    return call


@pytest.mark.parametrize("kind", TINY)
@pytest.mark.parametrize(("w", "groups"), [(PIXELS, 1), (GROUPED, 8), (DEPTHWISE, 32)])
def test_convolutions_keep_them_unless_asked(w, groups, kind, isa):
    call = convolution(w, groups)
    x, scaled = IMAGE * np.float32(TINY[kind][0]), w * np.float32(TINY[kind][1])
    wc = fbg.PackedConv(w, padding=1, groups=groups, dtype="float32")
    names = [algorithm.name for algorithm in wc.algorithms(x.shape)]
    assert names
    for name in names:
        wanted = call(x, scaled, name)
        assert np.count_nonzero(wanted) > wanted.size // 2, name
        assert not call(x, scaled, name, flush_subnormals=True).any(), name
        with flushing():
            flushed, kept = call(x, scaled, name, flush_subnormals=True), call(x, scaled, name)
        assert not np.count_nonzero(flushed), name
        np.testing.assert_array_equal(kept.view(np.uint32), wanted.view(np.uint32), name)


def test_patches_as_rows_of_a_product_have_the_option_too():
    wc = fbg.PackedConv(PIXELS * np.float32(1e-30), padding=1, dtype="float32")
    a = fbg.PackAWithIm2Col(IMAGE * np.float32(1e-10), wc)
    assert fbg.gemm(a, wc).any()
    out = np.ones((99, 64), np.float32)
    assert not fbg.gemm(a, wc, out=out, flush_subnormals=True).any()


@pytest.mark.parametrize("dtype", ["int8", "int4"])
def test_integers_are_the_same_and_their_scales_are_floats(dtype, isa):
    w = fbg.PackedB(W, dtype=dtype)
    x = fbg.PackAWithQuantRowOffset(X)
    real = fbg.Pipeline([fbg.Dequantize()] if dtype == "int8" else [])
    kept = fbg.gemm(x, w, real)
    np.testing.assert_array_equal(fbg.gemm(x, w, real, flush_subnormals=True), kept)
    tiny = fbg.PackAWithQuantRowOffset(X * np.float32(1e-33))  # whose scale is normal
    small = fbg.PackedB(W * np.float32(1e-4), dtype=dtype)
    scaled = real >> fbg.Scale(1e-3)
    assert fbg.gemm(tiny, small, scaled).any()
    assert not fbg.gemm(tiny, small, scaled, flush_subnormals=True).any()


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_halves_that_are_subnormal_are_numbers_like_others(dtype, isa):
    """Those of float16 are not subnormal in float32; results that are rounded to them are kept."""
    values = {"float16": 2.0**-20, "bfloat16": 2.0**-120}[dtype]
    w = fbg.PackedB(np.eye(N, dtype=np.float32) * np.float32(values), dtype=dtype)
    x = np.ones((2, N), np.float32)
    for flush in (False, True):
        y = fbg.gemm(fbg.PackA(x), w, flush_subnormals=flush)
        np.testing.assert_array_equal(y, np.full((2, N), values, np.float32))
        half = fbg.gemm(fbg.PackA(x), w, fbg.Cast(dtype), flush_subnormals=flush)
        np.testing.assert_array_equal(half.astype(np.float32), y)


def test_the_option_is_a_flag():
    w, wc = fbg.PackedB(W, dtype="float32"), fbg.PackedConv(PIXELS, dtype="float32")
    bad = "yes"
    for call in (
        lambda: fbg.gemm(fbg.PackA(X), w, flush_subnormals=bad),
        lambda: fbg.linear(X, w, flush_subnormals=bad),
        lambda: fbg.conv(IMAGE, wc, flush_subnormals=bad),
        lambda: fbg.prepare(w, rows=2, flush_subnormals=bad),
        lambda: fbg.prepare(wc, shape=IMAGE.shape, flush_subnormals=bad),
    ):
        with pytest.raises(TypeError, match="flush_subnormals must be True or False, got 'yes'"):
            call()
