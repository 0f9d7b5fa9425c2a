"""What calibration takes: one item for each run, and a hint where an array has another meaning."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

import fbg
from helpers.onnx_models import make_model

IMAGES = np.random.default_rng(1).standard_normal((4, 3, 6, 7)).astype(np.float32)


def write(path: Path, batch: int | str, inputs: int = 1) -> Path:
    """Write a convolution of images, which are added up if there are several inputs."""
    weights = np.random.default_rng(0).standard_normal((8, 3, 3, 3)).astype(np.float32)
    names = [f"x{n}" for n in range(inputs)]
    nodes = [helper.make_node("Sum", names, ["s"]), helper.make_node("Conv", ["s", "w"], ["y"])]
    given = dict.fromkeys(names, (np.float32, (batch, 3, 6, 7)))
    onnx.save(make_model(nodes, given, ["y"], {"w": weights}, opset=17), path)
    return path


@pytest.mark.parametrize("batch", [1, "n"])
def test_an_array_of_images_is_told_that_its_first_axis_counts_runs(
    batch: int | str, tmp_path: Path
) -> None:
    path = write(tmp_path / "net.onnx", batch)
    with pytest.raises(ValueError, match=r"counts runs") as caught:
        fbg.load(path, dtype="int8", calibrate=IMAGES)
    message = str(caught.value)
    assert message.startswith(f"calibrate[0]: input 'x0' must be float32({batch}, 3, 6, 7)")
    assert f"must have shape (runs, {batch}, 3, 6, 7), got (4, 3, 6, 7)" in message
    assert message.endswith("pass calibrate[:, None]")
    wanted = fbg.load(path, dtype="int8", calibrate=[image[None] for image in IMAGES])
    loaded = fbg.load(path, dtype="int8", calibrate=IMAGES[:, None])
    assert np.array_equal(loaded(IMAGES[:1]), wanted(IMAGES[:1]))


def test_a_list_names_the_item_that_does_not_fit(tmp_path: Path) -> None:
    path = write(tmp_path / "net.onnx", 1)
    given = [IMAGES[:1], IMAGES[0]]
    with pytest.raises(ValueError, match=r"calibrate\[1\].*got shape \(3, 6, 7\).*counts runs"):
        fbg.load(path, dtype="int8", calibrate=given)


@pytest.mark.parametrize(
    ("wrong", "error", "said"),
    [
        ({"y": IMAGES[:1]}, ValueError, "there is no input 'y'; inputs are x0"),
        ({}, ValueError, "input 'x0' is missing"),
        (IMAGES[:1].astype(np.float64), TypeError, "input 'x0' must be float32, got float64"),
        ({"x0": IMAGES[0]}, ValueError, r"input 'x0' must be .*, got shape \(3, 6, 7\)"),
        ([[1.0]], TypeError, "input 'x0' must be an array, got list"),
        (IMAGES[:1] * np.float32(np.nan), ValueError, "tensor 's': .*got nan"),
    ],
)
def test_mistakes_name_the_run(
    wrong: object, error: type[Exception], said: str, tmp_path: Path
) -> None:
    path = write(tmp_path / "net.onnx", 1)
    with pytest.raises(error, match=rf"^calibrate\[1\]: {said}"):
        fbg.load(path, dtype="int8", calibrate=[IMAGES[:1], wrong])


@pytest.mark.parametrize("given", [{"x0": IMAGES}, "images.npz", b"x", 5])
def test_what_holds_no_runs_is_refused(given: object, tmp_path: Path) -> None:
    path = write(tmp_path / "net.onnx", 1)
    with pytest.raises(
        TypeError, match="calibrate must hold the inputs of one run after the other"
    ):
        fbg.load(path, dtype="int8", calibrate=given)


def test_several_inputs_are_given_by_name(tmp_path: Path) -> None:
    path = write(tmp_path / "net.onnx", 1, inputs=2)
    with pytest.raises(TypeError, match="mappings by name: the network has several inputs"):
        fbg.load(path, dtype="int8", calibrate=IMAGES[:, None])


EMPTY = IMAGES[:0]


@pytest.mark.parametrize("options", [{}, {"equalize": True}, {"accuracy": 0.9}])
@pytest.mark.parametrize("feeds", [[EMPTY, IMAGES], [EMPTY, EMPTY, IMAGES], [IMAGES, EMPTY]])
def test_a_feed_without_elements_shows_nothing(
    feeds: list[np.ndarray], options: dict[str, object], tmp_path: Path
) -> None:
    """A batch of no images, such as the rest of a data set, changes no scale."""
    path = write(tmp_path / "net.onnx", "n")
    net = fbg.load(path, dtype="int8", calibrate=feeds, **options)
    wanted = fbg.load(path, dtype="int8", calibrate=[IMAGES], **options)
    assert str(net.products) == "int8 in 1 of 1 product"
    assert np.array_equal(net(IMAGES), wanted(IMAGES))


def test_feeds_that_are_all_empty_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "net.onnx", "n")
    with pytest.raises(ValueError, match=r"^calibrate: must hold a feed whose outputs have el"):
        fbg.load(path, dtype="int8", calibrate=[EMPTY, EMPTY])


def test_the_number_of_a_feed_counts_those_without_elements(tmp_path: Path) -> None:
    path = write(tmp_path / "net.onnx", "n")
    feeds = [EMPTY, IMAGES, IMAGES * np.float32(np.nan)]
    with pytest.raises(ValueError, match=r"^calibrate\[2\]: tensor"):
        fbg.load(path, dtype="int8", calibrate=feeds)


def test_a_tensor_that_is_always_empty_stays_in_float32(tmp_path: Path) -> None:
    """Such as the cache of a decoder before its first token."""
    nodes = [
        helper.make_node("Concat", ["past", "x"], ["all"], axis=0),
        helper.make_node("MatMul", ["all", "w"], ["y"]),
        helper.make_node("MatMul", ["past", "w"], ["z"]),
    ]
    w = np.random.default_rng(0).standard_normal((8, 4)).astype(np.float32)
    given = {"past": (np.float32, ("p", 8)), "x": (np.float32, ("n", 8))}
    onnx.save(make_model(nodes, given, ["y", "z"], {"w": w}, opset=17), tmp_path / "net.onnx")
    x = np.random.default_rng(1).standard_normal((5, 8)).astype(np.float32)
    feed = {"past": x[:0], "x": x}
    net = fbg.load(tmp_path / "net.onnx", dtype="int8", calibrate=[feed])
    y = net.run(feed)
    assert y["z"].shape == (0, 4)
    np.testing.assert_allclose(y["y"], x @ w, atol=0.1)
    np.testing.assert_allclose(net.run({"past": x, "x": x})["z"], x @ w, atol=0.1)
