"""ImageInput: pixels become what the formula says, in the layout and the dtype of the input."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper

from fbg.importers.description import TensorType
from fbg.quantization import quantize
from fbg.vision import PRESETS, ImageInput, center_crop, letterbox, resize
from helpers.onnx_models import make_net

RNG = np.random.default_rng(0)
PICTURE = RNG.integers(0, 256, (37, 53, 3), np.uint8)
FLOAT = np.dtype(np.float32)


def normalized(pixels, preset):
    """The formula, in the order of channels of the preset."""
    return (pixels * preset.scale - np.array(preset.mean)) / np.array(preset.std)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_pixels_become_what_the_formula_says(layout, dtype):
    preset = replace(PRESETS["imagenet"], size=(16, 24), layout=layout, dtype=dtype)
    batch = preset.prepare([PICTURE, PICTURE[:, ::-1]])
    found = batch.array if layout == "NHWC" else batch.array.transpose(0, 2, 3, 1)
    assert batch.array.dtype == dtype and batch.array.flags.c_contiguous
    for n, picture in enumerate((PICTURE, PICTURE[:, ::-1])):
        # 16 / 0.875 by 24 / 0.875, covered in proportion
        wanted = center_crop(resize(picture, (18, 27)), (16, 24))
        np.testing.assert_array_equal(found[n], normalized(wanted, preset).astype(dtype))


def test_torchvision_prepares_squares_so():
    preset = PRESETS["imagenet"]
    picture = RNG.integers(0, 256, (300, 401, 3), np.uint8)
    wanted = normalized(center_crop(resize(picture, 256), (224, 224)), preset).astype(np.float32)
    np.testing.assert_array_equal(preset.prepare(picture).array[0].transpose(1, 2, 0), wanted)


def test_channels():
    bgr = ImageInput(channels="BGR", mean=(1, 2, 3), scale=1).prepare(PICTURE).array[0]
    for c in range(3):
        np.testing.assert_array_equal(bgr[c], PICTURE[..., 2 - c] - np.float32(c + 1))
    grey = np.repeat(PICTURE[..., :1], 3, 2)
    gray = ImageInput(channels="gray", scale=1, layout="NHWC").prepare(grey).array
    np.testing.assert_array_equal(gray[0], grey[..., :1])


@settings(max_examples=30, deadline=None)
@given(
    st.sampled_from(["int8", "uint8"]), st.floats(1e-3, 1), st.integers(-128, 255), st.booleans()
)
def test_an_integer_input_is_quantized_once(dtype, scale, point, last):
    point = int(np.clip(point, np.iinfo(dtype).min, np.iinfo(dtype).max))
    layout = "NHWC" if last else "NCHW"
    preset = ImageInput(mean=(0.4, 0.5, 0.6), std=(0.2, 0.3, 0.4), layout=layout)
    exact = preset.prepare(PICTURE).array
    found = replace(preset, dtype=dtype, quantization=(scale, point)).prepare(PICTURE).array
    np.testing.assert_array_equal(found, quantize(exact, scale, point, dtype=dtype))


def test_integers_need_no_quantization_if_they_are_exact():
    plain = ImageInput(dtype="uint8", scale=1, layout="NHWC")
    np.testing.assert_array_equal(plain.prepare(PICTURE).array[0], PICTURE)
    shifted = replace(plain, dtype="int8", mean=(128,)).prepare(PICTURE).array[0]
    np.testing.assert_array_equal(shifted, PICTURE.astype(int) - 128)
    with pytest.raises(ValueError, match="quantization is needed: pixels become numbers from 0 to"):
        ImageInput(dtype="uint8").prepare(PICTURE)


@settings(max_examples=30, deadline=None)
@given(*[st.integers(1, 60)] * 4, st.sampled_from(["stretch", "crop", "letterbox"]))
def test_transforms_map_boxes_back(h, w, high, wide, fit):
    preset = ImageInput((high, wide), fit, 0.9)
    batch = preset.prepare(np.zeros((h, w), np.uint8))
    (transform,) = batch.transforms
    assert batch.array.shape == (1, 3, high, wide)
    corners = transform.points_to_image(np.array([[0, 0], [wide, high]]))
    inside = [[0, 0], [w, h]] if fit != "letterbox" else None
    if fit == "stretch":
        np.testing.assert_allclose(corners, inside, atol=1e-9)
    elif fit == "crop":  # what is seen lies in the picture, in its middle
        assert (corners >= -1e-9).all() and (corners <= np.array([w, h]) + 1e-9).all()
        pixel = 1 / np.array([transform.scale_x, transform.scale_y])
        assert (np.abs(corners.sum(0) - [w, h]) <= pixel + 1e-9).all()
    else:
        assert (corners[0] <= 1e-9).all() and (corners[1] >= np.array([w, h]) - 1e-9).all()


def test_a_letterbox_is_that_of_the_function():
    preset = replace(PRESETS["yolox"], size=(32, 40))
    frame, transform = letterbox(PICTURE, (32, 40), align="top-left")
    batch = preset.prepare(PICTURE)
    np.testing.assert_array_equal(batch.array[0], frame.transpose(2, 0, 1)[::-1])
    assert batch.transforms == (transform,)


def test_an_input_of_a_network_says_its_layout_size_and_dtype():
    preset = PRESETS["imagenet"]
    for shape, dtype, layout, size in (
        ((1, 3, 96, 128), "float32", "NCHW", (96, 128)),
        (("n", 96, 128, 3), "float16", "NHWC", (96, 128)),
        ((None, 3, None, None), "float32", "NCHW", (224, 224)),
        ((1, 3, "h", 50), "uint8", "NCHW", (224, 50)),
    ):
        found = preset.for_input(TensorType(np.dtype(dtype), shape))
        assert (found.layout, found.size, found.dtype) == (layout, size, dtype)
        assert (found.mean, found.fit) == (preset.mean, preset.fit)
    for shape, message in (
        ((1, 1, 8, 8), "one of which, the second or the last, is 3"),
        ((1, 3, 8, 3), "one of which"),
        ((1, 3, 8), "must have 4 axes"),
        (None, "must have 4 axes"),
    ):
        with pytest.raises(ValueError, match=message):
            preset.for_input(TensorType(FLOAT, shape))
    with pytest.raises(ValueError, match=r"kind leaves the size open, got .*: give a size"):
        ImageInput().for_input(TensorType(FLOAT, (1, 3, None, 8)))
    with pytest.raises(ValueError, match="dtype must be 'float32', 'float16', 'int8' or 'uint8'"):
        preset.for_input(TensorType(np.dtype(np.int64), (1, 3, 8, 8)))


def test_a_network_with_an_int8_input_runs():
    nodes = [helper.make_node("DequantizeLinear", ["x", "s", "z"], ["y"], "y")]
    constants = {"s": np.float32(1 / 127), "z": np.int8(0)}
    net = make_net(nodes, {"x": (np.int8, (1, 3, 8, 8))}, ["y"], constants)
    preset = replace(PRESETS["yolo"], dtype="int8", quantization=(1 / 127, 0))
    found = net(preset.for_input(net.inputs["x"]).prepare(PICTURE).array)
    exact = replace(PRESETS["yolo"], size=(8, 8)).prepare(PICTURE).array
    assert np.abs(found - exact).max() <= 0.51 / 127


def test_other_fields_and_pictures_are_refused():
    for fields, error, message in (
        ({"fit": "fill"}, ValueError, "ImageInput: fit must be 'stretch', 'crop' or 'letterbox'"),
        ({"size": (0, 3)}, ValueError, "ImageInput: size must be within"),
        ({"size": 224}, ValueError, r"size must be \(height, width\), got 224"),
        ({"crop_ratio": 0}, ValueError, r"crop_ratio must be in \(0, 1\]"),
        ({"mean": (1, 2)}, ValueError, "mean must hold 1 or 3 numbers"),
        ({"std": (1, 0, 1)}, ValueError, "std must be finite and positive"),
        ({"mean": (float("nan"),)}, ValueError, "mean must be finite"),
        ({"mean": "grey"}, TypeError, "mean must be numbers"),
        ({"channels": "rgb"}, ValueError, "channels must be 'RGB', 'BGR' or 'gray'"),
        ({"layout": "CHW"}, ValueError, "layout must be 'NCHW' or 'NHWC'"),
        ({"quantization": (1.0, 0)}, ValueError, "quantization goes with int8 and uint8"),
        ({"dtype": "int8", "quantization": (0.0, 0)}, ValueError, "scale of quantization must be"),
        ({"dtype": "int8", "quantization": (1.0, 200)}, ValueError, "zero point of quantization"),
        ({"sise": (2, 3)}, TypeError, "unexpected keyword argument 'sise'"),
    ):
        with pytest.raises(error, match=message):
            ImageInput(**fields)
    for images, message in (
        ([], "images must hold a picture, got none"),
        ([PICTURE, PICTURE[1:]], r"images\[1\] must have the size of the first, 37 x 53, got 36"),
        ([PICTURE, PICTURE[:0]], r"images\[1\] must have pixels, got 0 x 53"),
        (b"\xff\xd8", "images must be a whole picture"),
    ):
        with pytest.raises(ValueError, match=message):
            ImageInput().prepare(images)
