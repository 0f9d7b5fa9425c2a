"""The encoder of ModernBERT (Warner et al., 2024, arXiv:2412.13663): weights and graph.

Where it is not BERT: queries and keys are turned by the positions of their tokens, and there is no
position table; most layers see only near tokens; each half of a layer normalises what it reads, not
what it writes; the feed-forward part has a gate. `describe` is the network.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.networks import transformer
from fbg.networks.config import EncoderConfig, ModernBertConfig
from fbg.networks.transformer import (
    Embeddings,
    LayerNorm,
    Linear,
    Source,
    Transformer,
    add_linear,
    add_norm,
)

__all__ = ["ModernBert", "rotation"]

Floats = npt.NDArray[np.float32]


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

    def describe(self, graph: _fbg.Graph, taps: list[int] | None = None) -> int:
        taps = [] if taps is None else taps
        count = self.config.num_attention_heads
        size = self.config.hidden_size // count
        x = add_norm(graph, graph.embedding(self.embeddings.word), self.embeddings.norm)
        taps.append(x)
        for layer, theta, window in zip(
            self.layers, self.config.rope_thetas, self.config.windows, strict=True
        ):
            norm = layer.attention_norm
            qkv = add_linear(graph, x if norm is None else add_norm(graph, x, norm), layer.qkv)
            heads = _fbg.AttentionShape(count, count, size, window=window)
            turned = graph.rotate(qkv, heads, self._rotations[theta])
            context = graph.attention(turned, heads, self.rounds)
            x = add_linear(graph, context, layer.attention_output, residual=x)
            wide = add_linear(graph, add_norm(graph, x, layer.mlp_norm), layer.intermediate)
            x = add_linear(graph, graph.geglu(wide), layer.output, residual=x)
            taps.append(x)
        return add_norm(graph, x, self.final_norm)

    @property
    def derived(self) -> tuple[Floats, ...]:
        return tuple(self._rotations.values())

    @cached_property
    def _rotations(self) -> dict[float, Floats]:
        size = self.config.hidden_size // self.config.num_attention_heads
        length = self.config.max_length
        return {theta: rotation(length, size, theta) for theta in set(self.config.rope_thetas)}

    @classmethod
    def read(cls, source: Source, config: EncoderConfig, dtype: str) -> ModernBert:
        assert isinstance(config, ModernBertConfig)
        hidden, wide = config.hidden_size, config.intermediate_size

        def norm(field: str, name: str) -> LayerNorm:
            return source.norm(field, name, hidden, config.layer_norm_eps, bias=config.norm_bias)

        def layer(n: int) -> Layer:
            at = f"layers.{n}"  # in checkpoints too

            def linear(field: str, name: str, inputs: int, outputs: int, bias: bool) -> Linear:
                names = (f"{at}.{name}",)
                return source.linear(f"{at}.{field}", names, inputs, outputs, bias=bias)

            attention, mlp = config.attention_bias, config.mlp_bias
            return Layer(
                qkv=linear("qkv", "attn.Wqkv", hidden, 3 * hidden, attention),
                attention_output=linear("attention_output", "attn.Wo", hidden, hidden, attention),
                attention_norm=norm(f"{at}.attention_norm", f"{at}.attn_norm") if n > 0 else None,
                mlp_norm=norm(f"{at}.mlp_norm", f"{at}.mlp_norm"),
                intermediate=linear("intermediate", "mlp.Wi", hidden, 2 * wide, mlp),
                output=linear("output", "mlp.Wo", wide, hidden, mlp),
            )

        word = config.architecture.word
        embeddings = Embeddings(
            word=source.table("embeddings.word", word, config.vocab_size, hidden),
            norm=norm("embeddings.norm", "embeddings.norm"),
        )
        layers = tuple(layer(n) for n in range(config.num_hidden_layers))
        final_norm = norm("final_norm", "final_norm")
        return cls(config, dtype, embeddings, layers, None, final_norm)


def rotation(length: int, size: int, theta: float) -> Floats:
    """Return (length, size): for each position the cosines of size / 2 angles, then their sines.

    Angle i is position / theta^(2 i / size). Every step is rounded to float32, as in transformers:
    at position 8000, that is as much as 5e-4 of an angle.
    """
    exponents = np.arange(0, size, 2, dtype=np.float32) / np.float32(size)
    powers = (theta ** exponents.astype(np.float64)).astype(np.float32)
    positions = np.arange(length, dtype=np.float32)
    angles = (positions[:, None] * (np.float32(1) / powers)).astype(np.float64)
    return np.concatenate([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)
