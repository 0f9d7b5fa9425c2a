"""datasets: an Embedder as the function of `Dataset.map`, whatever form the batches have.

The library is imported in the tests: it takes a while, and every process collects all tests.
"""

import numpy as np
import pytest

from fbg.integrations import Embedder

TEXTS = ["a fox", "the lazy dog", "x"] * 5


@pytest.mark.parametrize("processes", [None, 2])
@pytest.mark.parametrize("form", [None, "arrow", "numpy"])
def test_map_adds_embeddings_with_the_bits_of_encode(form, processes, directory, model):
    from datasets import Dataset

    given = Dataset.from_dict({"n": list(range(len(TEXTS))), "text": TEXTS}).with_format(form)
    options = {"batched": True, "batch_size": 4, "num_proc": processes}
    found = given.map(Embedder(directory, "int8"), **options).with_format("numpy")
    assert found.column_names == ["n", "text", "embedding"]
    assert np.array_equal(found["n"][:], np.arange(len(TEXTS)))
    assert np.array_equal(np.stack(found["embedding"][:]), model.encode(TEXTS))
