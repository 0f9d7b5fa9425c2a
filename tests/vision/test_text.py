"""Decoding of text: CTC as a plain loop does it, and rectangles around lines at any angle."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from fbg.vision import ImageTransform, ReadText, crop_line, ctc_greedy, decode_db
from fbg.vision.text import components, smallest_rectangle


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


def test_other_arguments_are_refused():
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
