"""Saved models: the same bits come back, mapped; whole or not at all; no file can do harm."""

import itertools
import json
import mmap
import os
import shutil
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import safetensors
from hypothesis import given, settings
from hypothesis import strategies as st

import fbg
from fbg.checkpoints.checkpoint import Checkpoint
from helpers import tiny_bert, tiny_models
from helpers.fresh_python import run_python

IDS = [[2, 17, 40, 8, 3], [2, 50, 3, 0, 0]]
MASK = [[1, 1, 1, 1, 1], [1, 1, 1, 0, 0]]
TEXTS = ["a word, and another", "b", ""]
WEIGHTS = "fbg.safetensors"

Change = Callable[[dict[str, Any]], object]


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model with the files of sentence-transformers, away from their defaults."""
    path = tmp_path_factory.mktemp("model")
    tiny_bert.write_checkpoint(path, seed=4, spread=0.25, pooling="cls")
    tiny_bert.write_json(path / "sentence_bert_config.json", {"max_seq_length": 12})
    return path


@pytest.fixture(scope="module")
def original(checkpoint: Path) -> fbg.Model:
    return fbg.load(checkpoint, dtype="int8")


@pytest.fixture
def saved(original: fbg.Model, tmp_path: Path) -> Path:
    original.save(tmp_path / "saved")
    return tmp_path / "saved"


def results(model: fbg.Model, ids: Any = IDS, mask: Any = MASK) -> bytes:
    output = model.forward(ids, mask)
    pooled = b"" if output.pooler_output is None else output.pooler_output.tobytes()
    return output.last_hidden_state.tobytes() + pooled


def offset_of_data(path: Path) -> int:
    return 8 + int.from_bytes(path.read_bytes()[:8], "little")


def read_header(path: Path) -> dict[str, Any]:
    header: dict[str, Any] = json.loads(path.read_bytes()[8 : offset_of_data(path)])
    return header


def change_header(path: Path, change: Change) -> None:
    content, begin, header = path.read_bytes(), offset_of_data(path), read_header(path)
    change(header)
    text = json.dumps(header).encode()
    text += b" " * (-(8 + len(text)) % 64)
    path.write_bytes(len(text).to_bytes(8, "little") + text + content[begin:])


# --- The same model -----------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_the_same_bits_come_back_under_every_isa(
    checkpoint: Path, tmp_path: Path, dtype: str, isa: str
) -> None:
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
def test_every_family_comes_back(tmp_path: Path, name: str, dtype: str) -> None:
    tiny = tiny_models.tiny_model(name)
    source = tiny_models.write_checkpoint(tmp_path / "model", tiny.config, tiny.tensors)
    model = fbg.load(source, dtype=dtype)
    model.save(tmp_path / "saved")
    loaded = fbg.load(tmp_path / "saved")
    inputs = tiny_models.golden_inputs(tiny.config)
    assert results(loaded, inputs["full"], None) == results(model, inputs["full"], None)


def test_the_file_does_not_depend_on_the_isa(original: fbg.Model, tmp_path: Path) -> None:
    files = set()
    for name in fbg.isa.supported():
        with fbg.isa.limit(name):
            original.save(tmp_path / name)
        files.add((tmp_path / name / WEIGHTS).read_bytes())
    assert len(files) == 1


def test_loading_packs_and_quantizes_nothing(saved: Path) -> None:
    before = fbg.pack_count()
    fbg.load(saved).encode(TEXTS)
    assert fbg.pack_count() == before


def test_weights_and_tables_are_mapped(saved: Path) -> None:
    model = fbg.load(saved)
    tensors = model._transformer
    for array in (tensors.layers[0].qkv.weight.block, tensors.embeddings.word):
        address = array.ctypes.data
        for line in Path("/proc/self/maps").read_text().splitlines():
            first, last = (int(end, 16) for end in line.split()[0].split("-"))
            if first <= address < last:
                assert line.endswith(f"saved/{WEIGHTS}"), line
                break
        else:
            raise AssertionError("nowhere")


def test_a_saved_model_can_be_saved_again(saved: Path, tmp_path: Path) -> None:
    fbg.load(saved).save(tmp_path / "again")
    assert (tmp_path / "again" / WEIGHTS).read_bytes() == (saved / WEIGHTS).read_bytes()


def test_a_model_runs_on_when_its_files_are_removed(saved: Path) -> None:
    model = fbg.load(saved)
    expected = results(model)
    shutil.rmtree(saved)
    assert results(model) == expected


def test_dtype_is_that_of_the_saved_model(saved: Path) -> None:
    assert fbg.load(saved).dtype == fbg.load(saved, dtype="int8").dtype == "int8"
    with pytest.raises(ValueError, match=r"load: dtype must be 'int8', .* got 'float32'"):
        fbg.load(saved, dtype="float32")


# --- The directory ------------------------------------------------------------------------------


def test_the_file_is_a_safetensors_file_that_says_what_it_holds(saved: Path) -> None:
    with safetensors.safe_open(saved / WEIGHTS, framework="numpy") as file:
        metadata, names = file.metadata(), set(file.keys())
    assert {"embeddings.word", "layers.0.qkv.weight", "layers.1.output.bias"} < names
    assert metadata["format"] == "fbg.Model"
    assert metadata["version"] == "2"
    assert metadata["fbg"] == fbg.__version__
    assert metadata["dtype"] == "int8"
    assert "symmetric" in metadata["method"]
    packed = json.loads(metadata["packed"])
    assert packed["layers.1.qkv.weight"] == "int8"
    assert packed["pooler.weight"] == "float32"


def test_blocks_are_aligned_and_files_complete(saved: Path) -> None:
    first = offset_of_data(saved / WEIGHTS)
    entries = read_header(saved / WEIGHTS)
    del entries["__metadata__"]
    for entry in entries.values():
        assert (first + entry["data_offsets"][0]) % (64 if entry["dtype"] == "U8" else 4) == 0
    files = {str(path.relative_to(saved)) for path in saved.rglob("*") if path.is_file()}
    copied = {"config.json", "tokenizer.json", "modules.json", "sentence_bert_config.json"}
    assert files == {WEIGHTS, "1_Pooling/config.json", *copied}


def test_what_is_there_is_replaced_only_when_asked(
    original: fbg.Model, saved: Path, checkpoint: Path
) -> None:
    before = (saved / WEIGHTS).stat().st_ino
    with pytest.raises(FileExistsError, match=r"saved: exists; .*overwrite"):
        original.save(saved)
    assert (saved / WEIGHTS).stat().st_ino == before
    original.save(saved, overwrite=True)
    assert (saved / WEIGHTS).stat().st_ino != before
    assert results(fbg.load(saved)) == results(original)
    assert os.listdir(saved.parent) == ["saved"]


def test_a_model_can_replace_the_directory_it_was_loaded_from(saved: Path) -> None:
    model = fbg.load(saved)
    expected = results(model)
    model.save(saved, overwrite=True)
    assert results(model) == results(fbg.load(saved)) == expected


def test_what_is_no_saved_model_is_never_replaced(
    original: fbg.Model, checkpoint: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("mine")
    for path in (checkpoint, tmp_path, tmp_path / "file"):
        before = sorted(os.listdir(tmp_path)), sorted(os.listdir(checkpoint))
        with pytest.raises(FileExistsError, match="not a saved model"):
            original.save(path, overwrite=True)
        assert (sorted(os.listdir(tmp_path)), sorted(os.listdir(checkpoint))) == before


def test_an_empty_directory_and_a_link_to_one_are_filled(
    original: fbg.Model, tmp_path: Path
) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "empty")
    original.save(str(tmp_path / "link"))
    assert (tmp_path / "link").is_symlink()
    assert results(fbg.load(tmp_path / "empty")) == results(original)


@pytest.mark.parametrize("overwrite", [False, True])
def test_a_failed_save_leaves_what_was_there_and_nothing_else(
    original: fbg.Model, saved: Path, monkeypatch: pytest.MonkeyPatch, overwrite: bool
) -> None:
    target = saved if overwrite else saved.with_name("new")
    expected = results(fbg.load(saved))
    for owner, name in ((os, "fsync"), (shutil, "copyfile"), (Path, "rename")):
        with monkeypatch.context() as patch:
            real, calls = getattr(owner, name), []

            # Of renames the last of a save fails, and the one that takes it back works.
            def fail(*args: Any, real: Any = real, calls: list[Any] = calls) -> object:
                calls.append(args)
                if real is not Path.rename or len(calls) == 1 + overwrite:
                    raise OSError("disk on fire")
                return real(*args)

            patch.setattr(owner, name, fail)
            with pytest.raises(OSError, match="disk on fire"):
                original.save(target, overwrite=overwrite)
        assert os.listdir(saved.parent) == ["saved"]
        assert results(fbg.load(saved)) == expected


def test_a_parent_that_is_not_there_is_an_os_error(original: fbg.Model, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        original.save(tmp_path / "none" / "saved")
    with pytest.raises(TypeError, match="save: directory must be a str or PathLike, got int"):
        original.save(3)  # type: ignore[arg-type]
    assert os.listdir(tmp_path) == []


def test_a_folder_outside_of_the_model_is_not_copied(checkpoint: Path, tmp_path: Path) -> None:
    source = shutil.copytree(checkpoint, tmp_path / "model")
    (source / "1_Pooling").rename(tmp_path / "elsewhere")
    module = {"type": "sentence_transformers.models.Pooling", "path": "../elsewhere"}
    tiny_bert.write_json(source / "modules.json", [module])
    with pytest.raises(fbg.ModelError, match="not in the directory of the model"):
        fbg.load(source).save(tmp_path / "saved")
    assert sorted(os.listdir(tmp_path)) == ["elsewhere", "model"]


# --- Files that are refused ---------------------------------------------------------------------


def refused(saved: Path, reason: str) -> None:
    with pytest.raises(fbg.ModelError, match=reason) as caught:
        fbg.load(saved)
    assert WEIGHTS in str(caught.value)


@pytest.mark.parametrize("content", [b"", b"12345678", b"\0" * 8, b"\xff" * 9, b"x" * 50])
def test_other_files_are_refused(saved: Path, content: bytes) -> None:
    (saved / WEIGHTS).write_bytes(content)
    refused(saved, "not a safetensors file")


def test_the_safetensors_file_of_a_checkpoint_is_refused(saved: Path, checkpoint: Path) -> None:
    shutil.copyfile(checkpoint / "model.safetensors", saved / WEIGHTS)
    refused(saved, "not a model that fbg saved")


def test_a_newer_version_is_named(saved: Path) -> None:
    change_header(saved / WEIGHTS, lambda h: h["__metadata__"].update(version="3"))
    refused(saved, "format version 3 is newer than version 2")


def test_truncated_files_are_refused(saved: Path) -> None:
    path = saved / WEIGHTS
    content, begin = path.read_bytes(), offset_of_data(path)
    for size in (0, 7, 8, begin - 1, begin, begin + 64, len(content) // 2, len(content) - 1):
        path.write_bytes(content[:size])
        refused(saved, "truncated")
    path.write_bytes(content + b"\0")
    refused(saved, "truncated or damaged")


def test_a_damaged_tensor_is_named_whichever_it_is(saved: Path) -> None:
    path = saved / WEIGHTS
    content, begin, header = path.read_bytes(), offset_of_data(path), read_header(path)
    del header["__metadata__"]
    for name, entry in header.items():
        damaged = bytearray(content)
        damaged[begin + sum(entry["data_offsets"]) // 2] ^= 4
        path.write_bytes(damaged)
        refused(saved, f"tensor {name}: ")


@settings(max_examples=150)
@given(data=st.data())
def test_no_change_of_a_byte_goes_unnoticed(
    original: fbg.Model, tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    saved = tmp_path_factory.getbasetemp() / "bytes"
    original.save(saved, overwrite=True)
    path = saved / WEIGHTS
    begin, size = offset_of_data(path), path.stat().st_size
    place = data.draw(st.one_of(st.integers(0, begin - 1), st.integers(begin, size - 1)))
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as content:
        content[place] ^= data.draw(st.integers(1, 255))
    try:
        model = fbg.load(saved)
    except ValueError as error:
        assert WEIGHTS in str(error) or "dtype" in str(error)
    else:  # a letter of the prose in the metadata
        assert place < begin
        assert results(model) == results(original)


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
            r"tensor layers\.0\.qkv\.weight: must be packed for float32, got PackedBInt8",
        ),
        (lambda h: h["__metadata__"].pop("checksums"), "no checksums"),
        (lambda h: h["__metadata__"].update(checksums="[" * 9999), "no checksums"),
        (lambda h: h["__metadata__"].update(checksums="{}"), "the checksum does not match"),
        (lambda h: h.update(more=h["pooler.bias"]), "tensor more: no part of this model"),
        (lambda h: h.pop("layers.1.qkv.bias"), r"tensor layers\.1\.qkv\.bias: missing"),
        (lambda h: h.pop("layers.1.qkv.weight"), r"tensor layers\.1\.qkv\.weight: missing"),
        (
            lambda h: h.update({"layers.0.qkv.weight": h["layers.0.output.weight"]}),
            r"tensor layers\.0\.qkv\.weight: must have shape \(48, 144\), got \(100, 48\)",
        ),
        (
            lambda h: h.update({"embeddings.position": h["embeddings.word"]}),
            r"tensor embeddings\.position: must have shape \(40, 48\), got \(99, 48\)",
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
def test_a_header_that_makes_no_sense_is_refused(saved: Path, change: Change, reason: str) -> None:
    change_header(saved / WEIGHTS, change)
    refused(saved, reason)


def test_a_tensor_under_another_name_is_noticed(saved: Path) -> None:
    def rename_pooler(header: dict[str, Any]) -> None:
        for name in ("pooler.weight", "pooler.bias"):
            header[f"layers.0.{name}"] = header.pop(name)

    change_header(saved / WEIGHTS, rename_pooler)
    refused(saved, r"tensor layers\.0\.pooler\.bias: no part of this model")


def test_a_tensor_that_was_there_when_it_was_written_is_missed(saved: Path) -> None:
    def add_checksum(header: dict[str, Any]) -> None:
        checksums = json.loads(header["__metadata__"]["checksums"])
        header["__metadata__"]["checksums"] = json.dumps({**checksums, "a.b": 0})

    change_header(saved / WEIGHTS, add_checksum)
    refused(saved, r"tensor a\.b: missing")


def test_the_weights_of_another_model_are_refused(saved: Path) -> None:
    config = json.loads((saved / "config.json").read_text())
    tiny_bert.write_json(saved / "config.json", {**config, "num_hidden_layers": 1})
    refused(saved, r"tensor layers\.1\..*: no part of this model")
    tiny_bert.write_json(saved / "config.json", {**config, "num_hidden_layers": 3})
    refused(saved, r"tensor layers\.2\.qkv\.weight: missing")


def test_no_file_stays_open(saved: Path) -> None:
    before = len(os.listdir("/proc/self/fd"))
    kept = [fbg.load(saved) for _ in range(3)]
    assert len(os.listdir("/proc/self/fd")) == before
    change_header(saved / WEIGHTS, lambda h: h["__metadata__"].update(checksums="{}"))
    for _ in range(3):
        refused(saved, "checksum")
    assert len(os.listdir("/proc/self/fd")) == before
    assert len(kept) == 3


@given(content=st.binary(max_size=300), pieces=st.lists(st.integers(0, 4), max_size=9))
def test_a_checksum_does_not_depend_on_pieces_and_sees_every_byte(
    content: bytes, pieces: list[int]
) -> None:
    def checksum(*parts: bytes) -> int:
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


# --- Memory -------------------------------------------------------------------------------------


def test_quantizing_keeps_no_float32_weights(
    checkpoint: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = Checkpoint.tensor
    tensors: dict[str, weakref.ref[Any]] = {}

    def watched(self: Checkpoint, name: str, *shape: int, **options: Any) -> Any:
        tensor = read(self, name, *shape, **options)
        tensors[name] = weakref.ref(tensor)
        return tensor

    monkeypatch.setattr(Checkpoint, "tensor", watched)
    model = fbg.load(checkpoint, dtype="int8")
    alive = {name for name, tensor in tensors.items() if tensor() is not None}
    assert alive  # the tables of embeddings and the norms
    assert not {name for name in alive if "dense" in name and name.endswith("weight")}
    assert not {name for name in alive if "self" in name}
    assert model.memory_report().packed_weights > 0


def test_a_process_holds_int8_weights_only(checkpoint: Path, tmp_path: Path) -> None:
    geometry = tiny_bert.Geometry(512, 4, 8, 2048, vocab_size=99)  # 48 MiB, 12 in int8
    tiny_bert.write_checkpoint(tmp_path, geometry)
    code = f"""
import ctypes, gc, fbg
def resident():
    gc.collect()
    getattr(ctypes.CDLL(None), "malloc_trim", int)(0)  # what is free goes back to the system
    return int(open("/proc/self/statm").read().split()[1]) * 4096
fbg.load({str(checkpoint)!r}, dtype="int8").encode("a")
before = resident()
model = fbg.load({str(tmp_path)!r}, dtype="int8", num_threads=1)
print(resident() - before, model.memory_report().total)
"""
    result = run_python(code)
    assert result.returncode == 0, result.stderr
    grown, reported = map(int, result.stdout.split())
    assert reported < 16 << 20
    assert grown < reported + (8 << 20)


def test_memory_report_adds_up(original: fbg.Model, saved: Path) -> None:
    model = fbg.load(saved)
    fresh, owned = model.memory_report(), original.memory_report()
    assert fresh.mapped and not owned.mapped
    assert fresh.arenas == fresh.owned == 0
    assert (fresh.packed_weights, fresh.embeddings, fresh.vectors) == (
        owned.packed_weights,
        owned.embeddings,
        owned.vectors,
    )
    assert fresh.embeddings == 4 * 48 * (99 + 40 + 2)
    entries = read_header(saved / WEIGHTS)
    del entries["__metadata__"]
    assert fresh.total == max(entry["data_offsets"][1] for entry in entries.values())
    results(model)
    after = model.memory_report()
    assert after.arenas == model.plan(tokens=10).arena_bytes > 0
    assert after.owned == after.arenas
    for part in ("packed weights", "embeddings", "norms and biases", "arenas", "mapped", "total"):
        assert part in str(after)


# --- Plans --------------------------------------------------------------------------------------


def test_a_plan_names_ops_kernels_and_memory(original: fbg.Model, isa: str) -> None:
    report = original.plan(tokens=30)
    text = str(report)
    linears = [op for op in report.ops if op.name.startswith("linear")]
    assert len(linears) == 2 * 4 + 1
    assert [op.name for op in report.ops[:2]] == ["embedding", "layer_norm"]
    assert report.ops[2].name.startswith("linear int8 48x144")
    # What a limit allows may be more than what a family of kernels makes use of.
    isas = {isa, *fbg.isa.supported()[: fbg.isa.supported().index(isa) + 1]}
    for op in linears:
        assert op.kernel.startswith("gemm_")
        assert any(f"_{name}" in op.kernel for name in isas), op.kernel
        assert op.kernel in text
    assert not any(op.kernel for op in report.ops if op not in linears)
    for op in report.ops:
        assert op.name in text
        for offset, size in ((op.offset, op.bytes), (op.scratch_offset, op.scratch_bytes)):
            assert offset % 64 == 0 or not size
            assert offset + size <= report.arena_bytes


def test_kernels_of_a_plan_are_those_that_were_generated(original: fbg.Model) -> None:
    if fbg.isa.active() == "generic":
        pytest.skip("the portable kernel is not generated")
    generated = {kernel.name for kernel in fbg.kernels()}
    for tokens in (1, 100, 1024):
        kernels = {op.kernel for op in original.plan(tokens).ops} - {""}
        generated |= {kernel.name for kernel in fbg.kernels()}
        assert kernels <= generated


def test_outputs_and_scratch_of_a_plan_never_overlap(original: fbg.Model) -> None:
    for op in original.plan(tokens=64).ops:
        if op.bytes and op.scratch_bytes:
            first, second = sorted([(op.offset, op.bytes), (op.scratch_offset, op.scratch_bytes)])
            assert first[0] + first[1] <= second[0]


@pytest.mark.parametrize(
    ("tokens", "error"), [(0, ValueError), (1025, ValueError), (1.5, TypeError), ("3", TypeError)]
)
def test_a_plan_of_an_impossible_size_is_refused(
    original: fbg.Model, tokens: Any, error: type[Exception]
) -> None:
    with pytest.raises(error, match="plan: tokens must be"):
        original.plan(tokens)
