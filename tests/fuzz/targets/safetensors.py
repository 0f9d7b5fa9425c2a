"""A safetensors file of a checkpoint: its header, and every tensor that it describes."""

from __future__ import annotations

import numpy as np
from safetensors.numpy import save

import fbg
from fbg.checkpoints.mapped_file import read_safetensors
from fuzz.files import checkpoint, copy_all_floats
from fuzz.mutations import change_safetensors
from fuzz.target import target


def _seeds():
    floats = np.arange(12, dtype=np.float32)
    return [
        (checkpoint("safetensors") / "model.safetensors").read_bytes(),
        save({"a": floats}),
        save({"a": floats.reshape(3, 4), "b": floats[:0], "c": np.array(1.5, np.float16)}),
        save({"x": np.arange(5), "y": np.ones((1, 2, 3), np.uint8)}, metadata={"format": "pt"}),
    ]


def _run(data):
    path = checkpoint("safetensors") / "model.safetensors"
    path.write_bytes(data)
    copy_all_floats(read_safetensors(path).values())
    fbg.load(path.parent, num_threads=1).forward([[2, 5, 3]])


KIND = target("safetensors", _seeds, change_safetensors, _run, (fbg.ModelError,))
