"""From texts to embeddings: blocks of texts, tokenized and computed one after the other.

A block is handed to the scheduler as a whole, so that the memory in use is that of one block,
whatever the number of texts. What is computed for a text depends on neither block nor batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import numpy.typing as npt

from fbg.arrays import require_integer
from fbg.runtime.scheduler import Scheduler
from fbg.tasks.context import TaskContext
from fbg.tasks.inputs import checked_texts, require_count, require_iterable, text_blocks
from fbg.tasks.truncation import require_truncation
from fbg.text.sentence import SentenceConfig
from fbg.threads import calling

__all__ = ["SENTENCES", "EncodeOptions", "Encoder"]

Floats = npt.NDArray[np.float32]

SENTENCES = "encode: sentences"


@dataclass(frozen=True)
class EncodeOptions:
    """How texts are embedded; `Model.encode` has the same arguments and says what they mean."""

    batch_size: int = 32
    normalize_embeddings: bool | None = None
    truncate_dim: int | None = None
    prompt: str | None = None
    prompt_name: str | None = None
    truncation: bool = True


class Encoder:
    """Embeds texts with the same options, a block of texts at a time; made by `Model.encoder`.

    dimension: the length of the vectors.
    """

    def __init__(self, context: TaskContext, options: EncodeOptions) -> None:
        """Raises TypeError or ValueError that names the option."""
        sentence, widest = context.sentence, context.embeddings.dimension
        cut = options.truncate_dim
        if cut is not None:
            cut = require_integer(cut, "encode: truncate_dim", 1, widest)
        shortened, normalize = cut not in (None, widest), options.normalize_embeddings
        self.dimension = cut or widest
        self._context = context
        self._batch_size = require_count("encode: batch_size", options.batch_size)
        self._truncation = require_truncation("encode", options.truncation)
        self._prompt = _chosen_prompt(sentence, options.prompt, options.prompt_name)
        # A Normalize module of the model comes before dimensions are cut off, the argument after.
        self._normalize_last = shortened and bool(normalize)
        normalize_first = sentence.normalize if normalize is None else bool(normalize)
        self._engine = context.embeddings.engine(normalize_first and not self._normalize_last)

    def blocks(
        self,
        sentences: Iterable[str],
        *,
        first: int = 0,
        advance: Callable[[int], object] = lambda n: None,
    ) -> Iterator[Floats]:
        """Return an iterator of the embeddings of a block of texts each, (n, dimension).

        sentences: read as they are needed, at most 2048 at a time, and fewer long ones.
        first: the number of the first text in errors, where those before it are done.
        advance: told how many texts have been computed since the last call.

        Raises TypeError at once for what cannot hold texts; for a text when its turn comes, as
        `Model.encode` does.
        """
        given = require_iterable(SENTENCES, sentences, "an iterable of str")
        return self._blocks(checked_texts(SENTENCES, given, first), first, advance)

    def _blocks(
        self, sentences: Iterable[str], first: int, advance: Callable[[int], object]
    ) -> Iterator[Floats]:
        context, where = self._context, SENTENCES
        for block in text_blocks(sentences):
            with calling:
                texts = [self._prompt + text for text in block]
                encoded = context.tokenizer.encode_sentences(texts, where, first)
                context.cut_texts.check(encoded, where, first, self._truncation)
                embeddings = self._embed([text.ids for text in encoded], advance)
            yield embeddings
            first += len(block)

    def _embed(
        self, sequences: Sequence[npt.NDArray[np.int32]], advance: Callable[[int], object]
    ) -> Floats:
        result = np.empty((len(sequences), self.dimension), np.float32)
        scheduler = Scheduler(
            self._engine,
            num_threads=self._context.num_threads,
            batch_size=self._batch_size,
            where="encode",
        )
        for n, ids in enumerate(sequences):
            scheduler.submit(ids, partial(self._store, result[n]))
        for count in scheduler.run():
            advance(count)
        return _unit_rows(result) if self._normalize_last else result

    def _store(self, row: Floats, output: Floats) -> None:
        row[:] = output[0, : self.dimension]


def _chosen_prompt(sentence: SentenceConfig, prompt: object, name: object) -> str:
    if prompt is not None:
        if not isinstance(prompt, str):
            got = type(prompt).__name__
            raise TypeError(f"encode: prompt must be a str or None, got {got}")
        return prompt
    prompts: Mapping[str, str] = sentence.prompts
    name = sentence.default_prompt_name if name is None else name
    if name is None:
        return ""
    if not isinstance(name, str) or name not in prompts:
        has = ", ".join(map(repr, prompts)) or "none"
        raise ValueError(f"encode: prompt_name must be a prompt of the model ({has}), got {name!r}")
    return prompts[name]


def _unit_rows(x: Floats) -> Floats:
    """Divide rows by their lengths; a row is summed along itself, whatever rows are beside it."""
    lengths = np.sqrt(np.square(x).sum(axis=1, keepdims=True))
    unit: Floats = x / np.maximum(lengths, np.float32(1e-12))
    return unit
