"""ImageInput: how pictures become the input of a network, with every choice in one place.

A pixel has 256 values, so everything behind the resizing (scale, mean, standard deviation, rounding
to the integers of a quantized input) is a table of 256 entries for each channel, applied once:

    table[c][p] = (p * scale - mean[c]) / std[c]      q = round(table / s) + z  for an int8 input
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from PIL import Image

from fbg.arrays import (
    Array,
    as_numbers,
    require_choice,
    require_integer,
    require_number,
    require_points,
    require_scale,
)
from fbg.importers.description import TensorType
from fbg.quantization.affine import integer_range, quantize
from fbg.vision.decode import Pixels, Source, image_of
from fbg.vision.geometry import (
    ALIGNMENTS,
    RESAMPLES,
    ImageTransform,
    center_crop,
    letterbox,
    middle,
    require_size,
    resized,
    transform_of,
)

INTEGERS = ("int8", "uint8")
CHANNELS = {"RGB": 3, "BGR": 3, "gray": 1}


@dataclass(frozen=True)
class ImageBatch:
    """array: the input of a network. transforms: where each picture lies in it."""

    array: Array
    transforms: tuple[ImageTransform, ...]


@dataclass(frozen=True)
class ImageInput:
    """How pictures become the input of a network, which only `for_input` looks at.

    size: height and width; None: as they are, all of one size.
    fit: "stretch" to the size; "crop": the middle, after resizing so that the short side is that of
        the size divided by crop_ratio; "letterbox": in proportion, with align and fill as in
        `letterbox`.
    resample: the filter of Pillow. channels: their order, "RGB", "BGR" or "gray".
    scale, mean, std: a pixel p becomes (p * scale - mean) / std; mean and std hold one number, or
        one for each channel in the order of `channels`.
    layout: "NCHW" or "NHWC". dtype: "float32", "float16", "int8" or "uint8".
    quantization: scale and zero point of an int8 or uint8 input. Without them, what pixels become
        must be integers already.

    Raises TypeError or ValueError, which names the field, for other values.

    >>> prepared = PRESETS["imagenet"].prepare(np.zeros((300, 400, 3), np.uint8))
    >>> prepared.array.shape, prepared.array.dtype
    ((1, 3, 224, 224), dtype('float32'))
    """

    size: tuple[int, int] | None = None
    fit: str = "stretch"
    crop_ratio: float = 1.0
    align: str = "center"
    fill: int = 114
    resample: str = "bilinear"
    channels: str = "RGB"
    scale: float = 1 / 255
    mean: tuple[float, ...] = (0.0,)
    std: tuple[float, ...] = (1.0,)
    layout: str = "NCHW"
    dtype: str = "float32"
    quantization: tuple[float, int] | None = None

    def __post_init__(self) -> None:
        if self.size is not None:
            object.__setattr__(self, "size", require_size(self.size, "ImageInput: size"))
        require_choice(self.fit, "ImageInput: fit", "stretch", "crop", "letterbox")
        if not 0 < require_number(self.crop_ratio, "ImageInput: crop_ratio") <= 1:
            raise ValueError(f"ImageInput: crop_ratio must be in (0, 1], got {self.crop_ratio}")
        require_choice(self.align, "ImageInput: align", *ALIGNMENTS)
        require_integer(self.fill, "ImageInput: fill", 0, 255)
        require_choice(self.resample, "ImageInput: resample", *RESAMPLES)
        require_choice(self.channels, "ImageInput: channels", *CHANNELS)
        require_choice(self.layout, "ImageInput: layout", "NCHW", "NHWC")
        require_choice(self.dtype, "ImageInput: dtype", "float32", "float16", "int8", "uint8")
        require_number(self.scale, "ImageInput: scale")
        self._require_numbers("mean", self.mean, -np.inf)
        self._require_numbers("std", self.std, 0)
        if self.quantization is not None:
            self._require_quantization()

    def _require_numbers(self, name: str, given: object, above: float) -> None:
        count = CHANNELS[self.channels]
        values = as_numbers(given, f"ImageInput: {name}", "fiu", "numbers")
        if values.ndim > 1 or values.size not in (1, count):
            raise ValueError(f"ImageInput: {name} must hold 1 or {count} numbers, got {given}")
        if not (np.isfinite(values) & (values > above)).all():
            wanted = "finite" if above < 0 else "finite and positive"
            raise ValueError(f"ImageInput: {name} must be {wanted}, got {given}")

    def _require_quantization(self) -> None:
        if self.dtype not in INTEGERS:
            raise ValueError(f"ImageInput: quantization goes with int8 and uint8, not {self.dtype}")
        if not isinstance(self.quantization, Sequence) or len(self.quantization) != 2:
            got = self.quantization
            raise ValueError(f"ImageInput: quantization must be (scale, zero point), got {got!r}")
        require_scale(self.quantization[0], "ImageInput: scale of quantization")
        ends = integer_range(self.dtype)
        require_points(self.quantization[1], "ImageInput: zero point of quantization", *ends)

    def for_input(self, kind: TensorType) -> ImageInput:
        """Return the same with the layout, the size and the dtype that an input of a network has.

        kind: such as ``net.inputs["x"]``. A size that it leaves open is that of this object. Raises
        ValueError if it is not the input of pictures with these channels, or if no size is known.

        >>> kind = TensorType(np.dtype(np.float32), (None, 224, 224, 3))
        >>> PRESETS["imagenet"].for_input(kind).layout
        'NHWC'
        """
        count, shape = CHANNELS[self.channels], kind.shape
        if shape is None or len(shape) != 4 or (shape[1] == count) == (shape[3] == count):
            raise ValueError(
                f"for_input: kind must have 4 axes, one of which, the second or the last, is "
                f"{count}, got {kind}; give layout and size yourself for another one"
            )
        layout = "NCHW" if shape[1] == count else "NHWC"
        declared = shape[2:] if layout == "NCHW" else shape[1:3]
        own = (None, None) if self.size is None else self.size
        pairs = zip(declared, own, strict=True)
        sides = [given if isinstance(given, int) else mine for given, mine in pairs]
        if None in sides:
            raise ValueError(f"for_input: kind leaves the size open, got {kind}: give a size")
        size = require_size(sides, "for_input: size")
        return replace(self, layout=layout, size=size, dtype=kind.dtype.name)

    def prepare(self, images: Source) -> ImageBatch:
        """Return the input for a picture, or for a list of pictures, and where they lie in it.

        images: one picture as in `read_image`, or a list or tuple of such. The array is
        (N, C, H, W) or (N, H, W, C), as `layout` says. Raises what `read_image` raises, and
        ValueError for no pictures, or for sizes that differ where `size` is None.
        """
        many = isinstance(images, (list, tuple))
        sources = list(images) if isinstance(images, (list, tuple)) else [images]
        if not sources:
            raise ValueError("prepare: images must hold a picture, got none")
        table, transforms = self._table(), []
        planes: list[Pixels] = []
        for n, source in enumerate(sources):
            name = f"prepare: images[{n}]" if many else "prepare: images"
            pixels, transform = self._fitted(image_of(source, name))
            if planes and pixels.shape != planes[0].shape:
                got, first = (" x ".join(map(str, p.shape[:2])) for p in (pixels, planes[0]))
                raise ValueError(f"{name} must have the size of the first, {first}, got {got}")
            planes.append(self._in_channels(pixels))
            transforms.append(transform)
        shape = (len(planes), *planes[0].shape)  # N, H, W, C
        order = (0, 3, 1, 2) if self.layout == "NCHW" else (0, 1, 2, 3)
        batch = np.empty([shape[axis] for axis in order], table.dtype)
        channels_last = batch.transpose(np.argsort(order))
        for n, channel in np.ndindex(shape[0], shape[3]):
            channels_last[n, ..., channel] = table[channel][planes[n][..., channel]]
        return ImageBatch(batch, tuple(transforms))

    def _fitted(self, pixels: Pixels) -> tuple[Pixels, ImageTransform]:
        """Return a picture of the size, and where it lies there."""
        if self.size is None:
            return pixels, transform_of(pixels, pixels.shape[:2], 0, 0)
        if self.fit == "letterbox":
            return letterbox(
                pixels, self.size, fill=self.fill, align=self.align, resample=self.resample
            )
        inner = self.size if self.fit == "stretch" else self._covering(*pixels.shape[:2])
        whole = resized(pixels, inner, self.resample, "prepare")
        left, top = middle(inner, self.size)
        return center_crop(whole, self.size), transform_of(pixels, inner, -left, -top)

    def _covering(self, height: int, width: int) -> tuple[int, int]:
        """Return the size in proportion to a picture that covers the size and what is cropped."""
        assert self.size is not None
        high, wide = (int(side / self.crop_ratio) for side in self.size)
        if width * high >= height * wide:
            return high, width * high // height
        return height * wide // width, wide

    def _in_channels(self, pixels: Pixels) -> Pixels:
        if self.channels == "gray":
            return np.asarray(Image.fromarray(pixels).convert("L"))[..., None]
        return pixels if self.channels == "RGB" else pixels[..., ::-1]

    def _table(self) -> Array:
        """Return what each pixel becomes, (channels, 256)."""
        given = (np.asarray(values, np.float64) for values in (self.mean, self.std))
        mean, std = (np.broadcast_to(v, CHANNELS[self.channels])[:, None] for v in given)
        values = (np.arange(256) * float(self.scale) - mean) / std
        if self.quantization is not None:
            scale, point = self.quantization
            return quantize(values.astype(np.float32), scale, point, dtype=self.dtype)
        if self.dtype in INTEGERS:
            low, high = integer_range(self.dtype)
            if (values != np.clip(np.rint(values), low, high)).any():
                raise ValueError(
                    f"ImageInput: quantization is needed: pixels become numbers from "
                    f"{values.min():g} to {values.max():g}, which are not {self.dtype}"
                )
        return values.astype(self.dtype)


_SQUARE = (224, 224)

# By name: how the pictures of well-known families are prepared.
PRESETS = {
    # Classifiers that were trained on ImageNet, as torchvision and timm prepare it.
    "imagenet": ImageInput(
        _SQUARE, "crop", 0.875, mean=(0.485, 0.456, 0.406), std=(0.229, 0.224, 0.225)
    ),
    # The same with pixels from -1 to 1: Inception, MobileNet of TensorFlow, ViT.
    "inception": ImageInput(_SQUARE, "crop", 0.875, mean=(0.5,), std=(0.5,)),
    # YOLOv5, YOLOv8 and their successors: pixels from 0 to 1.
    "yolo": ImageInput((640, 640), "letterbox"),
    # YOLOX: pixels from 0 to 255, blue first, in the corner of the frame.
    "yolox": ImageInput((640, 640), "letterbox", align="top-left", channels="BGR", scale=1.0),
}
