"""Damaged files of saved models: an error that names the file and the tensor, and no harm."""

import itertools
import json
import shutil

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fbg
from helpers import tiny_bert
from helpers.safetensors_files import change_header, offset_of_data, read_header
from helpers.saved_models import WEIGHTS


def refused(saved, reason):
    with pytest.raises(fbg.ModelError, match=reason) as caught:
        fbg.load(saved)
    assert WEIGHTS in str(caught.value)


def test_the_safetensors_file_of_a_checkpoint_is_refused(saved, checkpoint):
    shutil.copyfile(checkpoint / "model.safetensors", saved / WEIGHTS)
    refused(saved, "not a model that fbg saved")


def test_a_damaged_tensor_is_named_whichever_it_is(saved):
    path = saved / WEIGHTS
    content, begin, header = path.read_bytes(), offset_of_data(path), read_header(path)
    del header["__metadata__"]
    for name, entry in header.items():
        damaged = bytearray(content)
        damaged[begin + sum(entry["data_offsets"]) // 2] ^= 4
        path.write_bytes(damaged)
        refused(saved, f"tensor {name}: ")


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda h: h.clear(), "not a model that fbg saved"),
        (lambda h: h.pop("__metadata__"), "not a model that fbg saved"),
        (lambda h: h["__metadata__"].update(format="fbg.PackedB"), "not a model that fbg saved"),
        (lambda h: h["__metadata__"].update(version="-1"), "its version is '-1'"),
        (lambda h: h["__metadata__"].update(dtype=3), "not all text"),
        (lambda h: h["__metadata__"].pop("dtype"), "no dtype"),
        (lambda h: h["__metadata__"].pop("method"), "no method"),
        (lambda h: h["__metadata__"].update(dtype="int7"), "saved with dtype 'int7'"),
        (
            lambda h: h["__metadata__"].update(dtype="float32"),
            r"tensor layers\.0\.qkv\.weight: must be packed for float32, got int8",
        ),
        (lambda h: h["__metadata__"].pop("checksums"), "no checksums"),
        (lambda h: h["__metadata__"].update(checksums="[" * 9999), "no checksums"),
        (lambda h: h["__metadata__"].update(checksums="{}"), "the checksum does not match"),
        (lambda h: h.update(more=h["pooler.bias"]), "tensor more: not part of this model"),
        (lambda h: h.pop("layers.1.qkv.bias"), r"tensor layers\.1\.qkv\.bias: missing"),
        (lambda h: h.pop("layers.1.qkv.weight"), r"tensor layers\.1\.qkv\.weight: missing"),
        (
            lambda h: h.update({"layers.0.qkv.weight": h["layers.0.output.weight"]}),
            r"tensor layers\.0\.qkv\.weight: must have shape \(48, 144\), got \(100, 48\)",
        ),
        (
            lambda h: h.update({"embeddings.position": h["embeddings.token_type"]}),
            r"tensor embeddings\.position: must have shape \(40, 48\), got \(2, 48\)",
        ),
        (
            lambda h: h.update({"embeddings.position": h["embeddings.word"]}),
            r"tensor embeddings\.position: must have dtype F32, got U8",
        ),
        (
            lambda h: h["embeddings.word"].update(shape=[56, 99]),
            r"tensor embeddings\.word: must have shape \(99, 56\), got \(56, 99\)",
        ),
        (
            lambda h: h.update({"pooler.weight": h["pooler.bias"]}),
            r"tensor pooler\.weight: must have dtype U8, got F32",
        ),
        *(
            (
                lambda h, values=values: h["layers.0.qkv.bias"].update(values),
                r"tensor layers\.0\.qkv\.bias: damaged",
            )
            for values in (
                {"dtype": "F16"},
                {"dtype": None},
                {"dtype": []},
                {"shape": [-144]},
                {"shape": "144"},
                {"shape": [1 << 60, 1 << 60]},
                {"data_offsets": [0]},
                {"data_offsets": [1, 577]},
                {"data_offsets": [-576, 0]},
                {"data_offsets": [0.0, 576.0]},
            )
        ),
        (lambda h: h.update({"layers.0.qkv.bias": 3}), r"tensor layers\.0\.qkv\.bias: damaged"),
    ],
)
def test_a_header_that_makes_no_sense_is_refused(saved, change, reason):
    change_header(saved / WEIGHTS, change)
    refused(saved, reason)


def test_a_tensor_under_another_name_is_noticed(saved):
    def rename_pooler(header):
        for name in ("pooler.weight", "pooler.bias"):
            header[f"layers.0.{name}"] = header.pop(name)

    change_header(saved / WEIGHTS, rename_pooler)
    refused(saved, r"tensor layers\.0\.pooler\.bias: not part of this model")


def test_a_tensor_that_was_there_when_it_was_written_is_missed(saved):
    def add_checksum(header):
        checksums = json.loads(header["__metadata__"]["checksums"])
        header["__metadata__"]["checksums"] = json.dumps({**checksums, "a.b": 0})

    change_header(saved / WEIGHTS, add_checksum)
    refused(saved, r"tensor a\.b: missing")


def test_the_weights_of_another_model_are_refused(saved):
    config = json.loads((saved / "config.json").read_text())
    tiny_bert.write_json(saved / "config.json", {**config, "num_hidden_layers": 1})
    refused(saved, r"tensor layers\.1\..*: not part of this model")
    tiny_bert.write_json(saved / "config.json", {**config, "num_hidden_layers": 3})
    refused(saved, r"tensor layers\.2\.qkv\.weight: missing")


@given(content=st.binary(max_size=300), pieces=st.lists(st.integers(0, 4), max_size=9))
def test_a_checksum_does_not_depend_on_pieces_and_sees_every_byte(content, pieces):
    def checksum(*parts):
        result = fbg._fbg.Checksum()
        for part in parts:
            result.add(memoryview(part))
        return result.value

    cuts = [0, *(32 * n for n in np.cumsum(pieces) if 32 * n < len(content)), len(content)]
    whole = checksum(content)
    assert checksum(*(content[i:j] for i, j in itertools.pairwise(cuts))) == whole
    assert checksum(content + bytes(-len(content) % 32)) == whole
    for n in range(len(content)):
        assert checksum(content[:n] + bytes([content[n] ^ 1]) + content[n + 1 :]) != whole
