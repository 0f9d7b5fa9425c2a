"""Towers for pictures: preprocessor_config.json, which says how pictures are prepared, and tensors:
embeddings of patches, places of patches, pooling.

A patch is a row of pixels, and a linear layer embeds it. What stands before the patches has a row
of zeros instead; its embedding, its place and the bias of the layer are in one table:

    x_t = w p_t + table[t]
"""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import numpy as np

from fbg.arrays import Doubles, Floats
from fbg.checkpoints.files import read_optional
from fbg.checkpoints.settings import Settings
from fbg.checkpoints.weights import Named, Part, Patches, Read, Scaled
from fbg.graph.linear import Linear
from fbg.networks.config import EncoderConfig, PictureConfig, PictureInput
from fbg.networks.names import Names
from fbg.networks.source import Source
from fbg.networks.transformer import AttentionPool, Embeddings, Probe
from fbg.networks.unread import require_known_settings

PREPROCESSOR, PROCESSOR = "preprocessor_config.json", "processor_config.json"
MAX_SIDE = 1 << 14  # of a picture: keeps a damaged file from asking for endless memory

# Filters of Pillow by their numbers there.
RESAMPLES = ("nearest", "lanczos", "bilinear", "bicubic", "box", "hamming")
CLIP_MEAN, CLIP_STD = (0.48145466, 0.4578275, 0.40821073), (0.26862954, 0.26130258, 0.27577711)

# What classes of transformers assume where the file says nothing.
_CLIP = PictureInput(224, "bicubic", (224, 224), 1 / 255, CLIP_MEAN, CLIP_STD)
PROCESSORS = {
    "ViT": PictureInput(),
    "CLIP": _CLIP,
    "Bit": _CLIP,
    "Siglip": PictureInput(resample="bicubic"),
}


def read_sides(settings: Settings, key: str) -> tuple[int, int]:
    """Return a height and a width: an object, a list, or one number for both."""
    value = settings.get(key)
    if isinstance(value, dict):
        section = settings.section(key)
        value = [section.size("height"), section.size("width")]
    sides = value if isinstance(value, list) else [value, value]
    if len(sides) != 2 or not all(type(s) is int and 0 < s <= MAX_SIDE for s in sides):
        raise settings.error(key, f"a height and a width of 1 to {MAX_SIDE}")
    return sides[0], sides[1]


def read_picture_input(directory: Path, family: str) -> PictureInput | None:
    """Read how pictures are prepared, None if no file says it; raises ModelError.

    family: the class of transformers that is meant if the file does not name one.
    """
    whole = read_optional(directory / PREPROCESSOR)
    settings = whole
    if not whole.values():
        whole = read_optional(directory / PROCESSOR)
        settings = whole.section("image_processor")
    if not settings.values():
        return None
    given = PROCESSORS[_class_of(settings, family)]
    resize, crop = given.resize, given.crop
    if not settings.flag("do_resize", default=True):
        resize = None
    elif settings.get("size") is not None:
        resize = _read_resize(settings, isinstance(resize, tuple))
    if not settings.flag("do_center_crop", default=crop is not None):
        crop = None
    elif settings.get("crop_size") is not None or crop is None:
        crop = read_sides(settings, "crop_size")
    short = min(resize) if isinstance(resize, tuple) else resize
    if crop is not None and short is not None and max(crop) > short:
        raise settings.error("crop_size", f"at most the size of the resized picture, {short}")
    filter_ = settings.size("resample", RESAMPLES.index(given.resample), at_least=0)
    if filter_ >= len(RESAMPLES):
        raise settings.error("resample", f"a filter of Pillow, below {len(RESAMPLES)}")
    scale = settings.number("rescale_factor", default=given.scale)
    if not settings.flag("do_rescale", default=True):
        scale = 1.0
    mean = _numbers(settings, "image_mean", given.mean)
    std = _numbers(settings, "image_std", given.std)
    if min(std) <= 0:
        raise settings.error("image_std", "numbers above 0")
    if not settings.flag("do_normalize", default=True):
        mean, std = (0.0,), (1.0,)
    require_known_settings(whole, "pictures")
    return PictureInput(resize, RESAMPLES[filter_], crop, scale, mean, std)


def _class_of(settings: Settings, family: str) -> str:
    """Return the key of PROCESSORS."""
    for key in ("image_processor_type", "feature_extractor_type"):
        name = settings.get(key)
        if name is not None:
            for known in PROCESSORS:
                if re.fullmatch(f"{known}(ImageProcessor|FeatureExtractor)(Fast|Pil)?", str(name)):
                    return known
            raise settings.error(key, "of the kinds " + ", ".join(PROCESSORS))
    return family


def _read_resize(settings: Settings, is_square: bool) -> tuple[int, int] | int:
    """Return a size. is_square: whether one number stands for both sides."""
    value = settings.get("size")
    if isinstance(value, dict) and "shortest_edge" in value:
        section = settings.section("size")
        if section.get("longest_edge") is not None:
            raise section.error("longest_edge", "left out")
        value = section.replaced(size=section.get("shortest_edge"))
        return read_sides(value, "size")[0]
    sides = read_sides(settings, "size")
    return sides[0] if type(value) is int and not is_square else sides


def _numbers(settings: Settings, key: str, default: tuple[float, ...]) -> tuple[float, ...]:
    values = settings.get(key)
    if values is None:
        return default
    values = values if isinstance(values, list) else [values]
    if len(values) not in (1, 3) or not all(
        type(v) in (int, float) and 0 <= v <= 1e6 for v in values
    ):
        raise settings.error(key, "a number of at least 0, or three of them")
    return tuple(map(float, values))


def read_picture_embeddings(source: Source, config: EncoderConfig, names: Names) -> Embeddings:
    """Read the embeddings of a tower without their norm; raises ModelError."""
    picture, width = config.picture, config.hidden_size
    assert picture is not None and names.patches is not None
    kernel = Patches(names.patches, size=(picture.channels, *picture.patch))
    field, sizes = f"{config.scope}embeddings", (picture.columns, width)
    patches = source.linear(f"{field}.patches", [kernel], *sizes, bias=False)

    def table(read: Read) -> Floats:
        return _table(read, config, picture, names)

    word = source.computed(f"{field}.word", (picture.tokens, width), table)
    return Embeddings(word=word, patches=patches)


def _table(read: Read, config: EncoderConfig, picture: PictureConfig, names: Names) -> Floats:
    """Return the table of a checkpoint, (tokens, width)."""
    width = config.hidden_size
    assert names.position is not None
    high, wide = picture.positions
    # Tables of an Embedding are matrices, parameters have an axis more.
    shape: tuple[int, ...] = (picture.leading + high * wide, width)
    if not names.position.endswith(".weight"):
        shape = (1, *shape)
    stored = read(names.position, *shape).reshape(-1, width)
    places = resized_places(
        stored[picture.leading :].reshape(high, wide, width), picture.grid, picture.antialias
    )
    before = np.zeros((0, width), np.float32)
    if names.leading:
        shapes: list[tuple[int, ...]] = [
            (1, n, width) for n in (picture.leading, picture.registers) if n
        ]
        if names.leading[0].endswith("class_embedding"):
            shapes = [(width,)]
        tokens = [read(name, *shape) for name, shape in zip(names.leading, shapes, strict=True)]
        before = np.concatenate([token.reshape(-1, width) for token in tokens])
        before[: picture.leading] += stored[: picture.leading]
    if "patches" in config.biases:
        places = places + read(f"{names.patches}.bias", width)
    return np.ascontiguousarray(np.concatenate([before, places.reshape(-1, width)]), np.float32)


def resized_places(table: Floats, grid: tuple[int, int], antialias: bool) -> Floats:
    """Return a table of places, (rows, columns, width), for another grid by bicubic interpolation
    as torch.nn.functional.interpolate has it, without aligned corners.
    """
    if table.shape[:2] == grid:
        return table
    down, across = (
        bicubic_weights(old, new, antialias) for old, new in zip(table.shape[:2], grid, strict=True)
    )
    resized: Floats = np.einsum("ai,bj,ijw->abw", down, across, table, optimize=True)
    return resized.astype(np.float32)


def bicubic_weights(old: int, new: int, antialias: bool) -> Doubles:
    """Return (new, old): what each new element takes of the old ones (Keys, 1981,
    doi:10.1109/TASSP.1981.1163711), with the constants of torch.

    antialias: the filter becomes wider where there are fewer new elements.
    """
    scale = old / new
    stretch, a = (max(scale, 1.0), -0.5) if antialias else (1.0, -0.75)
    weights = np.zeros((new, old))
    for n in range(new):
        center = scale * (n + 0.5) - 0.5
        reach = int(np.ceil(2 * stretch)) + 1
        places = np.arange(int(np.floor(center)) - reach, int(np.floor(center)) + reach + 1)
        x = np.abs(places - center) / stretch
        near = ((a + 2) * x - (a + 3)) * x * x + 1
        far = ((x - 5) * x + 8) * x * a - 4 * a
        values = np.where(x <= 1, near, np.where(x < 2, far, 0))
        inside = (places >= 0) & (places < old)
        if antialias:  # what is beyond the border does not count
            places, values = places[inside], values[inside] / values[inside].sum()
        np.add.at(weights[n], np.clip(places, 0, old - 1), values)
    return weights


def read_attention_pool(source: Source, config: EncoderConfig, name: str) -> AttentionPool:
    """Read the pooling of SigLIP; raises ModelError."""
    width, wide, field = (
        config.hidden_size,
        config.intermediate_size,
        f"{config.scope}attention_pool",
    )
    projection = f"{name}.attention.in_proj"
    # Nothing of a token is in the query.
    parts: list[Named] = [
        Scaled(Part(projection, 0, 3), 0.0),
        *(Part(projection, n, 3) for n in (1, 2)),
    ]
    qkv = source.linear(f"{field}.probe.qkv", parts, width, [width] * 3, bias=False)

    def bias(read: Read) -> Floats:
        probe = read(f"{name}.probe", 1, 1, width).reshape(width)
        stored = read(f"{projection}.bias", 3 * width)
        matrix = read(f"{projection}.weight", 3 * width, width)[:width]
        return np.concatenate([stored[:width] + matrix @ probe, stored[width:]])

    qkv = replace(qkv, bias=source.computed(f"{qkv.name}.bias", (3 * width,), bias))

    def linear(part: str, layer: str, inputs: int, outputs: int) -> Linear:
        return source.linear(
            f"{field}.{part}", [f"{name}.{layer}"], inputs, outputs, dtype="float32"
        )

    return AttentionPool(
        Probe(qkv),
        linear("output", "attention.out_proj", width, width),
        source.norm(f"{field}.norm", f"{name}.layernorm", width, config.norm_eps),
        linear("intermediate", "mlp.fc1", width, wide),
        linear("last", "mlp.fc2", wide, width),
        config.activation,
    )


def read_logits(source: Source) -> Floats:
    """Return what turns cosines of texts and pictures into logits: the logarithm of a factor, and
    what is added, which is 0 if the model has no such tensor.
    """

    def numbers(read: Read) -> Floats:
        # A number, or an array that holds one.
        scale, bias = (source.rows("logits", f"logit_{part}") for part in ("scale", "bias"))
        found = [
            read("logit_scale", *(() if scale is None else (1,))),
            np.zeros(1, np.float32) if bias is None else read("logit_bias", 1),
        ]
        return np.concatenate([each.reshape(1) for each in found])

    return source.computed("logits", (2,), numbers)
