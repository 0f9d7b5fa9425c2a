"""OpenAI's API, asked by OpenAI's own client."""

import base64

import numpy as np
import openai
import pytest

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
