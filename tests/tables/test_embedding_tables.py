"""Several tables in one call: the bits of the calls one by one, and what is refused."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import fbg

F32 = np.float32
RANDOM = np.random.default_rng(0)
ROWS, BAGS = (50, 1, 4000), 120


def make_bags():
    tables = [
        RANDOM.standard_normal((r, c)).astype(F32) for r, c in zip(ROWS, (5, 16, 72), strict=True)
    ]
    return [
        fbg.EmbeddingBag(tables[0], "int4", "mean", padding_idx=3),
        fbg.EmbeddingBag(tables[1], mode="max", include_last_offset=True),
        fbg.EmbeddingBag(tables[2], "int8"),
    ]


def make_arguments():
    indices = [
        RANDOM.integers(0, ROWS[0], (BAGS, 4)),
        np.zeros(300, np.int32),
        RANDOM.integers(0, ROWS[2], 5000),
    ]
    ends = np.concatenate([[0], np.sort(RANDOM.integers(0, 300, BAGS))]).astype(np.int32)
    begins = np.sort(RANDOM.integers(0, 5000, BAGS))
    begins[0] = 0
    return indices, [None, ends, begins], [None, None, RANDOM.standard_normal(5000).astype(F32)]


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_bits_are_those_of_the_tables_one_by_one(isa, threads):
    bags, arguments = make_bags(), make_arguments()
    one_by_one = [bag(*a, num_threads=1) for bag, *a in zip(bags, *arguments, strict=True)]
    expected = np.concatenate(one_by_one, axis=1).tobytes()
    tables = fbg.EmbeddingTables(bags)
    assert tables(*arguments, num_threads=threads).tobytes() == expected
    whole = np.zeros((BAGS, tables.columns + 3), F32)
    assert np.array_equal(tables(*arguments, out=whole[:, 2:-1]), whole[:, 2:-1])
    assert whole[:, 2:-1].tobytes() == expected
    assert not whole[:, :2].any() and not whole[:, -1].any()
    indices, offsets, weights = arguments
    lengths = [None, None, np.diff(offsets[2], append=5000)]
    by_lengths = tables(indices, [*offsets[:2], None], weights, lengths=lengths)
    assert by_lengths.tobytes() == expected
    loaded = pickle.loads(pickle.dumps(tables))
    assert loaded(*arguments).tobytes() == expected
    assert repr(loaded) == repr(tables)


def test_what_is_refused():
    bags, (indices, offsets, weights) = make_bags(), make_arguments()
    tables = fbg.EmbeddingTables(bags)
    wrong = indices[2].copy()
    wrong[4321] = 4000
    out = np.full((BAGS, tables.columns), 7, F32)
    for message, arguments in {
        "indices must be a sequence of 3, got 2": (indices[:2],),
        "indices must be a sequence of 3, got ndarray": (indices[0],),
        "offsets must be a sequence of 3, got 1": (indices, [None]),
        r"1-D indices\[1\] need offsets": (indices,),
        r"offsets\[2\] must begin with 0, got 1": (indices, [*offsets[:2], offsets[2] + 1]),
        r"indices\[2\] must be within \[0, 4000\), got 4000 at 4321": (
            [*indices[:2], wrong],
            offsets,
        ),
        r"per_sample_weights\[1\] go with the modes sum and mean": (
            indices,
            offsets,
            [None, weights[2], None],
        ),
        "tables must have equally many bags, got .*119, 120": (
            [indices[0][1:], *indices[1:]],
            offsets,
        ),
    }.items():
        with pytest.raises(ValueError, match=f"^EmbeddingTables: {message}"):
            tables(*arguments, out=out)
    assert (out == 7).all()
    with pytest.raises(ValueError, match=r"out must have shape \(120, 93\)"):
        tables(indices, offsets, out=out[:, 1:])
    with pytest.raises(TypeError, match="bags must be EmbeddingBag, got ndarray"):
        fbg.EmbeddingTables([indices[0]])
    with pytest.raises(ValueError, match="bags must have at least one table, got none"):
        fbg.EmbeddingTables([])
