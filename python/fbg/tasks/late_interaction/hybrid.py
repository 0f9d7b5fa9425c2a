"""Dense, sparse and multi-vector embeddings in one pass (bge-m3, arXiv:2402.03216)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from fbg.arrays import Floats, Indices, require_flag
from fbg.errors import ModelError
from fbg.matmul.product import linear
from fbg.runtime.steps import Request, Steps, copied
from fbg.tasks.context import TaskContext, TaskMethods, task
from fbg.tasks.inputs import require_count, require_texts
from fbg.tasks.search import unit_rows
from fbg.tasks.sparse import SparseEmbeddings, compressed_rows
from fbg.text.token_heads import TokenHeads
from fbg.threads import calling


@dataclass(frozen=True)
class HybridEmbeddings:
    """dense: (texts, hidden). sparse: a weight for each token of the vocabulary. multi: for each
    text (tokens, dimension), without its first special token; `fbg.maxsim` compares them.
    """

    dense: Floats
    sparse: SparseEmbeddings
    multi: list[Floats]


class HybridMethods(TaskMethods):
    """The method of `Model` for directories with sparse_linear.pt and colbert_linear.pt."""

    @task
    def encode_hybrid(
        self, texts: str | Iterable[str], batch_size: int = 32, truncation: bool = True
    ) -> Steps[HybridEmbeddings]:
        """Return dense, sparse and multi-vector embeddings of texts, as bge-m3 has them.

        texts: a str, for one row, or an iterable of str.
        batch_size: the most texts to compute at a time, and whose hidden states are kept at a time;
            never changes a result.
        truncation: True truncates texts to `max_length` tokens; False raises ValueError.

        A token's weight is the largest one where it occurs; special tokens have none. Dense vectors
        are those of `encode`, up to rounding. Raises ModelError for other models.

        >>> model.encode_hybrid(["a text"]).sparse.shape  # doctest: +SKIP
        (1, 250002)
        """
        context = self._context
        name, where = "encode_hybrid", "encode_hybrid: texts"
        heads = _heads(context, name)
        size, cut = (
            require_count(f"{name}: batch_size", batch_size),
            require_flag(truncation, f"{name}: truncation"),
        )
        given = require_texts(where, texts)
        tokenizer, vocabulary = context.tokenizer, context.config.vocab_size
        special = [*tokenizer.frame, tokenizer.unknown_id, tokenizer.padding_id]
        skipped = np.array([token for token in special if token is not None], np.int32)
        packed = context.token_heads
        assert packed is not None
        dense = np.zeros((len(given), context.config.hidden_size), np.float32)
        indices: list[Indices] = []
        data: list[Floats] = []
        multi: list[Floats] = []
        for first in range(0, len(given), size):
            block = given[first : first + size]
            encoded = context.tokenize(block, where, first, cut, sentences=True, types=False)
            ids = [text.ids for text in encoded]
            after = len(given) - first - len(ids)
            work = Request(context.engines.tokens, ids, name, copied, size, first, after)
            for n, states in enumerate((yield work)):
                dense[first + n] = (
                    unit_rows(states[:1])[0] if context.sentence.normalize else states[0]
                )
                with calling:
                    rows = linear(states, packed, bias=heads.bias, num_threads=context.num_threads)
                tokens, weights = _token_weights(ids[n], rows[:, 0], skipped)
                indices.append(tokens)
                data.append(weights)
                multi.append(unit_rows(rows[1:, 1:]))
        return HybridEmbeddings(dense, compressed_rows(indices, data, vocabulary), multi)


def _heads(context: TaskContext, task: str) -> TokenHeads:
    heads, sentence = context.sentence.token_heads, context.sentence
    if heads is None:
        raise ModelError(f"{task}: the model has no sparse_linear.pt and colbert_linear.pt")
    if sentence.pooling != "cls" or sentence.dense or context.tokenizer.frame.size == 0:
        raise ModelError(
            f"{task}: the model must embed a text by its first token, got pooling "
            f"{sentence.pooling} and {len(sentence.dense)} Dense modules"
        )
    return heads


def _token_weights(ids: Indices, values: Floats, skipped: Indices) -> tuple[Indices, Floats]:
    """Return the tokens with a weight of more than 0, ascending, and the largest of each."""
    tokens, places = np.unique(ids, return_inverse=True)
    weights = np.zeros(tokens.size, np.float32)
    np.maximum.at(weights, places.reshape(-1), values)
    kept = (weights > 0) & ~np.isin(tokens, skipped)
    return tokens[kept].astype(np.int32), weights[kept]
