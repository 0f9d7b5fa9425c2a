"""The JSON of answers, which may have many numbers or words.

Slow answers are made outside of the event loop, and in parts, because one call of the encoder
keeps the interpreter for itself. An answer beyond the limit ends with the part that exceeds it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import chain, pairwise
from types import GeneratorType
from typing import Any

import numpy as np

from fbg.arrays import Floats
from fbg.runtime.event_loop import in_thread
from fbg.server.errors import Fault, RequestError
from fbg.server.replies import encode_json
from fbg.server.state import Call
from fbg.tasks.late_interaction.hybrid import HybridEmbeddings
from fbg.tasks.sparse import SparseEmbeddings

# Values of so many numbers, fields and items are encoded in the event loop, within about 0.1 ms.
MOST_ITEMS = 2048
CHARACTERS_OF_ITEM = 64


async def json_of(call: Call, result: Any) -> bytes | bytearray:
    """Return the JSON for the result of a route: a JSON value, in which arrays are lists, or a
    generator of the parts of its JSON, which is advanced in a thread. Raises RequestError."""
    state = call.state
    if not isinstance(result, GeneratorType):
        if _items(result) <= MOST_ITEMS:
            small = encode_json(result)
            call.hold(len(small))
            return small
        result = json_parts(result)
    answer = await in_thread(state.encoders, _joined, result, state.settings.max_answer)
    call.hold(len(answer))
    return answer


def _joined(parts: Iterator[bytes], most: int) -> bytearray:
    """Return the parts as a whole; kept apart until then, they would need the memory twice."""
    answer = bytearray()
    for part in parts:
        answer += part
        if len(answer) > most:
            raise RequestError(
                Fault.VALIDATION,
                f"the answer must have at most {most} bytes; fewer or shorter inputs are needed",
            )
    return answer


def _items(value: Any) -> int:
    """Return the number of items of a JSON value, or a number above MOST_ITEMS if it has more."""
    count, rest = 0, [value]
    while rest and count <= MOST_ITEMS:
        item = rest.pop()
        if isinstance(item, np.ndarray):
            count += item.size
        elif isinstance(item, (str, bytes)):
            count += len(item) // CHARACTERS_OF_ITEM
        elif isinstance(item, dict):
            count += len(item)
            rest.extend(item.values())
        elif isinstance(item, list):
            count += len(item)
            # Items of a list are of one kind here, and numbers need no look.
            if count <= MOST_ITEMS and item and not isinstance(item[0], (int, float)):
                rest.extend(item)
    return count


def json_parts(value: Any) -> Iterator[bytes]:
    """Yield the JSON of a value in parts of about MOST_ITEMS items."""
    if isinstance(value, dict):
        yield b"{"
        for n, (key, item) in enumerate(value.items()):
            yield b"%s%s:" % (b"," if n else b"", encode_json(key))
            yield from json_parts(item)
        yield b"}"
    elif isinstance(value, np.ndarray) and value.ndim == 1 and value.size > MOST_ITEMS:
        pieces = np.split(value, range(MOST_ITEMS, value.size, MOST_ITEMS))
        yield from json_list((encode_json(piece)[1:-1],) for piece in pieces)
    elif isinstance(value, list) or (isinstance(value, np.ndarray) and value.ndim > 1):
        yield from json_list(_together(value))
    else:
        yield encode_json(value)


def _together(values: Iterable[Any]) -> Iterator[Iterable[bytes]]:
    """Yield the parts of each value, and of several small ones at once."""
    small, count = list[Any](), 0
    for value in values:
        items = 1 + _items(value)
        count += items
        if items <= MOST_ITEMS:
            small.append(value)
        if count > MOST_ITEMS:
            if small:
                yield (encode_json(small)[1:-1],)
            if items > MOST_ITEMS:
                yield json_parts(value)
            small, count = [], 0
    if small:
        yield (encode_json(small)[1:-1],)


def sparse_json(found: SparseEmbeddings) -> Iterator[bytes]:
    """Yield a list with a list of {index, value} for each text."""
    return json_list((entries,) for entries in _entries(found))


def hybrid_json(found: HybridEmbeddings) -> Iterator[bytes]:
    """Yield a list with {dense, sparse, multi} for each text."""
    parts = zip(found.dense, _entries(found.sparse), found.multi, strict=True)
    return json_list(_hybrid(*part) for part in parts)


def _hybrid(dense: Floats, sparse: bytes, multi: Floats) -> Iterator[bytes]:
    yield from (b'{"dense":', encode_json(dense), b',"sparse":', sparse, b',"multi":')
    yield from chain(json_parts(multi), (b"}",))


def _entries(found: SparseEmbeddings) -> Iterator[bytes]:
    for begin, end in pairwise(found.indptr.tolist()):
        indices, values = found.indices[begin:end].tolist(), found.data[begin:end].tolist()
        entries = zip(indices, values, strict=True)
        yield encode_json([{"index": index, "value": value} for index, value in entries])


def json_list(items: Iterable[Iterable[bytes]]) -> Iterator[bytes]:
    """Yield the parts of a JSON list; an item consists of parts, too."""
    yield b"["
    for n, item in enumerate(items):
        if n:
            yield b","
        yield from item
    yield b"]"
