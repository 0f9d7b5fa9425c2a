"""preprocessor_config.json: how pictures are prepared for a tower."""

from __future__ import annotations

import re
from pathlib import Path

from fbg.checkpoints.files import read_optional
from fbg.checkpoints.settings import Settings
from fbg.networks.towers.config import PictureInput
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
