"""A safetensors file of a checkpoint: its header, and every tensor that it describes."""

from __future__ import annotations

import numpy as np
from safetensors.numpy import save

import fbg
from fbg.checkpoints.safetensors_file import read_safetensors
from fuzz.driver import Target
from fuzz.mutations import change_safetensors
from fuzz.targets.files import copy_all_floats, file_in


def _seeds() -> list[bytes]:
    floats = np.arange(12, dtype=np.float32)
    return [
        save({"a": floats}),
        save({"a": floats.reshape(3, 4), "b": floats[:0], "c": np.array(1.5, np.float16)}),
        save({"x": np.arange(5), "y": np.ones((1, 2, 3), np.uint8)}, metadata={"format": "pt"}),
    ]


def _run(data: bytes) -> None:
    path = file_in("safetensors", "model.safetensors")
    path.write_bytes(data)
    copy_all_floats(read_safetensors(path).values())


TARGET = Target("safetensors", _seeds, change_safetensors, _run, (fbg.ModelError,))
