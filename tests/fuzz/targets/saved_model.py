"""Whole loads of saved models, whose checksums are made to fit most changes."""

from __future__ import annotations

import json

import fbg
from fbg import _fbg
from fuzz.files import saved
from fuzz.mutations import change_safetensors
from fuzz.target import target

WEIGHTS = "fbg.safetensors"


def _seeds():
    kinds = ("int8", "float32", "bfloat16", "int4")
    return [(saved(f"saved_{kind}", kind) / WEIGHTS).read_bytes() for kind in kinds]


def _repair(tensors, header):
    """Make the checksums those of the arrays as the header describes them, where it can be done."""
    metadata = header.get("__metadata__")
    if not isinstance(metadata, dict):
        return
    sums = {}
    for name, entry in header.items():
        try:
            begin, end = entry["data_offsets"]
            if entry["dtype"] == "U8" or not 0 <= begin <= end <= len(tensors):
                continue
            checksum = _fbg.Checksum()
            checksum.add(bytes(tensors[begin:end]))
            sums[name] = checksum.value
        except (KeyError, TypeError, ValueError):
            continue
    metadata["checksums"] = json.dumps(sums)


def _mutate(data, rng):
    return change_safetensors(data, rng, _repair if rng.random() < 0.8 else None)


def _run(data):
    directory = saved("saved_target", "int8")
    (directory / WEIGHTS).write_bytes(data)
    model = fbg.load(directory, num_threads=1)
    model.forward([[2, 5, 7, 3]])


KIND = target("saved_model", _seeds, _mutate, _run, (fbg.ModelError,), 40)
