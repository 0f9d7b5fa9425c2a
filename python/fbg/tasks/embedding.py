"""From texts to embeddings: windows of texts, tokenized and computed one after the other.

A window is sorted by length and cut into runs of up to MAX_TOKENS tokens, so memory is that of one
window whatever the number of texts. What is computed for a text depends on neither.
"""

from __future__ import annotations

import operator
import queue
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.arrays import require_integer
from fbg.networks.dense import describe_dense
from fbg.networks.transformer import Transformer
from fbg.runtime.batches import MAX_TOKENS, chunks, pack_sequences
from fbg.runtime.runner import Runner
from fbg.text.sentence import SentenceConfig
from fbg.text.tokenization import TextTokenizer

__all__ = ["EncodeOptions", "SentenceEmbedder", "check_options", "check_range"]

Floats = npt.NDArray[np.float32]

# A window: many runs of average texts, so that sorting finds texts of one length; but not many
# tokens where texts are long.
WINDOW_TEXTS = 2048
WINDOW_CHARACTERS = 1 << 20

# With that many runs for each thread, threads compute a run each instead of sharing every run: none
# waits for another within a run, and none quantizes what another does too.
RUNS_PER_THREAD = 4


@dataclass(frozen=True)
class EncodeOptions:
    """Checked arguments of `Model.encode`.

    normalize: as modules.json says, before dimensions are cut off; afterwards, if `renormalize`.
    """

    batch_size: int
    normalize: bool
    renormalize: bool
    dimension: int
    prompt: str
    truncation: bool


def check_options(
    sentence: SentenceConfig,
    dimension: int,
    *,
    batch_size: object,
    normalize_embeddings: bool | None,
    truncate_dim: int | None,
    prompt: object,
    prompt_name: object,
    truncation: object,
) -> EncodeOptions:
    """Return the options of an encode; raises TypeError or ValueError naming the argument."""
    if truncate_dim is not None:
        truncate_dim = require_integer(truncate_dim, "encode: truncate_dim", 1, dimension)
    if not isinstance(truncation, (bool, np.bool_)):
        got = type(truncation).__name__
        raise TypeError(f"encode: truncation must be True or False, got {got}")
    cut = truncate_dim not in (None, dimension)
    normalize = sentence.normalize if normalize_embeddings is None else bool(normalize_embeddings)
    return EncodeOptions(
        batch_size=_checked_batch_size(batch_size),
        normalize=normalize and (normalize_embeddings is None or not cut),
        renormalize=cut and bool(normalize_embeddings),
        dimension=truncate_dim or dimension,
        prompt=_chosen_prompt(sentence.prompts, sentence.default_prompt_name, prompt, prompt_name),
        truncation=bool(truncation),
    )


def _checked_batch_size(batch_size: Any) -> int:
    try:
        size = operator.index(batch_size)
    except TypeError:
        got = type(batch_size).__name__
        raise TypeError(f"encode: batch_size must be an integer, got {got}") from None
    if size < 1:
        raise ValueError(f"encode: batch_size must be at least 1, got {size}")
    return size


def _chosen_prompt(
    prompts: Mapping[str, str], default: str | None, prompt: object, name: object
) -> str:
    if prompt is not None:
        if not isinstance(prompt, str):
            got = type(prompt).__name__
            raise TypeError(f"encode: prompt must be a str or None, got {got}")
        return prompt
    name = default if name is None else name
    if name is None:
        return ""
    if not isinstance(name, str) or name not in prompts:
        has = ", ".join(map(repr, prompts)) or "none"
        raise ValueError(f"encode: prompt_name must be a prompt of the model ({has}), got {name!r}")
    return prompts[name]


class SentenceEmbedder:
    """What `Model.encode` runs: tokenizer, encoder, pooling and what follows it."""

    def __init__(
        self, transformer: Transformer, sentence: SentenceConfig, tokenizer: TextTokenizer
    ) -> None:
        self._transformer = transformer
        self._sentence = sentence
        self._tokenizer = tokenizer
        # By whether they normalize; the first of each is there from the start, one for every thread
        # that computes runs of its own comes when it is needed.
        self._runners = {normalize: [self._runner(normalize)] for normalize in (False, True)}

    def _runner(self, normalize: bool) -> Runner:
        graph = _fbg.Graph()
        x = graph.pool(self._transformer.describe(graph), self._sentence.pooling)
        for dense in self._sentence.dense:
            x = describe_dense(graph, x, dense)
        graph.output(graph.normalize(x) if normalize else x)
        return Runner(graph, self._transformer.config.max_length)

    @property
    def dimension(self) -> int:
        """Columns of an embedding."""
        dense = self._sentence.dense
        return dense[-1].outputs if dense else self._transformer.config.hidden_size

    @property
    def arena_bytes(self) -> int:
        return sum(runner.arena_bytes for lanes in self._runners.values() for runner in lanes)

    def _lanes(self, normalize: bool, count: int) -> Sequence[Runner]:
        lanes = self._runners[normalize]
        while len(lanes) < count:
            lanes.append(Runner(lanes[0].graph, self._transformer.config.max_length))
        return lanes[:count]

    def embed(
        self,
        sentences: Iterable[str],
        options: EncodeOptions,
        num_threads: int,
        *,
        advance: Callable[[int], object],
        warn_cut: Callable[[str], None],
    ) -> Iterator[Floats]:
        """Yield the embeddings of one window of texts after the other, (n, dimension) each.

        advance: told how many texts have been computed since the last call.
        warn_cut: told about the first text of each window that was cut.
        """
        first = 0
        for window in windows(sentences):
            tokens, cut = self._tokenizer.tokenize([options.prompt + t for t in window], first)
            for n, length in sorted(cut.items())[:1]:
                message = f"sentences[{first + n}] has {length} tokens"
                limit = self._tokenizer.max_length
                if not options.truncation:
                    raise ValueError(
                        f"encode: {message}, the model takes {limit}: truncation=True cuts it"
                    )
                warn_cut(f"encode: {message} and was cut to the {limit} that the model takes")
            yield self._embed_window(tokens, options, num_threads, advance)
            first += len(window)

    def _embed_window(
        self,
        tokens: list[npt.NDArray[np.int32]],
        options: EncodeOptions,
        num_threads: int,
        advance: Callable[[int], object],
    ) -> Floats:
        config = self._transformer.config
        result = np.zeros((len(tokens), options.dimension), np.float32)
        lengths = np.array([t.size for t in tokens], np.int64)
        # Longest first, so that the sentences of a run have about one length.
        order = np.argsort(-lengths, kind="stable")
        order = order[lengths[order] > 0]
        parts = list(chunks(lengths[order].tolist(), MAX_TOKENS, options.batch_size))

        def compute(part: slice, runner: Runner, threads: int) -> int:
            chosen = order[part]
            packed = pack_sequences([tokens[n] for n in chosen], config.pad_token_id)
            check_range("encode: token ids", packed.ids[None], None, config.vocab_size)
            rows = np.empty((chosen.size, self.dimension), np.float32)
            runner.run(packed, [rows], threads)
            rows = rows[:, : options.dimension]
            result[chosen] = _unit_rows(rows) if options.renormalize else rows
            return int(chosen.size)

        if len(parts) < RUNS_PER_THREAD * num_threads or num_threads == 1:
            (runner,) = self._lanes(options.normalize, 1)
            for part in parts:
                advance(compute(part, runner, num_threads))
        else:
            lanes = self._lanes(options.normalize, num_threads)
            for done in in_parallel(compute, parts, lanes):
                advance(done)
        advance(len(tokens) - order.size)
        return result


def in_parallel(
    compute: Callable[[slice, Runner, int], int], parts: Sequence[slice], lanes: Sequence[Runner]
) -> Iterator[int]:
    """Yield what `compute` gives for the parts, in their order, a thread to each runner."""
    free: queue.SimpleQueue[Runner] = queue.SimpleQueue()
    for runner in lanes:
        free.put(runner)

    def task(part: slice) -> int:
        runner = free.get()
        try:
            return compute(part, runner, 1)
        finally:
            free.put(runner)

    with ThreadPoolExecutor(len(lanes), "fbg-encode") as pool:
        futures = [pool.submit(task, part) for part in parts]
        try:
            for future in futures:
                yield future.result()
        finally:
            for future in futures:
                future.cancel()


def windows(sentences: Iterable[object]) -> Iterator[list[str]]:
    """Cut texts into lists; raises TypeError at the first that is not a str."""
    window: list[str] = []
    characters, first = 0, 0
    for text in sentences:
        if not isinstance(text, str):
            got = type(text).__name__
            raise TypeError(f"encode: sentences[{first + len(window)}] must be a str, got {got}")
        window.append(text)
        characters += len(text)
        if len(window) == WINDOW_TEXTS or characters >= WINDOW_CHARACTERS:
            yield window
            first += len(window)
            window, characters = [], 0
    if window:
        yield window


def _unit_rows(x: Floats) -> Floats:
    """Divide rows by their lengths; a row is summed along itself, whatever rows are beside it."""
    lengths = np.sqrt(np.square(x).sum(axis=1, keepdims=True))
    unit: Floats = x / np.maximum(lengths, np.float32(1e-12))
    return unit


def check_range(
    where: str, ids: npt.NDArray[Any], valid: npt.NDArray[np.bool_] | None, limit: int
) -> None:
    """Raise ValueError for the first index outside [0, limit) of a token that is not hidden."""
    seen = ids if valid is None else ids[valid]
    if seen.size == 0 or (seen.min() >= 0 and seen.max() < limit):
        return
    wrong = (ids < 0) | (ids >= limit)
    row, column = np.argwhere(wrong if valid is None else wrong & valid)[0].tolist()
    raise ValueError(
        f"{where} must be in [0, {limit}), got {int(ids[row, column])} at [{row}, {column}]"
    )
