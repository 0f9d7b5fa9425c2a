"""Checkpoints as torch.save writes them: the archive, its pickle, and every tensor in it."""

from __future__ import annotations

import io
import zipfile

import numpy as np
from safetensors.numpy import load_file

import fbg
from fbg.checkpoints.torch_file import STEPS, read_torch_file
from fuzz.files import checkpoint, copy_all_floats, file_in
from fuzz.mutations import change_bytes
from fuzz.target import target
from helpers.torch_files import write_archive, write_torch_file

OPCODES = tuple(STEPS)


def _seeds():
    path = file_in("pickle", "seed.bin")
    floats = np.arange(12, dtype=np.float32).reshape(3, 4)
    tensors = {"a": floats, "b.weight": floats.T, "c": np.ones(2, np.float16)}
    plain = write_torch_file(path, tensors).read_bytes()
    weights = load_file(checkpoint("to_pickle") / "model.safetensors")
    whole = write_torch_file(path, weights).read_bytes()
    return [plain, write_torch_file(path, tensors, parameters=True).read_bytes(), whole]


def _mutate(data, rng):
    """Mostly change the pickle inside of an archive that stays sound."""
    try:
        if rng.random() < 0.3:
            raise ValueError
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            records = {i.filename.partition("/")[2]: archive.read(i) for i in archive.infolist()}
        pickled = bytearray(records["data.pkl"])
        if rng.random() < 0.5:
            at = rng.randrange(len(pickled) + 1)
            pickled[at : at + rng.randrange(2)] = rng.choice(OPCODES) * rng.choice((1, 1, 1, 2, 50))
            records["data.pkl"] = bytes(pickled)
        else:
            key = rng.choice((*records, "data.pkl", "data.pkl"))
            records[key] = change_bytes(records[key], rng)
        return write_archive(file_in("pickle", "changed.bin"), records).read_bytes()
    except Exception:  # the archive was damaged by an earlier change
        return change_bytes(data, rng)


def _run(data):
    path = checkpoint("pickle") / "pytorch_model.bin"
    path.with_name("model.safetensors").unlink(missing_ok=True)
    path.write_bytes(data)
    copy_all_floats(read_torch_file(path).values())
    fbg.load(path.parent, num_threads=1).forward([[2, 5, 3]])


KIND = target("pickle", _seeds, _mutate, _run, (fbg.ModelError,))
