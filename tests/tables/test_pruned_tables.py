"""Pruned tables: indices are mapped to the rows that are held, and pruned rows add nothing."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fbg
from fbg.tables.rows import DTYPES, INTEGERS
from helpers.embedding_bags import F32, look_up

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


@pytest.mark.parametrize("dtype", DTYPES)
@given(data=st.data())
def test_bits_are_those_of_the_rows_that_are_left(dtype, data):
    rows, columns = data.draw(st.integers(1, 5)), data.draw(st.integers(1, 40))
    table = np.random.default_rng(data.draw(st.integers(0, 9))).standard_normal((rows, columns))
    mapping = data.draw(st.lists(st.integers(-1, rows - 1), min_size=1, max_size=9))
    ids = st.integers(0, len(mapping) - 1)
    bags = data.draw(st.lists(st.lists(ids, max_size=5), max_size=5))
    mode = data.draw(st.sampled_from(["sum", "mean", "max"]))
    padding = data.draw(st.none() | ids)
    ends = data.draw(st.booleans())
    index = data.draw(st.sampled_from([np.int32, np.int64]))
    held = fbg.EmbeddingBag(table.astype(F32), dtype)(np.arange(rows)[:, None])
    remap = np.array(mapping, data.draw(st.sampled_from([np.int32, np.int64])))
    settings = {"padding_idx": padding, "include_last_offset": ends}
    bag = fbg.EmbeddingBag(table.astype(F32), dtype, mode, remap=remap, **settings)
    left = [[mapping[i] for i in one if i != padding and mapping[i] >= 0] for one in bags]
    plain = fbg.EmbeddingBag(table.astype(F32), dtype, "sum" if mode == "mean" else mode)
    flat = np.array([i for one in left for i in one], index)
    expected = plain(flat, lengths=np.array([len(one) for one in left], np.int64))
    if mode == "mean":  # a pruned row counts, one of the padding does not
        counts = [max(1, sum(i != padding for i in one)) for one in bags]
        expected /= np.array(counts, F32)[:, None]
    indices = np.array([i for one in bags for i in one], index)
    offsets = np.cumsum([0, *map(len, bags)]).astype(index)
    y = bag(indices, offsets if ends else offsets[:-1])
    assert y.tobytes() == expected.tobytes()
    lengths = np.array([len(one) for one in bags], np.int64)
    assert fbg.EmbeddingTables([bag])([indices], lengths=[lengths]).tobytes() == y.tobytes()
    if dtype == "float32" and mode == "sum":
        assert y.tobytes() == look_up(held, left).tobytes()


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
def test_what_is_refused(message):
    with pytest.raises((TypeError, ValueError), match=message):
        REFUSED[message]()


def test_out_is_unchanged_after_an_error():
    out = np.full((2, 4), 7, F32)
    with pytest.raises(ValueError, match="indices must be within"):
        BAG(np.array([0, 5]), BEGINS, out=out)
    assert (out == 7).all()
    assert BAG(IDS, BEGINS, out=out) is out
    assert out.tolist() == [TABLE[2].tolist(), (TABLE[0] / 2).tolist()]
