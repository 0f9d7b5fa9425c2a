"""The encoder of ModernBERT (Warner et al., 2024, arXiv:2412.13663): weights and graph.

Where it differs from BERT: queries and keys are rotated by the places of their tokens, and there is
no position table; most layers see only near tokens; each half of a layer normalises what it reads,
not what it writes; the feed-forward part has a gate. `build_layer` is the network.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.compression.linear import Linear
from fbg.locks import cached_property
from fbg.networks import transformer
from fbg.networks.config import EncoderConfig
from fbg.networks.family import Family
from fbg.networks.graph import LayerNorm, add_linear, add_norm
from fbg.networks.heads import HeadNames
from fbg.networks.modernbert.config import ModernBertConfig, read_modernbert_config
from fbg.networks.rotation import Rotation
from fbg.networks.source import Source
from fbg.networks.transformer import Embeddings, Transformer

__all__ = ["FAMILIES", "ModernBert"]

Floats = npt.NDArray[np.float32]

WORD = "embeddings.tok_embeddings"


@dataclass(frozen=True)
class Layer(transformer.Layer):
    attention_norm: LayerNorm | None  # before attention; the first layer has none
    mlp_norm: LayerNorm
    intermediate: Linear  # (H, 2 I): what goes through GELU, then its gate
    output: Linear


@dataclass(frozen=True)
class ModernBert(Transformer):
    config: ModernBertConfig
    layers: tuple[Layer, ...]
    final_norm: LayerNorm

    def build_embeddings(self, graph: _fbg.Graph) -> int:
        return add_norm(graph, graph.embedding(self.embeddings.word), self.embeddings.norm)

    def build_layer(self, graph: _fbg.Graph, index: int, x: int) -> int:
        layer, config = self.layers[index], self.config
        theta, window = config.rope_thetas[index], config.windows[index]
        qkv = add_linear(graph, add_norm(graph, x, layer.attention_norm), layer.qkv)
        count = config.num_heads
        heads = _fbg.AttentionShape(count, count, config.head_dim, window=window)
        rotated = graph.rotate(qkv, heads, self._rotations[theta])
        context = graph.attention(rotated, heads, self.rounds)
        x = add_linear(graph, context, layer.attention_output, residual=x)
        normed = add_norm(graph, x, layer.mlp_norm)
        gated = add_linear(graph, normed, layer.intermediate, gate="gelu")
        return add_linear(graph, gated, layer.output, residual=x)

    def build_output(self, graph: _fbg.Graph, x: int) -> int:
        return add_norm(graph, x, self.final_norm)

    @property
    def derived(self) -> tuple[Floats, ...]:
        return tuple(self._rotations.values())

    @cached_property
    def _rotations(self) -> dict[float, Floats]:
        length, size = self.config.max_length, self.config.head_dim
        return {
            theta: Rotation(size, theta).table(length) for theta in set(self.config.rope_thetas)
        }

    @classmethod
    def read(cls, source: Source, config: EncoderConfig) -> ModernBert:
        assert isinstance(config, ModernBertConfig)
        hidden = config.hidden_size

        def norm(name: str) -> LayerNorm:
            return source.norm(name, name, hidden, config.norm_eps, bias=config.norm_bias)

        embeddings = Embeddings(
            word=source.table("embeddings.word", WORD, config.vocab_size, hidden),
            norm=norm("embeddings.norm"),
        )
        layers = tuple(_read_layer(source, config, n) for n in range(config.num_layers))
        return cls(config, embeddings, layers, None, norm("final_norm"))


def _read_layer(source: Source, config: ModernBertConfig, n: int) -> Layer:
    layer = f"layers.{n}"  # in checkpoints too
    hidden, wide = config.hidden_size, config.intermediate_size
    attention, mlp = config.attention_bias, config.mlp_bias

    def linear(field: str, name: str, inputs: int, outputs: int, bias: bool) -> Linear:
        names = [f"{layer}.{name}"]
        return source.linear(f"{layer}.{field}", names, inputs, outputs, bias=bias)

    def norm(field: str, name: str) -> LayerNorm:
        return source.norm(
            f"{layer}.{field}", f"{layer}.{name}", hidden, config.norm_eps, bias=config.norm_bias
        )

    return Layer(
        qkv=linear("qkv", "attn.Wqkv", hidden, 3 * hidden, attention),
        attention_output=linear("attention_output", "attn.Wo", hidden, hidden, attention),
        attention_norm=norm("attention_norm", "attn_norm") if n > 0 else None,
        mlp_norm=norm("mlp_norm", "mlp_norm"),
        intermediate=linear("intermediate", "mlp.Wi", hidden, 2 * wide, mlp),
        output=linear("output", "mlp.Wo", wide, hidden, mlp),
    )


HEAD = HeadNames(
    "classifier", dense="head.dense", activation="gelu", norm="head.norm", biases=False
)
HEADS = {
    "ForSequenceClassification": replace(HEAD, mean_or_first=True),
    "ForTokenClassification": HEAD,
    "ForQuestionAnswering": HEAD,
    "ForMaskedLM": replace(HEAD, output="decoder"),
}
FAMILIES = (Family("modernbert", ModernBert, read_modernbert_config, f"{WORD}.weight", HEADS),)
