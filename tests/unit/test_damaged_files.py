"""Damaged files of all that is saved: an error that names the file, and no harm."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from onnx import helper

import fbg
from helpers import tiny_bert
from helpers.onnx_models import make_net
from helpers.open_files import open_files
from helpers.packed_weights import PACKED, product
from helpers.safetensors_files import change_header, offset_of_data
from helpers.saved_models import WEIGHTS, results


class Kind(NamedTuple):
    """Something that is saved, how it is loaded, its results as bytes, and its file in a folder."""

    make: Callable[[Path], Any]
    load: Callable[[Path], Any]
    results: Callable[[Any], bytes]
    file: str


def model(path):
    return fbg.load(tiny_bert.write_checkpoint(path, seed=4, spread=0.25), dtype="int8")


def network(path):
    w = np.random.default_rng(4).standard_normal((8, 3, 3, 3)).astype(np.float32)
    node = helper.make_node("Conv", ["x", "w"], ["y"], "conv")
    return make_net([node], {"x": (np.float32, (1, 3, 6, 7))}, ["y"], {"w": w})


X = np.random.default_rng(3).standard_normal((1, 3, 6, 7)).astype(np.float32)
KINDS = {
    "weights": Kind(
        lambda path: PACKED["int8_asymmetric"](),
        fbg.PackedB.load,
        lambda w: product(w).tobytes(),
        "w.safetensors",
    ),
    "model": Kind(model, fbg.load, results, f"saved/{WEIGHTS}"),
    "network": Kind(network, fbg.load, lambda net: net(X).tobytes(), f"saved/{WEIGHTS}"),
}


class Saved:
    """A kind whose file is written anew before it is changed."""

    def __init__(self, kind, folder):
        self.folder, self.file = folder, folder / kind.file
        self.path = self.file if self.file.parent == folder else self.file.parent
        self.load, self.results = kind.load, kind.results
        kind.make(folder / "source").save(self.path)
        self.content, self.begin = self.file.read_bytes(), offset_of_data(self.file)
        self.wanted = kind.results(self.load(self.path))

    def refused(self, reason):
        with pytest.raises(fbg.ModelError, match=reason) as caught:
            self.load(self.path)
        assert str(self.file) in str(caught.value)


@pytest.fixture(scope="module", params=KINDS)
def made(request, tmp_path_factory):
    return Saved(KINDS[request.param], tmp_path_factory.mktemp("saved"))


@pytest.fixture
def saved(made):
    made.file.write_bytes(made.content)
    return made


@pytest.mark.parametrize("content", [b"", b"a", b"12345678", b"\0" * 8, b"\xff" * 9, b"x" * 5000])
def test_other_files_are_refused(saved, content):
    saved.file.write_bytes(content)
    saved.refused("not a safetensors file")


@pytest.mark.parametrize("text", [b"[" * 60000, b'{"a":' * 9000, b"[]", b"1" * 6000, b"\xff\xfe"])
def test_a_header_that_is_no_json_object_is_refused(saved, text):
    saved.file.write_bytes(len(text).to_bytes(8, "little") + text + b"\0" * 100)
    saved.refused("safetensors")


def test_a_newer_version_is_named(saved):
    change_header(saved.file, lambda header: header["__metadata__"].update(version="17"))
    saved.refused("version 17 is newer than version")


def test_truncated_files_are_refused(saved):
    content, begin = saved.content, saved.begin
    edges = [0, 7, 8, 9, begin - 1, begin, begin + 64, len(content) // 2, len(content) - 1]
    for size in [*edges, *range(0, len(content), len(content) // 50)]:
        saved.file.write_bytes(content[:size])
        saved.refused("truncated")
    saved.file.write_bytes(content + b"\0")
    saved.refused("truncated or damaged")


@settings(max_examples=150)
@given(data=st.data())
def test_no_change_of_a_byte_goes_unnoticed(saved, data):
    header, block = (0, saved.begin - 1), (saved.begin, len(saved.content) - 1)
    place = data.draw(st.one_of(st.integers(*header), st.integers(*block)))
    content = bytearray(saved.content)
    content[place] ^= data.draw(st.integers(1, 255))
    saved.file.write_bytes(content)
    try:
        loaded = saved.load(saved.path)
    except ValueError as error:
        assert str(saved.file) in str(error) or "dtype" in str(error)
    else:  # a letter of the prose in the metadata
        assert place < saved.begin
        assert saved.results(loaded) == saved.wanted


def test_no_file_stays_open(saved):
    with saved.file.open("rb"):
        assert open_files(saved.folder) == [str(saved.file.resolve())]
    kept = [saved.load(saved.path) for _ in range(3)]
    assert open_files(saved.folder) == []
    saved.file.write_bytes(saved.content[:-1])
    for _ in range(3):
        saved.refused("truncated")
    assert open_files(saved.folder) == []
    assert len(kept) == 3
