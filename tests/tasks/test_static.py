"""Static embeddings against model2vec and sentence-transformers."""

import json

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import fbg
from helpers import tiny_outputs
from helpers.minilm import arrays
from helpers.tiny_bert import change_json
from helpers.tiny_outputs import LONG, STATIC, TEXTS, UNKNOWN

EVERY = [*TEXTS, *UNKNOWN, LONG]


pytestmark = pytest.mark.filterwarnings("ignore:.* was truncated")


def change(path, **tensors):
    kept = {**load_file(path), **tensors}
    save_file({name: tensor for name, tensor in kept.items() if tensor is not None}, path)


@pytest.mark.parametrize("name", STATIC)
def test_embeddings_are_those_of_the_package(tmp_path, name, isa):
    model = fbg.load(tiny_outputs.write_static(tmp_path, name))
    golden = arrays("tiny_outputs")[f"static-{name}"]
    tolerance = 1e-3 if name == "half" else 1e-5  # model2vec adds up in float16
    # A text without tokens has zeros here, whatever modules follow.
    kept = [n for n, text in enumerate(EVERY) if text]
    np.testing.assert_allclose(model.encode(EVERY)[kept], golden[kept], rtol=0, atol=tolerance)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "int8", "int4"])
def test_a_dtype_changes_the_table_alone(tmp_path, dtype):
    exact = fbg.load(tiny_outputs.write_static(tmp_path / "model", "model2vec"))
    model = fbg.load(tmp_path / "model", dtype=dtype)
    model.save(tmp_path / "saved")
    again = fbg.load(tmp_path / "saved")
    assert again.is_saved and again.max_length == exact.max_length
    np.testing.assert_array_equal(again.encode(EVERY), model.encode(EVERY))
    table = exact.network.embeddings.word
    limit = np.ptp(table, axis=1).max() / 255 if dtype.startswith("int") else 0
    states, wanted = (m.forward([[3, 4, 5]]).last_hidden_state for m in (model, exact))
    np.testing.assert_allclose(states, wanted, rtol=0, atol=limit)


def test_an_empty_text_is_a_zero_vector(tmp_path):
    model = fbg.load(tiny_outputs.write_static(tmp_path, "model2vec"))
    assert not model.encode(["", UNKNOWN[1]]).any()
    assert model.token_counts(["", UNKNOWN[1], "a b"]) == [0, 0, 2]


def test_a_text_is_cut_at_the_length_of_the_model(tmp_path):
    model = fbg.load(tiny_outputs.write_static(tmp_path, "model2vec"))
    assert model.max_length == tiny_outputs.MAX_LENGTH
    with pytest.raises(ValueError, match=r"sentences\[0\] has .* takes at most 24"):
        model.encode(LONG, truncation=False)


def test_unknown_tokens_do_not_count_towards_the_length(tmp_path):
    model = fbg.load(tiny_outputs.write_static(tmp_path, "model2vec"))
    text = "\u4e2d " * tiny_outputs.MAX_LENGTH + "a b"
    assert model.token_counts([text]) == [2]
    np.testing.assert_array_equal(model.encode(text), model.encode("a b"))


def test_a_table_has_no_other_tasks(tmp_path):
    model = fbg.load(tiny_outputs.write_static(tmp_path, "plain"))
    with pytest.raises(fbg.ModelError, match=r"this model has: encode$"):
        model.classify("a")
    assert model.forward([[3, 4]]).last_hidden_state.shape == (1, 2, tiny_outputs.COLUMNS)
    assert "0 layers" in repr(model)


@pytest.mark.parametrize(
    ("tensors", "message"),
    [
        ({"embeddings": None}, "must have one table of embedding.weight or embeddings, got"),
        ({"embedding.weight": np.ones((2, 2), np.float32)}, "must have one table of"),
        ({"embeddings": np.ones(3, np.float32)}, "must have one table of"),
        ({"embeddings": np.full((20, 16), np.nan, np.float32)}, "tensor embeddings holds NaN"),
        ({"embeddings": np.ones((20, 16), np.int32)}, "embeddings must have floats or int8"),
        ({"weights": np.ones(7, np.float32)}, r"weights must have shape \(120,\), got \(7,\)"),
        ({"mapping": np.full(120, 20)}, "mapping must name the 20 rows of the table"),
        ({"mapping": np.full(120, -1)}, "mapping must name the 20 rows of the table"),
        ({"mapping": np.ones(120, np.float32)}, "mapping must be a vector of integers"),
        ({"mapping": np.array(3)}, r"mapping must be a vector, got shape \(\)"),
        ({"mapping": np.zeros(0, np.int64)}, r"mapping must be a vector, got shape \(0,\)"),
        (
            {
                "embeddings": np.zeros((1, 1 << 17), np.int8),
                "mapping": np.zeros(1 << 15, np.uint8),
            },
            "mapping makes a table of 32768 rows x 131072",
        ),
    ],
)
def test_a_wrong_tensor_is_named(tmp_path, tensors, message):
    change(tiny_outputs.write_static(tmp_path, "mapped") / "model.safetensors", **tensors)
    with pytest.raises(fbg.ModelError, match=message):
        fbg.load(tmp_path)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"max_length": 0}, r"config\.json: max_length must be an integer of at least 1"),
        ({"normalize": "yes"}, r"config\.json: normalize must be true or false"),
    ],
)
def test_a_wrong_setting_is_named(tmp_path, settings, message):
    path = tiny_outputs.write_static(tmp_path, "model2vec") / "config.json"
    change_json(path, **settings)
    with pytest.raises(fbg.ModelError, match=message):
        fbg.load(tmp_path)


@pytest.mark.parametrize(
    ("place", "message"),
    [
        ("../elsewhere", "is not a folder in the directory of the model"),
        ("/tmp", "is not a folder in the directory of the model"),
        (3, "is not a folder in the directory of the model"),
        ("x" * 5000, "cannot be a folder: File name too long"),
    ],
)
def test_a_folder_elsewhere_is_refused(tmp_path, place, message):
    path = tiny_outputs.write_static(tmp_path, "plain") / "modules.json"
    modules = json.loads(path.read_text())
    modules[0]["path"] = place
    path.write_text(json.dumps(modules))
    with pytest.raises(fbg.ModelError, match=message):
        fbg.load(tmp_path)
