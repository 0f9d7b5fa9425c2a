"""Saved models: the same bits come back, mapped and not copied."""

import json
import shutil
from pathlib import Path

import pytest

import fbg
from fbg.saved_file import SavedFile
from helpers import tiny_models
from helpers.safetensors_files import change_header
from helpers.saved_models import WEIGHTS, results

TEXTS = ["a word, and another", "b", ""]


@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_the_same_bits_come_back_under_every_isa(checkpoint, tmp_path, dtype, isa):
    model = fbg.load(checkpoint, dtype=dtype)
    model.save(tmp_path / "saved")
    loaded = fbg.load(tmp_path / "saved")
    assert loaded.dtype == dtype
    assert loaded.sentence == model.sentence
    assert loaded.max_length == model.max_length == 12
    assert results(loaded) == results(model)
    assert loaded.encode(TEXTS).tobytes() == model.encode(TEXTS).tobytes()


@pytest.mark.parametrize("dtype", ["int8", "float32"])
@pytest.mark.parametrize("name", tiny_models.CONFIGS)
def test_every_family_comes_back(tmp_path, name, dtype):
    source = tiny_models.write_tiny(tmp_path / "model", name)
    model = fbg.load(source, dtype=dtype)
    model.save(tmp_path / "saved")
    loaded = fbg.load(tmp_path / "saved")
    inputs = tiny_models.golden_inputs(tiny_models.tiny_model(name).config)
    assert results(loaded, inputs["full"], None) == results(model, inputs["full"], None)


@pytest.mark.parametrize("name", ["bert", "albert", "mpnet"])
def test_models_that_version_0_2_saved_come_back(tmp_path, name):
    """Version 2 of the format: BERT and its relatives had another name for a norm."""

    def former(header):
        about = header["__metadata__"]
        checksums = json.loads(about["checksums"])
        for names in (header, checksums):
            for field in [field for field in names if ".mlp_norm." in field]:
                names[field.replace(".mlp_norm.", ".output_norm.")] = names.pop(field)
        about.update(version="2", checksums=json.dumps(checksums))

    source = tiny_models.write_tiny(tmp_path / "model", name)
    model = fbg.load(source, dtype="int8")
    model.save(tmp_path / "saved")
    change_header(tmp_path / "saved" / WEIGHTS, former)
    loaded = fbg.load(tmp_path / "saved")
    inputs = tiny_models.golden_inputs(tiny_models.tiny_model(name).config)
    assert results(loaded, inputs["full"], None) == results(model, inputs["full"], None)
    model.save(tmp_path / "new")
    loaded.save(tmp_path / "again")
    saved, again = ((tmp_path / name / WEIGHTS).read_bytes() for name in ("new", "again"))
    assert saved == again


def test_the_file_does_not_depend_on_the_isa(original, tmp_path):
    files = set()
    for name in fbg.isa.supported():
        with fbg.isa.limit(name):
            original.save(tmp_path / name)
        files.add((tmp_path / name / WEIGHTS).read_bytes())
    assert len(files) == 1


def test_loading_packs_and_quantizes_nothing(saved):
    before = fbg.pack_count()
    fbg.load(saved).encode(TEXTS)
    assert fbg.pack_count() == before


@pytest.mark.parametrize("copies", [False, True])
def test_weights_and_tables_are_mapped(saved, copies, monkeypatch):
    before = results(fbg.load(saved))
    monkeypatch.setattr(SavedFile, "copies", copies)
    model = fbg.load(saved)
    tensors = model.network
    arrays = [(tensors.layers[0].qkv.weight.block, not copies), (tensors.embeddings.word, True)]
    for array, mapped in arrays:
        address = array.ctypes.data
        for line in Path("/proc/self/maps").read_text().splitlines():
            first, last = (int(end, 16) for end in line.split()[0].split("-"))
            if first <= address < last:
                assert line.endswith(f"saved/{WEIGHTS}") == mapped, line
                break
        else:
            raise AssertionError("nowhere")
    assert results(model) == before


def test_a_saved_model_can_be_saved_again(saved, tmp_path):
    fbg.load(saved).save(tmp_path / "again")
    assert (tmp_path / "again" / WEIGHTS).read_bytes() == (saved / WEIGHTS).read_bytes()


def test_a_model_runs_on_when_its_files_are_removed(saved):
    model = fbg.load(saved)
    expected = results(model)
    shutil.rmtree(saved)
    assert results(model) == expected


def test_dtype_is_that_of_the_saved_model(saved):
    assert fbg.load(saved).dtype == fbg.load(saved, dtype="int8").dtype == "int8"
    with pytest.raises(ValueError, match=r"load: dtype must be 'int8', .* got 'float32'"):
        fbg.load(saved, dtype="float32")
