"""Qdrant's in-memory client, which takes the arrays of `encode` as they are.

The library is imported in the tests: it takes a while, and every process collects all tests.
"""

import numpy as np
import pytest

TEXTS = ["a quick brown fox", "the lazy dog", "zebra 42", "who is it"]


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
def test_a_collection_finds_the_texts_that_were_put_in(model):
    from qdrant_client import QdrantClient
    from qdrant_client.models import Distance, PointStruct, VectorParams

    rows = model.encode(TEXTS, prompt_name="document")
    client = QdrantClient(":memory:")
    size = VectorParams(size=model.embedding_dimension, distance=Distance.COSINE)
    client.create_collection("texts", vectors_config=size)
    points = [
        PointStruct(id=n, vector=rows[n].tolist(), payload={"text": text})
        for n, text in enumerate(TEXTS)
    ]
    client.upsert("texts", points)
    query = model.encode("a fox", prompt_name="query")
    lengths = np.linalg.norm(rows, axis=1) * np.linalg.norm(query)
    wanted = [TEXTS[n] for n in np.argsort(-(rows @ query) / lengths)]
    found = client.query_points("texts", query=query.tolist(), limit=4).points
    assert [point.payload["text"] for point in found if point.payload] == wanted
    client.close()
