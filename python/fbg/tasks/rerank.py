"""Scores of pairs of texts, with the results of CrossEncoder of sentence-transformers; and scores
of documents that the model reads together with their query.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np

from fbg.arrays import Doubles, Floats
from fbg.errors import ModelError
from fbg.runtime.steps import Steps
from fbg.tasks.context import TaskCall, TaskContext, TaskMethods, task
from fbg.tasks.inputs import (
    Pair,
    as_pair,
    require_choice,
    require_count,
    require_pairs,
    require_texts,
)
from fbg.tasks.results import RankedDocument
from fbg.tasks.scores import SCORES, softmax
from fbg.tasks.scores import top_k as best_first
from fbg.text.pair_template import (
    DOCUMENT_LENGTH,
    DOCUMENT_TOKEN,
    MOST_DOCUMENTS,
    QUERY_LENGTH,
    QUERY_TOKEN,
    listwise_prompt,
)
from fbg.threads import calling

TINY = 1e-8  # in place of a divisor of 0

Activation = Literal["sigmoid", "none"]


class RerankMethods(TaskMethods):
    """The methods of `Model` that score pairs, for ForSequenceClassification architectures."""

    @task
    def predict(
        self,
        inputs: Pair | Iterable[Pair],
        activation_fn: Activation | None = None,
        apply_softmax: bool = False,
        batch_size: int = 32,
        truncation: bool = True,
        prompt: str | None = None,
    ) -> Steps[Floats | np.float32]:
        """Score pairs of texts with a cross-encoder.

        inputs: a pair (text, text_pair), or an iterable of pairs, such as a NumPy array of shape
            (pairs, 2).
        activation_fn: the function that computes scores from logits: "sigmoid" or "none". None: the
            one that config.json names for sentence-transformers; if it names none, "sigmoid" for a
            single label and "none" for several.
        apply_softmax: whether to apply softmax to the scores of several labels afterwards.
        batch_size: the most pairs to compute at a time; limits memory, and never changes a result.
        truncation: True truncates pairs to `max_length` tokens, the longer text first, and warns
            once for each model; False raises ValueError for a longer pair.
        prompt: the instruction for a decoder that reranks, such as Qwen3-Reranker; None: that of
            the model. In such a pair, the end of the second text is truncated.

        Returns float32 of shape (pairs,) if the model has a single label, otherwise
        (pairs, labels). For a single pair, the result has no first axis.

        >>> model.predict([("a question", "an answer"), ("a question", "?")])  # doctest: +SKIP
        array([0.97, 0.02], dtype=float32)
        """
        context = self._context
        call = TaskCall(context, "predict", "inputs", batch_size, truncation, prompt)
        single = len(call.head.labels) == 1
        activation = _chosen_activation(call, context, "predict", activation_fn)
        one = is_one_pair(inputs)
        pairs = require_pairs(call.where, [inputs] if one else inputs)
        result = yield from _scores(call, pairs, activation, apply_softmax and not single)
        if single:
            result = result[:, 0]
        return result[0] if one else result

    @task
    def rerank(
        self,
        query: str,
        documents: Iterable[str],
        top_k: int | None = None,
        return_documents: bool = False,
        batch_size: int = 32,
        truncation: bool = True,
        prompt: str | None = None,
        activation_fn: Activation | None = None,
    ) -> Steps[list[RankedDocument]]:
        """Rank documents by the score that `predict` gives to each together with the query.

        Models such as jina-reranker-v3 read all of them in one prompt, so that a score depends on
        the other documents; it is a cosine. They have no `predict`.

        documents: an iterable of str.
        top_k: how many documents to return; None: all.
        return_documents: whether results contain the texts.
        batch_size, truncation, prompt, activation_fn: as in `predict`.

        Returns dicts {"corpus_id": index in documents, "score": float}, best first; with
        return_documents also "text". Raises ValueError if the model has more than one label.

        >>> model.rerank("who wrote it?", ["no idea", "Harper Lee did"], top_k=1)  # doctest: +SKIP
        [{'corpus_id': 1, 'score': 0.98}]
        """
        context = self._context
        call = TaskCall(context, "rerank", "documents", batch_size, truncation, prompt)
        labels = call.head.labels
        if len(labels) != 1:
            raise ValueError(
                f"rerank: the model must have one label, got {len(labels)}; use predict"
            )
        if not isinstance(query, str):
            raise TypeError(f"rerank: query must be a str, got {type(query).__name__}")
        activation = _chosen_activation(call, context, "rerank", activation_fn)
        k = None if top_k is None else require_count("rerank: top_k", top_k)
        texts = require_texts(call.where, documents, several=True)
        if call.head.kind == "JinaForRanking":
            cosines = yield from _listwise_scores(call, context, query, texts)
            values = SCORES[activation](cosines).astype(np.float32)
            return ranked(texts, values, k, return_documents)
        pairs = [(query, text) for text in texts]
        scores = (yield from _scores(call, pairs, activation, False))[:, 0]
        return ranked(texts, scores, k, return_documents)


def _chosen_activation(call: TaskCall, context: TaskContext, task: str, given: object) -> str:
    if given is None:
        return _default_activation(call, context)
    return require_choice(f"{task}: activation_fn", given, ("sigmoid", "none"))


def _default_activation(call: TaskCall, context: TaskContext) -> str:
    named = context.sentence.pair_activation or context.config.tasks.pair_activation
    single = len(call.head.labels) == 1 and call.head.kind != "JinaForRanking"
    return named or ("sigmoid" if single else "none")


def is_one_pair(inputs: object) -> bool:
    """Whether this is a pair, perhaps a wrong one, and not a sequence of pairs."""
    if isinstance(inputs, np.ndarray):
        return inputs.ndim == 1 and as_pair(inputs) is not None
    return isinstance(inputs, (tuple, list)) and any(isinstance(text, str) for text in inputs)


def _scores(
    call: TaskCall, pairs: list[Pair], activation: str, apply_softmax: bool
) -> Steps[Floats]:
    """Return the scores of pairs, (pairs, labels)."""
    result = np.empty((len(pairs), len(call.head.labels)), np.float32)
    for block in call.blocks(pairs):
        for n, logits in enumerate((yield from call.run(block.encoded)), block.first):
            values = logits[0]
            if call.head.kind == "ForCausalLM":  # the logit of "yes" minus any of "no"
                values = values[:1] - values[1:].sum()
            scores = SCORES[activation](values)
            result[n] = softmax(scores) if apply_softmax else scores
    return result


def _listwise_scores(
    call: TaskCall, context: TaskContext, query: str, texts: list[str]
) -> Steps[Floats]:
    """Return the cosines of documents with their query.

    If one prompt does not hold them all, the vector of the query is the mean of those of all
    prompts, weighted by the score of the best document of each.
    """
    where, tokenizer = call.where, call.tokenizer
    (query,), (length,) = _shortened(call, context, [query], "rerank: query", QUERY_LENGTH)
    documents, lengths = _shortened(call, context, texts, where, DOCUMENT_LENGTH)
    blocks: list[list[str]] = [[]]
    room = whole = tokenizer.max_length - 2 * length
    for text, tokens in zip(documents, lengths, strict=True):
        if len(blocks[-1]) == MOST_DOCUMENTS or (blocks[-1] and room <= DOCUMENT_LENGTH):
            blocks.append([])
            room = whole
        blocks[-1].append(text)
        room -= tokens
    if not texts:
        return np.zeros(0, np.float32)
    prompts = [listwise_prompt(query, block, call.prompt) for block in blocks]
    with calling:
        encoded = tokenizer.encode(prompts, where, cut=False)
    most = max(text.ids.size for text in encoded)
    if most > tokenizer.max_length:
        raise ValueError(
            f"{where}: a prompt takes {most} tokens, but the model at most {tokenizer.max_length}"
        )
    own = [tokenizer.token_id(token) for token in (DOCUMENT_TOKEN, QUERY_TOKEN)]
    places = [
        np.flatnonzero(np.isin(text.ids, [n for n in own if n is not None])) for text in encoded
    ]
    if [at.size for at in places] != [len(block) + 1 for block in blocks]:
        raise ModelError(f"{tokenizer.path}: must have tokens {DOCUMENT_TOKEN} and {QUERY_TOKEN}")
    rows = yield from call.run(encoded, lambda n, output: output[places[n]])
    weights = [(1 + _cosines(block[:-1], block[-1]).max()) / 2 for block in rows]
    asked = np.average([block[-1] for block in rows], axis=0, weights=np.maximum(weights, TINY))
    return np.concatenate([_cosines(block[:-1], asked) for block in rows])


def _shortened(
    call: TaskCall, context: TaskContext, texts: list[str], where: str, most: int
) -> tuple[list[str], list[int]]:
    """Return texts of at most so many tokens, and the tokens of each."""
    most = min(most, call.tokenizer.max_length)
    tokenizer = call.tokenizer.with_max_length(most)
    encoded = context.tokenize(texts, where, 0, call.truncation, tokenizer)
    lengths = [text.ids.size for text in encoded]
    shorter = [
        call.tokenizer.decode(each.ids.tolist(), False) if each.length > most else text
        for text, each in zip(texts, encoded, strict=True)
    ]
    return shorter, lengths


def _cosines(rows: Floats, row: Floats | Doubles) -> Floats:
    left, right = rows.astype(np.float64), row.astype(np.float64)
    lengths = np.linalg.norm(left, axis=1) * np.linalg.norm(right)
    cosines: Doubles = left @ right / np.maximum(lengths, TINY)
    return cosines.astype(np.float32)


def ranked(
    texts: Sequence[str], scores: Floats, top_k: int | None, return_documents: bool
) -> list[RankedDocument]:
    """Return the documents with the largest scores, best first."""
    results: list[RankedDocument] = []
    for n in best_first(scores, top_k).tolist():
        result: RankedDocument = {"corpus_id": n, "score": float(scores[n])}
        results.append({**result, "text": texts[n]} if return_documents else result)
    return results
