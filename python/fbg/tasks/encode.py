"""Embeddings of sentences: blocks of texts are tokenized and computed one after the other.

A block is one request (`Request`), so that the memory in use is for one block, whatever the number
of texts. Results for a text depend on neither block nor batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

import numpy as np
import numpy.typing as npt

from fbg.arrays import Floats, require_flag, require_integer
from fbg.progress import active_progress, progress_bar
from fbg.runtime.engine import Types
from fbg.runtime.steps import Advance, Request, Steps, copied, run_steps
from fbg.tasks.context import TaskContext
from fbg.tasks.inputs import (
    MOST,
    checked_texts,
    cut_blocks,
    require_iterable,
    require_texts,
    require_tower,
)
from fbg.tasks.search import unit_rows
from fbg.text.sentence import SentenceConfig
from fbg.text.tokenization import Text
from fbg.threads import calling

SENTENCES = "encode: sentences"
BAR = "encode: show_progress_bar"


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
        if context.config.picture is not None:
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
        self._batch_size = require_integer(options.batch_size, f"{name}: batch_size", 1, MOST)
        self._truncation = require_flag(options.truncation, f"{name}: truncation")
        self.prompt, self.skipped = "", 0
        named = options.prompt_name
        if named is None:
            named = sentence.default_prompt_name
        if options.prompt is not None or named is not None:
            self.prompt = _chosen_prompt(sentence, options.prompt, named, name)
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
        advance: Advance = None,
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
        return self._blocks(checked_texts(SENTENCES, given, first), first, advance, done)

    def _blocks(
        self,
        texts: Iterator[str],
        first: int,
        advance: Advance,
        done: MutableMapping[int, Floats] | None,
    ) -> Iterator[Floats]:
        for block in cut_blocks(texts):
            steps = self.embed_tokens(self._tokens(block, first), first, done)
            yield run_steps(steps, self._context.threads, advance)
            if done is not None:
                for n in range(first, first + len(block)):
                    done.pop(n, None)
            first += len(block)

    def embed(self, texts: Sequence[str]) -> Steps[Floats]:
        """Embed texts, block by block, as a task: return their vectors, (texts, dimension)."""
        result, first = np.empty((len(texts), self.dimension), np.float32), 0
        for block in [texts] if len(texts) == 1 else cut_blocks(texts):
            rows = yield from self.embed_tokens(self._tokens(block, first), first)
            result[first : first + len(block)] = rows
            first += len(block)
        return result

    def embed_pairs(self, texts: Sequence[Text]) -> Steps[Floats]:
        """Embed texts, and pairs of texts as one sequence each, as a task."""
        context, prompt = self._context, self.prompt
        joined: list[Text] = [
            prompt + text if isinstance(text, str) else (prompt + text[0], text[1])
            for text in texts
        ]
        encoded = context.tokenize(joined, SENTENCES, 0, self._truncation, sentences=True)
        ids, types = [text.ids for text in encoded], [text.types for text in encoded]
        return (yield from self.embed_tokens(ids, types=types))

    def token_states(self, texts: Sequence[str]) -> Steps[list[Floats]]:
        """Return the hidden states of each text, as a task: (tokens, hidden size) each."""
        states: list[Floats] = []
        for block in cut_blocks(texts):
            states += yield from self.states_of_tokens(self._tokens(block, len(states)))
        return states

    def states_of_tokens(self, sequences: Sequence[npt.NDArray[np.int32]]) -> Steps[list[Floats]]:
        """Return the hidden states of token ids, special tokens included, as a task."""
        engine = self._context.engines.tokens
        return (yield Request(engine, sequences, "encode", copied, self._batch_size))

    def _tokens(self, texts: Sequence[str], first: int) -> list[npt.NDArray[np.int32]]:
        if self.prompt:
            texts = [self.prompt + text for text in texts]
        encoded = self._context.tokenize(
            texts, SENTENCES, first, self._truncation, sentences=True, types=False
        )
        return list(map(attrgetter("ids"), encoded))

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
        missing: Sequence[int] = range(len(sequences))
        if done:
            for n in done.keys() & range(first, first + len(sequences)):
                result[n - first] = done[n]
            missing = [n for n in missing if first + n not in done]

        def keep(n: int, output: Floats) -> Floats:
            row: Floats = result[missing[n]]
            row[:] = output[0, : self.dimension]
            if self._rounds:
                row[:] = _rounded(row)
            if done is not None:
                done[first + missing[n]] = row
            return row

        given = list(map(sequences.__getitem__, missing))
        yield Request(self._engine, given, "encode", keep, self._batch_size, types=types)
        return unit_rows(result) if self._normalize_last else result

    def embed_pooled(self, rows: Floats) -> Floats:
        """Return the embeddings of rows that are pooled already."""
        context = self._context
        with calling:
            whole = context.engines.projected(rows, self._normalize_now, context.num_threads)
        result = whole[:, : self.dimension]
        if self._rounds:
            result = _rounded(result)
        return unit_rows(result) if self._normalize_last else result


def _rounded(values: Floats) -> Floats:
    return np.rint(np.tanh(values) * np.float32(127))


def _chosen_prompt(
    sentence: SentenceConfig, prompt: object, prompt_name: object, where: str
) -> str:
    if prompt is not None:
        if not isinstance(prompt, str):
            got = type(prompt).__name__
            raise TypeError(f"{where}: prompt must be a str or None, got {got}")
        return prompt
    prompts: Mapping[str, str] = sentence.prompts
    if not isinstance(prompt_name, str) or prompt_name not in prompts:
        has = ", ".join(map(repr, prompts)) or "none"
        raise ValueError(
            f"{where}: prompt_name must be a prompt of the model ({has}), got {prompt_name!r}"
        )
    return prompts[prompt_name]


def prompt_tokens(context: TaskContext, prompt: str, where: str) -> int:
    """Return how many tokens the prompt takes at the beginning of a text; the special tokens
    before it count, and the one behind it does not.
    """
    if not prompt:
        return 0
    where = f"{where}: prompt"
    tokens = context.tokenizer.encode([prompt], where, sentences=True, types=False)[0].ids
    frame = context.tokenizer.frame
    ends = frame.size > 0 and tokens.size > 0 and tokens[-1] == frame[-1]
    return min(int(tokens.size) - int(ends), context.tokenizer.max_length)


class EncodeMethods:
    """The methods of `Model` that embed sentences; every model has them."""

    _context: TaskContext

    @property
    def max_length(self) -> int:
        """The number of tokens, including special ones, to which texts are truncated."""
        return self._context.tokenizer.max_length

    @property
    def embedding_dimension(self) -> int:
        """The length of embeddings: the hidden size, or the outputs of the last Dense module, and
        no more than `truncate_dim` of config_sentence_transformers.json.
        """
        widest, cut = self._context.engines.dimension, self._context.sentence.truncate_dim
        return widest if cut is None else min(cut, widest)

    def token_counts(self, sentences: str | Iterable[str]) -> list[int]:
        """Return the number of tokens of each sentence after truncation, including special ones.

        >>> model.token_counts(["", "a b"])
        [2, 4]
        """
        texts = require_texts(SENTENCES, sentences)
        return [tokens.size for tokens in self._context.tokenizer(texts)]

    def encode(
        self,
        sentences: str | Iterable[str],
        batch_size: int = 32,
        normalize_embeddings: bool | None = None,
        show_progress_bar: bool = False,
        *,
        truncate_dim: int | None = None,
        prompt: str | None = None,
        prompt_name: str | None = None,
        truncation: bool = True,
    ) -> Floats:
        """Return the embeddings of sentences, float32.

        sentences: a str, for a vector of shape (embedding_dimension,), or an iterable of n str,
            such as a list, a NumPy array or an Arrow array, for an array of shape
            (n, embedding_dimension) in the same order.
        batch_size: the most sentences to compute at a time; limits memory, and never changes a
            result.
        normalize_embeddings: whether to scale embeddings to length 1; None: as modules.json says.
        show_progress_bar: needs tqdm.
        truncate_dim: the number of first dimensions to keep, for models trained for that. As in
            sentence-transformers, a Normalize module in modules.json runs before the truncation,
            and normalize_embeddings=True after it. None: as config_sentence_transformers.json says.
        prompt: a text that is put before every sentence.
        prompt_name: the name of a prompt in `prompts`. Default: the default prompt of the model.
        truncation: True truncates texts to `max_length` tokens, and warns once for each model;
            False raises ValueError for a longer text.

        Raises TypeError if a sentence is not a str; ValueError for an argument out of range, a text
        that is not valid Unicode, or a token id outside the vocabulary; ModelError if the model has
        no tokenizer, or if its tokenizer cannot encode a text.

        >>> model.encode(["a sentence", "another"]).shape
        (2, 384)
        """
        options = EncodeOptions(
            batch_size, normalize_embeddings, truncate_dim, prompt, prompt_name, truncation
        )
        encoder = Encoder(self._context, options)
        texts = [sentences] if isinstance(sentences, str) else require_texts(SENTENCES, sentences)
        steps, threads = encoder.embed(texts), self._context.threads
        if show_progress_bar or active_progress() is not None:
            size, shown = len(texts), show_progress_bar
            with progress_bar(size, "sentence", show=shown, required_by=BAR) as advance:
                rows = run_steps(steps, threads, advance)
        else:
            rows = run_steps(steps, threads)
        return rows[0] if isinstance(sentences, str) else rows

    def encode_stream(
        self,
        sentences: Iterable[str],
        batch_size: int = 32,
        normalize_embeddings: bool | None = None,
        show_progress_bar: bool = False,
        *,
        truncate_dim: int | None = None,
        prompt: str | None = None,
        prompt_name: str | None = None,
        truncation: bool = True,
    ) -> Iterator[Floats]:
        """Yield the embedding of each sentence of an iterable, in order.

        The arguments and the embeddings are those of `encode`. At most 2048 sentences, or fewer
        long ones, are read before their embeddings are yielded, so memory does not depend on the
        number of sentences. Arguments are checked when the method is called, and each sentence when
        it is read.

        >>> lines = (f"sentence {n}" for n in range(5))
        >>> sum(embedding.size for embedding in model.encode_stream(lines))
        1920
        """
        options = EncodeOptions(
            batch_size, normalize_embeddings, truncate_dim, prompt, prompt_name, truncation
        )
        encoder = self.encoder(options)
        require_iterable("encode_stream: sentences", sentences, "an iterable of str")

        def vectors() -> Iterator[Floats]:
            bar = progress_bar(None, "sentence", show=show_progress_bar, required_by=BAR)
            with bar as advance:
                for rows in encoder.blocks(sentences, advance=advance):
                    for row in rows:
                        yield row.copy()  # a view would keep its whole block

        return vectors()

    def encoder(self, options: EncodeOptions | None = None) -> Encoder:
        """Return an `Encoder`, which embeds any number of texts in blocks of at most 2048.

        options: the other arguments of `encode`. Raises TypeError or ValueError for them.

        >>> encoder = model.encoder(EncodeOptions(truncate_dim=256))
        >>> [rows.shape for rows in encoder.blocks(["a sentence", "another"])]
        [(2, 256)]
        """
        return Encoder(self._context, options or EncodeOptions())
