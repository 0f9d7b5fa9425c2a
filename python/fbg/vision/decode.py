"""Pictures as arrays: from a path, bytes, a Pillow image or an array, upright and bounded in size.

What a file says is not trusted: its pixels are counted before they are decoded, only formats of
pictures are tried (none that runs another program), and what Pillow finds wrong is a ValueError.
"""

from __future__ import annotations

import io
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import BinaryIO

import numpy as np
import numpy.typing as npt
from PIL import ExifTags, Image, ImageOps

from fbg.arrays import as_array, require_integer
from fbg.files import open_regular

Pixels = npt.NDArray[np.uint8]
Source = object  # a path, bytes, an array or a Pillow image

FORMATS = ("JPEG", "PNG", "WEBP", "BMP", "GIF", "TIFF", "PPM")
MAX_PIXELS = 1 << 26  # of a picture, which then takes 200 MB
PIXELS_AT_A_TIME = 1 << 20  # that are converted to RGB
# To decode: Pillow's own 4 and the 3 of the result, and what libraries keep beside them.
BYTES_OF_PIXEL = {"WEBP": 17, "JPEG": 14}
OBJECT = re.compile(r"<[^<>]* at 0x[0-9a-fA-F]+>")  # as Pillow names a file that it was given


def read_image(source: Source, *, max_pixels: int = MAX_PIXELS) -> Pixels:
    """Return a picture as uint8 (height, width, 3): RGB, upright as its EXIF orientation says.

    source: a path, the bytes of a file (JPEG, PNG, WebP, BMP, GIF, TIFF or PPM), a Pillow image, or
        an array of uint8: (height, width) or (height, width, channels) with 1, 3 or 4 channels.
    max_pixels: the most that are decoded; of a file with more, only the header is read. Pillow's
        own limit, ``PIL.Image.MAX_IMAGE_PIXELS``, holds, too.

    Grey becomes RGB, 16 bits become the upper 8, opacity is left out, and an animation is its first
    picture. Raises ValueError for anything that is not a whole picture, is empty or has too many
    pixels, TypeError for other types, and OSError for a path that cannot be read.

    >>> read_image(np.zeros((2, 3), np.uint8)).shape
    (2, 3, 3)
    >>> read_image(b"GIF89a")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ValueError: read_image: source must be a whole picture ...
    """
    most = require_integer(max_pixels, "read_image: max_pixels", 1, 1 << 40)
    return image_of(source, "read_image: source", most)


def image_of(source: Source, name: str, max_pixels: int = MAX_PIXELS) -> Pixels:
    """Return a picture as `read_image` does; messages call it `name`."""
    if isinstance(source, (str, os.PathLike)):
        with open_regular(source) as file:
            return _decoded(file, f"{name} {os.fspath(source)!r}", max_pixels)
    if isinstance(source, (bytes, bytearray, memoryview)):
        return _decoded(io.BytesIO(source), name, max_pixels)
    if isinstance(source, Image.Image):
        require_pixels(source.height, source.width, name, max_pixels)
        with _told_as(name):
            return _rgb(source, name)
    array = as_array(source, name)
    if array.dtype != np.uint8:
        hint = "widen_range and round_to make it of other numbers"
        raise TypeError(f"{name} must be uint8, got {array.dtype}; {hint}")
    if not (array.ndim == 2 or (array.ndim == 3 and array.shape[2] in (1, 3, 4))):
        wanted = "(height, width) or (height, width, channels) with 1, 3 or 4 channels"
        raise ValueError(f"{name} must be {wanted}, got shape {array.shape}")
    require_pixels(array.shape[0], array.shape[1], name, max_pixels)
    planes = array[..., None] if array.ndim == 2 else array[..., :3]
    return np.array(np.broadcast_to(planes, (*array.shape[:2], 3)), order="C")


def cost_of(data: bytes, name: str) -> tuple[int, int]:
    """Return how many pixels a file says that it has, and the bytes that it takes to decode them;
    raises ValueError if it is no picture."""
    with _told_as(name), Image.open(io.BytesIO(data), formats=FORMATS) as image:
        pixels = image.width * image.height
        return pixels, pixels * BYTES_OF_PIXEL.get(image.format or "", 8)


def require_pixels(height: int, width: int, name: str, max_pixels: int = MAX_PIXELS) -> None:
    """Raise ValueError for an empty picture, or one with too many pixels."""
    if height < 1 or width < 1:
        raise ValueError(f"{name} must have pixels, got {height} x {width}")
    if height * width > max_pixels:
        raise ValueError(
            f"{name} must have at most {max_pixels} pixels (max_pixels), got {height} x {width}"
        )


def _decoded(file: BinaryIO, name: str, max_pixels: int) -> Pixels:
    with _told_as(name):
        image = Image.open(file, formats=FORMATS)
    with image:
        require_pixels(image.height, image.width, name, max_pixels)
        with _told_as(name):
            image.load()
        return _rgb(image, name)


def _rgb(image: Image.Image, name: str) -> Pixels:
    """Return the upright pixels of a Pillow image."""
    if image.mode in ("I", "F"):
        raise ValueError(
            f"{name} must have pixels of 8 or 16 bits, got mode {image.mode!r} of Pillow, whose "
            "range is not known: widen_range and round_to make it of such numbers"
        )
    with _told_as(name):
        if image.getexif().get(ExifTags.Base.Orientation, 1) != 1:
            image = ImageOps.exif_transpose(image)
        pixels = np.empty((image.height, image.width, 3), np.uint8)
        rows = max(1, PIXELS_AT_A_TIME // image.width)
        for top in range(0, image.height, rows):  # Pillow's ways to an array need it three times
            bottom = min(top + rows, image.height)
            some = image.crop((0, top, image.width, bottom))
            if some.mode.startswith("I;16"):
                pixels[top:bottom] = (np.asarray(some) >> 8)[..., None]
            else:
                pixels[top:bottom] = np.asarray(some.convert("RGB"))
    return pixels


@contextmanager
def _told_as(name: str) -> Iterator[None]:
    """Raise ValueError for what Pillow raises about a file, whatever that is.

    Plug-ins raise OSError, SyntaxError, struct.error and others; those of the system have a number.
    """
    try:
        yield
    except (MemoryError, ImportError):
        raise
    except Exception as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise
        what = "picture (JPEG, PNG, WebP, BMP, GIF, TIFF or PPM)"
        said = OBJECT.sub("the file", str(error))
        raise ValueError(f"{name} must be a whole {what}: {said}") from None
