"""Entities: words, groups and overlapping windows; properties of each step."""

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fbg.tasks.entities import (
    AGGREGATIONS,
    Token,
    group_entities,
    label_tokens,
    label_words,
    merge_overlapping,
    words_of,
)
from fbg.tasks.results import Entity

LABELS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC", "DATE"]


def tokens(spec: Sequence[tuple[str, float, bool]]) -> list[Token]:
    """One character each; the score of a label, the rest of 1 on the others alike."""
    result = []
    for n, (label, score, inside) in enumerate(spec):
        values = np.full(len(LABELS), (1 - score) / (len(LABELS) - 1))
        values[LABELS.index(label)] = score
        result.append(Token(values, n + 1, chr(ord("a") + n), n, n + 1, inside))
    return result


def entities(spec: Sequence[tuple[str, float, bool]], strategy: str) -> list[Entity]:
    return group_entities(label_words(tokens(spec), LABELS, strategy, "".join), "".join)


def test_b_begins_an_entity_and_i_continues_one_of_its_kind() -> None:
    labels = ["B-PER", "I-PER", "B-PER", "I-LOC", "I-LOC", "O", "I-PER", "DATE", "DATE"]
    found = entities([(label, 0.9, False) for label in labels], "simple")
    wanted = [("PER", "ab"), ("PER", "c"), ("LOC", "de"), ("O", "f"), ("PER", "g"), ("DATE", "hi")]
    assert [(entity["entity_group"], entity["word"]) for entity in found] == wanted


def test_the_score_of_a_group_is_the_mean() -> None:
    (group,) = entities([("B-PER", 0.9, False), ("I-PER", 0.5, False)], "simple")
    assert group["score"] == pytest.approx(0.7)
    assert (group["start"], group["end"]) == (0, 2)


@pytest.mark.parametrize(
    ("strategy", "label"), [("first", "B-LOC"), ("max", "B-PER"), ("average", "I-LOC")]
)
def test_a_word_has_one_label_by_strategy(strategy: str, label: str) -> None:
    word = [("B-LOC", 0.8, False), ("B-PER", 0.85, True), ("I-LOC", 0.7, True)]
    spec = [*word, ("I-LOC", 0.7, True), ("O", 0.9, False)]
    first, other = label_words(tokens(spec), LABELS, strategy, "".join)
    assert first.label == label
    assert (first.word, first.start, first.end) == ("abcd", 0, 4)
    assert other.label == "O"


def test_tokens_alone_have_their_own_labels_and_places() -> None:
    first, second = label_tokens(tokens([("B-PER", 0.9, False), ("O", 0.5, True)]), LABELS)
    assert first == {"entity": "B-PER", "score": 0.9, "index": 1, "word": "a", "start": 0, "end": 1}
    assert (second["entity"], second["index"], second["word"]) == ("O", 2, "b")


specs = st.lists(
    st.tuples(st.sampled_from(LABELS), st.sampled_from([0.5, 0.6, 0.9]), st.booleans()),
    max_size=10,
)


@given(specs)
def test_words_and_groups_cut_the_tokens_in_order(spec: list[tuple[str, float, bool]]) -> None:
    everything = tokens(spec)
    words = words_of(everything)
    assert [token for word in words for token in word] == everything
    assert all(token.inside for word in words for token in word[1:])
    assert not any(word[0].inside for word in words[1:])
    text = "".join(token.word for token in everything)
    for strategy in AGGREGATIONS[1:]:
        labelled = label_words(everything, LABELS, strategy, "".join)
        assert "".join(word.word for word in labelled) == text
        grouped = group_entities(labelled, "".join)
        assert "".join(entity["word"] for entity in grouped) == text
        for before, after in itertools.pairwise(grouped):
            assert before["end"] == after["start"]


def entity(start: int, end: int, score: float) -> Entity:
    return {"entity_group": "PER", "score": score, "word": "", "start": start, "end": end}


def test_of_overlapping_entities_the_longer_or_surer_one_stays() -> None:
    short, long, sure = entity(0, 2, 0.9), entity(1, 5, 0.5), entity(1, 5, 0.8)
    apart = entity(5, 6, 0.1)
    assert merge_overlapping([short, long]) == [long]
    assert merge_overlapping([long, sure, apart]) == [sure, apart]
    assert merge_overlapping([apart, sure, long]) == [sure, apart]
    assert merge_overlapping([]) == []


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(1, 9), st.sampled_from([0.2, 0.7]))))
def test_merged_entities_ascend(spans: list[tuple[int, int, float]]) -> None:
    found = [entity(start, start + size, score) for start, size, score in spans]
    merged = merge_overlapping(found)
    assert all(one in found for one in merged)
    assert [one["start"] for one in merged] == sorted(one["start"] for one in merged)
    assert bool(merged) == bool(found)
