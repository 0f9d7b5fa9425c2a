"""The routes of text-embeddings-inference, also asked by the client of huggingface_hub."""

import numpy as np
import pytest
from huggingface_hub import InferenceClient

from fbg.server.inputs import is_framed
from helpers.tiny_tasks import CONTEXTS, DOCUMENTS, PAIRS, QUERY, QUESTIONS
from helpers.tiny_tasks import TEXTS as TAGGED

TEXTS = ["a quick fox", "the dog", "x"]


def post(client, path, body):
    answer = client.post(path, json=body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_embed_has_the_bits_of_encode(client, models):
    model = models["text"]
    for path in ("/embed", "/"):
        got = np.array(post(client, path, {"inputs": TEXTS}), np.float32)
        assert np.array_equal(got, model.encode(TEXTS, normalize_embeddings=True))
    got = post(client, "/embed", {"inputs": "the dog", "normalize": False, "prompt_name": "query"})
    wanted = model.encode(["the dog"], normalize_embeddings=False, prompt_name="query")
    assert np.array_equal(np.array(got, np.float32), wanted)
    got = post(client, "/embed", {"inputs": TEXTS, "dimensions": 5})
    wanted = model.encode(TEXTS, truncate_dim=5, normalize_embeddings=True)
    assert np.array_equal(np.array(got, np.float32), wanted)


def test_embed_all_gives_every_token(client, models):
    got = post(client, "/embed_all", {"inputs": TEXTS})
    assert isinstance(got, list)
    tokens = models["text"].context.tokenizer(TEXTS)
    for states, ids in zip(got, tokens, strict=True):
        wanted = models["text"].forward(ids[None]).last_hidden_state[0]
        assert np.array_equal(np.array(states, np.float32), wanted)
    prompted = post(client, "/embed_all", {"inputs": "the dog", "prompt_name": "query"})
    assert prompted == post(client, "/embed_all", {"inputs": ["find: the dog"]})
    assert prompted != post(client, "/embed_all", {"inputs": ["the dog"]})
    ids = [sequence.tolist() for sequence in tokens]
    assert post(client, "/embed_all", {"inputs": ids}) == got
    assert post(client, "/embed_all", {"inputs": ids[0]}) == got[:1]
    long = client.post("/embed_all", json={"inputs": [[5] * 1000]})
    assert long.status_code == 422 and "token ids" in long.json()["error"]
    unknown = client.post("/embed_all", json={"inputs": "a", "prompt_name": "other"})
    assert unknown.status_code == 422


def test_predict_takes_texts_and_pairs(client, models):
    model = models["labels"]
    assert post(client, "/predict", {"inputs": "the cat", "model": "labels"}) == model.classify(
        "the cat", top_k=None
    )
    pair = PAIRS[0]
    (wanted,) = model.classify([pair], top_k=None)
    assert post(client, "/predict", {"inputs": list(pair), "model": "labels"}) == wanted
    batch = [["the cat"], list(pair)]
    assert post(client, "/predict", {"inputs": batch, "model": "labels"}) == model.classify(
        ["the cat", pair], top_k=None
    )
    raw = {"inputs": "the cat", "model": "labels", "raw_scores": True}
    assert post(client, "/predict", raw) == model.classify(
        "the cat", top_k=None, function_to_apply="none"
    )


def test_rerank_sorts_by_score(client, models):
    wanted = models["rank"].rerank(QUERY, DOCUMENTS)
    body = {"query": QUERY, "texts": DOCUMENTS, "return_text": True}
    assert post(client, "/rerank", body) == [
        {"index": r["corpus_id"], "score": r["score"], "text": DOCUMENTS[r["corpus_id"]]}
        for r in wanted
    ]
    raw = post(client, "/rerank", {"query": QUERY, "texts": DOCUMENTS, "raw_scores": True})
    assert isinstance(raw, list)
    logits = models["rank"].predict([(QUERY, text) for text in DOCUMENTS], activation_fn="none")
    assert {r["index"]: np.float32(r["score"]) for r in raw} == dict(enumerate(logits))


def test_similarity_gives_cosines(client, models):
    inputs = {"source_sentence": TEXTS[0], "sentences": TEXTS}
    got = np.array(post(client, "/similarity", {"inputs": inputs}))
    rows = models["text"].encode(TEXTS, normalize_embeddings=True)
    np.testing.assert_allclose(got, rows @ rows[0], atol=1e-6)
    alone = {"source_sentence": TEXTS[0], "sentences": [TEXTS[2]]}
    assert post(client, "/similarity", {"inputs": alone}) == [got[2]]


def test_tokens_lead_back_to_the_text(client, models):
    (tokens,) = post(client, "/tokenize", {"inputs": "the dog"})
    ids = models["text"].context.tokenizer(["the dog"])[0].tolist()
    assert [token["id"] for token in tokens] == ids
    assert [token["special"] for token in tokens] == [True, *[False] * (len(ids) - 2), True]
    assert "".join("the dog"[t["start"] : t["stop"]] for t in tokens[1:-1]) == "thedog"
    plain = {"inputs": ["the dog"], "add_special_tokens": False}
    assert post(client, "/tokenize", plain) == [tokens[1:-1]]
    decoded = models["text"].context.tokenizer.decode(ids)
    assert post(client, "/decode", {"ids": ids}) == [decoded]
    assert post(client, "/decode", {"ids": [ids, ids]}) == [decoded] * 2


def test_sparse_embeddings_are_those_of_the_model(client, models):
    got = post(client, "/embed_sparse", {"inputs": TEXTS})
    wanted = models["masks"].encode_sparse(TEXTS)
    dense = np.zeros(wanted.shape, np.float32)
    assert isinstance(got, list) and len(got) == len(TEXTS)
    for n, row in enumerate(got):
        for entry in row:
            dense[n, entry["index"]] = entry["value"]
    assert np.array_equal(dense, wanted.to_dense())
    # A model that predicts no tokens has none.
    answer = client.post("/embed_sparse", json={"inputs": "a", "model": "text"})
    assert answer.status_code == 424 and answer.json()["error_type"] == "Backend"


def test_long_texts_are_cut_unless_the_request_forbids_it(client, models):
    long = "the dog " * 200
    wanted = models["text"].encode([long], normalize_embeddings=True)
    got = post(client, "/embed", {"inputs": long, "truncate": True})
    assert np.array_equal(np.array(got, np.float32), wanted)
    answer = client.post("/embed", json={"inputs": long, "truncate": False})
    assert answer.status_code == 422 and "tokens" in answer.json()["error"]


def test_long_texts_are_cut_on_the_side_that_the_request_names(client, models):
    long = "the dog " * 100 + "a quick fox " * 100
    right = post(client, "/embed", {"inputs": long})
    assert post(client, "/embed", {"inputs": long, "truncation_direction": "Right"}) == right
    left = post(client, "/embed", {"inputs": long, "truncation_direction": "left"})
    cut = models["text"].with_truncation_side("left")
    wanted = cut.encode([long], normalize_embeddings=True)
    assert np.array_equal(np.array(left, np.float32), wanted) and left != right
    compared = {"source_sentence": long, "sentences": ["a quick fox"]}
    side = {"truncation_direction": "Left"}
    near = post(client, "/similarity", {"inputs": compared, "parameters": side})
    assert near != post(client, "/similarity", {"inputs": compared})
    labels = {"inputs": long, "model": "labels", "truncation_direction": "Left"}
    wanted_labels = models["labels"].with_truncation_side("left").classify(long, top_k=None)
    assert post(client, "/predict", labels) == wanted_labels


def test_info_describes_the_models(client, models):
    info = client.get("/info").json()
    assert info["model_id"] == info["served_model_name"] == "text"
    assert info["model_dtype"] == "int8"
    assert info["max_input_length"] == models["text"].max_length
    assert info["max_client_batch_size"] == 500
    tasks = {model["name"]: model["tasks"] for model in info["models"]}
    assert tasks["rank"] == ["classify", "encode", "predict", "rerank"]
    assert tasks["labels"] == ["classify", "encode", "predict"]


def test_metrics_have_the_names_of_tei(client):
    post(client, "/embed", {"inputs": TEXTS})
    lines = client.get("/metrics").text.splitlines()
    names = {line.split("{")[0].split(" ")[0] for line in lines if not line.startswith("#")}
    assert {"te_request_count", "te_request_success", "te_queue_size"} <= names
    for histogram in (
        *("te_request_duration", "te_request_tokenization_duration", "te_request_queue_duration"),
        *("te_request_inference_duration", "te_request_input_length"),
        *("te_batch_next_size", "te_batch_next_tokens"),
    ):
        assert {f"{histogram}_bucket", f"{histogram}_sum", f"{histogram}_count"} <= names


def test_times_stand_in_the_headers(client):
    headers = client.post("/embed", json={"inputs": TEXTS}).headers
    assert headers["x-compute-type"] == "cpu"
    assert int(headers["x-compute-characters"]) == sum(map(len, TEXTS))
    assert int(headers["x-compute-tokens"]) > len(TEXTS)
    for name in ("compute", "total", "tokenization", "queue", "inference"):
        assert headers[f"x-{name}-time"].isdigit()


# --- The client of huggingface_hub --------------------------------------------------------------


def test_inference_client_embeds(server, models):
    api = InferenceClient(server.url, token="none")
    wanted = models["text"].encode(TEXTS, normalize_embeddings=True)
    assert np.array_equal(api.feature_extraction(TEXTS), wanted)
    assert np.array_equal(
        api.feature_extraction(TEXTS[0], normalize=True, truncate=True), wanted[:1]
    )
    cosines = api.sentence_similarity(TEXTS[0], TEXTS[1:])
    np.testing.assert_allclose(cosines, wanted[1:] @ wanted[0], atol=1e-6)


def test_inference_client_reads_entities_answers_and_masks(server, models):
    entities = InferenceClient(f"{server.url}/ner", token="none").token_classification(TAGGED[1])
    assert [(e.entity_group, e.word, e.start, e.end) for e in entities] == [
        (e["entity_group"], e["word"], e["start"], e["end"]) for e in models["tags"].ner(TAGGED[1])
    ]
    api = InferenceClient(f"{server.url}/answer", token="none")
    answer = api.question_answering(QUESTIONS[0], CONTEXTS[0])
    wanted = models["answers"].answer(QUESTIONS[0], CONTEXTS[0])
    assert (answer.answer, answer.score) == (wanted["answer"], wanted["score"])
    api = InferenceClient(f"{server.url}/fill_mask", token="none")
    filled = api.fill_mask("the [MASK] cat", top_k=3)
    assert [f.token for f in filled] == [
        f["token"] for f in models["masks"].fill_mask("the [MASK] cat", top_k=3)
    ]


@pytest.mark.parametrize(
    ("ids", "warns"),
    [([[2, 5, 3]], False), ([[5, 9]], True), ([[2, 5, 3], [2, 5]], True), ([[2, 3]], False)],
)
@pytest.mark.parametrize("path", ["/embed", "/embed_all", "/v1/embeddings"])
def test_token_ids_of_another_tokenizer_are_warned_of(path, ids, warns, client, models):
    """Some clients of OpenAI send ids of its tokenizer, which mean something else here."""
    first, *_, last = frame = models["text"].context.tokenizer.frame.tolist()
    known = {2: first, 3: last}
    sent = [[known.get(number, number) for number in sequence] for sequence in ids]
    key = "input" if path.startswith("/v1") else "inputs"
    answer = client.post(path, json={key: sent, "model": "text"})
    assert len(frame) == 2 and answer.status_code == 200, answer.text
    assert ("warning" in answer.headers) == warns
    if warns:
        assert f"`{key}` lack the special tokens" in answer.headers["warning"]


def test_ids_of_models_with_one_special_token():
    assert is_framed([7, 5], [7]) and is_framed([5, 7], [7]) and not is_framed([5, 9], [7])
    assert is_framed([5], [])
