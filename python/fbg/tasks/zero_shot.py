"""Classification by labels that the model was not trained for: each becomes a hypothesis.

A model of natural language inference says whether a text entails a hypothesis such as "This example
is politics." Results are those of the zero-shot-classification pipeline of transformers.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import overload

import numpy as np

from fbg.errors import ModelError
from fbg.runtime.steps import Steps
from fbg.tasks.context import TaskCall, TaskMethods, task
from fbg.tasks.inputs import Pair, require_texts
from fbg.tasks.results import ZeroShotResult
from fbg.tasks.scores import softmax, top_k

TEMPLATE = "This example is {}."


class ZeroShotMethods(TaskMethods):
    """The method of `Model` for classifiers of text pairs that have a label for entailment."""

    @overload  # a str is an iterable of str too, but this comes first
    def zero_shot_classify(  # type: ignore[overload-overlap]
        self,
        texts: str,
        candidate_labels: str | Iterable[str],
        hypothesis_template: str = ...,
        multi_label: bool = ...,
        batch_size: int = ...,
        truncation: bool = ...,
    ) -> ZeroShotResult: ...

    @overload
    def zero_shot_classify(
        self,
        texts: Iterable[str],
        candidate_labels: str | Iterable[str],
        hypothesis_template: str = ...,
        multi_label: bool = ...,
        batch_size: int = ...,
        truncation: bool = ...,
    ) -> list[ZeroShotResult]: ...

    @task
    def zero_shot_classify(
        self,
        texts: str | Iterable[str],
        candidate_labels: str | Iterable[str],
        hypothesis_template: str = TEMPLATE,
        multi_label: bool = False,
        batch_size: int = 32,
        truncation: bool = True,
    ) -> Steps[ZeroShotResult | list[ZeroShotResult]]:
        """Classify texts by labels that are given in words.

        texts: a str, or an iterable of str.
        candidate_labels: an iterable of str, or a str with commas between the labels.
        hypothesis_template: the sentence that a label becomes a hypothesis with, in place of "{}".
        multi_label: whether labels are independent of each other. Then the score of a label is the
            probability of entailment rather than contradiction; otherwise, and only if there are
            several labels, scores add up to 1.
        batch_size: the most pairs of a text and a label to compute at a time; limits memory, and
            never changes a result.
        truncation: True truncates texts so that the pair has `max_length` tokens, and warns once
            for each model; False raises ValueError. Hypotheses are never truncated.

        Returns dicts {"sequence": the text, "labels": best first, "scores": in the same order}; for
        a str, one of them.

        Raises ModelError if no label of config.json begins with "entail"; ValueError without
        labels, for a template without "{}", and for a hypothesis that leaves no room for the text.

        >>> model.zero_shot_classify("It rains.", ["weather", "sports"])  # doctest: +SKIP
        {'sequence': 'It rains.', 'labels': ['weather', 'sports'], 'scores': [0.98, 0.02]}
        """
        call = TaskCall(self._context, "zero_shot_classify", "texts", batch_size, truncation)
        entailment = _entailment(call.head.labels)
        contradiction = -1 if entailment == 0 else 0  # as in the pipeline of transformers
        labels = candidate_list("zero_shot_classify", candidate_labels)
        template = checked_template("zero_shot_classify", hypothesis_template)
        given = require_texts(call.where, texts)
        # Pairs are made a block at a time: all of them may be far larger than texts and labels.
        pairs: Iterator[Pair] = (
            (text, template.replace("{}", label)) for text in given for label in labels
        )
        logits = np.empty((len(given) * len(labels), 2), np.float64)
        for block in call.blocks(pairs, cut_first=True):
            for n, output in enumerate((yield from call.run(block.encoded)), block.first):
                logits[n] = output[0, [contradiction, entailment]]
        results: list[ZeroShotResult] = []
        for text, rows in zip(given, logits.reshape(len(given), len(labels), 2), strict=True):
            alone = multi_label or len(labels) == 1
            scores = softmax(rows)[:, 1] if alone else softmax(rows[:, 1])
            order = top_k(scores, None)
            best = [labels[n] for n in order]
            results.append({"sequence": text, "labels": best, "scores": scores[order].tolist()})
        return results[0] if isinstance(texts, str) else results


def can_entail(labels: tuple[str, ...]) -> bool:
    """Whether labels are those of a model of natural language inference."""
    return len(labels) > 1 and any(map(_is_entailment, labels))


def _is_entailment(label: str) -> bool:
    return label.lower().startswith("entail")


def _entailment(labels: tuple[str, ...]) -> int:
    if not can_entail(labels):
        raise ModelError(
            "zero_shot_classify: id2label in config.json must have at least two labels, one of "
            f"which begins with 'entail', got {', '.join(labels)}"
        )
    return next(n for n, label in enumerate(labels) if _is_entailment(label))


def candidate_list(task: str, given: str | Iterable[str]) -> list[str]:
    """Return labels, which may be one str with commas between them; raises TypeError, ValueError.

    task: the method that they are for.
    """
    where = f"{task}: candidate_labels"
    if isinstance(given, str):
        given = [label.strip() for label in given.split(",")]
        labels = [label for label in given if label]
    else:
        labels = require_texts(where, given)
    if not labels or not all(label.strip() for label in labels):
        raise ValueError(f"{where} must have at least one label, none of them empty, got {labels}")
    return labels


def checked_template(task: str, template: object) -> str:
    """Return a template with one "{}"; raises TypeError or ValueError."""
    where = f"{task}: hypothesis_template"
    if not isinstance(template, str):
        raise TypeError(f"{where} must be a str, got {type(template).__name__}")
    if template.count("{}") != 1:
        raise ValueError(f"{where} must have one {{}} in place of the label, got {template!r}")
    return template
