"""Haystack's own in-memory store and pipelines, with our components.

The library is imported in the tests: it takes a while, and every process collects all tests.
"""

import numpy as np

from helpers.tiny_tasks import DOCUMENTS, QUERY, write_model

TEXTS = ["a quick brown fox", "the lazy dog", "zebra 42", "who is it"]


def test_a_pipeline_finds_the_documents_that_were_put_in(directory, model):
    from haystack import Document, Pipeline
    from haystack.components.retrievers.in_memory import InMemoryEmbeddingRetriever
    from haystack.document_stores.in_memory import InMemoryDocumentStore

    from fbg.integrations.haystack import FbgDocumentEmbedder, FbgTextEmbedder

    store = InMemoryDocumentStore(embedding_similarity_function="cosine")
    embedder = FbgDocumentEmbedder(str(directory), "int8")
    store.write_documents(embedder.run([Document(content=t) for t in TEXTS])["documents"])
    pipeline = Pipeline()
    pipeline.add_component("embed", FbgTextEmbedder(str(directory), "int8"))
    pipeline.add_component("find", InMemoryEmbeddingRetriever(store, top_k=4))
    pipeline.connect("embed.embedding", "find.query_embedding")
    rows = model.encode(TEXTS, prompt_name="document", normalize_embeddings=True)
    query = model.encode("a fox", prompt_name="query", normalize_embeddings=True)
    wanted = [TEXTS[n] for n in np.argsort(-(rows @ query))]
    found = pipeline.run({"embed": {"text": "a fox"}})["find"]["documents"]
    assert [document.content for document in found] == wanted


def test_the_ranker_orders_documents_and_can_be_stored(cross_encoder, tmp_path):
    from haystack import Document

    from fbg.integrations.haystack import FbgRanker

    ranker = FbgRanker(str(write_model(tmp_path / "m", "pairs")))
    again = FbgRanker.from_dict(ranker.to_dict())
    documents = [Document(content=text) for text in DOCUMENTS]
    wanted = cross_encoder.rerank(QUERY, DOCUMENTS, top_k=2)
    for each in (ranker, again):
        each.warm_up()
        got = each.run(QUERY, documents, top_k=2)["documents"]
        assert [(d.content, d.score) for d in got] == [
            (DOCUMENTS[r["corpus_id"]], r["score"]) for r in wanted
        ]
