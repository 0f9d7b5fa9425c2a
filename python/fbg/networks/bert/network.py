"""The encoder of BERT (Devlin et al., 2018, arXiv:1810.04805) and its relatives: weights and graph.

The query, key and value projections of a layer are one matrix product: their weights lie side by
side. Everything else follows the paper; `build_layer` is the network. How a family calls its
tensors, and what it leaves out or adds, is in names.py.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.compression.linear import Linear
from fbg.locks import cached_property
from fbg.networks import transformer
from fbg.networks.bert.config import DISTANCE_BUCKETS, BertConfig
from fbg.networks.config import EncoderConfig
from fbg.networks.graph import LayerNorm, add_linear, add_norm
from fbg.networks.source import Source
from fbg.networks.transformer import Transformer

__all__ = ["Bert", "distance_buckets"]

Floats = npt.NDArray[np.float32]

# Distances at which the next bucket begins: one each up to 8, then four to a power of four.
BUCKETS_BEGIN = (1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91)


@dataclass(frozen=True)
class Embeddings(transformer.Embeddings):
    position: Floats
    token_type: Floats | None
    projection: Linear | None
    distance: Floats | None  # (DISTANCE_BUCKETS, heads): added to the scores of all layers


@dataclass(frozen=True)
class Layer(transformer.Layer):
    attention_norm: LayerNorm
    intermediate: Linear
    output: Linear
    output_norm: LayerNorm


@dataclass(frozen=True)
class Bert(Transformer):
    config: BertConfig
    embeddings: Embeddings
    layers: tuple[Layer, ...]

    def build_embeddings(self, graph: _fbg.Graph) -> int:
        embeddings = self.embeddings
        x = graph.embedding(embeddings.word, embeddings.position, embeddings.token_type)
        x = add_norm(graph, x, embeddings.norm)
        if embeddings.projection is not None:
            x = add_linear(graph, x, embeddings.projection)
        return x

    def build_layer(self, graph: _fbg.Graph, index: int, x: int) -> int:
        layer, config = self.layers[index], self.config
        qkv = add_linear(graph, x, layer.qkv)
        heads = _fbg.AttentionShape(config.num_heads, config.num_heads, config.head_dim)
        context = graph.attention(qkv, heads, self.rounds, self._distance_bias)
        attended = add_linear(graph, context, layer.attention_output, residual=x)
        x = add_norm(graph, attended, layer.attention_norm)
        widened = add_linear(graph, x, layer.intermediate, config.activation)
        narrowed = add_linear(graph, widened, layer.output, residual=x)
        return add_norm(graph, narrowed, layer.output_norm)

    @property
    def derived(self) -> tuple[Floats, ...]:
        return () if self._distance_bias is None else (self._distance_bias,)

    @cached_property
    def _distance_bias(self) -> Floats | None:
        """(heads, 2 L - 1): what attention adds before it divides by sqrt(d)."""
        table, config = self.embeddings.distance, self.config
        if table is None:
            return None
        distances = np.arange(1 - config.max_length, config.max_length)
        bias = table[distance_buckets(distances)].T * np.float32(np.sqrt(config.head_dim))
        return np.ascontiguousarray(bias)

    @classmethod
    def read(cls, source: Source, config: EncoderConfig) -> Bert:
        assert isinstance(config, BertConfig)
        names, hidden = config.names, config.hidden_size
        # Layers that share weights are read once, and numbered as they first run.
        order = dict.fromkeys(config.layer_names)
        distinct = {
            name: _read_layer(source, config, f"layers.{n}", name) for n, name in enumerate(order)
        }
        layers = tuple(distinct[name] for name in config.layer_names)
        pooler = None
        stored = names.pooler and source.rows("pooler.weight", f"{names.pooler}.weight")
        if names.pooler is not None and stored is not None:
            pooler = source.linear("pooler", [names.pooler], hidden, hidden, dtype="float32")
        return cls(config, _read_embeddings(source, config), layers, pooler)


def _read_embeddings(source: Source, config: BertConfig) -> Embeddings:
    names, width, hidden = config.names, config.embedding_size, config.hidden_size

    def table(field: str, name: str | None, rows: int, cols: int = width) -> Floats | None:
        return None if name is None else source.table(f"embeddings.{field}", name, rows, cols)

    projection = None
    if names.projection is not None and (width != hidden or names.projection_of_equals):
        field = "embeddings.projection"
        projection = source.linear(field, [names.projection], width, hidden)
    return Embeddings(
        word=source.table("embeddings.word", names.word, config.vocab_size, width),
        position=source.table("embeddings.position", names.position, config.max_positions, width),
        token_type=table("token_type", names.token_type, config.num_token_types),
        norm=source.norm("embeddings.norm", names.embedding_norm, width, config.norm_eps),
        projection=projection,
        distance=table("distance", names.distance, DISTANCE_BUCKETS, config.num_heads),
    )


def _read_layer(source: Source, config: BertConfig, field: str, name: str) -> Layer:
    names, hidden, wide = config.names, config.hidden_size, config.intermediate_size

    def linear(part: str, inputs: int, outputs: int, *parts: str) -> Linear:
        return source.linear(f"{field}.{part}", [f"{name}.{p}" for p in parts], inputs, outputs)

    def norm(part: str, stored: str) -> LayerNorm:
        return source.norm(f"{field}.{part}", f"{name}.{stored}", hidden, config.norm_eps)

    return Layer(
        qkv=linear("qkv", hidden, hidden, names.query, names.key, names.value),
        attention_output=linear("attention_output", hidden, hidden, names.attention_output),
        attention_norm=norm("attention_norm", names.attention_norm),
        intermediate=linear("intermediate", hidden, wide, names.intermediate),
        output=linear("output", wide, hidden, names.output),
        output_norm=norm("output_norm", names.output_norm),
    )


def distance_buckets(distances: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the row of MPNet's table for each place of a key minus that of a query.

    Keys before the query have the first half of the rows, those after it the second.
    """
    near: npt.NDArray[np.int64] = np.searchsorted(BUCKETS_BEGIN, np.abs(distances), side="right")
    return near + np.where(distances > 0, DISTANCE_BUCKETS // 2, 0)
