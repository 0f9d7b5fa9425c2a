"""Messages about operands and stages that do not fit name the way out, and it is one."""

from collections.abc import Callable

import numpy as np
import pytest

import fbg

M, K, N = 3, 32, 5
X, W = np.ones((M, K), np.float32), np.ones((K, N), np.float32)
X8, XU8, W8 = X.astype(np.int8), X.astype(np.uint8), W.astype(np.int8)
ROWS = np.empty((M, 2), np.float32)
BIAS, SUMS = np.ones(N, np.float32), np.ones(N, np.int32)


def quantized() -> fbg.PackA:
    return fbg.PackAWithQuantRowOffset(X)


# A call that is refused, the way out that the message names, and the call that takes it.
STAGES = {
    **{
        type(stage).__name__: (
            lambda stage=stage: fbg.gemm(quantized(), fbg.PackedB(W), stage),
            f"put Dequantize before {type(stage).__name__}",
            lambda stage=stage: fbg.gemm(quantized(), fbg.PackedB(W), fbg.Dequantize() >> stage),
        )
        for stage in (
            *(fbg.Bias(BIAS), fbg.ReLU(), fbg.GELU(), fbg.Tanh(), fbg.Sigmoid(), fbg.Clip(0, 6)),
            *(fbg.Scale(2), fbg.Cast("float16"), fbg.RowRange(ROWS)),
            fbg.Add(np.ones((M, N), np.float32)),
        )
    },
    "float sums": (
        lambda: fbg.gemm(fbg.PackA(X), fbg.PackedB(W, dtype="float32"), fbg.Dequantize()),
        "leave Dequantize out",
        lambda: fbg.gemm(fbg.PackA(X), fbg.PackedB(W, dtype="float32")),
    ),
    "Dequantize too late": (
        lambda: fbg.GELU() >> fbg.Dequantize(),
        "put Dequantize before GELU",
        lambda: fbg.Dequantize() >> fbg.GELU(),
    ),
    "int32 bias": (
        lambda: fbg.Dequantize() >> fbg.Bias(SUMS),
        "its values must be float32 where results are",
        lambda: fbg.Dequantize() >> fbg.Bias(BIAS),
    ),
    "after the last": (
        lambda: fbg.Requantize(0.1) >> fbg.ReLU(),
        "put ReLU before it",
        lambda: fbg.Dequantize() >> fbg.ReLU() >> fbg.Requantize(0.1),
    ),
    "no scales": (
        lambda: fbg.gemm(fbg.PackA(XU8), fbg.PackedB(W8), fbg.Dequantize()),
        "pass PackAWithRowOffset(x, scale=…) and PackedB(w, scale=…)",
        lambda: fbg.gemm(
            fbg.PackAWithRowOffset(XU8, scale=0.1),
            fbg.PackedB(W8, scale=np.float32(0.2)),
            fbg.Dequantize(),
        ),
    ),
    "no scale of x": (
        lambda: fbg.gemm(
            fbg.PackAWithRowOffset(XU8, zero_point=3), fbg.PackedB(W), fbg.Dequantize()
        ),
        "pass PackAWithRowOffset(x, scale=…)",
        lambda: fbg.gemm(
            fbg.PackAWithRowOffset(XU8, scale=0.1, zero_point=3), fbg.PackedB(W), fbg.Dequantize()
        ),
    ),
    "no zero point": (
        lambda: fbg.gemm(fbg.PackA(XU8), fbg.PackedB(W8), fbg.CorrectZeroPoints()),
        "pass PackAWithRowOffset(x, zero_point=…)",
        lambda: fbg.gemm(
            fbg.PackAWithRowOffset(XU8, zero_point=3), fbg.PackedB(W8), fbg.CorrectZeroPoints()
        ),
    ),
}
PACKERS = {
    "int8 x": (
        lambda: fbg.PackA(X8),
        "PackAWithRowOffset(x, scale=…)",
        lambda: fbg.PackAWithRowOffset(X8, scale=0.1),
    ),
    "float64 x": (
        lambda: fbg.PackA(X.astype(np.float64)),
        "convert it with astype(np.float32)",
        lambda: fbg.PackA(X.astype(np.float64).astype(np.float32)),
    ),
    "float64 w": (
        lambda: fbg.PackedB(W.astype(np.float64)),
        "convert it with astype(np.float32)",
        lambda: fbg.PackedB(W.astype(np.float64).astype(np.float32)),
    ),
    "float x to quantize": (
        lambda: fbg.PackAWithRowOffset(X, scale=0.1),
        "PackAWithQuantRowOffset(x)",
        quantized,
    ),
    "quantized x to quantize": (
        lambda: fbg.PackAWithQuantRowOffset(XU8),
        "PackAWithRowOffset(x, scale=…)",
        lambda: fbg.PackAWithRowOffset(XU8, scale=0.1),
    ),
    "float x, int8 w": (
        lambda: fbg.gemm(fbg.PackA(X), fbg.PackedB(W)),
        "PackAWithQuantRowOffset(x)",
        lambda: fbg.gemm(quantized(), fbg.PackedB(W)),
    ),
    "float x, int4 w": (
        lambda: fbg.gemm(fbg.PackA(X), fbg.PackedB(W, dtype="int4")),
        "PackAWithQuantRowOffset(x)",
        lambda: fbg.gemm(quantized(), fbg.PackedB(W, dtype="int4")),
    ),
    "bytes, int4 w": (
        lambda: fbg.gemm(fbg.PackA(XU8), fbg.PackedB(W, dtype="int4")),
        "PackAWithRowOffset(x, scale=…)",
        lambda: fbg.gemm(fbg.PackAWithRowOffset(XU8, scale=1.0), fbg.PackedB(W, dtype="int4")),
    ),
    "bytes, float w": (
        lambda: fbg.gemm(fbg.PackA(XU8), fbg.PackedB(W, dtype="float32")),
        "pack the weights with dtype='int8'",
        lambda: fbg.gemm(fbg.PackA(XU8), fbg.PackedB(W, dtype="int8")),
    ),
    "quantized x, float w": (
        lambda: fbg.gemm(quantized(), fbg.PackedB(W, dtype="float32")),
        "pass PackA(x) of float32, or pack them with dtype='int8'",
        lambda: fbg.gemm(fbg.PackA(X), fbg.PackedB(W, dtype="float32")),
    ),
    "bfloat16 x, float w": (
        lambda: fbg.gemm(fbg.PackA(X, dtype="bfloat16"), fbg.PackedB(W, dtype="float32")),
        "pack the weights with dtype='bfloat16'",
        lambda: fbg.gemm(fbg.PackA(X, dtype="bfloat16"), fbg.PackedB(W, dtype="bfloat16")),
    ),
    "a stage of prepare": (
        lambda: fbg.prepare(fbg.PackedB(W), fbg.ReLU(), rows=M),
        "put Dequantize before ReLU",
        lambda: fbg.prepare(fbg.PackedB(W), fbg.Dequantize() >> fbg.ReLU(), rows=M),
    ),
}
REFUSED = {**STAGES, **PACKERS}


@pytest.mark.parametrize("name", REFUSED)
def test_the_way_out_is_named_and_taken(name: str) -> None:
    refused, hint, taken = REFUSED[name]
    with pytest.raises(TypeError) as caught:
        refused()
    assert hint in str(caught.value)
    assert taken() is not None


@pytest.mark.parametrize(
    "product",
    [
        lambda x, b: fbg.linear(x, b),
        lambda x, b: fbg.linear(x[None], b),
        lambda x, b: fbg.gemm(fbg.PackA(x), b),
    ],
)
def test_weights_of_torch_are_told_to_be_transposed(
    product: Callable[[np.ndarray, fbg.PackedB], np.ndarray],
) -> None:
    with pytest.raises(ValueError, match=r"\(5, 32\), are packed with PackedB\(w, transpose=True"):
        product(X, fbg.PackedB(W.T, dtype="float32"))
    assert product(X, fbg.PackedB(W.T, dtype="float32", transpose=True)).shape[-1] == N
    with pytest.raises(ValueError) as caught:
        product(X[:, :7], fbg.PackedB(W, dtype="float32"))
    assert "transpose" not in str(caught.value)


def test_other_errors_get_no_advice() -> None:
    weights = fbg.PackedB(W8)
    with pytest.raises(TypeError, match=r"gemm: out must be int32, got float64$"):
        fbg.gemm(fbg.PackA(XU8), weights, out=np.empty((M, N)))
    with pytest.raises(TypeError, match=r"got float64$"):
        fbg.gemm(
            fbg.PackA(X, dtype="bfloat16"),
            fbg.PackedB(W, dtype="bfloat16"),
            out=np.empty((M, N)),
        )


TEXTS = ["a cat", "a dog"]
VECTORS = np.eye(2, dtype=np.float32)


@pytest.mark.parametrize(
    "call",
    [
        lambda: fbg.semantic_search("a cat", VECTORS),
        lambda: fbg.semantic_search(VECTORS, TEXTS),
        lambda: fbg.similarity(TEXTS, TEXTS),
        lambda: fbg.maxsim("a cat", [VECTORS]),
        lambda: fbg.maxsim([VECTORS], TEXTS),
        lambda: fbg.quantize_embeddings(TEXTS, "int8"),
        lambda: fbg.embedding_ranges(TEXTS),
    ],
)
def test_texts_are_no_embeddings(call: Callable[[], object]) -> None:
    with pytest.raises(
        TypeError, match=r"must be embeddings, such as the arrays that Model\.encode returns"
    ):
        call()
