"""The networks that compute a vector for every token: the encoder, then Dense modules."""

from __future__ import annotations

from pathlib import Path

from fbg.errors import ModelError
from fbg.graph import ops
from fbg.graph.graph import Graph
from fbg.locks import Lock
from fbg.networks.dense import build_dense
from fbg.networks.transformer import Transformer
from fbg.runtime.engine import Engine
from fbg.tasks.multi.expansion import ExpandedEngine, can_expand
from fbg.tasks.truncation import CutTexts
from fbg.text.multi_vector import MultiVector

__all__ = ["MultiVectorEngines"]


class MultiVectorEngines:
    """Engines for queries and documents, made when they are first asked for.

    cut_texts: by the tokens that a text may have, which differ for queries and documents.
    """

    def __init__(
        self, transformer: Transformer, settings: MultiVector | None, directory: Path
    ) -> None:
        self._transformer, self._settings, self._directory = transformer, settings, directory
        self._engines: dict[int, Engine] = {}
        self._lock = Lock()
        self.cut_texts: dict[int, CutTexts] = {}

    def settings(self, task: str) -> MultiVector:
        """Return the settings; raises ModelError if the model has one vector for a text."""
        if self._settings is None:
            raise ModelError(
                f"{task}: {self._directory}: has no vectors for tokens: neither has modules.json a "
                "MultiVectorMask, nor config_sentence_transformers.json the model_type ColBERT or "
                "MultiVectorEncoder, nor config.json the architecture HF_ColBERT"
            )
        return self._settings

    def engine(self, task: str, hidden_length: int = 0) -> Engine:
        """Return the engine; hidden_length: the length of queries with tokens nobody looks at.

        Raises ModelError if attention of the model cannot hide any.
        """
        settings, transformer = self.settings(task), self._transformer
        config = transformer.config
        if hidden_length and not can_expand(config):
            raise ModelError(
                f"{task}: {self._directory}: models of the type {config.model_type} must attend to "
                "the tokens with which queries are padded"
            )
        with self._lock:
            engine = self._engines.get(hidden_length)
            if engine is None:
                columns = settings.columns or config.hidden_size
                columns = settings.dense[-1].outputs if settings.dense else columns
                graph = self._graph(settings)
                if hidden_length:
                    engine = ExpandedEngine(graph, config, hidden_length, columns)
                else:
                    engine = Engine(graph, config, columns, per_token=True)
                self._engines[hidden_length] = engine
            return engine

    def _graph(self, settings: MultiVector) -> Graph:
        graph, x = self._transformer.encoder()
        head = self._transformer.head
        if settings.columns is not None and head is not None and head.output is not None:
            x = graph.add(ops.Linear(x, head.output))
        for dense in settings.dense:
            x = build_dense(graph, x, dense)
        graph.output(graph.add(ops.Normalize(x)) if settings.normalize else x)
        return graph

    @property
    def arena_bytes(self) -> int:
        with self._lock:
            return sum(engine.arena_bytes for engine in self._engines.values())
