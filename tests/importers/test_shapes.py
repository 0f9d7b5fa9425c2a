"""Ops that compute their own shapes: those of onnxruntime, where ONNX's inference has others.

Random cases of all operators and attributes are those of `differential.kinds.onnx_ops`.
"""

import numpy as np
import pytest
from onnx import helper

from fbg.errors import ModelError
from helpers.one_op import OneOp
from helpers.onnx_models import make_net

BACKENDS = (None, ("onnxruntime",))


def numbers(*shape):
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


def one(op, version, inputs, constant=(), **attributes):
    return OneOp(op, version, inputs, attributes, frozenset(constant))


def check(case, backends=None):
    (wanted,) = case.on_onnxruntime()
    (got,) = case.on_fbg(backends)
    assert got.shape == wanted.shape, str(case)
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5, err_msg=str(case))


@pytest.mark.parametrize("backends", BACKENDS)
@pytest.mark.parametrize("op", ["AveragePool", "LpPool", "MaxPool"])
@pytest.mark.parametrize(
    ("kernel", "stride", "pads", "size"),
    [(2, 2, 1, 5), (2, 3, 0, 6), (3, 2, 1, 4), (4, 3, 0, 3), (1, 3, 0, 7)],
)
def test_no_window_of_ceil_mode_begins_in_the_padding_at_the_end(
    op, kernel, stride, pads, size, backends
):
    attributes = {"strides": [stride] * 2, "pads": [pads] * 4, "ceil_mode": 1}
    x = numbers(1, 2, size, size + 1)
    for version in (18, 19, 22):
        check(one(op, version, [x], kernel_shape=[kernel] * 2, **attributes), backends)


@pytest.mark.parametrize("backends", BACKENDS)
@pytest.mark.parametrize("op", ["AveragePool", "LpPool", "MaxPool"])
@pytest.mark.parametrize("auto_pad", ["SAME_LOWER", "SAME_UPPER", "VALID"])
def test_padding_of_dilated_windows_that_auto_pad_asks_for(op, auto_pad, backends):
    x = numbers(1, 2, 9, 12)
    attributes = {"strides": [2, 1], "dilations": [2, 3], "auto_pad": auto_pad}
    check(one(op, 22, [x], kernel_shape=[2, 3], **attributes), backends)


@pytest.mark.parametrize("op", ["AveragePool", "MaxPool"])
@pytest.mark.parametrize("auto_pad", ["SAME_LOWER", "SAME_UPPER"])
def test_auto_pad_of_windows_shorter_than_the_stride_cuts_the_image(op, auto_pad):
    x = np.arange(12, dtype=np.float32).reshape(1, 1, 12)
    case = one(op, 11, [x], kernel_shape=[1], strides=[5], auto_pad=auto_pad)
    (got,) = case.on_fbg(("fbg",))
    # ceil(12 / 5) windows need 11 elements: the one that is left over is at the end
    np.testing.assert_array_equal(got, [[[0, 5, 10]]])


@pytest.mark.parametrize("auto_pad", ["SAME_LOWER", "SAME_UPPER"])
@pytest.mark.parametrize(("size", "stride", "kernel"), [(4, 5, 1), (9, 7, 2), (8, 2, 1)])
def test_convolutions_that_auto_pad_cuts(auto_pad, size, stride, kernel):
    x, w = numbers(1, 2, size), numbers(3, 2, kernel)
    check(one("Conv", 11, [x, w], {1}, strides=[stride], auto_pad=auto_pad))
    check(one("AveragePool", 11, [x], kernel_shape=[6], strides=[9], count_include_pad=1))


def test_means_count_the_padding_that_a_window_of_ceil_mode_reaches():
    for version in (11, 19, 22):
        x = numbers(1, 1, 6, 7)
        attributes = {"strides": [2, 3], "pads": [1, 0, 1, 1], "ceil_mode": 1}
        for counts in (0, 1):
            case = one("AveragePool", version, [x], kernel_shape=[3, 2], **attributes)
            case.attributes = {**case.attributes, "count_include_pad": counts}
            check(case)


@pytest.mark.parametrize("backends", BACKENDS)
@pytest.mark.parametrize("scale", [0.7, 1.1, 1.7, 2.3])
@pytest.mark.parametrize(
    ("mode", "coordinates"),
    [
        ("nearest", "asymmetric"),
        ("nearest", "half_pixel"),
        ("linear", "align_corners"),
        ("linear", "half_pixel_symmetric"),
        ("linear", "pytorch_half_pixel"),
        ("cubic", "half_pixel"),
    ],
)
def test_decimal_scales_are_float32(mode, coordinates, scale, backends):
    x = numbers(1, 2, 10, 12)
    scales = np.float32([1, 1, scale, scale])
    attributes = {"mode": mode, "coordinate_transformation_mode": coordinates}
    check(one("Resize", 13, [x, None, scales], {2}, nearest_mode="floor", **attributes), backends)


@pytest.mark.parametrize("policy", ["not_larger", "not_smaller"])
def test_sizes_that_keep_the_aspect_ratio(policy):
    x, sizes = numbers(1, 2, 10, 15), np.int64([7, 22])
    attributes = {"axes": [2, 3], "keep_aspect_ratio_policy": policy, "mode": "linear"}
    check(one("Resize", 18, [x, None, None, sizes], {3}, **attributes))


@pytest.mark.parametrize("version", [7, 9, 10])
@pytest.mark.parametrize("scale", [0.6, 1.7, 2.0])
def test_nearest_neighbours_of_old_operator_sets(version, scale):
    x, scales = numbers(1, 2, 7, 9), [1.0, 1.0, max(scale, 1.0) if version < 10 else scale, 2.0]
    if version == 7:
        check(one("Upsample", 7, [x], scales=scales, mode="nearest"))
    else:
        op = "Resize" if version == 10 else "Upsample"
        check(one(op, version, [x, np.float32(scales)], {1}, mode="nearest"))


@pytest.mark.parametrize("backends", BACKENDS)
@pytest.mark.parametrize(
    "attributes",
    [
        {"output_shape": [2, 3]},
        {"output_shape": [5, 9], "auto_pad": "SAME_UPPER"},
        {"auto_pad": "SAME_UPPER", "output_padding": [1, 0]},
        {"auto_pad": "SAME_LOWER", "output_padding": [0, 2]},
        {"auto_pad": "SAME_LOWER", "strides": [4, 4]},
        {"pads": [1, 0, 2, 3], "output_padding": [1, 1]},
    ],
)
def test_sizes_and_padding_of_transposed_convolutions(attributes, backends):
    x, w = numbers(1, 3, 4, 3), numbers(3, 2, 3, 2)
    attributes = {"strides": [2, 3], **attributes}
    check(one("ConvTranspose", 11, [x, w], {1}, **attributes), backends)


def test_declared_shapes_are_not_believed():
    x = numbers(1, 1, 5, 5)
    attributes = {"kernel_shape": [2, 2], "strides": [2, 2], "pads": [1] * 4, "ceil_mode": 1}
    case = one("LpPool", 18, [x], **attributes)
    case.declared = [(x.dtype, (1, 1, 4, 4))]
    check(case)


@pytest.mark.parametrize("p", [1, 2, 3])
@pytest.mark.parametrize("sizes", [(5,), (4, 3), (2, 3, 2)])
def test_global_norms(p, sizes):
    check(one("GlobalLpPool", 21, [numbers(2, 3, *sizes)], p=p), ("fbg",))


@pytest.mark.parametrize("op", ["AveragePool", "Conv", "ConvTranspose", "MaxPool"])
def test_windows_that_do_not_fit_are_named(op):
    x, w = numbers(1, 1, 3, 3), numbers(1, 1, 5, 5)
    pools = op.endswith("Pool")
    attributes = {"kernel_shape": [5, 5]} if pools else {"pads": [3] * 4}
    if op == "Conv":
        attributes = {}
    if op == "ConvTranspose":
        attributes = {"pads": [4] * 4}
    case = one(op, 11, [x] if pools else [x, w], {1}, **attributes)
    with pytest.raises(ModelError, match=f"node {op} .* axis 2"):
        case.on_fbg()


@pytest.mark.parametrize("shape", [(2, 1), (2, 3), (7,)], ids=str)
def test_a_foreign_result_may_have_another_shape_than_declared(shape):
    x = numbers(2, 3)
    case = one("QuickGelu", 1, [x])
    case.domain, case.declared = "com.microsoft", [(x.dtype, shape)]
    check(case)


@pytest.mark.parametrize("backend", ["fbg", "onnxruntime"])
def test_scalars_stay_scalars(backend):
    nodes = [
        helper.make_node("Gather", ["x", "index"], ["g"], "g"),
        helper.make_node("Mul", ["g", "factor"], ["m"], "m"),
        helper.make_node("Add", ["m", "given"], ["y"], "y"),
    ]
    constants = {"index": np.array(1), "factor": np.array(3, np.float32)}
    feed = {"x": np.float32([1, 2, 4]), "given": np.array(0.5, np.float32)}
    y = make_net(nodes, feed, ["y"], constants, backends=(backend,)).run(feed)["y"]
    assert y.shape == ()
    assert y == 6.5


def test_constants_are_what_onnxruntime_computes_or_left_to_the_back_ends():
    x = numbers(2, 3, 4)
    check(one("Softmax", 11, [x], {0}, axis=1))  # of all axes from that on
    check(one("Unsqueeze", 11, [x], {0}, axes=[3, 0]))
    check(one("GlobalMaxPool", 11, [x], {0}))
    check(one("Transpose", 13, [x[0, 0, 0]], {0}))


@pytest.mark.parametrize("constant", [(1, 2, 3), (1, 2, 3, 4)])
@pytest.mark.parametrize(
    ("start", "end", "step"), [(5, 2**63 - 1, -2), (-9, 2**31 - 1, -1), (-9, -2, 1), (3, -9, -1)]
)
def test_elements_that_slices_take(start, end, step, constant):
    inputs = [numbers(4, 2), *(np.int64([value]) for value in (start, end, 0, step))]
    check(one("Slice", 13, inputs, constant))


def test_squeezed_axes_in_any_order_and_none():
    x = numbers(1, 3, 1, 2)
    check(one("Squeeze", 11, [x], axes=[2, 0]))
    check(one("Squeeze", 13, [x, np.int64([])], {1}))


@pytest.mark.parametrize("mode", ["constant", "edge", "reflect", "wrap"])
def test_an_axis_is_cut_before_it_is_padded(mode):
    check(one("Pad", 19, [numbers(5, 6), np.int64([-2, 1, 1, -1])], {1}, mode=mode))


def test_dynamic_quantization_of_nothing_but_zeros_has_scale_one():
    for constant in ((), {0}):
        case = OneOp(
            "DynamicQuantizeLinear", 11, [np.zeros(3, np.float32)], {}, frozenset(constant)
        )
        case.outputs = 3
        case.declared = [(np.dtype(kind), None) for kind in ("uint8", "float32", "uint8")]
        for got, wanted in zip(case.on_fbg(), case.on_onnxruntime(), strict=True):
            np.testing.assert_array_equal(got, wanted)


def test_nearest_neighbours_of_positions_between_two_pixels():
    scales = np.float32([1, 1, 1, 2.8])
    modes = {"mode": "nearest", "coordinate_transformation_mode": "half_pixel_symmetric"}
    for nearest in ("round_prefer_ceil", "round_prefer_floor"):
        inputs = [numbers(1, 1, 1, 9), None, scales]
        check(one("Resize", 19, inputs, {2}, nearest_mode=nearest, **modes))


def test_ops_of_fbg_do_not_believe_declared_shapes():
    x = np.ones((1, 5, 1), np.int16)
    case = one("Concat", 7, [x], axis=-2)
    case.declared = [(x.dtype, (1, 5, 3))]
    check(case)


@pytest.mark.filterwarnings("ignore:.*onnx.reference:UserWarning")
def test_what_a_foreign_step_raises_is_named():
    case = one("Gather", 13, [numbers(3), np.int64([7])])
    for name, title in (("onnxruntime", "onnxruntime"), ("reference", "the reference")):
        with pytest.raises(ModelError, match=f"node Gather 'Gather_0' failed on {title}: "):
            case.on_fbg((name,))
