"""Model, what `fbg.load` returns: hidden states of token ids, embeddings, and tasks."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NoReturn

import numpy.typing as npt

from fbg import _fbg
from fbg.arrays import require_integer
from fbg.graph.graph import Graph
from fbg.model import save as saved
from fbg.model.forward import HiddenStates, ModelOutput
from fbg.model.pictures import PictureMethods
from fbg.networks.config import EncoderConfig
from fbg.networks.transformer import Transformer, precision
from fbg.reading import FileState
from fbg.runtime.reports import MemoryReport, PlanReport
from fbg.saved_file import save_arguments
from fbg.tasks.answer import AnswerMethods
from fbg.tasks.chunks import ChunkMethods
from fbg.tasks.classify import ClassifyMethods
from fbg.tasks.context import TaskContext
from fbg.tasks.encode import EncodeMethods
from fbg.tasks.engines import tasks_of
from fbg.tasks.fill_mask import FillMaskMethods
from fbg.tasks.inputs import require_tower
from fbg.tasks.late_interaction.encode import MultiVectorMethods
from fbg.tasks.late_interaction.hybrid import HybridMethods
from fbg.tasks.ner import NerMethods
from fbg.tasks.rerank import RerankMethods
from fbg.tasks.sparse import SparseMethods
from fbg.tasks.zero_shot import ZeroShotMethods
from fbg.text.saved_settings import files_that_cut
from fbg.text.sentence import SentenceConfig
from fbg.text.tokenization import TextTokenizer


class Model(
    EncodeMethods,
    ChunkMethods,
    ClassifyMethods,
    RerankMethods,
    NerMethods,
    AnswerMethods,
    FillMaskMethods,
    SparseMethods,
    ZeroShotMethods,
    MultiVectorMethods,
    HybridMethods,
    PictureMethods,
):
    """A transformer encoder that is ready to run. `fbg.load` makes it; threads may share it.

    Every model has `forward` and `encode`; towers for pictures have `forward_image` and
    `encode_image`, in their place or beside them. The other tasks need a head: a model has the task
    that the architecture in config.json names, if the checkpoint contains the weights of that head,
    and raises ModelError for all others. Each task takes one text and returns its result, or an
    iterable of texts and returns a list of results in the same order. Results do not depend on the
    other texts of a call, on batch_size or on the number of threads: they are bit-for-bit the same.

    All tasks raise TypeError if a text is not a str, and ValueError for an argument out of range, a
    text that is not valid Unicode, or a token id outside the vocabulary.

    Attributes:
        name: the argument of `fbg.load`.
        dtype: the precision of the linear layers, such as "int8".
        config: the settings of config.json (`EncoderConfig`).
        sentence: pooling, normalization and prompts, from the files of sentence-transformers.
        network: the weights (`Transformer`).
        tokenizer: from texts to token ids (`TextTokenizer`).
    """

    def __init__(
        self,
        name: str,
        origin: saved.Origin,
        network: Transformer,
        sentence: SentenceConfig,
        tokenizer: TextTokenizer,
        num_threads: int | None = None,
    ) -> None:
        self.name = name
        self.dtype = network.dtype
        self.config: EncoderConfig = network.config
        self.sentence = sentence
        self.network = network
        self.tokenizer = tokenizer
        self.reload: Callable[[], Model] | None = None  # for pickle; set by fbg.load
        self.adapted: Mapping[str, Transformer] = {}  # with each adapter; set by fbg.load
        self._made: dict[str, Model] = {}
        self._origin = origin
        self._num_threads = num_threads
        self._hidden_states = HiddenStates(network)
        self._image_states = self._hidden_states
        if network.image is not None:
            self._image_states = HiddenStates(network.image)
        self._context = TaskContext(network, sentence, tokenizer, origin.directory, num_threads)

    def __call__(self, *_: object) -> NoReturn:
        """Raise TypeError: a model has a method for each task."""
        tasks = ", ".join(tasks_of(self.network, self.sentence))
        raise TypeError(
            "Model: call one of its methods: encode for embeddings of texts, forward for states of "
            f"token ids{', ' if tasks else ''}{tasks}"
        )

    @property
    def graph(self) -> Graph:
        """The graph of `forward`: its ops, one after the other. `print(model.graph)` shows them."""
        return self._hidden_states.graph

    @property
    def lowered(self) -> _fbg.Graph:
        """The native graph of `forward`, from which its plans are prepared."""
        return self._hidden_states.runner.lowered.native

    @property
    def context(self) -> TaskContext:
        """The context of tasks, for code that drives them (`AsyncModel`)."""
        return self._context

    @property
    def num_threads(self) -> int:
        """The number of threads of a call: argument of `fbg.load`, or `fbg.get_num_threads()`."""
        return self._context.num_threads

    @property
    def directory(self) -> Path:
        """The directory from which the model was loaded; for a hub id, one in the local cache."""
        return self._origin.directory

    @property
    def name_or_path(self) -> str:
        """The same as `name`, for programs that expect a model of transformers."""
        return self.name

    @property
    def origin(self) -> saved.Origin:
        """The origin of the model, for code that saves it with other settings."""
        return self._origin

    @property
    def reads(self) -> Mapping[str, FileState]:
        """The state of every file that was read when the model was loaded, by its path."""
        return self._origin.reads

    @property
    def is_saved(self) -> bool:
        """Whether the weights are mapped from a directory that `save` wrote."""
        return self._origin.mapped

    def with_network(self, network: Transformer) -> Model:
        """Return a model that differs in its network only; it cannot be pickled."""
        return self._changed(network, self.tokenizer, self._origin)

    def _changed(
        self,
        network: Transformer,
        tokenizer: TextTokenizer,
        origin: saved.Origin,
        how: tuple[str, object] | None = None,
    ) -> Model:
        """Return a model with other parts. how: the method that made it, and its argument."""
        result = Model(self.name, origin, network, self.sentence, tokenizer, self._num_threads)
        if how is not None and self.reload is not None:
            result.reload = partial(_load_and_change, self.reload, *how)
        return result

    def with_max_length(self, max_length: int) -> Model:
        """Return a model that cuts texts at another number of tokens, and shares the weights.

        max_length: within [1, `config.max_length`], special tokens included.

        Raises TypeError or ValueError for max_length.

        >>> model.with_max_length(16).max_length
        16
        """
        limit = self.config.max_length
        length = require_integer(max_length, "with_max_length: max_length", 1, limit)
        return self._cutting(self.tokenizer.with_max_length(length), "with_max_length", length)

    def with_truncation_side(self, side: str) -> Model:
        """Return a model that cuts long texts at the "left" or at the "right", and shares the rest.

        Raises ValueError for another side.

        >>> model.with_truncation_side("left").max_length == model.max_length
        True
        """
        if side not in ("left", "right"):
            raise ValueError(f"with_truncation_side: side must be left or right, got {side!r:.80}")
        return self._cutting(self.tokenizer.cutting(side), "with_truncation_side", side)

    def _cutting(self, tokenizer: TextTokenizer, method: str, how: object) -> Model:
        """Return a model with a tokenizer that a method made; `save` keeps where it cuts."""
        cut = files_that_cut(self._origin.files, tokenizer.max_length, tokenizer.truncation_side)
        origin = replace(self._origin, files=cut)
        result = self._changed(self.network, tokenizer, origin, (method, how))
        result.adapted = self.adapted
        return result

    @property
    def adapters(self) -> tuple[str, ...]:
        """The names of the adapters that `fbg.load` has kept beside the weights."""
        return tuple(self.adapted)

    def with_adapter(self, name: str) -> Model:
        """Return the model with one of its `adapters`, the same object each time.

        It shares all weights to which the adapter adds nothing, and cuts texts where this one does.
        `save` writes it as a model by itself, merged with the adapter.

        Raises ValueError for another name.

        >>> model = fbg.load(path, adapters={"law": "adapters/law"})  # doctest: +SKIP
        >>> model.with_adapter("law").encode("a sentence").shape  # doctest: +SKIP
        (384,)
        """
        if name not in self.adapted:
            known = ", ".join(map(repr, self.adapted)) or "one that fbg.load has got as adapters"
            raise ValueError(f"with_adapter: name must be {known}, got {name!r:.80}")
        if name not in self._made:
            method = f"{self._origin.method}; adapter: {name}"
            origin, network = replace(self._origin, method=method), self.adapted[name]
            made = self._changed(network, self.tokenizer, origin, ("with_adapter", name))
            self._made.setdefault(name, made)
        return self._made[name]

    @property
    def prompts(self) -> Mapping[str, str]:
        """The prompts of the model, for `prompt_name` of `encode`."""
        return self.sentence.prompts

    def __repr__(self) -> str:
        c = self.config
        return (
            f"<fbg.Model {self.name!r}: {c.model_type}, {c.num_layers} layers, hidden size "
            f"{c.hidden_size}, {c.num_heads} heads, {precision(self.network)}>"
        )

    def __reduce__(self) -> tuple[Callable[[], Model], tuple[()]]:
        if self.reload is None:
            raise TypeError(f"{self!r} cannot be pickled: it does not come from fbg.load")
        return self.reload, ()

    # A model never changes, so that a copy is the model itself.
    def __copy__(self) -> Model:
        return self

    def __deepcopy__(self, memo: dict[int, Any]) -> Model:
        return self

    def save(self, directory: str | os.PathLike[str], *, overwrite: bool = False) -> None:
        """Write a directory with the packed weights, which `fbg.load` maps without copying them.

        directory: the directory to create; its parent must exist. config.json, the tokenizer and
            the files of sentence-transformers are written into it as they were loaded, whatever
            has become of them since, with where texts are cut now. The directory is created
            completely or not at all.
        overwrite: replace a saved model of that name. Models that were loaded from it keep working.
            Any other directory that is not empty is never replaced.

        The files do not depend on the ISA, and a model that is loaded from them returns bit-for-bit
        the same results. Raises FileExistsError if the directory exists and may not be replaced,
        and OSError if it cannot be written.

        >>> model.save(tmp / "saved")
        >>> fbg.load(tmp / "saved").is_saved
        True
        """
        target, overwrites = save_arguments(directory, overwrite)
        saved.write(target, self._origin, self.network, overwrites)

    def memory_report(self) -> MemoryReport:
        """Return how many bytes each part of the model takes; `print` shows a table.

        >>> print(model.memory_report())
        packed weights        7.3 MiB  owned
        embeddings            0.9 MiB  owned
        norms and biases      0.0 MiB  owned
        derived tables        0.0 MiB  owned
        arenas                ... MiB  owned
        total                 ... MiB  ... MiB owned
        """
        runners = {state.runner for state in (self._hidden_states, self._image_states)}
        arenas = sum(runner.arena_bytes for runner in runners) + self._context.engines.arena_bytes
        network = self.network
        return MemoryReport.of(saved.tensors(network), network.derived, arenas, self.is_saved)

    def plan(self, tokens: int = 64) -> PlanReport:
        """Prepare `forward` for a number of tokens; return the memory and the kernel of each op.

        tokens: within [1, 1024]. `forward` computes at most 512 tokens at a time, unless a single
            sequence is longer. A plan serves all sizes up to its capacity; this is the plan that
            `forward` uses for `tokens` under the active ISA.

        Raises TypeError or ValueError for tokens. `print` shows a table.

        >>> [op.name for op in model.plan(tokens=128).ops][:2]
        ['embedding', 'layer_norm']
        """
        tokens = require_integer(tokens, "plan: tokens", 1, 1024)
        threads = self.num_threads
        return PlanReport.of(self._hidden_states.runner.plan(tokens, threads), tokens, threads)

    def forward(
        self,
        input_ids: npt.ArrayLike,
        attention_mask: npt.ArrayLike | None = None,
        token_type_ids: npt.ArrayLike | None = None,
    ) -> ModelOutput:
        """Run the encoder on token ids; return its hidden states and the output of its pooler.

        input_ids: (batch, sequence), any integer dtype.
        attention_mask: (batch, sequence) integers or booleans; tokens where it is 0 are masked.
            They may be anywhere in a row. Masked tokens count in the positions of the others,
            except that RoBERTa and the models derived from it do not count tokens with the padding
            id, masked or not. None: no token is masked.
        token_type_ids: (batch, sequence) integers, the segment of each token. None: zeros, which
            are the only ones allowed if the model has no token types.

        The hidden states of masked tokens are zeros. The pooler reads the first token of a row that
        is not masked; if all are masked, its output is zeros. A row of results does not depend on
        the other rows or on the number of threads: it is bit-for-bit the same.

        Raises TypeError if a dtype is not integer, and ValueError for a wrong shape, an id out of
        range, or a sequence that is longer than `config.max_length`.

        >>> model.forward(np.array([[2, 5, 6, 3]])).last_hidden_state.shape
        (1, 4, 384)
        """
        require_tower(self.config, "forward")
        return self._hidden_states.run(input_ids, attention_mask, token_type_ids, self.num_threads)


def _load_and_change(load: Callable[[], Model], method: str, how: object) -> Model:
    model: Model = getattr(load(), method)(how)
    return model
