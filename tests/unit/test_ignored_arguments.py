"""No argument is ignored in silence: what does not go with the others is refused by name."""

import numpy as np
import pytest

import fbg
from helpers import tiny_bert

W = np.eye(32, dtype=np.float32)
KERNEL = np.ones((4, 2, 3, 3), np.float32)
FLOATS = ["float32", "float16", "bfloat16"]

UNREAD = {
    "PackedB": (fbg.PackedB, W, {"symmetric": False, "granularity": "tensor"}),
    "PackedConv": (fbg.PackedConv, KERNEL, {"granularity": "tensor"}),
}


@pytest.mark.parametrize("dtype", [*FLOATS, "an int8 w"])
@pytest.mark.parametrize("name", list(UNREAD))
def test_options_of_quantization_go_with_weights_that_are_quantized(name, dtype):
    pack, w, options = UNREAD[name]
    w, more = (w.astype(np.int8), {}) if dtype == "an int8 w" else (w, {"dtype": dtype})
    for option, value in options.items():
        message = f"{name}: {option} goes with floating weights .* got .*{dtype}"
        with pytest.raises(ValueError, match=message):
            pack(w, **more, **{option: value})
    defaults = {"symmetric": True, "granularity": "column"}
    pack(w, **more, **{option: defaults[option] for option in options})
    pack(w.astype(np.float32), **options)


BOOLS = {
    "load: smooth": lambda value: fbg.load("m", smooth=value),
    "load: equalize": lambda value: fbg.load("m.onnx", equalize=value),
}


@pytest.mark.parametrize("value", ["yes", "", 1, None])
@pytest.mark.parametrize("name", list(BOOLS))
def test_what_is_no_bool_is_refused(name, value):
    with pytest.raises(TypeError, match=f"{name} must be True or False, got"):
        BOOLS[name](value)


def test_saved_models_take_no_options_of_quantization(tmp_path):
    checkpoint = tiny_bert.write_checkpoint(tmp_path / "model")
    fbg.load(checkpoint, dtype="int8").save(tmp_path / "saved")
    for options in ({"smooth": False}, {"calibrate": ["a"]}, {"higher_precision": ["*"]}):
        with pytest.raises(ValueError, match=f"{next(iter(options))} "):
            fbg.load(tmp_path / "saved", **options)
