"""A vector for every token, against MultiVectorEncoder of sentence-transformers."""

import asyncio

import numpy as np
import pytest

import fbg
from fbg.matmul.product import linear
from fbg.tasks.late_interaction import encode, scores
from helpers import tiny_bert, tiny_models, tiny_multi
from helpers.minilm import arrays
from helpers.tiny_bert import change_json
from helpers.tiny_multi import DOCUMENTS, LENGTH, MODELS, QUERIES, write_multi

SETTINGS = "config_sentence_transformers.json"
KINDS = {"query": QUERIES, "document": DOCUMENTS}


pytestmark = pytest.mark.filterwarnings("ignore:.* was truncated")


@pytest.mark.parametrize("name", MODELS)
def test_vectors_are_those_of_the_package(tmp_path, name, isa):
    model, golden = fbg.load(write_multi(tmp_path, name)), arrays("tiny_multi")
    found = {kind: model.encode_multi(texts, kind) for kind, texts in KINDS.items()}
    for kind, rows in found.items():
        assert [len(row) for row in rows] == golden[f"{name}-{kind}-tokens"].tolist()
        wanted = golden[f"{name}-{kind}"]
        np.testing.assert_allclose(np.concatenate(rows), wanted, rtol=0, atol=1e-4)
    scores = fbg.maxsim(found["query"], found["document"])
    np.testing.assert_allclose(scores, golden[f"{name}-scores"], rtol=0, atol=1e-3)


@pytest.mark.parametrize("name", tiny_multi.PYLATE)
def test_vectors_are_those_of_pylate(tmp_path, name):
    model, golden = fbg.load(write_multi(tmp_path, name)), arrays("tiny_pylate")
    for kind, texts in KINDS.items():
        rows = model.encode_multi(texts, kind)
        assert [len(row) for row in rows] == golden[f"{name}-{kind}-tokens"].tolist()
        wanted = golden[f"{name}-{kind}"]
        np.testing.assert_allclose(np.concatenate(rows), wanted, rtol=0, atol=1e-4)


@pytest.mark.parametrize("name", MODELS)
def test_int8_stays_near(tmp_path, name):
    directory = write_multi(tmp_path, name)
    exact, quantized = (fbg.load(directory, dtype=dtype) for dtype in ("float32", "int8"))
    for kind, texts in KINDS.items():
        a, b = (np.concatenate(m.encode_multi(texts, kind)) for m in (exact, quantized))
        assert (a * b).sum(axis=1).mean() >= 0.99


def test_rank_sorts_by_the_scores(tmp_path):
    model = fbg.load(write_multi(tmp_path, "pylate"))
    query = [model.encode_multi(QUERIES[0], "query")]
    scores = fbg.maxsim(query, model.encode_multi(DOCUMENTS))[0]
    ranked = model.rank(QUERIES[0], DOCUMENTS, top_k=3, return_documents=True)
    assert [hit["corpus_id"] for hit in ranked] == np.argsort(-scores, kind="stable")[:3].tolist()
    for hit in ranked:
        assert hit["score"] == scores[hit["corpus_id"]]
        assert hit["text"] == DOCUMENTS[hit["corpus_id"]]
    assert model.rank("a", []) == []


def test_rank_keeps_the_vectors_of_few_documents(tmp_path, monkeypatch):
    model = fbg.load(tiny_multi.write_multi(tmp_path, "pylate"))
    wanted = model.rank(QUERIES[0], DOCUMENTS)
    counts = []
    compare = encode.maxsim

    def count(queries, documents, *rest):
        counts.append(len(documents))
        return compare(queries, documents, *rest)

    monkeypatch.setattr(encode, "maxsim", count)
    monkeypatch.setattr(encode, "PART_DOCUMENTS", 2)
    assert model.rank(QUERIES[0], DOCUMENTS) == wanted
    assert sum(counts) == len(DOCUMENTS) and max(counts) == 2
    with pytest.raises(TypeError, match=r"rank: documents\[3\] must be a str"):
        model.rank("a", ["b", "c", "d", 3])


def test_rank_uses_as_many_threads_as_the_model(tmp_path, monkeypatch):
    used = []

    def spy(*arrays, num_threads=None):
        used.append(num_threads)
        return linear(*arrays, num_threads=num_threads)

    monkeypatch.setattr(scores, "linear", spy)
    model = fbg.load(write_multi(tmp_path, "pylate"), num_threads=1)
    ranked = model.rank(QUERIES[0], DOCUMENTS)
    assert used == [1]
    vectors = [model.encode_multi(QUERIES[0], "query")], model.encode_multi(DOCUMENTS)
    alone, shared = (fbg.maxsim(*vectors, num_threads=n) for n in (1, 2))
    np.testing.assert_array_equal(alone, shared)
    assert used == [1, 1, 2] and len(ranked) == len(DOCUMENTS)


@pytest.mark.parametrize(("threads", "error"), [(0, ValueError), (1.5, TypeError)])
def test_maxsim_checks_the_number_of_threads(threads, error):
    with pytest.raises(error, match="maxsim: num_threads must be"):
        fbg.maxsim([], [], num_threads=threads)


def test_async_models_give_the_same(tmp_path):
    model = fbg.load(write_multi(tmp_path, "hidden"))

    async def ask():
        async with fbg.AsyncModel(model) as m:
            return list(
                await asyncio.gather(
                    m.encode_multi(QUERIES, kind="query"), m.encode_multi(DOCUMENTS[0])
                )
            )

    queries, document = asyncio.run(ask())
    for row, wanted in zip(queries, model.encode_multi(QUERIES, "query"), strict=True):
        np.testing.assert_array_equal(row, wanted)
    np.testing.assert_array_equal(document, model.encode_multi(DOCUMENTS[0]))


def test_long_texts_are_warned_of_or_refused(tmp_path):
    model = fbg.load(write_multi(tmp_path, "pylate"))
    with pytest.warns(UserWarning, match=r"texts\[1\] has 21 .* was truncated to the 15"):
        model.encode_multi(QUERIES, "query")
    with pytest.raises(ValueError, match=r"texts\[0\] has .* takes at most 19"):
        model.encode_multi(DOCUMENTS, truncation=False)


def test_a_prefix_of_one_token_leaves_less_room_at_the_same_length(tmp_path):
    change_json(write_multi(tmp_path, "plain") / SETTINGS, query_length=12)
    model = fbg.load(tmp_path)  # both have 12 tokens, and documents a prefix
    for kind, most in (("query", 12), ("document", 11)):
        with pytest.raises(ValueError, match=f"the model takes at most {most};"):
            model.encode_multi("a " * 30, kind, truncation=False)


def test_maxsim_is_the_sum_of_largest_products():
    rng = np.random.default_rng(0)
    queries = [rng.normal(size=(n, 5)).astype(np.float32) for n in (1, 4, 0)]
    documents = [rng.normal(size=(n, 5)).astype(np.float32) for n in (3, 0, 7, 1)]
    found = fbg.maxsim(queries, documents)
    for row, query in zip(found, queries, strict=True):
        for score, document in zip(row, documents, strict=True):
            # As in sentence-transformers: a document without tokens comes last.
            wanted = (query @ document.T).max(axis=1).sum() if document.size else -1e9
            assert score == pytest.approx(wanted, abs=1e-5)
    for n, query in enumerate(queries):
        for m, document in enumerate(documents):
            assert fbg.maxsim(query, document)[0, 0] == found[n, m]
    assert fbg.maxsim([], documents).shape == (0, 4)


def test_a_document_without_tokens_ranks_last():
    query = np.float32([[1, 0], [0, 1]])
    documents = [np.float32([[-1, 0]]), np.empty((0, 2), np.float32), np.float32([[-9, -9]])]
    assert np.argsort(-fbg.maxsim(query, documents)[0]).tolist() == [0, 2, 1]
    assert fbg.maxsim(query, documents[1])[0, 0] < fbg.maxsim(query, documents[2])[0, 0]


@pytest.mark.parametrize(
    ("queries", "documents", "error", "message"),
    [
        (np.ones((2, 3)), np.ones((2, 3), np.float32), TypeError, r"queries\[0\] must be float32"),
        (np.ones(3, np.float32), [], ValueError, r"queries\[0\] must be \(tokens, dimension\)"),
        (np.ones((2, 3), np.float32), np.ones((2, 4), np.float32), ValueError, "equally many"),
    ],
)
def test_maxsim_names_wrong_arrays(queries, documents, error, message):
    with pytest.raises(error, match=message):
        fbg.maxsim(queries, documents)


def test_other_models_have_no_vectors_for_tokens(tmp_path):
    model = fbg.load(tiny_bert.write_checkpoint(tmp_path))
    with pytest.raises(fbg.ModelError, match=r"encode_multi: .* has no vectors for tokens"):
        model.encode_multi("a")
    with pytest.raises(fbg.ModelError, match=r"rank: .* has no vectors for tokens"):
        model.rank("a", ["b"])


def test_wrong_arguments_are_named(tmp_path):
    model = fbg.load(write_multi(tmp_path, "pylate"))
    with pytest.raises(ValueError, match="kind must be one of query, document, got 'text'"):
        model.encode_multi("a", "text")
    with pytest.raises(TypeError, match="rank: query must be a str, got list"):
        model.rank(["a"], ["b"])
    with pytest.raises(TypeError, match=r"rank: documents\[0\] must be a str, got int"):
        model.rank("a", [3])


@pytest.mark.parametrize(
    ("name", "file", "values", "message"),
    [
        (
            "pylate",
            "config_sentence_transformers.json",
            {"query_length": 0},
            "query_length must be",
        ),
        ("pylate", "config_sentence_transformers.json", {"skiplist_words": "."}, "skiplist_words"),
        (
            "pylate",
            "config_sentence_transformers.json",
            {"query_prefix": 3},
            "query_prefix must be",
        ),
        ("artifact", "artifact.metadata", {"dim": "8"}, "dim must be an integer"),
        ("artifact", "artifact.metadata", {"dim": 9}, r"linear\.weight must have shape \(9, 39\)"),
        ("artifact", "artifact.metadata", {"query_maxlen": 0}, "query_maxlen must be an integer"),
        ("pylate", "1_Dense/config.json", {"use_residual": True}, "use_residual must be false"),
        ("hidden", "1_Dense/config.json", {"module_input_name": "x"}, "module_input_name must be"),
        ("hidden", "2_Mask/config.json", {"keep_only_token_ids": [1]}, "keep_only_token_ids"),
        *(
            ("hidden", "sentence_bert_config.json", tiny_multi.expansion(**values), message)
            for values, message in (
                ({"strategy": "all"}, r"query_expansion\.strategy must be one of fixed, min"),
                ({"length": None}, r"query_expansion\.length must be an integer"),
                ({"length": 9999}, r"query_expansion\.length must be at most"),
                ({"attend": "no"}, r"query_expansion\.attend must be true or false"),
                ({"token": 3}, r"query_expansion\.token must be a string or null"),
            )
        ),
    ],
)
def test_a_wrong_setting_is_named(tmp_path, name, file, values, message):
    change_json(write_multi(tmp_path, name) / file, **values)
    with pytest.raises(fbg.ModelError, match=message):
        fbg.load(tmp_path)


def test_a_missing_mask_token_is_named(tmp_path):
    path = write_multi(tmp_path, "named") / "sentence_bert_config.json"
    change_json(path, **tiny_multi.expansion(token="[NONE]"))
    with pytest.raises(fbg.ModelError, match=r"tokenizer\.json: has no token '\[NONE\]'"):
        fbg.load(tmp_path).encode_multi("a", "query")


def test_a_query_is_as_long_as_the_model_says(tmp_path):
    model = fbg.load(write_multi(tmp_path, "pylate"))
    assert {len(rows) for rows in model.encode_multi(QUERIES, "query")} == {LENGTH}


@pytest.mark.parametrize("name", MODELS)
def test_another_length_cuts_queries_and_documents(tmp_path, name):
    model = fbg.load(write_multi(tmp_path, name))
    short = model.with_max_length(6)
    for kind, texts in KINDS.items():
        counts = [len(rows) for rows in short.encode_multi(texts, kind)]
        whole = [len(rows) for rows in model.encode_multi(texts, kind)]
        assert max(counts) <= 6 < max(whole)


@pytest.mark.parametrize("name", ["hidden", "least", "named", "none", "pylate"])
def test_settings_of_an_encoder_in_a_folder_lie_there(tmp_path, name):
    wanted = fbg.load(write_multi(tmp_path / "root", name))
    model = fbg.load(tiny_models.move_encoder(write_multi(tmp_path / "folder", name)))
    model.save(tmp_path / "saved")
    for kind, texts in KINDS.items():
        rows = wanted.encode_multi(texts, kind)
        for same in (model, fbg.load(tmp_path / "saved")):
            for one, other in zip(rows, same.encode_multi(texts, kind), strict=True):
                np.testing.assert_array_equal(one, other)
