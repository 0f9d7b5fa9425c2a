"""Damaged files of packed weights: refused with a message that says why, or harmless."""

import os

import numpy as np
import pytest

import fbg
from helpers.packed_weights import FLOATS, PACKED
from helpers.safetensors_files import change_header, offset_of_data


@pytest.fixture
def path(tmp_path):
    return tmp_path / "w.safetensors"


def refused(path, reason, verify=True):
    with pytest.raises(fbg.ModelError, match=reason) as caught:
        fbg.PackedB.load(path, verify=verify)
    assert str(path) in str(caught.value)


def test_what_is_no_file_is_refused(tmp_path):
    refused(tmp_path / "none", "No such file")
    refused(tmp_path, "Is a directory")
    os.mkfifo(tmp_path / "pipe")
    refused(tmp_path / "pipe", "is a named pipe, not a regular file")


def test_the_safetensors_file_of_a_model_is_refused(path):
    from safetensors.numpy import save_file

    save_file({"weight": FLOATS}, path)
    refused(path, "not a file of PackedB")
    save_file({"weight": FLOATS}, path, metadata={"format": "pt"})
    refused(path, r"not a file of PackedB: its format is 'pt'")


def test_a_newer_version_is_a_value_error_that_says_so(path):
    PACKED["int8"]().save(path)
    begin = offset_of_data(path)
    content = bytearray(path.read_bytes())
    content[begin + 8] = 2
    path.write_bytes(content)
    with pytest.raises(ValueError, match="version 2 is newer than version 1"):
        fbg.PackedB.load(path)


@pytest.mark.parametrize(
    "change",
    [
        lambda h: h.clear(),
        lambda h: h.pop("packed_b"),
        lambda h: h.pop("__metadata__"),
        lambda h: h["__metadata__"].pop("format"),
        lambda h: h["__metadata__"].pop("version"),
        lambda h: h["__metadata__"].pop("dtype"),
        lambda h: h["__metadata__"].update(version="-1"),
        lambda h: h["__metadata__"].update(version="٢"),
        lambda h: h["__metadata__"].update(version=1),
        lambda h: h["__metadata__"].update(version="9" * 5000),
        lambda h: h["__metadata__"].update(dtype="float32"),
        lambda h: h["__metadata__"].update(shape="[37, 71]"),
        lambda h: h["packed_b"].update(dtype="I8"),
        lambda h: h["packed_b"].update(shape=[1]),
        lambda h: h["packed_b"].update(shape=[]),
        lambda h: h["packed_b"].update(data_offsets=[0, 2**62]),
        lambda h: h["packed_b"].update(data_offsets=[64, 128]),
        lambda h: h["packed_b"].update(data_offsets=None),
        lambda h: h.update(packed_b=[]),
    ],
)
def test_a_damaged_description_is_refused(path, change):
    PACKED["int8"]().save(path)
    change_header(path, change)
    refused(path, "safetensors|PackedB|damaged")


def test_a_block_that_is_not_aligned_is_refused(path):
    PACKED["int8"]().save(path)
    change_header(path, lambda header: header["__metadata__"].update(x="y"), aligned=False)
    refused(path, "tensor packed_b: damaged")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 0.0, -1.0])
def test_a_scale_that_is_not_finite_and_positive_is_refused(path, value):
    packed = PACKED["int8"]()
    packed.save(path)
    content = bytearray(path.read_bytes())
    position = content.index(packed.scale.tobytes()) + 4 * 69  # that of the last column
    content[position : position + 4] = np.float32(value).tobytes()
    path.write_bytes(content)
    refused(path, "checksum")
    refused(path, "scale 69 is not finite and positive", verify=False)


def test_a_zero_point_out_of_range_is_refused(path):
    packed = PACKED["int8_asymmetric"]()
    packed.save(path)
    content = bytearray(path.read_bytes())
    position = content.index(packed.zero_point.tobytes())
    content[position : position + 4] = (-129).to_bytes(4, "little", signed=True)
    path.write_bytes(content)
    refused(path, r"zero point 0 is outside \[-128, 127\]", verify=False)
