"""Instruction models leave the prompt out of what they pool (include_prompt: false)."""

import json

import numpy as np
import pytest

import fbg
from helpers import tiny_bert

PROMPT = "the quick"
TEXTS = ["a", "brown fox jumps", "one two three"]
MODES = {
    "mean": lambda x: x.mean(axis=0),
    "max": lambda x: x.max(axis=0),
    "mean_sqrt_len_tokens": lambda x: x.sum(axis=0) / np.sqrt(len(x)),
    "cls": lambda x: x[0],
    "lasttoken": lambda x: x[-1],
}


def write(path, mode="mean", include_prompt=False):
    tiny_bert.write_checkpoint(path, seed=3, spread=0.25, pooling="mean")
    pooling = {"pooling_mode": mode, "include_prompt": include_prompt}
    tiny_bert.write_json(path / "1_Pooling" / "config.json", pooling)
    return path


@pytest.mark.parametrize("mode", MODES)
def test_the_tokens_of_the_prompt_are_not_pooled(tmp_path, mode):
    directory = write(tmp_path, mode)
    tokenizer = tiny_bert.wordpiece(99)
    skipped = len(tokenizer.encode(PROMPT).ids) - 1  # [CLS] counts, [SEP] comes after the text
    model = fbg.load(directory)
    got = model.encode(TEXTS, prompt=PROMPT + " ", normalize_embeddings=False)
    for row, text in zip(got, TEXTS, strict=True):
        ids = tokenizer.encode(f"{PROMPT} {text}").ids
        states = model.forward([ids]).last_hidden_state[0]
        np.testing.assert_allclose(row, MODES[mode](states[skipped:]), rtol=0, atol=1e-6)


def test_without_a_prompt_everything_is_pooled(tmp_path):
    without, with_prompt = write(tmp_path / "a"), write(tmp_path / "b", include_prompt=True)
    plain = [fbg.load(path).encode(TEXTS) for path in (without, with_prompt)]
    np.testing.assert_array_equal(*plain)
    prompted = [fbg.load(path).encode(TEXTS, prompt=PROMPT) for path in (without, with_prompt)]
    assert not np.array_equal(*prompted)


def test_a_text_is_the_same_alone_and_with_many_prompts(tmp_path):
    one, two = (fbg.load(write(tmp_path / str(n)), dtype="int8", num_threads=n) for n in (1, 2))
    for count in range(1, 20):
        prompt = "a " * count
        together = two.encode(TEXTS, prompt=prompt)
        for row, text in zip(together, TEXTS, strict=True):
            np.testing.assert_array_equal(one.encode(text, prompt=prompt), row)


def test_a_prompt_that_fills_the_model_leaves_nothing(tmp_path):
    directory = write(tmp_path)
    tiny_bert.write_json(directory / "sentence_bert_config.json", {"max_seq_length": 6})
    with pytest.warns(UserWarning):
        row = fbg.load(directory).encode("b", prompt="a " * 30, normalize_embeddings=False)
    assert np.isfinite(row).all()


def test_weights_by_place_have_no_meaning_without_the_prompt(tmp_path):
    directory = write(tmp_path, "weightedmean")
    with pytest.raises(fbg.ModelError, match=r"include_prompt must be true"):
        fbg.load(directory)
    path = directory / "1_Pooling" / "config.json"
    path.write_text(json.dumps({"pooling_mode": "weightedmean"}))
    assert fbg.load(directory).encode("a", prompt=PROMPT).any()
