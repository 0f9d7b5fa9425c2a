"""answer against the question-answering pipeline: spans, windows of long contexts, arguments."""

import pytest

from helpers.task_checks import assert_same, of_kind
from helpers.tiny_tasks import CONTEXTS, LATER, MODELS, QUESTIONS, golden

KIND = "ForQuestionAnswering"


@pytest.mark.parametrize("name", of_kind(KIND))
def test_answer_agrees_with_transformers(load, name):
    model, wanted = load(name), golden()[name]
    assert_same(model.answer(QUESTIONS, CONTEXTS), wanted["best"])
    assert_same(model.answer(QUESTIONS[0], CONTEXTS[0]), wanted["best"][0])
    if MODELS[name][0] in LATER:  # transformers has no pipeline for them: the best answers are all
        return
    several = model.answer(QUESTIONS, CONTEXTS, top_k=4, max_answer_len=5)
    assert_same(several, wanted["several"])
    windows = model.answer(QUESTIONS, CONTEXTS, top_k=3, max_seq_len=40, doc_stride=7)
    assert_same(windows, wanted["windows"])
    impossible = model.answer(QUESTIONS, CONTEXTS, top_k=3, handle_impossible_answer=True)
    assert_same(impossible, wanted["impossible"])


def test_a_context_of_any_length_is_read_in_windows(load):
    model = load(f"bert-{KIND}")
    context = "a b c d, e f g. " * 200
    found = model.answer("who", context)
    assert context[found["start"] : found["end"]] == found["answer"] != ""


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"question": ""}, "question must not be empty"),
        ({"context": " "}, "context must not be empty"),
        ({"context": "\x00"}, "context must have tokens"),
        (
            {"question": ["q"], "context": ["c", "d"]},
            "context must have as many items as question, 1",
        ),
        ({"question": "q " * 90}, "question must leave room for the context: it takes 93 of 64"),
        ({"context": "c " * 90, "doc_stride": 60}, "doc_stride must be less than the 60 tokens"),
        ({"max_answer_len": 0}, "max_answer_len must be within"),
        ({"top_k": 0}, "top_k must be within"),
        ({"question": "\ud800"}, r"pairs of question and context\[0\] is not valid Unicode"),
    ],
)
def test_a_wrong_argument_is_named(load, arguments, message):
    with pytest.raises(ValueError, match=f"answer: {message}"):
        load(f"bert-{KIND}").answer(**{"question": "q", "context": "c", **arguments})
