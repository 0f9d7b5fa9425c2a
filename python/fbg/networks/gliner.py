"""GLiNER (Zaratiana et al., 2023, arXiv:2311.08526): an encoder reads labels before a text, and a
span of words is an entity of the label whose vector it is like. Models of tokens (Stepanov and
Shtopko, 2024, arXiv:2406.12925) score each word as the first, the last and any word of an entity.

gliner_config.json describes the model. Spans and words are scored by tasks/gliner/spans.py; here
are their settings and weights, in float32. Variants that encode labels by themselves or extract
relations are refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from fbg.arrays import Floats
from fbg.checkpoints.files import read_settings
from fbg.checkpoints.settings import Settings
from fbg.checkpoints.weights import Read
from fbg.networks.config import EncoderConfig, SpanConfig
from fbg.networks.source import Source
from fbg.networks.unread import require_known_settings

GLINER = "gliner_config.json"
MAX_WIDTH, MAX_LSTM = 1024, 16  # keep a damaged file from asking for endless work
# Tokens of labels and text together, where no table ends.
MAX_TOKENS = 2048

# Required values of settings: others belong to other models.
TOKEN_LEVEL = "token_level"
REQUIRED: dict[str, tuple[object, ...]] = {
    "span_mode": ("markerV0", TOKEN_LEVEL),
    "subtoken_pooling": ("first",),
    "words_splitter_type": ("whitespace",),
    "fuse_layers": (False,),
    "post_fusion_schema": ("", None),
    "labels_encoder": (None,),
    "labels_decoder": (None,),
    "relations_layer": (None,),
    "span_encoder_config": (None,),
    "precomputed_prompts_mode": (False, None),
    "model_type": ("gliner", "gliner_uni_encoder_span", "gliner_uni_encoder_token", None),
}
# Encoders, by model_type.
ENCODERS = ("deberta-v2", "deberta", "bert", "electra", "modernbert", "mt5", "t5", "xlm-roberta")
# Settings of encoders that older files only name.
V3 = {
    "model_type": "deberta-v2",
    "max_position_embeddings": 512,
    "relative_attention": True,
    "position_buckets": 256,
    "max_relative_positions": -1,
    "norm_rel_ebd": "layer_norm",
    "share_att_key": True,
    "pos_att_type": ["p2c", "c2p"],
    "position_biased_input": False,
    "type_vocab_size": 0,
    "layer_norm_eps": 1e-7,
    "hidden_act": "gelu",
}


def _v3(hidden: int, layers: int, heads: int, words: int = 128_100) -> dict[str, Any]:
    sizes = {"hidden_size": hidden, "num_hidden_layers": layers, "num_attention_heads": heads}
    return {**V3, **sizes, "intermediate_size": 4 * hidden, "vocab_size": words}


KNOWN = {
    "microsoft/deberta-v3-xsmall": _v3(384, 12, 6),
    "microsoft/deberta-v3-small": _v3(768, 6, 12),
    "microsoft/deberta-v3-base": _v3(768, 12, 12),
    "microsoft/deberta-v3-large": _v3(1024, 24, 16),
    "microsoft/mdeberta-v3-base": _v3(768, 12, 12, 251_000),
}


@dataclass(frozen=True)
class Projection:
    """second(relu(first(x))): (wide, inputs), (outputs, wide), and biases."""

    first: Floats
    first_bias: Floats
    second: Floats
    second_bias: Floats


@dataclass(frozen=True)
class LstmDirection:
    """One direction of a layer; rows are the gates i, f, g, o: (4 H, inputs), (4 H, H), (4 H,)."""

    inputs: Floats
    state: Floats
    bias: Floats


@dataclass(frozen=True, kw_only=True)
class GlinerHead:
    """What heads of spans and of tokens have in common.

    weight, bias: projection to the width of the head, where the width of the encoder differs.
    lstm: for each layer the forward direction, then the backward one.
    """

    weight: Floats | None
    bias: Floats | None
    lstm: tuple[LstmDirection, ...]


@dataclass(frozen=True, kw_only=True)
class SpanHead(GlinerHead):
    """start, end, label: the layers for the first and last word of a span, and for a label; output:
    the layer for both words side by side.
    """

    start: Projection
    end: Projection
    output: Projection
    label: Projection


@dataclass(frozen=True, kw_only=True)
class TokenHead(GlinerHead):
    """word, label: (2 hidden, hidden), and biases: layers for a word and for a label, with two
    vectors for each; output: the layer for the first two vectors and the product of the others,
    with a score each for the first, the last and any word.
    """

    word: Floats
    word_bias: Floats
    label: Floats
    label_bias: Floats
    output: Projection


def read_gliner(path: Path, read: Callable[[Settings], EncoderConfig]) -> EncoderConfig:
    """Read and check gliner_config.json. read: the settings of its encoder. Raises ModelError."""
    settings = read_settings(path)
    for key, allowed in REQUIRED.items():
        value = settings.get(key)
        if key in settings and not any(value is a or value == a for a in allowed):
            raise settings.error(key, " or ".join(repr(a) for a in allowed))
    if settings.get("encoder_config") is None:
        given = Settings(path, KNOWN[settings.choice("model_name", tuple(KNOWN))])
    else:
        given = settings.section("encoder_config")
    by_token = settings.get("span_mode") == TOKEN_LEVEL
    if by_token and settings.flag("represent_spans"):
        raise settings.error("represent_spans", f"false with span_mode {TOKEN_LEVEL}")
    vocabulary = settings.get("vocab_size")
    if vocabulary not in (None, -1):
        given = given.replaced(vocab_size=settings.size("vocab_size"))
    family = given.choice("model_type", ENCODERS, default=ENCODERS[0])
    config = read(given.replaced(model_type=family, architectures=None))
    hidden, layers = settings.size("hidden_size"), settings.size("num_rnn_layers", 1, at_least=0)
    width = settings.size("max_width", 12)
    if width > MAX_WIDTH:
        raise settings.error("max_width", f"at most {MAX_WIDTH}")
    if layers > MAX_LSTM:
        raise settings.error("num_rnn_layers", f"at most {MAX_LSTM}")
    if layers and hidden % 2:
        raise settings.error("hidden_size", "an even number, for the two directions of the LSTM")
    number = settings.get("class_token_index")
    marker, separator = settings.get("ent_token"), settings.get("sep_token")
    for key, token in (("ent_token", marker), ("sep_token", separator)):
        if token is not None and not (isinstance(token, str) and token):
            raise settings.error(key, "the text of a token")
    spans = SpanConfig(
        hidden,
        layers,
        width,
        min(settings.size("max_len", 384), MAX_TOKENS),
        marker or "<<ENT>>",
        separator or "<<SEP>>",
        None if number in (None, -1) else settings.size("class_token_index", at_least=0),
        settings.flag("embed_ent_token", default=True),
        by_token,
    )
    # Those of the encoder were checked by its own family.
    require_known_settings(settings.replaced(encoder_config=None), "gliner")
    tasks = replace(config.tasks, kind="GLiNER", spans=spans)
    ends = config.layouts[0].position is not None or config.rotations
    longest = config.max_positions if ends else max(config.max_positions, MAX_TOKENS)
    return replace(config, tasks=tasks, max_positions=longest)


def read_gliner_head(source: Source, config: EncoderConfig) -> SpanHead | TokenHead:
    """Read the weights behind the encoder; raises ModelError. source: gives them by full names."""
    spans = config.tasks.spans
    assert spans is not None
    hidden, inside = spans.hidden, config.hidden_size

    def layer(field: str, name: str, inputs: int, outputs: int) -> tuple[Floats, Floats]:
        return (
            source.floats(f"spans.{field}", f"{name}.weight", outputs, inputs),
            source.floats(f"spans.{_biased(field)}", f"{name}.bias", outputs),
        )

    def projection(
        field: str, name: str, inputs: int = hidden, outputs: int = hidden
    ) -> Projection:
        first = layer(f"{field}.first", f"{name}.0", inputs, 4 * hidden)
        return Projection(*first, *layer(f"{field}.second", f"{name}.3", 4 * hidden, outputs))

    def direction(number: int) -> LstmDirection:
        field, half = f"spans.lstm.{number}", hidden // 2
        name = f"l{number // 2}" + ("_reverse" if number % 2 else "")

        def bias(read: Read) -> Floats:
            parts = (read(f"rnn.lstm.bias_{part}_{name}", 4 * half) for part in ("ih", "hh"))
            return np.add(*parts)

        return LstmDirection(
            source.floats(f"{field}.inputs", f"rnn.lstm.weight_ih_{name}", 4 * half, hidden),
            source.floats(f"{field}.state", f"rnn.lstm.weight_hh_{name}", 4 * half, half),
            source.computed(f"{field}.bias", (4 * half,), bias),
        )

    weight, bias = None, None
    if hidden != inside:
        weight, bias = layer("weight", "token_rep_layer.projection", inside, hidden)
    lstm = tuple(direction(number) for number in range(2 * spans.lstm_layers))
    if spans.by_token:
        word, word_bias = layer("word", "scorer.proj_token", hidden, 2 * hidden)
        label, label_bias = layer("label", "scorer.proj_label", hidden, 2 * hidden)
        return TokenHead(
            weight=weight,
            bias=bias,
            lstm=lstm,
            word=word,
            word_bias=word_bias,
            label=label,
            label_bias=label_bias,
            output=projection("output", "scorer.out_mlp", 3 * hidden, 3),
        )
    marker = "span_rep_layer.span_rep_layer"
    return SpanHead(
        weight=weight,
        bias=bias,
        lstm=lstm,
        start=projection("start", f"{marker}.project_start"),
        end=projection("end", f"{marker}.project_end"),
        output=projection("output", f"{marker}.out_project", 2 * hidden),
        label=projection("label", "prompt_rep_layer"),
    )


def _biased(field: str) -> str:
    return "bias" if field == "weight" else f"{field}_bias"
