"""Pictures are decoded, prepared as processors do, and given in every form."""

import struct
import zlib
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from onnx import helper
from PIL import Image

from fbg.importers.description import TensorType
from fbg.quantization import quantize
from fbg.vision import (
    PRESETS,
    ImageInput,
    center_crop,
    clip_outliers,
    letterbox,
    read_image,
    resize,
    round_to,
    standardize,
    widen_range,
)
from fbg.vision.decode import FORMATS
from helpers.onnx_models import make_net
from helpers.pictures import encoded

# Pictures from files, bytes and arrays: upright, of bounded size, and whole or refused.

ORIENTATION = 0x0112
PICTURE = np.random.default_rng(0).integers(0, 256, (6, 9, 3), np.uint8)


def test_a_path_bytes_an_array_and_a_pillow_image_are_the_same(tmp_path):
    content = encoded(PICTURE)
    (tmp_path / "a.png").write_bytes(content)
    sources = (tmp_path / "a.png", str(tmp_path / "a.png"), content, bytearray(content))
    for source in (*sources, PICTURE, Image.fromarray(PICTURE)):
        found = read_image(source)
        assert found.dtype == np.uint8 and found.flags.writeable
        np.testing.assert_array_equal(found, PICTURE)


@pytest.mark.parametrize(
    ("orientation", "turned"),
    [
        (1, lambda a: a),
        (2, lambda a: a[:, ::-1]),
        (3, lambda a: a[::-1, ::-1]),
        (4, lambda a: a[::-1]),
        (5, lambda a: a.transpose(1, 0, 2)),
        (6, lambda a: np.rot90(a, -1)),
        (7, lambda a: np.rot90(a, -1)[:, ::-1][::-1, :][:, ::-1]),
        (8, lambda a: np.rot90(a)),
    ],
)
def test_pictures_are_turned_as_exif_says(orientation, turned):
    exif = Image.Exif()
    exif[ORIENTATION] = orientation
    found = read_image(encoded(PICTURE, exif=exif))
    wanted = PICTURE[::-1, ::-1].transpose(1, 0, 2) if orientation == 7 else turned(PICTURE)
    np.testing.assert_array_equal(found, wanted)


def test_every_kind_of_pixels_becomes_rgb():
    grey = PICTURE[..., 0]
    rgb = np.repeat(grey[..., None], 3, 2)
    alpha = np.dstack([PICTURE, grey])
    for given_array, wanted in (
        (grey, rgb),
        (grey[..., None], rgb),
        (alpha, PICTURE),
        (PICTURE[:, ::-1], PICTURE[:, ::-1]),
    ):
        np.testing.assert_array_equal(read_image(given_array), wanted)
    np.testing.assert_array_equal(read_image(encoded(grey)), rgb)
    np.testing.assert_array_equal(read_image(encoded(alpha)), PICTURE)
    sixteen = encoded(grey.astype(np.uint16) * 256 + 77)
    np.testing.assert_array_equal(read_image(sixteen), rgb)


def test_more_pixels_than_allowed_are_not_decoded():
    def chunk(kind, data):
        return (
            struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
        )

    header = struct.pack(">IIBBBBB", 9000, 9000, 8, 2, 0, 0, 0)
    bomb = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", b"") + chunk(b"IEND", b"")
    with pytest.raises(ValueError, match=r"source must have at most 67108864 pixels.*9000 x 9000"):
        read_image(bomb)
    huge = bomb.replace(header, larger := struct.pack(">IIBBBBB", 1 << 20, 1 << 20, 8, 2, 0, 0, 0))
    huge = huge.replace(
        struct.pack(">I", zlib.crc32(b"IHDR" + header)),
        struct.pack(">I", zlib.crc32(b"IHDR" + larger)),
    )
    with pytest.raises(ValueError, match="source"):
        read_image(huge)
    for source in (encoded(PICTURE), PICTURE, Image.fromarray(PICTURE)):
        with pytest.raises(ValueError, match="source must have at most 53 pixels"):
            read_image(source, max_pixels=53)
        assert read_image(source, max_pixels=54).shape == (6, 9, 3)


@pytest.mark.parametrize("kind", ["PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF", "PPM"])
def test_a_truncated_file_is_a_value_error(kind, tmp_path):
    picture = np.random.default_rng(1).integers(0, 256, (40, 50, 3), np.uint8)
    content = encoded(picture, kind)
    for size in (0, 1, 8, len(content) // 3, len(content) // 2):
        with pytest.raises(ValueError, match="read_image: source must be a whole picture"):
            read_image(content[:size])
    path = tmp_path / "cut"
    path.write_bytes(content[: len(content) // 2])
    with pytest.raises(ValueError, match=r"source '.*cut' must be a whole picture"):
        read_image(path)


@settings(max_examples=60, deadline=None)
@given(
    st.sampled_from(["PNG", "JPEG", "WEBP", "GIF", "BMP", "TIFF"]),
    st.lists(st.tuples(st.floats(0, 1), st.integers(0, 255)), min_size=1, max_size=8),
)
def test_damaged_files_are_read_or_refused(kind, changes):
    exif = Image.Exif()
    exif[ORIENTATION] = 6
    content = bytearray(
        encoded(PICTURE, kind=kind, **({} if kind in ("GIF", "BMP") else {"exif": exif}))
    )
    for place, value in changes:
        content[int(place * (len(content) - 1))] = value
    try:
        found = read_image(content, max_pixels=10**6)
    except ValueError as error:
        assert str(error).startswith("read_image: source must")
    else:
        assert found.ndim == 3 and found.shape[2] == 3


def test_only_formats_of_pictures_are_tried():
    # Pillow would start Ghostscript for this one.
    with pytest.raises(ValueError, match="must be a whole picture"):
        read_image(b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n%%EndComments\n")
    assert "EPS" not in FORMATS


def test_other_sources_are_refused(tmp_path):
    for source, error, message in (
        (PICTURE.astype(np.float32), TypeError, "source must be uint8, got float32; widen_range"),
        (PICTURE.transpose(2, 0, 1), ValueError, r"channels, got shape \(3, 6, 9\)"),
        (PICTURE[:0], ValueError, "source must have pixels, got 0 x 9"),
        (Image.new("RGB", (0, 4)), ValueError, "source must have pixels, got 4 x 0"),
        (Image.new("F", (2, 2)), ValueError, "got mode 'F' of Pillow"),
        ([[1, 2]], TypeError, "source must be an array, got list"),
        (tmp_path / "none.png", FileNotFoundError, "none.png"),
        (tmp_path, IsADirectoryError, "directory"),
    ):
        with pytest.raises(error, match=message):
            read_image(source)
    with pytest.raises(TypeError, match="unexpected keyword argument 'max_pixel'"):
        read_image(PICTURE, max_pixel=3)


# ImageInput: pixels become what the formula says, in the layout and the dtype of the input.

RNG = np.random.default_rng(0)
SQUARE = RNG.integers(0, 256, (37, 53, 3), np.uint8)
FLOAT = np.dtype(np.float32)


def normalized(pixels, preset):
    """The formula, in the order of channels of the preset."""
    return (pixels * preset.scale - np.array(preset.mean)) / np.array(preset.std)


@pytest.mark.parametrize("dtype", ["float32", "float16"])
@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_pixels_become_what_the_formula_says(layout, dtype):
    preset = replace(PRESETS["imagenet"], size=(16, 24), layout=layout, dtype=dtype)
    batch = preset.prepare([SQUARE, SQUARE[:, ::-1]])
    found = batch.array if layout == "NHWC" else batch.array.transpose(0, 2, 3, 1)
    assert batch.array.dtype == dtype and batch.array.flags.c_contiguous
    for n, picture in enumerate((SQUARE, SQUARE[:, ::-1])):
        # 16 / 0.875 by 24 / 0.875, covered in proportion
        wanted = center_crop(resize(picture, (18, 27)), (16, 24))
        np.testing.assert_array_equal(found[n], normalized(wanted, preset).astype(dtype))


def test_torchvision_prepares_squares_so():
    preset = PRESETS["imagenet"]
    picture = RNG.integers(0, 256, (300, 401, 3), np.uint8)
    wanted = normalized(center_crop(resize(picture, 256), (224, 224)), preset).astype(np.float32)
    np.testing.assert_array_equal(preset.prepare(picture).array[0].transpose(1, 2, 0), wanted)


def test_channels():
    bgr = ImageInput(channels="BGR", mean=(1, 2, 3), scale=1).prepare(SQUARE).array[0]
    for c in range(3):
        np.testing.assert_array_equal(bgr[c], SQUARE[..., 2 - c] - np.float32(c + 1))
    grey = np.repeat(SQUARE[..., :1], 3, 2)
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
    exact = preset.prepare(SQUARE).array
    found = replace(preset, dtype=dtype, quantization=(scale, point)).prepare(SQUARE).array
    np.testing.assert_array_equal(found, quantize(exact, scale, point, dtype=dtype))


def test_integers_need_no_quantization_if_they_are_exact():
    plain = ImageInput(dtype="uint8", scale=1, layout="NHWC")
    np.testing.assert_array_equal(plain.prepare(SQUARE).array[0], SQUARE)
    shifted = replace(plain, dtype="int8", mean=(128,)).prepare(SQUARE).array[0]
    np.testing.assert_array_equal(shifted, SQUARE.astype(int) - 128)
    with pytest.raises(ValueError, match="quantization is needed: pixels become numbers from 0 to"):
        ImageInput(dtype="uint8").prepare(SQUARE)


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
    frame, transform = letterbox(SQUARE, (32, 40), align="top-left")
    batch = preset.prepare(SQUARE)
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
    found = net(preset.for_input(net.inputs["x"]).prepare(SQUARE).array)
    exact = replace(PRESETS["yolo"], size=(8, 8)).prepare(SQUARE).array
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
        ([SQUARE, SQUARE[1:]], r"images\[1\] must have the size of the first, 37 x 53, got 36"),
        ([SQUARE, SQUARE[:0]], r"images\[1\] must have pixels, got 0 x 53"),
        (b"\xff\xd8", "images must be a whole picture"),
    ):
        with pytest.raises(ValueError, match=message):
            ImageInput().prepare(images)


# Arithmetic of pixels: what it keeps, and what it refuses.

VALUES = arrays.arrays(
    np.float64,
    arrays.array_shapes(min_dims=2, max_dims=3, max_side=6),
    elements=st.floats(-1e3, 1e3, allow_subnormal=False).map(lambda x: round(x, 3)),
)


@settings(max_examples=40, deadline=None)
@given(VALUES, st.sampled_from([None, 0, -1, (0, 1)]))
def test_standard_values_have_mean_0_and_deviation_1(x, axis):
    found = standardize(x, axis=axis).astype(np.float64)
    same = np.ptp(x, axis=axis) == 0
    np.testing.assert_allclose(found.mean(axis), 0, atol=1e-4)
    np.testing.assert_allclose(found.std(axis), np.where(same, 0, 1), atol=1e-4)


@settings(max_examples=40, deadline=None)
@given(VALUES, st.sampled_from([None, 0, -1]))
def test_a_widened_range_reaches_both_ends(x, axis):
    found = widen_range(x, -1, 3, axis=axis)
    same = np.ptp(x, axis=axis) == 0
    assert (found.min(axis) == -1).all()
    np.testing.assert_allclose(found.max(axis), np.where(same, -1, 3), atol=1e-6)


@settings(max_examples=40, deadline=None)
@given(VALUES, st.floats(0, 49))
def test_what_is_within_the_percentiles_stays(x, percent):
    low, high = np.percentile(x, [percent, 100 - percent])
    np.testing.assert_array_equal(clip_outliers(x, percent), np.clip(x, low, high))


def test_clipped_values_keep_the_type_of_floats():
    assert clip_outliers(np.ones(3, np.float32)).dtype == np.float32
    assert clip_outliers(np.arange(3)).dtype == np.float64


@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_rounding_saturates(dtype):
    x = np.array([-1e30, -128.5, -0.5, 0.5, 1.5, 2.5, 127.5, 300, 1e30])
    limits = np.iinfo(dtype)
    np.testing.assert_array_equal(round_to(x, dtype), np.clip(np.rint(x), limits.min, limits.max))
    assert round_to(x, dtype).dtype == dtype


def test_other_arguments_are_refused():
    for function in (standardize, clip_outliers, widen_range, round_to):
        name = function.__name__
        for x, error, message in (
            (np.array([1, np.nan]), ValueError, f"{name}: x must be finite"),
            (np.zeros((0, 2)), ValueError, f"{name}: x must not be empty"),
            (np.array(["a"]), TypeError, f"{name}: x must be numbers"),
            ([1, 2], TypeError, f"{name}: x must be an array"),
        ):
            with pytest.raises(error, match=message):
                function(x)
    x = np.ones(2)
    with pytest.raises(ValueError, match="percent must be at least 0 and below 50"):
        clip_outliers(x, 50)
    with pytest.raises(ValueError, match="low must be below high, got 3 and 3"):
        widen_range(x, 3, 3)
    with pytest.raises(TypeError, match="dtype must be uint8 or int8"):
        round_to(x, np.int64)
