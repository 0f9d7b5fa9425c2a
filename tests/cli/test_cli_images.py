"""`fbg classify-image` and `fbg detect`: networks from files on pictures."""

import json

import numpy as np
import pytest

from fbg.vision import read_image, save_image
from helpers import small_detectors
from helpers.commands import check_mistakes, succeed


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """A directory with networks, a picture whose left half is red, and labels."""
    directory = tmp_path_factory.mktemp("pictures")
    small_detectors.write_files(directory)
    return directory


def test_classes_are_printed_and_drawn(files):
    command = ("classify-image", files / "classifier.onnx", files / "photo.png")
    labels = ("--labels", files / "colours.txt")
    found = succeed(*command, *labels, "--top-k", 2)
    assert [line.split()[0] for line in found.stdout.splitlines()] == ["label", "red", "green"]
    assert "becomes x: imagenet, 32 x 32, RGB, NCHW" in found.stderr
    hits = json.loads(succeed(*command, *labels, "--softmax", "--json").stdout)["classes"]
    assert sum(hit["score"] for hit in hits) == pytest.approx(1)
    assert json.loads(succeed(*command, "--json").stdout)["classes"][0]["label"] == "0"
    output = files / "classes.png"
    succeed(*command, *labels, "--output", output)
    drawn, photo = read_image(output), read_image(files / "photo.png")
    assert drawn.shape == photo.shape and (drawn != photo).any()


@pytest.mark.parametrize("kind", ["yolo", "yolox", "yolov5"])
def test_objects_are_printed_where_they_are_and_drawn(files, kind):
    preset = "yolox" if kind == "yolox" else "yolo"
    command = ("detect", files / f"{kind}.onnx", files / "photo.png", "--format", kind)
    command = (*command, "--preset", preset, "--labels", files / "things.txt")
    (found,) = json.loads(succeed(*command, "--json").stdout)["objects"]
    assert found["label"] == "dog" and found["score"] == pytest.approx(0.81, abs=0.1)
    # The box 8, 16, 24, 32 of 64 pixels, of which the picture of 80 x 40 fills all, or the middle.
    top = 0 if kind == "yolox" else 16
    scale = 80 / 64
    wanted = [8 * scale, (16 - top) * scale, 24 * scale, (32 - top) * scale]
    np.testing.assert_allclose(found["box"], wanted, atol=1e-3)
    output = files / f"{kind}.png"
    shown = succeed(*command, "--output", output)
    assert shown.stdout.splitlines()[0].split() == ["label", "score", "x0", "y0", "x1", "y1"]
    drawn, photo = read_image(output), read_image(files / "photo.png")
    assert (drawn != photo).any()
    none = succeed(*command, "--threshold", 0.99)
    assert len(none.stdout.splitlines()) == 1


def test_a_size_that_is_open_is_given(files):
    command = ("classify-image", files / "open.onnx", files / "photo.png")
    assert "imagenet, 224 x 224" in succeed(*command).stderr
    assert "imagenet, 24 x 48" in succeed(*command, "--size", "24,48").stderr


def test_mistakes_are_told(files):
    photo, net = files / "photo.png", files / "classifier.onnx"
    (files / "cut.png").write_bytes(photo.read_bytes()[:60])
    (files / "two.txt").write_text("a\nb\n")
    (files / "empty.png").write_bytes(b"")
    save_image(np.zeros((4, 4), np.uint8), files / "there.png")
    yolo = files / "yolo.onnx"
    for command, cases in (
        (
            "classify-image",
            (
                ((net, files / "none.png"), 1, "none.png: no such file"),
                ((net, files / "cut.png"), 1, "cut.png' must be a whole picture"),
                ((net, files / "empty.png"), 1, "empty.png' must be a whole picture"),
                ((net, photo, "--labels", files / "two.txt"), 1, "a list of 3 names, got 2"),
                ((net, photo, "--labels", photo), 1, "is not text in UTF-8"),
                ((net, photo, "--output", files / "a.txt"), 1, "--output must end in .png"),
                ((net, photo, "--output", files / "there.png"), 1, "pass --overwrite"),
                ((net, photo, "--size", "32"), 2, "--size must be H,W, got 32"),
                ((net, photo, "--size", "8,8"), 2, "the network takes 32,32"),
                ((files / "two.txt", photo), 1, "is not an ONNX file"),
                ((files / "pair.onnx", photo), 1, "must have one input and one output, has 2"),
                ((yolo, photo), 1, "scores must be (N, classes)"),
            ),
        ),
        (
            "detect",
            (
                ((yolo, photo, "--labels", files / "colours.txt"), 1, "a list of 2 names, got 3"),
                ((yolo, photo, "--format", "yolox"), 1, "output must"),
                ((yolo, photo, "--threshold", 2), 2, "0<=x<=1"),
                ((net, photo), 1, "output must be (N, 4 + classes, boxes)"),
            ),
        ),
    ):
        check_mistakes(cases, command)
