"""The tokenizer of a model (tokenizer.json), read and used in every way, and by a model."""

from __future__ import annotations

import fbg
from fbg.text.tokenization import TextTokenizer
from fuzz.files import checkpoint
from fuzz.mutations import change_json_text
from fuzz.target import target
from helpers import tiny_tasks

FAMILIES = ("bert", "roberta", "xlm-roberta", "albert")
USES = (
    lambda t: t(["a b", "", "\u03a9 [MASK]", "a " * 50]),
    lambda t: t.encode([("a", "b " * 50), "c"], "test: texts"),
    lambda t: t.encode(["a b \u03a9", ("a", "b")], "test: texts", located=True, cut=False),
    lambda t: (t.mask_id, t.unknown_id, t.padding_id, t.mask_token, t.marks_subwords),
    lambda t: (t.tokens([0, 5, 10**6]), t.join(["a", "##b"]), t.decode([1, 5, 7], True)),
)


def _seeds():
    seeds = [tiny_tasks.tokenizer(family).to_str().encode() for family in FAMILIES]
    return [(checkpoint("tokenizer_seed") / "tokenizer.json").read_bytes(), *seeds]


def _run(data):
    path = checkpoint("tokenizer") / "tokenizer.json"
    path.write_bytes(data)
    try:
        tokenizer = TextTokenizer(path, 40)
    except fbg.ModelError as error:
        assert str(path) in str(error), error
        raise
    for use in USES:
        try:
            use(tokenizer)
        except fbg.ModelError as error:
            assert str(path) in str(error), error
    model = fbg.load(path.parent, dtype="float32", num_threads=1)
    model.encode(["the dog", "a", "x" * 50])


KIND = target("tokenizer", _seeds, change_json_text, _run, (fbg.ModelError, ValueError), 300)
