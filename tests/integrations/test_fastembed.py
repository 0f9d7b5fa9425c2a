"""TextEmbedding: generators of embeddings, as those of fastembed."""

import numpy as np

from fbg.integrations.fastembed import TextEmbedding

TEXTS = ["a quick brown fox", "the lazy dog", "zebra 42"]


def test_streams_have_the_bits_of_encode(directory, model):
    embedding = TextEmbedding(str(directory), dtype="int8")
    assert embedding.embedding_size == model.embedding_dimension
    for got, prompt in (
        (embedding.embed(text for text in TEXTS), ""),
        (embedding.query_embed(TEXTS), "find: "),
        (embedding.passage_embed(TEXTS), "text: "),
    ):
        assert iter(got) is got
        assert np.array_equal(np.stack([*got]), model.encode(TEXTS, prompt=prompt))
    (one,) = embedding.query_embed("the dog")
    assert np.array_equal(one, model.encode("find: the dog"))


def test_documents_are_read_as_they_are_needed(directory):
    read = []

    def documents():
        for n in range(10**9):
            read.append(n)
            yield f"the dog {n}"

    stream = TextEmbedding(str(directory)).embed(documents())
    next(stream)
    assert len(read) <= 2049
