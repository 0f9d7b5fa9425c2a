"""From logits to answers: properties of each step, against definitions that are easy to check."""

import itertools
import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from fbg.tasks import postprocessing as post

finite = st.floats(-50, 50, width=32)
scores = st.lists(st.sampled_from([0.0, 0.25, 0.5, 0.75, 1.0]), max_size=12)
LABELS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC", "DATE"]


# --- Scores -----------------------------------------------------------------------------------


@given(st.lists(finite, min_size=1, max_size=9))
def test_softmax_is_a_distribution_in_the_order_of_the_logits(logits: list[float]) -> None:
    result = post.softmax(logits)
    assert result.sum() == pytest.approx(1)
    assert np.all(np.diff(result[np.argsort(logits)]) >= 0)
    np.testing.assert_allclose(post.softmax(np.add(logits, 3)), result, rtol=1e-12)


@given(finite)
def test_sigmoid_is_the_logistic_function(x: float) -> None:
    assert post.sigmoid(x) == pytest.approx(1 / (1 + math.exp(-x)), abs=1e-12)
    assert post.sigmoid(-x) == pytest.approx(1 - post.sigmoid(x), abs=1e-12)


@pytest.mark.parametrize("x", [-1e30, 1e30])
def test_sigmoid_and_softmax_do_not_overflow(x: float) -> None:
    assert post.sigmoid(x) == (x > 0)
    assert post.softmax([x, 0]).tolist() == [float(x > 0), float(x < 0)]


@given(scores, st.none() | st.integers(1, 15))
def test_top_k_is_a_stable_sort_cut_short(values: list[float], k: int | None) -> None:
    wanted = sorted(range(len(values)), key=lambda n: -values[n])[:k]
    assert post.top_k(values, k).tolist() == wanted


@given(scores, st.none() | st.floats(0, 1))
def test_at_least_keeps_the_order_of_those_that_reach_the_threshold(
    values: list[float], threshold: float | None
) -> None:
    results = [{"score": value, "n": n} for n, value in enumerate(values)]
    kept = post.at_least(results, threshold)
    least = -1 if threshold is None else threshold
    assert kept == [result for result in results if result["score"] >= least]


def test_label_scores_name_the_best() -> None:
    assert post.label_scores([0.2, 0.7, 0.1], ["a", "b", "c"], 2) == [
        {"label": "b", "score": 0.7},
        {"label": "a", "score": 0.2},
    ]


# --- Entities ---------------------------------------------------------------------------------


def tokens(spec: Sequence[tuple[str, float, bool]]) -> list[post.Token]:
    """One character each; the score of a label, the rest of 1 on the others alike."""
    result = []
    for n, (label, score, inside) in enumerate(spec):
        values = np.full(len(LABELS), (1 - score) / (len(LABELS) - 1))
        values[LABELS.index(label)] = score
        result.append(post.Token(values, n + 1, chr(ord("a") + n), n, n + 1, inside))
    return result


def groups(spec: Sequence[tuple[str, float, bool]], strategy: str) -> list[tuple[str, str]]:
    entities = post.aggregate(tokens(spec), LABELS, strategy, "".join)
    return [(e["entity_group"], e["word"]) for e in post.group_entities(entities, "".join)]


def test_b_begins_an_entity_and_i_continues_one_of_its_kind() -> None:
    labels = ["B-PER", "I-PER", "B-PER", "I-LOC", "I-LOC", "O", "I-PER", "DATE", "DATE"]
    spec = [(label, 0.9, False) for label in labels]
    wanted = [("PER", "ab"), ("PER", "c"), ("LOC", "de"), ("O", "f"), ("PER", "g"), ("DATE", "hi")]
    assert groups(spec, "simple") == wanted


def test_the_score_of_a_group_is_the_mean() -> None:
    entities = post.aggregate(
        tokens([("B-PER", 0.9, False), ("I-PER", 0.5, False)]), LABELS, "simple", "".join
    )
    (group,) = post.group_entities(entities, "".join)
    assert group["score"] == pytest.approx(0.7)
    assert (group["start"], group["end"]) == (0, 2)


@pytest.mark.parametrize(
    ("strategy", "label"), [("first", "B-LOC"), ("max", "B-PER"), ("average", "I-LOC")]
)
def test_a_word_has_one_label_by_strategy(strategy: str, label: str) -> None:
    word = [("B-LOC", 0.8, False), ("B-PER", 0.85, True), ("I-LOC", 0.7, True)]
    spec = [*word, ("I-LOC", 0.7, True), ("O", 0.9, False)]
    first, other = post.aggregate(tokens(spec), LABELS, strategy, "".join)
    assert first["entity"] == label
    assert (first["word"], first["start"], first["end"]) == ("abcd", 0, 4)
    assert other["entity"] == "O"


specs = st.lists(
    st.tuples(st.sampled_from(LABELS), st.sampled_from([0.5, 0.6, 0.9]), st.booleans()),
    max_size=10,
)


@given(specs)
def test_words_and_groups_cut_the_tokens_in_order(spec: list[tuple[str, float, bool]]) -> None:
    everything = tokens(spec)
    words = post.words_of(everything)
    assert [token for word in words for token in word] == everything
    assert all(token.inside for word in words for token in word[1:])
    assert not any(word[0].inside for word in words[1:])
    for strategy in post.AGGREGATIONS:
        entities = post.aggregate(everything, LABELS, strategy, "".join)
        text = "".join(token.word for token in everything)
        assert "".join(entity["word"] for entity in entities) == text
        grouped = post.group_entities(entities, "".join)
        assert "".join(entity["word"] for entity in grouped) == text
        for before, after in itertools.pairwise(grouped):
            assert before["end"] == after["start"]


# --- Spans ------------------------------------------------------------------------------------


@given(st.integers(0, 60), st.integers(1, 12), st.integers(0, 11))
def test_windows_cover_everything_and_share_the_stride(length: int, size: int, stride: int) -> None:
    stride = min(stride, size - 1)
    found = post.windows(length, size, stride)
    assert found[0][0] == 0
    assert found[-1][1] == length
    assert all(end - begin <= size for begin, end in found)
    for (_, end), (begin, _) in itertools.pairwise(found):
        assert end - begin == stride


def all_spans(
    start: np.ndarray, end: np.ndarray, allowed: np.ndarray, most: int
) -> list[tuple[int, int]]:
    """Every span by the definition, likeliest first."""
    n = range(1, len(start))
    spans = [(s, e) for s in n for e in n if s <= e < s + most and allowed[s] and allowed[e]]
    return sorted(spans, key=lambda span: -(start[span[0]] + end[span[1]]))


@given(st.data())
def test_best_spans_are_the_likeliest_of_all(data: st.DataObject) -> None:
    length = data.draw(st.integers(1, 9))
    most, k = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 8))
    # Different sums, so that there is one order.
    order = data.draw(st.permutations(range(length)))
    start = np.array(order, np.float32) * 0.1
    end = np.array(data.draw(st.permutations(range(length))), np.float32) * 1.3
    allowed = np.array(data.draw(st.lists(st.booleans(), min_size=length, max_size=length)))
    spans, nothing = post.best_spans(start, end, allowed, k, most)
    assert [(s.start, s.end) for s in spans] == all_spans(start, end, allowed, most)[:k]
    possible = allowed.copy()
    possible[0] = True
    begins, ends = (np.exp(x) / np.exp(x[possible]).sum() for x in (start, end))
    assert nothing == pytest.approx(begins[0] * ends[0], rel=1e-5)
    for span in spans:
        assert span.score == pytest.approx(begins[span.start] * ends[span.end], rel=1e-5)


def test_spans_grow_to_whole_words() -> None:
    offsets = np.array([[0, 0], [0, 2], [2, 5], [6, 7], [8, 9], [9, 12]], np.int32)
    words = np.array([-1, 0, 0, 1, 2, 2], np.int32)

    def grown(start: int, end: int) -> tuple[int, int]:
        return post.whole_words(post.Span(start, end, 1.0), offsets, words)

    assert grown(2, 4) == (0, 12)
    assert grown(3, 3) == (6, 7)
    assert grown(1, 1) == (0, 5)
    nowhere = np.full(6, -1, np.int32)  # a tokenizer that has no words
    assert post.whole_words(post.Span(2, 4, 1.0), offsets, nowhere) == (2, 9)


def test_scores_of_one_text_add_up() -> None:
    answers = [
        {"answer": "York", "score": 0.25, "start": 3, "end": 7},
        {"answer": "it", "score": 0.375, "start": 0, "end": 2},
        {"answer": "york", "score": 0.25, "start": 9, "end": 13},
    ]
    best = {"answer": "York", "score": 0.5, "start": 3, "end": 7}
    assert post.merge_answers(answers, 1) == [best]
    assert post.merge_answers(answers, 5) == [best, answers[1]]
    nothing = {"answer": "", "score": 0.4375, "start": 0, "end": 0}
    assert post.merge_answers(answers, 5, 0.4375) == [best, nothing, answers[1]]
    assert post.merge_answers([], 5) == []
    assert answers[0]["score"] == 0.25
