"""Look-ups give the bits of their definition: every dtype, mode and instruction set."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fbg
from fbg.quantization import RowwiseMatrix, quantize_rowwise
from fbg.tables.rows import DTYPES, INTEGERS
from helpers.embedding_bags import (
    BITS,
    F32,
    FLOAT8,
    look_up,
    quantized,
    quantized_to_float8,
    values_of,
)

GOLDEN = Path(__file__).parents[1] / "data" / "embedding_rows.npz"
MODES = ("sum", "mean", "max")


def made_table(seed, rows, columns):
    random = np.random.default_rng(seed)
    return (random.standard_normal((rows, columns)) * random.choice([1e-3, 1, 30])).astype(F32)


def as_held(table, dtype):
    """What a table of that dtype holds: floats, or values with their scales and biases."""
    if dtype == FLOAT8:
        return values_of(quantized_to_float8(table, F32), table.shape[1], dtype)
    if dtype in INTEGERS:
        fused = quantized(table, dtype, F32 if dtype == "int8" else np.float16)
        return values_of(fused, table.shape[1], dtype)
    if dtype == "bfloat16":
        import ml_dtypes

        return table.astype(ml_dtypes.bfloat16).astype(F32)
    return table.astype(dtype).astype(F32)


def bits(array):
    return np.ascontiguousarray(array).tobytes()


def flat(bags, dtype):
    return np.array([one for bag in bags for one in bag], dtype)


def offsets_of(bags, dtype, last=False):
    begins = np.cumsum([0, *map(len, bags)]).astype(dtype)
    return begins if last else begins[:-1]


@pytest.mark.parametrize("dtype", DTYPES)
@given(data=st.data())
def test_bits_are_those_of_the_definition(dtype, data):
    rows = data.draw(st.integers(1, 9))
    columns = data.draw(st.integers(1, 300))
    table = made_table(data.draw(st.integers(0, 99)), rows, columns)
    bags = data.draw(st.lists(st.lists(st.integers(0, rows - 1), max_size=9), max_size=6))
    mode = data.draw(st.sampled_from(MODES))
    weighted = mode != "max" and data.draw(st.booleans())
    padding = data.draw(st.none() | st.integers(0, rows - 1))
    last = data.draw(st.booleans())
    index = data.draw(st.sampled_from([np.int32, np.int64]))
    weights = None
    if weighted:
        weight = st.floats(-4, 4, width=32)
        weights = [data.draw(st.lists(weight, min_size=len(b), max_size=len(b))) for b in bags]
    bag = fbg.EmbeddingBag(
        table,
        dtype,
        mode,
        padding_idx=padding,
        include_last_offset=last,
        prefetch=data.draw(st.integers(0, 20)),
    )
    offsets = offsets_of(bags, data.draw(st.sampled_from([np.int32, np.int64])), last)
    factors = None if weights is None else flat(weights, F32)
    threads = data.draw(st.integers(1, 2))
    lengths = np.array([len(b) for b in bags], data.draw(st.sampled_from([np.int32, np.int64])))
    expected = look_up(as_held(table, dtype), bags, mode, weights, padding)
    for name in fbg.isa.supported():
        with fbg.isa.limit(name):
            result = bag(flat(bags, index), offsets, factors, num_threads=threads)
            by_lengths = bag(flat(bags, index), None, factors, lengths=lengths)
        assert bits(result) == bits(by_lengths) == bits(expected), name


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


@pytest.mark.parametrize("scale_dtype", [F32, np.float16])
@pytest.mark.parametrize("number", [2, 4, 8])
def test_a_rowwise_matrix_is_a_table(isa, number, scale_dtype):
    matrix = quantize_rowwise(made_table(4, 7, 37), number, scale_dtype)
    bag = fbg.EmbeddingBag(matrix)
    assert (bag.dtype, bag.shape) == (f"int{number}", (7, 37))
    bags = [[0, 6, 3], [2], []]
    expected = look_up(values_of(matrix.fused(), 37, bag.dtype), bags)
    assert bits(bag(flat(bags, np.int64), offsets_of(bags, np.int64))) == bits(expected)


def test_a_matrix_of_indices_is_a_bag_a_row():
    table = made_table(5, 50, 20)
    bag = fbg.EmbeddingBag(table, mode="mean")
    indices = np.random.default_rng(0).integers(0, 50, (700, 3)).astype(np.int32)
    assert bits(bag(indices)) == bits(look_up(table, indices.tolist(), "mean"))
    assert bag(np.zeros((4, 0), np.int64)).tolist() == [[0.0] * 20] * 4
    assert bag(np.zeros((0, 4), np.int64)).shape == (0, 20)


def test_out_may_be_a_part_of_another_array():
    table = made_table(6, 9, 5)
    whole = np.full((3, 12), 7, F32)
    bag = fbg.EmbeddingBag(table)
    indices = np.array([[0, 1], [2, 3], [4, 5]])
    assert bag(indices, out=whole[:, 2:7]).base is whole
    assert bits(whole[:, 2:7]) == bits(bag(indices))
    assert (np.delete(whole, range(2, 7), axis=1) == 7).all()


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
