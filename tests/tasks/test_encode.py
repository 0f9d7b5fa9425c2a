"""Sentence embeddings: what encode accepts, and that a result depends on its sentence alone."""

import importlib.util
import sys
from itertools import pairwise
from threading import Thread

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fbg
from helpers import tiny_bert
from helpers.callers import call_together

TEXTS = [
    "a",
    "the quick brown fox",
    "",
    "0123456789 abc def ghij, klm! nop? qrs",
    "x y z",
    "one two three four five six seven",
]


def write(path, **options):
    return tiny_bert.write_checkpoint(path, seed=3, spread=0.25, **options)


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return write(tmp_path_factory.mktemp("model"))


@pytest.fixture(scope="module", params=["float32", "int8"])
def model(request, directory):
    return fbg.load(directory, dtype=request.param)


def test_a_list_gives_rows_and_a_str_gives_a_vector(model):
    rows = model.encode(TEXTS)
    assert rows.shape == (len(TEXTS), 48)
    assert rows.dtype == np.float32
    for text, row in zip(TEXTS, rows, strict=True):
        vector = model.encode(text)
        assert vector.shape == (48,)
        assert np.array_equal(vector, row)


def test_no_sentences_give_no_rows(model):
    assert model.encode([]).shape == (0, 48)
    assert model.encode(()).dtype == np.float32


def test_tuples_and_arrays_of_str_are_sequences(model):
    rows = model.encode(TEXTS)
    assert np.array_equal(model.encode(tuple(TEXTS)), rows)
    assert np.array_equal(model.encode(np.array(TEXTS)), rows)


@settings(max_examples=25, deadline=None)
@given(
    chosen=st.lists(st.sampled_from(TEXTS), max_size=12),
    batch_size=st.integers(1, 40),
    threads=st.integers(1, 3),
)
def test_a_result_depends_on_its_sentence_alone(model, chosen, batch_size, threads):
    alone = {text: model.encode(text) for text in TEXTS}
    before = fbg.get_num_threads()
    fbg.set_num_threads(threads)
    try:
        rows = model.encode(chosen, batch_size=batch_size)
    finally:
        fbg.set_num_threads(before)
    for text, row in zip(chosen, rows, strict=True):
        assert np.array_equal(row, alone[text])


@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_every_isa_gives_the_same_embeddings(directory, dtype, isa):
    model = fbg.load(directory, dtype=dtype)
    rows = model.encode(TEXTS)
    limited = model.encode(TEXTS)
    assert np.array_equal(model.encode(TEXTS[3]), limited[3])
    # int8: a rounding that falls the other way moves a value by one step of its row.
    assert np.abs(rows - limited).max() < (1e-5 if dtype == "float32" else 0.05)


def test_normalization_can_be_chosen(directory, tmp_path):
    normalizing, plain = fbg.load(directory), fbg.load(write(tmp_path, normalize=False))
    unit, raw = normalizing.encode(TEXTS), plain.encode(TEXTS)
    assert np.allclose(np.linalg.norm(unit, axis=1), 1, atol=1e-6)
    assert np.abs(np.linalg.norm(raw, axis=1) - 1).max() > 0.1
    assert np.array_equal(normalizing.encode(TEXTS, normalize_embeddings=False), raw)
    assert np.array_equal(plain.encode(TEXTS, normalize_embeddings=True), unit)


@pytest.mark.parametrize("pooling", ["mean", "cls", None])
def test_pooling_follows_the_directory(tmp_path, pooling):
    model = fbg.load(write(tmp_path, pooling=pooling, normalize=False))
    ids = tiny_bert.wordpiece(99).encode(TEXTS[3]).ids
    hidden = model.forward([ids]).last_hidden_state[0]
    wanted = hidden[0] if pooling == "cls" else hidden.mean(axis=0)
    assert np.allclose(model.encode(TEXTS[3]), wanted, atol=1e-5)


def test_long_sentences_are_cut(model):
    assert model.max_length == 40
    long = " ".join("a" for _ in range(500))
    cut = " ".join("a" for _ in range(38))  # with [CLS] and [SEP] that is 40
    assert np.array_equal(model.encode(long), model.encode(cut))
    assert model.token_counts([long, "a"]) == [40, 3]


def test_many_sentences_come_back_in_order(model):
    texts = [TEXTS[n % len(TEXTS)] for n in range(700)]
    rows = model.encode(texts, batch_size=512)
    alone = model.encode(TEXTS)
    assert np.array_equal(rows, alone[np.arange(700) % len(TEXTS)])


@pytest.mark.races
def test_threads_may_share_a_model(model):
    wanted = model.encode(TEXTS)

    def encode_some(n):
        for _ in range(20):
            assert np.array_equal(model.encode(TEXTS[n:]), wanted[n:])

    call_together(4, encode_some)


def test_progress_bar_changes_nothing(model, capsys):
    rows = model.encode(TEXTS)
    if importlib.util.find_spec("tqdm") is None:
        with pytest.raises(ModuleNotFoundError, match="tqdm"):
            model.encode(TEXTS, show_progress_bar=True)
        return
    assert np.array_equal(model.encode(TEXTS, show_progress_bar=True), rows)
    assert "6/6" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"sentences": 3}, TypeError, "sentences must be a str or a sequence of str, got int"),
        ({"sentences": b"a"}, TypeError, "got bytes"),
        ({"sentences": ["a", 5]}, TypeError, r"sentences\[1\] must be a str, got int"),
        ({"sentences": ["a", "\ud800"]}, ValueError, r"sentences\[1\] is not valid Unicode"),
        ({"sentences": "a", "batch_size": 0}, ValueError, "batch_size must be within .*, got 0"),
        ({"sentences": "a", "batch_size": 1.5}, TypeError, "batch_size must be an integer"),
    ],
)
def test_bad_arguments_are_named(model, arguments, error, message):
    with pytest.raises(error, match=f"encode: .*{message}"):
        model.encode(**arguments)


def test_a_tokenizer_larger_than_the_vocabulary_is_noticed(directory, tmp_path):
    write(tmp_path)
    tiny_bert.wordpiece(400).save(str(tmp_path / "tokenizer.json"))
    model = fbg.load(tmp_path)
    with pytest.raises(ValueError, match=r"encode: token ids must be in \[0, 99\), got 3\d\d"):
        model.encode("word290")


@pytest.mark.parametrize("num_threads", [2, 5])
def test_runs_side_by_side_change_no_bit(directory, num_threads):
    texts = TEXTS * 20
    alone = fbg.load(directory, dtype="int8", num_threads=1)
    together = fbg.load(directory, dtype="int8", num_threads=num_threads)
    helpers = []
    start = Thread.start

    def spy(thread):
        helpers.append(thread.name)
        start(thread)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Thread, "start", spy)
        got = together.encode(texts, batch_size=3)
        assert np.array_equal(got, alone.encode(texts, batch_size=3))
    # Only the model with more threads has others help.
    assert helpers == [f"fbg-batch-{n}" for n in range(1, num_threads)]
    assert np.array_equal(got[: len(TEXTS)], np.stack([alone.encode(text) for text in TEXTS]))


@pytest.mark.parametrize("num_threads", [1, 2])
def test_one_text_takes_a_straight_way(directory, num_threads):
    """From the text to its vector, a reader meets few functions, and seldom another file."""
    model = fbg.load(directory, num_threads=num_threads)
    model.encode("a fox")
    files = []
    sys.setprofile(
        lambda frame, event, _: event == "call" and files.append(frame.f_code.co_filename)
    )
    try:
        model.encode("a dog")
    finally:
        sys.setprofile(None)
    assert 10 < len(files) <= 30
    assert sum(a != b for a, b in pairwise(files)) <= 20
