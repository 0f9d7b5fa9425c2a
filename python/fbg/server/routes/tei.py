"""The routes of text-embeddings-inference: embeddings, classification, similarity, tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

import msgspec
import numpy as np

from fbg.arrays import Floats
from fbg.server.answers import json_list, json_parts
from fbg.server.bodies import MOST_IDS
from fbg.server.endpoint import Route, read_message
from fbg.server.errors import Fault, RequestError
from fbg.server.inputs import (
    MOST_CHARACTERS,
    embed,
    require_dimensions,
    require_short,
    texts_or_ids,
    token_ids,
    truncation,
)
from fbg.server.messages import (
    AnyInputs,
    Classification,
    Decoding,
    Embedding,
    Similarity,
    TokenEmbedding,
    Tokenization,
    given,
)
from fbg.server.models.served import Served
from fbg.server.replies import encode_json
from fbg.server.routes.results import Label, Token, Vectors
from fbg.server.state import Call

TOKENS_AT_A_TIME = 512


async def embed_texts(call: Call, message: Embedding) -> Floats:
    """`POST /embed`: an embedding of each text."""
    served = await call.choose("encode", message)
    require_dimensions(served, message.dimensions)
    options = {
        "truncate_dim": message.dimensions,
        "normalize_embeddings": message.normalize,
        "prompt_name": message.prompt_name,
        "truncation": truncation(message),
    }
    return await embed(call, served, message.inputs, "inputs", options)


async def embed_tokens(call: Call, message: TokenEmbedding) -> Iterator[bytes]:
    """`POST /embed_all`: an embedding for every token."""
    served = await call.choose("encode", message)
    cut = truncation(message)
    texts, sequences = texts_or_ids(message.inputs, "inputs")
    call.limit_numbers()
    if sequences:
        ids = token_ids(call, served, sequences, "inputs")
        return json_parts(await served.runs.token_states(ids, call.record))
    rows = await served.runs.token_embeddings(
        call.texts(texts), cut, call.record, message.prompt_name
    )
    return json_parts(rows)


async def predict(call: Call, message: Classification) -> list[Any]:
    """`POST /predict`: labels with scores, the best one first."""
    served = await call.choose("classify", message)
    options: dict[str, Any] = {
        "top_k": None,
        "truncation": truncation(message),
        "function_to_apply": "none" if message.raw_scores else None,
        **given(message.parameters),
    }
    one, texts = _texts_or_pairs(message.inputs)
    call.count(len(texts))
    results: list[Any] = await served.runs.classify(texts, call.record, **options)
    return results[0] if one else results  # type: ignore[no-any-return]


def _texts_or_pairs(inputs: str | list[str | list[str]]) -> tuple[bool, list[Any]]:
    """Return whether there is one input, and the inputs: texts and pairs."""
    one = isinstance(inputs, str) or bool(inputs and isinstance(inputs[0], str))
    several: list[Any] = [[inputs]] if isinstance(inputs, str) else [inputs] if one else inputs  # type: ignore[list-item]
    for texts in several:
        if len(texts) not in (1, 2) or not all(isinstance(text, str) for text in texts):
            raise RequestError(Fault.VALIDATION, "`inputs` must hold texts and pairs of texts")
        if not all(texts):
            raise RequestError(Fault.EMPTY, "`inputs` cannot be empty", "inputs")
    return one, [texts[0] if len(texts) == 1 else tuple(texts) for texts in several]


async def similarity(call: Call, message: Similarity) -> list[float]:
    """`POST /similarity`: cosines of a sentence with others."""
    served = await call.choose("encode", message)
    asked, parameters = message.inputs, message.parameters
    call.texts(asked.sentences, "sentences")
    texts = call.texts([asked.source_sentence], "source_sentence") + asked.sentences
    options: dict[str, Any] = {"normalize_embeddings": True}
    if parameters is not None:
        options["prompt_name"] = parameters.prompt_name
        options["truncation"] = truncation(parameters)
    rows = await served.runs.encode(texts, call.record, **options)
    # One row at a time: a sum does not depend on the other sentences.
    return [float(np.sum(rows[0] * row)) for row in rows[1:]]


# --- Tokens ---------------------------------------------------------------------------------------


async def tokenize(call: Call, message: Tokenization) -> Iterator[bytes]:
    """`POST /tokenize`: the tokens of each text."""
    served = await call.choose("encode", message)
    texts = call.texts([message.inputs] if isinstance(message.inputs, str) else message.inputs)
    require_short(texts, MOST_CHARACTERS, "inputs", "characters")
    prompts = served.model.prompts
    if message.prompt_name is not None and message.prompt_name not in prompts:
        raise RequestError(Fault.VALIDATION, "`prompt_name` must be a prompt of the model")
    prompt = prompts.get(message.prompt_name or "", "")
    special = message.add_special_tokens
    return json_list(json_list(_tokens(served, prompt + text, special)) for text in texts)


def _tokens(served: Served, text: str, special: bool) -> Iterator[Iterable[bytes]]:
    """Yield the JSON of the tokens of a text, of some at a time."""
    tokenizer = served.model.context.tokenizer
    (encoded,) = tokenizer.encode([text], "tokenize: inputs", located=True, cut=False)
    assert encoded.offsets is not None and encoded.segments is not None
    for begin in range(0, encoded.ids.size, TOKENS_AT_A_TIME):
        some = slice(begin, begin + TOKENS_AT_A_TIME)
        ids = encoded.ids[some].tolist()
        places, inside = encoded.offsets[some].tolist(), (encoded.segments[some] >= 0).tolist()
        names = tokenizer.tokens(ids)
        tokens = [
            {
                "id": ids[n],
                "text": text[start:stop] if inside[n] else names[n],
                "special": not inside[n],
                "start": start if inside[n] else None,
                "stop": stop if inside[n] else None,
            }
            for n, (start, stop) in enumerate(places)
            if inside[n] or special
        ]
        if tokens:
            yield (encode_json(tokens)[1:-1],)


async def decode(call: Call, message: Decoding) -> Iterator[bytes]:
    """`POST /decode`: the text of each sequence of token ids."""
    served = await call.choose("encode", message)
    call.count(len(message.ids), "ids")
    _, sequences = texts_or_ids(message.ids, "ids")
    require_short(sequences, MOST_IDS, "ids", "token ids")
    return json_list(_decoded(served, sequences, message.skip_special_tokens))


def _decoded(
    served: Served, sequences: list[list[int]], skip_special: bool
) -> Iterator[Iterable[bytes]]:
    """Yield the JSON of each text; raises RequestError."""
    vocabulary = served.model.config.vocab_size
    for ids in sequences:
        if not all(0 <= number < vocabulary for number in ids):
            raise RequestError(Fault.VALIDATION, f"`ids` must be in [0, {vocabulary})")
        text = served.model.context.tokenizer.decode(ids, skip_special)
        yield (encode_json(text),)


async def by_kind(call: Call, body: msgspec.Raw) -> Any:
    """`POST /`: labels if the first model is a classifier, else embeddings; or a similarity.

    The clients of Hugging Face post there when they are given the address of a server.
    """
    served = call.state.models.first
    found = await read_message(call, body, AnyInputs)
    if bytes(found.inputs).startswith(b"{"):
        call.message = compared = await read_message(call, body, Similarity)
        return await similarity(call, compared)
    if served.facts.head_kind == "ForSequenceClassification":
        call.message = classified = await read_message(call, body, Classification)
        return await predict(call, classified)
    call.message = embedded = await read_message(call, body, Embedding)
    return await embed_texts(call, embedded)


BY_KIND = (Embedding, Classification, Similarity)
ROUTES = [
    Route("/", by_kind, msgspec.Raw, "embed", list[Any], bodies=BY_KIND),
    Route("/embed", embed_texts, Embedding, "embed", Vectors),
    Route("/embed_all", embed_tokens, TokenEmbedding, "embed_all", list[Vectors]),
    Route("/predict", predict, Classification, "predict", list[Label | list[Label]]),
    Route("/similarity", similarity, Similarity, "similarity", list[float]),
    Route("/tokenize", tokenize, Tokenization, "tokenize", list[list[Token]]),
    Route("/decode", decode, Decoding, "decode", list[str]),
]
