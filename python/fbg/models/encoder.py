"""Model, what `fbg.load` returns: hidden states of token ids, and embeddings of sentences."""

from __future__ import annotations

import operator
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, overload

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.arrays import require_integer
from fbg.models import saved
from fbg.models.config import EncoderConfig
from fbg.models.packing import chunks, index_array, pack_padded, pack_sequences
from fbg.models.reports import MemoryReport, PlanReport
from fbg.models.runner import Runner
from fbg.models.sentence import SentenceConfig
from fbg.models.task_runner import TaskRunner
from fbg.models.text_tasks import TextTasks
from fbg.models.token_tasks import TokenTasks
from fbg.models.tokenization import TextTokenizer
from fbg.models.transformer import Transformer, describe_pooler

__all__ = ["Model", "ModelOutput"]

Floats = npt.NDArray[np.float32]

# Tokens of one run: enough that reading the weights costs nothing, few enough that what flows
# between two layers stays in the cache. Results do not depend on it.
MAX_TOKENS = 1024


@dataclass(frozen=True)
class ModelOutput:
    """Result of `Model.forward`.

    last_hidden_state: (batch, sequence, hidden), zeros where the mask is 0.
    pooler_output: (batch, hidden), or None if the checkpoint has no pooler.
    """

    last_hidden_state: Floats
    pooler_output: Floats | None


class Model(TextTasks, TokenTasks):
    """A transformer encoder that is ready to run. Made by `fbg.load`; threads may share it."""

    def __init__(
        self,
        name: str,
        origin: saved.Origin,
        transformer: Transformer,
        sentence: SentenceConfig,
        tokenizer: TextTokenizer,
        dtype: str,
        num_threads: int | None = None,
    ) -> None:
        self.name = name
        self.dtype = dtype
        self.config: EncoderConfig = transformer.config
        self.sentence = sentence
        self._origin = origin
        self._transformer = transformer
        self._tokenizer = tokenizer
        self._num_threads = num_threads

        graph = _fbg.Graph()
        hidden = transformer.describe(graph)
        graph.output(hidden)
        if transformer.pooler is not None:
            graph.output(describe_pooler(graph, hidden, transformer.pooler))
        self._forward = self._runner(graph)
        self._embed = {normalize: self._embedder(normalize) for normalize in (False, True)}
        self._tasks = TaskRunner(transformer, tokenizer, origin, num_threads)

    def _embedder(self, normalize: bool) -> Runner:
        graph = _fbg.Graph()
        hidden = self._transformer.describe(graph)
        pool = {"cls": graph.first_token, "mean": graph.mean_pool, "max": graph.max_pool}
        embedding = pool[self.sentence.pooling](hidden)
        graph.output(graph.normalize(embedding) if normalize else embedding)
        return self._runner(graph)

    def _runner(self, graph: _fbg.Graph) -> Runner:
        return Runner(graph, self.config.max_length)

    @property
    def graph(self) -> _fbg.Graph:
        """The network of `forward`, as plans are made from it."""
        return self._forward.graph

    @property
    def num_threads(self) -> int:
        """Threads of a call: those given to `fbg.load`, else the default of the process."""
        return self._num_threads or _fbg.num_threads()

    @property
    def max_length(self) -> int:
        """Tokens, special ones included, at which `encode` cuts a sentence."""
        return self._tokenizer.max_length

    def token_counts(self, sentences: Sequence[str]) -> list[int]:
        """Return how many tokens `encode` computes for each sentence, special ones included."""
        return [tokens.size for tokens in self._tokenizer(_sentences(sentences))]

    def __repr__(self) -> str:
        c = self.config
        return (
            f"<fbg.Model {self.name!r}: {c.model_type}, {c.num_hidden_layers} layers, hidden size "
            f"{c.hidden_size}, {c.num_attention_heads} heads, {self.dtype}>"
        )

    def save(self, directory: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write a directory that `fbg.load` maps: the weights as they run, under any ISA.

        directory: where to; its parent must exist. The configuration, the tokenizer and the files
            of sentence-transformers are copied into it from where the model was loaded. The
            directory appears whole or not at all.
        overwrite: replace a saved model that is there. Models that were loaded from it go on
            running. Any other directory that is not empty stays as it is.

        The loaded model gives the same results, to the bit. Raises FileExistsError if something is
        there that is not to be replaced, OSError when the directory cannot be written.

        >>> model = fbg.load("path/to/model", dtype="int8")  # doctest: +SKIP
        >>> model.save("model-int8")  # doctest: +SKIP
        >>> fbg.load("model-int8")  # doctest: +SKIP
        <fbg.Model 'model-int8': bert, 12 layers, hidden size 768, 12 heads, int8>
        """
        try:
            target = Path(os.fspath(directory))
        except TypeError:
            got = type(directory).__name__
            raise TypeError(f"save: directory must be a str or PathLike, got {got}") from None
        saved.write(target, self._origin, self._transformer, self.dtype, overwrite)

    def memory_report(self) -> MemoryReport:
        """Return how many bytes the parts of the model take; `print` shows a table.

        >>> print(model.memory_report())  # doctest: +SKIP
        packed weights       83.9 MiB  mapped
        embeddings           90.9 MiB  mapped
        norms and biases      0.5 MiB  mapped
        derived tables        0.0 MiB  owned
        arenas                1.5 MiB  owned
        total               176.8 MiB  1.5 MiB owned
        """
        runners = [self._forward, *self._embed.values(), *self._tasks.runners]
        arenas = sum(runner.arena_bytes for runner in runners)
        network = self._transformer
        return MemoryReport.of(saved.tensors(network), network.derived, arenas, self._origin.mapped)

    def plan(self, tokens: int = 64) -> PlanReport:
        """Prepare `forward` for that many tokens and return what was decided; `print` shows it.

        tokens: at most 1024, the most that a run takes unless one sequence is longer. A plan serves
            a range of sizes, and is the one that such a `forward` uses under the ISA now active.

        >>> print(model.plan(tokens=128))  # doctest: +SKIP
        """
        tokens = require_integer(tokens, "plan: tokens", 1, MAX_TOKENS)
        threads = self.num_threads
        return PlanReport.of(self._forward.plan(tokens, threads), tokens, threads)

    def forward(
        self,
        input_ids: npt.ArrayLike,
        attention_mask: npt.ArrayLike | None = None,
        token_type_ids: npt.ArrayLike | None = None,
    ) -> ModelOutput:
        """Run the encoder on token ids.

        input_ids: (batch, sequence) integers.
        attention_mask: same shape; 0 hides a token, and holes are allowed. Positions count from
            the start of the row, hidden tokens included; those of RoBERTa and its like leave out
            tokens that are the padding id, hidden or not.
        token_type_ids: same shape; which segment a token belongs to. Default: 0, which is all that
            models without token types take.

        Hidden positions come back as zeros. Every other result depends on its own row alone: it
        is the same, to the bit, in any batch and with any number of threads. The pooler takes the
        first token that is not hidden; a row without any gives zeros.

        Raises TypeError for a dtype that is not integer, ValueError for a wrong shape, a token id
        outside the vocabulary or a sequence longer than the position table.
        """
        ids = index_array("forward: input_ids", input_ids, None)
        shape: tuple[int, int] = (ids.shape[0], ids.shape[1])
        valid = None
        if attention_mask is not None:
            valid = index_array("forward: attention_mask", attention_mask, shape) != 0
            if valid.all():
                valid = None
        types = None
        if token_type_ids is not None:
            types = index_array("forward: token_type_ids", token_type_ids, shape)
        limit = self.config.max_length
        if shape[1] > limit:
            raise ValueError(f"forward: input_ids has {shape[1]} positions, the model has {limit}")
        _check_range("forward: input_ids", ids, valid, self.config.vocab_size)
        if types is not None:
            _check_range("forward: token_type_ids", types, valid, self.config.type_vocab_size)

        hidden = np.zeros((*shape, self.config.hidden_size), np.float32)
        pooled = None
        if self._transformer.pooler is not None:
            pooled = np.zeros((shape[0], self.config.hidden_size), np.float32)
        self._run_padded(ids, valid, types, hidden, pooled)
        return ModelOutput(hidden, pooled)

    def _run_padded(
        self,
        ids: npt.NDArray[Any],
        valid: npt.NDArray[np.bool_] | None,
        types: npt.NDArray[Any] | None,
        hidden: Floats,
        pooled: Floats | None,
    ) -> None:
        rows, columns, width = hidden.shape
        lengths = np.full(rows, columns) if valid is None else valid.sum(axis=1)
        kept = np.flatnonzero(lengths)  # rows that have any token
        for part in chunks(lengths[kept].tolist(), MAX_TOKENS, rows):
            chosen: Any = kept[part]
            if chosen[-1] - chosen[0] + 1 == chosen.size:
                chosen = slice(int(chosen[0]), int(chosen[-1]) + 1)  # views instead of copies
            mask = None if valid is None else valid[chosen]
            part_types = None if types is None else types[chosen]
            packed = pack_padded(ids[chosen], mask, part_types, self.config.pad_token_id)
            direct = mask is None and isinstance(chosen, slice)
            if direct:
                states = hidden[chosen].reshape(-1, width)
            else:
                states = np.empty((packed.tokens, width), np.float32)
            outputs = [states]
            if pooled is not None:
                outputs.append(np.empty((packed.sequences, width), np.float32))
            self._forward.run(packed, outputs, self.num_threads)
            if mask is not None:
                place = np.zeros(ids.shape, np.bool_)
                place[chosen] = mask
                hidden[place] = states
            if pooled is not None:
                pooled[chosen] = outputs[1]

    @overload
    def encode(
        self,
        sentences: str,
        batch_size: int = ...,
        normalize_embeddings: bool | None = ...,
        show_progress_bar: bool = ...,
    ) -> Floats: ...
    @overload
    def encode(
        self,
        sentences: Sequence[str],
        batch_size: int = ...,
        normalize_embeddings: bool | None = ...,
        show_progress_bar: bool = ...,
    ) -> Floats: ...
    def encode(
        self,
        sentences: str | Sequence[str],
        batch_size: int = 32,
        normalize_embeddings: bool | None = None,
        show_progress_bar: bool = False,
    ) -> Floats:
        """Embed sentences.

        sentences: a str gives a (hidden,) vector, a sequence of n str an (n, hidden) array in the
            same order. Longer ones than `max_length` tokens are cut.
        batch_size: the most sentences to compute at a time; bounds memory, never changes a result.
        normalize_embeddings: scale vectors to length 1; None does what modules.json says.
        show_progress_bar: needs tqdm.

        Raises TypeError if something is not a str, ValueError if batch_size is less than 1 or the
        tokenizer gives an id outside the vocabulary.
        """
        texts = _sentences(sentences)
        try:
            batch_size = operator.index(batch_size)
        except TypeError:
            got = type(batch_size).__name__
            raise TypeError(f"encode: batch_size must be an integer, got {got}") from None
        if batch_size < 1:
            raise ValueError(f"encode: batch_size must be at least 1, got {batch_size}")
        if normalize_embeddings is None:
            normalize_embeddings = self.sentence.normalize
        embed = self._embed[bool(normalize_embeddings)]

        result = np.zeros((len(texts), self.config.hidden_size), np.float32)
        with _progress(len(texts), show_progress_bar) as advance:
            tokens = self._tokenizer(texts)
            lengths = np.array([t.size for t in tokens], np.int64)
            # Longest first, so that the sentences of a run have about one length.
            order = np.argsort(-lengths, kind="stable")
            order = order[lengths[order] > 0]
            for part in chunks(lengths[order].tolist(), MAX_TOKENS, batch_size):
                chosen = order[part]
                packed = pack_sequences([tokens[n] for n in chosen], self.config.pad_token_id)
                _check_range("encode: token ids", packed.ids[None], None, self.config.vocab_size)
                rows = np.empty((chosen.size, self.config.hidden_size), np.float32)
                embed.run(packed, [rows], self.num_threads)
                result[chosen] = rows
                advance(chosen.size)
        return result[0] if isinstance(sentences, str) else result


def _sentences(sentences: object) -> list[str]:
    if isinstance(sentences, str):
        return [sentences]
    if isinstance(sentences, bytes) or not hasattr(sentences, "__iter__"):
        got = type(sentences).__name__
        raise TypeError(f"encode: sentences must be a str or a sequence of str, got {got}")
    texts = list(sentences)
    for n, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(f"encode: sentences[{n}] must be a str, got {type(text).__name__}")
    return texts


def _check_range(
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


class _Advance(Protocol):
    def __call__(self, n: int, /) -> object: ...


@contextmanager
def _progress(total: int, show: bool) -> Iterator[_Advance]:
    if not show:
        yield lambda n: None
        return
    try:
        from tqdm.auto import tqdm
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            "encode: show_progress_bar needs tqdm: pip install 'fbg[cli]'", name="tqdm"
        ) from None
    with tqdm(total=total, unit="sentence") as bar:
        yield bar.update
