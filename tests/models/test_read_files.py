"""What a model was loaded from: every file is known, and what is saved later is what was read."""

import ctypes
import json
import os
import shutil
import struct
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import fbg
from fbg import files
from fbg.model.save import fingerprint_model
from fbg.saved_file import WEIGHTS
from helpers import tiny_bert, tiny_gliner, tiny_multi, tiny_outputs, tiny_sparse, tiny_tasks
from helpers.stored_weights import store_weights
from helpers.tiny_rerankers import PAIRS, write_reranker

IN_OPEN = 0x20  # of <sys/inotify.h>
TEXT = "the quick brown fox"


def fingerprint_of(model):
    return fingerprint_model(model.origin, model.dtype)


def as_saved(path):
    fbg.load(tiny_bert.write_checkpoint(path / "original"), dtype="int8").save(path / "saved")
    return path / "saved"


LAYOUTS = {
    "safetensors": tiny_bert.write_checkpoint,
    "torch": lambda path: store_weights(tiny_bert.write_checkpoint(path), torch=True),
    "shards": lambda path: store_weights(tiny_bert.write_checkpoint(path), shards=2),
    "saved": as_saved,
    "template": lambda path: write_reranker(path, "template"),
    "static": lambda path: tiny_outputs.write_static(path, "dense"),
    "hybrid": tiny_outputs.write_hybrid,
    "dense": lambda path: tiny_multi.write_multi(path, "pylate"),
    "router": lambda path: tiny_sparse.write_routed(path, "saved"),
    "labels": lambda path: tiny_tasks.write_model(path, "pairs"),
    "spans": lambda path: tiny_gliner.write_model(path, "published"),
}


@pytest.fixture(params=LAYOUTS)
def directory(request, tmp_path):
    return LAYOUTS[request.param](tmp_path / "model")


@contextmanager
def opened_below(directory):
    """Collect the files that anything opens below a directory, in whatever language."""
    libc = ctypes.CDLL(None, use_errno=True)
    watch = libc.inotify_init1(os.O_NONBLOCK)
    folders = [path for path in (directory, *directory.rglob("*")) if path.is_dir()]
    numbers = {libc.inotify_add_watch(watch, os.fsencode(f), IN_OPEN): f for f in folders}
    found = set()
    try:
        yield found
        events, place = os.read(watch, 1 << 20), 0
        while place < len(events):
            number, _, _, length = struct.unpack_from("iIII", events, place)
            name = events[place + 16 : place + 16 + length].rstrip(b"\0")
            path = numbers[number] / os.fsdecode(name)
            if path.is_file():
                found.add(path)
            place += 16 + length
    finally:
        os.close(watch)


def outcome(model):
    """Some result of a model, whatever it can do."""
    results = [model.forward([[2, 5, 3]]).last_hidden_state]
    for run in (
        lambda: model.encode(TEXT),
        lambda: model.predict(PAIRS),
        lambda: model.encode_hybrid([TEXT]).multi[0],
        lambda: model.encode_multi([TEXT], kind="document")[0],
        lambda: model.encode_sparse([TEXT]).to_dense(),
    ):
        try:
            results.append(run())
        except (fbg.ModelError, ValueError) as error:
            results.append(str(error).rpartition(": ")[2])
    return [result.tolist() if isinstance(result, np.ndarray) else result for result in results]


def test_every_file_that_is_opened_is_known(directory):
    with opened_below(directory) as opened:
        model = fbg.load(directory)
    assert {Path(path) for path in model.reads} == opened


def test_a_fingerprint_tells_whatever_is_replaced(directory):
    model = fbg.load(directory)
    before = fingerprint_of(model)
    assert fingerprint_of(fbg.load(directory)) == before
    for name in model.reads:
        path = Path(name)
        times = path.stat().st_atime_ns, path.stat().st_mtime_ns
        shutil.copy(path, f"{path}.new")
        os.replace(f"{path}.new", path)
        os.utime(path, ns=times)  # size and time of change are those of the old one
        after = fingerprint_of(fbg.load(directory))
        assert after != before, name
        before = after


@pytest.mark.parametrize("change", ["removed", "overwritten"])
def test_a_model_is_saved_as_it_was_loaded(directory, tmp_path, change):
    model = fbg.load(directory)
    wanted = outcome(model)
    if change == "removed":
        shutil.rmtree(directory)
    else:
        for path in directory.rglob("*"):
            if path.is_file() and path.name != WEIGHTS:  # that is mapped
                path.write_bytes(b"{}")
    model.save(tmp_path / "copy")
    assert outcome(fbg.load(tmp_path / "copy")) == wanted


def test_a_file_that_changes_while_it_is_read_is_named(tmp_path, monkeypatch):
    directory = tiny_bert.write_checkpoint(tmp_path)
    opened, real = [], files._require_regular

    def change(path, found):
        real(path, found)
        if str(path).endswith("model.safetensors"):
            opened.append(path)
            if len(opened) == 3:  # looked at and opened once
                os.utime(path)

    monkeypatch.setattr(files, "_require_regular", change)
    with pytest.raises(fbg.ModelError, match=r"model\.safetensors.*changed while it was read"):
        fbg.load(directory)


def test_adapters_elsewhere_count(tmp_path):
    directory = tiny_bert.write_checkpoint(tmp_path / "model")
    adapter = tmp_path / "adapter"
    adapter.mkdir()
    (adapter / "adapter_config.json").write_text(json.dumps({"peft_type": "LORA", "r": 1}))
    weight = next(n for n in load_file(directory / "model.safetensors") if "query.weight" in n)
    rows, columns = load_file(directory / "model.safetensors")[weight].shape
    stem = f"base_model.model.{weight.removesuffix('.weight')}"
    small = {
        f"{stem}.lora_A.weight": np.ones((1, columns), np.float32),
        f"{stem}.lora_B.weight": np.ones((rows, 1), np.float32),
    }
    save_file(small, adapter / "adapter_model.safetensors")
    model = fbg.load(directory, adapter=adapter)
    assert {Path(path).name for path in model.reads if adapter == Path(path).parent} == {
        "adapter_config.json",
        "adapter_model.safetensors",
    }
