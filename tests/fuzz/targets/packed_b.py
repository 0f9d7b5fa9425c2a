"""Files of packed weights: loaded with and without their checksums, and multiplied."""

from __future__ import annotations

from functools import cache

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


@cache
def _blocks() -> set[bytes]:
    return {make()._native.block.tobytes() for make in PACKED.values()}


def _run(data: bytes) -> None:
    path = file_in("packed_b", "w.safetensors")
    path.write_bytes(data)
    try:
        loaded = fbg.PackedB.load(path, verify=False)
        product(loaded)
        loaded.unpack()
        verified = fbg.PackedB.load(path)
    except fbg.ModelError as error:
        assert str(path) in str(error), error
        raise
    assert verified._native.block.tobytes() in _blocks(), "damage went unnoticed"


TARGET = Target("packed_b", _seeds, change_safetensors, _run, (fbg.ModelError,))
