"""Late chunking over HTTP: a vector for each chunk, with its place in the document."""

import sys

import numpy as np
import pytest

import fbg
from fbg.server.inputs import MOST_CHARACTERS
from fbg.server.routes.vectors import MOST_IN_CHUNKS
from helpers import tiny_bert
from helpers.serving import ask

DOCUMENT = "The dog ran away. A quick fox, who saw it, did not! It was the end of it all."
SPANS = [(0, 17), (18, 51), (52, len(DOCUMENT)), (4, 30)]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    """One that pools the first token, and one that pools all."""
    root = tmp_path_factory.mktemp("chunks")
    first = tiny_bert.write_checkpoint(root / "first", pooling="cls")
    text = tiny_bert.write_checkpoint(root / "text", seed=3, spread=0.25)
    prompts = {"prompts": {"query": "find: "}}
    tiny_bert.write_json(text / "config_sentence_transformers.json", prompts)
    return {"first": fbg.load(first), "text": fbg.load(text)}


def check(answer, spans, wanted):
    assert answer.status_code == 200, answer.text
    found = answer.json()
    assert [(one["start"], one["end"]) for one in found] == spans
    rows = np.array([one["embedding"] for one in found], np.float32)
    np.testing.assert_array_equal(rows, wanted)


def test_chunks_have_the_vectors_of_the_model(models):
    """Of the first that pools all tokens, unless a request names one."""
    model = models["text"]
    body = {"inputs": DOCUMENT, "spans": SPANS}
    answer = ask(models, "/embed_chunks", body)
    check(answer, SPANS, model.encode_chunks(DOCUMENT, SPANS, normalize_embeddings=True))
    assert int(answer.headers["x-compute-tokens"]) > model.max_length  # in windows
    options = {"prompt_name": "query", "dimensions": 5, "normalize": False}
    wanted = model.encode_chunks(
        DOCUMENT, SPANS, prompt_name="query", truncate_dim=5, normalize_embeddings=False
    )
    check(ask(models, "/embed_chunks", body | options), SPANS, wanted)
    long = " ".join([DOCUMENT] * 40)
    check(
        ask(models, "/embed_chunks", {"inputs": long, "spans": [(0, len(long))] * 3}),
        [(0, len(long))] * 3,
        model.encode_chunks(long, [(0, len(long))] * 3, normalize_embeddings=True),
    )


def test_chunks_without_spans_end_where_sentences_do(models):
    model = models["text"]
    for tokens, given in ((25, {"tokens": 25}), (256, {})):
        spans = model.chunk_spans(DOCUMENT, tokens)
        wanted = model.encode_chunks(DOCUMENT, spans, normalize_embeddings=True)
        check(ask(models, "/embed_chunks", {"inputs": DOCUMENT} | given), spans, wanted)


@pytest.mark.parametrize(
    ("change", "status", "message"),
    [
        ({"inputs": ""}, 400, "`inputs` cannot be empty"),
        ({"inputs": "a" * (MOST_CHARACTERS + 1)}, 422, f"at most {MOST_CHARACTERS} characters"),
        ({"inputs": ["a"]}, 422, "Expected `str`, got `array` - at `$.inputs`"),
        ({"spans": []}, 400, "`spans` cannot be empty"),
        ({"spans": [[0, 1]] * 7}, 422, "batch size 7 > maximum allowed batch size 6"),
        ({"spans": [[0, 99]]}, 422, "`spans`[0] must be within [0, 77], got 99"),
        ({"spans": [[5, 2]]}, 422, "`spans`[0] must be within [5, 77], got 2"),
        ({"spans": [[0, 1, 2]]}, 422, "Expected `array` of length 2"),
        ({"spans": [[17, 18]]}, 422, "`spans`[0] has no token of the document"),
        ({"spans": [[0, MOST_IN_CHUNKS]] * 2}, 422, f"at most {MOST_IN_CHUNKS} characters"),
        ({"tokens": 5}, 422, "`tokens` is for requests without `spans`"),
        ({"spans": None, "tokens": 0}, 422, "Expected `int` >= 1 - at `$.tokens`"),
        ({"spans": None, "tokens": 1 << 40}, 422, "`tokens` must be within"),
        ({"dimensions": 49}, 422, "`dimensions` must be in [1, 48]"),
        ({"prompt_name": "passage"}, 422, "`prompt_name` must be a prompt of the model"),
        ({"model": "first"}, 424, "the model 'first' does not pool by one of mean, max"),
        ({"model": "second"}, 404, "there is no model 'second' here"),
    ],
)
def test_what_is_wrong_is_refused(models, change, status, message):
    body = {"inputs": DOCUMENT, "spans": SPANS} | change
    answer = ask(models, "/embed_chunks", body, max_client_batch_size=6)
    assert answer.status_code == status, answer.text
    assert message in answer.json()["error"]


def test_hidden_states_are_limited_before_they_are_computed(models):
    """Whatever the chunks are, their states take memory."""
    body, path = {"inputs": DOCUMENT, "spans": [(0, 3)]}, "/embed_chunks"
    tokens = int(ask(models, path, body).headers["x-compute-tokens"])
    numbers = tokens * models["text"].config.hidden_size
    refused = ask(models, path, body, max_answer_numbers=(numbers - 1) // 4)
    assert refused.status_code == 422
    assert f"numbers in total, got {numbers}" in refused.json()["error"]
    assert ask(models, path, body, max_answer_numbers=-(-numbers // 4)).status_code == 200
    assert ask(models, path, body, max_held=8 * numbers - 1).status_code == 429
    assert ask(models, path, body, max_held=8 * numbers + 1000).status_code == 200


def test_spans_must_be_given_where_nothing_finds_them(models, monkeypatch):
    monkeypatch.setitem(sys.modules, "semantic_text_splitter", None)
    refused = ask(models, "/embed_chunks", {"inputs": DOCUMENT})
    assert refused.status_code == 424
    assert "`spans` must be given here: chunks of texts need semantic" in refused.json()["error"]
    body = {"inputs": DOCUMENT, "spans": SPANS}
    assert ask(models, "/embed_chunks", body).status_code == 200
