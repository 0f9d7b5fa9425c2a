"""Saving a model: the directory is whole or not there at all, and replaces only what it may."""

import contextlib
import json
import os
import shutil
from pathlib import Path

import pytest
import safetensors

import fbg
from fbg import saved_file
from helpers import tiny_bert
from helpers.safetensors_files import offset_of_data, read_header
from helpers.saved_models import WEIGHTS, results


def test_the_file_is_a_safetensors_file_that_says_what_it_holds(saved):
    with safetensors.safe_open(saved / WEIGHTS, framework="numpy") as file:
        metadata, names = file.metadata(), set(file.keys())
    assert {"embeddings.word", "layers.0.qkv.weight", "layers.1.output.bias"} < names
    assert metadata["format"] == "fbg.Model"
    assert metadata["version"] == "4"
    assert metadata["fbg"] == fbg.__version__
    assert metadata["dtype"] == "int8"
    assert "symmetric" in metadata["method"]
    packed = json.loads(metadata["packed"])
    assert packed["layers.1.qkv.weight"] == "int8"
    assert packed["pooler.weight"] == "float32"


def test_blocks_are_aligned_and_files_complete(saved):
    first = offset_of_data(saved / WEIGHTS)
    entries = read_header(saved / WEIGHTS)
    del entries["__metadata__"]
    for entry in entries.values():
        is_block = entry["dtype"] == "U8" and len(entry["shape"]) == 1
        assert (first + entry["data_offsets"][0]) % (64 if is_block else 4) == 0
    files = {str(path.relative_to(saved)) for path in saved.rglob("*") if path.is_file()}
    copied = {"config.json", "tokenizer.json", "modules.json", "sentence_bert_config.json"}
    assert files == {WEIGHTS, "1_Pooling/config.json", *copied}


def test_what_is_there_is_replaced_only_when_asked(original, saved, checkpoint):
    before = (saved / WEIGHTS).stat().st_ino
    with pytest.raises(FileExistsError, match=r"saved: already exists; .*overwrite"):
        original.save(saved)
    assert (saved / WEIGHTS).stat().st_ino == before
    original.save(saved, overwrite=True)
    assert (saved / WEIGHTS).stat().st_ino != before
    assert results(fbg.load(saved)) == results(original)
    assert os.listdir(saved.parent) == ["saved"]


def test_a_model_can_replace_the_directory_it_was_loaded_from(saved):
    model = fbg.load(saved)
    expected = results(model)
    model.save(saved, overwrite=True)
    assert results(model) == results(fbg.load(saved)) == expected


def test_what_is_no_saved_model_is_never_replaced(original, checkpoint, tmp_path):
    (tmp_path / "file").write_text("mine")
    for path in (checkpoint, tmp_path, tmp_path / "file"):
        before = sorted(os.listdir(tmp_path)), sorted(os.listdir(checkpoint))
        with pytest.raises(FileExistsError, match="not a saved model"):
            original.save(path, overwrite=True)
        assert (sorted(os.listdir(tmp_path)), sorted(os.listdir(checkpoint))) == before


def test_an_empty_directory_and_a_link_to_one_are_filled(original, tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    original.save(str(tmp_path / "link"))
    assert (tmp_path / "link").is_symlink()
    assert results(fbg.load(tmp_path / "empty")) == results(original)


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_failed_save_leaves_what_was_there_and_nothing_else(
    original, saved, monkeypatch, overwrite
):
    target = saved if overwrite else saved.with_name("new")
    expected = results(fbg.load(saved))
    for owner, name in ((os, "fsync"), (Path, "write_bytes"), (Path, "rename")):
        with monkeypatch.context() as patch:
            real, calls = getattr(owner, name), []

            # The last rename of a save fails, and the one that takes it back works.
            def fail(*args, real=real, calls=calls):
                calls.append(args)
                if real is not Path.rename or len(calls) == 1 + overwrite:
                    raise OSError("disk on fire")
                return real(*args)

            patch.setattr(owner, name, fail)
            if owner is Path:  # as where two directories cannot be exchanged
                patch.setattr(saved_file, "_exchange", lambda a, b: False)
            with pytest.raises(OSError, match="disk on fire"):
                original.save(target, overwrite=overwrite)
        assert os.listdir(saved.parent) == ["saved"]
        assert results(fbg.load(saved)) == expected


def test_a_parent_that_is_not_there_is_an_os_error(original, tmp_path):
    with pytest.raises(FileNotFoundError):
        original.save(tmp_path / "none" / "saved")
    with pytest.raises(TypeError, match="save: directory must be a str or PathLike, got int"):
        original.save(3)
    assert os.listdir(tmp_path) == []


def test_a_folder_outside_of_the_model_is_not_copied(checkpoint, tmp_path):
    source = shutil.copytree(checkpoint, tmp_path / "model")
    (source / "1_Pooling").rename(tmp_path / "elsewhere")
    module = {"type": "sentence_transformers.models.Pooling", "path": "../elsewhere"}
    tiny_bert.write_json(source / "modules.json", [module])
    with pytest.raises(fbg.ModelError, match="not a folder in the directory of the model"):
        fbg.load(source).save(tmp_path / "saved")
    assert sorted(os.listdir(tmp_path)) == ["elsewhere", "model"]


def test_a_saved_model_is_replaced_in_one_step(original, saved, monkeypatch):
    """There is never a moment without a model under the name: the two directories are exchanged."""
    before = (saved / WEIGHTS).stat().st_ino
    monkeypatch.setattr(Path, "rename", lambda *names: pytest.fail(f"renamed: {names}"))
    original.save(saved, overwrite=True)
    assert (saved / WEIGHTS).stat().st_ino != before
    assert [path.name for path in saved.parent.iterdir() if saved.name in path.name] == [saved.name]


@pytest.mark.parametrize("answer", ["cannot", "fails"])
def test_where_directories_cannot_be_exchanged_they_are_renamed(
    answer, original, saved, monkeypatch
):
    def exchange(a, b):
        if answer == "fails":
            raise OSError("no")
        return False

    monkeypatch.setattr(saved_file, "_exchange", exchange)
    content = (saved / WEIGHTS).read_bytes()
    with pytest.raises(OSError) if answer == "fails" else contextlib.nullcontext():
        original.save(saved, overwrite=True)
    assert (saved / WEIGHTS).read_bytes() == content
    assert [path.name for path in saved.parent.iterdir() if saved.name in path.name] == [saved.name]
