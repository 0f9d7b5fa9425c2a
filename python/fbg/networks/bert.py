"""The encoder of BERT (Devlin et al., 2018, arXiv:1810.04805) and its relatives: weights and graph.

The query, key and value projections of a layer are one matrix product: their weights lie side by
side. Everything else follows the paper; `describe` is the network. What a family calls its tensors,
and what it leaves out or adds, stands in architectures.py.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.networks import transformer
from fbg.networks.config import ACTIVATIONS, DISTANCE_BUCKETS, BertConfig, EncoderConfig
from fbg.networks.transformer import LayerNorm, Linear, Source, Transformer, add_linear, add_norm

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

    def describe(self, graph: _fbg.Graph, taps: list[int] | None = None) -> int:
        taps = [] if taps is None else taps
        config, embeddings = self.config, self.embeddings
        count = config.num_attention_heads
        heads = _fbg.AttentionShape(count, count, config.hidden_size // count)
        x = graph.embedding(embeddings.word, embeddings.position, embeddings.token_type)
        x = add_norm(graph, x, embeddings.norm)
        if embeddings.projection is not None:
            x = add_linear(graph, x, embeddings.projection)
        taps.append(x)
        for layer in self.layers:
            qkv = add_linear(graph, x, layer.qkv)
            context = graph.attention(qkv, heads, self.rounds, self._distance_bias)
            attended = add_linear(graph, context, layer.attention_output, residual=x)
            x = add_norm(graph, attended, layer.attention_norm)
            activation = ACTIVATIONS[config.hidden_act]
            widened = add_linear(graph, x, layer.intermediate, activation)
            narrowed = add_linear(graph, widened, layer.output, residual=x)
            x = add_norm(graph, narrowed, layer.output_norm)
            taps.append(x)
        return x

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
        size = config.hidden_size // config.num_attention_heads
        bias = table[distance_buckets(distances)].T * np.float32(np.sqrt(size))
        return np.ascontiguousarray(bias)

    @classmethod
    def read(cls, source: Source, config: EncoderConfig, dtype: str) -> Bert:
        assert isinstance(config, BertConfig)
        names, eps = config.architecture, config.layer_norm_eps
        width, hidden, wide = config.embedding_size, config.hidden_size, config.intermediate_size

        def layer(at: str, prefix: str) -> Layer:
            def named(*parts: str) -> tuple[str, ...]:
                return tuple(f"{prefix}.{part}" for part in parts)

            qkv = named(names.query, names.key, names.value)
            context, middle, last = map(
                named, (names.attention_output, names.intermediate, names.output)
            )
            return Layer(
                qkv=source.linear(f"{at}.qkv", qkv, hidden, hidden),
                attention_output=source.linear(f"{at}.attention_output", context, hidden, hidden),
                attention_norm=source.norm(
                    f"{at}.attention_norm", f"{prefix}.{names.attention_norm}", hidden, eps
                ),
                intermediate=source.linear(f"{at}.intermediate", middle, hidden, wide),
                output=source.linear(f"{at}.output", last, wide, hidden),
                output_norm=source.norm(
                    f"{at}.output_norm", f"{prefix}.{names.output_norm}", hidden, eps
                ),
            )

        def table(field: str, name: str | None, rows: int, cols: int = width) -> Floats | None:
            return None if name is None else source.table(f"embeddings.{field}", name, rows, cols)

        projection, distance, pooler = None, None, None
        if names.projection is not None and (width != hidden or names.projection_of_equals):
            field = "embeddings.projection"
            projection = source.linear(field, (names.projection,), width, hidden)
        token_type = table("token_type", names.token_type, config.type_vocab_size)
        heads = config.num_attention_heads
        distance = table("distance", names.distance, DISTANCE_BUCKETS, heads)
        embeddings = Embeddings(
            word=source.table("embeddings.word", names.word, config.vocab_size, width),
            position=source.table(
                "embeddings.position", names.position, config.max_position_embeddings, width
            ),
            token_type=token_type,
            norm=source.norm("embeddings.norm", names.embedding_norm, width, eps),
            projection=projection,
            distance=distance,
        )
        # Layers that share weights are read once, and numbered as they first run.
        order = dict.fromkeys(config.layer_names)
        distinct = {name: layer(f"layers.{n}", name) for n, name in enumerate(order)}
        layers = tuple(distinct[name] for name in config.layer_names)
        if names.pooler is not None and ("pooler", names.pooler) in source:
            pooler = source.linear("pooler", (names.pooler,), hidden, hidden, dtype="float32")
        return cls(config, dtype, embeddings, layers, pooler)


def distance_buckets(distances: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """Return the row of MPNet's table for each place of a key minus that of a query.

    Keys before the query have the first half of the rows, those after it the second.
    """
    near: npt.NDArray[np.int64] = np.searchsorted(BUCKETS_BEGIN, np.abs(distances), side="right")
    return near + np.where(distances > 0, DISTANCE_BUCKETS // 2, 0)
