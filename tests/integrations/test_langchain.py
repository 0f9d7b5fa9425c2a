"""LangChain's own in-memory store and documents, with our embeddings and reranker.

The library is imported in the tests: it takes a while, and every process collects all tests.
"""

import asyncio

import numpy as np
import pytest

from helpers.tiny_tasks import DOCUMENTS, QUERY

TEXTS = ["a quick brown fox", "the lazy dog", "zebra 42", "who is it"]


def test_a_store_finds_the_documents_that_were_put_in(model):
    from langchain_core.vectorstores import InMemoryVectorStore

    from fbg.integrations.langchain import FbgEmbeddings

    store = InMemoryVectorStore(FbgEmbeddings(model, normalize_embeddings=True))
    store.add_texts(TEXTS)
    rows = model.encode(TEXTS, prompt_name="document", normalize_embeddings=True)
    query = model.encode("a fox", prompt_name="query", normalize_embeddings=True)
    wanted = [TEXTS[n] for n in np.argsort(-(rows @ query))]
    assert [d.page_content for d in store.similarity_search("a fox", k=4)] == wanted
    found = asyncio.run(store.asimilarity_search("a fox", k=4))
    assert [d.page_content for d in found] == wanted


def test_embeddings_have_the_bits_of_encode(model):
    from fbg.integrations.langchain import FbgEmbeddings

    embeddings = FbgEmbeddings(model)
    got = np.array(embeddings.embed_documents(TEXTS), np.float32)
    assert np.array_equal(got, model.encode(TEXTS, prompt_name="document"))
    query = np.array(embeddings.embed_query("a fox"), np.float32)
    assert np.array_equal(query, model.encode("a fox", prompt_name="query"))
    assert embeddings.embed_documents([]) == []


def test_the_reranker_orders_documents_and_keeps_what_they_hold(cross_encoder):
    from langchain_core.documents import Document

    from fbg.integrations.langchain import FbgReranker

    documents = [Document(page_content=t, metadata={"n": n}) for n, t in enumerate(DOCUMENTS)]
    kept = FbgReranker(model=cross_encoder, top_n=2).compress_documents(documents, QUERY)
    wanted = cross_encoder.rerank(QUERY, DOCUMENTS, top_k=2)
    assert [d.metadata["n"] for d in kept] == [r["corpus_id"] for r in wanted]
    assert [d.metadata["relevance_score"] for d in kept] == [r["score"] for r in wanted]
    assert all("relevance_score" not in d.metadata for d in documents)
    every = FbgReranker(model=cross_encoder)
    assert len(asyncio.run(every.acompress_documents(documents, QUERY))) == len(DOCUMENTS)


def test_something_that_is_no_model_is_refused(model):
    from fbg.integrations.langchain import FbgEmbeddings, FbgReranker

    with pytest.raises(TypeError, match=r"FbgEmbeddings: model must be an fbg\.Model"):
        FbgEmbeddings("path")
    with pytest.raises(TypeError, match=r"FbgReranker: model must be an fbg\.Model"):
        FbgReranker(model="path")
