"""A value that is refused is named with its place: the first NaN, infinity or large number."""

import re

import numpy as np
import pytest

import fbg
from fbg import quantization

F32 = np.float32


def floats(value, *index):
    shape = (3, 4, 2, 2)[: len(index)]
    array = np.ones(shape, F32)
    array[index] = value
    array.reshape(-1)[-1] = value  # a later one is not named
    return array


def int8(shape):
    return np.ones(shape, np.int8)


WEIGHTS = {
    "PackedB: w": lambda v: fbg.PackedB(floats(v, 1, 2)),
    "PackedB: w for int4": lambda v: fbg.PackedB(floats(v, 1, 2), dtype="int4"),
    "PackedB: transposed w": lambda v: fbg.PackedB(floats(v, 1, 2), transpose=True),
    "PackedB: transposed w for int4": lambda v: fbg.PackedB(
        floats(v, 1, 2), transpose=True, dtype="int4"
    ),
    "PackedConv: w": lambda v: fbg.PackedConv(floats(v, 1, 2, 0, 1)),
    "choose_qparams_mse: x": lambda v: quantization.choose_qparams_mse(floats(v, 1, 2)),
    "quantize_rowwise: x": lambda v: quantization.quantize_rowwise(floats(v, 1, 2)),
    "MinMaxObserver.update: batch": lambda v: quantization.MinMaxObserver().update(floats(v, 1)),
    "RowwiseMatrix.from_fused: scale": lambda v: quantization.RowwiseMatrix.from_fused(
        np.concatenate([np.ones((3, 4), np.uint8), floats(v, 1, 0)[:, :2].view(np.uint8)], 1), 4
    ),
}
SCALES = {
    "PackedB: scale": lambda v: fbg.PackedB(int8((2, 3)), scale=floats(v, 1)),
    "PackedConv: scale": lambda v: fbg.PackedConv(int8((3, 1, 1, 1)), scale=floats(v, 1)),
    "quantize: scale": lambda v: quantization.quantize(np.ones(3, F32), floats(v, 1)),
    "dequantize: scale": lambda v: quantization.dequantize(int8((3,)), floats(v, 1)),
    "requantize: multiplier": lambda v: quantization.requantize(np.ones(3, np.int32), floats(v, 1)),
}
POINTS = {
    "PackedB: zero_point": lambda p: fbg.PackedB(int8((2, 3)), scale=1.0, zero_point=p),
    "PackedConv: zero_point": lambda p: fbg.PackedConv(int8((3, 1, 1, 1)), scale=1.0, zero_point=p),
    "quantize: zero_point": lambda p: quantization.quantize(np.ones(3, F32), 1.0, p, np.int8),
}


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("name", WEIGHTS)
def test_the_first_value_that_is_not_finite_is_named(name, value):
    places = {"MinMaxObserver.update: batch": (1,), "PackedConv: w": (1, 2, 0, 1)}
    place = re.escape(str({**places, "RowwiseMatrix.from_fused: scale": (1, 0)}.get(name, (1, 2))))
    function = name.partition(" ")[0]
    refused(lambda: WEIGHTS[name](value), rf"^{function} .*got {value} at {place}$")


@pytest.mark.parametrize("value", [np.nan, np.inf, 0.0, -2.0])
@pytest.mark.parametrize("name", SCALES)
def test_the_first_scale_that_is_refused_is_named(name, value):
    refused(lambda: SCALES[name](value), rf"^{name} must be .*, got {value} at \(1,\)$")


@pytest.mark.parametrize("name", POINTS)
def test_the_first_zero_point_out_of_range_is_named(name):
    points = np.array([-128, 128, 500])
    refused(lambda: POINTS[name](points), rf"^{name} must be within .*, got 128 at \(1,\)$")


def test_a_scale_that_float32_cannot_hold_is_named_with_what_it_becomes():
    refused(lambda: fbg.Requantize(1e-60), "got 1e-60, which is 0.0 in float32$")
    refused(lambda: fbg.Requantize(1e60), r"got 1e\+60, which is inf in float32$")


def test_weights_too_large_for_a_dtype_are_named():
    w = floats(1e6, 1, 2)
    refused(lambda: fbg.PackedB(w, dtype="int4"), r"±440000 .*, got 1000000.0 at \(1, 2\)$")
    refused(lambda: fbg.PackedB(w, dtype="float16"), r"±65504 .*, got 1000000.0 at \(1, 2\)$")


def test_nan_activations_and_ends_of_ranges_are_named():
    refused(lambda: quantization.quantize(floats(np.nan, 1, 2), 1.0), r"got nan at \(1, 2\)$")
    ends = np.zeros(3), np.array([1.0, -1.0, 1.0])
    refused(lambda: quantization.choose_qparams(*ends), r"got 0.0 at \(1,\) and -1.0 at \(1,\)$")


def refused(call, message):
    with pytest.raises(ValueError, match=message):
        call()
