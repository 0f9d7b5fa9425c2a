"""The tokenizer of a model (tokenizer.json), loaded and used."""

from __future__ import annotations

import fbg
from fuzz.driver import Target
from fuzz.mutations import change_json_text
from fuzz.targets.files import checkpoint


def _seeds() -> list[bytes]:
    return [(checkpoint("tokenizer_seed") / "tokenizer.json").read_bytes()]


def _run(data: bytes) -> None:
    directory = checkpoint("tokenizer")
    (directory / "tokenizer.json").write_bytes(data)
    model = fbg.load(directory, dtype="float32", num_threads=1)
    model.encode(["the dog", "a", "x" * 50])


TARGET = Target("tokenizer", _seeds, change_json_text, _run, (fbg.ModelError, ValueError))
