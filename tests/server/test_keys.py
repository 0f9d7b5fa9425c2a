"""Errors speak of the keys of requests: those that no API has, and those with a wrong value."""

import re
from typing import get_args

import msgspec
import pytest

import fbg
from fbg.model.async_model import AsyncModel
from fbg.server.app import POST_ROUTES
from fbg.server.bodies import decode
from fbg.server.messages import AnyInputs, Document, Extension, Reranking

LONG = "the quick brown fox jumps over the lazy dog " * 40
PAIR = {"question": "who?", "context": "a fox"}
COMPARED = {"source_sentence": "a", "sentences": ["b"]}
LABELS = {"candidate_labels": ["a", "b"]}


def message_of(answer):
    body = answer.json()
    found = body.get("message") or body["error"]
    return str(found["message"] if isinstance(found, dict) else found)


def structs(kind):
    """The objects that a message may consist of."""
    for each in (kind, *get_args(kind)):
        if isinstance(each, type) and issubclass(each, msgspec.Struct):
            yield each
            for field in msgspec.structs.fields(each):
                yield from structs(field.type)
        elif each is not kind:
            yield from structs(each)


@pytest.mark.parametrize("route", POST_ROUTES, ids=lambda route: route.path)
def test_no_message_ignores_what_it_does_not_know(route):
    kinds = set(structs(route.message)) - {
        Document,
        Extension,
    }  # whose other fields are the client's own
    assert kinds or route.path == "/"  # which asks for another route's message
    assert all(kind.__struct_config__.forbid_unknown_fields for kind in kinds)


@pytest.mark.parametrize(
    ("path", "body", "status", "key"),
    [
        ("/embed", {"inputs": "a", "normalise": True}, 422, "normalise"),
        ("/embed", {"inputs": "a", "batch_size": 8}, 422, "batch_size"),
        ("/", {"inputs": "a", "normalise": True}, 422, "normalise"),
        ("/", {"inputs": COMPARED, "modl": "a"}, 422, "modl"),
        ("/v1/embeddings", {"input": "a", "dimension": 8}, 400, "dimension"),
        ("/v1/embeddings", {"input": "a", "task": "query"}, 400, "task"),
        ("/v2/rerank", {"query": "a", "documents": ["b"], "topn": 1}, 400, "topn"),
        ("/rerank", {"query": "a", "texts": ["b"], "raw_score": True}, 422, "raw_score"),
        ("/ner", {"inputs": "a", "parameters": {"strid": 3}}, 422, "strid` - at `$.parameters"),
        ("/similarity", {"inputs": {**COMPARED, "sentence": "a"}}, 422, "sentence` - at `$.inputs"),
    ],
)
def test_a_key_that_no_api_has_is_named(path, body, status, key, client):
    answer = client.post(path, json=body)
    assert answer.status_code == status
    assert f"unknown field `{key}`" in message_of(answer)


@pytest.mark.parametrize("key", ["k", "`", "inputs"])
def test_long_keys_cost_nothing(key, client):
    answer = client.post("/embed", json={"inputs": "a", key * (90_000 // len(key)): 1})
    assert answer.status_code == 422 and len(answer.content) < 400
    answer = client.post("/embed", json={"inputs": "a", "model": key * 10_000})
    assert answer.status_code == 404 and len(answer.content) < 600


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/v1/embeddings", {"input": "a", "user": "somebody"}),
        ("/embed", {"inputs": "a", "options": {"wait_for_model": True}}),
        ("/embed", {"inputs": "a", "encoding_format": "float", "truncation_direction": "right"}),
        ("/v1/rerank", {"query": "a", "documents": ["b"], "max_chunks_per_doc": 3}),
        ("/v1/rerank", {"query": "a", "documents": [{"text": "b", "id": 1}], "rank_fields": ["x"]}),
        ("/v2/rerank", {"query": "a", "documents": ["b"], "max_tokens_per_doc": 9, "priority": 1}),
        ("/answer", {"inputs": PAIR, "parameters": {"align_to_words": True}}),
        ("/similarity", {"inputs": COMPARED, "parameters": {"truncation_direction": "Right"}}),
        ("/zero_shot", {"inputs": "a", "parameters": LABELS, "options": {"use_cache": False}}),
        *(
            (path, {"inputs": LONG + "[MASK]", "truncate": cut, "parameters": more})
            for path, more in (("/ner", {}), ("/zero_shot", LABELS), ("/fill_mask", {}))
            for cut in (True, None)
            if path != "/fill_mask"
        ),
        ("/fill_mask", {"inputs": "[MASK]" + LONG, "truncate": True}),
    ],
)
def test_keys_that_the_apis_document_are_accepted(path, body, client):
    answer = client.post(path, json=body)
    assert answer.status_code == 200, answer.text


def test_labels_are_as_many_as_asked(client, models):
    body = {"inputs": "a fox", "model": "labels", "parameters": {"top_k": 1}}
    answer = client.post("/predict", json=body)
    assert answer.json() == models["labels"].classify("a fox", top_k=1)


@pytest.mark.parametrize(
    ("path", "body", "said"),
    [
        (
            "/embed",
            {"inputs": ["a", LONG], "truncate": False},
            r"`inputs`\[1\] has .*`truncate`: t",
        ),
        ("/embed_all", {"inputs": LONG, "truncate": False}, r"`inputs`\[0\] has "),
        ("/embed", {"inputs": "a", "prompt_name": "x"}, r"`prompt_name` must be "),
        ("/predict", {"inputs": LONG, "truncate": False}, r"`inputs`\[0\] has "),
        ("/rerank", {"query": "a", "texts": [LONG], "truncate": False}, r"`texts`\[0\] has "),
        ("/rerank", {"query": "a", "documents": [LONG], "truncate": False}, r"`documents`\[0\] "),
        ("/ner", {"inputs": LONG, "truncate": False}, r"`inputs`\[0\] has .*`truncate`: t"),
        ("/fill_mask", {"inputs": f"[MASK]{LONG}", "truncate": False}, r"`inputs`\[0\] has "),
        (
            "/zero_shot",
            {"inputs": LONG, "parameters": LABELS, "truncate": False},
            r"`inputs`\[0\] has ",
        ),
        ("/ner", {"inputs": "a", "parameters": {"stride": -1}}, r"`parameters.stride` must be "),
        ("/fill_mask", {"inputs": "a [MASK]", "parameters": {"top_k": 0}}, r"`parameters.top_k` m"),
        ("/answer", {"inputs": PAIR, "parameters": {"top_k": 0}}, r"`parameters.top_k` must be "),
        (
            "/zero_shot",
            {"inputs": "a", "parameters": {**LABELS, "hypothesis_template": "no place"}},
            r"`parameters.hypothesis_template` must ",
        ),
    ],
)
def test_errors_of_the_library_name_the_key(path, body, said, client):
    answer = client.post(path, json=body)
    assert answer.status_code == 422, answer.text
    assert re.match(said, message_of(answer)), message_of(answer)
    assert not re.search(r"\b(True|False|None|encode|classify|sentences)\b", message_of(answer))


def test_what_is_not_served_is_answered_with_what_is(client, directories):
    for path, body in (
        ("/embed", {"inputs": "a", "model": "other"}),
        ("/v1/embeddings", {"input": "a", "model": "other"}),
        ("/v1/rerank", {"query": "a", "documents": ["b"], "model": "other"}),
    ):
        answer = client.post(path, json=body)
        assert answer.status_code == 404
        assert all(repr(name) in message_of(answer) for name in directories)
    assert "served are 'text'" in message_of(client.get("/v1/models/other"))
    body = {"query": "a", "documents": ["b"], "model": "text"}
    answer = client.post("/v1/rerank", json=body)
    assert answer.status_code == 400
    assert "'text' is not one that can do this: reranking" in message_of(answer)
    assert re.search(r"'rank' \([^)]*reranking", message_of(answer))
    unable = client.post("/predict", json={"inputs": "a", "model": "text"})
    assert unable.status_code == 424 and "classification" in message_of(unable)


def test_messages_are_told_apart_by_their_inputs():
    assert bytes(decode(b'{"inputs" :  {"a": 1}, "x": 2}', AnyInputs).inputs) == b'{"a": 1}'
    assert decode(b'{"query": "a", "texts": ["b"]}', Reranking).texts == ["b"]


def test_gliner_answers_for_labels(client, models):
    labels, texts = ["person", "x-1"], ["a quick fox", "the dog"]
    wanted = models["gliner"].ner(texts, labels=labels, threshold=0.01)
    parameters = {"labels": labels, "threshold": 0.01}
    answer = client.post("/ner", json={"inputs": texts, "parameters": parameters})
    assert answer.status_code == 200, answer.text
    assert answer.json() == wanted
    one = client.post("/ner", json={"inputs": texts[0], "parameters": parameters}).json()
    assert one == wanted[0]
    without = client.post("/ner", json={"inputs": "a", "model": "gliner"})
    assert without.status_code == 422 and "labels must say what to find" in message_of(without)
    many = {"labels": [f"label {n}" for n in range(501)]}
    assert client.post("/ner", json={"inputs": "a", "parameters": many}).status_code == 422


def test_tasks_are_those_that_a_queue_has():
    from fbg.model.async_model import TASKS

    assert {"encode", "encode_multi", "encode_hybrid", "rank", "ner", "predict"} <= set(TASKS)
    assert not {"run", "close", "encode_tokens", "token_embeddings"} & set(TASKS)
    assert all(hasattr(fbg.Model, name) and hasattr(AsyncModel, name) for name in TASKS)
