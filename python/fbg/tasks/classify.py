"""Classification of texts, with the results of the text-classification pipeline of transformers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, overload

import numpy as np
import numpy.typing as npt

from fbg.networks.heads import Head
from fbg.runtime.steps import Steps
from fbg.tasks.context import TaskCall, TaskContext, TaskMethods, task
from fbg.tasks.inputs import Pair, require_choice, require_count, require_texts_or_pairs
from fbg.tasks.results import LabelScore
from fbg.tasks.scores import SCORES
from fbg.tasks.scores import top_k as best_first

TopK = int | Literal["best"] | None
ScoreFunction = Literal["softmax", "sigmoid", "none"]


class ClassifyMethods(TaskMethods):
    """The method of `Model` for architectures that end in ForSequenceClassification."""

    @overload
    def classify(
        self,
        texts: str,
        top_k: TopK = ...,
        threshold: float | None = ...,
        function_to_apply: ScoreFunction | None = ...,
        batch_size: int = ...,
        truncation: bool = ...,
    ) -> list[LabelScore]: ...

    @overload
    def classify(
        self,
        texts: Iterable[str | Pair],
        top_k: Literal["best"] = ...,
        threshold: None = ...,
        function_to_apply: ScoreFunction | None = ...,
        batch_size: int = ...,
        truncation: bool = ...,
    ) -> list[LabelScore]: ...

    @overload
    def classify(
        self,
        texts: Iterable[str | Pair],
        top_k: TopK = ...,
        threshold: float | None = ...,
        function_to_apply: ScoreFunction | None = ...,
        batch_size: int = ...,
        truncation: bool = ...,
    ) -> list[LabelScore] | list[list[LabelScore]]: ...

    @task
    def classify(
        self,
        texts: str | Iterable[str | Pair],
        top_k: TopK = "best",
        threshold: float | None = None,
        function_to_apply: ScoreFunction | None = None,
        batch_size: int = 32,
        truncation: bool = True,
    ) -> Steps[list[LabelScore] | list[list[LabelScore]]]:
        """Classify texts: return labels of config.json with their scores.

        texts: a str, or an iterable of str and of pairs (text, text_pair), such as a premise and a
            hypothesis.
        top_k: how many labels to return, best first; None: all labels; "best": the best one.
        threshold: labels with a lower score are left out.
        function_to_apply: the function that computes scores from logits: "softmax", "sigmoid" or
            "none". None, as in transformers: "none" for the problem_type "regression", "sigmoid"
            for a single label and for "multi_label_classification", otherwise "softmax".
        batch_size: the most texts to compute at a time; limits memory, and never changes a result.
        truncation: True truncates texts to `max_length` tokens (the longer text of a pair first),
            and warns once for each model; False raises ValueError for a longer text.

        Returns dicts {"label": str, "score": float}, nested as by the pipeline of transformers:

            texts     top_k="best"           top_k=None, 1, 2, …, or a threshold
            a str     [best]                 [best, second, …]
            several   [best, best, …]        [[best, second, …], [best, second, …], …]

        >>> model.classify("What a film!", top_k=2)  # doctest: +SKIP
        [{'label': 'POSITIVE', 'score': 0.9998}, {'label': 'NEGATIVE', 'score': 0.0002}]
        """
        context = self._context
        call = TaskCall(context, "classify", "texts", batch_size, truncation)
        k = 1 if top_k == "best" else top_k
        k = None if k is None else require_count("classify: top_k", k)
        function = _score_function(call.head, context, function_to_apply)
        results: list[list[LabelScore]] = []
        for block in call.blocks(require_texts_or_pairs(call.where, texts)):
            for output in (yield from call.run(block.encoded)):
                found = label_scores(SCORES[function](output[0]), call.head.labels, k)
                results.append(_at_least(found, threshold))
        if isinstance(texts, str):
            return results[0]
        if top_k == "best" and threshold is None:
            return [result[0] for result in results]
        return results


def _score_function(head: Head, context: TaskContext, given: object) -> str:
    if given is not None:
        return require_choice("classify: function_to_apply", given, tuple(SCORES))
    problem = context.config.tasks.problem_type
    if problem == "regression":
        return "none"
    several = problem != "multi_label_classification" and len(head.labels) > 1
    return "softmax" if several else "sigmoid"


def label_scores(scores: npt.ArrayLike, labels: tuple[str, ...], k: int | None) -> list[LabelScore]:
    """Return the k labels with the largest scores, best first."""
    values = np.asarray(scores, np.float64)
    return [{"label": labels[n], "score": float(values[n])} for n in best_first(values, k)]


def _at_least(results: list[LabelScore], threshold: float | None) -> list[LabelScore]:
    return [r for r in results if threshold is None or r["score"] >= threshold]
