"""Files of packed weights: loaded with and without their checksums, and multiplied."""

from __future__ import annotations

import fbg
from fuzz.driver import Target
from fuzz.mutations import change_safetensors
from fuzz.targets.files import file_in
from helpers.packed_weights import PACKED, product


def _seeds() -> list[bytes]:
    path = file_in("packed_b", "seed.safetensors")
    seeds = []
    for make in PACKED.values():
        make().save(path)
        seeds.append(path.read_bytes())
        path.unlink()
    return seeds


def _run(data: bytes) -> None:
    path = file_in("packed_b", "w.safetensors")
    path.write_bytes(data)
    loaded = fbg.PackedB.load(path, verify=False)
    product(loaded)
    loaded.unpack()
    fbg.PackedB.load(path)


TARGET = Target("packed_b", _seeds, change_safetensors, _run, (fbg.ModelError,))
