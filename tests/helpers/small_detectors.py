"""Networks for pictures whose results are known: a classifier of colours, and detectors.

The detectors find one dog at 8, 16, 24, 32 of 64 x 64 pixels, whatever the picture shows.
"""

from __future__ import annotations

import numpy as np
import onnx

from fbg.vision import read_image, save_image
from helpers.onnx_models import make_model, node

F32 = np.float32


def classifier(sizes):
    """Scores of red, green and blue: the mean of each channel, (1, 3)."""
    nodes = [node("GlobalAveragePool", ["x"], "mean"), node("Flatten", ["mean"], "y")]
    return make_model(nodes, {"x": (F32, (1, 3, *sizes))}, {"y": (F32, (1, 3))})


def detector(output):
    """A network for 64 x 64 pixels that returns the output."""
    nodes = [
        node("ReduceMean", ["x"], "mean", keepdims=0),
        node("Mul", ["mean", "zero"], "nothing"),
        node("Add", ["nothing", "output"], "y"),
    ]
    constants = {"zero": F32(0), "output": output}
    return make_model(nodes, {"x": (F32, (1, 3, 64, 64))}, {"y": (F32, output.shape)}, constants)


def outputs():
    """What YOLOv8, YOLOX and YOLOv5 return for the dog, class 1 of 2."""
    yolo = np.zeros((1, 6, 84), F32)
    yolo[0, :, 7] = 16, 24, 16, 16, 0.1, 0.81
    yolov5 = np.zeros((1, 84, 7), F32)
    yolov5[0, 7] = 16, 24, 16, 16, 0.9, 0.1, 0.9
    yolox = np.zeros((1, 84, 7), F32)
    cell = 3 * 8 + 2  # of the first grid: x = (2 + 0) * 8, y = (3 + 0) * 8
    yolox[0, cell] = 0, 0, np.log(2), np.log(2), 0.9, 0.1, 0.9
    return {"yolo": yolo, "yolox": yolox, "yolov5": yolov5}


def write_example(directory):
    """Write what pages name: a classifier, a detector, a photo and their labels."""
    write_files(directory)
    for name, other in (
        ("classifier.onnx", "path/to/classifier.onnx"),
        ("yolo.onnx", "path/to/detector.onnx"),
        ("colours.txt", "classes.txt"),
        ("things.txt", "objects.txt"),
    ):
        (directory / name).rename(directory / other)
    save_image(read_image(directory / "photo.png"), directory / "photo.jpg")


def write_files(directory):
    """Write the networks, a picture of 80 x 40 that is mostly red, and files with labels."""
    onnx.save(classifier((32, 32)), directory / "classifier.onnx")
    onnx.save(classifier(("h", "w")), directory / "open.onnx")
    for name, output in outputs().items():
        onnx.save(detector(output), directory / f"{name}.onnx")
    like = dict.fromkeys(("a", "b"), (F32, (1, 3, 4, 4)))
    onnx.save(make_model([node("Add", ["a", "b"], "y")], like, ["y"]), directory / "pair.onnx")
    photo = np.zeros((40, 80, 3), np.uint8)
    photo[..., 0], photo[:, :30, 1] = 200, 120
    save_image(photo, directory / "photo.png")
    (directory / "colours.txt").write_text("red\ngreen\nblue\n")
    (directory / "things.txt").write_text("cat\ndog\n")
