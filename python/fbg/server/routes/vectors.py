"""Embeddings of other kinds than one vector for a text: sparse, a vector for each token, and both.

`/embed_sparse` is that of text-embeddings-inference; the other two are in its style.
"""

from __future__ import annotations

from collections.abc import Iterator

from fbg.server.answers import hybrid_json, json_parts, sparse_json
from fbg.server.endpoint import Route
from fbg.server.errors import Fault, RequestError
from fbg.server.inputs import texts_or_ids, truncation
from fbg.server.messages import RetrievalEmbedding, TokenEmbedding
from fbg.server.routes.results import Hybrid, Vectors, Weight
from fbg.server.state import Call


async def embed_sparse(call: Call, message: RetrievalEmbedding) -> Iterator[bytes]:
    """`POST /embed_sparse`: the tokens of each text with their weights (SPLADE)."""
    served = call.state.models.choose("encode_sparse", message)
    cut, texts = truncation(message), _texts(call, message)
    found = await served.runs.encode_sparse(
        texts,
        call.record,
        truncation=cut,
        kind=message.kind,
        max_numbers=call.state.settings.max_answer_numbers,
    )
    return sparse_json(found)


async def embed_multi(call: Call, message: RetrievalEmbedding) -> Iterator[bytes]:
    """`POST /embed_multi`: the vectors of the tokens of each text (ColBERT)."""
    served = call.state.models.choose("encode_multi", message)
    cut, texts = truncation(message), _texts(call, message)
    call.limit_numbers()
    rows = await served.runs.encode_multi(texts, call.record, truncation=cut, kind=message.kind)
    return json_parts(rows)


async def embed_hybrid(call: Call, message: TokenEmbedding) -> Iterator[bytes]:
    """`POST /embed_hybrid`: dense, sparse and multi-vector embeddings of each text (bge-m3)."""
    served = call.state.models.choose("encode_hybrid", message)
    cut, texts = truncation(message), _texts(call, message)
    call.limit_numbers()
    found = await served.runs.encode_hybrid(texts, call.record, truncation=cut)
    return hybrid_json(found)


def _texts(call: Call, message: TokenEmbedding) -> list[str]:
    texts, sequences = texts_or_ids(message.inputs, "inputs")
    if sequences or message.prompt_name is not None:
        raise RequestError(Fault.VALIDATION, "`inputs` must be texts, without a prompt")
    return call.texts(texts)


ROUTES = [
    Route("/embed_sparse", embed_sparse, RetrievalEmbedding, "embed_sparse", list[list[Weight]]),
    Route("/embed_multi", embed_multi, RetrievalEmbedding, "embed_multi", list[Vectors]),
    Route("/embed_hybrid", embed_hybrid, TokenEmbedding, "embed_hybrid", list[Hybrid]),
]
