"""int8 models beyond plain rounding: factors that cancel, rounding that data guides, and a default
that is closer to float32 without any data.
"""

import pickle
from functools import cache

import numpy as np
import pytest

import fbg
from fbg.model import quantize as quantizing
from fbg.model.observe import observe, random_sequences
from fbg.model.quantize import quantize
from fbg.networks.registry import open_checkpoint, read_config, read_opened
from fbg.networks.transformer import linears
from fbg.quantization.observers import Moments
from helpers import tiny_bert, tiny_models
from helpers.formulas import cosines
from helpers.minilm import arrays, minilm_directory, sentences
from helpers.tiny_bert import AWKWARD

TEXTS = sentences()
FRAME = np.array([2, 3], np.int32)
TINY_TEXTS = ["w20 w30 w40", "w11 w12", "w50 w60 w70 w80"]


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    tensors = tiny_bert.random_tensors(AWKWARD, seed=7, spread=0.25)
    return tiny_bert.write_checkpoint(tmp_path_factory.mktemp("tiny"), AWKWARD, tensors)


@pytest.fixture(scope="module")
def unpacked(directory):
    config = read_config(directory / "config.json")
    return read_opened(open_checkpoint(directory, config), config, 1)


@pytest.fixture(scope="module")
def exact(directory):
    return fbg.load(directory).network


@pytest.fixture(scope="module")
def moments(unpacked):
    return observe(unpacked, random_sequences(unpacked.config, FRAME), 1, grams=True)


def effective(linear):
    """The weight that an int8 layer stands for, its channel scale included."""
    weight = linear.weight.unpack() * linear.weight.scale
    return weight if linear.channel_scale is None else weight * linear.channel_scale[:, None]


def test_the_factors_cancel(unpacked, exact, moments):
    plain = {key: Moments(i.squares, rows=i.rows) for key, i in moments.items()}  # no Gram matrices
    smooth = quantize(unpacked, "int8", {}, 1, plain)
    for one, quantized in zip(exact.layers, smooth.layers, strict=True):
        k = AWKWARD.hidden_size
        for name in ("intermediate", "output"):
            linear = getattr(quantized, name)
            assert linear.channel_scale.std() > 0
            step = linear.weight.scale * linear.channel_scale[:, None]
            error = np.abs(effective(linear) - getattr(one, name).weight.unpack())
            assert (error <= 0.501 * step + 1e-6).all()
        # Query and key as above; V and the projection of the context only together.
        qkv, wanted = effective(quantized.qkv), one.qkv.weight.unpack()
        step = quantized.qkv.weight.scale * quantized.qkv.channel_scale[:, None]
        assert (np.abs(qkv - wanted)[:, : 2 * k] <= 0.501 * step[:, : 2 * k] + 1e-6).all()
        assert quantized.attention_output.channel_scale is None
        got = qkv[:, 2 * k :] @ effective(quantized.attention_output)
        product = wanted[:, 2 * k :] @ one.attention_output.weight.unpack()
        assert np.linalg.norm(got - product) <= 0.02 * np.linalg.norm(product)
        got_bias = quantized.qkv.bias[2 * k :] @ effective(quantized.attention_output)
        bias = one.qkv.bias[2 * k :] @ one.attention_output.weight.unpack()
        assert np.linalg.norm(got_bias - bias) <= 0.05 * np.linalg.norm(bias)


def test_layers_that_are_shared_stay_shared(tmp_path):
    path = tiny_models.write_tiny(tmp_path, "albert")
    model = fbg.load(path, dtype="int8")
    layers = model.network.layers
    assert len({id(layer) for layer in layers}) < len(layers)
    assert model.network.embeddings.projection.channel_scale is not None


@pytest.mark.parametrize("name", ["mpnet", "modernbert", "modernbert-biased"])
def test_other_networks_are_smoothed_and_calibrated(tmp_path, name):
    path = tiny_models.write_tiny(tmp_path, name)
    ids = tiny_models.golden_inputs(tiny_models.tiny_model(name).config)["full"]
    want = fbg.load(path).forward(ids).last_hidden_state
    for options in ({}, {"calibrate": TINY_TEXTS}):
        model = fbg.load(path, dtype="int8", **options)
        assert cosines(model.forward(ids).last_hidden_state, want).mean() > 0.99
        for layer in model.network.layers:
            scaled = {
                f
                for f, part in vars(layer).items()
                if getattr(part, "channel_scale", None) is not None
            }
            assert scaled == {"qkv", "intermediate", "output"}


def test_what_goes_into_a_layer_is_observed(exact, moments):
    assert list(moments) == list(linears(exact))
    assert len(moments) == 4 * len(exact.layers)
    for i in moments.values():
        assert i.gram is not None
        np.testing.assert_allclose(np.diag(i.gram), i.squares, rtol=1e-4)
    sequences = random_sequences(exact.config, FRAME)
    assert {i.rows for i in moments.values()} == {sum(s.size for s in sequences)}


def test_the_random_sequences_are_always_the_same(exact):
    one, two = random_sequences(exact.config, FRAME), random_sequences(exact.config, FRAME)
    assert all(np.array_equal(a, b) for a, b in zip(one, two, strict=True))
    assert all(s.min() >= 0 and s.max() < AWKWARD.vocab_size for s in one)
    assert all(s[0] == 2 and s[-1] == 3 for s in one)
    assert all(s.size <= exact.config.max_length for s in one)


def test_synthetic_tokens_calibrate_on_request(directory):
    method = fbg.load(directory, dtype="int8")._origin.method
    assert "SmoothQuant" in method and "GPTQ" not in method
    model = fbg.load(directory, dtype="int8", calibrate="synthetic")
    assert "synthetic tokens" in model._origin.method and "GPTQ" in model._origin.method
    ids = np.arange(4, 20)[None]
    again = pickle.loads(pickle.dumps(model)).forward(ids).last_hidden_state
    np.testing.assert_array_equal(model.forward(ids).last_hidden_state, again)


def test_a_gram_matrix_that_overflows_does_not_guide_the_rounding(directory, unpacked, moments):
    huge = {
        name: Moments(i.squares, np.full_like(i.gram, 3e38), i.rows) for name, i in moments.items()
    }
    plain = {name: Moments(i.squares, None, i.rows) for name, i in moments.items()}
    rounded = [linears(quantize(unpacked, "int8", {}, 1, given)) for given in (huge, plain)]
    for name, linear in rounded[0].items():
        np.testing.assert_array_equal(linear.packed.unpack(), rounded[1][name].packed.unpack())


def test_smoothing_is_the_default_and_always_gives_the_same(directory):
    ids = tiny_bert.golden_inputs()["full"]

    def hidden(**options):
        return fbg.load(directory, **options).forward(ids).last_hidden_state

    default = hidden(dtype="int8")
    np.testing.assert_array_equal(default, hidden(dtype="int8", smooth=True, num_threads=2))
    assert not np.array_equal(default, hidden(dtype="int8", smooth=False))
    np.testing.assert_array_equal(hidden(), hidden(smooth=False))
    calibrated = hidden(dtype="int8", calibrate=TINY_TEXTS)
    assert not np.array_equal(default, calibrated)
    assert cosines(calibrated, hidden()).mean() > 0.99


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"dtype": "float32", "calibrate": ["a"]}, ValueError, "calibrate requires dtype='int8'"),
        ({"smooth": False, "calibrate": ["a"]}, ValueError, "calibrate requires dtype='int8'"),
        ({"calibrate": "a"}, TypeError, "calibrate must be a sequence of str, got str"),
        ({"calibrate": ["a", 3]}, TypeError, r"calibrate\[1\] must be a str, got int"),
        ({"calibrate": []}, ValueError, "calibrate must hold at least one text"),
    ],
)
def test_bad_arguments_are_named(directory, arguments, error, message):
    with pytest.raises(error, match=f"load: {message}"):
        fbg.load(directory, **{"dtype": "int8", **arguments})


@cache
def loss(kind):
    """How far embeddings of the real model are from those of float32, in the mean."""
    calibrate = {"synthetic": "synthetic", "calibrated": TEXTS[::2]}.get(kind)
    model = fbg.load(minilm_directory(), dtype="int8", smooth=kind != "plain", calibrate=calibrate)
    return 1 - float(cosines(model.encode(TEXTS), arrays("minilm_golden")["embeddings"]).mean())


def test_smooth_is_closer_than_plain():
    assert loss("smooth") < 0.8 * loss("plain")


def test_synthetic_tokens_are_closer_still(monkeypatch):
    monkeypatch.setattr(quantizing, "MOST_INT8_SEQUENCES", 60)  # enough, and faster than 200
    assert loss("synthetic") < min(0.6 * loss("plain"), 1 - 0.9994)


def test_texts_are_closest():
    assert loss("calibrated") < min(0.8 * loss("smooth"), 1 - 0.9996)
