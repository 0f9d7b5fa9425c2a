"""Model, what `fbg.load` returns: hidden states of token ids, and embeddings of sentences."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.arrays import require_integer
from fbg.model import save as saved
from fbg.networks.config import EncoderConfig
from fbg.networks.transformer import Transformer, describe_pooler
from fbg.runtime.batches import MAX_TOKENS, chunks, index_array, pack_padded
from fbg.runtime.reports import MemoryReport, PlanReport
from fbg.runtime.runner import Runner
from fbg.tasks.embedding import EncodeOptions, SentenceEmbedder, check_options, check_range
from fbg.tasks.inputs import require_iterable, require_texts
from fbg.tasks.task_runner import TaskRunner
from fbg.tasks.text_tasks import TextTasks
from fbg.tasks.token_tasks import TokenTasks
from fbg.text.sentence import SentenceConfig
from fbg.text.tokenization import TextTokenizer

__all__ = ["Model", "ModelOutput"]

Floats = npt.NDArray[np.float32]


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
        self._forward = Runner(graph, self.config.max_length)
        self._embedder = SentenceEmbedder(transformer, sentence, tokenizer)
        self._said_cut = False
        self.reload: Callable[[], Model] | None = None  # for pickle; set by fbg.load
        self._tasks = TaskRunner(transformer, tokenizer, origin, num_threads)

    @property
    def graph(self) -> _fbg.Graph:
        """The network of `forward`, as plans are made from it."""
        return self._forward.graph

    @property
    def num_threads(self) -> int:
        """Threads of a call: those given to `fbg.load`, else the default of the process."""
        return self._num_threads or _fbg.num_threads()

    @property
    def directory(self) -> Path:
        """Where the model was loaded from; of a hub id, the snapshot in the local cache."""
        return self._origin.directory

    @property
    def max_length(self) -> int:
        """Tokens, special ones included, at which `encode` cuts a sentence."""
        return self._tokenizer.max_length

    @property
    def embedding_dimension(self) -> int:
        """Length of the vectors of `encode`: the hidden size, or what Dense modules make of it."""
        return self._embedder.dimension

    @property
    def prompts(self) -> Mapping[str, str]:
        """The prompts of the model, for `prompt_name` of `encode`."""
        return self.sentence.prompts

    def token_counts(self, sentences: Sequence[str]) -> list[int]:
        """Return how many tokens `encode` computes for each sentence, special ones included."""
        return [
            tokens.size
            for tokens in self._tokenizer(require_texts("encode: sentences", sentences, keys=True))
        ]

    def __repr__(self) -> str:
        c = self.config
        return (
            f"<fbg.Model {self.name!r}: {c.model_type}, {c.num_hidden_layers} layers, hidden size "
            f"{c.hidden_size}, {c.num_attention_heads} heads, {self.dtype}>"
        )

    def __reduce__(self) -> tuple[Callable[[], Model], tuple[()]]:
        if self.reload is None:
            raise TypeError(f"{self!r} cannot be pickled: it does not come from fbg.load")
        return self.reload, ()

    # Nothing of a model ever changes, so that a copy has nothing of its own.
    def __copy__(self) -> Model:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Model:
        return self

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
        arenas = self._forward.arena_bytes + self._embedder.arena_bytes
        arenas += sum(runner.arena_bytes for runner in self._tasks.runners)
        network = self._transformer
        return MemoryReport.of(saved.tensors(network), network.derived, arenas, self._origin.mapped)

    def plan(self, tokens: int = 64) -> PlanReport:
        """Prepare `forward` for that many tokens and return what was decided; `print` shows it.

        tokens: at most 1024; a run takes at most 512, unless one sequence is longer. A plan serves
            a range of sizes, and is the one that such a `forward` uses under the ISA now active.

        >>> print(model.plan(tokens=128))  # doctest: +SKIP
        """
        tokens = require_integer(tokens, "plan: tokens", 1, 1024)
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
        check_range("forward: input_ids", ids, valid, self.config.vocab_size)
        if types is not None:
            check_range("forward: token_type_ids", types, valid, self.config.type_vocab_size)

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
        """Embed sentences.

        sentences: a str gives an (embedding_dimension,) vector, n str of any iterable an
            (n, embedding_dimension) array in the same order.
        batch_size: the most sentences to compute at a time; bounds memory, never changes a result.
        normalize_embeddings: scale vectors to length 1; None does what modules.json says.
        show_progress_bar: needs tqdm.
        truncate_dim: keep that many first dimensions, of models that were trained for it. As with
            sentence-transformers, modules.json normalizes before that, and
            normalize_embeddings=True after it.
        prompt: is put before every sentence.
        prompt_name: the same, by its name in `prompts`. Default: the default of the model, if any.
        truncation: cut texts at `max_length` tokens, and say so in a warning, once for a model.
            False: such a text is a ValueError.

        Raises TypeError if something is not a str, ValueError for an argument out of range, text
        that is not valid Unicode, or a token id outside the vocabulary; ModelError if the model has
        no tokenizer.

        >>> model.encode(["a sentence", "another"]).shape  # doctest: +SKIP
        (2, 384)
        """
        options = self._options(
            batch_size, normalize_embeddings, truncate_dim, prompt, prompt_name, truncation
        )
        texts = require_texts("encode: sentences", sentences, keys=True)
        result = np.empty((len(texts), options.dimension), np.float32)
        filled = 0
        with _progress(len(texts), show_progress_bar) as advance:
            for rows in self._embedder.embed(
                texts, options, self.num_threads, advance=advance, warn_cut=self._warn_cut
            ):
                result[filled : filled + len(rows)] = rows
                filled += len(rows)
        return result[0] if isinstance(sentences, str) else result

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
        """Embed sentences as they come: yields the vector of each, in their order.

        The arguments and the vectors are those of `encode`. Memory does not depend on the number of
        sentences: at most 2048 of them, and fewer long ones, are read before their vectors are
        yielded. Raises for other arguments at once, for a sentence when its turn comes.

        >>> with open("corpus.txt") as lines:  # doctest: +SKIP
        ...     for vector in model.encode_stream(lines):
        ...         index.add(vector)
        """
        options = self._options(
            batch_size, normalize_embeddings, truncate_dim, prompt, prompt_name, truncation
        )
        require_iterable("encode: sentences", sentences, "an iterable of str", str)

        def vectors() -> Iterator[Floats]:
            with _progress(None, show_progress_bar) as advance:
                for rows in self._embedder.embed(
                    sentences, options, self.num_threads, advance=advance, warn_cut=self._warn_cut
                ):
                    for row in rows:
                        yield row.copy()  # a view would keep its whole window

        return vectors()

    def _options(
        self,
        batch_size: int,
        normalize_embeddings: bool | None,
        truncate_dim: int | None,
        prompt: str | None,
        prompt_name: str | None,
        truncation: bool,
    ) -> EncodeOptions:
        return check_options(
            self.sentence,
            self.embedding_dimension,
            batch_size=batch_size,
            normalize_embeddings=normalize_embeddings,
            truncate_dim=truncate_dim,
            prompt=prompt,
            prompt_name=prompt_name,
            truncation=truncation,
        )

    def _warn_cut(self, message: str) -> None:
        if not self._said_cut:
            self._said_cut = True
            warnings.warn(f"{message}; said once for a model", UserWarning, stacklevel=4)


class _Advance(Protocol):
    def __call__(self, n: int, /) -> object: ...


@contextmanager
def _progress(total: int | None, show: bool) -> Iterator[_Advance]:
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
