"""Sizes of pictures: resizing, cropping, letterboxes, and the way back to the picture.

Pillow resizes, with the filter widened where a picture becomes smaller, so that nothing aliases.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from PIL import Image

from fbg.arrays import Array, as_array, require_choice, require_integer
from fbg.vision.decode import Pixels, Source, image_of, require_pixels

RESAMPLES = ("nearest", "bilinear", "bicubic", "lanczos", "box", "hamming")
ALIGNMENTS = ("center", "top-left")
MAX_SIDE = 1 << 20
Size = Sequence[int]  # height, width


@dataclass(frozen=True)
class ImageTransform:
    """Where a picture lies in the input of a network: ``input = picture * scale + offset``.

    scale_x, scale_y, left, top: of the formula, for each axis. height, width: of the picture.

    >>> _, transform = letterbox(np.zeros((100, 200, 3), np.uint8), (64, 64))
    >>> transform.boxes_to_image(np.array([[0.0, 16.0, 64.0, 80.0]]))
    array([[  0.,   0., 200., 100.]])
    """

    scale_x: float
    scale_y: float
    left: float
    top: float
    height: int
    width: int

    def boxes_to_image(self, boxes: object) -> Array:
        """Return boxes (..., 4) of the input in pixels of the picture, cut off at its borders.

        A box is x0, y0, x1, y1. Raises ValueError for another shape.
        """
        corners = _floats(boxes, "boxes_to_image: boxes", 4)
        points = self.points_to_image(corners.reshape(*corners.shape[:-1], 2, 2))
        return np.clip(points, 0, [self.width, self.height]).reshape(corners.shape)

    def points_to_image(self, points: object) -> Array:
        """Return points (..., 2), each x, y, of the input in pixels of the picture."""
        given = _floats(points, "points_to_image: points", 2)
        moved: Array = (given - [self.left, self.top]) / [self.scale_x, self.scale_y]
        return moved

    def points_to_input(self, points: object) -> Array:
        """Return points (..., 2) of the picture in pixels of the input."""
        given = _floats(points, "points_to_input: points", 2)
        moved: Array = given * [self.scale_x, self.scale_y] + [self.left, self.top]
        return moved


def resize(image: Source, size: int | Size, *, resample: str = "bilinear") -> Pixels:
    """Return a picture (height, width, 3) of another size.

    image: as in `read_image`. size: height and width, or the length of the short side, whose
    other side then keeps the proportions. resample: a filter of Pillow. Raises ValueError for a
    size below 1, for a result with too many pixels, or for another filter.

    >>> resize(np.zeros((20, 40, 3), np.uint8), 10).shape
    (10, 20, 3)
    """
    pixels = image_of(image, "resize: image")
    height, width = pixels.shape[:2]
    if isinstance(size, Sequence):
        return resized(pixels, require_size(size, "resize: size"), resample, "resize")
    short = require_integer(size, "resize: size", 1, MAX_SIDE)
    long = short * max(height, width) // min(height, width)
    whole = (short, long) if height <= width else (long, short)
    return resized(pixels, whole, resample, "resize")


def center_crop(image: Source, size: Size) -> Pixels:
    """Return the middle of a picture; size: height and width, at most those of the picture.

    >>> center_crop(np.arange(25, dtype=np.uint8).reshape(5, 5), (1, 3))[..., 0]
    array([[11, 12, 13]], dtype=uint8)
    """
    pixels = image_of(image, "center_crop: image")
    height, width = require_size(size, "center_crop: size")
    if height > pixels.shape[0] or width > pixels.shape[1]:
        got = " x ".join(map(str, pixels.shape[:2]))
        raise ValueError(f"center_crop: size must fit into the picture of {got}, got {size}")
    left, top = middle(pixels.shape[:2], (height, width))
    return pixels[top : top + height, left : left + width]


def letterbox(
    image: Source,
    size: Size,
    *,
    fill: int = 114,
    align: str = "center",
    resample: str = "bilinear",
) -> tuple[Pixels, ImageTransform]:
    """Return a picture in its proportions within a frame of a given size, and where it lies there.

    size: height and width of the frame. fill: the grey of its free part. align: "center" or
    "top-left". Raises ValueError for other values.

    >>> frame, transform = letterbox(np.full((10, 20, 3), 255, np.uint8), (20, 20), fill=0)
    >>> frame[:, 0, 0].tolist() == [0] * 5 + [255] * 10 + [0] * 5
    True
    """
    pixels = image_of(image, "letterbox: image")
    height, width = require_size(size, "letterbox: size")
    require_integer(fill, "letterbox: fill", 0, 255)
    require_choice(align, "letterbox: align", *ALIGNMENTS)
    scale = min(height / pixels.shape[0], width / pixels.shape[1])
    inner_height, inner_width = (max(1, round(side * scale)) for side in pixels.shape[:2])
    inner = resized(pixels, (inner_height, inner_width), resample, "letterbox")
    left, top = (0, 0) if align == "top-left" else middle((height, width), inner.shape[:2])
    frame = np.full((height, width, 3), fill, np.uint8)
    frame[top : top + inner_height, left : left + inner_width] = inner
    return frame, transform_of(pixels, (inner_height, inner_width), left, top)


def middle(outer: Size, inner: Size) -> tuple[int, int]:
    """Return from which column and row on a size lies in the middle of a larger one."""
    return round((outer[1] - inner[1]) / 2), round((outer[0] - inner[0]) / 2)


def transform_of(pixels: Pixels, size: Size, left: int, top: int) -> ImageTransform:
    """Return the transform of a picture that was resized to `size` and moved."""
    height, width = pixels.shape[:2]
    return ImageTransform(size[1] / width, size[0] / height, left, top, height, width)


def resized(pixels: Pixels, size: tuple[int, int], resample: str, function: str) -> Pixels:
    """Return pixels (height, width, 3) resized to height and width."""
    require_choice(resample, f"{function}: resample", *RESAMPLES)
    require_pixels(*size, f"{function}: the resized picture")
    if pixels.shape[:2] == size:
        return pixels
    picture = Image.fromarray(pixels)
    return np.array(picture.resize(size[::-1], Image.Resampling[resample.upper()]))


def require_size(size: Any, name: str) -> tuple[int, int]:
    """Return a height and a width; else TypeError or ValueError."""
    if not isinstance(size, Sequence) or isinstance(size, str) or len(size) != 2:
        raise ValueError(f"{name} must be (height, width), got {size!r}")
    height, width = (require_integer(side, name, 1, MAX_SIDE) for side in size)
    require_pixels(height, width, name)
    return height, width


def _floats(values: object, name: str, last: int) -> npt.NDArray[Any]:
    array = as_array(values, name)
    if array.ndim == 0 or array.shape[-1] != last:
        raise ValueError(f"{name} must be (..., {last}), got shape {array.shape}")
    return array
