"""The tuning cache: whatever stands in it costs speed at most, so nothing is ever raised."""

from __future__ import annotations

import json
import os

from fbg.conv.tuned import Choices
from fbg.runtime import tuned
from fuzz.driver import Target
from fuzz.mutations import change_json_text
from fuzz.targets.files import file_in


def _seeds() -> list[bytes]:
    from fbg import tuning_file

    path = file_in("tuning", "seed.json")
    path.unlink(missing_ok=True)
    os.environ["FBG_TUNING_CACHE"] = str(path)
    tuned.merge(
        {
            tuned.Key("avx512_vnni", 2, "int8", 768, 2304, n): tuned.Measured(
                tuned.Blocking(6, 2, 0, n), 1e-5, 2e-5
            )
            for n in (1, 8)
        }
    )
    key = f"{tuning_file.CONV}avx512_vnni ConvInt8 native 1x56x56 0-0 3x3 64->64 pad 1"
    tuning_file.merge({key: {"algorithm": "taps", "seconds": 1e-5, "default": 2e-5}})
    return [path.read_bytes(), json.dumps({"format": 1, "machines": {}}).encode()]


def _run(data: bytes) -> None:
    path = file_in("tuning", "cache.json")
    path.write_bytes(data)
    os.environ["FBG_TUNING_CACHE"] = str(path)
    for key, found in tuned.read().items():
        assert key.k > 0 and found.seconds > 0
    Choices().known()


TARGET = Target("tuning", _seeds, change_json_text, _run, ())
