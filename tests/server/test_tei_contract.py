"""Answers have the types of text-embeddings-inference's own document of its API."""

from __future__ import annotations

import jsonschema
import pytest

from helpers.tei_api import DOCUMENT
from helpers.tiny_tasks import DOCUMENTS, PAIRS, QUERY

TEXTS = ["a quick fox", "the dog"]
CUT = {"truncate": True, "truncation_direction": "Left"}
SENTENCES = {"source_sentence": "a dog", "sentences": TEXTS}
MESSAGES = [  # and the model, unless it is the first
    ("/decode", {"ids": [5, 6]}, None),
    ("/decode", {"ids": [[5, 6], [7]], "skip_special_tokens": False}, None),
    ("/embed", {"inputs": "the dog", "normalize": False, "dimensions": 5} | CUT, None),
    ("/embed", {"inputs": [[5, 6], [7]], "prompt_name": None}, None),
    ("/embed_all", {"inputs": TEXTS, "prompt_name": "query"} | CUT, None),
    ("/embed_sparse", {"inputs": TEXTS} | CUT, "masks"),
    ("/predict", {"inputs": "the cat"} | CUT, "labels"),
    ("/predict", {"inputs": [["the cat"], list(PAIRS[0])], "raw_scores": True}, "labels"),
    ("/rerank", {"query": QUERY, "texts": DOCUMENTS, "return_text": True} | CUT, None),
    ("/similarity", {"inputs": SENTENCES, "parameters": {"prompt_name": None} | CUT}, None),
    ("/tokenize", {"inputs": "the dog", "add_special_tokens": False}, None),
    ("/tokenize", {"inputs": TEXTS, "prompt_name": "query"}, None),
    ("/v1/embeddings", {"input": TEXTS, "model": None, "user": "me"}, None),
    ("/v1/embeddings", {"input": [5, 6], "encoding_format": "base64", "dimensions": 5}, None),
]


def check(part, value):
    """Fail unless a value has the schema of a body in the document; `nullable` is OpenAPI's own."""
    jsonschema.validate(value, _with_null(part["content"]["application/json"]["schema"]))


def _with_null(schema):
    if isinstance(schema, list):
        return [_with_null(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    rest = {key: _with_null(value) for key, value in schema.items() if key != "nullable"}
    return {"oneOf": [rest, {"type": "null"}]} if schema.get("nullable") is True else rest


@pytest.mark.parametrize(("path", "message", "model"), MESSAGES)
def test_answers_have_its_types(path, message, model, client):
    operation = DOCUMENT["paths"][path]["post"]
    check(operation["requestBody"], message)
    answer = client.post(path, json=message | ({"model": model} if model else {}))
    assert answer.status_code == 200, answer.text
    check(operation["responses"]["200"], answer.json())


@pytest.mark.parametrize("path", sorted({path for path, _, _ in MESSAGES}))
@pytest.mark.parametrize("body", ["", "{", "{}", '{"inputs": 1}', "[]", '{"inputs": ""}'])
def test_errors_have_its_types(path, body, client):
    answer = client.post(path, content=body, headers={"content-type": "application/json"})
    assert 400 <= answer.status_code < 500
    check(DOCUMENT["paths"][path]["post"]["responses"][str(answer.status_code)], answer.json())


def test_the_page_of_information_has_its_types(client):
    check(DOCUMENT["paths"]["/info"]["get"]["responses"]["200"], client.get("/info").json())
