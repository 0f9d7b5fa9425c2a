"""Sparse embeddings (SPLADE): a weight for each token of the vocabulary, most of them zero.

The weight of a token is the maximum over the places of a text, or the sum, of log(1 + max(x, 0)),
x being what the masked language model predicts there (Formal et al., 2021, arXiv:2109.10086).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg.runtime.work import Steps, run_steps
from fbg.tasks.context import TaskCall, TaskContext
from fbg.tasks.inputs import require_texts

__all__ = ["SparseEmbeddings", "SparseMethods", "compressed_rows", "encode_sparse_steps"]

Floats = npt.NDArray[np.float32]


@dataclass(frozen=True)
class SparseEmbeddings:
    """Rows of weights in compressed form (CSR): those of row n are indptr[n] to indptr[n + 1].

    indptr: (rows + 1,) int64. indices: tokens of the vocabulary, ascending in each row.
    data: their weights, more than 0. shape: (rows, vocabulary). scipy.sparse.csr_array takes
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


class SparseMethods:
    """The method of `Model` that needs a masked language model, for ForMaskedLM architectures."""

    _context: TaskContext

    def encode_sparse(
        self, sentences: str | Iterable[str], batch_size: int = 32, truncation: bool = True
    ) -> SparseEmbeddings:
        """Return sparse embeddings, one row for each sentence.

        sentences: a str, for one row, or an iterable of str.
        batch_size: the most sentences to compute at a time; limits memory, and never changes a
            result.
        truncation: True truncates texts to `max_length` tokens; False raises ValueError for a
            longer one.

        How weights are made of predictions is read from the SpladePooling module of
        sentence-transformers; without one, it is the maximum. Results are those of its
        SparseEncoder. Raises ModelError if the model has no head that predicts tokens.

        >>> model.encode_sparse(["a sentence"]).shape  # doctest: +SKIP
        (1, 30522)
        """
        steps = encode_sparse_steps(self._context, sentences, batch_size, truncation)
        return run_steps(steps, self._context.num_threads)


def encode_sparse_steps(
    context: TaskContext,
    sentences: str | Iterable[str],
    batch_size: int = 32,
    truncation: bool = True,
) -> Steps[SparseEmbeddings]:
    """`Model.encode_sparse` as a task for whoever drives it."""
    call = TaskCall(context, "encode_sparse", "sentences", batch_size, truncation)
    splade = context.sentence.splade
    indices: list[npt.NDArray[Any]] = []
    data: list[Floats] = []
    for block in call.blocks(require_texts(call.where, sentences)):
        for states in (yield from call.run(block.encoded, lambda n, output: output.copy())):
            weights = np.zeros(context.config.vocab_size, np.float32)
            for logits in call.decode(states):
                gained = np.log1p(np.maximum(logits, 0))
                if splade.twice:
                    gained = np.log1p(gained)
                if splade.sums:
                    weights += gained
                else:
                    np.maximum(weights, gained, out=weights)
            indices.append(np.flatnonzero(weights).astype(np.int32))
            data.append(weights[indices[-1]])
    return compressed_rows(indices, data, context.config.vocab_size)


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
