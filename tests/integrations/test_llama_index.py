"""LlamaIndex's own in-memory index, with our embeddings and reranker.

The library is imported in the tests: it takes a while, and every process collects all tests.
"""

import asyncio
import threading

import numpy as np
import pytest

from helpers.tiny_tasks import DOCUMENTS, QUERY

TEXTS = ["a quick brown fox", "the lazy dog", "zebra 42", "who is it"]


def test_an_index_finds_the_nodes_that_were_put_in(model):
    from llama_index.core import VectorStoreIndex
    from llama_index.core.schema import TextNode

    from fbg.integrations.llama_index import FbgEmbedding

    nodes = [TextNode(text=text) for text in TEXTS]
    index = VectorStoreIndex(nodes, embed_model=FbgEmbedding(model))
    rows = model.encode(TEXTS, prompt_name="document", normalize_embeddings=True)
    query = model.encode("a fox", prompt_name="query", normalize_embeddings=True)
    wanted = [TEXTS[n] for n in np.argsort(-(rows @ query))]
    retriever = index.as_retriever(similarity_top_k=4)
    assert [found.node.get_content() for found in retriever.retrieve("a fox")] == wanted
    again = asyncio.run(retriever.aretrieve("a fox"))
    assert [found.node.get_content() for found in again] == wanted


def test_texts_are_embedded_in_batches_beside_the_loop(model, monkeypatch):
    from fbg.integrations.llama_index import FbgEmbedding

    embedding = FbgEmbedding(model, embed_batch_size=8)
    texts = [f"{text} {n}" for n in range(5) for text in TEXTS]
    wanted = embedding.get_text_embedding_batch(texts)
    sizes, threads, encode = [], set(), type(model).encode

    def watched(self, given, **options):
        sizes.append(len(given))
        threads.add(threading.get_ident())
        return encode(self, given, **options)

    monkeypatch.setattr(type(model), "encode", watched)
    assert asyncio.run(embedding.aget_text_embedding_batch(texts)) == wanted
    assert sorted(sizes) == [4, 8, 8]
    assert asyncio.run(embedding.aget_text_embedding(texts[0])) == wanted[0]
    assert threading.get_ident() not in threads


def test_nodes_are_ranked_by_the_model(cross_encoder):
    from llama_index.core.schema import NodeWithScore, QueryBundle, TextNode

    from fbg.integrations.llama_index import FbgRerank

    nodes = [NodeWithScore(node=TextNode(text=text), score=0.0) for text in DOCUMENTS]
    ranker = FbgRerank(cross_encoder, top_n=3)
    ranked = ranker.postprocess_nodes(nodes, QueryBundle(QUERY))
    wanted = cross_encoder.rerank(QUERY, DOCUMENTS, top_k=3)
    assert [(n.node.get_content(), n.score) for n in ranked] == [
        (DOCUMENTS[r["corpus_id"]], r["score"]) for r in wanted
    ]
    with pytest.raises(ValueError, match="only for a query"):
        ranker.postprocess_nodes(nodes)
