"""Which bits do not depend on the instruction set, as docs/reliability.md lists them."""

import numpy as np
import pytest

import fbg
from helpers import tiny_bert

RNG = np.random.default_rng(7)
X = RNG.standard_normal((33, 300), np.float32)
W = RNG.standard_normal((300, 130), np.float32)
BIAS = RNG.standard_normal(130, np.float32)
DTYPES = ("int8", "int4", "float32", "float16", "bfloat16")


def on_every_isa(compute):
    results = set()
    for isa in fbg.isa.supported():
        with fbg.isa.limit(isa):
            results.add(compute())
    return results


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("rows", [1, 5, 33])
def test_products_of_floats_have_the_same_bits(dtype, rows):
    w = fbg.PackedB(W, dtype=dtype)
    results = on_every_isa(lambda: fbg.linear(X[:rows], w, BIAS, activation="gelu").tobytes())
    assert len(results) == 1


@pytest.mark.parametrize("dtype", DTYPES)
def test_weights_are_packed_to_the_same_bytes(dtype, tmp_path):
    def pack():
        fbg.PackedB(W, dtype=dtype).save(tmp_path / fbg.isa.active())
        return (tmp_path / fbg.isa.active()).read_bytes()

    assert len(on_every_isa(pack)) == 1


@pytest.mark.parametrize("dtype", ["int8", "int4"])
def test_models_without_factors_are_saved_as_the_same_bytes(dtype, tmp_path):
    checkpoint = tiny_bert.write_checkpoint(tmp_path / "checkpoint")

    def save():
        directory = tmp_path / fbg.isa.active()
        fbg.load(checkpoint, dtype=dtype, smooth=False).save(directory)
        return (directory / "fbg.safetensors").read_bytes()

    assert len(on_every_isa(save)) == 1
