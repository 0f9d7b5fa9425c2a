"""ner against the token-classification pipeline: entities, windows of long texts, arguments."""

import pytest

from helpers.task_checks import assert_same, of_kind
from helpers.tiny_tasks import LONG, STRATEGIES, STRIDES, TEXTS, golden

KIND = "ForTokenClassification"


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", of_kind(KIND))
def test_ner_agrees_with_transformers(load, name, strategy):
    wanted = golden()[name][strategy]
    assert len({entity["score"] for entities in wanted for entity in entities}) > 3
    assert_same(load(name).ner(TEXTS, aggregation_strategy=strategy), wanted)
    assert_same(load(name).ner(TEXTS[1], aggregation_strategy=strategy), wanted[1])


@pytest.mark.parametrize("name", of_kind(KIND))
def test_a_long_text_is_cut_as_transformers_cuts_it(load, name):
    assert_same(load(name).ner(LONG), golden()[name]["cut"])


@pytest.mark.parametrize("strategy", STRIDES)
@pytest.mark.parametrize("name", of_kind(KIND))
def test_windows_agree_with_transformers(load, name, strategy):
    model, wanted = load(name), golden()[name]["windows"][strategy]
    stride = STRIDES[strategy]
    found = model.ner([LONG, "x"], strategy, stride=stride)
    assert_same(found, wanted)
    assert model.ner(LONG, strategy, stride=stride, batch_size=1) == found[0]
    assert max(entity["end"] for entity in wanted[0]) > 200  # what is cut without a stride


def test_a_stride_changes_nothing_for_texts_that_fit(load):
    model = load(f"bert-{KIND}")
    assert model.ner(TEXTS, stride=9) == model.ner(TEXTS)


def test_an_empty_text_has_no_entities(load):
    model = load(f"bert-{KIND}")
    assert model.ner("") == []
    assert model.ner(["", "x"], stride=0)[0] == []


def test_ignored_labels_are_left_out(load):
    model = load(f"roberta-{KIND}")
    tokens = model.ner(TEXTS[1], "none", ignore_labels=())
    assert [token["index"] for token in tokens] == list(range(1, len(tokens) + 1))
    labels = {token["entity"] for token in tokens}
    assert len(labels) > 1
    for label in labels:
        rest = model.ner(TEXTS[1], "none", ignore_labels=[label])
        assert rest == [token for token in tokens if token["entity"] != label]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"aggregation_strategy": "best"}, ValueError, "aggregation_strategy must be one of"),
        ({"texts": [1]}, TypeError, r"texts\[0\] must be a str, got int"),
        ({"texts": {"text": "a"}}, TypeError, "texts must be .*, got dict"),
        ({"texts": "\ud800"}, ValueError, r"texts\[0\] is not valid Unicode"),
        ({"stride": -1}, ValueError, "stride must be within"),
        ({"stride": 1.5}, TypeError, "stride must be an integer"),
        ({"stride": 62, "texts": LONG}, ValueError, "stride must be less than the 62 tokens"),
        (
            {"stride": 5, "aggregation_strategy": "none"},
            ValueError,
            'stride needs an aggregation_strategy other than "none"',
        ),
    ],
)
def test_a_wrong_argument_is_named(load, arguments, error, message):
    with pytest.raises(error, match=f"ner: {message}"):
        load(f"bert-{KIND}").ner(**{"texts": "a", **arguments})
