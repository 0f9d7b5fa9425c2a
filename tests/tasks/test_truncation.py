"""Texts that are too long: every task cuts them, says so once, or refuses them when asked to."""

import re
import warnings

import numpy as np
import pytest

import fbg
from helpers import tiny_bert, tiny_gliner
from helpers.tiny_tasks import write_model

LONG = "a " * 70  # 72 tokens with the special ones, of which the models take 64

# The model of each task, how it is called, and what it calls the text that is too long.
TASKS = {
    "encode": (
        "bert-ForMaskedLM",
        lambda m, text, **o: m.encode(["b", text], **o),
        r"sentences\[1\] has 72",
    ),
    "classify": (
        "bert-ForSequenceClassification",
        lambda m, text, **o: m.classify(["b", text], **o),
        r"texts\[1\] has 72",
    ),
    "predict": (
        "pairs",
        lambda m, text, **o: m.predict([("b", "c"), ("b", text)], **o),
        r"inputs\[1\] has 74",
    ),
    "rerank": (
        "pairs",
        lambda m, text, **o: m.rerank("b", ["c", text], **o),
        r"documents\[1\] has 74",
    ),
    "ner": (
        "bert-ForTokenClassification",
        lambda m, text, **o: m.ner(["b", text], **o),
        r"texts\[1\] has 72",
    ),
    "fill_mask": (
        "bert-ForMaskedLM",
        lambda m, text, **o: m.fill_mask(["[MASK]", f"[MASK]{text}"], **o),
        r"texts\[1\] has 73",
    ),
}


def as_list(result):
    return result.tolist() if isinstance(result, np.ndarray) else result


@pytest.mark.parametrize("task", TASKS)
def test_every_task_says_once_that_a_text_was_cut(tmp_path, task):
    name, call, message = TASKS[task]
    model = fbg.load(write_model(tmp_path, name))
    with pytest.warns(
        UserWarning, match=rf"^{task}: {message} tokens and was truncated to the 64 "
    ) as told:
        first = call(model, LONG)
    assert len(told) == 1
    assert told[0].filename == __file__  # the line of the caller, not one of the library
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert as_list(call(model, LONG)) == as_list(first)


@pytest.mark.parametrize("task", TASKS)
def test_every_task_can_refuse_to_cut(tmp_path, task):
    name, call, message = TASKS[task]
    model = fbg.load(write_model(tmp_path, name))
    with pytest.raises(
        ValueError, match=rf"^{task}: {message} tokens, but the model takes at most 64; trunc"
    ):
        call(model, LONG, truncation=False)
    short = "a a"
    whole = call(model, short, truncation=False)
    assert as_list(whole) == as_list(call(model, short))
    wanted = f"{task}: truncation must be True or False, got 'longest_first'"
    with pytest.raises(TypeError, match=wanted):
        call(model, short, truncation="longest_first")


@pytest.mark.parametrize("count", [60, 61, 200])
@pytest.mark.parametrize("kind", ["published", "token"])
def test_words_beyond_those_of_gliner_are_cut_like_tokens(tmp_path, kind, count):
    model = fbg.load(tiny_gliner.write_model(tmp_path, kind))
    text, options = "a " * count, {"labels": ["b"], "threshold": 0.0}
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        found = model.ner([text], **options)
        assert model.ner([text], **options) == found
    said = r"ner: texts\[0\] has more than 60 words and was truncated to the 60 that the"
    assert [bool(re.match(said, str(one.message))) for one in told] == [True] * (count > 60)
    assert all(one.filename == __file__ for one in told)
    if count > 60:
        with pytest.raises(ValueError, match="has more than 60 words, but the model takes at most"):
            model.ner(text, truncation=False, **options)
    else:
        assert model.ner([text], truncation=False, **options) == found


def test_each_method_of_a_model_says_it_for_itself(tmp_path):
    model = fbg.load(write_model(tmp_path, "bert-ForTokenClassification"))
    with pytest.warns(UserWarning, match="encode: "):
        model.encode(LONG)
    with pytest.warns(UserWarning, match="ner: "):
        model.ner(LONG)


def test_a_stride_reads_the_whole_text_and_says_nothing(tmp_path):
    model = fbg.load(write_model(tmp_path, "bert-ForTokenClassification"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model.ner(LONG, stride=3)
        assert model.ner(LONG, stride=3, truncation=False) == model.ner(LONG, stride=3)


@pytest.mark.parametrize("length", [2, 3, 4, 5, 8])
def test_pairs_are_cut_to_any_length_or_named(tmp_path, length):
    """3 special tokens surround a pair."""
    directory = write_model(tmp_path, "pairs")
    tiny_bert.write_json(directory / "tokenizer_config.json", {"model_max_length": length})
    model = fbg.load(directory)
    pairs = [("a b c d", "x y z"), ("a", "x y z 1 2 3 4"), ("a b c d e f", ""), ("", "")]
    if length == 2:
        for pair in pairs:
            with pytest.raises(
                fbg.ModelError, match=r"puts 3 special tokens .* takes only 2 tokens"
            ):
                model.predict([pair])
        return
    scores = model.predict(pairs)
    assert np.isfinite(scores).all()
    room = length - 3
    kept = [("a b c d"[: 2 * (room - room // 2)], "x y z"[: 2 * (room // 2)])]
    assert model.predict(kept)[0] == scores[0]
    with pytest.raises(ValueError, match=r"inputs\[0\] has 10 tokens, but the model takes at most"):
        model.predict(pairs, truncation=False)
