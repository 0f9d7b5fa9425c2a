"""Whatever is given for an argument of a kernel function, an error names it and who checks it."""

import inspect
import re
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pytest

import fbg
from fbg import quantization

F32 = np.float32
X, IMAGE = np.ones((2, 4), F32), np.ones((1, 5, 5, 3), F32)
BYTES = np.ones((2, 4), np.uint8)
FLOATS = fbg.PackedB(np.ones((4, 32), F32), dtype="float32")
INTS = fbg.PackedB(np.ones((4, 32), F32))
KERNEL = fbg.PackedConv(np.ones((2, 3, 3, 3), F32), dtype="float32")
KERNEL8 = fbg.PackedConv(np.ones((2, 3, 3, 3), F32))
W8 = np.ones((2, 3, 3, 3), np.int8)


class Entry(NamedTuple):
    """A function, arguments that it takes, and the names of arguments that it passes on."""

    call: Callable[..., object]
    valid: dict[str, Any]
    options: tuple[str, ...] = ()
    speakers: tuple[str, ...] = ()  # that may name an argument in place of the function


RUN = ("rows", "packer", "x_dtype", "num_threads")
PACKED = ("PackAWithQuantRowOffset", "PackAWithRowOffset")
ENTRIES = {
    "gemm": Entry(fbg.gemm, {"a": fbg.PackA(X), "packed_b": FLOATS}),
    "linear": Entry(fbg.linear, {"x": X, "packed_b": INTS}),
    "conv": Entry(fbg.conv, {"x": IMAGE, "wc": KERNEL}),
    "conv of bytes": Entry(
        fbg.conv, {"x": IMAGE.astype(np.uint8), "wc": KERNEL8, "scale": 0.5, "zero_point": 3}
    ),
    "prepare": Entry(
        fbg.prepare,
        {"weights": INTS, "rows": 2},
        (*RUN, "granularity", "row_range", "channel_scale"),
        PACKED,
    ),
    "prepare with a scale": Entry(
        fbg.prepare,
        {"weights": INTS, "rows": 2, "packer": fbg.PackAWithRowOffset, "scale": 0.5},
        ("scale", "zero_point"),
        PACKED,
    ),
    "prepare of images": Entry(
        fbg.prepare,
        {"weights": KERNEL8, "shape": IMAGE.shape},
        ("shape", "x_dtype", "scale", "zero_point", "algorithm", "exact", "num_threads"),
    ),
    "PreparedCall": Entry(
        lambda x, out: fbg.prepare(FLOATS, rows=2)(x, out),
        {"x": X, "out": np.empty((2, 32), F32)},
    ),
    "PreparedConv": Entry(
        lambda x, out: fbg.prepare(KERNEL, shape=IMAGE.shape)(x, out),
        {"x": IMAGE, "out": np.empty((1, 3, 3, 2), F32)},
    ),
    "PackedB": Entry(fbg.PackedB, {"w": np.ones((4, 3), F32)}),
    "PackedB of int8": Entry(fbg.PackedB, {"w": np.ones((4, 3), np.int8), "scale": 0.5}),
    "PackedB of int4": Entry(fbg.PackedB, {"w": np.ones((4, 3), F32), "dtype": "int4"}),
    "PackedConv": Entry(fbg.PackedConv, {"w": np.ones((2, 3, 3, 3), F32)}),
    "PackedConv of int8": Entry(fbg.PackedConv, {"w": W8, "scale": 0.5}),
    "output_shape": Entry(KERNEL.output_shape, {"x_shape": IMAGE.shape}),
    "algorithms": Entry(KERNEL.algorithms, {"x_shape": IMAGE.shape}),
    "PackA": Entry(fbg.PackA, {"x": X}),
    "PackAWithRowOffset": Entry(fbg.PackAWithRowOffset, {"x": BYTES, "scale": 0.5}),
    "PackAWithQuantRowOffset": Entry(fbg.PackAWithQuantRowOffset, {"x": X}),
    "PackAWithIm2Col": Entry(fbg.PackAWithIm2Col, {"x": IMAGE, "wc": KERNEL8}),
    "Bias": Entry(fbg.Bias, {"values": np.ones(3, F32)}),
    "Add": Entry(fbg.Add, {"residual": X}),
    "Add of bytes": Entry(fbg.Add, {"residual": BYTES, "scale": 0.5}),
    "Clip": Entry(fbg.Clip, {"lo": 0, "hi": 1}),
    "Scale": Entry(fbg.Scale, {"factor": 2}),
    "Cast": Entry(fbg.Cast, {"dtype": "float16"}),
    "Requantize": Entry(fbg.Requantize, {"scale": 0.5}),
    "GELU": Entry(fbg.GELU, {}),
    "RowRange": Entry(fbg.RowRange, {"out": np.empty((2, 2), F32)}),
    "Pipeline": Entry(fbg.Pipeline, {"stages": [fbg.ReLU()]}, (), ("pipeline",)),
    "set_num_threads": Entry(fbg.set_num_threads, {"n": fbg.get_num_threads()}),
    "choose_qparams": Entry(quantization.choose_qparams, {"minimum": -1.0, "maximum": 1.0}),
    "choose_qparams_mse": Entry(quantization.choose_qparams_mse, {"x": X}),
    "quantize": Entry(quantization.quantize, {"x": X, "scale": 0.5}),
    "dequantize": Entry(quantization.dequantize, {"q": BYTES, "scale": 0.5}),
    "requantize": Entry(quantization.requantize, {"acc": np.ones(3, np.int32), "multiplier": 0.5}),
    "quantize_rowwise": Entry(quantization.quantize_rowwise, {"x": X}),
    "RowwiseMatrix.from_fused": Entry(
        quantization.RowwiseMatrix.from_fused,
        {"fused": quantization.quantize_rowwise(X).fused(), "columns": 4},
    ),
    "MinMaxObserver": Entry(quantization.MinMaxObserver, {}),
    "PercentileObserver": Entry(quantization.PercentileObserver, {}),
    "HistogramObserver": Entry(quantization.HistogramObserver, {}),
    "MinMaxObserver.update": Entry(quantization.MinMaxObserver().update, {"batch": X}),
}
# What has no arguments of its own to check.
BARE = {"CorrectZeroPoints", "Dequantize", "ReLU", "Sigmoid", "Tanh", "Kernel", "RowwiseMatrix"}
BARE |= {"get_num_threads", "kernels", "pack_count", "Observer"}

WRONG = {
    "a text": "text",
    "bytes": b"x",
    "a number": 3,
    "a float": 2.5,
    "a negative number": -1,
    "NaN": float("nan"),
    "None": None,
    "an empty list": [],
    "a ragged list": [1, [2, 3]],
    "a dict": {},
    "an object": object(),
    "a class": fbg.ReLU,
    "True": True,
    "an array of 3 axes": np.ones((2, 2, 2), F32),
    "an array of float64": np.ones((2, 4)),
    "an array of texts": np.array(["a", "b"]),
    "an array of objects": np.array([None, 1]),
    "an array with NaN": np.array([1, np.nan], F32),
    "a scalar array": np.array(1.0, F32),
}


def parameters(entry):
    for parameter in inspect.signature(entry.call).parameters.values():
        if parameter.kind is not parameter.VAR_KEYWORD:
            yield parameter.name
    yield from entry.options


@pytest.mark.parametrize("name", ENTRIES)
def test_errors_name_the_function_and_the_argument(name):
    entry = ENTRIES[name]
    threads = fbg.get_num_threads()
    function = name.partition(" of ")[0].partition(" with ")[0]
    below = ("pipeline", "conv", "convolution")  # that check what they are passed
    speakers = "|".join(map(re.escape, (function, *entry.speakers, *below)))
    entry.call(**entry.valid)
    for parameter in parameters(entry):
        for kind, value in WRONG.items():
            try:
                entry.call(**{**entry.valid, parameter: value})
            except (TypeError, ValueError) as error:
                text = str(error)
                assert re.match(rf"({speakers}): ", text), f"{parameter}, {kind}: {text}"
                named = rf"\b{parameter.removesuffix('s')}s?\b"  # an item of `stages` is a stage
                assert re.search(named, text), f"{parameter}, {kind}: {text}"
                assert "\n" not in text, f"{parameter}, {kind}: {text}"
            finally:
                fbg.set_num_threads(threads)


def test_every_function_of_kernels_is_tested():
    kernels = ("fbg.matmul", "fbg.conv", "fbg.quantization", "fbg.threads")
    public = {name: getattr(fbg, name) for name in fbg.__all__}
    public |= {name: getattr(quantization, name) for name in quantization.__all__}
    tested = {name.partition(" ")[0] for name in ENTRIES}
    missing = {
        name
        for name, value in public.items()
        if callable(value) and str(value.__module__).startswith(kernels)
    }
    assert missing - tested - BARE == set()
