"""Chroma's in-memory client, with our embedding function."""

import chromadb
import numpy as np

from fbg.integrations.chroma import FbgEmbeddingFunction

TEXTS = ["a quick brown fox", "the lazy dog", "zebra 42", "who is it"]


def test_a_collection_finds_the_documents_that_were_put_in(directory, model):
    client = chromadb.EphemeralClient()  # which shares its collections with all of the process
    function = FbgEmbeddingFunction(str(directory), "int8")
    space = {"hnsw": {"space": "cosine"}}
    collection = client.create_collection("found", embedding_function=function, configuration=space)
    collection.add(ids=[str(n) for n in range(4)], documents=TEXTS)
    rows = model.encode(TEXTS, prompt_name="document", normalize_embeddings=True)
    query = model.encode("a fox", prompt_name="query", normalize_embeddings=True)
    wanted = [TEXTS[n] for n in np.argsort(-(rows @ query))]
    assert collection.query(query_texts=["a fox"], n_results=4)["documents"] == [wanted]
    # What the collection stores is enough to query it elsewhere.
    again = client.get_collection("found")
    assert again.query(query_texts=["a fox"], n_results=4)["documents"] == [wanted]


def test_a_function_can_be_built_from_its_config(directory, model):
    function = FbgEmbeddingFunction(str(directory), "int8")
    again = FbgEmbeddingFunction.build_from_config(function.get_config())
    assert np.array_equal(np.stack(again(TEXTS)), model.encode(TEXTS, prompt_name="document"))
