"""fill_mask against the fill-mask pipeline: tokens, several masks, targets, arguments."""

import re

import pytest

import fbg
from helpers import tiny_tasks
from helpers.task_checks import assert_same, change_config, change_tensors, of_kind
from helpers.tiny_tasks import MODELS, golden, write_model

KIND = "ForMaskedLM"
MODEL = f"bert-{KIND}"


@pytest.mark.parametrize("name", of_kind(KIND))
def test_fill_mask_agrees_with_transformers(load, name):
    model, family, wanted = load(name), MODELS[name][0], golden()[name]
    texts = tiny_tasks.masked(family)
    assert_same(model.fill_mask(texts, top_k=4), wanted["filled"])
    assert_same(model.fill_mask(texts[0], top_k=1), wanted["one"])
    assert_same(model.fill_mask(texts[0], targets=tiny_tasks.targets(family)), wanted["targets"])


def test_a_list_of_one_text_gives_a_list_of_one_result(load):
    """Unlike the pipeline, whose nesting depends on the length of the list."""
    model = load(MODEL)
    assert model.fill_mask(["a [MASK]"]) == [model.fill_mask("a [MASK]")]


@pytest.mark.parametrize(
    ("name", "token", "other"),
    [(MODEL, "[MASK]", "<mask>"), (f"roberta-{KIND}", "<mask>", "[MASK]")],
)
def test_a_text_without_a_mask_is_told_the_token_of_this_tokenizer(load, name, token, other):
    message = (
        rf"texts\[1\] must contain the mask token {re.escape(token)} within the first 64 tokens$"
    )
    with pytest.raises(ValueError, match=message):
        load(name).fill_mask([f"a {token}", f"a {other}"])


def test_a_mask_that_is_cut_off_is_missing(load):
    with pytest.raises(ValueError, match=r"texts\[0\] must contain the mask token"):
        load(MODEL).fill_mask("a " * 70 + "[MASK]")


def test_a_tokenizer_without_a_mask_token_is_named(tmp_path):
    directory = write_model(tmp_path, MODEL)
    text = (directory / "tokenizer.json").read_text()
    (directory / "tokenizer.json").write_text(text.replace("[MASK]", "[OTHER]"))
    with pytest.raises(fbg.ModelError, match="the tokenizer has no mask token"):
        fbg.load(directory).fill_mask("a [MASK]")


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"targets": ["zz"]}, ValueError, r"targets\[0\] must be a token of the vocabulary"),
        ({"targets": []}, ValueError, "targets must name at least one token"),
        ({"top_k": 0}, ValueError, "top_k must be within"),
        ({"texts": 3}, TypeError, "texts must be a str or a sequence of str, got int"),
    ],
)
def test_a_wrong_argument_is_named(load, arguments, error, message):
    with pytest.raises(error, match=f"fill_mask: {message}"):
        load(MODEL).fill_mask(**{"texts": "[MASK]", **arguments})


def test_a_decoder_that_is_not_tied_is_read(load, tmp_path):
    directory = write_model(tmp_path, MODEL)
    change_config(directory, tie_word_embeddings=False)
    decoder = "cls.predictions.decoder.weight"
    with pytest.raises(fbg.ModelError, match=f"tensor {decoder} is missing"):
        fbg.load(directory)
    table = "bert.embeddings.word_embeddings.weight"
    change_tensors(directory, lambda t: t.update({decoder: t[table].copy()}))
    same = fbg.load(directory)
    assert same.fill_mask("a [MASK]") == load(MODEL).fill_mask("a [MASK]")
    change_tensors(directory, lambda t: t.update({decoder: -t[table]}))
    other = fbg.load(directory)
    assert other.fill_mask("a [MASK]") != same.fill_mask("a [MASK]")
    other.save(tmp_path / "saved")
    assert fbg.load(tmp_path / "saved").fill_mask("a [MASK]") == other.fill_mask("a [MASK]")
