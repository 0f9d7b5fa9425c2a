"""Embedding tables in files, whose checksums and options are made to fit most changes.

What is accepted must have the bits of the portable kernel.
"""

from __future__ import annotations

import json

import numpy as np

import fbg
from fbg import _fbg
from fbg.tables.rows import DTYPES
from fuzz.files import file_in
from fuzz.mutations import change_json, change_safetensors
from fuzz.target import target
from helpers.random_cases import Different


def _seeds():
    rng, path, seeds = np.random.default_rng(0), file_in("saved_table", "seed.safetensors"), []
    for dtype in DTYPES:
        for columns in (1, 5, 16, 70):
            table = rng.standard_normal((6, columns)).astype(np.float32)
            remap = np.array([5, -1, 0, 3], (np.int32, np.int64)[columns % 2])
            for options in ({"mode": "max"}, {"mode": "mean", "padding_idx": 2, "remap": remap}):
                fbg.EmbeddingBag(table, dtype, **options).save(path, overwrite=True)
                seeds.append(path.read_bytes())
    return seeds


def _mutate(data, rng):
    def repair(tensors, header):
        metadata = header.get("__metadata__")
        if not isinstance(metadata, dict):
            return
        sums = {}
        for name, entry in header.items():
            try:
                begin, end = entry["data_offsets"]
                checksum = _fbg.Checksum()
                checksum.add(bytes(tensors[begin:end]))
                sums[name] = checksum.value
            except (KeyError, TypeError, ValueError):
                continue
        metadata["checksums"] = json.dumps(sums)
        if rng.random() < 0.5:
            try:
                metadata["table"] = json.dumps(change_json(json.loads(metadata["table"]), rng))
            except (KeyError, TypeError, ValueError):
                return

    return change_safetensors(data, rng, repair if rng.random() < 0.9 else None)


def _run(data):
    path = file_in("saved_table", "t.safetensors")
    path.write_bytes(data)
    try:  # as a file of another program, whose options are given
        tensor = fbg.EmbeddingBag.load(path, "rows", columns=5, dtype="int8", verify=False)
        tensor(np.zeros((1, 1), np.int64))
    except (TypeError, ValueError):
        pass
    bag = fbg.EmbeddingBag.load(path, verify=len(data) % 4 != 0)
    rows = bag.shape[0]
    indices = np.array([[0, rows - 1, rows // 2]] if rows else np.empty((1, 0)), np.int64)
    y = bag(indices)
    with fbg.isa.limit("generic"):
        wanted = bag(indices)
    bits = f"u{y.itemsize}"  # a file may ask for results of 16 bits
    same = (y.view(bits) == wanted.view(bits)) | (np.isnan(y) & np.isnan(wanted))
    if not same.all():
        raise Different("other bits than the portable kernel")


KIND = target("saved_table", _seeds, _mutate, _run, (fbg.ModelError,))
