"""What a message tells the user to do does it: axes, dtypes, files that are no models, objects."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from onnx import helper

import fbg
from fbg.conv.layouts import axes_hint
from helpers import tiny_bert, tiny_tasks
from helpers.onnx_models import make_model, make_net

POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a\nsize 90868376\n"
PAGE = "\n<!DOCTYPE html>\n<html><head><title>Sign in</title></head></html>"
FILES = ("model.safetensors", "tokenizer.json", "config.json", "pytorch_model.bin")


@pytest.mark.parametrize(
    ("content", "said"), [(POINTER, "pointer of Git LFS"), (PAGE, "HTML page")]
)
def test_what_stands_for_a_file_is_named(content, said, tmp_path):
    paths = []
    for name in FILES:
        model = tiny_tasks.write_model(tmp_path / f"m{len(paths)}", "bert-ForMaskedLM")
        if name.endswith(".bin"):
            (model / "model.safetensors").unlink()
        (model / name).write_text(content)
        paths.append((model / name, lambda m=model: fbg.load(m)))
    for name, load in (("x.onnx", fbg.load), ("x.gguf", fbg.load), ("x.fbg", fbg.PackedB.load)):
        (tmp_path / name).write_text(content)
        paths.append((tmp_path / name, lambda p=tmp_path / name, f=load: f(p)))
    for path, call in paths:
        with pytest.raises(fbg.ModelError, match=rf"{path.name}: is an? {said}") as caught:
            call()
        assert str(caught.value).count(path.name) == 1


WANTED = [(1, 3, 8, 9), (2, 8, 9, 3), (1, 3, 8), (4, 5)]


@pytest.mark.parametrize("wanted", WANTED, ids=str)
def test_advice_about_axes_makes_the_array_fit(wanted):
    count, advised = len(wanted), 0
    for order in itertools.permutations(range(count)):
        for shape in (tuple(wanted[axis] for axis in order),):
            for given_shape in (shape, shape[1:]):
                said = axes_hint(given_shape, lambda other: other == wanted)
                if not said or given_shape == wanted:
                    continue
                advised += 1
                x = np.zeros(given_shape)
                assert eval(said.removeprefix("; pass "), {"x": x}).shape == wanted
    assert advised or count == 2


@given(st.lists(st.integers(1, 3), max_size=5).map(tuple))
def test_advice_is_given_only_where_it_helps(shape):
    assert axes_hint(shape, lambda other: False) == ""


def test_a_network_says_how_its_input_fits():
    nodes = [helper.make_node("Relu", ["x"], ["y"])]
    net = make_net(nodes, {"x": (np.float32, (1, 3, 8, 8))}, ["y"])
    x = np.ones((1, 8, 8, 3), np.float32)
    with pytest.raises(ValueError, match=r"got shape \(1, 8, 8, 3\); pass x\.transpose\(0, 3,"):
        net.run({"x": x})
    for dtype in (np.float64, np.uint8, np.int64):
        with pytest.raises(TypeError, match=r"got \w+; pass x\.astype\(np\.float32\)"):
            net.run({"x": np.ones((1, 3, 8, 8), dtype)})
    with pytest.raises(TypeError, match=r"arrays without names are for net\(x\)"):
        net.run(x)
    assert net(x.transpose(0, 3, 1, 2)).shape == (1, 3, 8, 8)


class Tensor:
    """An array of another library."""

    def __init__(self, array):
        self._array = array

    def __array__(self, dtype=None, copy=None):
        return self._array


def test_prepared_calls_say_how_tensors_become_arrays():
    x = np.ones((2, 4), np.float32)
    packed = fbg.PackedB(np.ones((4, 32), np.float32), dtype="float32")
    image = np.ones((1, 8, 8, 3), np.float32)
    conv = fbg.PackedConv(np.ones((4, 3, 3, 3), np.float32), dtype="float32")
    for name, call, given_x in (
        ("PreparedCall: x", fbg.prepare(packed, None, rows=2), x),
        ("PreparedConv: x", fbg.prepare(conv, None, shape=image.shape), image),
    ):
        with pytest.raises(TypeError, match=f"{name} must be a NumPy array, got Tensor; pass"):
            call(Tensor(given_x))
        with pytest.raises(TypeError, match=f"{name} must be a NumPy array, got list$"):
            call(given_x.tolist())
        call(np.asarray(Tensor(given_x)))
        with pytest.raises(TypeError, match=r"out must be a NumPy array, got Tensor; pass np\.as"):
            call(given_x, Tensor(call(given_x)))


def test_objects_of_other_libraries_are_not_loaded(tmp_path):
    class Module:
        def state_dict(self): ...

    class Pretrained(Module):
        def save_pretrained(self): ...

    model = make_model([helper.make_node("Relu", ["x"], ["y"])], {"x": (np.float32, (1,))}, ["y"])
    for given_model, said in (
        (Module(), "got Module; export it with torch.onnx.export"),
        (Pretrained(), "got Pretrained; save it with save_pretrained"),
        (model, "got ModelProto; save it with onnx.save"),
        (3, "got int$"),
    ):
        with pytest.raises(TypeError, match=f"load: model must be a path or a hub id, {said}"):
            fbg.load(given_model)


def test_a_called_model_names_its_methods(tmp_path):
    plain = fbg.load(tiny_bert.write_checkpoint(tmp_path / "plain"))
    masks = fbg.load(tiny_tasks.write_model(tmp_path / "masks", "bert-ForMaskedLM"))
    with pytest.raises(TypeError, match="call one of its methods: encode for embeddings of texts"):
        plain("a text")
    with pytest.raises(TypeError, match="fill_mask"):
        masks(["a text"], 3)
