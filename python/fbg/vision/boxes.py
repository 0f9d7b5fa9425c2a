"""Boxes of detectors: outputs of YOLO networks as boxes, classes and scores, without duplicates.

YOLOv8: (N, 4 + classes, boxes): centre x, y, width, height in pixels; a score for each class.
YOLOX:  (N, boxes, 5 + classes): the same with the score of any object before those of classes;
        the network gives for the cell (i, j) of a grid with stride s
        x = (j + tx) s   y = (i + ty) s   w = exp(tw) s   h = exp(th) s
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg.arrays import Array, require_integer, require_number
from fbg.vision.arguments import finite_numbers
from fbg.vision.geometry import ImageTransform, require_size


@dataclass(frozen=True)
class Detections:
    """What was found in one picture, best first.

    boxes: (n, 4), x0, y0, x1, y1 in pixels of the input. scores: (n). classes: (n), from 0.
    """

    boxes: Array
    scores: Array
    classes: Array

    def in_image(self, transform: ImageTransform) -> Detections:
        """Return the same with boxes in pixels of the picture, which has this transform."""
        return replace(self, boxes=transform.boxes_to_image(self.boxes))


def nms(
    boxes: object,
    scores: object,
    classes: object = None,
    *,
    iou: float = 0.45,
    limit: int | None = None,
) -> npt.NDArray[np.int64]:
    """Return which boxes remain, best first: non-maximum suppression, greedy and exact.

    boxes: (n, 4), x0, y0, x1, y1. scores: (n). classes: (n); boxes of two classes never suppress
    each other; None: all are one. iou: a box whose intersection with a better one is a larger
    share of their union is left out. limit: the most that are returned. The first of equal
    scores is better. Raises TypeError or ValueError for other arguments.

    >>> boxes = np.array([[0, 0, 10, 10], [1, 0, 11, 10], [20, 0, 30, 10.0]])
    >>> nms(boxes, np.array([0.8, 0.9, 0.3]))
    array([1, 2])
    """
    corners = _numbers(boxes, "nms: boxes", (None, 4))
    values = _numbers(scores, "nms: scores", (len(corners),))
    share = _share(iou, "nms: iou")
    most = len(corners) if limit is None else require_integer(limit, "nms: limit", 0, 1 << 31)
    kinds = np.zeros(len(corners), int)
    if classes is not None:
        kinds = _numbers(classes, "nms: classes", (len(corners),))
    left = np.argsort(-values, kind="stable")
    areas = np.prod(np.maximum(corners[:, 2:] - corners[:, :2], 0), axis=1)
    kept: list[int] = []
    while len(left) and len(kept) < most:
        best, left = int(left[0]), left[1:]
        kept.append(best)
        low = np.maximum(corners[left, :2], corners[best, :2])
        high = np.minimum(corners[left, 2:], corners[best, 2:])
        common = np.prod(np.maximum(high - low, 0), axis=1)
        # common / union > share, without a division by an empty union
        covered = common > share * (areas[left] + areas[best] - common)
        left = left[~(covered & (kinds[left] == kinds[best]))]
    return np.array(kept, np.int64)


def decode_yolo(
    output: object, *, threshold: float = 0.25, iou: float = 0.45, limit: int = 300
) -> list[Detections]:
    """Return what YOLOv8 and its successors found in each picture.

    output: (N, 4 + classes, boxes), as the network returns it. threshold: the least score, from 0
    to 1. iou, limit: as in `nms`, which is applied. Raises TypeError or ValueError for other
    arguments, among them an output with fewer boxes than rows, which is of another kind.

    >>> output = np.zeros((1, 6, 9), np.float32)
    >>> output[0, :, 3] = 32, 16, 10, 4, 0.1, 0.9  # of class 1
    >>> decode_yolo(output)[0].boxes
    array([[27., 14., 37., 18.]])
    """
    values = _output(output, "decode_yolo: output", "(N, 4 + classes, boxes)")
    if not 5 <= values.shape[1] <= values.shape[2]:
        raise ValueError(
            "decode_yolo: output must be (N, 4 + classes, boxes) with more boxes than rows, got "
            f"shape {values.shape}; decode_yolox takes (N, boxes, 5 + classes)"
        )
    rows = values.transpose(0, 2, 1)
    options = _Options(_share(threshold, "decode_yolo: threshold"), iou, limit)
    return [options.found(one[:, :4], one[:, 4:]) for one in rows]


def decode_yolox(
    output: object,
    size: Sequence[int] | None,
    *,
    strides: Sequence[int] = (8, 16, 32),
    threshold: float = 0.25,
    iou: float = 0.45,
    limit: int = 300,
) -> list[Detections]:
    """Return what YOLOX, or YOLOv5, found in each picture.

    output: (N, boxes, 5 + classes), as the network returns it.
    size: height and width of the network's input, for grids of the strides; None if the network
        itself returns pixels, as YOLOv5 does.
    threshold: the least product of the scores of an object and of its class.
    iou, limit: as in `nms`.

    Raises TypeError or ValueError for other arguments, among them an output that lacks a box for
    some cell of the grids.

    >>> output = np.zeros((1, 21, 6), np.float32)  # 4 x 4, 2 x 2 and 1 x 1 cells
    >>> output[0, 5] = 0.5, 0.5, 0, 0, 1, 0.9
    >>> decode_yolox(output, (32, 32))[0].boxes
    array([[ 8.,  8., 16., 16.]])
    """
    values = _output(output, "decode_yolox: output", "(N, boxes, 5 + classes)")
    if values.shape[2] < 6:
        wanted = "(N, boxes, 5 + classes)"
        raise ValueError(f"decode_yolox: output must be {wanted}, got shape {values.shape}")
    centres, extents = values[..., :2], values[..., 2:4]
    if size is not None:
        cells, steps = _grid(size, strides)
        if len(cells) != values.shape[1]:
            raise ValueError(
                f"decode_yolox: output must have {len(cells)} boxes for size {tuple(size)} and "
                f"strides {tuple(strides)}, got shape {values.shape}"
            )
        centres = (centres + cells) * steps
        extents = np.exp(np.minimum(extents, 50)) * steps  # bounded, so that nothing overflows
    places = np.concatenate([centres, extents], axis=2)
    scores = values[..., 4:5] * values[..., 5:]
    options = _Options(_share(threshold, "decode_yolox: threshold"), iou, limit)
    return [options.found(*one) for one in zip(places, scores, strict=True)]


@dataclass(frozen=True)
class _Options:
    threshold: float
    iou: float
    limit: int

    def found(self, places: Array, scores: Array) -> Detections:
        """Return the detections of centres and extents (n, 4) with a score for each class."""
        kinds = scores.argmax(axis=1)
        best = scores[np.arange(len(scores)), kinds]
        good = np.flatnonzero(best >= self.threshold)
        centre, half = places[good, :2], places[good, 2:] / 2
        boxes = np.concatenate([centre - half, centre + half], axis=1)
        kept = nms(boxes, best[good], kinds[good], iou=self.iou, limit=self.limit)
        return Detections(boxes[kept], best[good][kept], kinds[good][kept])


def _grid(size: Sequence[int], strides: Sequence[int]) -> tuple[Array, Array]:
    """Return x and y of the cells of all grids, (cells, 2), and their strides, (cells, 1)."""
    height, width = require_size(size, "decode_yolox: size")
    cells, steps = [], []
    for stride in strides:
        step = require_integer(stride, "decode_yolox: strides", 1, 1 << 20)
        rows, columns = np.mgrid[: height // step, : width // step]
        cells.append(np.stack([columns.ravel(), rows.ravel()], axis=1))
        steps.append(np.full((rows.size, 1), step))
    return np.concatenate(cells), np.concatenate(steps)


def _output(output: object, name: str, wanted: str) -> npt.NDArray[np.float64]:
    array = finite_numbers(output, name)
    if array.ndim != 3:
        raise ValueError(f"{name} must be {wanted}, got shape {array.shape}")
    return array


def _numbers(x: object, name: str, shape: tuple[int | None, ...]) -> npt.NDArray[Any]:
    """Return finite numbers of a shape, in which None is any size, as float64."""
    array = finite_numbers(x, name)
    fits = array.ndim == len(shape) and all(
        want in (None, got) for want, got in zip(shape, array.shape, strict=True)
    )
    if not fits:
        sizes = ", ".join("n" if size is None else str(size) for size in shape)
        raise ValueError(f"{name} must have shape ({sizes}), got {array.shape}")
    return array


def _share(value: float, name: str) -> float:
    share = require_number(value, name)
    if not 0 <= share <= 1:
        raise ValueError(f"{name} must be within [0, 1], got {value}")
    return share
