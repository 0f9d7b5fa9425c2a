"""The routes of OpenAI, Cohere and Jina, asked as their clients ask; the types of TEI."""

from __future__ import annotations

import base64
import json

import jsonschema
import numpy as np
import openai
import pytest

import fbg
from helpers.minilm import DATA
from helpers.pictures import encoded, text_of
from helpers.tiny_tasks import DOCUMENTS, PAIRS, QUERY
from helpers.tiny_towers import pictures

# OpenAI's API, asked by OpenAI's own client.

TEXTS = ["a quick fox", "the dog", "x"]


@pytest.fixture
def api(server):
    with openai.OpenAI(base_url=f"{server.url}/v1", api_key="-", max_retries=0) as opened:
        yield opened


def vectors(response):
    assert [item.index for item in response.data] == list(range(len(response.data)))
    return np.array([item.embedding for item in response.data], np.float32)


def test_embeddings_have_the_bits_of_encode(api, models):
    wanted = models["text"].encode(TEXTS)
    # The client asks for base64 unless it is told otherwise.
    for options in ({}, {"encoding_format": "float"}, {"encoding_format": "base64"}):
        response = api.embeddings.create(model="text", input=TEXTS, **options)
        if options.get("encoding_format") == "base64":
            raw = [base64.b64decode(item.embedding) for item in response.data]
            got = np.stack([np.frombuffer(item, "<f4") for item in raw])
        else:
            got = vectors(response)
        assert np.array_equal(got, wanted)
    assert response.model == "text" and response.object == "list"
    tokens = sum(models["text"].token_counts(TEXTS))
    assert response.usage.prompt_tokens == response.usage.total_tokens == tokens


def test_one_text_and_token_ids(api, models):
    model = models["text"]
    ids = [tokens.tolist() for tokens in model.context.tokenizer(TEXTS)]
    wanted = model.encode(TEXTS)
    assert np.array_equal(
        vectors(api.embeddings.create(model="text", input=TEXTS[0]))[0], wanted[0]
    )
    assert np.array_equal(vectors(api.embeddings.create(model="text", input=ids)), wanted)
    assert np.array_equal(vectors(api.embeddings.create(model="text", input=ids[1]))[0], wanted[1])


def test_shortened_embeddings_have_length_one(api, models):
    got = vectors(api.embeddings.create(model="text", input=TEXTS, dimensions=7))
    wanted = models["text"].encode(TEXTS, truncate_dim=7, normalize_embeddings=True)
    assert np.array_equal(got, wanted)


def test_models_are_listed(api, directories):
    assert [model.id for model in api.models.list()] == list(directories)
    assert api.models.retrieve("rank").owned_by == "fbg"
    with pytest.raises(openai.NotFoundError):
        api.models.retrieve("other")


def test_errors_are_those_that_the_client_knows(api):
    with pytest.raises(openai.NotFoundError, match="there is no model 'other' here") as missing:
        api.embeddings.create(model="other", input="a")
    assert missing.value.code == "model_not_found" and missing.value.param == "model"
    with pytest.raises(openai.BadRequestError, match=r"`dimensions` must be in \[1, "):
        api.embeddings.create(model="text", input="a", dimensions=10**6)
    for empty in ("", [], [""]):
        with pytest.raises(openai.BadRequestError, match="`input` cannot be empty"):
            api.embeddings.create(model="text", input=empty)
    for ids in ([10**9], [[-1]], [2**40]):
        with pytest.raises(openai.BadRequestError):
            api.embeddings.create(model="text", input=ids)


def test_error_bodies_are_nested(client):
    answer = client.post("/v1/embeddings", json={"input": 5})
    assert answer.status_code == 400
    error = answer.json()["error"]
    assert error.keys() == {"message", "type", "param", "code"}
    assert error["type"] == "invalid_request_error"


# Cohere's routes for embeddings.

TWO_TEXTS = ["the dog", "a quick fox"]


FILES = [encoded(picture) for picture in pictures()]
SENT = [text_of(file, "data:image/png;base64,") for file in FILES]


def post(client, version, **body):
    answer = client.post(f"/v{version}/embed", json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


@pytest.mark.parametrize(
    ("use", "prompt"), [("search_query", "query"), ("search_document", None), (None, None)]
)
def test_embeddings_of_cohere_have_the_bits_of_encode(client, models, use, prompt):
    wanted = models["text"].encode(TWO_TEXTS, prompt_name=prompt)
    types = ["float", "base64", "binary", "ubinary"]
    found = post(client, 2, model="text", texts=TWO_TEXTS, input_type=use, embedding_types=types)
    rows = found["embeddings"]
    np.testing.assert_array_equal(np.float32(rows["float"]), wanted)
    decoded = [np.frombuffer(base64.b64decode(text), "<f4") for text in rows["base64"]]
    np.testing.assert_array_equal(decoded, wanted)
    for kind in types[2:]:
        np.testing.assert_array_equal(rows[kind], fbg.quantize_embeddings(wanted, kind))
    assert found["texts"] == TWO_TEXTS and found["meta"]["billed_units"]["input_tokens"] > 4
    plain = post(client, 1, model="text", texts=TWO_TEXTS, input_type=use)
    np.testing.assert_array_equal(np.float32(plain["embeddings"]), wanted)


def test_texts_are_cut_where_the_request_says(client, models):
    long = "the dog " * 100 + "a quick fox"
    for side in ("START", "END"):
        found = post(client, 2, texts=[long], truncate=side, model="text", output_dimension=5)
        cut = models["text"].with_truncation_side("left" if side == "START" else "right")
        wanted = cut.encode([long], truncate_dim=5)
        np.testing.assert_array_equal(np.float32(found["embeddings"]["float"]), wanted)
    refused = client.post("/v2/embed", json={"texts": [long], "truncate": "NONE", "model": "text"})
    assert refused.status_code == 400 and "tokens" in refused.json()["message"]


def test_pictures_have_embeddings(client, models):
    found = post(client, 2, images=SENT[:1], input_type="image")
    wanted = models["clip"].encode_image(FILES[:1])
    np.testing.assert_array_equal(np.float32(found["embeddings"]["float"]), wanted)
    both = client.post("/v2/embed", json={"images": SENT[:1], "texts": ["a"]})
    assert both.status_code == 400 and "either `texts` or `images`" in both.json()["message"]


# Reranking as Cohere's and Jina's clients ask for it.


@pytest.mark.parametrize("path", ["/rerank", "/v1/rerank", "/v2/rerank"])
def test_results_are_those_of_the_model(path, client, models):
    body = {"model": "rank", "query": QUERY, "documents": DOCUMENTS, "top_n": 2}
    answer = client.post(path, json=body)
    assert answer.status_code == 200
    wanted = models["rank"].rerank(QUERY, DOCUMENTS, top_k=2)
    assert answer.json()["results"] == [
        {"index": r["corpus_id"], "relevance_score": r["score"]} for r in wanted
    ]
    assert answer.json()["usage"]["total_tokens"] > 0
    assert answer.json()["meta"]["billed_units"] == {"search_units": 1}


def test_documents_may_be_objects_and_come_back(client):
    objects = [{"text": text, "title": "ignored"} for text in DOCUMENTS]
    body = {"query": QUERY, "documents": objects, "return_documents": True}
    results = client.post("/v1/rerank", json=body).json()["results"]
    assert len(results) == len(DOCUMENTS)
    assert all(r["document"] == {"text": DOCUMENTS[r["index"]]} for r in results)
    scores = [r["relevance_score"] for r in results]
    assert scores == sorted(scores, reverse=True)


@pytest.mark.parametrize(
    ("body", "status", "message"),
    [
        ({"query": QUERY, "documents": []}, 400, "`documents` cannot be empty"),
        ({"query": "", "documents": ["a"]}, 400, "`query` cannot be empty"),
        ({"query": QUERY}, 400, "`documents` is required"),
        ({"query": QUERY, "documents": ["a"], "top_n": 0}, 400, "`top_n` must be at least 1"),
        ({"query": QUERY, "documents": ["a"], "model": "no"}, 404, "there is no model 'no' here"),
        ({"query": QUERY, "documents": ["a"], "model": "text"}, 400, "can do this: reranking"),
    ],
)
def test_errors_have_a_message(body, status, message, client):
    answer = client.post("/v2/rerank", json=body)
    assert answer.status_code == status
    assert answer.json().keys() == {"message"} and message in answer.json()["message"]


# Answers have the types of text-embeddings-inference's own document of its API.

# The routes, types and errors of docs/openapi.json of text-embeddings-inference 1.7.1, without
# descriptions and examples, with `dimensions` and `served_model_name`, which came later. It also
# says what that document leaves out: 400 answers what is not valid JSON, and texts, lists and
# sequences of ids that are empty. Errors of /v1/embeddings have OpenAI's form, which clients read.
DOCUMENT = json.loads((DATA / "tei_openapi.json").read_text(encoding="utf-8"))
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
