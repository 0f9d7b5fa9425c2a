"""The bodies of requests: what is wrong with one is said by place, and lists meet their limits
before anything loops over them."""

import gzip
import json
from typing import Any, get_args, get_origin

import msgspec
import pytest

from fbg.server.app import POST_ROUTES
from fbg.server.bodies import decode, not_json, require_lists_within, size_of
from fbg.server.errors import RequestError
from fbg.server.messages import Embedding, OpenAIEmbedding
from helpers.serving import ask

MOST = 10
MANY = 1 << 40


class Endless(list[Any]):
    """A list that says that it is too long, and must not be read."""

    def __len__(self):
        return MANY

    def __iter__(self):
        raise AssertionError("a list was read before its length had been compared")


def lists_of(kind):
    """Every struct that a type consists of, with each of its fields that may be a list."""
    for each in (kind, *get_args(kind)):
        if isinstance(each, type) and issubclass(each, msgspec.Struct):
            for field in msgspec.structs.fields(each):
                if any(get_origin(part) is list for part in parts(field.type)):
                    yield each, field.name
                yield from lists_of(field.type)
        elif each is not kind:
            yield from lists_of(each)


def parts(kind):
    yield kind
    for each in get_args(kind):
        yield from parts(each)


KINDS = {kind for route in POST_ROUTES for kind in route.bodies or (route.message,)}
FIELDS = sorted({pair for kind in KINDS for pair in lists_of(kind)}, key=str)


def made(kind, name, value):
    """A message that has nothing but one field."""
    empty = dict.fromkeys(field.name for field in msgspec.structs.fields(kind))
    return kind(**empty | {name: value})


@pytest.mark.parametrize(("kind", "name"), FIELDS, ids=lambda each: getattr(each, "__name__", each))
def test_no_list_is_read_before_its_length_is_compared(kind, name):
    for first in ("a", 1, [1]):
        with pytest.raises(RequestError, match=f"{name}.*{MANY}|{MANY}"):
            require_lists_within(made(kind, name, Endless([first])), MOST)


def test_lists_in_lists_are_limited():
    assert len(FIELDS) > 12
    for value in ([["a"] * (MOST + 1)], [made(*FIELDS[0], Endless(["a"]))]):
        with pytest.raises(RequestError, match="maximum allowed batch size 10"):
            require_lists_within(value, MOST)
    require_lists_within([[1] * 60_000], MOST)
    require_lists_within(Embedding(inputs=["a"] * MOST), MOST)


@pytest.mark.parametrize(
    ("text", "least"), [("a" * 1000, 1000), ("é" * 500 + "\u4e00", 1000), (["a"] * 100, 5000)]
)
def test_messages_are_as_large_as_what_they_hold(text, least):
    assert least <= size_of(Embedding(inputs=text)) < 3 * least
    assert size_of(Embedding(inputs=[[1] * 1000])) > 8 * 1000


def optional_keys(kind):
    return {field.encode_name: None for field in msgspec.structs.fields(kind) if not field.required}


@pytest.mark.parametrize("kind", sorted(KINDS - {msgspec.Raw}, key=str), ids=lambda k: k.__name__)
def test_null_for_an_optional_key_is_its_absence(kind):
    required = {"input": "a", "inputs": "a", "query": "a", "ids": [1]}
    given = {
        field.encode_name: required.get(field.encode_name)
        for field in msgspec.structs.fields(kind)
        if field.required
    }
    nested = {field.name: field.type for field in msgspec.structs.fields(kind)}
    for name in [name for name in ("inputs", "parameters") if name in given]:
        inner = {
            "Similarity": {"source_sentence": "a", "sentences": ["b"]},
            "Answers": {"question": "a", "context": "b"},
            "Inference": [{"name": "x", "shape": [1], "datatype": "FP32", "parameters": None}],
            "ZeroShot": {"candidate_labels": ["a"], "multi_label": None},
        }.get(kind.__name__)
        if inner is not None and (name == "parameters" or kind.__name__ != "ZeroShot"):
            given[name] = inner
    assert nested
    plain = decode(json.dumps(given).encode(), kind)
    assert decode(json.dumps(given | optional_keys(kind)).encode(), kind) == plain


def test_null_for_a_key_that_is_needed_or_unknown_is_none():
    for body in (b'{"inputs": null}', b'{"inputs": "a", "other": null}', b'{"inputs": [null]}'):
        with pytest.raises(RequestError):
            decode(body, Embedding)


# Each body, and what its error says; %d: the byte at which it is wrong.
WRONG = {
    "half an emoji": (
        b'{"inputs": ["a", "b \\ud83d"]}',
        r"\ud83d without its other half) at byte 20 of the body, in `inputs[1]`",
    ),
    "the other half": (b'{"inputs": "\\ude00"}', "at byte 12 of the body, in `inputs`"),
    "half behind a backslash": (
        b'{"inputs": "\\\\\\ud83d"}',
        "at byte 14 of the body, in `inputs`",
    ),
    "Latin-1": (b'{"inputs": ["a", "caf\xe9"]}', "at byte 21 of the body, in `inputs[1]`"),
    "gzip": (gzip.compress(b'{"inputs": "a"}'), "the body is compressed (gzip)"),
    "a byte order mark": (b'\xef\xbb\xbf{"inputs": "a"}', "begins with a byte order mark"),
    "UTF-16": ('{"inputs": "a"}'.encode("utf-16"), "is in UTF-16"),
    "UTF-16 without a mark": ('{"inputs": "a"}'.encode("utf-16-le"), "is in UTF-16"),
    "UTF-32": ('{"inputs": "a"}'.encode("utf-32-be"), "is in UTF-16 or UTF-32"),
    "more behind it": (b'{"inputs": "a"}}', "trailing characters (byte 16)"),
    "single quotes": (b"{'inputs': 'a'}", "(byte 1)"),
}


@pytest.mark.parametrize("what", WRONG)
def test_what_is_no_json_is_named(what, client):
    body, said = WRONG[what]
    answer = client.post("/embed", content=body)
    assert answer.status_code == 400
    assert said in answer.json()["error"], answer.text
    assert client.post("/", content=body).status_code == 400


def test_whole_emojis_are_texts(client):
    for body in (b'{"inputs": "\\ud83d\\ude00"}', '{"inputs": "\U0001f600"}'.encode()):
        assert client.post("/embed", content=body).status_code == 200
    said = not_json(b'{"a": "\\ud83d\\ude00",', "Input data was truncated").message
    assert said == "the body is not valid JSON: Input data was truncated"


def test_another_coding_is_named_by_its_header(client):
    headers = {"content-encoding": "br"}
    answer = client.post("/embed", content=b"\x0b\x02", headers=headers)
    assert answer.status_code == 400 and "compressed (br)" in answer.json()["error"]


def test_lists_of_openai_are_limited(models):
    long = ask(models, "/v1/embeddings", {"input": ["a"] * 9}, max_client_batch_size=8)
    assert long.status_code == 400 and "batch size 9 > maximum" in long.text
    assert isinstance(decode(b'{"input": "a", "dimensions": null}', OpenAIEmbedding).input, str)
