"""LanceDB's own tables, in a temporary directory, with our embeddings."""

import lancedb
import numpy as np
import pytest
from lancedb.pydantic import LanceModel

from fbg.integrations.lancedb import FbgEmbeddings

TEXTS = ["a quick brown fox", "the lazy dog", "zebra 42", "who is it"]

# LanceDB calls functions of its dependencies that are deprecated.
pytestmark = pytest.mark.filterwarnings("ignore")


def test_a_table_finds_the_texts_that_were_put_in(directory, model, tmp_path):
    function = FbgEmbeddings.create(path=str(directory), dtype="int8")

    class Row(LanceModel):
        text = function.SourceField()
        vector = function.VectorField()

    table = lancedb.connect(tmp_path).create_table("texts", schema=Row)
    table.add([{"text": text} for text in TEXTS])
    rows = model.encode(TEXTS, prompt_name="document")
    stored = table.to_arrow()
    got = np.stack([np.array(vector, np.float32) for vector in stored["vector"].to_pylist()])
    assert stored["text"].to_pylist() == TEXTS and np.array_equal(got, rows)
    query = model.encode("a fox", prompt_name="query")
    wanted = [TEXTS[n] for n in np.argsort(((rows - query) ** 2).sum(1))]
    # A table that is opened again has its function, with its arguments, from its metadata.
    again = lancedb.connect(tmp_path).open_table("texts")
    assert [row["text"] for row in again.search("a fox").limit(4).to_list()] == wanted
