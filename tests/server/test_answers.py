"""Answers with a vector for every token: how large they may be, and where their JSON is made."""

import json
import threading

import numpy as np
import pytest

import fbg
from fbg.runtime.batcher import Batcher
from fbg.server import answers
from fbg.server.inputs import MOST_CHARACTERS
from fbg.server.routes import tei
from fbg.server.state import BYTES_OF_NUMBER
from helpers import tiny_multi, tiny_outputs, tiny_sparse
from helpers.serving import ask

TEXTS = ["the cat", "the dog and the fox", "x"]


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    root = tmp_path_factory.mktemp("answers")
    directories = {
        "hybrid": tiny_outputs.write_hybrid(root / "hybrid"),
        "colbert": tiny_multi.write_multi(root / "colbert", "pylate"),
        "sparse": tiny_sparse.write_routed(root / "sparse", "saved"),
    }
    return {name: fbg.load(path) for name, path in directories.items()}


def numbers(models, path):
    """How many numbers the network computes for TEXTS."""
    if path == "/embed_multi":
        return sum(rows.size for rows in models["colbert"].encode_multi(TEXTS))
    hybrid = models["hybrid"]
    return sum(ids.size for ids in hybrid.tokenizer(TEXTS)) * int(hybrid.config.hidden_size)


@pytest.mark.parametrize("path", ["/embed_multi", "/embed_hybrid", "/embed_all"])
def test_answers_that_are_too_large_are_refused_before_they_are_computed(models, path, monkeypatch):
    submitted = []
    submit = Batcher.submit

    def spy(queue, *arguments, **more):
        submitted.append(arguments)
        return submit(queue, *arguments, **more)

    monkeypatch.setattr(Batcher, "submit", spy)
    body, most = {"inputs": TEXTS}, numbers(models, path)
    refused = ask(models, path, body, max_answer_numbers=most - 1)
    assert refused.status_code == 422
    assert f"at most {most - 1} numbers in total, got {most}" in refused.json()["error"]
    assert not submitted
    assert ask(models, path, body, max_answer_numbers=most).status_code == 200
    assert len(submitted) == 1


@pytest.mark.parametrize("kind", ["document", "query"])
def test_sparse_answers_are_limited(models, kind):
    texts = TEXTS * 20  # in two parts of documents
    most = 2 * models["sparse"].encode_sparse(texts, kind=kind).data.size
    body = {"inputs": texts, "kind": kind}
    refused = ask(models, "/embed_sparse", body, max_answer_numbers=most - 1)
    assert refused.status_code == 422
    assert f"at most {most - 1} numbers in total" in refused.json()["error"]
    assert ask(models, "/embed_sparse", body, max_answer_numbers=most).status_code == 200


def test_parts_of_a_request_are_limited_together(models):
    most = 40 * numbers(models, "/embed_hybrid")  # of 120 texts, of which 32 are a part
    body = {"inputs": TEXTS * 40}
    assert ask(models, "/embed_hybrid", body, max_answer_numbers=most - 1).status_code == 422
    assert ask(models, "/embed_hybrid", body, max_answer_numbers=most).status_code == 200


@pytest.mark.parametrize("path", ["/embed_multi", "/embed_hybrid", "/embed_all", "/embed_sparse"])
def test_large_answers_are_encoded_outside_of_the_event_loop(models, path, monkeypatch):
    threads = set()
    encode = answers.encode_json

    def spy(value):
        threads.add(threading.current_thread())
        return encode(value)

    monkeypatch.setattr(answers, "encode_json", spy)
    answer = ask(models, path, {"inputs": TEXTS})
    assert answer.status_code == 200 and len(answer.json()) == len(TEXTS)
    assert threads and threading.current_thread() not in threads


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/tokenize", {"inputs": ["a", "a" * (MOST_CHARACTERS + 1)]}),
        ("/decode", {"ids": [[1], [1] * (tei.MOST_IDS + 1)]}),
        ("/embed", {"inputs": [[1], [1] * 100_000]}),
    ],
)
def test_what_would_keep_the_interpreter_for_long_is_refused(models, path, body):
    refused = ask(models, path, body)
    assert refused.status_code == 422
    assert "must have at most" in refused.json()["error"]


@pytest.mark.parametrize("path", ["/embed_multi", "/embed_hybrid", "/embed_all"])
def test_numbers_of_answers_count_before_they_are_computed(models, path):
    most = numbers(models, path) * BYTES_OF_NUMBER
    refused = ask(models, path, {"inputs": TEXTS}, max_held=most - 1)
    assert refused.status_code == 429
    assert ask(models, path, {"inputs": TEXTS}, max_held=most + 1000).status_code == 200


def test_long_vectors_are_encoded_in_parts():
    for size in (answers.MOST_ITEMS, answers.MOST_ITEMS + 1, 3 * answers.MOST_ITEMS + 5):
        values = np.arange(size, dtype=np.float32)
        parts = [*answers.json_parts({"data": values})]
        assert json.loads(b"".join(parts)) == {"data": values.tolist()}
        assert max(map(len, parts)) < 8 * answers.MOST_ITEMS


def test_matrices_may_be_empty():
    empty, rows = np.zeros((0, 2), np.float32), np.float32([[1, 2.5], [3, 4]])
    assert b"".join(answers.json_parts([])) == b"[]"
    assert b"".join(answers.json_parts([empty, rows])) == b"[[],[[1.0,2.5],[3.0,4.0]]]"
