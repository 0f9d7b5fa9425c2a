"""zero_shot_classify against the zero-shot-classification pipeline of transformers."""

import tracemalloc
import warnings

import numpy as np
import pytest

import fbg
from helpers import tiny_tasks
from helpers.task_checks import TOLERANCE
from helpers.tiny_tasks import CANDIDATES, LONG, TEMPLATE, TEXTS, golden

NAMES = ["nli", "nli-first"]


def assert_same(got, wanted):
    if isinstance(wanted, list):
        assert len(got) == len(wanted)
        for one, other in zip(got, wanted, strict=True):
            assert_same(one, other)
        return
    assert got.keys() == wanted.keys()
    assert (got["sequence"], got["labels"]) == (wanted["sequence"], wanted["labels"])
    np.testing.assert_allclose(got["scores"], wanted["scores"], rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("name", NAMES)
def test_results_are_those_of_transformers(load, name):
    model, wanted = load(name), golden()[name]["zero_shot"]
    assert_same(model.zero_shot_classify(TEXTS, CANDIDATES), wanted["default"])
    templated = model.zero_shot_classify(TEXTS, iter(CANDIDATES), hypothesis_template=TEMPLATE)
    assert_same(templated, wanted["template"])
    independent = model.zero_shot_classify(TEXTS, CANDIDATES, multi_label=True)
    assert_same(independent, wanted["multi_label"])
    assert_same(model.zero_shot_classify(TEXTS, CANDIDATES[:1]), wanted["one label"])
    assert_same(model.zero_shot_classify(TEXTS[0], ", ".join(CANDIDATES)), wanted["commas"])


@pytest.mark.parametrize("name", NAMES)
def test_only_the_text_is_cut(load, name):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = load(name).zero_shot_classify(LONG, CANDIDATES)
    assert_same(result, golden()[name]["zero_shot"]["cut"])


def test_a_cut_text_is_warned_of_or_refused(tmp_path):
    model = fbg.load(tiny_tasks.write_model(tmp_path, "nli"))
    with pytest.warns(UserWarning, match=r"zero_shot_classify: texts\[3\] has .* was truncated"):
        model.zero_shot_classify(["a", LONG], CANDIDATES)
    with pytest.raises(ValueError, match=r"texts\[0\] has .* takes at most 64"):
        model.zero_shot_classify(LONG, CANDIDATES, truncation=False)


def test_a_label_may_have_braces(load):
    result = load("nli").zero_shot_classify("the dog", ["{}", "cat"])
    assert sorted(result["labels"]) == ["cat", "{}"]


def test_pairs_are_made_a_block_at_a_time(load):
    model, labels = load("nli"), [f"label {n}" for n in range(1000)]
    tracemalloc.start()
    try:
        with pytest.raises(ValueError, match="leaves no room for the first"):
            model.zero_shot_classify("a", labels, "word " * 20_000 + "{}")  # 100 MB of hypotheses
        assert tracemalloc.get_traced_memory()[1] < 50 << 20
    finally:
        tracemalloc.stop()


def test_no_texts_have_no_results(load):
    assert load("nli").zero_shot_classify([], CANDIDATES) == []


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"candidate_labels": []}, ValueError, "candidate_labels must have at least one label"),
        ({"candidate_labels": " , "}, ValueError, "candidate_labels must have at least one label"),
        ({"candidate_labels": ["a", " "]}, ValueError, "none of them empty"),
        ({"candidate_labels": [3]}, TypeError, r"candidate_labels\[0\] must be a str"),
        ({"hypothesis_template": "It."}, ValueError, r"hypothesis_template must have one \{\}"),
        ({"hypothesis_template": "{} {}"}, ValueError, r"hypothesis_template must have one \{\}"),
        ({"hypothesis_template": "{"}, ValueError, r"hypothesis_template must have one \{\}"),
        ({"hypothesis_template": "{0[a]}"}, ValueError, r"must have one \{\} .*, got '\{0\[a\]\}'"),
        ({"hypothesis_template": 3}, TypeError, "hypothesis_template must be a str, got int"),
        ({"texts": 3}, TypeError, "texts must be a str or a sequence of str, got int"),
        ({"batch_size": 0}, ValueError, "batch_size must be"),
        ({"candidate_labels": [LONG]}, ValueError, "leaves no room for the first: .* of 64 tokens"),
    ],
)
def test_bad_arguments_are_named(load, options, error, message):
    arguments = {"texts": LONG, "candidate_labels": CANDIDATES, **options}
    with pytest.raises(error, match=message):
        load("nli").zero_shot_classify(**arguments)


def test_a_model_without_entailment_is_refused(load):
    with pytest.raises(fbg.ModelError, match=r"id2label .* begins with 'entail', got bad, fair"):
        load("bert-ForSequenceClassification").zero_shot_classify("a", CANDIDATES)
