"""Embeds texts: blocks of texts are tokenized and computed one after the other.

A block is handed to a batch former as a whole, so that the memory in use is for one block,
whatever the number of texts. Results for a text depend on neither block nor batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fbg.arrays import Floats, require_integer
from fbg.runtime.engine import Types
from fbg.runtime.steps import Steps, run_steps
from fbg.runtime.work import Work, copied
from fbg.tasks.context import TaskContext
from fbg.tasks.inputs import (
    checked_texts,
    require_count,
    require_iterable,
    require_tower,
    text_blocks,
)
from fbg.tasks.search import unit_rows
from fbg.tasks.truncation import require_truncation
from fbg.text.sentence import SentenceConfig
from fbg.text.tokenization import Text
from fbg.threads import calling

SENTENCES = "encode: sentences"


@dataclass(frozen=True)
class EncodeOptions:
    """The options of embedding. The arguments of `Model.encode` have the same meanings."""

    batch_size: int = 32
    normalize_embeddings: bool | None = None
    truncate_dim: int | None = None
    prompt: str | None = None
    prompt_name: str | None = None
    truncation: bool = True


class Encoder:
    """Embeds texts with the same options, a block of texts at a time; made by `Model.encoder`.

    dimension: the length of the vectors. prompt: the text before each. skipped: the tokens at the
    beginning of a text that are not pooled.
    """

    def __init__(self, context: TaskContext, options: EncodeOptions, name: str = "encode") -> None:
        """Check the options; raises TypeError or ValueError that names the option.

        name: the method of `Model` in errors.
        """
        require_tower(context.config, name)
        sentence, widest = context.sentence, context.engines.dimension
        cut = options.truncate_dim
        if cut is not None:
            cut = require_integer(cut, f"{name}: truncate_dim", 1, widest)
        elif sentence.truncate_dim is not None:
            cut = min(sentence.truncate_dim, widest)
        shortened, normalize = cut not in (None, widest), options.normalize_embeddings
        self.dimension = cut or widest
        self._context = context
        self._batch_size = require_count(f"{name}: batch_size", options.batch_size)
        self._truncation = require_truncation(name, options.truncation)
        self.prompt = _chosen_prompt(sentence, options.prompt, options.prompt_name, name)
        self.skipped = 0
        if not sentence.include_prompt:
            self.skipped = prompt_tokens(context, self.prompt, name)
        self._rounds = sentence.rounded
        # A Normalize module of the model comes before dimensions are cut off, the argument after.
        self._normalize_last = (shortened or self._rounds) and bool(normalize)
        normalize_first = sentence.normalize if normalize is None else bool(normalize)
        self._normalize_now = normalize_first and not self._normalize_last
        self._engine = context.engines.embedding(self._normalize_now, self.skipped)

    def blocks(
        self,
        sentences: Iterable[str],
        *,
        first: int = 0,
        advance: Callable[[int], object] = lambda n: None,
        done: MutableMapping[int, Floats] | None = None,
    ) -> Iterator[Floats]:
        """Return an iterator over arrays (n, dimension), the embeddings of n texts each.

        sentences: at most 2048 texts, or fewer long ones, are read at a time.
        first: the number that error messages give to the first text.
        advance: called with the number of texts that have been computed since the last call.
        done: filled with the results for the current block, by the number of the text.
            Texts in it are not computed again, so that a job that was interrupted within a block
            can go on there.

        Raises TypeError at once if `sentences` is not an iterable of texts. The errors of
        `Model.encode` for a text are raised when it is read.
        """
        given = require_iterable(SENTENCES, sentences, "an iterable of str")
        return self.checked_blocks(checked_texts(SENTENCES, given, first), first, advance, done)

    def checked_blocks(
        self,
        texts: Iterator[str],
        first: int = 0,
        advance: Callable[[int], object] = lambda n: None,
        done: MutableMapping[int, Floats] | None = None,
    ) -> Iterator[Floats]:
        """Yield the arrays of `blocks` for texts that are known to be str."""
        known = {} if done is None else done
        for block in text_blocks(texts):
            steps = self.embed(block, first, known)
            yield run_steps(steps, self._context.num_threads, advance)
            for n in range(first, first + len(block)):
                known.pop(n, None)
            first += len(block)

    def embed(
        self, texts: Sequence[str], first: int = 0, done: MutableMapping[int, Floats] | None = None
    ) -> Steps[Floats]:
        """Embed one block of texts, as a task: return their vectors, (texts, dimension).

        first: the number of texts[0] in errors. done: as for `blocks`.
        """
        return (yield from self.embed_tokens(self._tokens(texts, first), first, done))

    def embed_pairs(self, texts: Sequence[Text]) -> Steps[Floats]:
        """Embed texts, and pairs of texts as one sequence each, as a task."""
        context, prompt = self._context, self.prompt
        joined: list[Text] = [
            prompt + text if isinstance(text, str) else (prompt + text[0], text[1])
            for text in texts
        ]
        with calling:
            encoded = context.tokenizer.encode(joined, SENTENCES, sentences=True)
            context.cut_texts.check(encoded, SENTENCES, 0, self._truncation)
        ids, types = [text.ids for text in encoded], [text.types for text in encoded]
        return (yield from self.embed_tokens(ids, types=types))

    def token_states(self, texts: Sequence[str]) -> Steps[list[Floats]]:
        """Return the hidden states of each text, as a task: (tokens, hidden size) each."""
        return (yield from self.states_of_tokens(self._tokens(texts, 0)))

    def states_of_tokens(self, sequences: Sequence[npt.NDArray[np.int32]]) -> Steps[list[Floats]]:
        """Return the hidden states of token ids, special tokens included, as a task."""
        engine = self._context.engines.tokens
        return (yield Work(engine, sequences, "encode", copied, self._batch_size))

    def _tokens(self, texts: Sequence[str], first: int) -> list[npt.NDArray[np.int32]]:
        context, where = self._context, SENTENCES
        with calling:
            prompted = [self.prompt + text for text in texts] if self.prompt else texts
            encoded = context.tokenizer.encode_sentences(prompted, where, first)
            context.cut_texts.check(encoded, where, first, self._truncation)
        return [text.ids for text in encoded]

    def embed_tokens(
        self,
        sequences: Sequence[npt.NDArray[np.int32]],
        first: int = 0,
        done: MutableMapping[int, Floats] | None = None,
        types: Sequence[Types] = (),
    ) -> Steps[Floats]:
        """Embed token ids, special tokens included, as a task: return (sequences, dimension).

        first: the number of sequences[0] in `done`, which is as for `blocks`. types: the token
        types of each sequence, without `done`; none stands for zeros.
        """
        result = np.empty((len(sequences), self.dimension), np.float32)
        known = {} if done is None else done
        missing = [n for n in range(len(sequences)) if first + n not in known]
        for n in known.keys() & range(first, first + len(sequences)):
            result[n - first] = known[n]

        def keep(n: int, output: Floats) -> Floats:
            row: Floats = result[missing[n]]
            row[:] = self._rounded(output[0, : self.dimension])
            known[first + missing[n]] = row
            return row

        given = [sequences[n] for n in missing]
        yield Work(self._engine, given, "encode", keep, self._batch_size, types=types)
        return unit_rows(result) if self._normalize_last else result

    def embed_pooled(self, rows: Floats) -> Floats:
        """Return the embeddings of rows that are pooled already."""
        context = self._context
        with calling:
            whole = context.engines.projected(rows, self._normalize_now, context.num_threads)
        result = self._rounded(whole[:, : self.dimension])
        return unit_rows(result) if self._normalize_last else result

    def _rounded(self, values: Floats) -> Floats:
        return np.rint(np.tanh(values) * np.float32(127)) if self._rounds else values


def _chosen_prompt(
    sentence: SentenceConfig, prompt: object, prompt_name: object, where: str
) -> str:
    if prompt is not None:
        if not isinstance(prompt, str):
            got = type(prompt).__name__
            raise TypeError(f"{where}: prompt must be a str or None, got {got}")
        return prompt
    prompts: Mapping[str, str] = sentence.prompts
    name = sentence.default_prompt_name if prompt_name is None else prompt_name
    if name is None:
        return ""
    if not isinstance(name, str) or name not in prompts:
        has = ", ".join(map(repr, prompts)) or "none"
        raise ValueError(
            f"{where}: prompt_name must be a prompt of the model ({has}), got {name!r}"
        )
    return prompts[name]


def prompt_tokens(context: TaskContext, prompt: str, where: str) -> int:
    """Return how many tokens the prompt takes at the beginning of a text; the special tokens
    before it count, and the one behind it does not.
    """
    if not prompt:
        return 0
    tokens = context.tokenizer.encode_sentences([prompt], f"{where}: prompt")[0].ids
    frame = context.tokenizer.frame
    ends = frame.size > 0 and tokens.size > 0 and tokens[-1] == frame[-1]
    return min(int(tokens.size) - int(ends), context.tokenizer.max_length)
