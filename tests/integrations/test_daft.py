"""Daft: an Embedder as a function of a column, in this process and in one of its own."""

from pathlib import Path

import daft
import numpy as np
import pytest
from daft import DataType, Series, col

import fbg
from fbg.integrations import Embedder

TEXTS = ["a fox", "the lazy dog", "x"] * 5


@pytest.mark.parametrize("own_process", [False, True])
def test_a_column_of_embeddings_has_the_bits_of_encode(
    own_process: bool, directory: Path, model: fbg.Model
) -> None:
    wanted = model.encode(TEXTS)
    vectors = DataType.embedding(DataType.float32(), wanted.shape[1])

    @daft.cls(use_process=own_process)
    class Embed:
        def __init__(self, path: str) -> None:
            self.embedder = Embedder(path, "int8")

        @daft.method.batch(return_dtype=vectors)
        def __call__(self, texts: Series) -> object:
            return self.embedder(texts.to_arrow())

    frame = daft.from_pydict({"n": list(range(len(TEXTS))), "text": TEXTS})
    found = frame.with_column("embedding", Embed(str(directory))(col("text")))
    assert found.schema()["embedding"].dtype == vectors
    rows = found.sort("n").to_pydict()["embedding"]
    assert np.array_equal(np.array(rows, np.float32), wanted)


def test_an_embedder_is_a_function_of_batches(directory: Path, model: fbg.Model) -> None:
    width = model.embedding_dimension
    embed = daft.func.batch(return_dtype=DataType.embedding(DataType.float32(), width))(
        Embedder(directory, "int8").__call__
    )
    frame = daft.from_pydict({"text": TEXTS}).with_column("embedding", embed(col("text")))
    rows = frame.to_pydict()["embedding"]
    assert np.array_equal(np.array(rows, np.float32), model.encode(TEXTS))
