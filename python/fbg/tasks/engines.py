"""The networks that tasks run: the encoder followed by pooling, or by the head of the model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from fbg.errors import ModelError
from fbg.graph import ops
from fbg.locks import Lock
from fbg.matmul.packed_b import PackedB
from fbg.matmul.product import linear
from fbg.networks.dense import build_dense
from fbg.networks.heads import Head, build_head
from fbg.networks.task_config import KINDS
from fbg.networks.transformer import Transformer
from fbg.runtime.engine import Engine
from fbg.text.sentence import SentenceConfig

__all__ = ["EmbeddingEngines", "HeadEngine"]

Floats = npt.NDArray[np.float32]

MAX_PROMPTS = 16  # engines kept for prompts that are not pooled
# Of one product with the decoder: at least a panel of its packed factor, more for vocabularies of
# which the logits do not take many megabytes.
MASKS = (32, 128)
MAX_LOGITS = 1 << 22


class EmbeddingEngines:
    """Encoder, pooling and Dense modules, with and without normalization at the end.

    dimension: the columns of an embedding.
    """

    def __init__(self, transformer: Transformer, sentence: SentenceConfig) -> None:
        dense = sentence.dense
        self.dimension = dense[-1].outputs if dense else transformer.config.hidden_size
        self._transformer, self._sentence = transformer, sentence
        self._engines: dict[tuple[bool, int], Engine] = {}
        self._tokens: Engine | None = None
        self._lock = Lock()

    def _engine(self, normalize: bool, skipped: int) -> Engine:
        transformer = self._transformer
        graph, hidden = transformer.encoder()
        x = graph.add(ops.Pool(hidden, self._sentence.pooling, skipped))
        for dense in self._sentence.dense:
            x = build_dense(graph, x, dense)
        graph.output(graph.add(ops.Normalize(x)) if normalize else x)
        return Engine(graph, transformer.config, self.dimension, per_token=False)

    def engine(self, normalize: bool, skipped: int = 0) -> Engine:
        """Return the engine that leaves the first `skipped` tokens out of the pooling.

        It is made when it is first asked for. The least recently made one for prompts is dropped
        when there are many of them.
        """
        key = (normalize, skipped)
        with self._lock:
            engine = self._engines.get(key)
            if engine is None:
                engine = self._engines[key] = self._engine(*key)
                for old in [k for k in self._engines if k[1] > 0][:-MAX_PROMPTS]:
                    del self._engines[old]
            return engine

    @property
    def tokens(self) -> Engine:
        """The encoder alone, with a row for every token."""
        with self._lock:
            if self._tokens is None:
                graph, hidden = self._transformer.encoder()
                graph.output(hidden)
                config = self._transformer.config
                self._tokens = Engine(graph, config, config.hidden_size, per_token=True)
            return self._tokens

    @property
    def arena_bytes(self) -> int:
        with self._lock:
            engines = [*self._engines.values(), *([self._tokens] if self._tokens else [])]
        return sum(engine.arena_bytes for engine in engines)


class HeadEngine:
    """The encoder with the head of the model, or the explanation that there is none."""

    def __init__(self, transformer: Transformer, directory: Path) -> None:
        self._transformer = transformer
        self._directory = directory
        self._engine: Engine | None = None
        head = transformer.head
        if head is None:
            return
        config = transformer.config
        graph, hidden = transformer.encoder()
        graph.output(build_head(graph, hidden, head, transformer.pooler))
        width = transformer.embeddings.word.shape[1]
        columns = width if head.output is None else head.output.weight.shape[1]
        per_token = head.kind not in ("ForSequenceClassification", "ForCausalLM")
        self._engine = Engine(graph, config, columns, per_token=per_token)

    @property
    def arena_bytes(self) -> int:
        return 0 if self._engine is None else self._engine.arena_bytes

    def head(self, task: str) -> Head:
        """Return the head if it is one for this method of Model; raises ModelError."""
        head, tasks = self._transformer.head, self._transformer.config.tasks
        if head is not None and task in KINDS[head.kind]:
            return head
        config = self._directory / "config.json"
        kinds = [head.kind] if head is not None else []
        kinds += ["GLiNER"] if self._transformer.spans is not None else []
        has = ", ".join(("encode", *(method for kind in kinds for method in KINDS[kind])))
        if tasks.kind == "ForCausalLM" and task in KINDS[tasks.kind]:
            raise ModelError(
                f"{task}: {config} names {tasks.architectures[0]}, which ranks only with a module "
                f"LogitScore in modules.json; this model has: {has}"
            )
        if task in KINDS.get(tasks.kind, ()):
            raise ModelError(
                f"{task}: {config} names {tasks.kind}, but the checkpoint has no tensors of that "
                f"head; this model has: {has}"
            )
        kind = next(kind for kind, methods in KINDS.items() if task in methods)
        got = ", ".join(tasks.architectures) or "nothing"
        raise ModelError(
            f"{task}: {config}: architectures must name a class that ends in {kind}, got {got}; "
            f"this model has: {has}"
        )

    @property
    def present(self) -> Head | None:
        """The head of the model, whatever it is for."""
        return self._transformer.head

    @property
    def engine(self) -> Engine:
        """The encoder and its head; to be asked for after `head` only.

        Its output has a row of (labels) for a text or for every token; of a masked language model,
        which has its decoder elsewhere (`decode`), a row of (embedding_size) for every token.
        """
        assert self._engine is not None
        return self._engine

    def decode(self, states: Floats, num_threads: int) -> Iterator[Floats]:
        """Yield the logits of every token of the vocabulary for each masked token.

        states: (masks, embedding_size), the output for masked tokens.
        """
        for columns in self.decode_columns(states, num_threads):
            yield from columns.T + self.decoder_bias

    def decode_columns(self, states: Floats, num_threads: int) -> Iterator[Floats]:
        """Yield (vocabulary, some masks): the logits of the next masks, less `decoder_bias`."""
        head = self._transformer.head
        assert head is not None
        table = self._transformer.embeddings.word if head.decoder is None else head.decoder
        masks = min(max(MAX_LOGITS // table.shape[0] // MASKS[0] * MASKS[0], MASKS[0]), MASKS[1])
        for begin in range(0, states.shape[0], masks):
            # The table is by far the larger factor: it is read where it lies, as the left one, and
            # the states are packed.
            part = states[begin : begin + masks]
            packed = PackedB(part, transpose=True, dtype="float32")
            yield linear(table, packed, num_threads=num_threads)

    @property
    def decoder_bias(self) -> Floats:
        """(vocabulary,), of a masked language model."""
        head = self._transformer.head
        assert head is not None and head.decoder_bias is not None
        return head.decoder_bias
