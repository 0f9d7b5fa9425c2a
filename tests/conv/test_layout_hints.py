"""Messages about images and weights in another layout name the way out, and it is one."""

import re

import numpy as np
import pytest

import fbg
from helpers.formulas import assert_same_bits

F32 = np.float32


def weights(w, **options):
    return fbg.PackedConv(w, dtype="float32", **options)


def way_out(error, name, value):
    """Return what the message tells to pass in place of `value`, which it calls `name`."""
    found = re.search(rf"pass ({name}[.\[].*)$", str(error))
    assert found, str(error)
    return eval(found[1], {name: value})  # the text is ours


# Weights of 16 outputs and 8 inputs as other libraries store them.
@pytest.mark.parametrize("kernel", [(3,), (3, 5), (2, 3, 5)])
@pytest.mark.parametrize("layout", ["HWIO", "OHWI", "IOHW"])
def test_weights_in_another_order_are_told_the_transposition(kernel, layout):
    rng = np.random.default_rng(0)
    w = rng.standard_normal((16, 8, *kernel), F32)
    axes = {"O": (0,), "I": (1,), "HW": tuple(range(2, 2 + len(kernel)))}
    order = [axis for part in re.findall("O|I|HW", layout) for axis in axes[part]]
    x = rng.standard_normal((1, *(6 for _ in kernel), 8), F32)
    given = w.transpose(order)
    with pytest.raises(ValueError, match=r"x must have shape|the kernel's width") as caught:
        fbg.conv(x, weights(given))
    assert_same_bits(
        fbg.conv(x, weights(way_out(caught.value, "w", given))), fbg.conv(x, weights(w))
    )


def test_weights_of_groups_in_another_order_are_told_it_when_they_are_packed():
    w = np.random.default_rng(0).standard_normal((8, 2, 3, 3), F32)
    given = w.transpose(2, 3, 1, 0)
    with pytest.raises(ValueError, match="PackedConv: groups must divide the output") as caught:
        weights(given, groups=4)
    np.testing.assert_array_equal(way_out(caught.value, "w", given), w)


def test_depthwise_weights_of_tensorflow_are_told_the_transposition():
    w = np.random.default_rng(0).standard_normal((3, 5, 4, 2), F32)  # H, W, C, multiplier
    with pytest.raises(ValueError, match="PackedConv: groups must divide") as caught:
        weights(w, groups=4)
    packed = weights(way_out(caught.value, "w", w), groups=4)
    x = np.ones((1, 5, 5, 4), F32)
    sums = w.sum(axis=(0, 1)).reshape(-1)  # output channel c * 2 + m
    np.testing.assert_allclose(fbg.conv(x, packed)[0, 0, 0], sums, rtol=1e-5)


def test_whole_weights_for_groups_are_told_how_many_inputs_a_group_has():
    packed = weights(np.ones((8, 8, 3, 3), F32), groups=2)
    with pytest.raises(ValueError, match=r"axis 1 of w must be I / groups = 4$"):
        fbg.conv(np.ones((1, 5, 5, 8), F32), packed)


def test_transposed_weights_of_a_convolution_are_told_the_transposition():
    w = np.ones((8, 3, 2, 2), F32)  # I, O
    given = w.transpose(1, 0, 2, 3)
    with pytest.raises(ValueError, match="conv: x must have shape") as caught:
        fbg.conv(np.ones((1, 4, 4, 8), F32), weights(given, transposed=True))
    np.testing.assert_array_equal(way_out(caught.value, "w", given), w)


@pytest.mark.parametrize("axes", [1, 2, 3])
@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("first", [False, True])
def test_images_are_told_how_to_bring_channels_last(axes, single, first):
    if not (single or first):
        return
    x = np.random.default_rng(0).standard_normal((1, *range(5, 5 + axes), 3), F32)
    packed = weights(np.ones((2, 3, *(2 for _ in range(axes))), F32))
    given = np.moveaxis(x, -1, 1) if first else x
    given = given[0] if single else given
    with pytest.raises(ValueError, match="conv: x must have shape") as caught:
        fbg.conv(given, packed)
    np.testing.assert_array_equal(way_out(caught.value, "x", given), x)


@pytest.mark.parametrize("kernel", [(1,), (2,), (3, 4), (5, 2), (2, 3, 4)])
@pytest.mark.parametrize("dilation", [1, 2])
def test_same_padding_keeps_the_size_and_puts_the_odd_pixel_last(kernel, dilation):
    w = np.random.default_rng(0).standard_normal((2, 3, *kernel), F32)
    x = np.random.default_rng(1).standard_normal((1, *(9 for _ in kernel), 3), F32)
    same = fbg.conv(x, weights(w, padding="same", dilation=dilation))
    assert same.shape == (*x.shape[:-1], 2)
    totals = [dilation * (size - 1) for size in kernel]
    pairs = [(total // 2, (total + 1) // 2) for total in totals]
    assert_same_bits(same, fbg.conv(x, weights(w, padding=pairs, dilation=dilation)))
    assert weights(w, padding="valid").geometry == weights(w).geometry


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"padding": "same", "stride": 2}, r"requires stride 1, got \[2, 2\]: .* pass pairs"),
        ({"padding": "same", "transposed": True}, "convolutions that are not transposed"),
        ({"padding": "SAME_UPPER"}, "'same' or 'valid', got 'SAME_UPPER'"),
        ({"padding": (1, 2, 3, 4)}, r"for the pads of an ONNX node, pass \[\(1, 3\), \(2, 4\)\]"),
        ({"padding": [(1, 1)]}, "a pair for each of the 2 spatial axes, got 1"),
        ({"groups": 3}, r"groups must divide the output channels, .* \(4, 3, 3, 3\), got 3"),
    ],
)
def test_other_arguments_are_told_what_to_pass(options, message):
    with pytest.raises(ValueError, match=f"PackedConv: .*{message}"):
        fbg.PackedConv(np.ones((4, 3, 3, 3), F32), **options)


def test_pairs_may_be_an_array():
    w, pairs = np.ones((4, 3, 3, 3), F32), [(1, 0), (2, 1)]
    assert weights(w, padding=np.array(pairs)).geometry == weights(w, padding=pairs).geometry
