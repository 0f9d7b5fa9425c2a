"""Boxes, polygons and labels drawn on a picture, by Pillow."""

from __future__ import annotations

import colorsys
import os
from collections.abc import Sequence

import numpy as np
from PIL import Image, ImageDraw, ImageFont

from fbg.arrays import Array, as_array, require_integer
from fbg.files import replace_file
from fbg.vision.arguments import finite_numbers
from fbg.vision.decode import Pixels, Source, image_of

GOLDEN = 0.618034  # of a turn from one hue to the next, so that neighbours differ
WRITES = {".png": "PNG", ".jpg": "JPEG", ".jpeg": "JPEG", ".webp": "WEBP"}


def draw_boxes(
    image: Source,
    boxes: object,
    texts: Sequence[str] | None = None,
    classes: object = None,
    *,
    width: int | None = None,
    font: str | os.PathLike[str] | None = None,
) -> Pixels:
    """Return a picture with boxes or polygons, and a text above each.

    image: as in `read_image`. boxes: (n, 4), x0, y0, x1, y1 in pixels, or polygons (n, points, 2).
    texts: one for each; an empty one is left out. classes: (n), which choose the colours; None: all
    are of one. width: of lines, in pixels; None: from the size of the picture. font: a file that
    FreeType reads, for letters that Pillow's own lacks, which is Latin.

    Raises TypeError or ValueError for other arguments, and OSError for the font.

    >>> drawn = draw_boxes(np.zeros((40, 60, 3), np.uint8), np.array([[5, 15, 50, 35]]), ["cat"])
    >>> drawn[25, 5]
    array([  5, 230,   0], dtype=uint8)
    """
    pixels = image_of(image, "draw_boxes: image")
    polygons = _polygons(boxes)
    names = [""] * len(polygons) if texts is None else texts
    if isinstance(names, str) or len(names) != len(polygons):
        got = repr(names) if isinstance(names, str) else str(len(names))
        raise ValueError(f"draw_boxes: texts must hold {len(polygons)} texts, got {got}")
    kinds = (
        np.zeros(len(polygons), int)
        if classes is None
        else as_array(classes, "draw_boxes: classes")
    )
    if kinds.shape != (len(polygons),):
        count = len(polygons)
        raise ValueError(f"draw_boxes: classes must have shape ({count},), got {kinds.shape}")
    side = min(pixels.shape[:2])
    line = max(1, side // 250) if width is None else width
    require_integer(line, "draw_boxes: width", 1, 1 << 12)
    picture = Image.fromarray(pixels)
    draw = ImageDraw.Draw(picture)
    size = max(10, side // 40)
    letters = ImageFont.load_default(size) if font is None else ImageFont.truetype(font, size)
    for corners, name, kind in zip(polygons, names, kinds, strict=True):
        colour = _colour(int(kind))
        draw.polygon([*map(tuple, corners)], outline=colour, width=line)
        if name:
            _label(draw, corners, name, colour, letters)
    return np.array(picture)


def save_image(image: Source, path: str | os.PathLike[str]) -> None:
    """Write a picture as PNG, JPEG or WebP, as the ending of the path says; complete or not at all.

    image: as in `read_image`. Raises ValueError for another ending, and OSError if the file cannot
    be written.

    >>> save_image(np.zeros((4, 4, 3), np.uint8), f"{tmp}/black.png")
    """
    kind = image_format(path, "save_image: path")
    pixels = image_of(image, "save_image: image")
    with replace_file(path) as file:
        Image.fromarray(pixels).save(file, kind)


def image_format(path: str | os.PathLike[str], name: str) -> str:
    """Return the format in which a picture is written at a path, by its ending."""
    ending = os.path.splitext(os.fspath(path))[1].lower()
    if ending not in WRITES:
        raise ValueError(f"{name} must end in {', '.join(WRITES)}, got {os.fspath(path)}")
    return WRITES[ending]


def _polygons(boxes: object) -> Array:
    """Return polygons (n, points, 2) of boxes or polygons."""
    array = finite_numbers(boxes, "draw_boxes: boxes")
    of_boxes, of_polygons = array.ndim == 2 and array.shape[1] == 4, array.ndim == 3
    if not of_boxes and not (of_polygons and array.shape[2] == 2 and array.shape[1] > 2):
        raise ValueError(
            f"draw_boxes: boxes must be (n, 4) or (n, points, 2), got shape {array.shape}"
        )
    if not (np.abs(array) < 1e6).all():
        raise ValueError("draw_boxes: boxes must be within a million pixels")
    return array[:, [[0, 1], [2, 1], [2, 3], [0, 3]]] if of_boxes else array


def _colour(kind: int) -> tuple[int, int, int]:
    red, green, blue = colorsys.hsv_to_rgb((0.33 + kind * GOLDEN) % 1, 1, 0.9)
    return round(255 * red), round(255 * green), round(255 * blue)


def _label(
    draw: ImageDraw.ImageDraw,
    corners: Array,
    text: str,
    colour: tuple[int, int, int],
    letters: ImageFont.FreeTypeFont | ImageFont.ImageFont,
) -> None:
    """Write a text on a ground of the colour, above the corners or, at the border, below it."""
    left, top, right, bottom = draw.textbbox((0, 0), text, font=letters)
    x, y = max(0, float(corners[:, 0].min())), float(corners[:, 1].min()) - (bottom - top) - 4
    y = max(0, y)
    draw.rectangle((x, y, x + right - left + 4, y + bottom - top + 4), fill=colour)
    ink = (0, 0, 0) if sum(colour) > 330 else (255, 255, 255)
    draw.text((x + 2 - left, y + 2 - top), text, fill=ink, font=letters)
