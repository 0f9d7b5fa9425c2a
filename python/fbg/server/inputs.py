"""Code shared by dialects: embeds texts or token ids, and maps options to those of Model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np

from fbg.arrays import Floats, Indices
from fbg.server.errors import Fault, RequestError
from fbg.server.messages import Cutting, Input, Similarity
from fbg.server.models.served import Served
from fbg.server.state import Call

# The library tokenizes a text in one piece, which keeps the interpreter where places are wanted.
MOST_CHARACTERS = 1 << 18
# Ids of another tokenizer, such as those of OpenAI that some clients send, look like this.
UNFRAMED = (
    b"token ids of `%s` lack the special tokens of the model; send texts, or ids of /tokenize"
)
HIGHEST = np.iinfo(np.int32).max


def texts_or_ids(
    inputs: str | Sequence[str | int | list[int]], what: str
) -> tuple[list[str], list[list[int]]]:
    """Return the texts of an input, or its sequences of token ids; raises RequestError."""
    if isinstance(inputs, str):
        return [inputs], []
    kinds, items = set(map(type, inputs)), cast(list[Any], inputs)
    if len(kinds) > 1:
        message = f"`{what}` must hold texts, token ids or lists of token ids, and one kind of them"
        raise RequestError(Fault.VALIDATION, message, what)
    if kinds == {str}:
        return items, []
    return [], [items] if kinds == {int} else items


def truncation(message: Cutting | Similarity.Parameters) -> bool:
    """Return whether long texts are cut."""
    return message.truncate is not False


def require_dimensions(served: Served, dimensions: int | None) -> None:
    """Raise RequestError for a length that embeddings cannot be cut to."""
    widest = served.model.embedding_dimension
    if dimensions is not None and not 1 <= dimensions <= widest:
        raise RequestError(Fault.VALIDATION, f"`dimensions` must be in [1, {widest}]", "dimensions")


def require_short(
    inputs: Sequence[str] | Sequence[list[int]], most: int, what: str, unit: str
) -> None:
    """Raise RequestError if one of the inputs is too long to be worked on in one piece."""
    longest = max(map(len, inputs))
    if longest > most:
        message = f"each of `{what}` must have at most {most} {unit}, got {longest}"
        raise RequestError(Fault.VALIDATION, message, what)


def is_framed(sequence: list[int], frame: list[int]) -> bool:
    """Return whether token ids begin and end as a text does. frame: the ids of an empty text."""
    if len(frame) < 2:
        return not frame or frame[0] in (sequence[0], sequence[-1])
    return sequence[0] == frame[0] and sequence[-1] == frame[-1]


async def embed(
    call: Call, served: Served, inputs: Input, what: str, options: dict[str, Any]
) -> Floats:
    """Return the embeddings of texts, or of token ids with their special tokens."""
    texts, sequences = texts_or_ids(inputs, what)
    if not sequences:
        return await served.runs.encode(call.texts(texts, what), call.record, **options)
    ids = token_ids(call, served, sequences, what)
    return await served.runs.encode_tokens(ids, call.record, **options)


def token_ids(call: Call, served: Served, sequences: list[list[int]], what: str) -> list[Indices]:
    """Return sequences of token ids, special ones included; raises RequestError."""
    call.count(len(sequences), what)
    if not all(sequences):
        raise RequestError(Fault.EMPTY, f"`{what}` cannot be empty", what)
    require_short(sequences, served.model.max_length, what, "token ids")
    if min(map(min, sequences)) < 0 or max(map(max, sequences)) > HIGHEST:
        raise RequestError(Fault.VALIDATION, f"`{what}` must hold token ids of the model", what)
    frame = served.model.context.tokenizer.frame.tolist()
    if not all(is_framed(sequence, frame) for sequence in sequences):
        call.warnings.append(UNFRAMED % what.encode())
    return [np.array(sequence, np.int32) for sequence in sequences]
