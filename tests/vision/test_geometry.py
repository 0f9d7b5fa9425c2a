"""Sizes of pictures, and the way back from the input of a network to the picture."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from fbg.vision import ImageTransform, center_crop, letterbox, resize

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


def test_other_arguments_are_refused():
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
