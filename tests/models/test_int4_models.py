"""Models with int4 weights: close to float32, saved and mapped, the same alone and in a batch.

How close the real model is, is seen with all of its layers for int4. What differs from that is
compared on the first two of its six layers, which take a third of the time to round.
"""

import numpy as np
import pytest

import fbg
from fbg.model import quantize
from fbg.model.observe import random_sequences
from fbg.model.synthetic import typical_sequences
from fbg.networks.transformer import linears
from fbg.text.tokenization import TextTokenizer
from helpers import tiny_models
from helpers.formulas import cosines
from helpers.minilm import first_layers, minilm_directory, sentences

TEXTS = sentences()[::2]
CALIBRATING = sentences()[1::2] + [f"{a} {b}" for a, b in zip(TEXTS, TEXTS[5:], strict=False)]


@pytest.fixture(scope="module", autouse=True)
def few_synthetic_sequences():
    """Enough for these texts, and faster than the default."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(quantize, "MOST_SEQUENCES", 100)
        yield


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return first_layers(2, tmp_path_factory.mktemp("two-layers"))


@pytest.fixture(scope="module")
def exact(directory):
    return fbg.load(directory).encode(TEXTS)


@pytest.fixture(scope="module")
def model(directory):
    return fbg.load(directory, dtype="int4")


def test_embeddings_are_close_to_float32():
    exact, int4 = (fbg.load(minilm_directory(), dtype=d).encode(TEXTS) for d in ("float32", "int4"))
    assert cosines(int4, exact).mean() > 0.985


def test_larger_groups_are_a_little_less_close(model, exact, directory):
    coarse = [fbg.load(directory, dtype=dtype) for dtype in ("int4_g64", "int4_g128")]
    losses = [1 - cosines(each.encode(TEXTS), exact).mean() for each in (model, *coarse)]
    assert losses[0] < losses[1] < losses[2]
    assert losses[0] < 0.0025 and losses[1] < 0.0034 and losses[2] < 0.004


def test_offsets_are_more_accurate_and_saved(model, exact, directory, tmp_path):
    with_offsets = fbg.load(directory, dtype="int4_offset")
    embeddings = with_offsets.encode(TEXTS)
    loss = 1 - cosines(embeddings, exact).mean()
    assert loss < 0.9 * (1 - cosines(model.encode(TEXTS), exact).mean())
    packed = {linear.packed.dtype for linear in linears(with_offsets.network).values()}
    assert packed == {"int4_offset"}
    with_offsets.save(tmp_path / "saved")
    saved = fbg.load(tmp_path / "saved")
    assert saved.dtype == "int4_offset"
    np.testing.assert_array_equal(saved.encode(TEXTS), embeddings)
    np.testing.assert_array_equal(saved.encode(TEXTS[3]), embeddings[3])


def test_calibration_is_more_accurate(model, exact, directory):
    calibrated = fbg.load(directory, dtype="int4", calibrate=CALIBRATING)
    loss = 1 - cosines(calibrated.encode(TEXTS), exact).mean()
    assert loss < 0.85 * (1 - cosines(model.encode(TEXTS), exact).mean())


def test_saved_models_give_the_same(model, tmp_path):
    model.save(tmp_path / "saved")
    saved = fbg.load(tmp_path / "saved")
    assert saved.dtype == "int4"
    np.testing.assert_array_equal(saved.encode(TEXTS), model.encode(TEXTS))
    with pytest.raises(ValueError, match="dtype must be 'int4', the dtype of the saved model"):
        fbg.load(tmp_path / "saved", dtype="int8")


def test_a_text_alone_and_in_a_batch_is_the_same(model):
    batch = model.encode(TEXTS)
    for text, row in zip(TEXTS[::5], batch[::5], strict=True):
        np.testing.assert_array_equal(model.encode(text), row)


@pytest.mark.parametrize("name", ["albert", "mpnet", "modernbert", "modernbert-biased"])
def test_other_networks_are_rounded_with_and_without_texts(tmp_path, name):
    path = tiny_models.write_tiny(tmp_path, name)
    ids = tiny_models.golden_inputs(tiny_models.tiny_model(name).config)["full"]
    want = fbg.load(path).forward(ids).last_hidden_state
    texts = ["w20 w30 w40", "w11 w12", "w50 w60 w70 w80"]
    for calibrate in (None, texts):
        got = fbg.load(path, dtype="int4", calibrate=calibrate).forward(ids).last_hidden_state
        assert cosines(got, want).mean() > 0.9


def test_layers_of_higher_precision_stay_as_they_are(exact, directory):
    rest = ["*.qkv", "*.attention_output", "*.intermediate"]
    model = fbg.load(directory, dtype="int4", higher_precision=dict.fromkeys(rest, "float32"))
    dtypes = {name: linear.packed.dtype for name, linear in linears(model.network).items()}
    assert {dtypes[f"layers.{n}.output"] for n in range(2)} == {"int4"}
    assert sorted(dtypes.values()) == ["float32"] * 6 + ["int4"] * 2
    assert cosines(model.encode(TEXTS), exact).mean() > 0.999


def test_typical_sequences_are_always_the_same_and_hold_tokens_of_text():
    model = fbg.load(minilm_directory())
    table = model.network.embeddings.word

    def made():
        return typical_sequences(model.config, model.tokenizer, table, 50)

    sequences = made()
    assert all(np.array_equal(a, b) for a, b in zip(sequences, made(), strict=True))
    assert len(sequences) == 50 and all(6 <= s.size <= 42 for s in sequences)
    assert all(s[0] == 101 and s[-1] == 102 for s in sequences)
    inside = np.concatenate([s[1:-1] for s in sequences])
    assert inside.dtype == np.int32
    assert not any(t.startswith("[") and t.endswith("]") for t in model.tokenizer.tokens(inside))
    # Zipf's law: the thousand most frequent of 30 000 words are about half of a text.
    assert 0.3 < (inside < 3000).mean() < 0.8


def test_typical_sequences_need_a_tokenizer(tmp_path):
    model = fbg.load(minilm_directory())
    absent = TextTokenizer(tmp_path / "tokenizer.json", 512)
    got = typical_sequences(model.config, absent, model.network.embeddings.word, 50)
    want = random_sequences(model.config, absent.frame)
    assert all(np.array_equal(a, b) for a, b in zip(got, want, strict=True))
