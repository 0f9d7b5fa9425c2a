"""Saved weights: the same bits come back, mapped and not copied."""

import copy
import inspect
import os
import pickle
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import safetensors
from hypothesis import given, settings
from hypothesis import strategies as st

import fbg
from helpers.fresh_python import run_python
from helpers.packed_weights import PACKED, assert_same, product
from helpers.safetensors_files import offset_of_data


@pytest.fixture(params=PACKED)
def packed(request):
    return PACKED[request.param]()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "w.safetensors"


# --- Round trips ----------------------------------------------------------------------------------


@pytest.mark.parametrize("verify", [True, False])
def test_a_file_gives_back_the_same_bits(packed, path, verify):
    packed.save(path)
    assert_same(fbg.PackedB.load(path, verify=verify), packed)


def test_results_are_the_same_under_every_isa(packed, path, isa):
    packed.save(path)
    assert product(fbg.PackedB.load(path)).tobytes() == product(packed).tobytes()


@pytest.mark.parametrize("name", fbg.isa.supported())
def test_the_file_does_not_depend_on_the_isa(name, path):
    code = f"""
import numpy as np, fbg
w = np.arange(37 * 70, dtype=np.float32).reshape(37, 70) % 11 - 5
fbg.PackedB(w).save({str(path)!r})
"""
    result = run_python(code, FBG_MAX_ISA=name)
    assert result.returncode == 0, result.stderr
    w = np.arange(37 * 70, dtype=np.float32).reshape(37, 70) % 11 - 5
    here = path.with_name("here")
    fbg.PackedB(w).save(here)
    assert path.read_bytes() == here.read_bytes()
    assert_same(fbg.PackedB.load(path), fbg.PackedB(w))


@settings(max_examples=40)
@given(
    k=st.integers(0, 70),
    n=st.integers(0, 140),
    name=st.sampled_from(["int8", "float32", "float16", "bfloat16"]),
    symmetric=st.booleans(),
    granularity=st.sampled_from(["column", "tensor"]),
)
def test_every_shape_comes_back(tmp_path_factory, k, n, name, symmetric, granularity):
    path = tmp_path_factory.getbasetemp() / "shape.safetensors"
    w = np.random.default_rng(k + n).standard_normal((k, n), dtype=np.float32)
    options = {"symmetric": symmetric, "granularity": granularity} if name == "int8" else {}
    packed = fbg.PackedB(w, dtype=name, **options)
    packed.save(path, overwrite=True)
    assert_same(fbg.PackedB.load(path), packed)
    assert_same(pickle.loads(pickle.dumps(packed)), packed)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_give_back_the_same_bits(packed, protocol):
    assert_same(pickle.loads(pickle.dumps(packed, protocol)), packed)


def test_pickles_pass_the_block_on_without_a_copy():
    packed = PACKED["int8"]()
    buffers = []
    data = pickle.dumps(packed, 5, buffer_callback=buffers.append)
    assert len(data) < 1000
    assert [buffer.raw().nbytes for buffer in buffers] == [packed.nbytes]
    assert_same(pickle.loads(data, buffers=buffers), packed)


def test_a_damaged_pickle_is_a_value_error():
    data = bytearray(pickle.dumps(PACKED["int8"]()))
    data[data.index(b"FBGPACKB") + 500] ^= 1
    with pytest.raises(ValueError, match="PackedB: the checksum does not match"):
        pickle.loads(data)


def test_copies_share_the_block(packed):
    for other in (copy.copy(packed), copy.deepcopy(packed), copy.deepcopy([packed])[0]):
        assert other is not packed
        assert other._native is packed._native
        assert_same(other, packed)


def test_loading_packs_nothing(packed, path):
    packed.save(path)
    before = fbg.pack_count()
    product(fbg.PackedB.load(path))
    pickle.loads(pickle.dumps(packed))
    assert fbg.pack_count() == before


# --- The file -------------------------------------------------------------------------------------


def test_the_file_is_a_safetensors_file(packed, path):
    packed.save(path)
    with safetensors.safe_open(path, framework="numpy") as file:
        assert list(file.keys()) == ["packed_b"]
        metadata, block = file.metadata(), file.get_tensor("packed_b")
    assert metadata == {
        "format": "fbg.PackedB",
        "version": "1",
        "dtype": str(packed.dtype) if packed.offset is None else "int4_g64_offset",
        "shape": str(list(packed.shape)),
    }
    assert block.dtype == np.uint8
    assert block.tobytes() == packed._native.block.tobytes()
    assert offset_of_data(path) % 64 == 0


def test_the_block_is_mapped_and_not_copied(path):
    PACKED["int8"]().save(path)
    loaded = fbg.PackedB.load(path)
    address = loaded._native.block.ctypes.data
    for line in Path("/proc/self/maps").read_text().splitlines():
        first, last = (int(end, 16) for end in line.split()[0].split("-"))
        if first <= address < last:
            assert line.endswith(str(path)), line
            break
    else:
        raise AssertionError("the block is nowhere")


def test_the_block_is_read_only_and_outlives_its_owner(path):
    PACKED["int8"]().save(path)
    expected = path.read_bytes()[offset_of_data(path) :]
    block = fbg.PackedB.load(path)._native.block
    assert not block.flags.writeable
    path.unlink()
    assert block.tobytes() == expected


def test_weights_stay_when_their_file_is_replaced_or_removed(path):
    packed, other = PACKED["int8"](), PACKED["float32"]()
    packed.save(path)
    loaded = fbg.PackedB.load(path)
    other.save(path, overwrite=True)
    assert_same(loaded, packed)
    assert_same(fbg.PackedB.load(path), other)
    path.unlink()
    assert_same(loaded, packed)


def test_loaded_weights_can_be_saved_over_their_own_file(path):
    packed = PACKED["int8"]()
    packed.save(path)
    fbg.PackedB.load(path).save(path, overwrite=True)
    assert_same(fbg.PackedB.load(path), packed)


def test_a_file_is_replaced_only_when_asked_to(path):
    packed = PACKED["int8"]()
    packed.save(path)
    with pytest.raises(FileExistsError, match="already exists; pass overwrite=True"):
        PACKED["float32"]().save(path)
    assert_same(fbg.PackedB.load(path), packed)
    PACKED["float32"]().save(path, overwrite=True)
    assert_same(fbg.PackedB.load(path), PACKED["float32"]())


@pytest.mark.parametrize("kind", [fbg.PackedB, fbg.Model])
def test_all_that_save_have_the_same_rule(kind):
    parameter = inspect.signature(kind.save).parameters["overwrite"]
    assert parameter.kind is inspect.Parameter.KEYWORD_ONLY
    assert parameter.default is False


def test_a_directory_that_does_not_exist_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError):
        PACKED["int8"]().save(tmp_path / "none" / "w")
    (tmp_path / "here").mkdir()
    with pytest.raises(IsADirectoryError):
        PACKED["int8"]().save(tmp_path / "here")
    assert os.listdir(tmp_path) == ["here"]


@pytest.mark.parametrize("wrong", [None, 3, b"bytes", ["w"]])
def test_a_path_that_is_no_path_is_a_type_error(wrong):
    with pytest.raises(TypeError, match=r"PackedB\.save: path must be a str or PathLike"):
        PACKED["int8"]().save(wrong)
    with pytest.raises(TypeError, match=r"PackedB\.load: path must be a str or PathLike"):
        fbg.PackedB.load(wrong)


# --- Files that are refused -----------------------------------------------------------------------


def test_bfloat16_keeps_its_dtype(path):
    PACKED["bfloat16"]().save(path)
    assert fbg.PackedB.load(path).dtype == np.dtype(ml_dtypes.bfloat16)
