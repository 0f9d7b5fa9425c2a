"""Pictures from files, bytes and arrays: upright, of bounded size, and whole or refused."""

import io
import struct
import zlib

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from fbg.vision import read_image
from fbg.vision.decode import FORMATS

ORIENTATION = 0x0112
PICTURE = np.random.default_rng(0).integers(0, 256, (6, 9, 3), np.uint8)


def encoded(array=PICTURE, kind="PNG", **options):
    file = io.BytesIO()
    Image.fromarray(array).save(file, kind, **options)
    return file.getvalue()


def test_a_path_bytes_an_array_and_a_pillow_image_are_the_same(tmp_path):
    content = encoded()
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
    found = read_image(encoded(exif=exif))
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
    for source in (encoded(), PICTURE, Image.fromarray(PICTURE)):
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
    content = bytearray(encoded(kind=kind, **({} if kind in ("GIF", "BMP") else {"exif": exif})))
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
