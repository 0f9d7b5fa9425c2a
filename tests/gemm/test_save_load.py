"""Saved weights: the same bits come back, mapped and not copied, and no file can do harm."""

import copy
import json
import os
import pickle
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import safetensors
from hypothesis import given, settings
from hypothesis import strategies as st

import fbg
from helpers.formulas import Array
from helpers.fresh_python import run_python

RNG = np.random.default_rng(5)
FLOATS = RNG.standard_normal((37, 70), dtype=np.float32)
INTS = RNG.integers(-128, 128, (37, 70), dtype=np.int8)

PACKED: dict[str, Callable[[], fbg.PackedB]] = {
    "int8": lambda: fbg.PackedB(FLOATS),
    "int8_asymmetric": lambda: fbg.PackedB(FLOATS, symmetric=False),
    "int8_tensor": lambda: fbg.PackedB(FLOATS, granularity="tensor"),
    "int8_given": lambda: fbg.PackedB(INTS, scale=0.5, zero_point=3),
    "int8_no_scale": lambda: fbg.PackedB(INTS),
    "float32": lambda: fbg.PackedB(FLOATS, dtype="float32"),
    "float16": lambda: fbg.PackedB(FLOATS, dtype="float16"),
    "bfloat16": lambda: fbg.PackedB(FLOATS, dtype="bfloat16"),
    "no_rows": lambda: fbg.PackedB(FLOATS[:0]),
    "no_columns": lambda: fbg.PackedB(FLOATS[:, :0], symmetric=False),
    "no_elements": lambda: fbg.PackedB(FLOATS[:0, :0], dtype="float32"),
}


@pytest.fixture(params=PACKED)
def packed(request: pytest.FixtureRequest) -> fbg.PackedB:
    return PACKED[request.param]()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "w.safetensors"


def product(w: fbg.PackedB) -> Array:
    k = w.shape[0]
    x = np.random.default_rng(k).standard_normal((9, k), dtype=np.float32)
    if w.accum == "float32":
        return fbg.gemm(fbg.PackA(x), w)
    if w.scale is None:
        return fbg.gemm(fbg.PackA((x * 50).astype(np.uint8)), w)
    return fbg.linear(x, w)


def assert_same(a: fbg.PackedB, b: fbg.PackedB) -> None:
    assert repr(a) == repr(b)
    assert a.nbytes == b.nbytes
    assert a.dtype == b.dtype
    for name in ("scale", "zero_point", "column_offsets"):
        np.testing.assert_array_equal(getattr(a, name), getattr(b, name))
    assert a.unpack().tobytes() == b.unpack().tobytes()
    assert product(a).tobytes() == product(b).tobytes()


def offset_of_block(path: Path) -> int:
    with path.open("rb") as file:
        return 8 + int.from_bytes(file.read(8), "little")


def change_header(path: Path, change: Callable[[dict[str, Any]], object], spaces: bool = True):
    """Write the JSON anew after `change`, padded as it was unless the block is to move."""
    content, begin = path.read_bytes(), offset_of_block(path)
    header = json.loads(content[8:begin])
    change(header)
    text = json.dumps(header).encode()
    if spaces:
        text += b" " * (-(8 + len(text)) % 64)
    path.write_bytes(len(text).to_bytes(8, "little") + text + content[begin:])


# --- Round trips --------------------------------------------------------------------------------


@pytest.mark.parametrize("verify", [True, False])
def test_a_file_gives_back_the_same_bits(packed: fbg.PackedB, path: Path, verify: bool) -> None:
    packed.save(path)
    assert_same(fbg.PackedB.load(path, verify=verify), packed)


def test_results_are_the_same_under_every_isa(packed: fbg.PackedB, path: Path, isa: str) -> None:
    packed.save(path)
    assert product(fbg.PackedB.load(path)).tobytes() == product(packed).tobytes()


@pytest.mark.parametrize("name", fbg.isa.supported())
def test_the_file_does_not_depend_on_the_isa(name: str, path: Path) -> None:
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
def test_every_shape_comes_back(
    tmp_path_factory: pytest.TempPathFactory,
    k: int,
    n: int,
    name: Any,
    symmetric: bool,
    granularity: Any,
) -> None:
    path = tmp_path_factory.getbasetemp() / "shape.safetensors"
    w = np.random.default_rng(k + n).standard_normal((k, n), dtype=np.float32)
    packed = fbg.PackedB(w, dtype=name, symmetric=symmetric, granularity=granularity)
    packed.save(path)
    assert_same(fbg.PackedB.load(path), packed)
    assert_same(pickle.loads(pickle.dumps(packed)), packed)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_pickles_give_back_the_same_bits(packed: fbg.PackedB, protocol: int) -> None:
    assert_same(pickle.loads(pickle.dumps(packed, protocol)), packed)


def test_pickles_pass_the_block_on_without_a_copy() -> None:
    packed = PACKED["int8"]()
    buffers: list[pickle.PickleBuffer] = []
    data = pickle.dumps(packed, 5, buffer_callback=buffers.append)
    assert len(data) < 1000
    assert [buffer.raw().nbytes for buffer in buffers] == [packed.nbytes]
    assert_same(pickle.loads(data, buffers=buffers), packed)


def test_a_damaged_pickle_is_a_value_error() -> None:
    data = bytearray(pickle.dumps(PACKED["int8"]()))
    data[data.index(b"FBGPACKB") + 500] ^= 1
    with pytest.raises(ValueError, match="PackedB: the checksum does not match"):
        pickle.loads(data)


def test_copies_share_the_block(packed: fbg.PackedB) -> None:
    for other in (copy.copy(packed), copy.deepcopy(packed), copy.deepcopy([packed])[0]):
        assert other is not packed
        assert other._native is packed._native
        assert_same(other, packed)


def test_loading_packs_nothing(packed: fbg.PackedB, path: Path) -> None:
    packed.save(path)
    before = fbg.pack_count()
    product(fbg.PackedB.load(path))
    pickle.loads(pickle.dumps(packed))
    assert fbg.pack_count() == before


# --- The file -----------------------------------------------------------------------------------


def test_the_file_is_a_safetensors_file(packed: fbg.PackedB, path: Path) -> None:
    packed.save(path)
    with safetensors.safe_open(path, framework="numpy") as file:
        assert list(file.keys()) == ["packed_b"]
        metadata, block = file.metadata(), file.get_tensor("packed_b")
    assert metadata == {
        "format": "fbg.PackedB",
        "version": "1",
        "dtype": str(packed.dtype),
        "shape": str(list(packed.shape)),
    }
    assert block.dtype == np.uint8
    assert block.tobytes() == packed._native.block.tobytes()
    assert offset_of_block(path) % 64 == 0


def test_the_block_is_mapped_and_not_copied(path: Path) -> None:
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


def test_the_block_is_read_only_and_outlives_its_owner(path: Path) -> None:
    PACKED["int8"]().save(path)
    expected = path.read_bytes()[offset_of_block(path) :]
    block = fbg.PackedB.load(path)._native.block
    assert not block.flags.writeable
    path.unlink()
    assert block.tobytes() == expected


def test_weights_stay_when_their_file_is_replaced_or_removed(path: Path) -> None:
    packed, other = PACKED["int8"](), PACKED["float32"]()
    packed.save(path)
    loaded = fbg.PackedB.load(path)
    other.save(path)
    assert_same(loaded, packed)
    assert_same(fbg.PackedB.load(path), other)
    path.unlink()
    assert_same(loaded, packed)


def test_loaded_weights_can_be_saved_over_their_own_file(path: Path) -> None:
    packed = PACKED["int8"]()
    packed.save(path)
    fbg.PackedB.load(path).save(path)
    assert_same(fbg.PackedB.load(path), packed)


def test_no_file_stays_open(path: Path) -> None:
    PACKED["int8"]().save(path)
    before = len(os.listdir("/proc/self/fd"))
    kept = [fbg.PackedB.load(path) for _ in range(5)]
    assert len(os.listdir("/proc/self/fd")) == before
    assert len(kept) == 5


def test_a_failed_save_leaves_the_old_file_and_nothing_else(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    packed = PACKED["int8"]()
    packed.save(path)
    for name in ("fsync", "replace"):
        with monkeypatch.context() as patch:

            def fail(*args: object) -> None:
                raise OSError("disk on fire")

            patch.setattr(os, name, fail)
            with pytest.raises(OSError, match="disk on fire"):
                PACKED["float32"]().save(path)
        assert os.listdir(path.parent) == [path.name]
        assert_same(fbg.PackedB.load(path), packed)


def test_a_directory_that_does_not_exist_is_an_os_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        PACKED["int8"]().save(tmp_path / "none" / "w")
    (tmp_path / "here").mkdir()
    with pytest.raises(IsADirectoryError):
        PACKED["int8"]().save(tmp_path / "here")
    assert os.listdir(tmp_path) == ["here"]


def test_the_file_has_the_permissions_of_any_new_file(path: Path) -> None:
    PACKED["int8"]().save(path)
    other = path.with_name("other")
    other.touch()
    assert stat.S_IMODE(path.stat().st_mode) == stat.S_IMODE(other.stat().st_mode)


def test_a_link_is_followed(path: Path) -> None:
    link = path.with_name("link")
    link.symlink_to(path)
    PACKED["int8"]().save(link)
    assert link.is_symlink()
    assert_same(fbg.PackedB.load(link), fbg.PackedB.load(path))


@pytest.mark.parametrize("wrong", [None, 3, b"bytes", ["w"]])
def test_a_path_that_is_no_path_is_a_type_error(wrong: Any) -> None:
    with pytest.raises(TypeError, match=r"PackedB\.save: path must be a str or PathLike"):
        PACKED["int8"]().save(wrong)
    with pytest.raises(TypeError, match=r"PackedB\.load: path must be a str or PathLike"):
        fbg.PackedB.load(wrong)


# --- Files that are refused ---------------------------------------------------------------------


def refused(path: Path, reason: str, verify: bool = True) -> None:
    with pytest.raises(fbg.ModelError, match=reason) as caught:
        fbg.PackedB.load(path, verify=verify)
    assert str(path) in str(caught.value)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    refused(tmp_path / "none", "no such file")
    refused(tmp_path, "no such file")
    os.mkfifo(tmp_path / "pipe")
    refused(tmp_path / "pipe", "no such file")


@pytest.mark.parametrize("content", [b"", b"a", b"12345678", b"\0" * 8, b"\xff" * 9, b"x" * 5000])
def test_other_files_are_refused(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    refused(path, "not a safetensors file")


def test_the_safetensors_file_of_a_model_is_refused(path: Path) -> None:
    from safetensors.numpy import save_file

    save_file({"weight": FLOATS}, path)
    refused(path, "not a file of PackedB")
    save_file({"weight": FLOATS}, path, metadata={"format": "pt"})
    refused(path, r"not a file of PackedB: its format is 'pt'")


def test_every_truncation_is_refused(path: Path) -> None:
    PACKED["int8"]().save(path)
    content = path.read_bytes()
    edges = [0, 7, 8, 9, offset_of_block(path) - 1, offset_of_block(path), len(content) - 1]
    for size in [*edges, *range(0, len(content), 97)]:
        path.write_bytes(content[:size])
        refused(path, "truncated|safetensors", verify=size % 2 == 0)
    path.write_bytes(content + b"\0")
    refused(path, "truncated or damaged")


def test_a_newer_version_is_a_value_error_that_says_so(path: Path) -> None:
    PACKED["int8"]().save(path)
    begin = offset_of_block(path)
    content = bytearray(path.read_bytes())
    content[begin + 8] = 2
    path.write_bytes(content)
    with pytest.raises(ValueError, match="version 2 is newer than version 1"):
        fbg.PackedB.load(path)
    change_header(path, lambda header: header["__metadata__"].update(version="17"))
    refused(path, "version 17 is newer than version 1")


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
def test_a_damaged_description_is_refused(path: Path, change: Callable[[Any], object]) -> None:
    PACKED["int8"]().save(path)
    change_header(path, change)
    refused(path, "safetensors|PackedB|damaged")


@pytest.mark.parametrize("text", [b"[" * 60000, b'{"a":' * 9000, b"[]", b"1" * 6000, b"\xff\xfe"])
def test_a_header_that_is_no_json_object_is_refused(path: Path, text: bytes) -> None:
    path.write_bytes(len(text).to_bytes(8, "little") + text + b"\0" * 100)
    refused(path, "safetensors|PackedB")


def test_a_block_that_is_not_aligned_is_refused(path: Path) -> None:
    PACKED["int8"]().save(path)
    change_header(path, lambda header: header["__metadata__"].update(x="y"), spaces=False)
    refused(path, "not a multiple of 64")


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 0.0, -1.0])
def test_a_scale_that_is_not_finite_and_positive_is_refused(path: Path, value: float) -> None:
    packed = PACKED["int8"]()
    packed.save(path)
    content = bytearray(path.read_bytes())
    position = content.index(packed.scale.tobytes()) + 4 * 69  # that of the last column
    content[position : position + 4] = np.float32(value).tobytes()
    path.write_bytes(content)
    refused(path, "checksum")
    refused(path, "scale 69 is not finite and positive", verify=False)


def test_a_zero_point_out_of_range_is_refused(path: Path) -> None:
    packed = PACKED["int8_asymmetric"]()
    packed.save(path)
    content = bytearray(path.read_bytes())
    position = content.index(packed.zero_point.tobytes())
    content[position : position + 4] = (-129).to_bytes(4, "little", signed=True)
    path.write_bytes(content)
    refused(path, r"zero point 0 is outside \[-128, 127\]", verify=False)


@pytest.mark.parametrize("name", ["int8", "int8_asymmetric", "float32", "float16", "bfloat16"])
@settings(max_examples=150)
@given(data=st.data())
def test_damage_is_refused_or_harmless(
    tmp_path_factory: pytest.TempPathFactory, name: str, data: st.DataObject
) -> None:
    """Changed bytes, with and without a cut, anywhere; half of them where every byte matters."""
    path = tmp_path_factory.getbasetemp() / "damaged.safetensors"
    packed = PACKED[name]()
    packed.save(path)
    original = path.read_bytes()
    content, crucial = bytearray(original), offset_of_block(path) + 128
    for _ in range(data.draw(st.integers(1, 4))):
        end = crucial if data.draw(st.booleans()) else len(content)
        content[data.draw(st.integers(0, end - 1))] = data.draw(st.integers(0, 255))
    if data.draw(st.integers(0, 9)) == 0:
        del content[data.draw(st.integers(0, len(content))) :]
    path.write_bytes(content)
    try:
        assert_same(fbg.PackedB.load(path), packed)  # spaces of the JSON say nothing
    except fbg.ModelError as error:
        assert str(path) in str(error)
        assert content != original
    try:
        loaded = fbg.PackedB.load(path, verify=False)
    except fbg.ModelError as error:
        assert str(path) in str(error)
    else:
        product(loaded)
        loaded.unpack()


def test_every_flipped_bit_of_the_block_is_noticed(path: Path) -> None:
    PACKED["int8_asymmetric"]().save(path)
    original = path.read_bytes()
    begin = offset_of_block(path)
    for position in [*range(begin, begin + 128), *range(begin + 128, len(original), 61)]:
        content = bytearray(original)
        content[position] ^= 1 << position % 8
        path.write_bytes(content)
        refused(path, "PackedB: ")


def test_bfloat16_keeps_its_dtype(path: Path) -> None:
    PACKED["bfloat16"]().save(path)
    assert fbg.PackedB.load(path).dtype == np.dtype(ml_dtypes.bfloat16)
