"""The routes of text-embeddings-inference: embeddings, classification, similarity, tokens."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np

from fbg.server.answers import matrices_json
from fbg.server.endpoint import Route
from fbg.server.errors import Fault, RequestError
from fbg.server.inputs import embed, texts_or_ids, truncation
from fbg.server.messages import (
    Classification,
    Decoding,
    Embedding,
    Similarity,
    TokenEmbedding,
    Tokenization,
)
from fbg.server.served import Served
from fbg.server.state import Call

__all__ = ["ROUTES"]


async def embed_texts(call: Call, message: Embedding) -> list[list[float]]:
    """`POST /embed`."""
    served = call.state.models.choose("encode", message.model)
    widest = served.model.embedding_dimension
    if message.dimensions is not None and not 1 <= message.dimensions <= widest:
        raise RequestError(Fault.VALIDATION, f"`dimensions` must be in [1, {widest}]")
    options = {
        "truncate_dim": message.dimensions,
        "normalize_embeddings": message.normalize,
        "prompt_name": message.prompt_name,
        "truncation": truncation(message),
    }
    rows = await embed(call, served, message.inputs, "inputs", options)
    numbers: list[list[float]] = rows.tolist()
    return numbers


async def embed_tokens(call: Call, message: TokenEmbedding) -> bytes:
    """`POST /embed_all`: an embedding for every token."""
    served = call.state.models.choose("encode", message.model)
    cut = truncation(message)
    texts, sequences = texts_or_ids(message.inputs, "inputs")
    if sequences:
        raise RequestError(Fault.VALIDATION, "`inputs` must be texts")
    call.limit_numbers()
    rows = await served.runs.token_embeddings(
        call.texts(texts), cut, call.record, message.prompt_name
    )
    return await served.runs.in_thread(matrices_json, rows)


async def predict(call: Call, message: Classification) -> list[Any]:
    """`POST /predict`: labels with scores, the best one first."""
    served = call.state.models.choose("classify", message.model)
    options = {
        "top_k": None,
        "truncation": truncation(message),
        "function_to_apply": "none" if message.raw_scores else None,
    }
    one, texts = _texts_or_pairs(message.inputs)
    call.count(len(texts))
    results: list[Any] = await served.runs.classify(texts, call.record, **options)
    return results[0] if one else results  # type: ignore[no-any-return]


def _texts_or_pairs(inputs: str | list[str | list[str]]) -> tuple[bool, list[Any]]:
    """Return whether there is one input, and the inputs: texts and pairs."""
    one = isinstance(inputs, str) or bool(inputs and isinstance(inputs[0], str))
    given: list[Any] = [[inputs]] if isinstance(inputs, str) else [inputs] if one else inputs  # type: ignore[list-item]
    for texts in given:
        if len(texts) not in (1, 2) or not all(isinstance(text, str) for text in texts):
            raise RequestError(Fault.VALIDATION, "`inputs` must hold texts and pairs of texts")
        if not all(texts):
            raise RequestError(Fault.EMPTY, "`inputs` cannot be empty", "inputs")
    return one, [texts[0] if len(texts) == 1 else tuple(texts) for texts in given]


async def similarity(call: Call, message: Similarity) -> list[float]:
    """`POST /similarity`: cosines of a sentence with others."""
    served = call.state.models.choose("encode", message.model)
    given, parameters = message.inputs, message.parameters
    call.texts(given.sentences, "sentences")
    texts = call.texts([given.source_sentence], "source_sentence") + given.sentences
    options: dict[str, Any] = {"normalize_embeddings": True}
    if parameters is not None:
        options["prompt_name"] = parameters.prompt_name
        options["truncation"] = parameters.truncate is not False
    rows = await served.runs.encode(texts, call.record, **options)
    # One row at a time: a sum does not depend on the other sentences.
    return [float(np.sum(rows[0] * row)) for row in rows[1:]]


# --- Tokens ---------------------------------------------------------------------------------------


async def tokenize(call: Call, message: Tokenization) -> list[list[dict[str, Any]]]:
    """`POST /tokenize`."""
    served = call.state.models.choose("encode", message.model)
    texts = call.texts([message.inputs] if isinstance(message.inputs, str) else message.inputs)
    prompts = served.model.prompts
    if message.prompt_name is not None and message.prompt_name not in prompts:
        raise RequestError(Fault.VALIDATION, "`prompt_name` must be a prompt of the model")
    prompt = prompts.get(message.prompt_name or "", "")
    return [_tokens(served, prompt + text, message.add_special_tokens) for text in texts]


def _tokens(served: Served, text: str, special: bool) -> list[dict[str, Any]]:
    tokenizer = served.model.context.tokenizer
    (encoded,) = tokenizer.encode([text], "tokenize: inputs", located=True, cut=False)
    assert encoded.offsets is not None and encoded.segments is not None
    names = tokenizer.tokens(encoded.ids.tolist())
    tokens = []
    for n, (start, stop) in enumerate(encoded.offsets.tolist()):
        inside = bool(encoded.segments[n] >= 0)
        if not (inside or special):
            continue
        tokens.append(
            {
                "id": int(encoded.ids[n]),
                "text": text[start:stop] if inside else names[n],
                "special": not inside,
                "start": start if inside else None,
                "stop": stop if inside else None,
            }
        )
    return tokens


async def decode(call: Call, message: Decoding) -> list[str]:
    """`POST /decode`."""
    served = call.state.models.choose("encode", message.model)
    call.count(len(message.ids), "ids")
    sequences = [item for item in message.ids if isinstance(item, list)]
    numbers = [item for item in message.ids if isinstance(item, int)]
    if numbers and sequences:
        raise RequestError(Fault.VALIDATION, "`ids` must be token ids, or lists of token ids")
    sequences = sequences or [numbers]
    vocabulary = served.model.config.vocab_size
    for ids in sequences:
        if not all(0 <= number < vocabulary for number in ids):
            raise RequestError(Fault.VALIDATION, f"`ids` must be in [0, {vocabulary})")
    tokenizer = served.model.context.tokenizer
    return [tokenizer.decode(ids, message.skip_special_tokens) for ids in sequences]


async def by_kind(call: Call, body: msgspec.Raw) -> Any:
    """`POST /`: labels if the first model is a classifier, else embeddings; or a similarity.

    The clients of Hugging Face post there when they are given the address of a server.
    """
    served = call.state.models.first
    try:
        return await similarity(call, msgspec.json.decode(body, type=Similarity))
    except msgspec.ValidationError:
        pass
    if served.head_kind == "ForSequenceClassification":
        return await predict(call, msgspec.json.decode(body, type=Classification))
    return await embed_texts(call, msgspec.json.decode(body, type=Embedding))


ROUTES = [
    Route("/", by_kind, msgspec.Raw, "embed"),
    Route("/embed", embed_texts, Embedding, "embed"),
    Route("/embed_all", embed_tokens, TokenEmbedding, "embed_all"),
    Route("/predict", predict, Classification, "predict"),
    Route("/similarity", similarity, Similarity, "similarity"),
    Route("/tokenize", tokenize, Tokenization, "tokenize"),
    Route("/decode", decode, Decoding, "decode"),
]
