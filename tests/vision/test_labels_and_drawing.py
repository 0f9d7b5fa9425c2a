"""Labels of classes, and pictures with boxes and labels."""

import numpy as np
import pytest

from fbg.vision import draw_boxes, read_image, read_labels, save_image, top_k

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


def test_other_arguments_are_refused():
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
