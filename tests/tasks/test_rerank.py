"""predict and rerank against CrossEncoder: scores, order, shapes, arguments."""

import numpy as np
import pytest

import fbg
from helpers.task_checks import TOLERANCE, assert_same, change_config
from helpers.tiny_tasks import DOCUMENTS, PAIRS, QUERY, golden, write_model

SEVERAL = "bert-ForSequenceClassification"  # labels


def test_rerank_agrees_with_a_cross_encoder(load):
    model, scores = load("pairs"), golden()["pairs"]["documents"]
    order = np.argsort(scores)[::-1].tolist()
    wanted = [{"corpus_id": n, "score": scores[n]} for n in order]
    assert_same(model.rerank(QUERY, DOCUMENTS), wanted)
    assert_same(model.rerank(QUERY, tuple(DOCUMENTS), top_k=2), wanted[:2])
    best = model.rerank(QUERY, np.array(DOCUMENTS), top_k=1, return_documents=True)
    assert_same(best, [{**wanted[0], "text": DOCUMENTS[order[0]]}])
    pairs = [(QUERY, document) for document in DOCUMENTS]
    np.testing.assert_allclose(model.predict(pairs), scores, rtol=0, atol=TOLERANCE)


def test_no_pairs_give_no_scores(load):
    model = load("pairs")
    assert model.predict([]).shape == (0,)
    assert model.rerank("q", []) == []
    assert load(SEVERAL).predict([]).shape == (0, 3)


def test_predict_gives_the_shape_of_cross_encoders(load):
    model, pairs = load(SEVERAL), list(PAIRS)
    logits = model.predict(pairs)
    assert logits.shape == (2, 3)
    assert logits.dtype == np.float32
    np.testing.assert_array_equal(model.predict(pairs[0]), logits[0])
    np.testing.assert_allclose(model.predict(pairs, apply_softmax=True).sum(axis=1), 1, atol=1e-6)
    single = load("pairs")
    assert np.shape(single.predict(pairs[0])) == ()
    raw = single.predict(pairs, activation_fn="none")
    np.testing.assert_allclose(single.predict(pairs), 1 / (1 + np.exp(-raw)), atol=1e-6)


def test_predict_reads_arrays_of_pairs(load):
    model = load("pairs")
    wanted = model.predict(PAIRS)
    np.testing.assert_array_equal(model.predict(np.array(PAIRS)), wanted)
    np.testing.assert_array_equal(model.predict(np.array(PAIRS[:1])), wanted[:1])
    assert model.predict(np.array(PAIRS[0])) == wanted[0]
    np.testing.assert_array_equal(model.predict(np.array(PAIRS, object)), wanted)


@pytest.mark.parametrize(
    "setting",
    [
        {"sbert_ce_default_activation_function": "torch.nn.modules.linear.Identity"},
        {"sentence_transformers": {"activation_fn": "torch.nn.modules.linear.Identity"}},
    ],
)
def test_a_cross_encoder_may_name_its_activation(load, tmp_path, setting):
    change_config(write_model(tmp_path, "pairs"), **setting)
    pairs = list(PAIRS)
    raw = load("pairs").predict(pairs, activation_fn="none")
    np.testing.assert_array_equal(fbg.load(tmp_path).predict(pairs), raw)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda m: m.predict("ab"), TypeError, "predict: inputs must be .*, got str"),
        (lambda m: m.predict(["a", "b", "c"]), TypeError, r"predict: inputs\[0\] must be a pair"),
        (lambda m: m.predict([["a", 1]]), TypeError, r"predict: inputs\[0\] must be a pair"),
        (lambda m: m.predict(np.array(["a"] * 3)), TypeError, r"inputs\[0\] must be a pair"),
        (lambda m: m.predict(np.zeros((2, 2))), TypeError, r"inputs\[0\] must be a pair"),
        (lambda m: m.predict([np.array("a")]), TypeError, r"inputs\[0\] must be a pair"),
        (lambda m: m.predict({"a": "b"}), TypeError, "predict: inputs must be .*, got dict"),
        (lambda m: m.rerank(1, ["d"]), TypeError, "rerank: query must be a str"),
        (lambda m: m.rerank("q", "d"), TypeError, "rerank: documents must be"),
        (lambda m: m.rerank("q", {"d": "e"}), TypeError, "rerank: documents must be"),
        (lambda m: m.rerank("q", [1]), TypeError, r"rerank: documents\[0\] must be"),
        (lambda m: m.rerank("q", ["d"], top_k=0), ValueError, "rerank: top_k must be"),
    ],
)
def test_a_wrong_argument_is_named(load, call, error, message):
    with pytest.raises(error, match=message):
        call(load("pairs"))


def test_rerank_needs_one_label(load):
    with pytest.raises(ValueError, match="rerank: the model must have one label, got 3"):
        load(SEVERAL).rerank("q", ["d"])
