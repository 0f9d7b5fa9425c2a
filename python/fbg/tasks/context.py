"""The context that the tasks of a model share: tokenizer, engines, and the common part of calls.

The rule of all tasks for texts that are too long: with truncation=True, they are cut, which a
UserWarning says once for each method of a model; truncation=False is a ValueError that names the
text and its length.
"""

from __future__ import annotations

import functools
import inspect
import sys
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any, Generic, ParamSpec, TypeVar, cast

import numpy as np

from fbg import _fbg
from fbg.arrays import Floats, require_flag
from fbg.locks import cached_property
from fbg.matmul.packed_b import PackedB
from fbg.networks.gliner import TokenHead
from fbg.networks.heads import Head
from fbg.networks.transformer import Transformer
from fbg.runtime.steps import Request, Steps, run_steps
from fbg.tasks.engines import Engines, decode_columns, require_head
from fbg.tasks.gliner.spans import SpanScorer, WordScorer
from fbg.tasks.inputs import SomeText, require_count, text_blocks
from fbg.text.encoded_text import WINDOW_TOKENS, EncodedText, Windows
from fbg.text.sentence import SentenceConfig
from fbg.text.tokenization import Text, TextTokenizer

P = ParamSpec("P")
Result = TypeVar("Result")
OF_SENTENCES = ("encode_sparse", "predict", "rerank")  # tasks of sentence-transformers' models


class TaskContext:
    """The parts with which a model computes tasks, made once for a model; threads may share it.

    threads: of a call, as set for the model; None: the default of the process.
    """

    def __init__(
        self,
        transformer: Transformer,
        sentence: SentenceConfig,
        tokenizer: TextTokenizer,
        directory: Path,
        num_threads: int | None,
    ) -> None:
        self.config = transformer.config
        self.transformer = transformer
        self.directory = directory
        self.sentence = sentence
        self.tokenizer = tokenizer
        self.engines = Engines(transformer, sentence)
        self._warned: set[str] = set()  # the methods that have said that they cut texts
        self.threads = num_threads

    @property
    def num_threads(self) -> int:
        """The threads of a call: as set for the model, else the default of the process."""
        return self.threads or _fbg.num_threads()

    def tokenize(
        self,
        texts: Sequence[Text] | Sequence[list[str]],
        where: str,
        first: int,
        truncation: bool,
        tokenizer: TextTokenizer | None = None,
        **how: Any,
    ) -> list[EncodedText]:
        """Return the tokens of texts, as `TextTokenizer.encode` does; if one is cut, say so, or
        raise ValueError without `truncation`.

        where, first: the name of the texts, such as "encode: sentences", and the number of texts[0]
            among them. tokenizer: instead of that of the model. how: options of `encode`.
        """
        tokenizer = tokenizer or self.tokenizer
        _fbg.enter_call()  # as `calling`, which takes longer
        try:
            encoded = tokenizer.encode(texts, where, first, **how)
        finally:
            _fbg.leave_call()
        for n, text in enumerate(encoded, first):
            if text.length > text.ids.size:
                has = f"{text.length} tokens"
                self.cut(f"{where}[{n}]", has, tokenizer.max_length, truncation)
                break
        return encoded

    def cut(self, text: str, has: str, most: int, truncation: bool) -> None:
        """Say that a text is cut, or raise ValueError without `truncation`.

        text: its name, such as "encode: sentences[3]". has: what it has, such as "40 words".
        most: how many of them the model takes.
        """
        if not truncation:
            raise ValueError(
                f"{text} has {has}, but the model takes at most {most}; truncation=True "
                "truncates it"
            )
        method = text.partition(":")[0]
        if method not in self._warned:
            self._warned.add(method)
            warnings.warn(
                f"{text} has {has} and was truncated to the {most} that the model takes (this "
                f"warning is given once per model for {method})",
                UserWarning,
                stacklevel=_level_of_caller(),
            )

    @cached_property
    def token_heads(self) -> PackedB | None:
        """The heads of bge-m3, packed at the first use; None for other models."""
        heads = self.sentence.token_heads
        return None if heads is None else PackedB(heads.weight, transpose=True, dtype="float32")

    @cached_property
    def span_scorer(self) -> SpanScorer | WordScorer | None:
        """The layers behind the encoder of GLiNER, packed at first use; None for other models."""
        head, spans = self.transformer.spans, self.config.tasks.spans
        if head is None or spans is None:
            return None
        if isinstance(head, TokenHead):
            return WordScorer(head)
        return SpanScorer(head, spans.max_width)


def _level_of_caller() -> int:
    """Return the stacklevel with which a warning names the line that called this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("fbg."):
        level, frame = level + 1, frame.f_back
    return level


@dataclass(frozen=True)
class Block(Generic[SomeText]):
    """Some of the texts of a call, and their tokens; first: the number of texts[0] in the call."""

    first: int
    texts: list[SomeText]
    encoded: list[EncodedText]


class TaskCall:
    """One call of a method that uses the head: the checks, tokenization and run that all share.

    task: the method of Model. argument: the name of its texts in errors. prompt: the
    instruction of a decoder that reranks, instead of the model's.

    Raises ModelError if the model has no head for the task.
    """

    def __init__(
        self,
        context: TaskContext,
        task: str,
        argument: str,
        batch_size: object,
        truncation: object = True,
        prompt: object = None,
    ) -> None:
        self.head = require_head(context.transformer, context.directory, task)
        self.prompt = _checked_prompt(context, self.head, task, prompt)
        self.tokenizer = context.tokenizer
        self.where = f"{task}: {argument}"
        self._context = context
        self._task = task
        self.batch_size = require_count(f"{task}: batch_size", batch_size)
        self.truncation = require_flag(truncation, f"{task}: truncation")

    def blocks(
        self,
        texts: Iterable[SomeText],
        *,
        located: bool = False,
        cut: bool = True,
        cut_first: bool = False,
    ) -> Iterator[Block[SomeText]]:
        """Tokenize texts block by block; texts that are too long are cut if `cut`.

        cut_first: of a pair, only the first text is cut.
        """
        first = 0
        for block in text_blocks(texts):
            rendered = self._rendered(block)
            how: dict[str, Any] = {"located": located, "cut": cut, "cut_first": cut_first}
            how["sentences"] = self._task in OF_SENTENCES
            given: list[Any] = rendered[:-2] if rendered else block
            encoded = self._context.tokenize(
                given, self.where, first, self.truncation, ends=rendered[-2:], **how
            )
            yield Block(first, block, encoded)
            first += len(block)

    def _rendered(self, block: Sequence[SomeText]) -> list[str]:
        """Return the input of a decoder for pairs, and for two with nothing in common; for
        other models and of decoders without a template, nothing.
        """
        template = self._context.sentence.template
        if self.head.kind != "ForCausalLM" or template is None:
            return []
        pairs: list[tuple[str, str]] = [pair for pair in block if isinstance(pair, tuple)]
        pairs += [("0", "0"), ("1 2 3 4", "1 2 3 4")]
        return [template.text(query, text, self.prompt) for query, text in pairs]

    def run(
        self,
        encoded: Sequence[EncodedText],
        keep: Callable[[int, Floats], Floats] = lambda n, output: output,
        before: int = 0,
        after: int = 0,
    ) -> Steps[list[Floats]]:
        """Ask for the head's output for each text; return the results of `keep(number, output)`.

        The driver of the task computes it: `outputs = yield from call.run(encoded)`. before,
        after: texts of the same call that are computed earlier and later (`Request`).
        """
        engine = self._context.engines.head
        ids, types = [text.ids for text in encoded], [text.types for text in encoded]
        size = self.batch_size
        return (yield Request(engine, ids, self._task, keep, size, before, after, types))

    def run_windows(
        self, parts: Sequence[Windows], read: Callable[[int, EncodedText, Floats], Result]
    ) -> Steps[list[list[Result]]]:
        """Ask for the head's output for each window of some texts; return what is read of each.

        read: called with the number of the text, the window, and the output for it. Only some
        windows are there at a time.
        """
        found: list[list[Result]] = [[] for _ in parts]
        left = sum(map(len, parts))
        total, most = left, max(1, WINDOW_TOKENS // self.tokenizer.max_length)
        every = ((n, window) for n, part in enumerate(parts) for window in part)
        while some := list(islice(every, most)):
            before, left = total - left, left - len(some)
            outputs = yield from self.run([window for _, window in some], before=before, after=left)
            for (n, window), output in zip(some, outputs, strict=True):
                found[n].append(read(n, window, output))
        return found

    def decode(self, states: Floats) -> Iterator[Floats]:
        """Yield the logits of every token of the vocabulary for each masked token.

        states: (masks, embedding_size), the output for masked tokens.
        """
        for columns in self._decoded(states):
            yield from columns.T + self._decoder_bias

    def _decoded(self, states: Floats) -> Iterator[Floats]:
        return decode_columns(self._context.transformer, states, self._context.num_threads)

    @property
    def _decoder_bias(self) -> Floats:
        assert self.head.decoder_bias is not None
        return self.head.decoder_bias

    def decode_best(self, states: Sequence[Floats]) -> Iterator[Floats]:
        """Yield for each text the largest logit of every token of the vocabulary in any place.

        states: (tokens, embedding_size) of each text, at least one token.
        """
        ends = np.cumsum([len(rows) for rows in states])
        text, begin, best = 0, 0, None
        for columns in self._decoded(np.concatenate(states)):
            place, width = 0, columns.shape[1]
            while place < width:
                stop = min(int(ends[text]) - begin, width)
                part = columns[:, place:stop].max(axis=1)
                best = part if best is None else np.maximum(best, part)
                place = stop
                if begin + stop == ends[text]:
                    yield best + self._decoder_bias
                    text, best = text + 1, None
            begin += width


def _checked_prompt(context: TaskContext, head: Head, task: str, prompt: object) -> str | None:
    if prompt is None:
        return None
    if not isinstance(prompt, str):
        raise TypeError(f"{task}: prompt must be a str or None, got {type(prompt).__name__}")
    templated = head.kind == "ForCausalLM" and context.sentence.template is not None
    if not templated and head.kind != "JinaForRanking":
        raise ValueError(f"{task}: prompt must be None: the model has no place for an instruction")
    return prompt


class TaskMethods:
    """A base of the classes whose methods are tasks of `Model`.

    A task is written as steps, so that others can drive it, too:

        model.classify(…)       runs them in this thread
        await m.classify(…)     of AsyncModel: their requests go to a queue
    """

    _context: TaskContext

    def _run(self, steps: Steps[Result]) -> Result:
        return run_steps(steps, self._context.threads)


def task(method: Callable[P, Steps[Result]]) -> Callable[P, Result]:
    """Let a method that is written as steps run them and return their result. A decorator."""

    @functools.wraps(method)
    def run(*args: P.args, **options: P.kwargs) -> Result:
        return cast(TaskMethods, args[0])._run(method(*args, **options))

    returned = method.__annotations__["return"]
    method.__annotations__["return"] = returned.removeprefix("Steps[").removesuffix("]")
    return run


def steps_of(method: Callable[..., Result]) -> Callable[..., Steps[Result]]:
    """Return the function that makes the steps of a task from the arguments of the method."""
    steps: Callable[..., Steps[Result]] = inspect.unwrap(method)
    return steps
