"""Operators that fbg leaves to onnxruntime, whose shapes and constants it knows all the same."""

from __future__ import annotations

import numpy as np

from differential.onnx_cases.draw import draws


@draws("STFT")
def short_time_fourier(d, op, version):
    frame = d.random.randint(2, 9)
    x = d.floats(d.random.randint(1, 2), frame + d.random.randint(0, 20), 1)
    window = d.maybe(d.positive(frame))
    length = None if window is not None and d.flag() else np.int64(frame)
    return [x, np.int64(d.random.randint(1, 4)), window, length], {"onesided": d.flag()}


@draws("DFT")
def fourier(d, op, version):
    rank = d.random.randint(2, 3)
    shape = (d.random.randint(1, 2), *(d.random.randint(2, 6) for _ in range(rank - 1)), 1)
    inverse, onesided = d.flag(), d.flag()
    if inverse:
        shape, onesided = (*shape[:-1], 2), None
    axis = d.random.randint(1, rank - 1)
    length = d.maybe(np.int64(d.random.randint(2, 8)), 0.3)
    attributes = {"inverse": inverse, "onesided": onesided, "axis": d.maybe(axis)}
    if version < 20:
        return [d.floats(*shape), length], attributes
    return [d.floats(*shape), length, d.maybe(np.int64(axis))], attributes | {"axis": None}


@draws("BlackmanWindow", "HammingWindow", "HannWindow")
def window(d, op, version):
    size = np.asarray(d.random.randint(1, 20), d.one((np.int32, np.int64)))
    return [size], {"periodic": d.flag(), "output_datatype": d.one((None, 1, 11))}


@draws("MelWeightMatrix")
def mel(d, op, version):
    numbers = (np.int64(d.random.randint(2, 6)), np.int64(16), np.int64(8000))
    return [*numbers, np.float32(0), np.float32(4000)], {"output_datatype": d.one((None, 1, 11))}


@draws("ReverseSequence")
def reverse_sequence(d, op, version):
    first = d.maybe(0)
    shape = (d.random.randint(1, 4), d.random.randint(1, 4), d.size())
    lengths = d.rng.integers(1, shape[0], shape[1], endpoint=True)
    if first is None and d.flag():  # the defaults are time 0, batch 1
        return [d.floats(*shape), lengths], {"time_axis": None, "batch_axis": None}
    x = d.floats(*shape) if first is None else d.floats(shape[1], shape[0], shape[2])
    axes = (0, 1) if first is None else (1, 0)
    return [x, lengths], {"time_axis": axes[0], "batch_axis": axes[1]}


@draws("Compress")
def compress(d, op, version):
    shape = d.shape(1, 3)
    axis = d.maybe(d.axis(len(shape)), 0.6)
    inside = axis is not None and -len(shape) <= axis < len(shape)
    most = shape[axis] if inside else int(np.prod(shape))
    return [d.floats(*shape), d.array("bool", (d.random.randint(0, max(most, 1)),))], {"axis": axis}


@draws("NonZero")
def non_zero(d, op, version):
    return [np.round(d.floats(*d.shape(1, 3)))], {}


@draws("Unique")
def unique(d, op, version):
    shape = d.shape(1, 3)
    axis = d.maybe(d.random.randint(-len(shape), len(shape) - 1))
    return [np.round(d.floats(*shape))], {"axis": axis, "sorted": d.flag()}


@draws("EyeLike")
def eye_like(d, op, version):
    kind = d.one((None, 1, 7, 11))
    return [d.array(d.one(("float32", "int64")), d.shape(2, 2))], {
        "k": d.maybe(d.random.randint(-3, 3)),
        "dtype": kind,
    }


@draws("Shape", "Size")
def shape(d, op, version):
    start, end = (d.maybe(d.random.randint(-6, 6)) for _ in range(2))
    return [d.array(d.one(("float32", "int64", "bool")), d.shape())], {"start": start, "end": end}


@draws("Det")
def determinant(d, op, version):
    size = d.random.randint(1, 4)
    return [d.floats(*d.shape(0, 2), size, size)], {}


@draws("Col2Im")
def columns_to_image(d, op, version):
    block = [d.random.randint(1, 3) for _ in range(2)]
    image = [d.random.randint(size, 6) for size in block]
    blocks = int(np.prod([i - b + 1 for i, b in zip(image, block, strict=True)]))
    x = d.floats(1, 2 * int(np.prod(block)), blocks)
    attributes = {
        "dilations": d.maybe([1, 1]),
        "pads": d.maybe([0] * 4),
        "strides": d.maybe([1, 1]),
    }
    return [x, np.int64(image), np.int64(block)], attributes


@draws("CenterCropPad")
def center_crop_pad(d, op, version):
    shape = d.shape(1, 3)
    axes = d.maybe(d.axes(len(shape)))
    count = len(shape) if axes is None else len(axes)
    sizes = np.int64([d.random.randint(1, 6) for _ in range(count)])
    return [d.floats(*shape), sizes], {"axes": axes}


@draws("NonMaxSuppression")
def non_max_suppression(d, op, version):
    count = d.random.randint(1, 6)
    corners = np.sort(d.rng.uniform(0, 1, (1, count, 2, 2)).astype(np.float32), axis=2)
    boxes, scores = corners.reshape(1, count, 4), d.positive(1, 2, count)
    limits = [d.maybe(np.int64([3]), 0.8), d.maybe(np.float32([0.5])), d.maybe(np.float32([0.1]))]
    return [boxes, scores, *limits], {"center_point_box": d.flag()}


@draws("AffineGrid")
def affine_grid(d, op, version):
    size = np.int64([2, 1, d.random.randint(1, 4), d.random.randint(1, 4)])
    return [d.floats(2, 2, 3), size], {"align_corners": d.flag()}


@draws("SoftmaxCrossEntropyLoss", "NegativeLogLikelihoodLoss")
def loss(d, op, version):
    n, classes = d.random.randint(1, 4), d.random.randint(2, 5)
    labels = d.rng.integers(0, classes, n)
    weights = d.maybe(d.positive(classes), 0.3)
    reduction = d.one((None, "none", "sum", "mean"))
    ignored = d.maybe(d.random.randint(-1, classes - 1), 0.3)
    return [d.floats(n, classes), labels, weights], {
        "reduction": reduction,
        "ignore_index": ignored,
    }
