"""The neighbours of a token are those of its own sequence, at the places that follow each other."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fbg import _fbg


def unfolded(x, positions, offsets, width):
    """By its definition, (tokens, columns, width)."""
    result = np.zeros((*x.shape, width), np.float32)
    for first, last in pairwise(offsets):
        for token in range(first, last):
            for other in range(first, last):
                place = positions[other] - positions[token] + width // 2
                if 0 <= place < width:
                    result[token, :, place] = x[other]
    return result.reshape(len(x), -1)


@given(
    lengths=st.lists(st.integers(1, 6), min_size=1, max_size=4),
    columns=st.integers(1, 20),
    width=st.sampled_from([1, 3, 5, 9]),
    seed=st.integers(0, 99),
)
@settings(deadline=None, max_examples=60)
def test_rows_are_those_of_the_tokens_around(lengths, columns, width, seed):
    rng = np.random.default_rng(seed)
    offsets = [0, *np.cumsum(lengths).tolist()]
    tokens = offsets[-1]
    # Masked tokens leave holes, and sequences begin anywhere.
    parts = [np.sort(rng.choice(2 * n + 2, n, replace=False)) for n in lengths]
    positions = np.concatenate(parts).astype(np.int32)
    x = rng.standard_normal((tokens, columns)).astype(np.float32)
    graph = _fbg.Graph()
    graph.output(graph.append("unfold", graph.append("input", columns), width))
    for threads in (1, 2):
        plan = _fbg.Plan(graph, tokens=tokens, sequences=4, length=tokens, threads=threads)
        out = np.full((tokens, columns * width), np.nan, np.float32)
        starts = np.array(offsets, np.int32)
        plan.run(None, None, None, positions, starts, [out], threads, inputs=[x])
        np.testing.assert_array_equal(out, unfolded(x, positions, offsets, width))


@pytest.mark.parametrize("width", [-1, 0, 2, 2**40 + 1])
def test_a_wrong_width_is_named(width):
    graph = _fbg.Graph()
    with pytest.raises(ValueError, match="unfold: width must be an odd number of tokens, got"):
        graph.append("unfold", graph.append("input", 4), width)
    with pytest.raises(ValueError, match="unfold: x must have one row per token"):
        graph.append("unfold", graph.append("pool", graph.append("input", 4), "mean"), 3)
