"""Tasks on whole texts, of a Model that has a head for them: classify, predict, rerank.

Each method is: check, tokenize, run the head (task_runner.py), and postprocess one text at a time
(postprocessing.py). Names, arguments and results follow the text-classification pipeline of Hugging
Face transformers, and CrossEncoder of sentence-transformers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fbg.tasks import postprocessing as post
from fbg.tasks.inputs import Pair, require_choice, require_count, require_pairs, require_texts
from fbg.tasks.task_runner import TaskRunner

__all__ = ["TextTasks"]

Floats = npt.NDArray[np.float32]
Results = list[dict[str, Any]]

SCORES: dict[str, Callable[[npt.ArrayLike], npt.NDArray[Any]]] = {
    "softmax": post.softmax,
    "sigmoid": post.sigmoid,
    "none": np.asarray,
}


class TextTasks:
    """What Model can do with texts if config.json names a head and the checkpoint has it.

    Methods take one input or a sequence of them, and give one result or a list in the same order.
    Texts longer than `max_length` tokens are cut; of a pair, the longer one. batch_size is the most
    texts to compute at a time: it bounds memory and never changes a result. A result depends on its
    own input alone: it is the same, to the bit, in any batch.

    All raise ModelError if the model has no head for the task, TypeError if something is not a str,
    and ValueError for arguments out of range.
    """

    _tasks: TaskRunner

    def classify(
        self,
        texts: str | Pair | Sequence[str | Pair],
        top_k: int | None = 1,
        threshold: float | None = None,
        function_to_apply: Literal["softmax", "sigmoid", "none"] | None = None,
        batch_size: int = 32,
    ) -> list[Any]:
        """Give texts the labels of config.json, with scores.

        texts: a str, or a sequence whose elements are str or pairs (text, text_pair), such as
            premise and hypothesis.
        top_k: how many labels, best first; None: all.
        threshold: leave out labels with a lower score.
        function_to_apply: from logits to scores. None does what transformers does: none for
            problem_type "regression", sigmoid for a single label or "multi_label_classification",
            softmax for others.

        Returns for each text a list of {"label": str, "score": float}.

        >>> model.classify("What a film!", top_k=2)  # doctest: +SKIP
        [{'label': 'POSITIVE', 'score': 0.9998}, {'label': 'NEGATIVE', 'score': 0.0002}]
        """
        head = self._tasks.head("classify")
        k = None if top_k is None else require_count("classify: top_k", top_k)
        if function_to_apply is None:
            function = self._default_scores()
        else:
            function = require_choice(
                "classify: function_to_apply", function_to_apply, tuple(SCORES)
            )
        results = [
            post.at_least(post.label_scores(SCORES[function](logits), head.labels, k), threshold)
            for logits in self._sequence_logits("classify", texts, batch_size, or_texts=True)
        ]
        return results[0] if isinstance(texts, str) else results

    def predict(
        self,
        inputs: Pair | Sequence[Pair],
        activation_fn: Literal["sigmoid", "none"] | None = None,
        apply_softmax: bool = False,
        batch_size: int = 32,
    ) -> Floats | np.float32:
        """Score pairs of texts with a cross-encoder.

        inputs: a pair (text, text_pair), or a sequence of them.
        activation_fn: from logits to scores. None: what config.json says for sentence-transformers,
            else sigmoid for a single label and none for several.
        apply_softmax: then make the scores of several labels add up to 1.

        Returns float32, (pairs,) with a single label and (pairs, labels) with several; without the
        first axis for one pair.

        >>> model.predict([("a question", "an answer"), ("a question", "?")])  # doctest: +SKIP
        array([0.97, 0.02], dtype=float32)
        """
        single = len(self._tasks.head("predict").labels) == 1
        if activation_fn is None:
            activation = self._tasks.config.tasks.pair_activation or ("none", "sigmoid")[single]
        else:
            activation = require_choice(
                "predict: activation_fn", activation_fn, ("sigmoid", "none")
            )
        one = isinstance(inputs, (tuple, list)) and any(isinstance(text, str) for text in inputs)
        pairs = [inputs] if one else inputs
        logits = self._sequence_logits("predict", pairs, batch_size, or_texts=False)
        scores = [SCORES[activation](row) for row in logits]
        if apply_softmax and not single:
            scores = [post.softmax(row) for row in scores]
        result = np.zeros((len(scores), len(self._tasks.head("predict").labels)), np.float32)
        if scores:
            result[:] = scores
        if single:
            result = result[:, 0]
        return result[0] if one else result

    def rerank(
        self,
        query: str,
        documents: Sequence[str],
        top_k: int | None = None,
        return_documents: bool = False,
        batch_size: int = 32,
    ) -> Results:
        """Order documents by how well they answer a query, by the score of `predict`.

        Returns {"corpus_id": place in documents, "score": float} of the best `top_k` (None: of
        all), best first; with return_documents also "text". Raises ValueError if the model has
        more than one label.

        >>> model.rerank("who wrote it?", ["no idea", "Harper Lee did"], top_k=1)  # doctest: +SKIP
        [{'corpus_id': 1, 'score': 0.98}]
        """
        labels = self._tasks.head("rerank").labels
        if len(labels) != 1:
            raise ValueError(
                f"rerank: wanted a model with one label, got {len(labels)}: predict gives them all"
            )
        if not isinstance(query, str):
            raise TypeError(f"rerank: query must be a str, got {type(query).__name__}")
        if isinstance(documents, str):
            raise TypeError("rerank: documents must be a sequence of str, got str")
        k = None if top_k is None else require_count("rerank: top_k", top_k)
        texts = require_texts("rerank: documents", documents)
        scores = self.predict([(query, text) for text in texts], batch_size=batch_size)
        results = []
        for n in post.top_k(scores, k).tolist():
            result = {"corpus_id": n, "score": float(np.asarray(scores)[n])}
            results.append({**result, "text": texts[n]} if return_documents else result)
        return results

    def _default_scores(self) -> str:
        tasks, labels = self._tasks.config.tasks, self._tasks.head("classify").labels
        if tasks.problem_type == "regression":
            return "none"
        multiple = tasks.problem_type == "multi_label_classification"
        return "sigmoid" if multiple or len(labels) == 1 else "softmax"

    def _sequence_logits(
        self, task: str, texts: object, batch_size: int, *, or_texts: bool
    ) -> list[Floats]:
        size = require_count(f"{task}: batch_size", batch_size)
        where = f"{task}: {'texts' if or_texts else 'inputs'}"
        texts = [texts] if isinstance(texts, str) else texts
        pairs = require_pairs(where, texts, or_texts=or_texts)
        encoded = self._tasks.tokenizer.encode(pairs, where)
        return [logits[0] for logits in self._tasks.logits(encoded, size, task)]
