"""Results of products, look-ups and a small BERT, of one architecture and of another.

    python tests/helpers/architectures.py write FILE     # on this machine
    python tests/helpers/architectures.py compare FILE   # on another one, or in an emulator

Integers and results of embedding tables must be equal. Other floats may differ by 1e-6 of the
largest value of their array; those of int8 models by more, because a float that differs in its last
bit can be quantized to the next integer.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path

import numpy as np

import fbg

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from helpers import tiny_bert

SHAPES = ((1, 64, 256), (5, 33, 67), (8, 96, 128), (9, 100, 30), (23, 70, 513), (64, 128, 768))
FLOAT_TOLERANCE, INT8_TOLERANCE = 1e-6, 2e-2


def integers(seed, shape, dtype):
    """Return numbers of the whole range of a type; the raw bits of PCG64 never change."""
    bits = np.random.PCG64(seed).random_raw(int(np.prod(shape)))
    return (bits >> np.uint64(33)).astype(dtype).reshape(shape)


def floats(seed, shape):
    """Return multiples of 2**-12 between -8 and 8."""
    return (integers(seed, shape, np.int16) / np.float32(4096)).astype(np.float32)


def products(m, n, k):
    """Return products of one shape, under names that say how their elements are compared."""
    a, w = integers(m, (m, k), np.uint8), integers(n, (k, n), np.int8)
    packed = fbg.PackedB(w, scale=np.float32(0.01))
    with_offsets = fbg.PackAWithRowOffset(a, scale=0.02, zero_point=131)
    bias = floats(k, (n,))
    requantized = fbg.Dequantize() >> fbg.Bias(bias) >> fbg.GELU() >> fbg.Requantize(0.3, 7)
    x, y = floats(m + k, (m, k)), floats(n + k, (k, n))
    quantized = fbg.PackAWithQuantRowOffset(x)
    return {
        "int32": fbg.gemm(fbg.PackA(a), packed),
        "int32_corrected": fbg.gemm(with_offsets, packed, fbg.CorrectZeroPoints()),
        "uint8_requantized": fbg.gemm(with_offsets, packed, requantized),
        "float32_dequantized": fbg.gemm(quantized, packed, fbg.Dequantize() >> fbg.Bias(bias)),
        "float32": fbg.gemm(fbg.PackA(x), fbg.PackedB(y, dtype="float32")),
        "float32_f16": fbg.gemm(fbg.PackA(x), fbg.PackedB(y, dtype="float16")),
    }


def convolution():
    """Return an int8 convolution and one in float32."""
    image, weights = integers(1, (2, 9, 10, 12), np.uint8), integers(2, (40, 12, 3, 3), np.int8)
    packed = fbg.PackedConv(weights, scale=np.float32(0.01), padding=1)
    x, w = floats(3, (2, 9, 10, 12)), floats(4, (40, 12, 3, 3))
    return {
        "int32_convolution": fbg.conv(image, packed),
        "float32_convolution": fbg.conv(
            x, fbg.PackedConv(w, dtype="float32", padding=1), exact=True
        ),
    }


def look_ups():
    """Return sums, means and maxima of rows of embedding tables."""
    table, indices = floats(5, (50, 37)), integers(6, (300,), np.int64) % 50
    offsets = np.array([0, 4, 4, 90])
    return {
        f"{mode}_of_{dtype}": fbg.EmbeddingBag(table, dtype, mode)(indices, offsets)
        for dtype in ("float32", "float16", "bfloat16", "float8_e4m3fn", "int8", "int4", "int2")
        for mode in ("sum", "mean", "max")
    }


def bert(directory):
    """Return the hidden states of a small BERT."""
    geometry = tiny_bert.AWKWARD
    tensors = tiny_bert.random_tensors(geometry, tiny_bert.GOLDEN_SEED, tiny_bert.GOLDEN_SPREAD)
    tiny_bert.write_checkpoint(directory, geometry, tensors)
    ids = tiny_bert.golden_inputs()["full"]
    return {
        f"{name}_bert": fbg.load(directory, dtype=dtype).forward(ids).last_hidden_state
        for name, dtype in (("float32", "float32"), ("int8model", "int8"))
    }


def results():
    found = convolution() | look_ups()
    for m, n, k in SHAPES:
        found |= {f"{name}_{m}x{n}x{k}": c for name, c in products(m, n, k).items()}
    with tempfile.TemporaryDirectory() as directory:
        return found | bert(Path(directory))


def difference(name, got, expected):
    """Return how two arrays differ by more than they may, or None."""
    if np.array_equal(got, expected):
        return None
    if not name.startswith(("float32", "int8model")):
        return f"{np.count_nonzero(got != expected)} of {got.size} elements differ"
    tolerance = INT8_TOLERANCE if name.startswith("int8model") else FLOAT_TOLERANCE
    error = np.abs(got - expected).max() / np.abs(expected).max()
    return None if error <= tolerance else f"differs by {error:.2g} of the largest value"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("action", choices=("write", "compare"))
    parser.add_argument("file", type=Path)
    options = parser.parse_args()
    got = results()
    if options.action == "write":
        np.savez(options.file, **got)
        return 0
    bad = 0
    with np.load(options.file) as expected:
        assert set(expected) == set(got)
        for name, array in got.items():
            if problem := difference(name, array, expected[name]):
                bad += 1
                print(f"{name}: {problem}")
        same = sum(np.array_equal(array, expected[name]) for name, array in got.items())
    print(f"{fbg.isa.active()}: {len(got)} results, {same} with the same bits, {bad} too different")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
