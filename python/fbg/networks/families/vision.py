"""Towers for pictures, and for pictures and texts: ViT (Dosovitskiy et al., 2020,
arXiv:2010.11929), DINOv2 (Oquab et al., 2023, arXiv:2304.07193), CLIP (Radford et al., 2021,
arXiv:2103.00020), SigLIP (Zhai et al., 2023, arXiv:2303.15343).

All of them have norms before each half of a layer. ViT and DINOv2 have two layouts: one of today's
transformers, and one of the files on the hub.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from fbg.checkpoints.settings import Settings
from fbg.networks.config import (
    ACTIVATIONS,
    BIASES,
    EncoderConfig,
    Family,
    PictureConfig,
    read_common,
    read_task_config,
)
from fbg.networks.names import HeadNames, Names
from fbg.networks.towers import read_picture_input, read_sides

QUICK = 1.702  # x / (1 + e^(-1.702 x)), the approximation of GELU that CLIP has

NAMES = Names(
    word="",
    patches="embeddings.patch_embeddings.projection",
    position="embeddings.position_embeddings",
    leading=("embeddings.cls_token",),
    token_type=None,
    embedding_norm=None,
    final_norm="layernorm",
    pooler=None,
    layer="layers.{n}",
    qkv=("attention.q_proj", "attention.k_proj", "attention.v_proj"),
    attention_output="attention.o_proj",
    attention_norm="layernorm_before",
    intermediate=("mlp.fc1",),
    output="mlp.fc2",
    mlp_norm="layernorm_after",
)
ON_THE_HUB: dict[str, Any] = {
    "layer": "encoder.layer.{n}",
    "qkv": tuple(f"attention.attention.{part}" for part in ("query", "key", "value")),
    "attention_output": "attention.output.dense",
}
VIT = replace(NAMES, pooler="pooler.dense")
HUB_VIT = replace(VIT, **ON_THE_HUB, intermediate=("intermediate.dense",), output="output.dense")
DINO = replace(
    NAMES,
    layer="encoder.layer.{n}",
    attention_norm="norm1",
    mlp_norm="norm2",
    layer_scales=("layer_scale1.lambda1", "layer_scale2.lambda1"),
)
HUB_DINO = replace(DINO, **ON_THE_HUB)
GATED: dict[str, Any] = {
    "intermediate": ("mlp.gate_proj", "mlp.up_proj"),
    "output": "mlp.down_proj",
}
HUB_GATED: dict[str, Any] = {"intermediate": ("mlp.weights_in",), "output": "mlp.weights_out"}

# What the layers of CLIP and SigLIP are called, in both of their towers.
LAYERS: dict[str, Any] = {
    "token_type": None,
    "embedding_norm": None,
    "pooler": None,
    "qkv": ("self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"),
    "attention_output": "self_attn.out_proj",
    "attention_norm": "layer_norm1",
    "intermediate": ("mlp.fc1",),
    "output": "mlp.fc2",
    "mlp_norm": "layer_norm2",
}
TEXT = Names(
    word="text_model.embeddings.token_embedding",
    position="text_model.embeddings.position_embedding",
    final_norm="text_model.final_layer_norm",
    layer="text_model.encoder.layers.{n}",
    **LAYERS,
)
IMAGE = Names(
    word="",
    patches="vision_model.embeddings.patch_embedding",
    position="vision_model.embeddings.position_embedding.weight",
    final_norm="vision_model.post_layernorm",
    layer="vision_model.encoder.layers.{n}",
    **LAYERS,
)

# Settings that files leave out where they have these values.
VISION = {
    **{"hidden_size": 768, "num_hidden_layers": 12, "num_attention_heads": 12},
    **{"intermediate_size": 3072, "image_size": 224, "patch_size": 16, "num_channels": 3},
}
CLIP_VISION = {**VISION, "patch_size": 32, "hidden_act": "quick_gelu"}
CLIP_TEXT = {
    **{"vocab_size": 49408, "hidden_size": 512, "intermediate_size": 2048},
    **{"num_hidden_layers": 12, "num_attention_heads": 8, "max_position_embeddings": 77},
    **{"hidden_act": "quick_gelu", "eos_token_id": 49407},
}
SIGLIP_VISION = {**VISION, "hidden_act": "gelu_pytorch_tanh"}
SIGLIP_TEXT = {
    **{"vocab_size": 32000, "hidden_size": 768, "intermediate_size": 3072},
    **{"num_hidden_layers": 12, "num_attention_heads": 12, "max_position_embeddings": 64},
    **{"hidden_act": "gelu_pytorch_tanh", "pad_token_id": 1},
}


def _read_tower(
    settings: Settings,
    names: Sequence[Names],
    eps: float,
    processor: str,
    *,
    defaults: Mapping[str, Any] = VISION,
    leading: int = 1,
    registers: int = 0,
    resizes: bool = False,
    antialias: bool = False,
    **options: Any,
) -> EncoderConfig:
    """Read the settings of a tower for pictures; raises ModelError.

    eps, defaults: if config.json says nothing. processor: as for `read_picture_input`. resizes:
    whether positions are interpolated for pictures of another size than `image_size`.
    """
    own = with_defaults(settings, defaults)
    size, patch = read_sides(own, "image_size"), read_sides(own, "patch_size")
    prepared = read_picture_input(settings.path.parent, processor)
    chosen = size if prepared is None or prepared.size is None else prepared.size
    if chosen != size and not resizes:
        wanted = " x ".join(map(str, chosen))
        raise own.error("image_size", f"{wanted}, the size to which pictures are prepared")
    if min(*size, *chosen) < max(patch):
        raise own.error("patch_size", f"at most {min(*size, *chosen)}, the side of pictures")
    if own.size("num_channels") != 3:
        raise own.error("num_channels", "3")
    positions = size[0] // patch[0], size[1] // patch[1]
    picture = PictureConfig(3, patch, chosen, positions, antialias, leading, registers, prepared)
    given = own.replaced(vocab_size=picture.tokens, max_position_embeddings=picture.tokens)
    common, factor = _read_common(given, eps)
    biases = options.pop("biases", BIASES | {"patches"})
    if not own.flag("qkv_bias", default=True):
        biases = biases - {"qkv"}
    return EncoderConfig(
        **common,
        layouts=tuple(names),
        place="before",
        picture=picture,
        pooling="cls",
        activation_factor=factor,
        biases=biases,
        **options,
    )


def with_defaults(settings: Settings, defaults: Mapping[str, Any]) -> Settings:
    """Return settings with values of keys that they leave out."""
    return settings.replaced(
        **{key: value for key, value in defaults.items() if settings.get(key) is None}
    )


def _read_common(settings: Settings, eps: float) -> tuple[dict[str, Any], float]:
    """Return the settings of layers, and the factor of their activation."""
    factor = 1.0
    if settings.get("hidden_act") == "quick_gelu":
        settings, factor = settings.replaced(hidden_act="silu"), QUICK
    activations = (*ACTIVATIONS, "silu", "swish")
    return read_common(settings, activations=activations, eps=eps, own_heads=False), factor


def _read_vit(settings: Settings) -> EncoderConfig:
    settings.choice("pooler_act", ("tanh",), default="tanh")
    if settings.get("pooler_output_size") not in (None, settings.get("hidden_size")):
        raise settings.error("pooler_output_size", "hidden_size")
    return _read_tower(settings, (VIT, HUB_VIT), 1e-12, "ViT")


def _read_dinov2(settings: Settings, *, registers: bool) -> EncoderConfig:
    own = with_defaults(settings, {**VISION, "patch_size": 16 if registers else 14})
    wide = int(own.size("hidden_size") * own.number("mlp_ratio", default=4))
    layouts = [DINO, HUB_DINO]
    gated = own.flag("use_swiglu_ffn")
    if gated:
        wide = (int(wide * 2 / 3) + 7) // 8 * 8
        layouts = [replace(DINO, **GATED), replace(HUB_DINO, **HUB_GATED)]
        own = own.replaced(hidden_act="silu")  # whatever config.json says
    count = own.size("num_register_tokens", default=4, at_least=0) if registers else 0
    leading = ("embeddings.cls_token", *(("embeddings.register_tokens",) if count else ()))
    return _read_tower(
        own.replaced(intermediate_size=wide),
        [replace(names, leading=leading) for names in layouts],
        1e-6,
        "Bit",
        registers=count,
        resizes=True,
        antialias=registers,
        gated=gated,
    )


def _read_pair(settings: Settings, text: EncoderConfig, image: EncoderConfig) -> EncoderConfig:
    """Return the settings of a tower for texts with one for pictures beside it."""
    return replace(
        text,
        model_type=settings.get("model_type"),
        tasks=read_task_config(settings),
        image=replace(image, scope="image."),
        place="before",
        pooling="lasttoken",
    )


def _section(settings: Settings, key: str, defaults: Mapping[str, Any]) -> Settings:
    """Return the settings of one tower; those of old files under another name count alone."""
    old = f"{key}_dict"
    if settings.get(old) is not None and settings.get(key) is not None:
        key = old
    section = settings.section(key)
    for decoding in ("is_decoder", "add_cross_attention"):
        if section.flag(decoding):
            raise section.error(decoding, "false")
    return with_defaults(section, defaults)


def _read_clip(settings: Settings) -> EncoderConfig:
    size = with_defaults(settings, {"projection_dim": 512}).size("projection_dim")
    words = _section(settings, "text_config", CLIP_TEXT)
    common, factor = _read_common(words, 1e-5)
    end = words.get("eos_token_id")
    if type(end) is not int or end < 0:
        raise words.error("eos_token_id", "the number of a token")
    text = EncoderConfig(
        **common,
        layouts=(replace(TEXT, vector="text_projection"),),
        causal=True,
        vector_size=size,
        activation_factor=factor,
        # In files with this end, which is wrong, it is the largest id of a text.
        end_token=-1 if end == 2 else end,
    )
    names = replace(
        IMAGE,
        leading=("vision_model.embeddings.class_embedding",),
        embedding_norm="vision_model.pre_layrnorm",
        vector="visual_projection",
    )
    section = _section(settings, "vision_config", CLIP_VISION)
    image = _read_tower(
        section, [names], 1e-5, "CLIP", defaults={}, vector_size=size, biases=BIASES
    )
    return _read_pair(settings, text, image)


def _read_siglip(settings: Settings) -> EncoderConfig:
    words = _section(settings, "text_config", SIGLIP_TEXT)
    common, factor = _read_common(words, 1e-6)
    size = words.get("projection_size")
    size = common["hidden_size"] if size is None else words.size("projection_size")
    text = EncoderConfig(
        **common,
        layouts=(replace(TEXT, vector="text_model.head"),),
        vector_size=size,
        activation_factor=factor,
        biases=BIASES | {"vector"},
        filler=words.size("pad_token_id", at_least=0),
    )
    section = _section(settings, "vision_config", SIGLIP_VISION)
    if not section.flag("vision_use_head", default=True):
        raise section.error("vision_use_head", "true: without it, there is no vector of a picture")
    section.choice("hidden_act", tuple(ACTIVATIONS))
    names = replace(IMAGE, attention_pool="vision_model.head")
    image = _read_tower(section, [names], 1e-6, "Siglip", defaults={}, leading=0)
    if image.dimension != size:
        raise section.error("hidden_size", f"{size}, the columns of the vectors of texts")
    return _read_pair(settings, text, image)


HEADS = {"ForImageClassification": HeadNames("classifier")}
FAMILIES = (
    Family("vit", _read_vit, HEADS),
    Family("dinov2", partial(_read_dinov2, registers=False), {}),
    Family("dinov2_with_registers", partial(_read_dinov2, registers=True), {}),
    Family("clip", _read_clip, {}),
    Family("siglip", _read_siglip, {}),
)
