"""int8 weights that lose less than plain rounding: SmoothQuant, and GPTQ where there are texts.

For a linear layer y = x w and any factors s > 0 of its K input channels,

    y = (x / s) (s w),    s_k = sqrt(rms x_k / max_j |w_kj|)

evens out the channels of x, whose largest would otherwise decide the one scale of each row, at the
cost of some of w's, which have a scale per column (Xiao et al., 2022, arXiv:2211.10438, exponent
0.5; there it is max |x_k|, which is less accurate here: docs/quantization.md). The division is a
factor per channel where a row is quantized; for the context of attention, linear in V, it is part
of V's weights and bias. How large x_k is shows in float32 runs: on random token ids, which needs no
data, or on texts.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.compression.precision import linears
from fbg.compression.rounding import round_to_gram
from fbg.networks.config import EncoderConfig
from fbg.networks.transformer import Layer, Linear, Transformer, pack_weight
from fbg.runtime.batches import chunks, pack_sequences

__all__ = ["Inputs", "observe_inputs", "quantize_smoothly", "random_sequences"]

Floats = npt.NDArray[np.float32]
Doubles = npt.NDArray[np.float64]
Indices = npt.NDArray[np.int32]

# About as long as sentences are: positions matter.
RANDOM_SEQUENCES, RANDOM_LENGTH = 40, 24
MAX_TOKENS = 1024  # of one run: bounds memory
LOG_LIMIT = 10.0  # |log s|: no factor takes a float32 out of its range


def random_sequences(config: EncoderConfig, frame: Indices) -> list[Indices]:
    """Return sequences of token ids, the same ones each time.

    frame: the tokens of an empty text; they begin and end each sequence.
    """
    # The raw bit stream of PCG64 is the one that NumPy promises never to change.
    length = min(RANDOM_LENGTH, config.max_length)
    words = np.random.PCG64(0).random_raw(RANDOM_SEQUENCES * length)
    ids = (words % np.uint64(config.vocab_size)).astype(np.int32)
    ids = ids.reshape(RANDOM_SEQUENCES, length)
    if 2 <= frame.size < length and frame.max() < config.vocab_size:
        ids[:, 0], ids[:, 1 - frame.size :] = frame[0], frame[1:]
    return list(ids)


@dataclass
class Inputs:
    """What went into a linear layer with K input channels."""

    squares: Doubles  # (K,): sum of x_k^2
    gram: Floats | None = None  # (K, K): sum of x^T x
    rows: int = 0

    def add(self, x: Floats) -> None:
        self.rows += len(x)
        self.squares += np.square(x).sum(axis=0, dtype=np.float64)
        if self.gram is not None:
            self.gram += x.T @ x


class _ObservedGraph(_fbg.Graph):
    """A graph that knows what its linear layers read."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[tuple[Any, int]] = []  # weight, buffer

    def linear(self, x: int, w: Any, *arguments: Any, **options: Any) -> int:
        self.read.append((w, x))
        return super().linear(x, w, *arguments, **options)


def observe_inputs(
    transformer: Transformer, sequences: Sequence[Indices], num_threads: int, grams: bool = False
) -> dict[int, Inputs]:
    """Run a float32 encoder; return the inputs of each linear layer by the id() of its weight."""
    config = transformer.config
    graph = _ObservedGraph()
    transformer.describe(graph)
    # Several layers may read one buffer, and in ALBERT one layer reads several.
    width: dict[int, int] = {}
    readers: dict[int, set[int]] = {}
    for weight, buffer in graph.read:
        width[buffer] = weight.shape[0]
        readers.setdefault(buffer, set()).add(id(weight))
    for buffer in width:
        graph.output(buffer)
    inputs: dict[int, Inputs] = {}
    for weight, _ in graph.read:
        k = weight.shape[0]
        gram = np.zeros((k, k), np.float32) if grams else None
        inputs.setdefault(id(weight), Inputs(np.zeros(k), gram))

    runs = [
        pack_sequences(sequences[part], config.pad_token_id)
        for part in chunks([s.size for s in sequences], MAX_TOKENS, len(sequences))
    ]
    tokens = max(packed.tokens for packed in runs)
    plan = _fbg.Plan(graph, tokens, tokens, config.max_length, num_threads)
    for packed in runs:
        outputs = [np.empty((packed.tokens, k), np.float32) for k in width.values()]
        arrays = (
            packed.ids,
            packed.position_ids,
            packed.types,
            packed.sequence_positions,
            packed.offsets,
        )
        plan.run(*arrays, outputs, num_threads)
        for buffer, x in zip(width, outputs, strict=True):
            for reader in readers[buffer]:
                inputs[reader].add(x)
    return inputs


def quantize_smoothly(
    transformer: Transformer, inputs: dict[int, Inputs], kept: Collection[str] = ()
) -> Transformer:
    """Return a float32 transformer with the linear layers of its encoder in int8.

    Each column has one scale and no zero point. Weights are rounded to the nearest, or where the
    Gram matrices of `inputs` are there, as GPTQ does. Layers named in `kept` stay float32.
    """
    exact = {id(linear.weight) for name, linear in linears(transformer).items() if name in kept}

    def quantize(linear: Linear, x: Inputs) -> Linear:
        weight = linear.weight.unpack()
        factors = _factors(x, weight)
        packed = _quantize(weight, factors, x.gram)
        return replace(linear, weight=packed, channel_scale=np.float32(1) / factors)

    def quantize_part(part: Any, **done: Linear) -> Any:
        for field in fields(part):
            linear = getattr(part, field.name)
            if not isinstance(linear, Linear) or field.name in done:
                continue
            if id(linear.weight) not in exact:
                done[field.name] = quantize(linear, inputs[id(linear.weight)])
        return replace(part, **done)

    def quantize_layer(layer: Layer) -> Any:
        qkv, output = layer.qkv, layer.attention_output
        if id(output.weight) not in exact:
            # The factors of the context go into V: the last third of the columns of QKV.
            context, weight = inputs[id(output.weight)], output.weight.unpack()
            factors = _factors(context, weight)
            output = replace(output, weight=_quantize(weight, factors, context.gram))
            qkv = _divide_last_columns(qkv, factors)
        if id(layer.qkv.weight) not in exact:
            qkv = quantize(qkv, inputs[id(layer.qkv.weight)])
        return quantize_part(layer, qkv=qkv, attention_output=output)

    distinct = {id(layer): layer for layer in transformer.layers}
    quantized = {key: quantize_layer(layer) for key, layer in distinct.items()}
    return replace(
        transformer,
        dtype="int8",
        embeddings=quantize_part(transformer.embeddings),
        layers=tuple(quantized[id(layer)] for layer in transformer.layers),
    )


def _divide_last_columns(linear: Linear, factors: Floats) -> Linear:
    weight = linear.weight.unpack()
    last = slice(weight.shape[1] - factors.size, None)
    weight[:, last] /= factors
    bias = None if linear.bias is None else linear.bias.copy()
    if bias is not None:
        bias[last] /= factors
    return replace(linear, weight=pack_weight(weight, "float32"), bias=bias)


def _factors(x: Inputs, weight: Floats) -> Floats:
    """Return s; 1 where a channel is always zero, or its weights are."""
    largest, size = np.abs(weight).max(axis=1), np.sqrt(x.squares / x.rows)
    used = (largest > 0) & (size > 0) & np.isfinite(size)
    if not used.any():
        return np.ones(len(weight), np.float32)
    # Logarithms neither overflow nor vanish. A mean of 0: no common factor enters the rows.
    log = (np.log(size[used]) - np.log(largest[used].astype(np.float64))) / 2
    factors = np.ones(len(weight), np.float32)
    factors[used] = np.exp(np.clip(log - log.mean(), -LOG_LIMIT, LOG_LIMIT))
    return factors


def _quantize(weight: Floats, factors: Floats, gram: Floats | None) -> _fbg.PackedBInt8:
    smooth = weight * factors[:, None]
    if gram is None or not np.isfinite(gram).all():  # as where float32 overflows
        return _fbg.pack_b_quantize(smooth, per_column=True, symmetric=True)
    scale = np.abs(smooth).max(axis=0) / np.float32(127)
    scale[scale < np.finfo(np.float32).tiny] = 1
    inverse = np.float32(1) / factors
    rounded = round_to_gram(smooth, scale, gram * inverse[:, None] * inverse)
    return _fbg.pack_b_int8(rounded, scale, None, per_column=True)
