"""What networks for pictures return: boxes, labels, text, and where these lie."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from fbg.vision import (
    ImageTransform,
    ReadText,
    center_crop,
    crop_line,
    ctc_greedy,
    decode_db,
    decode_yolo,
    decode_yolox,
    draw_boxes,
    letterbox,
    nms,
    read_image,
    read_labels,
    resize,
    save_image,
    top_k,
)
from fbg.vision.text import components, smallest_rectangle

# Outputs of detectors: boxes where the network says, as a plain loop keeps them.


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


# Sizes of pictures, and the way back from the input of a network to the picture.

SIDES = st.integers(1, 80)


@settings(max_examples=30, deadline=None)
@given(SIDES, SIDES, SIDES, SIDES, st.sampled_from(["center", "top-left"]))
def test_a_letterbox_keeps_the_proportions_and_fills_the_rest(h, w, high, wide, align):
    frame, t = letterbox(np.full((h, w), 255, np.uint8), (high, wide), fill=0, align=align)
    assert frame.shape == (high, wide, 3)
    rows, columns = frame[..., 0].any(1).nonzero()[0], frame[..., 0].any(0).nonzero()[0]
    assert (t.top, t.left) == (rows[0], columns[0])
    inner = (len(rows), len(columns))
    assert inner[0] == high or inner[1] == wide
    np.testing.assert_allclose((t.scale_y * h, t.scale_x * w), inner)
    ideal = min(high / h, wide / w)
    assert abs(inner[0] - max(1, h * ideal)) <= 0.5 and abs(inner[1] - max(1, w * ideal)) <= 0.5
    assert (frame[rows[0] : rows[-1] + 1, columns[0] : columns[-1] + 1] == 255).all()
    if align == "top-left":
        assert (t.top, t.left) == (0, 0)
    else:
        assert abs(2 * t.top + inner[0] - high) <= 1 and abs(2 * t.left + inner[1] - wide) <= 1


@settings(max_examples=30, deadline=None)
@given(SIDES, SIDES, SIDES, SIDES, st.lists(st.floats(0, 1), min_size=4, max_size=4))
def test_boxes_return_to_the_picture(h, w, high, wide, shares):
    _, transform = letterbox(np.zeros((h, w), np.uint8), (high, wide))
    x0, x1 = sorted(shares[:2])
    y0, y1 = sorted(shares[2:])
    box = np.array([[x0 * w, y0 * h, x1 * w, y1 * h]])
    there = transform.points_to_input(box.reshape(-1, 2, 2)).reshape(-1, 4)
    assert (there >= -1e-9).all() and (there <= np.array([wide, high] * 2) + 1e-9).all()
    np.testing.assert_allclose(transform.boxes_to_image(there), box, atol=1e-9 * max(h, w))
    whole = transform.boxes_to_image(np.array([-1e9, -1e9, 1e9, 1e9]))
    assert whole.tolist() == [0, 0, w, h]


@settings(max_examples=30, deadline=None)
@given(SIDES, SIDES, st.integers(1, 60))
def test_the_short_side_decides(h, w, short):
    found = resize(np.zeros((h, w), np.uint8), short).shape[:2]
    assert min(found) == short
    assert max(found) == short * max(h, w) // min(h, w)
    assert (found[0] <= found[1]) == (h <= w) or found[0] == found[1]


def test_pillow_resizes():
    picture = np.random.default_rng(0).integers(0, 256, (31, 47, 3), np.uint8)
    wanted = Image.fromarray(picture).resize((10, 20), Image.Resampling.BICUBIC)
    np.testing.assert_array_equal(resize(picture, (20, 10), resample="bicubic"), wanted)
    np.testing.assert_array_equal(resize(picture, (31, 47)), picture)


def test_the_middle_is_cropped():
    picture = np.arange(7 * 8, dtype=np.uint8).reshape(7, 8)
    np.testing.assert_array_equal(center_crop(picture, (3, 4))[..., 0], picture[2:5, 2:6])
    np.testing.assert_array_equal(center_crop(picture, (7, 8))[..., 0], picture)


def test_other_sizes_are_refused():
    picture = np.zeros((5, 9), np.uint8)
    for call, error, message in (
        (lambda: center_crop(picture, (6, 2)), ValueError, "size must fit into the picture of 5 x"),
        (lambda: resize(picture, 0), ValueError, r"size must be within \[1, "),
        (lambda: resize(picture, (3, 0)), ValueError, r"resize: size must be within \[1, "),
        (lambda: resize(picture, (3, 4, 5)), ValueError, r"size must be \(height, width\), got"),
        (lambda: resize(picture, 2.5), TypeError, "size must be an integer"),
        (lambda: resize(picture, 9, resample="cubic"), ValueError, "resample must be 'nearest', "),
        (lambda: letterbox(picture, (4, 4), fill=256), ValueError, "fill must be within"),
        (lambda: letterbox(picture, (4, 4), align="left"), ValueError, "align must be 'center' or"),
        (lambda: letterbox(picture[:0], (4, 4)), ValueError, "image must have pixels, got 0 x 9"),
    ):
        with pytest.raises(error, match=message):
            call()
    with pytest.raises(ValueError, match=r"boxes must be \(\.\.\., 4\), got shape \(3,\)"):
        ImageTransform(1, 1, 0, 0, 5, 5).boxes_to_image(np.zeros(3))


def test_a_long_thin_picture_does_not_become_too_large():
    with pytest.raises(ValueError, match="the resized picture must have at most 67108864 pixels"):
        resize(np.zeros((1, 60000), np.uint8), 256)


# Labels of classes, and pictures with boxes and labels.

BLACK = np.zeros((120, 160, 3), np.uint8)


def test_the_best_classes_come_first_and_of_equal_ones_the_first():
    scores = np.array([[1, 3, 2, 3], [0, 0, 0, 0]], np.float32)
    first, second = top_k(scores, 3, ["a", "b", "c", "d"])
    assert [hit["label"] for hit in first] == ["b", "d", "c"]
    assert [hit["score"] for hit in first] == [3, 3, 2]
    assert [hit["label"] for hit in second] == ["a", "b", "c"]
    assert [hit["label"] for hit in top_k(scores[:, :, None, None], 9)[0]] == ["1", "3", "2", "0"]
    likely = top_k(scores * 1000, 4, softmax=True)
    assert [hit["score"] for hit in likely[0]] == [0.5, 0.5, 0, 0]
    assert sum(hit["score"] for hit in likely[1]) == 1


def test_labels_are_lines(tmp_path):
    path = tmp_path / "labels.txt"
    path.write_bytes("\ufeffcat\r\n\r\nWürger \n\n".encode())
    assert read_labels(path) == ["cat", "", "Würger"]
    path.write_bytes(b"")
    assert read_labels(path) == []
    path.write_bytes(b"\xff\xfe")
    with pytest.raises(ValueError, match=r"labels\.txt is not text in UTF-8"):
        read_labels(path)


def test_boxes_and_texts_are_drawn():
    boxes = np.array([[10, 40, 60, 90], [80, 40, 150, 110]])
    drawn = draw_boxes(BLACK, boxes, ["cat", ""], np.array([0, 1]), width=1)
    assert not BLACK.any()
    assert drawn[40, 10:61].any(1).all() and drawn[40:91, 60].any(1).all()
    assert (drawn[60, 10] != drawn[60, 80]).any()  # the colour of another class
    assert not drawn[45:85, 15:55].any()  # nothing inside
    assert drawn[25:39, 10:40].any() and not drawn[25:39, 80:110].any()
    polygon = draw_boxes(BLACK, np.array([[[10, 10], [50, 20], [30, 90]]]))
    assert polygon[10, 10].any() and polygon[90, 30].any() and not polygon[90, 50].any()
    np.testing.assert_array_equal(draw_boxes(BLACK, np.zeros((0, 4))), BLACK)
    draw_boxes(BLACK, np.array([[-50, -50, 500, 500]]), ["out of the picture, ä and 字"])


def test_pictures_are_written_whole(tmp_path):
    picture = np.random.default_rng(0).integers(0, 256, (20, 30, 3), np.uint8)
    for name, exact in (("a.png", True), ("a.JPG", False), ("a.webp", False)):
        save_image(picture, tmp_path / name)
        found = read_image(tmp_path / name)
        assert found.shape == picture.shape
        assert not exact or (found == picture).all()
    with pytest.raises(ValueError, match=r"path must end in \.png, \.jpg, .* got .*a\.txt"):
        save_image(picture, tmp_path / "a.txt")
    assert {path.name for path in tmp_path.iterdir()} == {"a.png", "a.JPG", "a.webp"}


def test_other_labels_are_refused():
    scores, boxes = np.zeros((1, 3)), np.zeros((2, 4))
    for call, error, message in (
        (
            lambda: top_k(scores, 2, ["a", "b"]),
            ValueError,
            "labels must be a list of 3 names, got 2",
        ),
        (
            lambda: top_k(scores, 2, "abc"),
            ValueError,
            "labels must be a list of 3 names, got 'abc'",
        ),
        (lambda: top_k(scores, 0), ValueError, "k must be within"),
        (lambda: top_k(scores[0]), ValueError, r"scores must be \(N, classes\), got shape \(3,\)"),
        (lambda: top_k(np.zeros((1, 3, 2))), ValueError, r"scores must be \(N, classes\)"),
        (lambda: top_k(scores * np.nan), ValueError, "scores must be finite"),
        (lambda: draw_boxes(BLACK, boxes[:, :3]), ValueError, r"boxes must be \(n, 4\) or"),
        (lambda: draw_boxes(BLACK, boxes, ["a"]), ValueError, "texts must hold 2 texts, got 1"),
        (
            lambda: draw_boxes(BLACK, boxes, None, np.zeros(3)),
            ValueError,
            "classes must have shape",
        ),
        (lambda: draw_boxes(BLACK, boxes + np.inf), ValueError, "boxes must be finite"),
        (lambda: draw_boxes(BLACK[:0], boxes), ValueError, "image must have pixels"),
    ):
        with pytest.raises(error, match=message):
            call()


# Decoding of text: CTC as a plain loop does it, and rectangles around lines at any angle.


def plain_ctc(scores, characters, blank):
    text, kept, last = "", [], blank
    for step in scores:
        best = int(step.argmax())
        if best not in (blank, last):
            text += characters[best - (best > blank)]
            kept.append(step[best])
        last = best
    return text, np.mean(kept) if kept else 0


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, 3), min_size=1, max_size=12), st.integers(0, 3), st.integers(0, 99))
def test_text_is_what_a_plain_loop_reads(best, blank, seed):
    scores = np.random.default_rng(seed).uniform(0, 0.5, (2, len(best), 4))
    scores[0, np.arange(len(best)), best] += 0.5
    found = ctc_greedy(scores, "xyz", blank=blank)
    for one, row in zip(found, scores, strict=True):
        text, score = plain_ctc(row, "xyz", blank)
        assert one.text == text
        assert one.score == pytest.approx(score)


def test_characters_may_be_longer_than_one():
    assert ctc_greedy(np.eye(3)[None, [1, 0, 2]], ["ffi", " "]) == [ReadText("ffi ", 1.0)]


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 14), st.integers(1, 14), st.integers(0, 10**6), st.floats(0.1, 0.9))
def test_components_are_those_that_a_flood_finds(height, width, seed, share):
    mask = np.random.default_rng(seed).uniform(size=(height, width)) < share
    left, wanted = {(int(x), int(y)) for y, x in np.argwhere(mask)}, []
    while left:
        edge = [left.pop()]
        part = set(edge)
        while edge:
            x, y = edge.pop()
            near = {(x + i, y + j) for i in (-1, 0, 1) for j in (-1, 0, 1)} & left
            left -= near
            part |= near
            edge += near
        wanted.append(part)
    found = [set(map(tuple, points.tolist())) for points in components(mask)]
    assert len(found) == len(wanted)
    for part in wanted:  # the ends of runs lie in one component, and reach as far as it does
        (ends,) = (points for points in found if points & part)
        assert ends <= part
        for axis in (0, 1):
            for end in (min, max):
                assert end(p[axis] for p in ends) == end(p[axis] for p in part)


@settings(max_examples=60, deadline=None)
@given(st.floats(-44, 44), st.floats(5, 60), st.floats(1, 4), st.lists(st.floats(0, 1), max_size=8))
def test_the_smallest_rectangle_is_found_at_any_angle(degrees, width, height, shares):
    angle = np.deg2rad(degrees)
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    wanted = np.array([[0, 0], [width, 0], [width, height], [0, height]]) @ turn
    inner = np.array([[a * width, (1 - a) * height] for a in shares]).reshape(-1, 2) @ turn
    found = smallest_rectangle(np.concatenate([wanted[::-1], inner]))
    np.testing.assert_allclose(found, wanted, atol=1e-7)


@pytest.mark.parametrize("degrees", [0, 7, -20, 40])
def test_lines_are_found_where_they_are(degrees):
    angle = np.deg2rad(degrees)
    right, down = (
        np.array([np.cos(angle), np.sin(angle)]),
        np.array([-np.sin(angle), np.cos(angle)]),
    )
    middle = np.array([100, 90])
    corners = [middle + right * x + down * y for x, y in ((-60, -6), (60, -6), (60, 6), (-60, 6))]
    heat = Image.new("L", (200, 180))
    ImageDraw.Draw(heat).polygon([*map(tuple, corners)], fill=230)
    found = decode_db(np.asarray(heat)[None, None] / np.float32(255))[0]
    distance = 120 * 12 * 1.6 / (2 * (120 + 12))
    wanted = np.array(corners) + distance * np.array(
        [-right - down, right - down, right + down, down - right]
    )
    assert found.corners.shape == (1, 4, 2)
    np.testing.assert_allclose(found.corners[0], wanted, atol=2.5)
    assert 0.8 < found.scores[0] <= 0.91
    there = found.in_image(ImageTransform(0.5, 0.25, 2, 4, 400, 400))
    np.testing.assert_allclose(there.corners, (found.corners - [2, 4]) / [0.5, 0.25])


def test_lines_that_are_small_or_unlikely_are_left_out():
    heat = np.zeros((2, 1, 60, 60), np.float32)
    heat[0, 0, 5:12, 5:50] = 0.9
    heat[0, 0, 20:27, 5:50] = 0.5  # above the threshold of a pixel, below that of a box
    heat[0, 0, 40:42, 5:50] = 0.9  # too low
    heat[0, 0, 50:57, 5:40] = 0.9
    first, second = decode_db(heat)
    assert first.corners[:, 0, 1].round().tolist() == [1, 46] and len(first.scores) == 2
    assert second.corners.shape == (0, 4, 2) and second.scores.shape == (0,)
    assert len(decode_db(heat, box_threshold=0.4)[0].scores) == 3
    assert len(decode_db(heat, min_side=1)[0].scores) == 3
    assert len(decode_db(heat, limit=1)[0].scores) == 1
    single = np.zeros((1, 1, 9, 9))
    single[0, 0, 4, 4] = 1
    assert len(decode_db(single, min_side=1)[0].scores) == 0


def test_a_line_is_cut_out_and_turned():
    picture = np.zeros((40, 60, 3), np.uint8)
    picture[10:20, 15:45] = np.arange(30, dtype=np.uint8)[None, :, None] * 8
    upright = crop_line(picture, np.array([[15, 10], [45, 10], [45, 20], [15, 20.0]]))
    np.testing.assert_array_equal(upright, picture[10:20, 15:45])
    turned = np.rot90(picture, -1)  # the first row is the last column
    corners = np.array([[30, 15], [30, 45], [20, 45], [20, 15.0]])
    np.testing.assert_array_equal(crop_line(turned, corners), picture[10:20, 15:45])


def test_other_scores_are_refused():
    heat, steps = np.zeros((1, 1, 9, 9)), np.zeros((1, 5, 4))
    for call, error, message in (
        (lambda: ctc_greedy(steps, "ab"), ValueError, "characters must be 3, one for each class"),
        (lambda: ctc_greedy(steps[0], "abc"), ValueError, r"scores must be \(N, steps, classes\)"),
        (lambda: ctc_greedy(steps, "abc", blank=4), ValueError, r"blank must be within \[0, 3\]"),
        (lambda: ctc_greedy(steps * np.nan, "abc"), ValueError, "scores must be finite"),
        (lambda: decode_db(heat[0]), ValueError, r"output must be \(N, 1, H, W\)"),
        (lambda: decode_db(heat.repeat(3, 1)), ValueError, r"got shape \(1, 3, 9, 9\)"),
        (lambda: decode_db(heat, min_side=0), ValueError, "min_side must be within"),
        (lambda: decode_db(heat, treshold=1), TypeError, "argument 'treshold'"),
        (lambda: crop_line(heat[0, 0].astype(np.uint8), heat[0, 0]), ValueError, r"be \(4, 2\)"),
    ):
        with pytest.raises(error, match=message):
            call()
