"""Reranking as Cohere's and Jina's clients ask for it."""

import pytest

from helpers.tiny_tasks import DOCUMENTS, QUERY


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
