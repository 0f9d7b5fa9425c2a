"""Bad models: an error that names the file and the tensor, never a crash."""

import json
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import fbg
from helpers import tiny_bert
from helpers.tiny_bert import change_json

SMALL = tiny_bert.Geometry(8, 1, 2, 12, vocab_size=90, max_position_embeddings=16)
WORDS = "embeddings.word_embeddings.weight"


@pytest.fixture
def directory(tmp_path):
    return tiny_bert.write_checkpoint(tmp_path / "model", SMALL, seed=1, spread=0.2)


def change_tensor(directory, name, value):
    """Replace a tensor of model.safetensors; None removes it."""
    path = directory / "model.safetensors"
    tensors = load_file(path)
    if value is None:
        del tensors[name]
    else:
        tensors[name] = value
    save_file(tensors, path)


# --- Files ----------------------------------------------------------------------------------------


def test_the_untouched_directory_loads(directory):
    assert fbg.load(directory).forward([[2, 5, 3]]).last_hidden_state.shape == (1, 3, 8)


def test_model_error_is_an_exception_of_its_own():
    assert issubclass(fbg.ModelError, Exception)
    assert fbg.ModelError is not ValueError


@pytest.mark.parametrize("dtype", ["float32", "int8"])
@pytest.mark.parametrize("name", ["config.json", "model.safetensors"])
def test_a_missing_file_is_named(directory, name, dtype):
    (directory / name).unlink()
    with pytest.raises(fbg.ModelError, match=name):
        fbg.load(directory, dtype=dtype)


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_without_a_tokenizer_token_ids_still_work(directory, tmp_path, dtype):
    (directory / "tokenizer.json").unlink()
    loaded = fbg.load(directory, dtype=dtype)
    loaded.save(tmp_path / "saved")
    for model in (loaded, fbg.load(tmp_path / "saved")):
        assert np.isfinite(model.forward([[2, 5, 3]]).last_hidden_state).all()
        for text_to in (model.encode, model.token_counts):
            with pytest.raises(fbg.ModelError, match=r"tokenizer\.json: no such file"):
                text_to(["a"])


def test_a_missing_pooling_config_is_named(directory):
    (directory / "1_Pooling" / "config.json").unlink()
    with pytest.raises(fbg.ModelError, match=r"1_Pooling.config\.json"):
        fbg.load(directory)


def test_a_directory_that_is_not_there(tmp_path):
    with pytest.raises(fbg.ModelError, match="absent"):
        fbg.load(tmp_path / "absent")


def test_a_file_where_a_directory_is_wanted(directory):
    with pytest.raises(fbg.ModelError, match=r"config\.json"):
        fbg.load(directory / "config.json")


NAMES = ["config.json", "tokenizer.json", "modules.json", "1_Pooling/config.json"]
CONTENTS = [b"", b"{", b"[]", b"17", b"\xff\xfe\x00", b"[" * 100_000]
LEGAL = ("modules.json", b"[]")  # a model of no modules: mean pooling


@pytest.mark.parametrize(
    ("name", "content"),
    [
        pytest.param(name, content, id=f"{name}-{content[:4]!r}")
        for name in [*NAMES, "model.safetensors"]
        for content in CONTENTS
        if (name, content) != LEGAL
    ],
)
def test_a_file_that_is_not_what_its_name_says(directory, name, content):
    (directory / name).write_bytes(content)
    with pytest.raises(fbg.ModelError, match=Path(name).name):
        fbg.load(directory)


# --- config.json ----------------------------------------------------------------------------------


def test_a_vocabulary_that_the_tensor_contradicts_is_named(directory):
    change_json(directory / "config.json", vocab_size=2**40)
    with pytest.raises(fbg.ModelError, match=rf"model\.safetensors.*{WORDS}"):
        fbg.load(directory)


@pytest.mark.parametrize(
    "changes",
    [
        {"pooling_mode_mean_tokens": False},
        {"pooling_mode_mean_tokens": True, "pooling_mode_mean_sqrt_len_tokens": True},
        {"pooling_mode": "median"},
        {"include_prompt": 0},
        {"word_embedding_dimension": 9},
    ],
    ids=str,
)
def test_an_unsupported_pooling_is_an_error(directory, changes):
    change_json(directory / "1_Pooling" / "config.json", **changes)
    with pytest.raises(fbg.ModelError, match=r"1_Pooling.config\.json"):
        fbg.load(directory)


# --- model.safetensors ----------------------------------------------------------------------------


def test_a_transposed_tensor_is_named(directory):
    name = "encoder.layer.0.intermediate.dense.weight"
    change_tensor(directory, name, np.zeros((8, 12), np.float32))
    with pytest.raises(fbg.ModelError, match=rf"model\.safetensors.*{name}.*\(12, 8\).*\(8, 12\)"):
        fbg.load(directory)


@pytest.mark.parametrize("dtype", [np.int64, np.uint8, np.bool_, np.float64])
def test_a_tensor_of_an_unsupported_dtype_is_named(directory, dtype):
    change_tensor(directory, WORDS, np.ones((90, 8), dtype))
    with pytest.raises(fbg.ModelError, match=rf"model\.safetensors.*{WORDS}"):
        fbg.load(directory)


@pytest.mark.parametrize("dtype", ["float32", "int8"])
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize(
    "name",
    [WORDS, "encoder.layer.0.output.dense.weight", "encoder.layer.0.output.LayerNorm.bias"],
)
def test_a_tensor_with_a_value_that_is_not_finite_is_named(directory, name, value, dtype):
    tensor = tiny_bert.random_tensors(SMALL)[name]
    tensor.reshape(-1)[-1] = value
    change_tensor(directory, name, tensor)
    with pytest.raises(fbg.ModelError, match=rf"model\.safetensors.*{name}"):
        fbg.load(directory, dtype=dtype)


@pytest.mark.parametrize("kept", [0, 1, 7, 8, 9, 100, 0.5, 0.99, -1])
def test_a_truncated_file_is_named(directory, kept):
    path = directory / "model.safetensors"
    content = path.read_bytes()
    length = int(kept * len(content)) if isinstance(kept, float) else kept % len(content)
    path.write_bytes(content[:length])
    with pytest.raises(fbg.ModelError, match=r"model\.safetensors"):
        fbg.load(directory)


@pytest.mark.parametrize("length", [0, 1, 2**31, 2**63, 2**64 - 1])
def test_a_wrong_header_length_is_an_error(directory, length):
    path = directory / "model.safetensors"
    path.write_bytes(length.to_bytes(8, "little") + path.read_bytes()[8:])
    with pytest.raises(fbg.ModelError, match=r"model\.safetensors"):
        fbg.load(directory)


@pytest.mark.parametrize("offsets", [[0, 2**40], [-4, 0], [8, 4], [0, 0], [2**63, 2**64]])
def test_offsets_outside_the_file_are_an_error(directory, offsets):
    path = directory / "model.safetensors"
    content = path.read_bytes()
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])
    header[WORDS]["data_offsets"] = offsets
    changed = json.dumps(header).encode()
    path.write_bytes(len(changed).to_bytes(8, "little") + changed + content[8 + size :])
    with pytest.raises(fbg.ModelError, match=r"model\.safetensors"):
        fbg.load(directory)


@pytest.mark.parametrize("shared", [4, 8, -4])
def test_tensors_that_overlap_are_an_error(directory, shared):
    path = directory / "model.safetensors"
    content = path.read_bytes()
    size = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + size])
    by_place = sorted((v["data_offsets"], k) for k, v in header.items() if k != "__metadata__")
    (begin, end), name = by_place[3]
    header[name]["data_offsets"] = [begin - shared, end - shared]
    changed = json.dumps(header).encode()
    path.write_bytes(len(changed).to_bytes(8, "little") + changed + content[8 + size :])
    with pytest.raises(fbg.ModelError, match=r"model\.safetensors: .* overlaps another one"):
        fbg.load(directory)
