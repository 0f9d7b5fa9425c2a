"""Tasks on the tokens of a text, of a Model that has a head for them: ner, answer, fill_mask.

As text_tasks.py; names, arguments and results follow the token-classification, question-answering
and fill-mask pipelines of Hugging Face transformers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fbg.tasks import postprocessing as post
from fbg.tasks.inputs import require_choice, require_count, require_same_number, require_texts
from fbg.tasks.task_runner import TaskRunner
from fbg.text.tokenization import EncodedText

__all__ = ["TokenTasks"]

Floats = npt.NDArray[np.float32]
Results = list[dict[str, Any]]


class TokenTasks:
    """What Model can do with tokens if config.json names a head and the checkpoint has it.

    What TextTasks says of inputs, results, batches and errors holds here too; contexts of `answer`
    are read in full, however long.
    """

    _tasks: TaskRunner

    # --- Token classification -----------------------------------------------------------------

    def ner(
        self,
        texts: str | Sequence[str],
        aggregation_strategy: Literal["none", "simple", "first", "average", "max"] = "simple",
        ignore_labels: Sequence[str] = ("O",),
        batch_size: int = 32,
    ) -> list[Any]:
        """Find named entities, or whatever a token classifier was trained for.

        aggregation_strategy: "none" gives every token by itself. "simple" makes neighbours of one
            kind one entity, where "B-" begins a new one. "first", "average" and "max" first give
            all tokens of a word one label: that of its first token, of the mean of their scores, or
            of the token that is surest.
        ignore_labels: labels, with "B-" or "I-" if ungrouped, to leave out.

        Returns for each text a list of {"entity_group", "score", "word", "start", "end"}, with
        characters text[start:end]; with "none", "entity" and "index", the place of the token,
        instead of "entity_group".

        >>> model.ner("Ada lives in London")  # doctest: +SKIP
        [{'entity_group': 'PER', 'score': 0.99, 'word': 'Ada', 'start': 0, 'end': 3},
         {'entity_group': 'LOC', 'score': 0.99, 'word': 'London', 'start': 13, 'end': 19}]
        """
        head = self._tasks.head("ner")
        tokenizer = self._tasks.tokenizer
        strategy = require_choice(
            "ner: aggregation_strategy", aggregation_strategy, post.AGGREGATIONS
        )
        size = require_count("ner: batch_size", batch_size)
        ignored = set(require_texts("ner: ignore_labels", ignore_labels))
        given = require_texts("ner: texts", texts)
        encoded = tokenizer.locate(given, "ner: texts")
        results = []
        for text, tokens, logits in zip(
            given, encoded, self._tasks.logits(encoded, size, "ner"), strict=True
        ):
            located = self._located(text, tokens, logits)
            entities = post.aggregate(located, head.labels, strategy, tokenizer.join)
            if strategy != "none":
                entities = post.group_entities(entities, tokenizer.join)
            label = "entity" if strategy == "none" else "entity_group"
            results.append([entity for entity in entities if entity[label] not in ignored])
        return results[0] if isinstance(texts, str) else results

    def _located(self, text: str, encoded: EncodedText, logits: Floats) -> list[post.Token]:
        """Return the tokens of a text, special ones excluded, with their scores."""
        tokenizer = self._tasks.tokenizer
        assert encoded.segments is not None and encoded.offsets is not None
        scores, words = post.softmax(logits), tokenizer.tokens(encoded.ids.tolist())
        unknown, marked = tokenizer.unknown_id, tokenizer.marks_subwords
        tokens = []
        for n in np.flatnonzero(encoded.segments >= 0).tolist():
            start, end = encoded.offsets[n].tolist()
            word, written = words[n], text[start:end]
            if encoded.ids[n] == unknown:
                word, inside = written, False
            elif marked:
                inside = len(word) != len(written)
            else:  # a guess: between words there is a space
                inside = start > 0 and " " not in text[start - 1 : start + 1]
            tokens.append(post.Token(scores[n], n, word, start, end, inside))
        return tokens

    # --- Question answering -------------------------------------------------------------------

    def answer(
        self,
        question: str | Sequence[str],
        context: str | Sequence[str],
        top_k: int = 1,
        max_answer_len: int = 15,
        max_seq_len: int | None = None,
        doc_stride: int | None = None,
        handle_impossible_answer: bool = False,
        batch_size: int = 32,
    ) -> Any:
        """Find the answer to a question in a context, however long.

        question, context: two str, or two sequences of as many.
        top_k: how many answers, best first.
        max_answer_len: the most tokens of an answer.
        max_seq_len: a context that does not fit into so many tokens, question included, is read
            in windows; at most `max_length`. Default: 384, or `max_length` if that is less.
        doc_stride: tokens that two windows share. Default: 128, or half of max_seq_len, or what the
            question leaves, if that is less.
        handle_impossible_answer: "" may be the answer.

        Returns for each question {"answer", "score", "start", "end"}, with characters
        context[start:end]; with top_k > 1 a list of them. Scores of one text that was found in
        several places add up. Raises ValueError also for an empty question or context, and for a
        question that leaves no place for the context.

        >>> model.answer("Where does Ada live?", "Ada lives in London.")  # doctest: +SKIP
        {'answer': 'London', 'score': 0.98, 'start': 13, 'end': 19}
        """
        self._tasks.head("answer")
        tokenizer = self._tasks.tokenizer
        k = require_count("answer: top_k", top_k)
        longest = require_count("answer: max_answer_len", max_answer_len)
        size = require_count("answer: batch_size", batch_size)
        limit = 384 if max_seq_len is None else require_count("answer: max_seq_len", max_seq_len)
        limit = min(limit, tokenizer.max_length)
        stride = None if doc_stride is None else require_count("answer: doc_stride", doc_stride, 0)
        one = isinstance(question, str) and isinstance(context, str)
        questions = require_texts("answer: question", question)
        contexts = require_texts("answer: context", context)
        require_same_number("answer: context", questions, contexts, "question")
        for what, texts in (("question", questions), ("context", contexts)):
            if not all(text.strip() for text in texts):
                raise ValueError(f"answer: {what} must not be empty")

        pairs = list(zip(questions, contexts, strict=True))
        encoded = tokenizer.locate(pairs, "answer: pairs of question and context", cut=False)
        parts = [_cut(pair, limit, stride) for pair in encoded]
        logits = iter(self._tasks.logits([w for part in parts for w in part], size, "answer"))
        results: list[Any] = []
        for (_, text), part in zip(pairs, parts, strict=True):
            answers: Results = []
            nothing = np.inf
            for window in part:
                found, null = _answers(text, window, next(logits), 2 * k + 10, longest)
                answers += found
                nothing = min(nothing, null)
            best = post.merge_answers(answers, k, nothing if handle_impossible_answer else None)
            results.append(best if k > 1 else (best or [dict(post.NO_ANSWER)])[0])
        return results[0] if one else results

    # --- Masked language model ----------------------------------------------------------------

    def fill_mask(
        self,
        texts: str | Sequence[str],
        top_k: int = 5,
        targets: str | Sequence[str] | None = None,
        batch_size: int = 32,
    ) -> list[Any]:
        """Guess masked tokens.

        texts: each with the mask token of the tokenizer, [MASK] or <mask>, at least once.
        top_k: how many tokens, best first.
        targets: tokens of the vocabulary to choose from; default: all.

        Returns for each text a list of {"score", "token", "token_str", "sequence"}, or one such
        list for each mask if it has several. Raises ValueError also for a text without a mask
        within `max_length` tokens, and a target that is no token.

        >>> model.fill_mask("Paris is the [MASK] of France.", top_k=1)  # doctest: +SKIP
        [{'score': 0.99, 'token': 3007, 'token_str': 'capital',
          'sequence': 'paris is the capital of france.'}]
        """
        self._tasks.head("fill_mask")
        tokenizer = self._tasks.tokenizer
        k = require_count("fill_mask: top_k", top_k)
        size = require_count("fill_mask: batch_size", batch_size)
        chosen = self._targets(targets)
        given = require_texts("fill_mask: texts", texts)
        encoded = tokenizer.encode(given, "fill_mask: texts")
        places = [np.flatnonzero(text.ids == tokenizer.mask_id) for text in encoded]
        for n, place in enumerate(places):
            if place.size == 0:
                raise ValueError(
                    f"fill_mask: texts[{n}] must have a mask token, [MASK] or <mask>, within "
                    f"{tokenizer.max_length} tokens"
                )
        states = self._tasks.logits(encoded, size, "fill_mask")
        masked = [state[place] for state, place in zip(states, places, strict=True)]
        logits = self._tasks.decode(np.concatenate(masked)) if masked else iter(())
        results: list[Any] = []
        for text, place in zip(encoded, places, strict=True):
            several = place.size > 1
            rows = [
                self._filled(text.ids, int(p), next(logits), k, chosen, not several) for p in place
            ]
            results.append(rows if several else rows[0])
        return results[0] if isinstance(texts, str) else results

    def _targets(self, targets: object) -> npt.NDArray[np.intp] | None:
        if targets is None:
            return None
        numbers = []
        for n, target in enumerate(require_texts("fill_mask: targets", targets)):
            number = self._tasks.tokenizer.token_id(target)
            if number is None or number >= self._tasks.config.vocab_size:
                raise ValueError(
                    f"fill_mask: targets[{n}] must be a token of the vocabulary, got {target!r}"
                )
            numbers.append(number)
        if not numbers:
            raise ValueError("fill_mask: targets must name at least one token")
        return np.unique(numbers)

    def _filled(
        self,
        ids: npt.NDArray[np.int32],
        place: int,
        logits: Floats,
        k: int,
        targets: npt.NDArray[np.intp] | None,
        skip_special_tokens: bool,
    ) -> Results:
        tokenizer, scores = self._tasks.tokenizer, post.softmax(logits)
        padding = tokenizer.padding_id
        candidates = np.arange(scores.size) if targets is None else targets
        results = []
        for best in candidates[post.top_k(scores[candidates], k)].tolist():
            filled = ids.copy()
            filled[place] = best
            text = filled[filled != padding].tolist()  # padding is nothing that could be read
            results.append(
                {
                    "score": float(scores[best]),
                    "token": best,
                    "token_str": tokenizer.decode([best], skip_special_tokens=False),
                    "sequence": tokenizer.decode(text, skip_special_tokens),
                }
            )
        return results


def _cut(pair: EncodedText, limit: int, stride: int | None) -> list[EncodedText]:
    """Return windows of at most `limit` tokens: the question and a part of the context."""
    assert pair.segments is not None
    context = np.flatnonzero(pair.segments == 1)
    if context.size == 0:
        raise ValueError("answer: context must have tokens")
    first, last = int(context[0]), int(context[-1]) + 1
    around = pair.ids.size - (last - first)
    size = limit - around
    if size < 1:
        raise ValueError(
            f"answer: question must leave a place for the context: it takes {around} of {limit} "
            "tokens"
        )
    if stride is None:
        stride = min(limit // 2, 128, size - 1)
    if last - first > size and stride >= size:
        raise ValueError(
            f"answer: doc_stride must be less than the {size} tokens that the question leaves, "
            f"got {stride}"
        )
    before, after = np.arange(first), np.arange(last, pair.ids.size)
    return [
        pair.take(np.concatenate([before, np.arange(first + begin, first + end), after]))
        for begin, end in post.windows(last - first, size, stride)
    ]


def _answers(
    context: str, window: EncodedText, logits: Floats, k: int, max_length: int
) -> tuple[Results, float]:
    """Return the k best answers in a window, and the score of there being none."""
    assert window.segments is not None and window.offsets is not None and window.words is not None
    spans, nothing = post.best_spans(
        logits[:, 0], logits[:, 1], window.segments == 1, k, max_length
    )
    words = np.where(window.segments == 1, window.words, -1)
    answers = []
    for span in spans:
        start, end = post.whole_words(span, window.offsets, words)
        answers.append(
            {"answer": context[start:end], "score": span.score, "start": start, "end": end}
        )
    return answers, nothing
