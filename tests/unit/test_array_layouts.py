"""Arrays that are not aligned, or with swapped bytes, give the same result or a named error."""

from collections.abc import Callable
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np
import numpy.typing as npt
import pytest

import fbg
from fbg import quantization

Array = npt.NDArray[Any]
F32, BF16 = np.float32, ml_dtypes.bfloat16
RNG = np.random.default_rng(0)
X = RNG.standard_normal((5, 8), F32)
W = RNG.standard_normal((8, 32), F32)
IMAGE = RNG.standard_normal((1, 5, 5, 8), F32)
KERNEL = RNG.standard_normal((4, 8, 3, 3), F32)
SUMS = RNG.integers(-1000, 1000, (5, 32), np.int32)
UNIT = X / np.linalg.norm(X, axis=1, keepdims=True)
FLOATS, INTS, HALF = (fbg.PackedB(W, dtype=dtype) for dtype in ("float32", "int8", "bfloat16"))
CONV, CONV8 = (fbg.PackedConv(KERNEL, dtype=dtype) for dtype in ("float32", "int8"))
ROWS = np.stack([X.min(axis=1), X.max(axis=1)], axis=1)
DEQUANTIZE = fbg.Dequantize()


def written(call, out):
    """Return `out` after the call, which must give nothing else."""
    assert call(out) is out
    return np.array(out)


def product(a, *stages):
    return fbg.gemm(a, FLOATS, stages)


class Argument(NamedTuple):
    """A function of one array."""

    call: Callable[[Array], Any]
    array: Array


ARGUMENTS = {
    "PackA: x": Argument(lambda x: fbg.gemm(fbg.PackA(x), FLOATS), X),
    "PackA: x of bfloat16": Argument(lambda x: fbg.gemm(fbg.PackA(x), HALF), X.astype(BF16)),
    "PackAWithQuantRowOffset: x": Argument(
        lambda x: fbg.gemm(fbg.PackAWithQuantRowOffset(x), INTS, DEQUANTIZE), X
    ),
    "PackAWithQuantRowOffset: row_range": Argument(
        lambda r: fbg.gemm(fbg.PackAWithQuantRowOffset(X, row_range=r), INTS, DEQUANTIZE), ROWS
    ),
    "PackAWithQuantRowOffset: channel_scale": Argument(
        lambda s: fbg.gemm(fbg.PackAWithQuantRowOffset(X, channel_scale=s), INTS, DEQUANTIZE),
        np.linspace(1, 2, 8, dtype=F32),
    ),
    "gemm: out": Argument(
        lambda out: written(lambda o: fbg.gemm(fbg.PackA(X), FLOATS, out=o), out),
        np.zeros((5, 32), F32),
    ),
    "gemm: out of bfloat16": Argument(
        lambda out: written(
            lambda o: fbg.gemm(fbg.PackA(X), FLOATS, fbg.Cast("bfloat16"), out=o), out
        ),
        np.zeros((5, 32), BF16),
    ),
    "linear: x": Argument(lambda x: fbg.linear(x, INTS), X),
    "linear: bias": Argument(lambda b: fbg.linear(X, INTS, b), W[0].copy()),
    "PreparedCall: x": Argument(lambda x: fbg.prepare(FLOATS, rows=5)(x), X),
    "PreparedCall: out": Argument(
        lambda out: written(lambda o: fbg.prepare(FLOATS, rows=5)(X, o), out),
        np.zeros((5, 32), F32),
    ),
    "PackedB: w": Argument(lambda w: fbg.PackedB(w).unpack(), W),
    "PackedB: w transposed": Argument(lambda w: fbg.PackedB(w, transpose=True).unpack(), W),
    "PackedB: w of bfloat16": Argument(
        lambda w: fbg.PackedB(w, dtype="bfloat16").unpack(), W.astype(BF16)
    ),
    "PackedB: w of float16": Argument(
        lambda w: fbg.PackedB(w, dtype="int4").dequantize(), W.astype(np.float16)
    ),
    "PackedB: scale": Argument(
        lambda s: fbg.PackedB(np.ones((2, 8), np.int8), scale=s).dequantize(),
        np.linspace(1, 2, 8, dtype=F32),
    ),
    "PackedB: zero_point": Argument(
        lambda z: fbg.PackedB(np.ones((2, 8), np.int8), scale=1.0, zero_point=z).dequantize(),
        np.arange(8, dtype=np.int32),
    ),
    "conv: x": Argument(lambda x: fbg.conv(x, CONV), IMAGE),
    "conv: x for int8": Argument(lambda x: fbg.conv(x, CONV8), IMAGE),
    "conv: bias": Argument(lambda b: fbg.conv(IMAGE, CONV, bias=b), W[0, :4].copy()),
    "conv: out": Argument(
        lambda out: written(lambda o: fbg.conv(IMAGE, CONV, out=o), out),
        np.zeros((1, 3, 3, 4), F32),
    ),
    "PreparedConv: x": Argument(lambda x: fbg.prepare(CONV, shape=IMAGE.shape)(x), IMAGE),
    "PreparedConv: out": Argument(
        lambda out: written(lambda o: fbg.prepare(CONV, shape=IMAGE.shape)(IMAGE, o), out),
        np.zeros((1, 3, 3, 4), F32),
    ),
    "PackAWithIm2Col: x": Argument(lambda x: fbg.gemm(fbg.PackAWithIm2Col(x, CONV), CONV), IMAGE),
    "PackedConv: w": Argument(lambda w: fbg.PackedConv(w).unpack(), KERNEL),
    "PackedConv: w of bfloat16": Argument(
        lambda w: fbg.PackedConv(w, dtype="bfloat16").unpack(), KERNEL.astype(BF16)
    ),
    "PackedConv: scale": Argument(
        lambda s: fbg.PackedConv(np.ones((8, 1, 1, 1), np.int8), scale=s).scale,
        np.linspace(1, 2, 8, dtype=F32),
    ),
    "Bias: values": Argument(lambda b: product(fbg.PackA(X), fbg.Bias(b)), W[0].copy()),
    "Add: residual": Argument(
        lambda r: product(fbg.PackA(X), fbg.Add(r)), RNG.random((5, 32), F32)
    ),
    "Add: residual of bfloat16": Argument(
        lambda r: product(fbg.PackA(X), fbg.Add(r)), RNG.random((5, 32), F32).astype(BF16)
    ),
    "Add: residual of float16": Argument(
        lambda r: product(fbg.PackA(X), fbg.Add(r)), RNG.random((5, 32), F32).astype(np.float16)
    ),
    "RowRange: out": Argument(
        lambda out: (product(fbg.PackA(X), fbg.RowRange(out)), np.array(out))[1],
        np.zeros((5, 2), F32),
    ),
    "quantize: x": Argument(lambda x: quantization.quantize(x, 0.1, 100), X),
    "quantize: x of bfloat16": Argument(
        lambda x: quantization.quantize(x, 0.1, 100), X.astype(BF16)
    ),
    "requantize: acc": Argument(lambda acc: quantization.requantize(acc, 0.1), SUMS),
    "dequantize: q": Argument(lambda q: quantization.dequantize(q, 0.1), SUMS),
    "choose_qparams: minimum": Argument(
        lambda m: quantization.choose_qparams(m, np.ones(5, F32))[1], -np.ones(5, F32)
    ),
    "choose_qparams_mse: x": Argument(lambda x: quantization.choose_qparams_mse(x, axis=0)[0], X),
    "quantize_rowwise: x": Argument(lambda x: quantization.quantize_rowwise(x).fused(), X),
    "similarity": Argument(lambda q: fbg.similarity(q, UNIT), UNIT),
    "similarity: corpus": Argument(lambda c: fbg.similarity(UNIT, c), UNIT),
    "semantic_search": Argument(
        lambda c: np.array([h["score"] for h in fbg.semantic_search(UNIT, c)[0]]), UNIT
    ),
    "maxsim": Argument(lambda q: fbg.maxsim([q], [UNIT]), UNIT),
    "quantize_embeddings": Argument(lambda e: fbg.quantize_embeddings(e, "ubinary"), UNIT),
    "embedding_ranges": Argument(fbg.embedding_ranges, UNIT),
}


def unaligned(array):
    """Return the array at an address that is odd."""
    memory = np.zeros(array.nbytes + 1, np.uint8)
    moved = memory[1:].view(array.dtype).reshape(array.shape)
    moved[...] = array
    assert not moved.flags.aligned
    return moved


def swapped(array):
    """Return the same values with the bytes of each in the other order."""
    changed = array.astype(array.dtype.newbyteorder())
    np.testing.assert_array_equal(changed.astype(array.dtype), array)
    assert not changed.dtype.isnative
    return changed


@pytest.mark.parametrize("change", [unaligned, swapped])
@pytest.mark.parametrize("name", ARGUMENTS)
def test_the_result_is_the_same_or_the_argument_is_named(name, change):
    call, array = ARGUMENTS[name]
    expected = call(array.copy())
    given = change(array)
    before = given.copy()
    try:
        result = call(given)
    except (TypeError, ValueError) as error:
        function = name.partition(":")[0]
        assert str(error).startswith((f"{function}: ", "conv: ")), str(error)
        assert ("align" if change is unaligned else "got ") in str(error)
        np.testing.assert_array_equal(given, before)
    else:
        np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("kind", ["Add", "row_range"])
def test_arrays_that_are_read_later_are_never_copied_in_secret(kind):
    refer = {
        "Add": fbg.Add,
        "row_range": lambda rows: fbg.PackAWithQuantRowOffset(X, row_range=rows),
    }
    with pytest.raises(ValueError, match="must be aligned to its elements; pass a copy of it"):
        refer[kind](unaligned(ROWS))
