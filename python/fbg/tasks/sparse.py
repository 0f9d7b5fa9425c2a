"""Sparse embeddings (SPLADE): a weight for each token of the vocabulary, most of them zero.

The weight of a token is the maximum over the places of a text, or the sum, of log(1 + max(x, 0)),
with x the logits of the masked language model there (Formal et al., 2021, arXiv:2109.10086). Some
models have a table of weights for queries, whose embedding is then the weights of their tokens.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fbg.arrays import Floats, Indices
from fbg.errors import ModelError
from fbg.runtime.steps import Steps
from fbg.tasks.context import TaskCall, TaskContext, TaskMethods, task
from fbg.tasks.inputs import require_choice, require_texts, text_blocks
from fbg.text.multi_vector import KINDS
from fbg.text.query_weights import QueryWeights
from fbg.text.sentence import Splade
from fbg.threads import calling

Kind = Literal["query", "document"]


@dataclass(frozen=True)
class SparseEmbeddings:
    """Rows of weights in compressed form (CSR): row n has the entries indptr[n] to indptr[n + 1].

    indptr: (rows + 1,) int64. indices: tokens of the vocabulary, ascending in each row.
    data: their weights, none of them 0. shape: (rows, vocabulary). scipy.sparse.csr_array takes
    (data, indices, indptr) and shape.
    """

    indptr: npt.NDArray[np.int64]
    indices: npt.NDArray[np.int32]
    data: Floats
    shape: tuple[int, int]

    def to_dense(self) -> Floats:
        """Return (rows, vocabulary)."""
        dense = np.zeros(self.shape, np.float32)
        rows = np.repeat(np.arange(self.shape[0]), np.diff(self.indptr))
        dense[rows, self.indices] = self.data
        return dense


class SparseMethods(TaskMethods):
    """The method of `Model` that needs a masked language model, for ForMaskedLM architectures."""

    @task
    def encode_sparse(
        self,
        sentences: str | Iterable[str],
        batch_size: int = 32,
        truncation: bool = True,
        kind: Kind = "document",
    ) -> Steps[SparseEmbeddings]:
        """Return sparse embeddings, one row for each sentence.

        sentences: a str, for one row, or an iterable of str.
        batch_size: the most sentences to compute at a time, and whose hidden states are kept at a
            time; never changes a result.
        truncation: True truncates texts to `max_length` tokens; False raises ValueError for a
            longer one.
        kind: "query" or "document". The prompt of that name, if `prompts` has one, is put before
            each text. Models whose queries pass no encoder have a table of weights for them.

        How weights are made of predictions is read from the SpladePooling module of
        sentence-transformers; without one, it is the maximum. Results are those of encode_query and
        encode_document of its SparseEncoder, which use no default prompt. Raises ModelError if the
        model has no head that predicts tokens.

        >>> model.encode_sparse(["a sentence"]).shape  # doctest: +SKIP
        (1, 30522)
        """
        steps = encode_sparse_steps(self._context, sentences, batch_size, truncation, kind)
        return (yield from steps)


def encode_sparse_steps(
    context: TaskContext,
    sentences: str | Iterable[str],
    batch_size: int = 32,
    truncation: bool = True,
    kind: Kind = "document",
    max_numbers: int | None = None,
) -> Steps[SparseEmbeddings]:
    """Return the result of `Model.encode_sparse`.

    max_numbers: limit of numbers in the result, two for each weight; more are a ValueError at once.
    """
    call = TaskCall(context, "encode_sparse", "sentences", batch_size, truncation)
    require_choice("encode_sparse: kind", kind, KINDS)
    splade, table = context.sentence.splade, context.sentence.query_weights
    indices: list[npt.NDArray[Any]] = []
    data: list[Floats] = []
    prompt = context.sentence.prompts.get(kind, "")
    given = [prompt + text for text in require_texts(call.where, sentences)]
    if kind == "query" and table is not None:
        return _weigh_queries(context, table, given, call, max_numbers)
    numbers = 0
    for block in call.blocks(given):
        for begin in range(0, len(block.encoded), call.batch_size):
            part = block.encoded[begin : begin + call.batch_size]
            before = block.first + begin
            after = len(given) - before - len(part)
            states = yield from call.run(part, lambda n, output: output.copy(), before, after)
            with calling:
                for weights in _weights(call, states, splade, context.config.vocab_size):
                    indices.append(np.flatnonzero(weights).astype(np.int32))
                    data.append(weights[indices[-1]])
                    numbers += 2 * data[-1].size
            _require_few(call, numbers, max_numbers)
    return compressed_rows(indices, data, context.config.vocab_size)


def _require_few(call: TaskCall, numbers: int, most: int | None) -> None:
    if most is not None and numbers > most:
        raise ValueError(
            f"{call.where}: the weights may have at most {most} numbers in total, got {numbers} or "
            "more; pass fewer texts"
        )


def _weights(
    call: TaskCall, states: list[Floats], splade: Splade, vocabulary: int
) -> Iterator[Floats]:
    """Yield (vocabulary,) for each text."""
    # The gain grows with the logit, so only the largest logit counts for a maximum.
    best = call.decode_best([rows for rows in states if len(rows)])
    for rows in states:
        if not len(rows):
            yield np.zeros(vocabulary, np.float32)
        elif splade.sums:
            weights = np.zeros(vocabulary, np.float32)
            for logits in call.decode(rows):
                weights += _gained(logits, splade)
            yield weights
        else:
            yield _gained(next(best), splade)


def _gained(logits: Floats, splade: Splade) -> Floats:
    gained: Floats = np.log1p(np.maximum(logits, 0))
    return np.log1p(gained) if splade.twice else gained


def _weigh_queries(
    context: TaskContext,
    table: QueryWeights,
    texts: list[str],
    call: TaskCall,
    max_numbers: int | None,
) -> SparseEmbeddings:
    """Return the weights of the tokens that occur in each text."""
    indices: list[Indices] = []
    limit = table.tokenizer.max_length
    if context.tokenizer.max_length != context.sentence.max_length:
        limit = min(limit, context.tokenizer.max_length)  # set by Model.with_max_length
    tokenizer = table.tokenizer.with_max_length(limit)
    for block in text_blocks(texts):
        place = call.where, len(indices), call.truncation, tokenizer
        for text in context.tokenize(block, *place, sentences=True, types=False):
            tokens = np.unique(text.ids)
            if tokens.size and tokens[-1] >= table.weights.size:
                raise ModelError(
                    f"{tokenizer.path}: token {tokens[-1]} has no weight: there are "
                    f"{table.weights.size}"
                )
            indices.append(tokens[table.weights[tokens] != 0])
        _require_few(call, 2 * sum(tokens.size for tokens in indices), max_numbers)
    data = [table.weights[tokens] for tokens in indices]
    return compressed_rows(indices, data, table.weights.size)


def compressed_rows(
    indices: list[npt.NDArray[Any]], data: list[Floats], columns: int
) -> SparseEmbeddings:
    """Put rows together: the tokens of each, ascending, and their weights."""
    indptr = np.zeros(len(indices) + 1, np.int64)
    np.cumsum([row.size for row in indices], out=indptr[1:])
    return SparseEmbeddings(
        indptr,
        np.concatenate(indices) if indices else np.empty(0, np.int32),
        np.concatenate(data) if data else np.empty(0, np.float32),
        (len(indices), columns),
    )
