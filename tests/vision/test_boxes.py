"""Outputs of detectors: boxes where the network says, as a plain loop keeps them."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fbg.vision import ImageTransform, decode_yolo, decode_yolox, nms


def overlap(a, b):
    """Intersection over union."""
    width = max(0, min(a[2], b[2]) - max(a[0], b[0]))
    height = max(0, min(a[3], b[3]) - max(a[1], b[1]))
    area = sum((box[2] - box[0]) * (box[3] - box[1]) for box in (a, b))
    return width * height / (area - width * height) if area > width * height else 0


def plain_nms(boxes, scores, classes, iou):
    kept = []
    for n in sorted(range(len(boxes)), key=lambda n: -scores[n]):
        others = (m for m in kept if classes[m] == classes[n])
        if all(overlap(boxes[m], boxes[n]) <= iou for m in others):
            kept.append(n)
    return kept


# Small integers: their areas and quotients are exact, or far from the limits below.
BOXES = st.lists(
    st.tuples(*[st.integers(0, 12)] * 4, st.integers(0, 5), st.integers(0, 2)), max_size=25
)


@settings(max_examples=60, deadline=None)
@given(BOXES, st.sampled_from([0.0, 0.3001, 0.4501, 0.7001, 1.0]), st.booleans())
def test_what_remains_is_what_a_plain_loop_keeps(drawn, iou, by_class):
    boxes = np.array([(x, y, x + w, y + h) for x, y, w, h, _, _ in drawn], float).reshape(-1, 4)
    scores = np.array([score / 5 for *_, score, _ in drawn])
    classes = np.array([kind * by_class for *_, kind in drawn], int)
    wanted = plain_nms(boxes, scores, classes, iou)
    assert nms(boxes, scores, classes if by_class else None, iou=iou).tolist() == wanted
    assert nms(boxes, scores, classes, iou=iou, limit=3).tolist() == wanted[:3]


def test_yolo_returns_the_best_class_of_each_box():
    output = np.zeros((2, 7, 40), np.float32)
    output[0, :, 5] = 20, 30, 10, 20, 0.1, 0.8, 0.2
    output[0, :, 6] = 21, 30, 10, 20, 0.1, 0.7, 0.2  # the same object
    output[0, :, 7] = 21, 30, 10, 20, 0.1, 0.2, 0.6  # another class
    output[0, :, 8] = 90, 90, 10, 20, 0.2, 0.1, 0.1  # below the threshold
    first, second = decode_yolo(output)
    assert first.boxes.tolist() == [[15, 20, 25, 40], [16, 20, 26, 40]]
    assert first.classes.tolist() == [1, 2]
    np.testing.assert_allclose(first.scores, [0.8, 0.6], rtol=1e-6)
    assert second.boxes.shape == (0, 4) and len(second.scores) == len(second.classes) == 0
    transform = ImageTransform(0.5, 0.5, 5, 10, 40, 36)
    there = first.in_image(transform)
    assert there.boxes.tolist() == [[20, 20, 36, 40], [22, 20, 36, 40]]  # cut off at the border
    np.testing.assert_array_equal(there.scores, first.scores)
    assert len(decode_yolo(output, limit=1)[0].scores) == 1


def test_yolox_counts_from_the_cells_of_its_grids():
    size, strides, rng = (32, 64), (8, 16, 32), np.random.default_rng(0)
    cells = [
        (row, column, stride)
        for stride in strides
        for row in range(32 // stride)
        for column in range(64 // stride)
    ]
    output = rng.uniform(-1, 1, (1, len(cells), 7)).astype(np.float32)
    output[..., 4:] = np.abs(output[..., 4:])
    found = decode_yolox(output, size, strides=strides, threshold=0, iou=1)[0]
    wanted = []
    for (row, column, stride), (x, y, w, h, thing, *kinds) in zip(cells, output[0], strict=True):
        cx, cy = (column + x) * stride, (row + y) * stride
        half_w, half_h = np.exp(w) * stride / 2, np.exp(h) * stride / 2
        kind = int(np.argmax(kinds))
        box = (cx - half_w, cy - half_h, cx + half_w, cy + half_h)
        wanted.append((thing * kinds[kind], kind, *box))
    wanted = np.array(sorted(wanted, key=lambda row: -row[0]))
    np.testing.assert_allclose(found.scores, wanted[:, 0], rtol=1e-5)
    np.testing.assert_array_equal(found.classes, wanted[:, 1])
    np.testing.assert_allclose(found.boxes, wanted[:, 2:], rtol=1e-4, atol=1e-4)


def test_yolov5_returns_pixels():
    output = np.zeros((1, 3, 6), np.float32)
    output[0, 1] = 20, 30, 10, 20, 0.9, 0.9
    found = decode_yolox(output, None)[0]
    assert found.boxes.tolist() == [[15, 20, 25, 40]]


def test_other_arguments_are_refused():
    boxes, scores = np.zeros((3, 4)), np.zeros(3)
    yolo, yolox = np.zeros((1, 6, 30)), np.zeros((1, 21, 6))
    for call, error, message in (
        (lambda: nms(boxes[:, :3], scores), ValueError, r"boxes must have shape \(n, 4\)"),
        (lambda: nms(boxes, scores[1:]), ValueError, r"scores must have shape \(3\), got \(2,\)"),
        (lambda: nms(boxes, scores, scores[1:]), ValueError, "classes must have shape"),
        (lambda: nms(boxes * np.nan, scores), ValueError, "boxes must be finite"),
        (lambda: nms(boxes, scores, iou=1.5), ValueError, r"iou must be within \[0, 1\]"),
        (lambda: nms(boxes, scores, iou_threshold=1), TypeError, "argument 'iou_threshold'"),
        (lambda: decode_yolo(yolo[0]), ValueError, r"output must be \(N, 4 \+ classes, boxes\)"),
        (lambda: decode_yolo(yolox), ValueError, "decode_yolox takes"),
        (lambda: decode_yolo(yolo, threshold=25), ValueError, "threshold must be within"),
        (lambda: decode_yolo(yolo.astype(str)), TypeError, "output must be numbers"),
        (lambda: decode_yolox(yolox, (64, 64)), ValueError, "must have 84 boxes for size"),
        (lambda: decode_yolox(yolox[..., :5], None), ValueError, r"\(N, boxes, 5 \+ classes\)"),
        (lambda: decode_yolox(yolox, (32, 32), strides=(0,)), ValueError, "strides must be"),
    ):
        with pytest.raises(error, match=message):
            call()
