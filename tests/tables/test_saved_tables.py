"""Tables in files: mapped, never copied, and refused where the file is not what it should be."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

import fbg
from fbg.quantization import quantize_rowwise
from fbg.tables.rows import DTYPES

F32 = np.float32
TABLE = np.random.default_rng(0).standard_normal((9, 6)).astype(F32)
INDICES = np.array([[0, 8, 3], [8, 8, 1]])


def load(path, *given, **options):
    return fbg.EmbeddingBag.load(path, *given, **options)


def edit_header(path, edit):
    """Change the JSON of a safetensors file, whose length stays."""
    content = path.read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.loads(content[8 : 8 + length])
    edit(header)
    text = json.dumps(header).encode()
    text += b" " * (-(8 + len(text)) % 64)
    path.write_bytes(len(text).to_bytes(8, "little") + text + content[8 + length :])


def edit_options(edit):
    def edited(header):
        options = json.loads(header["__metadata__"]["table"])
        edit(options)
        header["__metadata__"]["table"] = json.dumps(options)

    return edited


@pytest.mark.parametrize("verify", [True, False])
@pytest.mark.parametrize("dtype", DTYPES)
def test_a_saved_table_is_what_it_was(tmp_path, dtype, verify):
    path = tmp_path / "t.safetensors"
    for settings in (
        {"mode": "mean", "padding_idx": 8, "include_last_offset": True, "prefetch": 3},
        {"mode": "max", "remap": np.array([8, -1, 0, 1, 2, 3, 4, 5, 6, 7], np.int32)},
    ):
        bag = fbg.EmbeddingBag(TABLE, dtype, **settings)
        bag.save(path, overwrite=True)
        other = load(path, verify=verify)
        assert other(INDICES).tobytes() == bag(INDICES).tobytes()
        assert repr(other) == repr(bag)
        for name in ("padding_idx", "include_last_offset", "_prefetch", "nbytes"):
            assert getattr(other, name) == getattr(bag, name)
        assert not other._rows.data.flags.owndata


def test_a_matrix_with_scales_in_float16_is_saved_as_it_is(tmp_path):
    bag = fbg.EmbeddingBag(quantize_rowwise(TABLE, 8, np.float16))
    bag.save(tmp_path / "t")
    assert load(tmp_path / "t")(INDICES).tobytes() == bag(INDICES).tobytes()
    fbg.EmbeddingBag(TABLE[:0]).save(tmp_path / "empty")
    assert load(tmp_path / "empty").shape == (0, 6)


def test_other_programs_read_the_file(tmp_path):
    bag = fbg.EmbeddingBag(TABLE, "int4")
    bag.save(str(tmp_path / "t.safetensors"))
    assert load_file(tmp_path / "t.safetensors")["rows"].tobytes() == bag._rows.data.tobytes()
    with safe_open(tmp_path / "t.safetensors", "np") as file:
        assert json.loads(file.metadata()["table"])["columns"] == 6


def test_a_file_is_replaced_only_when_asked(tmp_path):
    path = tmp_path / "t"
    fbg.EmbeddingBag(TABLE).save(path)
    mapped = load(path)
    with pytest.raises(FileExistsError, match="pass overwrite=True"):
        fbg.EmbeddingBag(TABLE).save(path)
    fbg.EmbeddingBag(2 * TABLE).save(path, overwrite=True)
    assert mapped(INDICES[:, :1]).tobytes() == TABLE[INDICES[:, 0]].tobytes()
    assert load(path)(INDICES[:, :1]).tobytes() == (2 * TABLE)[INDICES[:, 0]].tobytes()
    assert os.listdir(tmp_path) == ["t"]


def test_a_tensor_of_any_file_is_mapped(tmp_path):
    path = tmp_path / "model.safetensors"
    rows = quantize_rowwise(TABLE, 4, np.float16).fused()
    save_file({"a.weight": TABLE, "b": TABLE.astype(np.float16), "rows": rows}, path)
    bag = load(path, "a.weight", mode="mean")
    assert bag(INDICES).tobytes() == fbg.EmbeddingBag(TABLE, mode="mean")(INDICES).tobytes()
    assert not bag._rows.data.flags.owndata
    assert load(path, "a.weight", dtype="int8").dtype == "int8"
    assert load(path, "b").dtype == "float16"
    fused = load(path, "rows", columns=6, dtype="int4", padding_idx=1)
    expected = fbg.EmbeddingBag.from_fused(rows, 6, "int4", padding_idx=1)
    assert fused(INDICES).tobytes() == expected(INDICES).tobytes()


def test_bfloat16_of_a_file(tmp_path):
    import ml_dtypes

    rows = TABLE.astype(ml_dtypes.bfloat16)
    save_file({"w": rows.view(np.uint16)}, tmp_path / "t")
    edit_header(tmp_path / "t", lambda header: header["w"].update(dtype="BF16"))
    bag = load(tmp_path / "t", "w")
    assert (bag.dtype, bag.shape) == ("bfloat16", (9, 6))
    assert bag(INDICES[:, :1]).tobytes() == rows[INDICES[:, 0]].astype(F32).tobytes()


def test_indices_beyond_31_bits(tmp_path):
    """A sparse file of 19 GB, of which one row is written."""
    rows, path = 2**31 + 10, tmp_path / "big.safetensors"
    entry = {"dtype": "U8", "shape": [rows, 9], "data_offsets": [0, 9 * rows]}
    text = json.dumps({"t": entry}).encode()
    row = np.zeros(9, np.uint8)
    row[0], row[1:] = 7, np.array([0.5, 1], F32).view(np.uint8)
    with path.open("wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        os.truncate(path, 8 + len(text) + 9 * rows)
        file.seek(9 * (rows - 3), os.SEEK_CUR)
        file.write(row.tobytes())
    bag = load(path, "t", columns=1, verify=False)
    assert bag.shape == (rows, 1)
    assert bag(np.array([[0, rows - 3], [5, rows - 1]])).tolist() == [[4.5], [0.0]]
    for out in (None, np.zeros((1, 1), F32)):
        with pytest.raises(ValueError, match=rf"within \[0, {rows}\), got {rows} at \(0, 0\)"):
            bag(np.array([[rows]]), out=out)


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_scales_that_are_not_finite_give_such_sums(tmp_path, value):
    rows = quantize_rowwise(TABLE).fused()
    rows[3, 6:10] = np.array([value], F32).view(np.uint8)
    save_file({"t": rows}, tmp_path / "t")
    with pytest.raises(ValueError, match=rf"must be finite, got {value} at \(3, 0\)"):
        load(tmp_path / "t", "t", columns=6)
    bag = load(tmp_path / "t", "t", columns=6, verify=False)
    assert not np.isfinite(bag(np.array([[0, 3]]))).any()
    assert np.isfinite(bag(np.array([[0, 4]]))).all()


TENSORS = {
    "float64": TABLE.astype(np.float64),
    "flat": TABLE.reshape(-1),
    "none": TABLE[:, :0],
    "w": TABLE,
    "rows": quantize_rowwise(TABLE).fused(),
}
REFUSED = {
    "tensor x: missing; it has ": ("x", {}),
    "tensor float64: must be 2-D of float32, .* or uint8, got float64": ("float64", {}),
    r"tensor flat: must be 2-D of .*, got float32 of shape \(54,\)": ("flat", {}),
    "table must have 1 to 16777216 columns, got 0": ("none", {}),
    "unexpected keyword argument 'modes'": ("w", {"modes": "sum"}),
    "unexpected keyword argument 'dtyp'": ("rows", {"columns": 6, "dtyp": "int8"}),
    "fused must have 13 bytes per row for 5 columns of int8 and float32": ("rows", {"columns": 5}),
    "not a table that fbg saved": (None, {}),
    "options go with a tensor, got mode": (None, {"mode": "sum"}),
    "verify must be True or False, got 1": ("w", {"verify": 1}),
}


@pytest.mark.parametrize("message", REFUSED)
def test_what_is_refused_of_other_files(tmp_path, message):
    save_file(TENSORS, tmp_path / "t")
    tensor, options = REFUSED[message]
    with pytest.raises((TypeError, ValueError), match=message):
        load(tmp_path / "t", tensor, **options)


DAMAGES = {
    "version 2 is newer": lambda header: header["__metadata__"].update(version="2"),
    "its metadata has no table": lambda header: header["__metadata__"].update(table="[]"),
    "columns": edit_options(lambda options: options.pop("columns")),
    "fused must have 13 bytes": edit_options(lambda options: options.update(columns=5)),
    "dtype must be": edit_options(lambda options: options.update(dtype=["int8"])),
    "mode must be": edit_options(lambda options: options.update(mode=3)),
    "unexpected keyword argument 'no'": edit_options(lambda options: options.update(no=3)),
    "verify": edit_options(lambda options: options.update(verify=False)),
    "padding_idx must be an integer": edit_options(lambda options: options.update(padding_idx="")),
    "6 columns of float16 in rows": edit_options(lambda options: options.update(dtype="float16")),
    "its header describes": lambda header: header["rows"].update(
        shape=[8, 14], data_offsets=[0, 112]
    ),
    "rows: the checksum does not match": lambda header: header["__metadata__"].update(
        checksums=json.dumps({"rows": 1})
    ),
}


@pytest.mark.parametrize("message", DAMAGES)
def test_damaged_files_are_refused_by_name(tmp_path, message):
    path = tmp_path / "damaged"
    fbg.EmbeddingBag(TABLE, "int8").save(path)
    edit_header(path, DAMAGES[message])
    with pytest.raises(fbg.ModelError, match=message) as caught:
        load(path)
    assert str(path) in str(caught.value)


def test_a_tensor_that_is_not_aligned_is_copied(tmp_path):
    head = {
        "a": {"dtype": "U8", "shape": [3], "data_offsets": [0, 3]},
        "w": {"dtype": "F32", "shape": [*TABLE.shape], "data_offsets": [3, 3 + TABLE.nbytes]},
    }
    header = json.dumps(head).encode()
    content = len(header).to_bytes(8, "little") + header + b"abc" + TABLE.tobytes()
    (tmp_path / "t").write_bytes(content)
    indices = np.arange(len(TABLE)).reshape(-1, 1)
    np.testing.assert_array_equal(load(tmp_path / "t", "w")(indices), TABLE)


def test_out_may_not_overlap_the_mapping_of_a_pruned_table():
    remap = np.zeros((2, TABLE.shape[1]), np.int32)
    bag = fbg.EmbeddingBag(TABLE, remap=remap[0])
    with pytest.raises(ValueError, match="out must not overlap"):
        bag(np.array([[0], [1]]), out=remap.view(np.float32))


def test_every_truncation_is_refused(tmp_path):
    path = tmp_path / "t"
    fbg.EmbeddingBag(TABLE, "int8").save(path)
    content = path.read_bytes()
    for size in range(len(content)):
        path.write_bytes(content[:size])
        for tensor in (None, "rows"):
            with pytest.raises(fbg.ModelError, match=str(path)):
                load(path, tensor)
    with pytest.raises(fbg.ModelError, match=r"/missing: "):
        load(tmp_path / "missing")
    with pytest.raises(TypeError, match="path must be a str or PathLike, got int"):
        fbg.EmbeddingBag.load(3)
