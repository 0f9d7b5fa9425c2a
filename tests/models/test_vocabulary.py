"""Vocabularies of models in integers are tables of 8 bits."""

from dataclasses import replace

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import fbg
from fbg.matmul.vocabulary import columns_of, converted
from fbg.networks.source import SavedSource
from fbg.networks.transformer import vocabulary
from fbg.quantization import RowwiseMatrix, quantize_rowwise
from fbg.saved_file import SavedFile
from helpers import tiny_bert, tiny_models, tiny_outputs, tiny_tasks
from helpers.minilm import minilm_directory
from helpers.saved_models import WEIGHTS, results

INTEGERS = ["int8", "int4"]
KEPT = {"embeddings.word": "float32"}


def drawn(*shape):
    return np.random.default_rng(3).standard_normal(shape, np.float32)


def of_table(model, table):
    """The model with other word embeddings."""
    network = model.network
    embeddings = replace(network.embeddings, word=table)
    changed = replace(network, embeddings=embeddings)
    return fbg.Model(model.name, model._origin, changed, model.sentence, model.tokenizer, None)


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("columns", [1, 17, 64, 100])
def test_rows_are_those_of_the_toolbox(dtype, columns):
    table = drawn(30, columns)
    narrow = converted(table, dtype, 2)
    assert narrow.dtype == np.uint8 and columns_of(narrow) == columns
    wanted = quantize_rowwise(table, method="fbgemm")
    np.testing.assert_array_equal(narrow, wanted.fused())
    assert converted(table, "float32", 1) is table


@pytest.mark.parametrize("number", [np.nan, np.inf, 3e38])
def test_a_table_that_does_not_fit_stays_as_it_is(number):
    table = drawn(5, 8)
    table[2, :2] = number, -number
    assert converted(table, "int8", 1) is table


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", ["bert", "roberta", "deberta-v2-convolution", "gemma3_text", "t5"])
def test_a_network_reads_the_floats_of_its_table(tmp_path, name, dtype):
    model = fbg.load(tiny_models.write_tiny(tmp_path / "model", name), dtype=dtype)
    table = model.network.embeddings.word
    floats = RowwiseMatrix.from_fused(table, columns_of(table)).dequantize()
    assert results(model) == results(of_table(model, floats))
    model.save(tmp_path / "saved")
    loaded = fbg.load(tmp_path / "saved")
    assert loaded.network.embeddings.word.dtype == table.dtype
    assert results(loaded) == results(model)


@pytest.mark.parametrize("width", [21, 48])
def test_rows_of_any_width_do_not_depend_on_the_batch(tmp_path, width, isa):
    path = tiny_outputs.write_static(tmp_path / "model", "plain")
    (weights,) = path.rglob("model.safetensors")
    table = drawn(len(load_file(weights)["embedding.weight"]), width)
    save_file({"embedding.weight": table}, weights)
    model = fbg.load(path, dtype="int8")
    wanted = quantize_rowwise(table, method="fbgemm").dequantize()
    ids = np.arange(len(table) - 1, -1, -1)
    states = model.forward([ids.tolist()]).last_hidden_state[0]
    np.testing.assert_array_equal(states, wanted[ids])
    for token in (0, len(table) - 1):
        alone = model.forward([[token]]).last_hidden_state[0, 0]
        np.testing.assert_array_equal(alone, wanted[token])
    model.save(tmp_path / "saved")
    assert (tmp_path / "saved" / WEIGHTS).stat().st_size < table.size + 8 * len(table) + 1000
    again = fbg.load(tmp_path / "saved")
    assert again.encode(["a b", "b"]).tobytes() == model.encode(["a b", "b"]).tobytes()


def test_floats_have_a_table_of_floats(checkpoint):
    wanted = fbg.load(checkpoint).network.embeddings.word
    kept = fbg.load(checkpoint, dtype="int8", higher_precision=["embeddings.word"])
    for model in (kept, fbg.load(checkpoint, dtype="bfloat16")):
        np.testing.assert_array_equal(model.network.embeddings.word, wanted)


@pytest.mark.parametrize("dtype", ["int8", "float32"])
def test_a_token_outside_the_vocabulary_is_an_error(checkpoint, dtype):
    model = fbg.load(checkpoint, dtype=dtype)
    for token in (99, -1, 99 + 56):
        with pytest.raises(ValueError, match=rf"must be in \[0, 99\), got {token}"):
            model.forward([[2, token]])


@pytest.mark.parametrize("name", ["bert-ForMaskedLM", "roberta-ForMaskedLM"])
def test_a_table_that_a_head_multiplies_with_stays_float32(tmp_path, name):
    path = tiny_tasks.write_model(tmp_path / "model", name)
    model = fbg.load(path, dtype="int8")
    assert not vocabulary(model.network)
    exact = fbg.load(path).network.embeddings.word
    np.testing.assert_array_equal(model.network.embeddings.word, exact)


def test_a_decoder_of_its_own_leaves_the_table_to_look_ups(tmp_path):
    path = tiny_tasks.write_model(tmp_path / "model", "bert-ForMaskedLM")
    weights = load_file(path / "model.safetensors")
    (word,) = [n for n in weights if n.endswith("word_embeddings.weight")]
    weights["cls.predictions.decoder.weight"] = drawn(*weights[word].shape)
    save_file(weights, path / "model.safetensors", metadata={"format": "pt"})
    tiny_bert.change_json(path / "config.json", tie_word_embeddings=False)
    model = fbg.load(path, dtype="int8")
    assert model.network.embeddings.word.dtype == np.uint8
    model.save(tmp_path / "saved")
    text = "a [MASK] b"
    assert fbg.load(tmp_path / "saved").fill_mask(text) == model.fill_mask(text)
    exact = fbg.load(path).fill_mask(text)[0]
    assert model.fill_mask(text)[0]["score"] == pytest.approx(exact["score"], rel=0.2)


def test_memory_and_files_of_a_real_model(tmp_path):
    sizes = {}
    for label, options in (("rows", {}), ("floats", {"higher_precision": KEPT})):
        model = fbg.load(minilm_directory(), dtype="int8", smooth=False, **options)
        model.save(tmp_path / label)
        size = (tmp_path / label / WEIGHTS).stat().st_size
        sizes[label] = size, model.memory_report().embeddings
    saved = 30522 * (3 * 384 - 8)  # of 4 bytes a number: all but 1, and 8 of a row
    (small, less), (large, more) = sizes["rows"], sizes["floats"]
    assert more - less == saved
    assert abs(large - small - saved) < 200


def test_a_saved_table_of_another_width_is_refused(saved):
    with SavedFile(saved / WEIGHTS) as file:
        source = SavedSource(file, "int8", {})
        assert source.vocabulary("embeddings.word", "", 99, 48, 1.0).shape == (99, 56)
        with pytest.raises(fbg.ModelError, match=r"must have shape \(99, 55\), got \(99, 56\)"):
            source.vocabulary("embeddings.word", "", 99, 47, 1.0)
        with pytest.raises(fbg.ModelError, match="must have dtype F32, got U8"):
            file.floats("embeddings.word", 99, 56)
