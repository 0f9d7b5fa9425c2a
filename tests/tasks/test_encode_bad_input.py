"""Texts that no one should write, and that someone will: never a crash, never a wrong row."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fbg
from helpers import tiny_bert


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    path = tiny_bert.write_checkpoint(tmp_path_factory.mktemp("model"), seed=3, spread=0.25)
    return fbg.load(path, dtype="int8")


@pytest.mark.parametrize("text", ["\ud800", "ok \udfff", "\ud83d"], ids=ascii)
def test_lone_surrogates_are_named(model, text):
    with pytest.raises(ValueError, match=r"encode: sentences\[2\] is not valid Unicode"):
        model.encode(["a", "b", text, "c"])
    with pytest.raises(ValueError, match=r"encode: sentences\[0\] is not valid Unicode"):
        model.encode("a", prompt=text)


@pytest.mark.parametrize("wrong", [None, b"bytes", 3, ["a"], float("nan")], ids=repr)
def test_what_is_no_text_is_named(model, wrong):
    got = type(wrong).__name__
    with pytest.raises(TypeError, match=rf"encode: sentences\[1\] must be a str, got {got}"):
        model.encode(["a", wrong])


@pytest.mark.parametrize(
    "text", ["", " ", "\n\t\r", "\0", "\x01\x1b[31m\x7f", "\u200b\ufeff", "\U0010ffff", "é\u0301"]
)
def test_empty_and_unprintable_texts_have_embeddings(model, text):
    rows = model.encode(["a", text, "b"])
    assert np.isfinite(rows).all()
    assert np.array_equal(rows[1], model.encode(text))
    assert np.array_equal(rows[::2], model.encode(["a", "b"]))


@settings(max_examples=50, deadline=None)
@given(texts=st.lists(st.text(st.characters(codec="utf-8"), max_size=30), max_size=5))
def test_any_unicode_text_has_an_embedding(model, texts):
    rows = model.encode(texts)
    assert rows.shape == (len(texts), 48)
    assert np.isfinite(rows).all()


def test_a_text_of_100_000_words(model):
    long = "word " * 100_000
    rows = model.encode(["a", long, "b"])
    assert np.array_equal(rows[1], model.encode("word " * 100))
    assert np.array_equal(rows[::2], model.encode(["a", "b"]))
    with pytest.raises(
        ValueError, match=r"sentences\[1\] has 400002 tokens, but the model takes at most 40"
    ):
        model.encode(["a", long], truncation=False)
