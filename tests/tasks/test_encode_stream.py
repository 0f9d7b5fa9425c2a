"""Any number of texts: blocks and streams change no bit, no order, and bound what is read."""

import numpy as np
import pytest

import fbg
from fbg.tasks import inputs
from helpers import tiny_bert, tiny_models
from helpers.fresh_python import run_python

TEXTS = ["a", "the quick brown fox", "", "0123456789 abc def ghij, klm! nop? qrs", "x y z"]


@pytest.fixture(scope="module", params=["float32", "int8"])
def model(request, tmp_path_factory):
    path = tiny_bert.write_checkpoint(tmp_path_factory.mktemp("model"), seed=3, spread=0.25)
    return fbg.load(path, dtype=request.param)


@pytest.fixture
def small_blocks(monkeypatch):
    monkeypatch.setattr(inputs, "BLOCK_TEXTS", 7)
    monkeypatch.setattr(inputs, "BLOCK_CHARACTERS", 100)


@pytest.mark.parametrize("batch_size", [1, 3, 32])
def test_blocks_change_no_bit(model, monkeypatch, batch_size):
    texts = [TEXTS[n * n % 5] for n in range(40)]
    alone = np.stack([model.encode(text) for text in texts])
    for size in (1, 7, 40, 2048):
        monkeypatch.setattr(inputs, "BLOCK_TEXTS", size)
        assert np.array_equal(model.encode(texts, batch_size=batch_size), alone)


def test_any_iterable_of_texts_will_do(model, small_blocks):
    texts = [TEXTS[n % 5] for n in range(20)]
    rows = model.encode(texts)
    assert np.array_equal(model.encode(text for text in texts), rows)
    assert np.array_equal(model.encode(dict.fromkeys(TEXTS).keys()), rows[:5])
    assert np.array_equal(np.stack(list(model.encode_stream(iter(texts)))), rows)
    assert list(model.encode_stream([])) == []


def test_a_stream_takes_the_options_of_encode(model):
    options = {"normalize_embeddings": False, "prompt": "q: ", "truncate_dim": 9, "batch_size": 2}
    rows = np.stack(list(model.encode_stream(TEXTS, **options)))
    assert np.array_equal(rows, model.encode(TEXTS, **options))


def test_a_stream_reads_one_block_ahead(model, small_blocks):
    taken = 0

    def endless():
        nonlocal taken
        while True:
            taken += 1
            yield "a b"

    stream = model.encode_stream(endless())
    assert taken == 0
    for n in range(30):
        vector = next(stream)
        assert vector.base is None  # of its own, so that keeping it keeps no block
        assert n < taken <= n + 7


def test_long_texts_make_small_blocks():
    half = "a" * (inputs.BLOCK_CHARACTERS // 2)
    assert [len(block) for block in inputs.text_blocks([half] * 5)] == [2, 2, 1]
    assert [len(block) for block in inputs.text_blocks([(half, half)] * 2)] == [1, 1]
    assert [len(block) for block in inputs.text_blocks(["a"] * 5000)] == [2048, 2048, 904]


def test_errors_count_texts_through_all_blocks(model, small_blocks):
    texts = ["a"] * 30
    for wrong, error, message in (
        ("\ud800", ValueError, r"sentences\[30\] is not valid Unicode"),
        (None, TypeError, r"sentences\[30\] must be a str, got NoneType"),
    ):
        stream = model.encode_stream([*texts, wrong])
        assert len([next(stream) for _ in range(28)]) == 28
        with pytest.raises(error, match=message):
            list(stream)
    with pytest.raises(ValueError, match=r"sentences\[30\] has 502 tokens"):
        model.encode([*texts, "a " * 500], truncation=False)


@pytest.mark.parametrize("sentences", ["a str", b"bytes", 3, None])
def test_a_stream_is_of_an_iterable_of_texts(model, sentences):
    with pytest.raises(TypeError, match="sentences must be an iterable of str"):
        model.encode_stream(sentences)


MEMORY = """
import resource, sys
import fbg
model = fbg.load(sys.argv[1], num_threads=1)
def peak(n):
    for _ in model.encode_stream(f"{k} the quick brown fox {k % 7 * 'jumps '}" for k in range(n)):
        pass
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print(peak(4096), peak(16384))
"""


@pytest.mark.parametrize("family", ["bert", "modernbert", "qwen3"])
def test_memory_does_not_grow_with_the_number_of_texts(family, tmp_path):
    if family == "bert":
        path = tiny_bert.write_checkpoint(tmp_path)
    else:
        tokenizer = tiny_models.TOKENIZERS[family]()
        path = tiny_models.write_tiny(tmp_path, family, tokenizer=tokenizer)
    result = run_python(f"import sys; sys.argv = ['', {str(path)!r}]\n{MEMORY}")
    assert result.returncode == 0, result.stderr
    few, many = map(int, result.stdout.split())
    assert many <= 1.2 * few


def test_an_encoder_gives_the_rows_of_encode_in_blocks(model, small_blocks):
    texts = [TEXTS[n % 5] for n in range(20)]
    options = {"truncate_dim": 9, "normalize_embeddings": True, "prompt": "q: "}
    encoder = model.encoder(fbg.EncodeOptions(**options))
    done = []
    blocks = list(encoder.blocks(iter(texts), advance=done.append))
    assert [block.shape for block in blocks] == [(7, 9), (7, 9), (6, 9)]
    assert np.array_equal(np.concatenate(blocks), model.encode(texts, **options))
    assert sum(done) == 20
    assert list(model.encoder().blocks([])) == []


def test_an_encoder_counts_texts_from_where_it_goes_on(model):
    with pytest.raises(TypeError, match=r"sentences\[101\] must be a str, got int"):
        list(model.encoder().blocks(["a", 3], first=100))
    with pytest.raises(ValueError, match=r"sentences\[101\] has 502 tokens"):
        encoder = model.encoder(fbg.EncodeOptions(truncation=False))
        list(encoder.blocks(["a", "a " * 500], first=100))
    with pytest.raises(ValueError, match=r"sentences\[101\] is not valid Unicode"):
        list(model.encoder().blocks(["a", "\ud800"], first=100))
