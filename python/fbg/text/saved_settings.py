"""Settings that were changed after loading, such as where texts are cut, in the files that a saved
model has.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import PurePosixPath
from typing import Any

from fbg.text.modules import OWN
from fbg.text.sentence import PROMPTS
from fbg.text.tokenizer_settings import TOKENIZER_CONFIG

LENGTH = "model_max_length"  # in objects of arguments, it goes before "max_seq_length"


def files_that_cut(files: Mapping[str, bytes], max_length: int, side: str) -> dict[str, bytes]:
    """Return the files of a model, by name, with those that say where texts are cut.

    files: the files of settings, by their names in the directory. side: "left" or "right".
    """
    places = [PurePosixPath(name) for name in files]
    folder = next((p.parent for p in places if p.name == "tokenizer.json"), PurePosixPath())
    own = str(next((p for p in places if p.name in OWN), folder / OWN[0]))
    settings = _object(files, own)
    settings["max_seq_length"] = max_length
    for arguments in (settings.get("tokenizer_args"), settings.get("processor_kwargs")):
        if isinstance(arguments, dict) and LENGTH in arguments:
            arguments[LENGTH] = max_length
    tokenizer = str(folder / TOKENIZER_CONFIG)
    return {
        **files,
        own: json.dumps(settings, indent=2).encode(),
        tokenizer: json.dumps(
            {**_object(files, tokenizer), "truncation_side": side}, indent=2
        ).encode(),
    }


def files_with_settings(
    files: Mapping[str, bytes], settings: Mapping[str, object]
) -> dict[str, bytes]:
    """Return the files of a model with other values of keys of PROMPTS, which others keep."""
    return {
        **files,
        PROMPTS: json.dumps({**_object(files, PROMPTS), **settings}, indent=2).encode(),
    }


def _object(files: Mapping[str, bytes], name: str) -> dict[str, Any]:
    found = json.loads(files.get(name, b"{}"))
    assert isinstance(found, dict)  # as the load has checked
    return found
