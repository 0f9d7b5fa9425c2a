"""The document at /openapi.json describes what the routes take and what they answer."""

import base64

import jsonschema
import pytest

from helpers.tiny_tasks import CONTEXTS, DOCUMENTS, QUERY, QUESTIONS

TEXTS = ["a quick fox", "the dog"]
INPUTS = {"inputs": TEXTS}
PICTURE = base64.b64encode(b"P5 2 2 255 abcd").decode()  # PGM
RANKED = {"query": QUERY, "documents": DOCUMENTS, "return_documents": True}
BODIES = {
    "/v1/embeddings": {"input": TEXTS, "encoding_format": "base64"},
    "/": INPUTS,
    "/embed": INPUTS | {"truncation_direction": "Left"},
    "/embed_all": INPUTS,
    "/predict": INPUTS | {"model": "labels"},
    "/similarity": {"inputs": {"source_sentence": "a dog", "sentences": TEXTS}},
    "/tokenize": INPUTS,
    "/decode": {"ids": [[5, 6], [7]]},
    "/embed_sparse": INPUTS,
    "/embed_multi": INPUTS,
    "/embed_hybrid": INPUTS,
    "/embed_image": {"inputs": PICTURE, "normalize": False},
    "/classify_image": {"inputs": [PICTURE], "parameters": {"candidate_labels": ["a", "b"]}},
    "/embed_chunks": {"inputs": "a quick fox. The dog", "spans": [[0, 12], [13, 20]]},
    "/rerank": {"query": QUERY, "texts": DOCUMENTS},
    "/v1/rerank": RANKED,
    "/v1/embed": {"texts": ["the dog"]},
    "/v2/embed": {"texts": ["the dog"], "embedding_types": ["float", "base64", "binary"]},
    "/v2/rerank": RANKED,
    "/ner": INPUTS,
    "/answer": {"inputs": {"question": QUESTIONS[0], "context": CONTEXTS[0]}},
    "/fill_mask": {"inputs": ["the [MASK] runs"], "parameters": {"top_k": 2}},
    "/v2/models/{name}/infer": {
        "inputs": [{"name": "x", "shape": [1, 2], "datatype": "FP32", "data": [[3, 4]]}],
    },
    "/zero_shot": {"inputs": "the dog", "parameters": {"candidate_labels": ["a", "b"]}},
}


@pytest.fixture
def document(client):
    answer = client.get("/openapi.json")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    return answer.json()


def check(document, part, value):
    """Fail unless a value has the schema of a body in the document."""
    schema = part["content"]["application/json"]["schema"]
    jsonschema.validate(value, schema | {"components": document["components"]})


def test_every_route_is_described(document):
    posts = {path for path, methods in document["paths"].items() if "post" in methods}
    assert posts == set(BODIES)
    pages = {path for path, methods in document["paths"].items() if "get" in methods}
    assert pages == {
        *("/", "/health", "/ping", "/info", "/metrics", "/openapi.json"),
        *("/v1/models", "/v1/models/{name}", "/v2/health/live", "/v2/health/ready"),
        *("/v2/models/{name}", "/v2/models/{name}/ready"),
    }
    for methods in document["paths"].values():
        for operation in methods.values():
            assert operation["summary"]


@pytest.mark.parametrize("path", BODIES)
def test_messages_and_results_are_as_described(path, client, document):
    operation = document["paths"][path]["post"]
    check(document, operation["requestBody"], BODIES[path])
    answer = client.post(path, json=BODIES[path])
    kind = "200" if answer.status_code == 200 else "4XX"
    # No tiny model can do it, and there are no networks: test_networks.py has some.
    refused = 404 if path.startswith("/v2/models") else 424
    assert kind == "200" or answer.status_code == refused, answer.text
    check(document, operation["responses"][kind], answer.json())
    wrong = client.post(path, json=BODIES[path] | {"unheard_of": 1})
    check(document, operation["responses"]["4XX"], wrong.json())
    with pytest.raises(jsonschema.ValidationError):
        check(document, operation["requestBody"], BODIES[path] | {"unheard_of": 1})


@pytest.mark.parametrize("path", ["/info", "/v1/models", "/v1/models/text", "/openapi.json"])
def test_pages_are_as_described(path, client, document):
    operation = document["paths"][path.replace("/text", "/{name}")]["get"]
    check(document, operation["responses"]["200"], client.get(path).json())


def test_an_unknown_model_is_an_error_as_described(client, document):
    answer = client.get("/v1/models/none")
    assert answer.status_code == 404
    responses = document["paths"]["/v1/models/{name}"]["get"]["responses"]
    check(document, responses["4XX"], answer.json())
