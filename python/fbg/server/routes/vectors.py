"""Embeddings of other kinds than one vector for a text: sparse, a vector for each token, both, and
a vector for each chunk of a document.

`/embed_sparse` is that of text-embeddings-inference; the others are in its style.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from fbg.runtime.event_loop import in_thread
from fbg.server.answers import hybrid_json, json_parts, sparse_json
from fbg.server.endpoint import Route
from fbg.server.errors import Fault, RequestError
from fbg.server.inputs import (
    MOST_CHARACTERS,
    require_dimensions,
    require_short,
    texts_or_ids,
    truncation,
)
from fbg.server.messages import ChunkEmbedding, RetrievalEmbedding, TokenEmbedding
from fbg.server.models.served import Served
from fbg.server.routes.results import Chunk, Hybrid, Vectors, Weight
from fbg.server.state import Call
from fbg.tasks.chunks import POOLINGS, found_spans

CHUNK_TOKENS = 256  # of a chunk at most, if a request does not say
MOST_IN_CHUNKS = 1 << 22  # characters of all chunks, which may overlap
BYTES_OF_STATE = 8  # of each number of the hidden states: those of windows, then those of tokens


async def embed_sparse(call: Call, message: RetrievalEmbedding) -> Iterator[bytes]:
    """`POST /embed_sparse`: the tokens of each text with their weights (SPLADE)."""
    served = await call.choose("encode_sparse", message)
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
    served = await call.choose("encode_multi", message)
    cut, texts = truncation(message), _texts(call, message)
    call.limit_numbers()
    rows = await served.runs.encode_multi(texts, call.record, truncation=cut, kind=message.kind)
    return json_parts(rows)


async def embed_hybrid(call: Call, message: TokenEmbedding) -> Iterator[bytes]:
    """`POST /embed_hybrid`: dense, sparse and multi-vector embeddings of each text (bge-m3)."""
    served = await call.choose("encode_hybrid", message)
    cut, texts = truncation(message), _texts(call, message)
    call.limit_numbers()
    found = await served.runs.encode_hybrid(texts, call.record, truncation=cut)
    return hybrid_json(found)


async def embed_chunks(call: Call, message: ChunkEmbedding) -> list[dict[str, Any]]:
    """`POST /embed_chunks`: a vector for each chunk of a document that is read as a whole."""
    served = await call.choose(
        "encode", message, lambda each: each.facts.is_plain and _pools_chunks(each)
    )
    if not _pools_chunks(served):
        text = f"the model {served.name!r} does not pool by one of {', '.join(POOLINGS)}"
        raise RequestError(Fault.UNABLE, text, "model")
    (document,), spans = call.texts([message.inputs]), message.spans
    require_dimensions(served, message.dimensions)
    require_short([document], MOST_CHARACTERS, "inputs", "characters")
    if spans is not None and message.tokens is not None:
        raise RequestError(Fault.VALIDATION, "`tokens` is for requests without `spans`", "tokens")
    if spans is None:
        spans = await _found_spans(call, served, document, message.tokens or CHUNK_TOKENS)
    call.count(len(spans), "spans")
    if sum(end - begin for begin, end in spans) > MOST_IN_CHUNKS:
        text = f"`spans` must have at most {MOST_IN_CHUNKS} characters in total"
        raise RequestError(Fault.VALIDATION, text, "spans")
    call.limit_numbers(4 * call.state.settings.max_answer_numbers, BYTES_OF_STATE)
    rows = await served.runs.encode_chunks(
        document,
        spans,
        call.record,
        normalize_embeddings=message.normalize,
        prompt_name=message.prompt_name,
        truncate_dim=message.dimensions,
    )
    return [
        {"start": begin, "end": end, "embedding": row}
        for (begin, end), row in zip(spans, rows, strict=True)
    ]


def _pools_chunks(served: Served) -> bool:
    return served.facts.described["pooling"] in POOLINGS


async def _found_spans(
    call: Call, served: Served, document: str, tokens: int
) -> list[tuple[int, int]]:
    """Return chunks of at most so many tokens; raises RequestError where nothing finds them."""
    try:
        context, most = served.model.context, call.state.settings.max_client_batch_size
        return await in_thread(call.state.encoders, found_spans, context, document, tokens, most)
    except ModuleNotFoundError as error:
        raise RequestError(Fault.UNABLE, f"`spans` must be given here: {error}", "spans") from None


def _texts(call: Call, message: TokenEmbedding) -> list[str]:
    texts, sequences = texts_or_ids(message.inputs, "inputs")
    if sequences or message.prompt_name is not None:
        raise RequestError(Fault.VALIDATION, "`inputs` must be texts, without a prompt")
    return call.texts(texts)


ROUTES = [
    Route("/embed_sparse", embed_sparse, RetrievalEmbedding, "embed_sparse", list[list[Weight]]),
    Route("/embed_multi", embed_multi, RetrievalEmbedding, "embed_multi", list[Vectors]),
    Route("/embed_chunks", embed_chunks, ChunkEmbedding, "embed_chunks", list[Chunk]),
    Route("/embed_hybrid", embed_hybrid, TokenEmbedding, "embed_hybrid", list[Hybrid]),
]
