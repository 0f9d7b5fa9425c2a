"""Mixed precision: chosen linear layers in another dtype, in any family, kept when saved."""

import numpy as np
import pytest

import fbg
from fbg.networks.transformer import linears, replace_linears
from helpers import tiny_models

IDS = [[2, 17, 40, 8, 3], [2, 50, 3, 12, 9]]


def hidden(model):
    return model.forward(IDS).last_hidden_state


def ops(model):
    return [op.name.split()[1] for op in model.plan().ops if op.name.startswith("linear")]


@pytest.mark.parametrize("smooth", [True, False])
def test_chosen_layers_compute_in_their_dtype(directory, smooth):
    chosen = {"layers.1.*": "float32", "*.intermediate": "bfloat16"}
    model = fbg.load(directory, dtype="int8", smooth=smooth, higher_precision=chosen)
    expected = ["int8", "int8", "bfloat16", "int8", "float32", "float32", "bfloat16", "float32"]
    assert ops(model) == [*expected, "float32"]  # and the pooler
    assert model.dtype == "int8"


def test_patterns_alone_mean_bfloat16(directory):
    model = fbg.load(directory, dtype="int8", higher_precision=["layers.0.qkv"])
    assert ops(model)[:2] == ["bfloat16", "int8"]


def test_every_layer_in_one_dtype_is_that_dtype(directory):
    for dtype in ("float32", "float16"):  # attention rounds nothing
        mixed = fbg.load(directory, dtype="float16", higher_precision={"*": dtype})
        np.testing.assert_array_equal(hidden(mixed), hidden(fbg.load(directory, dtype=dtype)))


def test_it_is_closer_and_larger(directory):
    exact = hidden(fbg.load(directory))
    plain = fbg.load(directory, dtype="int8")
    mixed = fbg.load(directory, dtype="int8", higher_precision={"layers.*": "float32"})
    assert np.abs(hidden(mixed) - exact).mean() < np.abs(hidden(plain) - exact).mean()
    assert mixed.memory_report().packed_weights > plain.memory_report().packed_weights


def test_calibrated_models_mix_too(directory):
    texts = ["a word, and another", "the third of them"]
    options = {"dtype": "int8", "calibrate": texts}
    model = fbg.load(directory, **options, higher_precision=["*.attention_output"])
    assert ops(model)[:2] == ["int8", "bfloat16"]
    assert np.isfinite(hidden(model)).all()


@pytest.mark.parametrize("name", sorted(tiny_models.CONFIGS))
def test_every_family_mixes_and_comes_back_from_a_file(tmp_path, name):
    path = tiny_models.write_tiny(tmp_path / "model", name)
    chosen = ["layers.0.*"]
    model = fbg.load(path, dtype="int8", higher_precision=chosen)
    model.save(tmp_path / "saved")
    saved = fbg.load(tmp_path / "saved")
    assert ops(saved) == ops(model)
    assert "bfloat16" in ops(saved)
    np.testing.assert_array_equal(hidden(saved), hidden(model))
    with pytest.raises(ValueError, match=r"higher_precision must be None: .* already packed"):
        fbg.load(tmp_path / "saved", higher_precision=chosen)


def test_names_are_those_of_a_saved_file(directory, tmp_path):
    from fbg.model import save as saved

    transformer = fbg.load(directory).network
    names = {f"{name}.weight" for name in linears(transformer)}
    packed = {n for n, t in saved.tensors(transformer).items() if not isinstance(t, np.ndarray)}
    assert names == packed - {"pooler.weight"}
    assert replace_linears(transformer, linears(transformer)) == transformer


@pytest.mark.parametrize(
    ("wanted", "error", "message"),
    [
        ("layers.0.*", TypeError, "higher_precision must be layer name patterns, or a mapping"),
        (3, TypeError, "higher_precision must be layer name patterns"),
        ([3], TypeError, "a pattern must be a str, got int"),
        (["layers.7.*"], ValueError, "'layers.7.\\*' matches no linear layer; there are layers.0"),
        ({"*": "int8"}, ValueError, "must be float32, float16, bfloat16, got 'int8'"),
    ],
)
def test_bad_arguments_are_named(directory, wanted, error, message):
    with pytest.raises(error, match=message):
        fbg.load(directory, dtype="int8", higher_precision=wanted)
