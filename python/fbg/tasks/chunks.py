"""Late chunking (Günther et al., 2024, arXiv:2409.04701): vectors for the chunks of a document.

The document is read as a whole, in windows that overlap if it is long, and its tokens are pooled to
a vector for each chunk.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import islice

import numpy as np

from fbg.arrays import Floats, Indices, require_integer
from fbg.errors import ModelError
from fbg.runtime.steps import Request, Steps, copied
from fbg.tasks.context import TaskContext, TaskMethods, task
from fbg.tasks.encode import EncodeOptions, Encoder
from fbg.tasks.inputs import require_count, require_iterable
from fbg.text.encoded_text import WINDOW_TOKENS, EncodedText, count_windows, windows
from fbg.text.tokenization import MOST_PARTS

CHUNKS = "encode_chunks"
SHARED = 128  # tokens of two windows
# By the names of Pooling modules, those that do not read certain tokens of a text.
POOLINGS: dict[str, Callable[[Floats], Floats]] = {
    "mean": lambda rows: rows.mean(axis=0),
    "max": lambda rows: rows.max(axis=0),
    "mean_sqrt_len_tokens": lambda rows: rows.mean(axis=0) * len(rows) ** 0.5,
}


class ChunkMethods(TaskMethods):
    """The methods of `Model` for documents and their chunks."""

    @task
    def encode_chunks(
        self,
        document: str,
        spans: Iterable[tuple[int, int]],
        batch_size: int = 32,
        normalize_embeddings: bool | None = None,
        *,
        stride: int | None = None,
        truncate_dim: int | None = None,
        prompt: str | None = None,
        prompt_name: str | None = None,
    ) -> Steps[Floats]:
        """Return a vector for each chunk of a document of any length: (chunks, dimension).

        spans: the first character of each chunk, and the one after its last. A token is in the
            chunk that has its last character; special tokens and the prompt are in the first and
            the last chunk.
        batch_size: the most windows to compute at a time; never changes a result.
        stride: by how many tokens adjacent windows overlap. Default: the lesser of 128 and half of
            a window.

        Other arguments are those of `encode`. Raises ModelError for a model that does not pool by
        the mean or the maximum, TypeError or ValueError for a span that is not within the document,
        and ValueError for a chunk without tokens of the document.

        >>> model.encode_chunks("Ada is here. She works.", [(0, 12), (13, 23)]).shape
        (2, 384)
        """
        context, where = self._context, f"{CHUNKS}: document"
        pooling = context.sentence.pooling
        options = EncodeOptions(batch_size, normalize_embeddings, truncate_dim, prompt, prompt_name)
        encoder = Encoder(context, options, CHUNKS)
        if pooling not in POOLINGS:
            raise ModelError(
                f"{CHUNKS}: pooling must be one of {', '.join(POOLINGS)}, got {pooling}"
            )
        document = _require_str(where, document)
        bounds = _bounds(spans, len(document))
        first, whole = len(encoder.prompt), encoder.prompt + document
        (text,) = context.tokenize(
            [whole], where, 0, True, located=True, cut=False, sentences=True, types=False
        )
        places, inside = _places(text, first)
        places[: encoder.skipped] = -1
        order = np.argsort(places, kind="stable")
        ends = first + np.array(bounds, np.intp).reshape(-1, 2)
        chunks = np.searchsorted(places[order], ends)
        for n, (begin, end) in enumerate(chunks):
            if begin == end:
                raise ValueError(f"{CHUNKS}: spans[{n}] has no token of the document")
        states = yield from _states(context, text, inside, stride, batch_size)
        pooled = np.empty((len(chunks), states.shape[1]), np.float32)
        for n, (begin, end) in enumerate(chunks):
            pooled[n] = POOLINGS[pooling](states[np.sort(order[begin:end])])
        return encoder.embed_pooled(pooled)

    def chunk_spans(self, document: str, tokens: int = 256) -> list[tuple[int, int]]:
        """Return spans for `encode_chunks`, which end where paragraphs, sentences or words do.

        tokens: the most tokens of a chunk; special tokens do not count. Spaces between two chunks
            are in neither.

        Raises TypeError for a document that is not a str; ValueError for `tokens` below 1;
        ModelError for a model without a tokenizer; ModuleNotFoundError without the package
        semantic-text-splitter (`pip install 'fbg[chunks]'`).

        >>> model.chunk_spans("Ada is here. She works.", 12)
        [(0, 12), (13, 23)]
        """
        return found_spans(self._context, document, tokens)


def found_spans(
    context: TaskContext, document: str, tokens: int, most: int = MOST_PARTS
) -> list[tuple[int, int]]:
    """Return the spans of `chunk_spans`; if there are more than `most`, some of them, but more."""
    document = _require_str("chunk_spans: document", document)
    return context.tokenizer.split(document, require_count("chunk_spans: tokens", tokens), most)


def _require_str(where: str, value: object) -> str:
    if not isinstance(value, str):
        raise TypeError(f"{where} must be a str, got {type(value).__name__}")
    return value


def _bounds(spans: object, size: int) -> list[tuple[int, int]]:
    """Return the spans of chunks of a document. size: its characters."""
    where, bounds = f"{CHUNKS}: spans", []
    for n, span in enumerate(require_iterable(where, spans, "a sequence of pairs of integers")):
        pair = span.tolist() if isinstance(span, np.ndarray) else span
        if not isinstance(pair, (tuple, list)) or len(pair) != 2:
            raise TypeError(f"{where}[{n}] must be a pair of integers, got {span!r:.80}")
        begin = require_integer(pair[0], f"{where}[{n}]", 0, size)
        bounds.append((begin, require_integer(pair[1], f"{where}[{n}]", begin, size)))
    return bounds


def _places(text: EncodedText, begin: int) -> tuple[Indices, slice]:
    """Return for each token the character whose chunk has it, and the tokens of the document.

    begin: of the document, behind its prompt.
    """
    assert text.segments is not None and text.offsets is not None
    places = np.maximum(text.offsets[:, 0], text.offsets[:, 1] - 1)
    inside = np.flatnonzero((text.segments >= 0) & (places >= begin))
    if inside.size == 0:
        return np.full_like(places, -1), slice(0, 0)
    first, last = inside[[0, -1]].tolist()
    places[:first], places[last:] = places[first], places[last]
    return places, slice(first, last + 1)


def _states(
    context: TaskContext, text: EncodedText, inside: slice, stride: int | None, size: int
) -> Steps[Floats]:
    """Return the hidden states of all tokens. inside: those of the document.

    Where windows overlap, a state is their mean, in which a window counts the more, the farther the
    token is from its edge.
    """
    before, body, after = np.split(np.arange(text.ids.size), [inside.start, inside.stop])
    room = context.tokenizer.max_length - before.size - after.size
    if room < min(body.size, 1):
        raise ValueError(f"{CHUNKS}: prompt leaves no room for the document")
    shared = min(SHARED, room // 2)
    if stride is not None:
        shared = require_integer(stride, f"{CHUNKS}: stride", 0, room - 1)
    engine, done = context.engines.tokens, 0
    left, most = count_windows(body.size, room, shared), max(1, WINDOW_TOKENS // max(room, 1))
    parts = (np.concatenate([before, body[p], after]) for p in windows(body.size, room, shared))
    states = np.zeros((text.ids.size, engine.columns), np.float32)
    weights = np.zeros((text.ids.size, 1), np.float32)
    while chosen := list(islice(parts, most)):
        left -= len(chosen)
        ids = [text.ids[part] for part in chosen]
        outputs = yield Request(engine, ids, CHUNKS, copied, size, done, left)
        done += len(chosen)
        outputs.reverse()
        for part in chosen:
            rows = outputs.pop()  # which is then freed, as states take memory row by row
            rising = np.arange(1, part.size + 1, dtype=np.float32)
            weight = np.minimum(rising, rising[::-1])[:, None]
            states[part] += weight * rows
            weights[part] += weight
    states /= weights
    return states
