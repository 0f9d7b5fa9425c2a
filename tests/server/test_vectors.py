"""Sparse, multi-vector and hybrid embeddings, ranking by them, and zero-shot classification."""

import httpx
import numpy as np
import pytest
from huggingface_hub import InferenceClient

import fbg
from helpers import tiny_multi, tiny_outputs, tiny_sparse
from helpers.serving import running
from helpers.tiny_outputs import TEXTS
from helpers.tiny_tasks import CANDIDATES, TEMPLATE

WORDS = [text for text in TEXTS if text]


@pytest.fixture(scope="module")
def own(tmp_path_factory):
    root = tmp_path_factory.mktemp("vectors")
    return {
        "colbert": tiny_multi.write_multi(root / "colbert", "pylate"),
        "sparse": tiny_sparse.write_routed(root / "sparse", "saved"),
        "hybrid": tiny_outputs.write_hybrid(root / "hybrid"),
    }


@pytest.fixture(scope="module")
def loaded(own):
    return {name: fbg.load(path) for name, path in own.items()}


@pytest.fixture(scope="module")
def several(own):
    named = [f"{name}={path}" for name, path in own.items()]
    with (
        running(*named, "--threads", "2") as server,
        httpx.Client(base_url=server.url, timeout=30) as client,
    ):
        yield client


def dense(rows, columns):
    result = np.zeros((len(rows), columns), np.float32)
    for n, row in enumerate(rows):
        for entry in row:
            result[n, int(entry["index"])] = entry["value"]
    return result


@pytest.mark.parametrize("kind", ["query", "document"])
def test_sparse_embeddings_are_of_queries_or_documents(several, loaded, kind):
    answer = several.post("/embed_sparse", json={"inputs": WORDS, "kind": kind})
    wanted = loaded["sparse"].encode_sparse(WORDS, kind=kind).to_dense()
    np.testing.assert_array_equal(dense(answer.json(), wanted.shape[1]), wanted)


@pytest.mark.parametrize("kind", ["query", "document"])
def test_vectors_of_tokens_are_those_of_the_model(several, loaded, kind):
    answer = several.post("/embed_multi", json={"inputs": WORDS, "kind": kind})
    wanted = loaded["colbert"].encode_multi(WORDS, kind)
    for rows, vectors in zip(answer.json(), wanted, strict=True):
        np.testing.assert_array_equal(np.array(rows, np.float32), vectors)


@pytest.mark.parametrize("path", ["/rerank", "/v1/rerank"])
def test_models_with_vectors_of_tokens_rank(several, loaded, path):
    body = {"query": "the cat", "documents": WORDS, "top_n": 2, "model": "colbert"}
    results = several.post(path, json=body).json()["results"]
    wanted = loaded["colbert"].rank("the cat", WORDS, top_k=2)
    assert results == [
        {"index": item["corpus_id"], "relevance_score": item["score"]} for item in wanted
    ]


def test_hybrid_embeddings_have_all_kinds(several, loaded):
    found = several.post("/embed_hybrid", json={"inputs": WORDS}).json()
    wanted = loaded["hybrid"].encode_hybrid(WORDS)
    sparse = wanted.sparse.to_dense()
    np.testing.assert_array_equal(dense([one["sparse"] for one in found], sparse.shape[1]), sparse)
    for n, one in enumerate(found):
        np.testing.assert_array_equal(np.array(one["dense"], np.float32), wanted.dense[n])
        np.testing.assert_array_equal(np.array(one["multi"], np.float32), wanted.multi[n])


def test_tasks_are_listed_and_one_vector_comes_from_a_model_for_that(several, loaded):
    models = several.get("/info").json()["models"]
    tasks = {model["name"]: set(model["tasks"]) for model in models}
    assert tasks["colbert"] == {"encode", "encode_multi", "rank", "rerank"}
    assert tasks["sparse"] >= {"encode", "encode_sparse"}
    assert tasks["hybrid"] == {"encode", "encode_hybrid"}
    rows = several.post("/embed", json={"inputs": WORDS, "normalize": False}).json()
    wanted = loaded["hybrid"].encode(WORDS, normalize_embeddings=False)
    np.testing.assert_array_equal(np.array(rows, np.float32), wanted)


@pytest.mark.parametrize(
    ("path", "body", "status"),
    [
        ("/embed_multi", {"inputs": "a", "model": "sparse"}, 424),
        ("/embed_hybrid", {"inputs": "a", "model": "colbert"}, 424),
        ("/embed_multi", {"inputs": "a", "kind": "text"}, 422),
        ("/embed_multi", {"inputs": [[1, 2]]}, 422),
        ("/embed_multi", {"inputs": []}, 400),
        ("/embed_hybrid", {"inputs": "a", "prompt_name": "query"}, 422),
        ("/embed_multi", {"inputs": "a " * 90, "truncate": False}, 422),
        ("/zero_shot", {"inputs": "a", "parameters": {"candidate_labels": ["b"]}}, 424),
        ("/zero_shot", {"inputs": "a"}, 422),
    ],
)
def test_what_is_wrong_is_refused(several, path, body, status):
    answer = several.post(path, json=body)
    assert answer.status_code == status and answer.json().keys() == {"error", "error_type"}


def test_served_zero_shot_results_are_those_of_the_model(server, client, models):
    wanted = models["nli"].zero_shot_classify(WORDS, CANDIDATES)
    parameters = {"candidate_labels": CANDIDATES}
    found = client.post("/zero_shot", json={"inputs": WORDS, "parameters": parameters}).json()
    for one, other in zip(found, wanted, strict=True):
        assert [entry["label"] for entry in one] == other["labels"]
        assert [entry["score"] for entry in one] == other["scores"]
    api = InferenceClient(f"{server.url}/zero_shot", token="none")
    result = api.zero_shot_classification(
        WORDS[0], CANDIDATES, multi_label=True, hypothesis_template=TEMPLATE
    )
    alone = models["nli"].zero_shot_classify(WORDS[0], CANDIDATES, TEMPLATE, multi_label=True)
    assert [(entry.label, entry.score) for entry in result] == list(
        zip(alone["labels"], alone["scores"], strict=True)
    )
    answer = client.post("/zero_shot", json={"inputs": "abc", "parameters": parameters})
    assert int(answer.headers["x-compute-characters"]) == len("abc") + sum(map(len, CANDIDATES))


@pytest.mark.parametrize(
    ("texts", "labels", "template", "status", "message"),
    [
        (["a"], [str(n) for n in range(501)], "{}", 422, "batch size 501 > maximum"),
        (["a"] * 100, list("bcdefg"), "{}", 422, "batch size 600 > maximum"),
        (["a"], ["b", ""], "{}", 400, "`candidate_labels` cannot be empty"),
        (["a b " * 20_000], [str(n) for n in range(30)], "{}", 422, "at most 2097152 characters"),
        (["a"] * 10, list("bcdef"), "{}" + "x" * 60_000, 422, "at most 2097152 characters"),
        (["a"] * 100, [" " * 30_000 + "b"], "{}", 422, "at most 2097152 characters"),
    ],
)
def test_labels_that_ask_for_too_much_are_refused(client, texts, labels, template, status, message):
    parameters = {"candidate_labels": labels, "hypothesis_template": template}
    answer = client.post("/zero_shot", json={"inputs": texts, "parameters": parameters})
    assert answer.status_code == status and message in answer.json()["error"]
