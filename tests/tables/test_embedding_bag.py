"""Embedding bags beside what `differential.embedding_bags` draws, which are the bits of look-ups
of every dtype, mode, layout of arguments and results: sums of torch, rounding, memory, pruned rows.
"""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fbg
from fbg.quantization import RowwiseMatrix, quantize_rowwise
from fbg.tables.rows import INTEGERS
from helpers.embedding_bags import (
    BITS,
    F32,
    FLOAT8,
    float8_values,
    look_up,
    quantized_to_float8,
    values_of,
)

# Look-ups give the bits of their definition: every dtype, mode and instruction set.

GOLDEN = Path(__file__).parents[1] / "data" / "embedding_rows.npz"


def made_table(seed, rows, columns):
    random = np.random.default_rng(seed)
    return (random.standard_normal((rows, columns)) * random.choice([1e-3, 1, 30])).astype(F32)


def bits(array):
    return np.ascontiguousarray(array).tobytes()


@pytest.mark.parametrize("dtype", INTEGERS)
def test_rows_and_sums_are_those_of_torch(isa, dtype):
    """The arrays come from PyTorch's quantized bags: scripts/make_embedding_rows.py."""
    golden = np.load(GOLDEN)
    table, indices, offsets = golden["table"], golden["indices"], golden["offsets"]
    bag = fbg.EmbeddingBag(table, dtype)
    rows = golden[f"{dtype}_rows"]
    scale_dtype = F32 if dtype == "int8" else np.float16
    assert bits(quantize_rowwise(table, BITS[dtype], scale_dtype, "fbgemm").fused()) == bits(rows)
    every = bag(np.arange(len(table))[:, None])
    assert bits(every) == bits(golden[f"{dtype}_floats"])
    assert bits(bag._rows.data) == bits(rows)
    packed = fbg.EmbeddingBag.from_fused(rows, table.shape[1], dtype)
    for one in (bag, packed):
        assert bits(one(indices, offsets)) == bits(golden[f"{dtype}_sums"])
        weighted = one(indices, offsets, golden["weights"])
        assert bits(weighted) == bits(golden[f"{dtype}_weighted"])


@pytest.mark.parametrize("dtype", ["float32", "int8", "int4"])
def test_the_number_of_threads_changes_no_bit(dtype):
    random = np.random.default_rng(1)
    bag = fbg.EmbeddingBag(made_table(3, 5000, 72), dtype)
    indices = random.integers(0, 5000, 40000)
    offsets = np.sort(random.integers(0, 40000, 900))
    offsets[0] = 0
    one = bag(indices, offsets, num_threads=1)
    for threads in (2, 3, 8):
        assert bits(bag(indices, offsets, num_threads=threads)) == bits(one)


def test_float_tables_are_read_in_place():
    table = made_table(7, 6, 8)
    bag = fbg.EmbeddingBag(table[1:, :5])
    table[1] = 3
    assert bag(np.array([[0]])).tolist() == [[3.0] * 5]


def test_a_table_may_be_mapped_from_a_file(tmp_path):
    rows = quantize_rowwise(made_table(8, 12, 33), 4, np.float16).fused()
    np.save(tmp_path / "rows.npy", rows)
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    bag = fbg.EmbeddingBag.from_fused(mapped, 33, "int4")
    assert np.may_share_memory(bag._rows.data, mapped)
    matrix = RowwiseMatrix.from_fused(rows, 33, 4, np.float16)
    assert bits(bag(np.array([[5], [11]]))) == bits(fbg.EmbeddingBag(matrix)(np.array([[5], [11]])))


def test_kernels_are_listed_by_what_they_are_generated_for(isa):
    fbg.EmbeddingBag(made_table(9, 3, 43), "int4", "mean")(np.array([[0, 1]], np.int32))
    name = f"lookup_{isa}_u4_half_mean_43_int32_ahead16"
    generated = isa in ("avx2", "avx512", "neon")
    assert (name in {kernel.name for kernel in fbg.kernels()}) == generated


@pytest.mark.parametrize(
    "copied", [copy.copy, copy.deepcopy, lambda b: pickle.loads(pickle.dumps(b))]
)
def test_copies_and_pickles_give_the_same_bits(copied):
    bag = fbg.EmbeddingBag(made_table(9, 8, 11), "int8", "mean", padding_idx=-1)
    other = copied(bag)
    indices = np.array([[0, 7, 3]])
    assert bits(other(indices)) == bits(bag(indices))
    assert repr(other) == repr(bag) == "EmbeddingBag(8, 11, dtype='int8', mode='mean')"
    assert (other.padding_idx, other.include_last_offset, other.nbytes) == (7, False, 8 * 19)


def test_large_results_begin_with_a_line_of_the_cache():
    bag = fbg.EmbeddingBag(made_table(9, 3, 64))
    for bags in (1000, 1001):
        y = bag(np.zeros((bags, 1), np.int64))
        assert y.ctypes.data % 64 == 0 and y.flags.c_contiguous


# Results in 16-bit floats: those in float32, rounded once.

OUTPUTS = {"float16": np.float16, "bfloat16": ml_dtypes.bfloat16}


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


@pytest.mark.parametrize("dtype", ["float32", "float8_e4m3fn"])
def test_a_file_keeps_the_dtype_of_results(tmp_path, dtype):
    bag = fbg.EmbeddingBag(np.ones((3, 4), F32), dtype, out_dtype="bfloat16")
    bag.save(tmp_path / "t.safetensors")
    assert repr(fbg.EmbeddingBag.load(tmp_path / "t.safetensors")) == repr(bag)
    assert fbg.EmbeddingTables([bag]).out_dtype == bag.out_dtype == "bfloat16"
    assert repr(bag).endswith("mode='sum', out_dtype='bfloat16')")


def test_wrong_dtypes_of_results_are_refused():
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


# Pruned tables: indices are mapped to the rows that are held, and pruned rows add nothing.

DATA = Path(__file__).parents[1] / "data"
TABLE = np.arange(12, dtype=F32).reshape(3, 4)
MAPPING = np.array([2, -1, 0, 1, -1])
BAG = fbg.EmbeddingBag(TABLE, mode="mean", remap=MAPPING)
IDS = np.array([0, 1, 2])
BEGINS = np.array([0, 1])


@pytest.mark.parametrize("dtype", INTEGERS)
def test_sums_are_those_of_torch(isa, dtype):
    """The arrays come from PyTorch's quantized bags: scripts/make_embedding_rows.py."""
    golden, pruned = (
        np.load(DATA / "embedding_rows.npz"),
        np.load(DATA / "pruned_embedding_rows.npz"),
    )
    table = golden[f"{dtype}_rows"], golden["table"].shape[1], dtype
    for mapping in (pruned["mapping"], pruned["mapping"].astype(np.int64)):
        bag = fbg.EmbeddingBag.from_fused(*table, remap=mapping)
        sums = bag(golden["indices"], golden["offsets"])
        assert sums.tobytes() == pruned[f"{dtype}_sums"].tobytes()
        weighted = bag(golden["indices"], golden["offsets"], golden["weights"])
        assert weighted.tobytes() == pruned[f"{dtype}_weighted"].tobytes()


def test_a_matrix_of_indices_and_weights_are_mapped_too():
    bag = fbg.EmbeddingBag(TABLE, remap=MAPPING)
    weights = np.array([[1, 9], [2, 3]], F32)
    y = bag(np.array([[3, 4], [0, 2]], np.int32), per_sample_weights=weights)
    assert y.tolist() == [TABLE[1].tolist(), (2 * TABLE[2] + 3 * TABLE[0]).tolist()]
    assert bag(np.zeros((2, 0), np.int64)).tolist() == [[0.0] * 4] * 2
    assert bag(np.zeros((0, 2), np.int64)).shape == (0, 4)
    other = pickle.loads(pickle.dumps(BAG))
    assert other(IDS, BEGINS).tobytes() == BAG(IDS, BEGINS).tobytes()
    assert (BAG.shape, BAG.nbytes) == ((5, 4), 48)


REFUSED = {
    r"remap must be within \[-1, 3\), got 3 at \(1,\)": lambda: fbg.EmbeddingBag(
        TABLE, remap=np.array([0, 3])
    ),
    r"remap must be within \[-1, 3\), got -2 at \(0,\)": lambda: fbg.EmbeddingBag(
        TABLE, remap=np.array([-2])
    ),
    "remap must be int32 or int64, got float32": lambda: fbg.EmbeddingBag(TABLE, remap=TABLE[0]),
    r"remap must be 1-D, got shape \(1, 5\)": lambda: fbg.EmbeddingBag(TABLE, remap=MAPPING[None]),
    r"padding_idx must be within \[-5, 4\], got 5": lambda: fbg.EmbeddingBag(
        TABLE, remap=MAPPING, padding_idx=5
    ),
    r"EmbeddingBag: indices must be within \[0, 5\), got 5 at 1": lambda: BAG(
        np.array([0, 5]), BEGINS
    ),
    r"indices must be within \[0, 5\), got -1 at \(1, 0\)": lambda: BAG(np.array([[0], [-1]])),
    "offsets must begin with 0, got 1": lambda: BAG(IDS, np.array([1, 1])),
    "offsets must not fall, got 2, 1 at 1": lambda: BAG(IDS, np.array([0, 2, 1])),
    "offsets must be at most 3, the number of indices, got 9223372036854775807 at 1": lambda: BAG(
        IDS, np.array([0, 2**63 - 1])
    ),
    r"EmbeddingTables: indices\[1\] must be within \[0, 5\), got 7 at 2": lambda: (
        fbg.EmbeddingTables([BAG, BAG])([IDS, np.array([0, 1, 7])], [BEGINS, BEGINS])
    ),
}


@pytest.mark.parametrize("message", REFUSED)
def test_wrong_mappings_are_refused(message):
    with pytest.raises((TypeError, ValueError), match=message):
        REFUSED[message]()


def test_out_is_unchanged_after_an_error():
    out = np.full((2, 4), 7, F32)
    with pytest.raises(ValueError, match="indices must be within"):
        BAG(np.array([0, 5]), BEGINS, out=out)
    assert (out == 7).all()
    assert BAG(IDS, BEGINS, out=out) is out
    assert out.tolist() == [TABLE[2].tolist(), (TABLE[0] / 2).tolist()]


# Rows of 8-bit floats: all codes have their value, and floats become the nearest of them.

CODES = np.arange(256, dtype=np.uint8)
SCALES = [F32, np.float16]


def rows_of(codes, scale, scale_dtype):
    ends = np.full((len(codes), 1), scale, scale_dtype).view(np.uint8)
    return np.concatenate([codes, ends], axis=1)


@pytest.mark.parametrize("scale_dtype", SCALES)
@pytest.mark.parametrize("columns", [256, 250, 35, 6, 1])
def test_every_code_has_its_value(isa, columns, scale_dtype):
    codes = np.stack([np.roll(CODES, -s)[:columns] for s in range(0, 256, columns)])
    expected = codes.view(ml_dtypes.float8_e4m3fn).astype(F32)
    np.testing.assert_array_equal(float8_values(codes), expected)
    rows = rows_of(codes, 1, scale_dtype)
    indices = np.arange(len(rows))[:, None]
    for mode in ("sum", "mean", "max"):
        bag = fbg.EmbeddingBag.from_fused(rows, columns, FLOAT8, mode, scale_dtype=scale_dtype)
        held = np.where(np.isnan(expected), -np.inf, expected) if mode == "max" else expected
        np.testing.assert_array_equal(bag(indices), held)


@pytest.mark.parametrize("scale_dtype", SCALES)
@given(data=st.data())
def test_floats_become_the_nearest_codes(scale_dtype, data):
    rows, columns = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 80))
    random = np.random.default_rng(data.draw(st.integers(0, 1000)))
    largest = 38 if scale_dtype == F32 else 6
    x = random.standard_normal((rows, columns)) * 10.0 ** random.integers(-46, largest, (rows, 1))
    x *= 2.0 ** -random.integers(0, data.draw(st.integers(1, 25)), x.shape)
    table = (x * (random.random(x.shape) < data.draw(st.sampled_from([0.01, 0.8])))).astype(F32)
    expected = quantized_to_float8(table, scale_dtype)
    _, scale, _ = values_of(expected, columns, FLOAT8)
    steps = np.clip(table / scale[:, None], -448, 448).astype(ml_dtypes.float8_e4m3fn)
    np.testing.assert_array_equal(steps.view(np.uint8), expected[:, :columns])
    bags = [[0, rows - 1, 0], []]
    result = look_up(values_of(expected, columns, FLOAT8), bags)
    for name in fbg.isa.supported():
        with fbg.isa.limit(name):
            bag = fbg.EmbeddingBag(table, FLOAT8, scale_dtype=scale_dtype)
            np.testing.assert_array_equal(bag.fused(), expected)
            sums = bag(np.array([0, rows - 1, 0]), np.array([0, 3]))
        assert sums.tobytes() == result.tobytes(), name


def test_half_ways_go_to_even_and_a_zero_keeps_its_sign(isa):
    # With 448 among them, the scale is 1. Beyond the normal numbers, a step is 2^-9.
    given = [448, 17, 19, -17, -0.0, 0.0, 2.0**-10, 3 * 2.0**-10, 2.0**-6 - 2.0**-10, 15.5, -1e-9]
    kept = [448, 16, 20, -16, -0.0, 0.0, 0, 2.0**-8, 2.0**-6, 16, -0.0]
    bag = fbg.EmbeddingBag(np.array([given], F32), FLOAT8)
    codes = bag.fused()[:, :-4]
    assert float8_values(codes).tobytes() == np.array([kept], F32).tobytes()
    assert bag.nbytes == len(given) + 4


def test_rows_without_a_scale_have_one():
    table = np.array([[0, -0.0], [1e-45, 0]], F32)
    bag = fbg.EmbeddingBag(table, FLOAT8)
    np.testing.assert_array_equal(bag.fused(), rows_of(np.array([[0, 128], [0, 0]]), 1, F32))
    tiny = fbg.EmbeddingBag(table[1:] * 0 + F32(1e-6), FLOAT8, scale_dtype="float16")
    np.testing.assert_array_equal(tiny.fused(), rows_of(np.array([[0, 0]]), 1, np.float16))


@pytest.mark.parametrize("wrong", [np.nan, np.inf, -np.inf])
def test_a_row_with_a_number_that_is_not_finite_is_named(isa, wrong):
    table = np.ones((9, 20), F32)
    table[5, 17] = wrong
    with pytest.raises(ValueError, match=rf"table, row 5, must be finite, got {wrong} at \(17,\)"):
        fbg.EmbeddingBag(table, FLOAT8)


def test_wrong_floats_and_rows_are_refused():
    table = np.full((2, 4), 3e7, F32)
    with pytest.raises(ValueError, match=r"table must fit a float16 scale, got row 0 within \[3e"):
        fbg.EmbeddingBag(table, FLOAT8, scale_dtype="float16")
    with pytest.raises(TypeError, match="scale_dtype must be float32 or float16, got 'bfloat16'"):
        fbg.EmbeddingBag(table, FLOAT8, scale_dtype="bfloat16")
    rows = fbg.EmbeddingBag(table, FLOAT8).fused()
    with pytest.raises(ValueError, match="must have 8 bytes per row for 4 columns of float8_e4m3"):
        fbg.EmbeddingBag.from_fused(rows[:, :-1], 4, FLOAT8)
    with pytest.raises(ValueError, match="scale_dtype goes with floats that are quantized"):
        fbg.EmbeddingBag(table, "float16", scale_dtype="float16")
