"""classify against the text-classification pipeline: labels, scores, nesting, arguments."""

import numpy as np
import pytest

import fbg
from helpers import tiny_tasks
from helpers.task_checks import assert_same, change_config, of_kind
from helpers.tiny_bert import MISSING
from helpers.tiny_tasks import PAIRS, TEXTS, golden, write_model

KIND = "ForSequenceClassification"
MODEL = f"bert-{KIND}"


@pytest.mark.parametrize("name", of_kind(KIND))
def test_classify_agrees_with_transformers(load, name, isa):
    model, wanted = load(name), golden()[name]
    assert_same(model.classify(TEXTS, top_k=None), wanted["texts"])
    assert_same(model.classify(PAIRS, top_k=None), wanted["pairs"])


@pytest.mark.parametrize("name", of_kind(KIND))
def test_results_are_nested_as_those_of_transformers(load, name):
    model, wanted = load(name), golden()[name]["nesting"]
    text = TEXTS[1]
    assert_same(model.classify(text), wanted["str"])
    assert_same(model.classify(TEXTS), wanted["list"])
    assert_same(model.classify([text]), wanted["list of one"])
    assert_same(model.classify(text, top_k=1), wanted["str, top_k=1"])
    assert_same(model.classify(TEXTS, top_k=1), wanted["list, top_k=1"])
    assert_same(model.classify(text, top_k=2), wanted["str, top_k=2"])
    assert_same(model.classify(TEXTS, top_k=2), wanted["list, top_k=2"])
    assert_same(model.classify(text, top_k=None), wanted["str, top_k=None"])


@pytest.mark.parametrize("name", of_kind(KIND))
def test_a_long_text_is_cut_as_transformers_cuts_it(load, name):
    assert_same(load(name).classify(tiny_tasks.LONG, top_k=None), golden()[name]["cut"])


def test_other_sequences_of_text_will_do(load):
    model = load(MODEL)
    wanted = model.classify(TEXTS)
    assert model.classify(tuple(TEXTS)) == wanted
    assert model.classify(iter(TEXTS)) == wanted
    assert model.classify(np.array(TEXTS)) == wanted
    pairs = model.classify(PAIRS)
    assert model.classify([list(pair) for pair in PAIRS]) == pairs
    assert model.classify(np.array(PAIRS)) == pairs
    assert model.classify([PAIRS[0], TEXTS[0]]) == [pairs[0], wanted[0]]


def test_an_empty_text_is_a_text(load):
    assert load(MODEL).classify("")[0].keys() == {"label", "score"}


def test_top_k_and_threshold_choose_labels(load):
    model = load("many-labels")
    every = model.classify(TEXTS[1], top_k=None)
    assert len(every) == 4
    assert model.classify(TEXTS[1], top_k=2) == every[:2]
    assert model.classify(TEXTS[1], top_k=9) == every
    middle = every[1]["score"]
    assert model.classify(TEXTS[1], top_k=None, threshold=middle) == every[:2]
    assert model.classify(TEXTS[1], threshold=2) == []
    # Some texts may have no label then: every text has a list.
    assert model.classify([TEXTS[1]] * 2, threshold=2) == [[], []]
    assert model.classify([TEXTS[1]], threshold=middle) == [every[:1]]


def test_scores_are_what_the_function_makes_of_logits(load):
    model = load(MODEL)

    def scores(function):
        found = model.classify(TEXTS[0], top_k=None, function_to_apply=function)
        by_label = {entry["label"]: entry["score"] for entry in found}
        return np.array([by_label[label] for label in tiny_tasks.LABELS.values()])

    logits = scores("none")
    np.testing.assert_allclose(scores("sigmoid"), 1 / (1 + np.exp(-logits)), atol=1e-12)
    powers = np.exp(logits)
    np.testing.assert_allclose(scores("softmax"), powers / powers.sum(), atol=1e-12)
    assert model.classify(TEXTS[0]) == model.classify(TEXTS[0], function_to_apply="softmax")


def test_labels_without_names_have_numbers(tmp_path):
    change_config(write_model(tmp_path, MODEL), id2label=MISSING, label2id=MISSING)
    found = fbg.load(tmp_path).classify(TEXTS[0], top_k=None)
    assert {entry["label"] for entry in found} == {"LABEL_0", "LABEL_1", "LABEL_2"}


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"texts": 3}, TypeError, "texts must be a str, or a sequence of str and .* got int"),
        ({"texts": b"x"}, TypeError, "texts must be .*, got bytes"),
        ({"texts": {"text": "a"}}, TypeError, "texts must be .*, got dict: pass one of its values"),
        ({"texts": ["a", None]}, TypeError, r"texts\[1\] must be a str or a pair of str, got None"),
        ({"texts": [("a", "b", "c")]}, TypeError, r"texts\[0\] must be a str or a pair of str"),
        ({"top_k": 0}, ValueError, "top_k must be within"),
        ({"top_k": 1.5}, TypeError, "top_k must be an integer"),
        ({"top_k": "worst"}, TypeError, "top_k must be an integer"),
        ({"batch_size": 0}, ValueError, "batch_size must be within"),
        (
            {"function_to_apply": "relu"},
            ValueError,
            "function_to_apply must be one of softmax, sigmoid, none, got 'relu'",
        ),
        ({"texts": ["a", "\ud800"]}, ValueError, r"texts\[1\] is not valid Unicode"),
        ({"texts": [("a", "\ud800")]}, ValueError, r"texts\[0\] is not valid Unicode"),
    ],
)
def test_a_wrong_argument_is_named(load, arguments, error, message):
    with pytest.raises(error, match=f"classify: {message}"):
        load(MODEL).classify(**{"texts": "a", **arguments})
