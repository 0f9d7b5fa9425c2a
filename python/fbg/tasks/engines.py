"""The networks that tasks run: the encoder followed by pooling, by layers that give each token a
vector, or by the head, if it is one for the task; and the decoder of masked language models.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np

from fbg.arrays import Floats
from fbg.errors import ModelError
from fbg.graph.graph import Graph
from fbg.graph.ops import rows as ops
from fbg.graph.ops.op import Value
from fbg.locks import Lock
from fbg.matmul.packed_b import PackedB
from fbg.matmul.product import linear
from fbg.matmul.vocabulary import columns_of
from fbg.networks.config import KINDS, PER_SEQUENCE
from fbg.networks.dense import Dense, build_dense
from fbg.networks.heads import Head, build_head
from fbg.networks.transformer import Transformer
from fbg.runtime.engine import Engine, RowsEngine
from fbg.tasks.late_interaction.expansion import ExpandedEngine
from fbg.text.multi_vector import MultiVector
from fbg.text.sentence import SentenceConfig

MAX_PROMPTS = 16  # number of engines kept for prompts that are not pooled
# Masks of one product with the decoder: at least a panel of its packed factor, more if
# the logits do not take many megabytes.
MASKS = (32, 128)
MAX_LOGITS = 1 << 22


Key = tuple[str, int, bool]


class Engines:
    """The engines of a model, each made when it is first asked for.

    dimension: the columns of an embedding.
    """

    def __init__(self, transformer: Transformer, sentence: SentenceConfig) -> None:
        dense = sentence.dense
        self.dimension = dense[-1].outputs if dense else transformer.config.dimension
        self._transformer, self._sentence = transformer, sentence
        self._made: dict[Key, Engine] = {}
        self._lock = Lock()

    @property
    def tokens(self) -> Engine:
        """The encoder alone, with a row for every token."""
        width = self._transformer.config.output_size
        return self._engine(("tokens", 0, False), lambda graph, x: x, width, per_token=True)

    def embedding(self, normalize: bool, skipped: int = 0) -> Engine:
        """Return the encoder with pooling and Dense modules, and with normalization at the end.

        The first `skipped` tokens are left out of the pooling. The least recently made engine for
        such prompts is dropped when there are many of them.
        """
        key = ("embedding", skipped, normalize)
        engine = self._made.get(key)
        if engine is not None:
            return engine
        sentence = self._sentence

        def pooled(graph: Graph, hidden: Value) -> Value:
            x = self._transformer.build_vector(graph, hidden, sentence.pooling, skipped)
            return _projected(graph, x, sentence.dense, normalize)

        engine = self._engine(key, pooled, self.dimension, per_token=False)
        with self._lock:
            prompts = [key for key in self._made if key[0] == "embedding" and key[1] > 0]
            for old in prompts[:-MAX_PROMPTS]:
                del self._made[old]
        return engine

    def projected(self, rows: Floats, normalize: bool, num_threads: int) -> Floats:
        """Return pooled rows behind the Dense modules, and normalized at the end."""
        dense, key = self._sentence.dense, ("projected", 0, normalize)
        if not dense and not normalize:
            return rows
        with self._lock:
            engine = self._made.get(key)
            if engine is None:
                graph, config = Graph(), self._transformer.config
                x = graph.add(ops.Input(rows.shape[1]))
                graph.output(_projected(graph, x, dense, normalize))
                engine = RowsEngine(graph, config, self.dimension, per_token=True)
                self._made[key] = engine
        # A sequence has at most as many rows as the model takes tokens.
        most = self._transformer.config.max_length
        parts = [rows[n : n + most] for n in range(0, len(rows), most)]
        found = engine.compute([], parts, num_threads, "encode") if parts else [engine.empty()]
        return np.concatenate(found)

    @property
    def picture(self) -> Engine:
        """The tower for pictures with the pooling of its states to a vector, and the modules that
        follow.
        """
        tower = self._transformer.image or self._transformer
        sentence = self._sentence

        def pooled(graph: Graph, hidden: Value) -> Value:
            x = tower.build_vector(graph, hidden, tower.config.pooling)
            return _projected(graph, x, sentence.dense, sentence.normalize)

        key = ("picture", 0, False)
        return self._engine(key, pooled, self.dimension, per_token=False, tower=tower)

    @property
    def head(self) -> Engine:
        """The encoder with the head of the model, which must have one.

        Its output has a row of (labels) for a text or for every token; for a masked language model,
        which has its decoder elsewhere (`decode_columns`), one of (embedding_size) for every token.
        """
        transformer, head = self._transformer, self._transformer.head
        assert head is not None
        width = columns_of(transformer.embeddings.word)
        columns = width if head.output is None else head.output.weight.shape[1]
        per_token = head.kind not in PER_SEQUENCE
        return self._engine(
            ("head", 0, False),
            lambda graph, hidden: build_head(graph, hidden, head, transformer.pooler),
            columns,
            per_token=per_token,
        )

    def vectors(self, settings: MultiVector, hidden_length: int = 0) -> Engine:
        """Return the encoder with layers that make a vector for every token.

        hidden_length: the length of queries with tokens that no token attends to.
        """
        head = self._transformer.head

        def projected(graph: Graph, x: Value) -> Value:
            if settings.columns is not None and head is not None and head.output is not None:
                x = graph.add(ops.Linear(x, head.output))
            return _projected(graph, x, settings.dense, settings.normalize)

        columns = settings.columns or self._transformer.config.output_size
        columns = settings.dense[-1].outputs if settings.dense else columns
        return self._engine(("vectors", hidden_length, False), projected, columns, per_token=True)

    def _engine(
        self,
        key: Key,
        behind: Callable[[Graph, Value], Value],
        columns: int,
        *,
        per_token: bool,
        tower: Transformer | None = None,
    ) -> Engine:
        """Return the engine of a key. behind: adds the layers behind the encoder to its graph.
        tower: another encoder than that of token ids.
        """
        encoder = tower or self._transformer
        with self._lock:
            engine = self._made.get(key)
            if engine is None:
                graph, hidden = encoder.encoder()
                graph.output(behind(graph, hidden))
                config = encoder.config
                if key[0] == "vectors" and key[1]:
                    engine = ExpandedEngine(graph, config, key[1], columns)
                else:
                    kind = Engine if config.picture is None else RowsEngine
                    engine = kind(graph, config, columns, per_token=per_token)
                self._made[key] = engine
            return engine

    @property
    def arena_bytes(self) -> int:
        with self._lock:
            return sum(engine.runner.arena_bytes for engine in self._made.values())


def _projected(graph: Graph, x: Value, dense: Sequence[Dense], normalize: bool) -> Value:
    for each in dense:
        x = build_dense(graph, x, each)
    return graph.add(ops.Normalize(x)) if normalize else x


def head_tasks(transformer: Transformer) -> tuple[str, ...]:
    """Return the methods of Model that need a head, of those that the network has."""
    head = KINDS[transformer.head.kind] if transformer.head is not None else ()
    return (*head, *(KINDS["GLiNER"] if transformer.spans is not None else ()))


def tasks_of(transformer: Transformer, sentence: SentenceConfig) -> tuple[str, ...]:
    """Return the methods of Model for texts that a model has beside `encode`."""
    multi = KINDS["HF_ColBERT"] if sentence.multi_vector is not None else ()
    hybrid = ("encode_hybrid",) if sentence.token_heads is not None else ()
    return tuple(dict.fromkeys((*head_tasks(transformer), *multi, *hybrid)))


def require_head(transformer: Transformer, directory: Path, task: str) -> Head:
    """Return the head if it is one for this method of Model; raises ModelError."""
    head, tasks = transformer.head, transformer.config.tasks
    if head is not None and task in KINDS[head.kind]:
        return head
    config = directory / "config.json"
    has = ", ".join(("encode", *head_tasks(transformer)))
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


def decode_columns(transformer: Transformer, states: Floats, num_threads: int) -> Iterator[Floats]:
    """Yield (vocabulary, some masks): the logits of the next masks, less the decoder's bias.

    states: (masks, embedding_size), the output of the head for masked tokens.
    """
    head = transformer.head
    assert head is not None
    table = transformer.embeddings.word if head.decoder is None else head.decoder
    masks = min(max(MAX_LOGITS // table.shape[0] // MASKS[0] * MASKS[0], MASKS[0]), MASKS[1])
    for begin in range(0, states.shape[0], masks):
        # The table is by far the larger factor: it is read in place, as the left one, and the
        # states are packed.
        packed = PackedB(states[begin : begin + masks], transpose=True, dtype="float32")
        yield linear(table, packed, num_threads=num_threads)
