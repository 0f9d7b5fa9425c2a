"""Results in 16-bit floats: those in float32, rounded once."""

from __future__ import annotations

import pickle

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fbg
from fbg.tables.rows import DTYPES
from helpers.embedding_bags import F32, look_up

OUTPUTS = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16}


def rounded(array, name):
    with np.errstate(over="ignore"):
        return array.astype(OUTPUTS[name]).tobytes()


@pytest.mark.parametrize("name", OUTPUTS)
@given(data=st.data())
def test_results_are_those_in_float32_rounded_once(name, data):
    rows, columns = data.draw(st.integers(1, 20)), data.draw(st.integers(1, 300))
    dtype, mode = (
        data.draw(st.sampled_from(DTYPES)),
        data.draw(st.sampled_from(["sum", "mean", "max"])),
    )
    random = np.random.default_rng(data.draw(st.integers(0, 99)))
    table = random.standard_normal((rows, columns)).astype(F32)
    lengths = random.integers(0, 4, data.draw(st.integers(1, 9)))
    indices = random.integers(0, rows, lengths.sum()).astype(data.draw(st.sampled_from("il")))
    weights = random.standard_normal(len(indices)).astype(F32) if mode != "max" else None
    whole = np.full((len(lengths), columns + 7), 7, OUTPUTS[name])
    for isa in fbg.isa.supported():
        with fbg.isa.limit(isa):
            wide = fbg.EmbeddingBag(table, dtype, mode)
            bag = fbg.EmbeddingBag(table, dtype, mode, out_dtype=name)
            for factors in (None, weights):
                expected = rounded(wide(indices, None, factors, lengths=lengths), name)
                for threads in (1, 2):
                    result = bag(indices, None, factors, num_threads=threads, lengths=lengths)
                    assert result.dtype == OUTPUTS[name]
                    assert result.tobytes() == expected, isa
                out = whole[:, 3 : 3 + columns]
                assert bag(indices, None, factors, out, lengths=lengths) is out
                assert out.tobytes() == expected, isa
            assert (whole[:, :3] == 7).all() and (whole[:, 3 + columns :] == 7).all()


@pytest.mark.parametrize("columns", [1, 3, 8, 15, 16, 40])
@pytest.mark.parametrize("name", OUTPUTS)
def test_every_kind_of_float_is_rounded_half_to_even(isa, name, columns):
    # All upper halves of float32, with what lies below, at and above the half of both dtypes.
    low = [0, 1, 0x0FFF, 0x1000, 0x1001, 0x3000, 0x7FFF, 0x8000, 0x8001, 0xFFFF]
    upper = np.arange(0, 1 << 16, 7 if columns > 3 else 101, dtype=np.uint32) << 16
    patterns = (upper[:, None] | np.array(low, np.uint32)).reshape(-1)
    values = np.resize(patterns, (len(patterns) // columns + 1, columns)).view(F32)
    bag = fbg.EmbeddingBag(values, mode="sum", out_dtype=name)
    # A row that is the first of its bag is added to 0, which only makes -0 a 0.
    result = bag(np.arange(len(values))[:, None])
    with np.errstate(over="ignore", invalid="ignore"):
        expected = (values + F32(0)).astype(OUTPUTS[name])
    nan = np.isnan(expected.astype(F32))
    assert np.array_equal(np.isnan(result.astype(F32)), nan)
    assert result[~nan].tobytes() == expected[~nan].tobytes()


@pytest.mark.parametrize("name", OUTPUTS)
def test_several_tables_share_a_dtype(isa, name):
    random = np.random.default_rng(0)
    tables = [random.standard_normal((9, c)).astype(F32) for c in (5, 16, 33)]
    dtypes = ["int8", "float8_e4m3fn", None]
    bags = [fbg.EmbeddingBag(t, d, out_dtype=name) for t, d in zip(tables, dtypes, strict=True)]
    several = pickle.loads(pickle.dumps(fbg.EmbeddingTables(bags)))
    assert several.out_dtype == several.bags[0].out_dtype == name
    assert (
        repr(several.bags[2])
        == f"EmbeddingBag(9, 33, dtype='float32', mode='sum', out_dtype={name!r})"
    )
    indices = [random.integers(0, 9, (20, 4)) for _ in tables]
    expected = np.concatenate([bag(i) for bag, i in zip(bags, indices, strict=True)], axis=1)
    for threads in (1, 2):
        result = several(indices, num_threads=threads)
        assert result.dtype == OUTPUTS[name]
        assert result.tobytes() == expected.tobytes()
    out = np.zeros((20, 60), OUTPUTS[name])
    several(indices, out=out[:, 1:55])
    assert out[:, 1:55].tobytes() == expected.tobytes()
    assert not out[:, 0].any() and not out[:, 55:].any()
    third = rounded(look_up(tables[2], indices[2].tolist()), name)
    assert np.ascontiguousarray(result[:, 21:]).tobytes() == third


@pytest.mark.parametrize("name", OUTPUTS)
def test_means_of_pruned_tables_are_rounded_once(isa, name):
    random = np.random.default_rng(1)
    table = random.standard_normal((40, 50)).astype(F32)
    mapping = np.where(random.random(90) < 0.5, random.integers(0, 40, 90), -1)
    indices = random.integers(0, 90, (300, 7))
    options = {"mode": "mean", "remap": mapping}
    wide = fbg.EmbeddingBag(table, **options)(indices)
    bag = fbg.EmbeddingBag(table, out_dtype=name, **options)
    out = np.zeros((300, 60), OUTPUTS[name])
    bag(indices, out=out[:, 5:55])
    assert out[:, 5:55].tobytes() == bag(indices).tobytes() == rounded(wide, name)
    assert not out[:, :5].any() and not out[:, 55:].any()
    several = fbg.EmbeddingTables([bag, bag])([indices, indices])
    assert several[:, 50:].tobytes() == several[:, :50].tobytes() == rounded(wide, name)


@pytest.mark.parametrize("dtype", ["float32", "float8_e4m3fn"])
def test_a_file_keeps_the_dtype_of_results(tmp_path, dtype):
    bag = fbg.EmbeddingBag(np.ones((3, 4), F32), dtype, out_dtype="bfloat16")
    bag.save(tmp_path / "t.safetensors")
    assert repr(fbg.EmbeddingBag.load(tmp_path / "t.safetensors")) == repr(bag)


def test_what_is_refused():
    table = np.ones((3, 4), F32)
    for wrong in ("int8", np.float64):
        with pytest.raises(TypeError, match="out_dtype must be float32, float16 or bfloat16"):
            fbg.EmbeddingBag(table, out_dtype=wrong)
    bag = fbg.EmbeddingBag(table, out_dtype="float16")
    with pytest.raises(TypeError, match="out must be float16, got float32"):
        bag(np.array([[0]]), out=np.ones((1, 4), F32))
    with pytest.raises(TypeError, match="out must be float32, got float16"):
        fbg.EmbeddingBag(table)(np.array([[0]]), out=np.ones((1, 4), np.float16))
    with pytest.raises(
        ValueError, match=r"bags must have one out_dtype, got \['float16', 'float32'\]"
    ):
        fbg.EmbeddingTables([bag, fbg.EmbeddingBag(table)])
    rows = fbg.EmbeddingBag(table, "int8").fused()
    assert fbg.EmbeddingBag.from_fused(rows, 4, out_dtype="bfloat16").out_dtype == "bfloat16"
