"""The tuning cache: whatever stands in it costs speed at most, so nothing is ever raised."""

from __future__ import annotations

import json
import os

from fbg.tuning.store import Blocking, Measured, Store, product_key
from fuzz.files import file_in
from fuzz.mutations import change_json_text
from fuzz.target import target


def _seeds():
    path = file_in("tuning", "seed.json")
    path.unlink(missing_ok=True)
    os.environ["FBG_TUNING_CACHE"] = str(path)
    kind = ("int8", 768, 2304)
    found = {
        product_key("avx512_vnni", 2, kind, n): Measured(Blocking(6, 2, 0, n), 1e-5, 2e-5)
        for n in (1, 8)
    }
    key = "conv avx512_vnni ConvInt8 native 1x56x56 0-0 3x3 64->64 pad 1"
    Store().add({**found, key: Measured("implicit_gemm", 1e-5, 2e-5)})
    return [path.read_bytes(), json.dumps({"format": 1, "machines": {}}).encode()]


def _run(data):
    path = file_in("tuning", "cache.json")
    path.write_bytes(data)
    os.environ["FBG_TUNING_CACHE"] = str(path)
    for found in Store().known().values():
        assert found.choice and found.seconds > 0


KIND = target("tuning", _seeds, change_json_text, _run, ())
