"""Nodes whose windows move over images, and nodes that resize them."""

from __future__ import annotations

import numpy as np

from differential.onnx_cases.draw import draws

PADS = ("NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID")


def spatial(d):
    return [d.size(9) for _ in range(d.one((1, 2, 2, 2, 3)))]


def window(d, axes, kernel):
    """Return strides, dilations and padding of windows; some of them fit nothing."""
    auto = d.maybe(d.one(PADS), 0.4)
    pads = [
        d.random.randint(0, max(kernel[i % axes] - d.one((0, 1, 1)), 0)) for i in range(2 * axes)
    ]
    return {
        "strides": d.maybe([d.one((1, 1, 2, 2, 3, 5)) for _ in range(axes)], 0.8),
        "dilations": d.maybe([d.one((1, 1, 2, 3)) for _ in range(axes)], 0.4),
        "auto_pad": auto,
        "pads": d.maybe(pads, 0.8 if auto in (None, "NOTSET") else 0.02),
    }


@draws("AveragePool", "LpPool", "MaxPool")
def pool(d, op, version):
    sizes = spatial(d)
    kernel = [d.one((1, 2, 2, 3, 3, 4)) for _ in sizes]
    types = ("float32", "float32", "uint8", "int8") if op == "MaxPool" and version >= 12 else None
    dtype = d.one(types or ("float32",))
    attributes = window(d, len(sizes), kernel) | {
        "kernel_shape": kernel,
        "ceil_mode": d.flag(),
        "count_include_pad": d.flag(),
        "storage_order": d.flag(),
        "p": d.one((None, 1, 2, 3)),
    }
    return [d.array(dtype, (d.size(2), d.size(), *sizes))], attributes


@draws("GlobalAveragePool", "GlobalMaxPool", "GlobalLpPool")
def global_pool(d, op, version):
    return [d.floats(d.size(2), d.size(), *spatial(d))], {"p": d.one((None, 1, 2, 3))}


def convolution(d, transposed):
    """Return the shapes of x and w, the number of output channels, and attributes."""
    sizes = spatial(d)
    kernel = [d.one((1, 1, 2, 3, 4)) for _ in sizes]
    groups = d.one((1, 1, 1, 2, 3))
    inner, outer = d.random.randint(1, 4), d.random.randint(1, 4)
    x = (d.size(2), groups * inner, *sizes)
    w = (groups * inner, outer, *kernel) if transposed else (groups * outer, inner, *kernel)
    attributes = window(d, len(sizes), kernel) | {
        "kernel_shape": d.maybe(kernel),
        "group": groups if groups > 1 else d.maybe(1),
    }
    return x, w, groups * outer, attributes


@draws("Conv")
def conv(d, op, version):
    x, w, channels, attributes = convolution(d, False)
    return [d.floats(*x), d.floats(*w), d.maybe(d.floats(channels))], attributes


@draws("ConvTranspose")
def conv_transpose(d, op, version):
    x, w, channels, attributes = convolution(d, True)
    axes = len(x) - 2
    steps = [
        max(a, b)
        for a, b in zip(
            attributes["strides"] or [1] * axes, attributes["dilations"] or [1] * axes, strict=True
        )
    ]
    attributes["output_padding"] = d.maybe([d.random.randint(0, step - 1) for step in steps], 0.4)
    attributes["output_shape"] = d.maybe([d.random.randint(1, 14) for _ in range(axes)], 0.2)
    return [d.floats(*x), d.floats(*w), d.maybe(d.floats(channels))], attributes


@draws("ConvInteger")
def conv_integer(d, op, version):
    x, w, channels, attributes = convolution(d, False)
    x_type, w_type = d.one(("uint8", "int8")), d.one(("uint8", "int8"))
    point = d.maybe(d.array(w_type, d.one(((), (channels,)))))
    inputs = [d.factor(x_type, x), d.factor(w_type, w), d.maybe(d.factor(x_type, ())), point]
    return inputs, attributes


@draws("QLinearConv")
def qlinear_conv(d, op, version):
    x, w, channels, attributes = convolution(d, False)
    x_type, w_type, y_type = (d.one(("uint8", "int8")) for _ in range(3))
    y_type = x_type if d.random.random() < 0.9 else y_type
    each = d.one(((), (channels,)))
    w_point = d.array(w_type, each) if d.random.random() < 0.6 else np.zeros(each, w_type)
    bias = np.asarray(d.rng.integers(-3000, 3000, channels), np.int32)
    of_x = [d.factor(x_type, x), d.positive(), d.factor(x_type, ())]
    of_w = [d.factor(w_type, w), d.positive(*each), w_point]
    return [*of_x, *of_w, d.positive() * 30, d.array(y_type, ()), d.maybe(bias)], attributes


COORDINATES = (
    *("half_pixel", "pytorch_half_pixel", "align_corners", "asymmetric", "tf_half_pixel_for_nn"),
    *("tf_crop_and_resize", "half_pixel_symmetric"),
)


def factor(d, least=0.3):
    kind = d.random.random()
    if kind < 0.25:
        return 1.0
    return (
        float(d.one((0.5, 2.0, 3.0, 1.5))) if kind < 0.5 else round(d.random.uniform(least, 3.5), 2)
    )


@draws("Upsample")
def upsample(d, op, version):
    x = d.array(d.one(("float32", "float32", "uint8")), (d.size(2), d.size(3), d.size(), d.size()))
    scales = [1.0, 1.0, max(factor(d), 1.0), max(factor(d), 1.0)]
    attributes = {"mode": d.one((None, "nearest", "linear")), "scales": scales}
    return [x, np.float32(scales)] if version >= 9 else [x], attributes


@draws("Resize")
def resize(d, op, version):
    mode = d.one((None, "nearest", "linear", "cubic"))
    rank = d.one((4, 4, 4, 3, 2, 5, 1))
    shape = [d.size(9) for _ in range(rank)]
    fixed = min(rank - 1, 2) if rank > 3 or d.random.random() < 0.3 else 0
    axes = None
    if version >= 18 and d.random.random() < 0.4:
        axes = sorted(d.random.sample(range(fixed, rank), d.random.randint(1, rank - fixed)))
    chosen = range(rank) if axes is None else axes
    scales = np.float32([1.0 if axis < fixed else factor(d) for axis in chosen])
    sizes = np.int64([shape[a] if a < fixed else d.random.randint(1, 14) for a in chosen])
    coordinates = d.maybe(d.one(COORDINATES), 0.8)
    attributes = {
        "mode": mode,
        "axes": axes,
        "coordinate_transformation_mode": coordinates,
        "nearest_mode": d.one((None, "round_prefer_floor", "round_prefer_ceil", "floor", "ceil")),
        "antialias": 1 if mode in ("linear", "cubic") and d.random.random() < 0.25 else d.maybe(0),
        "exclude_outside": 1 if mode == "cubic" and d.random.random() < 0.4 else d.maybe(0),
        "cubic_coeff_a": d.maybe(d.one((-0.75, -0.5, -0.3)), 0.3),
        "extrapolation_value": d.maybe(float(d.one((0, 3, 7))), 0.3),
        "keep_aspect_ratio_policy": d.maybe(d.one(("stretch", "not_larger", "not_smaller")), 0.4),
    }
    x = d.array(d.one(("float32", "float32", "float32", "uint8", "int8")), shape)
    if version == 10:
        return [x, scales], attributes
    starts = d.rng.uniform(-0.2, 0.6, len(chosen))
    roi = np.float32([*starts, *(starts + d.rng.uniform(0.1, 0.8, len(chosen)))])
    crop = roi if coordinates == "tf_crop_and_resize" else d.maybe(np.float32([]), 0.3)
    if d.random.random() < 0.5:
        attributes["keep_aspect_ratio_policy"] = None
        return [x, crop, scales], attributes
    return [x, crop, d.maybe(np.float32([])), sizes], attributes


@draws("GridSample")
def grid_sample(d, op, version):
    axes = 2 if version < 20 else d.one((2, 2, 3))
    sizes = [d.size() for _ in range(axes)]
    output = [d.random.randint(1, 5) for _ in range(axes)]
    batch = d.random.randint(1, 2)
    modes = ("linear", "nearest", "cubic") if version >= 20 else ("bilinear", "nearest", "bicubic")
    grid = np.asarray(d.rng.uniform(-1.3, 1.3, (batch, *output, axes)), np.float32)
    return [d.floats(batch, d.size(), *sizes), grid], {
        "mode": d.maybe(d.one(modes[: 3 if axes == 2 else 2])),
        "padding_mode": d.one((None, "zeros", "border", "reflection")),
        "align_corners": d.flag(),
    }


@draws("MaxUnpool")
def max_unpool(d, op, version):
    x = d.floats(d.size(2), d.size(3), *(d.random.randint(1, 4) for _ in range(2)))
    shape = (*x.shape[:2], 2 * x.shape[2], 2 * x.shape[3])
    count = int(np.prod(shape))
    places = d.rng.permutation(count)[: x.size].reshape(x.shape) if count else np.zeros(x.shape)
    return [x, places.astype(np.int64)], {"kernel_shape": [2, 2], "strides": [2, 2], "pads": None}
