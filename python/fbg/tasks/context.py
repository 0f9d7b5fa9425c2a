"""What the tasks of a model share: tokenizer, engines, and the common part of every call."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.locks import cached_property
from fbg.matmul.packed_b import PackedB
from fbg.networks.heads import Head
from fbg.networks.transformer import Transformer
from fbg.runtime.steps import Steps
from fbg.runtime.work import Work
from fbg.tasks.engines import EmbeddingEngines, HeadEngine
from fbg.tasks.gliner.spans import SpanScorer
from fbg.tasks.inputs import SomeText, require_count, text_blocks
from fbg.tasks.multi.engines import MultiVectorEngines
from fbg.tasks.truncation import CutTexts, require_truncation
from fbg.text.encoded_text import EncodedText
from fbg.text.sentence import SentenceConfig
from fbg.text.tokenization import TextTokenizer
from fbg.threads import calling

__all__ = ["Block", "TaskCall", "TaskContext"]

Floats = npt.NDArray[np.float32]


class TaskContext:
    """What a model computes its tasks with. Made once for a model; threads may share it."""

    def __init__(
        self,
        transformer: Transformer,
        sentence: SentenceConfig,
        tokenizer: TextTokenizer,
        directory: Path,
        num_threads: int | None,
    ) -> None:
        self.config = transformer.config
        self._span_head = transformer.spans
        self.sentence = sentence
        self.tokenizer = tokenizer
        self.embeddings = EmbeddingEngines(transformer, sentence)
        self.head_engine = HeadEngine(transformer, directory)
        self.multi_vector = MultiVectorEngines(transformer, sentence.multi_vector, directory)
        self.cut_texts = CutTexts(tokenizer.max_length)
        self._num_threads = num_threads

    @property
    def num_threads(self) -> int:
        """Threads of a call: those of the model, else the default of the process."""
        return self._num_threads or _fbg.num_threads()

    @cached_property
    def token_heads(self) -> PackedB | None:
        """The heads of bge-m3, packed at the first use; None for other models."""
        heads = self.sentence.token_heads
        return None if heads is None else PackedB(heads.weight, transpose=True, dtype="float32")

    @cached_property
    def span_scorer(self) -> SpanScorer | None:
        """What follows the encoder of GLiNER, packed at the first use; None for other models."""
        spans = self.config.tasks.spans
        if self._span_head is None or spans is None:
            return None
        return SpanScorer(self._span_head, spans.max_width)

    @property
    def arena_bytes(self) -> int:
        engines = (self.embeddings, self.head_engine, self.multi_vector)
        return sum(engine.arena_bytes for engine in engines)


@dataclass(frozen=True)
class Block(Generic[SomeText]):
    """Some of the texts of a call, and their tokens; first: the number of texts[0] in the call."""

    first: int
    texts: list[SomeText]
    encoded: list[EncodedText]


class TaskCall:
    """One call of a method that uses the head: what all of them check, tokenize and run alike.

    task: the method of Model. argument: what it calls its texts, for errors. prompt: the
    instruction of a decoder that reranks, instead of that of the model.

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
        self.head = context.head_engine.head(task)
        self._prompt = _checked_prompt(context, self.head, task, prompt)
        self.tokenizer = context.tokenizer
        self.where = f"{task}: {argument}"
        self._context = context
        self._task = task
        self.batch_size = require_count(f"{task}: batch_size", batch_size)
        self.truncation = require_truncation(task, truncation)

    def blocks(
        self,
        texts: Iterable[SomeText],
        *,
        located: bool = False,
        cut: bool = True,
        cut_first: bool = False,
    ) -> Iterator[Block[SomeText]]:
        """Tokenize a block of texts after the other; texts that are too long are cut if `cut`.

        cut_first: of a pair, only the first text is cut.
        """
        first = 0
        for block in text_blocks(texts):
            with calling:
                rendered = self._rendered(block)
                if rendered:
                    *texts_of_block, one, other = rendered
                    encoded = self.tokenizer.encode_rendered(
                        texts_of_block, self.where, first, (one, other)
                    )
                else:
                    encoded = self.tokenizer.encode(
                        block, self.where, first, located=located, cut=cut, cut_first=cut_first
                    )
            self._context.cut_texts.check(encoded, self.where, first, self.truncation)
            yield Block(first, block, encoded)
            first += len(block)

    def _rendered(self, block: Sequence[SomeText]) -> list[str]:
        """Return what a decoder reads about pairs, and about two that have nothing in common; of
        other models and of decoders without a template, nothing.
        """
        template = self._context.sentence.template
        if self.head.kind != "ForCausalLM" or template is None:
            return []
        pairs: list[tuple[str, str]] = [pair for pair in block if isinstance(pair, tuple)]
        pairs += [("0", "0"), ("1 2 3 4", "1 2 3 4")]
        return [template.text(query, text, self._prompt) for query, text in pairs]

    def run(
        self,
        encoded: Sequence[EncodedText],
        keep: Callable[[int, Floats], Floats] = lambda n, output: output,
        before: int = 0,
        after: int = 0,
    ) -> Steps[list[Floats]]:
        """Ask for the head's output for each text; return what `keep(number, output)` makes of it.

        Whoever drives the task computes it: `outputs = yield from call.run(encoded)`. before,
        after: texts of the same call that are computed earlier and later (`Work`).
        """
        engine = self._context.head_engine.engine
        ids, types = [text.ids for text in encoded], [text.types for text in encoded]
        size = self.batch_size
        return (yield Work(engine, ids, types, self._task, keep, size, before, after))

    def decode(self, states: Floats) -> Iterator[Floats]:
        """Yield the logits of the whole vocabulary for each masked token (`HeadEngine.decode`)."""
        return self._context.head_engine.decode(states, self._context.num_threads)

    def decode_best(self, states: Sequence[Floats]) -> Iterator[Floats]:
        """Yield for each text the largest logit of every token of the vocabulary in any place.

        states: (tokens, embedding_size) of each text, at least one token.
        """
        engine, threads = self._context.head_engine, self._context.num_threads
        ends = np.cumsum([len(rows) for rows in states])
        text, begin, best = 0, 0, None
        for columns in engine.decode_columns(np.concatenate(states), threads):
            place, width = 0, columns.shape[1]
            while place < width:
                stop = min(int(ends[text]) - begin, width)
                part = columns[:, place:stop].max(axis=1)
                best = part if best is None else np.maximum(best, part)
                place = stop
                if begin + stop == ends[text]:
                    yield best + engine.decoder_bias
                    text, best = text + 1, None
            begin += width


def _checked_prompt(context: TaskContext, head: Head, task: str, prompt: object) -> str | None:
    if prompt is None:
        return None
    if not isinstance(prompt, str):
        raise TypeError(f"{task}: prompt must be a str or None, got {type(prompt).__name__}")
    if head.kind != "ForCausalLM" or context.sentence.template is None:
        raise ValueError(f"{task}: prompt must be None: the model has no place for an instruction")
    return prompt
