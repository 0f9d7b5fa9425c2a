"""Answers in contexts, with the results of the question-answering pipeline of transformers: the
likeliest spans of tokens, extended to whole words, equal ones merged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, NamedTuple, overload

import numpy as np
import numpy.typing as npt

from fbg.arrays import Floats
from fbg.runtime.steps import Steps
from fbg.tasks.context import TaskCall, TaskMethods, task
from fbg.tasks.inputs import Pair, require_count, require_same_number, require_texts
from fbg.tasks.results import Answer
from fbg.tasks.scores import softmax, top_k
from fbg.text.encoded_text import EncodedText, Windows

Results = Answer | list[Answer]
Found = tuple[list[Answer], float]  # of a window, with the score of having no answer


class AnswerMethods(TaskMethods):
    """The method of `Model` for architectures that end in ForQuestionAnswering."""

    @overload
    def answer(
        self,
        question: str,
        context: str,
        top_k: Literal[1] = ...,
        max_answer_len: int = ...,
        max_seq_len: int | None = ...,
        doc_stride: int | None = ...,
        handle_impossible_answer: bool = ...,
        batch_size: int = ...,
    ) -> Answer: ...

    @overload
    def answer(
        self,
        question: str | Iterable[str],
        context: str | Iterable[str],
        top_k: int = ...,
        max_answer_len: int = ...,
        max_seq_len: int | None = ...,
        doc_stride: int | None = ...,
        handle_impossible_answer: bool = ...,
        batch_size: int = ...,
    ) -> Results | list[Answer] | list[list[Answer]]: ...

    @task
    def answer(
        self,
        question: str | Iterable[str],
        context: str | Iterable[str],
        top_k: int = 1,
        max_answer_len: int = 15,
        max_seq_len: int | None = None,
        doc_stride: int | None = None,
        handle_impossible_answer: bool = False,
        batch_size: int = 32,
    ) -> Steps[Results | list[Answer] | list[list[Answer]]]:
        """Find the answer to a question in a context of any length.

        question, context: two str, or two iterables of the same number of str.
        top_k: how many answers to return, best first.
        max_answer_len: the most tokens of an answer.
        max_seq_len: the most tokens of a window, including the question; at most `max_length`.
            Longer contexts are read in several windows. Default: 384, or `max_length` if less.
        doc_stride: by how many tokens adjacent windows overlap. Default: the least of 128, half of
            max_seq_len, and the number of tokens that the question leaves in a window.
        handle_impossible_answer: whether "" may be the answer.
        batch_size: the most windows to compute at a time; limits memory, and never changes a
            result.

        Returns for two str a dict with the keys "answer", "score", "start" and "end", where
        context[start:end] is the answer; with top_k > 1, a list of them, best first. For several
        questions, returns a list of these results. The scores of a text that occurs in several
        places are added.

        Raises ValueError also for an empty question or context, and for a question that leaves no
        room for the context.

        >>> model.answer("Where does Ada live?", "Ada lives in London.")  # doctest: +SKIP
        {'answer': 'London', 'score': 0.98, 'start': 13, 'end': 19}
        """
        call = TaskCall(self._context, "answer", "pairs of question and context", batch_size)
        limit = 384 if max_seq_len is None else require_count("answer: max_seq_len", max_seq_len)
        stride = None if doc_stride is None else require_count("answer: doc_stride", doc_stride, 0)
        reader = _Reader(
            call,
            top_k=require_count("answer: top_k", top_k),
            longest=require_count("answer: max_answer_len", max_answer_len),
            limit=min(limit, call.tokenizer.max_length),
            stride=stride,
            or_none=bool(handle_impossible_answer),
        )
        results = yield from reader.read(_checked_pairs(question, context))
        return results[0] if isinstance(question, str) and isinstance(context, str) else results  # type: ignore[return-value]


def _checked_pairs(question: object, context: object) -> list[Pair]:
    questions = require_texts("answer: question", question)
    contexts = require_texts("answer: context", context)
    require_same_number("answer: context", questions, contexts, "question")
    for what, texts in (("question", questions), ("context", contexts)):
        if not all(text.strip() for text in texts):
            raise ValueError(f"answer: {what} must not be empty")
    return list(zip(questions, contexts, strict=True))


class _Reader(NamedTuple):
    """Reads contexts for one call of `answer`.

    limit: the most tokens of a window, question included. stride: tokens that two windows share;
    None: chosen for each pair. or_none: whether "" may be the answer.
    """

    call: TaskCall
    top_k: int
    longest: int
    limit: int
    stride: int | None
    or_none: bool

    def read(self, pairs: list[Pair]) -> Steps[list[Results]]:
        results: list[Results] = []
        for block in self.call.blocks(pairs, located=True, cut=False):
            parts = [self._windows(pair) for pair in block.encoded]
            contexts = [context for _, context in block.texts]

            def read(n: int, window: EncodedText, logits: Floats) -> Found:
                return self._answers(contexts[n], window, logits)  # noqa: B023

            for found in (yield from self.call.run_windows(parts, read)):
                best = self._best(found)
                results.append(best if self.top_k > 1 else (best or [no_answer()])[0])
        return results

    def _windows(self, pair: EncodedText) -> Windows:
        """Return windows of at most `limit` tokens: the question and a part of the context."""
        assert pair.segments is not None
        length = int(np.count_nonzero(pair.segments == 1))
        if length == 0:
            raise ValueError("answer: context must have tokens")
        around = pair.ids.size - length
        size = self.limit - around
        if size < 1:
            raise ValueError(
                f"answer: question must leave room for the context: it takes {around} of "
                f"{self.limit} tokens"
            )
        stride = min(self.limit // 2, 128, size - 1) if self.stride is None else self.stride
        if length > size and stride >= size:
            raise ValueError(
                f"answer: doc_stride must be less than the {size} tokens that the question leaves, "
                f"got {stride}"
            )
        return pair.windows(1, size, stride)

    def _answers(self, context: str, window: EncodedText, logits: Floats) -> Found:
        """Return the best answers in a window, and the score of having no answer."""
        segments, offsets, words = window.segments, window.offsets, window.words
        assert segments is not None and offsets is not None and words is not None
        inside = segments == 1
        spans, nothing = best_spans(
            logits[:, 0], logits[:, 1], inside, 2 * self.top_k + 10, self.longest
        )
        answers: list[Answer] = []
        for span in spans:
            start, end = whole_words(span, offsets, np.where(inside, words, -1))
            text = context[start:end]
            answers.append({"answer": text, "score": span.score, "start": start, "end": end})
        return answers, nothing

    def _best(self, found: list[Found]) -> list[Answer]:
        answers = [answer for part, _ in found for answer in part]
        nothing = min(score for _, score in found) if self.or_none else None
        return merge_answers(answers, self.top_k, nothing)


class Span(NamedTuple):
    """The tokens `start` to `end`, both included."""

    start: int
    end: int
    score: float


def no_answer(score: float = 0.0) -> Answer:
    return {"answer": "", "score": score, "start": 0, "end": 0}


def best_spans(
    start: npt.ArrayLike,
    end: npt.ArrayLike,
    allowed: npt.NDArray[np.bool_],
    k: int,
    max_length: int,
) -> tuple[list[Span], float]:
    """Return the k likeliest spans of at most `max_length` tokens, and the score of none.

    start, end: logits of every token. Token 0 stands for "no answer": it takes part in the
        probabilities, never in a span.
    allowed: tokens that may be part of a span.
    """
    possible = allowed.copy()
    possible[0] = True
    first, last = (
        softmax(np.where(possible, np.asarray(x, np.float64), -np.inf)) for x in (start, end)
    )
    nothing = float(first[0] * last[0])
    first, last = np.where(allowed, first, 0), np.where(allowed, last, 0)
    first[0] = last[0] = 0
    # scores[s, n]: of the span of n + 1 tokens from s on; it ends at s + n, perhaps outside.
    count = min(max_length, first.size)
    ends = np.arange(first.size)[:, None] + np.arange(count)
    inside = ends < first.size
    ends = np.minimum(ends, first.size - 1)
    scores = np.where(inside, first[:, None] * last[ends], 0)
    valid = inside & allowed[:, None] & allowed[ends]
    valid[0] = False
    scores[~valid] = -1
    spans = []
    for place in top_k(scores.reshape(-1), k):
        s, n = divmod(int(place), count)
        if valid[s, n]:
            spans.append(Span(s, s + n, float(scores[s, n])))
    return spans, nothing


def whole_words(
    span: Span, offsets: npt.NDArray[np.int32], words: npt.NDArray[np.int32]
) -> tuple[int, int]:
    """Return begin and end, in characters, of a span that is extended to whole words.

    offsets, words: as in EncodedText, for tokens of one text only.
    """
    begin, end = span.start, span.end
    if words[begin] >= 0 and words[end] >= 0:
        while begin > 0 and words[begin - 1] == words[begin]:
            begin -= 1
        while end + 1 < words.size and words[end + 1] == words[end]:
            end += 1
    return int(offsets[begin, 0]), int(offsets[end, 1])


def merge_answers(answers: Sequence[Answer], k: int, nothing: float | None = None) -> list[Answer]:
    """Return the k best answers with different texts; scores of the same text add up.

    nothing: the score of having no answer, if allowed.
    """
    merged: dict[str, Answer] = {}
    for answer in answers:
        same = merged.setdefault(answer["answer"].lower(), {**answer, "score": 0.0})
        same["score"] += answer["score"]
    candidates = list(merged.values())
    if nothing is not None:
        candidates.append(no_answer(nothing))
    return sorted(candidates, key=lambda answer: -answer["score"])[:k]
