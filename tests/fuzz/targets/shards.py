"""The index of a checkpoint in shards, beside two of them."""

from __future__ import annotations

import json

import numpy as np
from safetensors.numpy import save_file

import fbg
from fbg.checkpoints.checkpoint import Checkpoint
from fuzz.files import file_in
from fuzz.mutations import change_json_text
from fuzz.target import target

NAMES = ("model-00001-of-00002.safetensors", "model-00002-of-00002.safetensors")


def _seeds():
    for name, tensor in zip(NAMES, "ab", strict=True):
        path = file_in("shards", name)
        save_file({f"encoder.{tensor}.weight": np.ones((2, 3), np.float32)}, path)
    names = {"encoder.a.weight": NAMES[0], "encoder.b.weight": NAMES[1]}
    index = {"metadata": {"total_size": 48}, "weight_map": names}
    return [json.dumps(index).encode(), json.dumps({"weight_map": names}).encode()]


def _run(data):
    path = file_in("shards", "model.safetensors.index.json")
    path.write_bytes(data)
    found = Checkpoint(path.parent, "a.weight")
    found.tensor("b.weight", 2, 3)


KIND = target("shards", _seeds, change_json_text, _run, (fbg.ModelError,))
