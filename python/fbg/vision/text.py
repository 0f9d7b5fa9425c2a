"""Text in pictures: decoding of recognition (CTC) and detection (differentiable binarization).

A recognition network gives scores of characters for each step from left to right; a detection
network gives a map of how likely each pixel is in the middle of a line of text.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from PIL import Image, ImageDraw

from fbg.arrays import Array, require_integer, require_number
from fbg.vision.arguments import finite_numbers
from fbg.vision.decode import Pixels, Source, image_of, require_pixels
from fbg.vision.geometry import ImageTransform


@dataclass(frozen=True)
class ReadText:
    """A line of text. score: the mean of the scores of its characters; 0 without any."""

    text: str
    score: float


@dataclass(frozen=True)
class TextBoxes:
    """Lines of text in one picture. corners: (n, 4, 2), the x and y of the top left one, the top
    right, the bottom right and the bottom left, in pixels of the input. scores: (n).
    """

    corners: Array
    scores: Array

    def in_image(self, transform: ImageTransform) -> TextBoxes:
        """Return the same in pixels of the picture, which has this transform."""
        return replace(self, corners=transform.points_to_image(self.corners))


def ctc_greedy(scores: object, characters: Sequence[str], *, blank: int = 0) -> list[ReadText]:
    """Return the text of each picture: the best characters, repetitions once, without blanks.

    scores: (N, steps, characters + 1), an output of a recognition network. characters: a text for
    each class but the blank one, in their order. blank: the class that stands for none. Raises
    TypeError or ValueError for other arguments, among them characters of another number.

    >>> steps = np.eye(3)[None, [1, 1, 0, 1, 2]]
    >>> ctc_greedy(steps, "ab")
    [ReadText(text='aab', score=1.0)]
    """
    values = _numbers(scores, "ctc_greedy: scores", 3, "(N, steps, classes)")
    classes = values.shape[2]
    if len(characters) + 1 != classes:
        raise ValueError(
            f"ctc_greedy: characters must be {classes - 1}, one for each class but the blank, got "
            f"{len(characters)}"
        )
    place = require_integer(blank, "ctc_greedy: blank", 0, classes - 1)
    letters = [*characters[:place], "", *characters[place:]]
    found = []
    for best, score in zip(values.argmax(2), values.max(2), strict=True):
        new = best != place
        new[1:] &= best[1:] != best[:-1]
        mean = float(score[new].mean()) if new.any() else 0.0
        found.append(ReadText("".join(letters[n] for n in best[new]), mean))
    return found


def decode_db(
    output: object,
    *,
    threshold: float = 0.3,
    box_threshold: float = 0.6,
    unclip: float = 1.6,
    min_side: int = 3,
    limit: int = 1000,
) -> list[TextBoxes]:
    """Return the lines of text that a DB network found in each picture, from top to bottom.

    output: (N, 1, H, W), for each pixel how likely it is text, from 0 to 1.
    threshold: of a pixel; connected pixels above it are a line, in the smallest rotated rectangle.
    box_threshold: the least mean of the pixels in a rectangle.
    unclip: how far rectangles are enlarged, for the network marks the middle of a line only: each
        side moves outwards by area * unclip / perimeter.
    min_side: the least short side, in pixels, before that, at least 1.
    limit: the most lines of a picture; the largest remain.

    Raises TypeError or ValueError for other arguments. Source: arXiv:1911.08947.

    >>> output = np.zeros((1, 1, 20, 40), np.float32)
    >>> output[0, 0, 8:12, 10:30] = 0.9
    >>> decode_db(output)[0].corners[0].round()
    array([[ 8.,  6.],
           [31.,  6.],
           [31., 13.],
           [ 8., 13.]])
    """
    maps = _numbers(output, "decode_db: output", 4, "(N, 1, H, W)")
    if maps.shape[1] != 1:
        raise ValueError(f"decode_db: output must be (N, 1, H, W), got shape {maps.shape}")
    low, least, enlarged = (
        require_number(value, f"decode_db: {name}")
        for name, value in (
            ("threshold", threshold),
            ("box_threshold", box_threshold),
            ("unclip", unclip),
        )
    )
    most = require_integer(limit, "decode_db: limit", 0, 1 << 31)
    side = require_integer(min_side, "decode_db: min_side", 1, 1 << 20)
    found = []
    for heat in maps[:, 0]:
        lines = [(np.empty((0, 4, 2)), np.empty(0))]
        outlines = sorted(components(heat > low), key=len, reverse=True)[:most]
        for outline in outlines:
            corners = smallest_rectangle(outline)
            width, height = _sides(corners)
            score = _mean_within(heat, corners)
            if min(width, height) >= side and score >= least:
                corners = _moved_out(corners, enlarged * width * height / (2 * (width + height)))
                lines.append((corners[None], np.array([score])))
        corners, scores = (np.concatenate(parts) for parts in zip(*lines, strict=True))
        order = np.lexsort((corners[:, 0, 0], corners[:, 0, 1]))
        found.append(TextBoxes(corners[order], scores[order]))
    return found


def crop_line(image: Source, corners: object) -> Pixels:
    """Return a line of text, cut out of a picture and turned upright: (height, width, 3).

    image: as in `read_image`. corners: (4, 2), such as one of `TextBoxes.corners` in pixels of the
    picture. Raises ValueError for other corners.

    >>> corners = np.array([[5, 5], [25, 5], [25, 15], [5, 15]])
    >>> crop_line(np.zeros((20, 40, 3), np.uint8), corners).shape
    (10, 20, 3)
    """
    pixels = image_of(image, "crop_line: image")
    places = _numbers(corners, "crop_line: corners", 2, "(4, 2)")
    if places.shape != (4, 2):
        raise ValueError(f"crop_line: corners must be (4, 2), got shape {places.shape}")
    width, height = (max(1, round(side)) for side in _sides(places))
    require_pixels(height, width, "crop_line: the line")
    quad = tuple(places[[0, 3, 2, 1]].ravel().tolist())  # against the clock, as Pillow has it
    picture = Image.fromarray(pixels)
    method, filtered = Image.Transform.QUAD, Image.Resampling.BICUBIC
    return np.array(picture.transform((width, height), method, quad, filtered))


def components(mask: npt.NDArray[np.bool_]) -> Iterator[Array]:
    """Yield, for each set of True that touch each other, corners included, the x and y of the ends
    of its runs in rows, (runs * 2, 2).

    Runs are joined to those of the row above that they touch (union-find).
    """
    edges = np.diff(np.pad(mask, ((0, 0), (1, 1))).astype(np.int8), axis=1)
    rows, starts = np.nonzero(edges == 1)
    ends = np.nonzero(edges == -1)[1] - 1
    parents = list(range(len(rows)))

    def root(n: int) -> int:
        while parents[n] != n:
            parents[n] = n = parents[parents[n]]
        return n

    firsts = np.searchsorted(rows, np.arange(len(mask) + 1)).tolist()
    lefts, rights = starts.tolist(), ends.tolist()
    for row in range(1, len(mask)):
        above, end, here = firsts[row - 1], firsts[row], firsts[row]
        while above < end and here < firsts[row + 1]:
            if lefts[here] <= rights[above] + 1 and lefts[above] <= rights[here] + 1:
                parents[root(here)] = root(above)
            if rights[above] < rights[here]:
                above += 1
            else:
                here += 1
    roots = np.array([root(n) for n in range(len(rows))], int)
    order = np.argsort(roots, kind="stable")
    for runs in np.split(order, np.flatnonzero(np.diff(roots[order])) + 1):
        if len(runs):
            x, y = np.concatenate([starts[runs], ends[runs]]), np.tile(rows[runs], 2)
            yield np.stack([x, y], axis=1)


def smallest_rectangle(points: Array) -> npt.NDArray[np.float64]:
    """Return the corners (4, 2) of the smallest rotated rectangle around points (n, 2).

    One of its sides lies on a side of the convex hull. In the order of `TextBoxes`.
    """
    hull = _convex_hull(points)
    sides = np.diff(np.concatenate([hull, hull[:1]]), axis=0)
    angles = np.unique(np.arctan2(sides[:, 1], sides[:, 0]) % (np.pi / 2))
    axes = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    along = hull @ axes.T
    across = hull @ np.stack([-axes[:, 1], axes[:, 0]])
    areas = np.ptp(along, axis=0) * np.ptp(across, axis=0)
    n = int(areas.argmin())
    (x0, x1), (y0, y1) = ((v[:, n].min(), v[:, n].max()) for v in (along, across))
    turned = np.array([[x0, y0], [x1, y0], [x1, y1], [x0, y1]])
    cos, sin = axes[n]
    corners = turned @ np.array([[cos, sin], [-sin, cos]])
    # The angle is below 90 degrees: beyond 45, the line runs along the other axis.
    return np.roll(corners, 1, axis=0) if angles[n] > np.pi / 4 else corners


def _convex_hull(points: Array) -> npt.NDArray[np.float64]:
    """Return the corners of the convex hull in turn (Andrew's monotone chain)."""
    ordered = np.unique(points, axis=0).astype(np.float64)
    chains = []
    for way in (ordered, ordered[::-1]):
        chain: list[tuple[float, float]] = []
        for x, y in way.tolist():
            while len(chain) > 1:
                (ax, ay), (bx, by) = chain[-2:]
                if (bx - ax) * (y - ay) > (by - ay) * (x - ax):
                    break
                chain.pop()
            chain.append((x, y))
        chains += chain[:-1] or chain
    return np.array(chains)


def _sides(corners: Array) -> tuple[float, float]:
    """Return the width and the height of a rectangle, or of what is nearly one."""
    lengths = np.linalg.norm(corners - np.roll(corners, -1, axis=0), axis=1)
    return float(max(lengths[0], lengths[2])), float(max(lengths[1], lengths[3]))


def _moved_out(corners: Array, distance: float) -> npt.NDArray[np.float64]:
    """Return a rectangle whose sides lie further out."""
    right, down = corners[1] - corners[0], corners[3] - corners[0]
    right, down = (side / np.linalg.norm(side) * distance for side in (right, down))
    outwards = np.array([-right - down, right - down, right + down, down - right])
    moved: Array = corners + outwards
    return moved


def _mean_within(heat: Array, corners: Array) -> float:
    """Return the mean of the pixels in a polygon, its border included."""
    low = np.clip(np.floor(corners.min(0)).astype(int), 0, None)
    high = np.ceil(corners.max(0)).astype(int) + 1
    part = heat[low[1] : high[1], low[0] : high[0]]
    mask = Image.new("1", part.shape[::-1])
    ImageDraw.Draw(mask).polygon([*map(tuple, corners - low)], fill=1, outline=1)
    return float(part[np.asarray(mask)].mean())


def _numbers(x: object, name: str, axes: int, wanted: str) -> npt.NDArray[np.float64]:
    array = finite_numbers(x, name)
    if array.ndim != axes or array.size == 0:
        raise ValueError(f"{name} must be {wanted}, got shape {array.shape}")
    return array
