"""Families that differ from BERT in more than names: rotations, distances, layouts of files."""

import json
import math

import numpy as np
import pytest
from safetensors.numpy import load_file

import fbg
from fbg import _fbg
from fbg.networks.distances import alibi_slopes
from fbg.networks.rotation import Rotation
from fbg.reports.profiling import profile
from helpers import tiny_models, tiny_tasks
from helpers.formulas import cosines
from helpers.tiny_bert import change_json
from helpers.tiny_families import HUB_NAMES
from helpers.tiny_models import tiny_model, write_tiny


@pytest.mark.parametrize(
    "name",
    [
        *("qwen3", "gemma3_text", "t5", "jina_bert", "mistral", "modernbert", "deberta-v2"),
        "deberta-v2-convolution",
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float16", "int8"])
def test_a_long_text_is_the_same_alone_and_among_others(tmp_path, name, dtype):
    # Longer than blocks of queries and panels of keys, and than windows are wide.
    longer = {"max_position_embeddings": 400, "n_positions": 400}
    longer |= {"sliding_window": 50, "local_attention": 100}
    own = tiny_models.tiny_model(name).config
    directory = write_tiny(tmp_path, name, **{key: longer[key] for key in longer if key in own})
    ids = np.random.default_rng(1).integers(0, tiny_models.VOCABULARY, (3, 300))
    mask = np.ones_like(ids)
    mask[1, 40:200:3] = 0
    mask[2, 170:] = 0
    together = fbg.load(directory, dtype=dtype, num_threads=2).forward(ids, mask)
    model = fbg.load(directory, dtype=dtype, num_threads=1)
    for row in range(3):
        alone = model.forward(ids[row : row + 1], mask[row : row + 1]).last_hidden_state
        np.testing.assert_array_equal(alone[0], together.last_hidden_state[row])
    short = model.forward(ids[2:, :170]).last_hidden_state
    np.testing.assert_array_equal(short[0], together.last_hidden_state[2, :170])


@pytest.mark.parametrize("dtype", ["int4", "int8"])
def test_a_convolution_is_calibrated_like_other_layers(tmp_path, dtype):
    directory = write_tiny(tmp_path, "deberta-v2-groups")
    exact, texts = fbg.load(directory), ["the cat", "a b c d e", "x y"]
    model = fbg.load(directory, dtype=dtype, calibrate=texts)
    ids = np.random.default_rng(3).integers(0, 99, (3, 15))
    states = [m.forward(ids).last_hidden_state.reshape(45, -1) for m in (model, exact)]
    assert cosines(*states).mean() >= (0.99 if dtype == "int8" else 0.8)


def test_a_causal_model_ignores_what_comes_later(tmp_path):
    model = fbg.load(write_tiny(tmp_path, "qwen3"), dtype="int8")
    ids = np.random.default_rng(1).integers(0, 99, (1, 30))
    whole = model.forward(ids).last_hidden_state
    np.testing.assert_array_equal(model.forward(ids[:, :17]).last_hidden_state, whole[:, :17])


FLASH = (
    ("attention.output.dense", "mixer.out_proj"),
    ("attention.output.LayerNorm", "norm1"),
    ("intermediate.dense", "mlp.fc1"),
    ("output.dense", "mlp.fc2"),
    ("output.LayerNorm", "norm2"),
    ("embeddings.LayerNorm", "emb_ln"),
    ("encoder.layer.", "encoder.layers."),
)


def test_another_layout_of_xlm_roberta_is_read(tmp_path):
    model, tensors = tiny_model("xlm-roberta"), {}
    for name, tensor in model.tensors.items():
        if ".self.key." in name or ".self.value." in name:
            continue
        if ".self.query." in name:
            parts = [model.tensors[name.replace("query", p)] for p in ("query", "key", "value")]
            name, tensor = name.replace("attention.self.query", "mixer.Wqkv"), np.concatenate(parts)
        for old, new in FLASH:
            name = name.replace(old, new)
        tensors[name] = tensor
    config = {**model.config, "use_flash_attn": True}
    tiny_models.write_checkpoint(tmp_path, config, tensors, prefix="roberta.")
    ids = tiny_models.golden_inputs(model.config)["full"]
    result = fbg.load(tmp_path).forward(ids)
    got = result.last_hidden_state.reshape(-1, model.config["hidden_size"])
    np.testing.assert_allclose(got, model.golden["full_hidden"], rtol=0, atol=1e-4)
    assert result.pooler_output is not None
    np.testing.assert_allclose(result.pooler_output, model.golden["full_pooler"], rtol=0, atol=1e-4)


def as_on_the_hub(name, tensors):
    """Tensors of a model with a head, as the files on the hub have them."""
    result = {}
    for key, tensor in tensors.items():
        if ".k_proj." in key or ".v_proj." in key or ".gate_proj." in key:
            continue
        if ".q_proj." in key:
            tensor = np.concatenate([tensors[key.replace("q_proj", f"{p}_proj")] for p in "qkv"])
        if ".up_proj." in key:
            tensor = np.concatenate([tensor, tensors[key.replace("up_proj", "gate_proj")]])
        if ".embeddings." not in key or name != "new":
            for old, new in HUB_NAMES[name].items():
                key = key.replace(old, new)
        key = key.replace("gte.", "new.").replace("lm_head.layer_norm", "lm_head.norm")
        result[key] = tensor
    return result


@pytest.mark.parametrize("kind", ["ForSequenceClassification", "ForMaskedLM"])
def test_heads_of_files_on_the_hub_are_read(tmp_path, kind):
    plain = tiny_tasks.write_model(tmp_path / "plain", f"gte-{kind}")
    config = json.loads((plain / "config.json").read_text())
    theta = config.pop("rope_parameters")["rope_theta"]
    own = {**config, "model_type": "new", "rope_theta": theta, "architectures": [f"New{kind}"]}
    tensors = as_on_the_hub("new", load_file(plain / "model.safetensors"))
    tokenizer = tiny_tasks.tokenizer("gte")
    tiny_models.write_checkpoint(tmp_path / "hub", own, tensors, tokenizer=tokenizer)
    results = []
    for name in ("plain", "hub"):
        model = fbg.load(tmp_path / name)
        if kind == "ForMaskedLM":
            results.append(model.encode_sparse(tiny_tasks.TEXTS).to_dense())
        else:
            results.append(model.predict([("a", text) for text in tiny_tasks.TEXTS]))
    np.testing.assert_array_equal(*results)


def test_scaling_is_read_as_transformers_4_wrote_it(tmp_path):
    new = fbg.load(write_tiny(tmp_path / "new", "qwen2"))
    given = dict(tiny_model("qwen2").config["rope_parameters"])
    theta = given.pop("rope_theta")
    old = write_tiny(tmp_path / "old", "qwen2", rope_parameters=None, rope_theta=theta)
    change_json(old / "config.json", rope_scaling=given)
    assert fbg.load(old).config.rotations == new.config.rotations
    assert new.config.rotations[0].kind == "yarn"


def test_longrope_is_that_of_each_sequence_and_not_of_its_batch(tmp_path):
    model = fbg.load(write_tiny(tmp_path, "qwen2-longrope"))
    ids = np.random.default_rng(1).integers(4, 99, (3, 30))
    mask = np.ones_like(ids)
    mask[1, 20:], mask[2, 21:] = 0, 0
    together = model.forward(ids, mask).last_hidden_state
    for row, length in enumerate((30, 20, 21)):
        alone = model.forward(ids[row : row + 1, :length]).last_hidden_state
        np.testing.assert_array_equal(together[row, :length], alone[0])
    # As if all sequences were short.
    other = dict(tiny_model("qwen2-longrope").config["rope_parameters"])
    other["long_factor"] = other["short_factor"]
    changed = fbg.load(write_tiny(tmp_path / "short", "qwen2-longrope", rope_parameters=other))
    states = changed.forward(ids, mask).last_hidden_state
    np.testing.assert_array_equal(states[1], together[1])
    assert not np.array_equal(states[0], together[0])
    assert not np.array_equal(states[2], together[2])


def test_longrope_divides_each_frequency_and_grows_with_the_length():
    rotation = Rotation(
        4, 100.0, "longrope", original=3, magnitude=1.5, short=(1.0, 2.0), long=(4.0, 5.0)
    )
    frequencies = 1 / 100.0 ** (np.arange(2) / 2)
    places = np.array([0, 1, 2, 0, 1, 2, 3, 4])
    factors = np.array([rotation.short] * 3 + [rotation.long] * 5)
    angles = places[:, None] * frequencies / factors
    wanted = 1.5 * np.concatenate([np.cos(angles), np.sin(angles)], axis=1)
    np.testing.assert_allclose(rotation.table(5), wanted, rtol=1e-5, atol=1e-6)
    assert len(rotation.table(2)) == 4


def test_longrope_of_phi_3_has_its_length_beside_the_other_settings(tmp_path):
    new = fbg.load(write_tiny(tmp_path / "new", "qwen2-longrope"))
    given = dict(tiny_model("qwen2-longrope").config["rope_parameters"])
    theta, original = given.pop("rope_theta"), given.pop("original_max_position_embeddings")
    changes = {"rope_theta": theta, "rope_scaling": given, "rope_parameters": None}
    path = write_tiny(tmp_path / "old", "qwen2-longrope", **changes)
    change_json(path / "config.json", original_max_position_embeddings=original)
    assert fbg.load(path).config.rotations == new.config.rotations
    assert new.config.rotations[0].magnitude == math.sqrt(1 + math.log(36 / 20) / math.log(20))


def test_ntk_scaling_widens_the_base_and_divides_the_frequencies():
    plain, scaled = Rotation(8, 100.0), Rotation(8, 100.0, "ntk", 4.0)
    wanted = 1 / 400.0 ** (np.arange(4) / 4) / 4 ** (2 / 8)
    np.testing.assert_allclose(scaled.frequencies, wanted, rtol=1e-6)
    np.testing.assert_allclose(plain.frequencies, 1 / 100.0 ** (np.arange(4) / 4), rtol=1e-6)


def test_slopes_are_powers_of_two_and_between_them_for_other_numbers_of_heads():
    np.testing.assert_allclose(alibi_slopes(8), 2.0 ** -np.arange(1, 9))
    np.testing.assert_allclose(alibi_slopes(12)[:8], alibi_slopes(8))
    np.testing.assert_allclose(alibi_slopes(12)[8:], 2.0 ** -np.array([0.5, 1.5, 2.5, 3.5]))
    assert alibi_slopes(1) == [2.0**-8]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8", "int4"])
def test_gated_layers_of_whole_panels_have_the_bits_of_others(dtype, tmp_path, monkeypatch):
    model = tiny_model("qwen3")
    rng = np.random.default_rng(1)
    hidden = model.config["hidden_size"]
    shapes = {"gate_proj": (64, hidden), "up_proj": (64, hidden), "down_proj": (hidden, 64)}
    tensors = dict(model.tensors)
    for name in tensors:
        for part, shape in shapes.items():
            if f".{part}.weight" in name:
                tensors[name] = rng.normal(0, 0.2, shape).astype(np.float32)
    config = {**model.config, "intermediate_size": 64}
    path = tiny_models.write_checkpoint(tmp_path / "m", config, tensors)
    ids = rng.integers(0, 99, (2, 15))
    loaded = fbg.load(path, dtype=dtype)
    report = profile(path, [8], num_threads=[1], dtype=dtype, rounds=1)
    assert "activation" in [part.name for part in report.profiles[0].modules]
    fused = loaded.forward(ids).last_hidden_state
    monkeypatch.setattr(_fbg, "PANEL_COLUMNS", 1 << 20)  # no layer has whole panels then
    apart = fbg.load(path, dtype=dtype).forward(ids).last_hidden_state
    np.testing.assert_array_equal(fused, apart)
