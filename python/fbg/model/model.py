"""Model, what `fbg.load` returns: hidden states of token ids, embeddings, and tasks."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy.typing as npt

from fbg import _fbg
from fbg.arrays import require_integer
from fbg.model import save as saved
from fbg.model.forward import HiddenStates, ModelOutput
from fbg.networks.config import EncoderConfig
from fbg.networks.transformer import Transformer
from fbg.runtime.reports import MemoryReport, PlanReport
from fbg.tasks.answer import AnswerMethods
from fbg.tasks.classify import ClassifyMethods
from fbg.tasks.context import TaskContext
from fbg.tasks.encode import EncodeMethods
from fbg.tasks.fill_mask import FillMaskMethods
from fbg.tasks.ner import NerMethods
from fbg.tasks.rerank import RerankMethods
from fbg.text.sentence import SentenceConfig
from fbg.text.tokenization import TextTokenizer

__all__ = ["Model", "ModelOutput"]


class Model(
    EncodeMethods, ClassifyMethods, RerankMethods, NerMethods, AnswerMethods, FillMaskMethods
):
    """A transformer encoder that is ready to run. Made by `fbg.load`; threads may share it.

    Every model has `forward` and `encode`. Of the other tasks it has those whose head config.json
    names and the checkpoint holds; the rest raise ModelError. All tasks take one text, and give its
    result, or an iterable of them, and give a list in the same order. A result depends on its own
    text alone: it is the same, to the bit, in any batch and with any number of threads.

    All raise TypeError if something is not a str, and ValueError for arguments out of range, text
    that is not valid Unicode, or a token id outside the vocabulary.
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
        self._origin = origin
        self._num_threads = num_threads
        self._hidden_states = HiddenStates(network)
        self._context = TaskContext(network, sentence, tokenizer, origin.directory, num_threads)

    @property
    def graph(self) -> _fbg.Graph:
        """The network of `forward`, as plans are made from it."""
        return self._hidden_states.runner.graph

    @property
    def context(self) -> TaskContext:
        """What tasks compute with, for those who drive them (`AsyncModel`)."""
        return self._context

    @property
    def num_threads(self) -> int:
        """Threads of a call: those given to `fbg.load`, else the default of the process."""
        return self._context.num_threads

    @property
    def directory(self) -> Path:
        """Where the model was loaded from; of a hub id, the snapshot in the local cache."""
        return self._origin.directory

    @property
    def is_saved(self) -> bool:
        """Whether the weights are mapped from a directory that `save` wrote."""
        return self._origin.mapped

    def with_network(self, network: Transformer) -> Model:
        """Return a model that differs in its network only; it cannot be pickled."""
        return Model(
            self.name, self._origin, network, self.sentence, self.tokenizer, self._num_threads
        )

    @property
    def prompts(self) -> Mapping[str, str]:
        """The prompts of the model, for `prompt_name` of `encode`."""
        return self.sentence.prompts

    def __repr__(self) -> str:
        c = self.config
        return (
            f"<fbg.Model {self.name!r}: {c.model_type}, {c.num_layers} layers, hidden size "
            f"{c.hidden_size}, {c.num_heads} heads, {self.dtype}>"
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
        saved.write(target, self._origin, self.network, overwrite)

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
        arenas = self._hidden_states.runner.arena_bytes + self._context.arena_bytes
        network = self.network
        return MemoryReport.of(saved.tensors(network), network.derived, arenas, self.is_saved)

    def plan(self, tokens: int = 64) -> PlanReport:
        """Prepare `forward` for that many tokens and return what was decided; `print` shows it.

        tokens: at most 1024; a run takes at most 512, unless one sequence is longer. A plan serves
            a range of sizes, and is the one that such a `forward` uses under the ISA now active.

        >>> print(model.plan(tokens=128))  # doctest: +SKIP
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
        return self._hidden_states.run(input_ids, attention_mask, token_type_ids, self.num_threads)
