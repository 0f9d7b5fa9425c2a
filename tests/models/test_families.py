"""Families that differ from BERT in more than names: refused settings, rotations, saved models."""

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import fbg
from fbg import _fbg
from fbg.networks.distances import Buckets, alibi_slopes, distance_buckets
from fbg.networks.rotation import Rotation
from fbg.reports.profiling import profile
from helpers import tiny_models, tiny_tasks
from helpers.formulas import cosines
from helpers.tiny_families import HUB_NAMES
from helpers.tiny_models import tiny_model


def write(path: Path, name: str, **changes: Any) -> Path:
    model = tiny_model(name)
    return tiny_models.write_checkpoint(path, {**model.config, **changes}, model.tensors)


def rope(**options: Any) -> dict[str, Any]:
    return {"rope_parameters": {"rope_theta": 50.0, **options}}


def longrope(**options: Any) -> dict[str, Any]:
    """For qwen2, whose heads have 10 columns."""
    factors = {"short_factor": [1.0] * 5, "long_factor": [2.0] * 5}
    return rope(**{"rope_type": "longrope", **factors, **options})


@pytest.mark.parametrize(
    ("name", "changes", "key"),
    [
        ("qwen3", {"num_key_value_heads": 3}, "num_key_value_heads"),
        ("qwen3", {"num_key_value_heads": 0}, "num_key_value_heads"),
        ("qwen3", {"head_dim": 15}, "head_dim"),
        ("qwen3", {"head_dim": 0}, "head_dim"),
        ("qwen3", {"hidden_act": "tanh"}, "hidden_act"),
        ("qwen3", {"sliding_window": 0}, "sliding_window"),
        ("qwen3", {"layer_types": ["full_attention"]}, "layer_types"),
        ("qwen3", {"layer_types": ["chunked_attention"] * 3}, "layer_types"),
        ("qwen3", {"is_decoder": True}, "is_decoder"),
        ("qwen3", {"max_position_embeddings": 10**12}, "max_position_embeddings"),
        ("mistral", {"sliding_window": 0}, "sliding_window"),
        ("qwen2", rope(rope_type="longrope"), "rope_parameters.short_factor"),
        ("qwen2", longrope(short_factor=[1.0] * 4), "rope_parameters.short_factor"),
        ("qwen2", longrope(long_factor=[1.0] * 6), "rope_parameters.long_factor"),
        ("qwen2", longrope(long_factor=2.0), "rope_parameters.long_factor"),
        ("qwen2", longrope(short_factor=[1.0, 1.0, 1.0, 1.0, "1"]), "rope_parameters.short_factor"),
        ("qwen2", longrope(long_factor=[1.0, 1.0, 1.0, 1.0, 0]), "rope_parameters.long_factor"),
        ("qwen2", longrope(short_factor=[1e-300] * 5), "rope_parameters.short_factor"),
        ("qwen2", longrope(factor=0.5), "rope_parameters.factor"),
        ("qwen2", longrope(attention_factor=1e300), "rope_parameters.attention_factor"),
        ("qwen2", longrope(attention_factor=-1), "rope_parameters.attention_factor"),
        (
            "qwen2",
            longrope(original_max_position_embeddings=1),
            "rope_parameters.original_max_position_embeddings",
        ),
        (
            "qwen2",
            {**longrope(), "original_max_position_embeddings": 0},
            "original_max_position_embeddings",
        ),
        ("qwen2", rope(rope_type="proportional"), "rope_parameters.rope_type"),
        ("qwen2", rope(rope_type="linear"), "rope_parameters.factor"),
        ("qwen2", rope(rope_type="linear", factor=0.5), "rope_parameters.factor"),
        ("qwen2", rope(rope_type="linear", factor=1e300), "rope_parameters.factor"),
        ("qwen2", rope(rope_type="yarn", factor=2, beta_slow=40), "rope_parameters.beta_fast"),
        ("qwen2", rope(rope_type="yarn", factor=2, beta_slow=0), "rope_parameters.beta_fast"),
        ("qwen2", {"rope_parameters": {"rope_theta": 1}}, "rope_parameters.rope_theta"),
        (
            "qwen2",
            rope(rope_type="yarn", factor=2, original_max_position_embeddings=0),
            "rope_parameters.original_max_position_embeddings",
        ),
        (
            "llama",
            rope(rope_type="llama3", factor=2, low_freq_factor=4, high_freq_factor=4),
            "rope_parameters.high_freq_factor",
        ),
        (
            "llama",
            {"rope_parameters": None, "rope_scaling": {"type": "su", "factor": 2}},
            "rope_scaling.type",
        ),
        ("llama", {"rope_parameters": None, "rope_theta": 0.5}, "rope_theta"),
        ("gemma2", {"attn_logit_softcapping": 0}, "attn_logit_softcapping"),
        ("gemma3_text", {"attn_logit_softcapping": 30.0}, "attn_logit_softcapping"),
        ("gemma3_text", {"query_pre_attn_scalar": 0}, "query_pre_attn_scalar"),
        ("gemma3_text", {"sliding_window": 0}, "sliding_window"),
        ("gemma3_text", {"use_bidirectional_attention": 1}, "use_bidirectional_attention"),
        ("t5", {"feed_forward_proj": "gated-tanh"}, "feed_forward_proj"),
        ("t5", {"relative_attention_num_buckets": 3}, "relative_attention_num_buckets"),
        ("t5", {"relative_attention_max_distance": 3}, "relative_attention_max_distance"),
        ("t5", {"d_kv": "4"}, "d_kv"),
        ("nomic_bert-hub", {"activation_function": "gelu"}, "activation_function"),
        ("nomic_bert-hub", {"rotary_emb_fraction": 0}, "rotary_emb_fraction"),
        ("nomic_bert-hub", {"rotary_emb_fraction": 0.1}, "rotary_emb_fraction"),
        ("nomic_bert-hub", {"rotary_emb_interleaved": True}, "rotary_emb_interleaved"),
        ("nomic_bert-hub", {"rotary_scaling_factor": 2}, "rotary_scaling_factor"),
        ("nomic_bert-hub", {"prenorm": True}, "prenorm"),
        ("nomic_bert-hub", {"num_experts": 8}, "num_experts"),
        ("new", {"logn_attention_scale": True}, "logn_attention_scale"),
        ("deberta-v2", {"pooler_hidden_act": "tanh"}, "pooler_hidden_act"),
        ("new", {"layer_norm_type": "rms_norm"}, "layer_norm_type"),
        ("new", {"position_embedding_type": "relative_key"}, "position_embedding_type"),
        ("jina_bert", {"feed_forward_type": "original"}, "feed_forward_type"),
        ("jina_embeddings_v3", {"num_attention_heads": 4}, "num_attention_heads"),
        ("jina_embeddings_v3", {"hidden_act": "tanh"}, "hidden_act"),
        ("xlm-roberta-flash", {"rotary_emb_base": 1}, "rotary_emb_base"),
        ("xlm-roberta-flash", {"position_embedding_type": "alibi"}, "position_embedding_type"),
        ("xlm-roberta-xl", {"pad_token_id": -1}, "pad_token_id"),
        ("deberta-v2", {"pos_att_type": "p2p"}, "pos_att_type"),
        ("deberta-v2", {"pos_att_type": [1]}, "pos_att_type"),
        ("deberta-v2", {"relative_attention": False}, "pos_att_type"),
        ("deberta-v2", {"position_buckets": 1}, "position_buckets"),
        ("deberta-v2", {"max_relative_positions": 5}, "max_relative_positions"),
        ("deberta-v2", {"max_relative_positions": 0}, "max_relative_positions"),
        ("deberta-v2", {"norm_rel_ebd": "batch_norm"}, "norm_rel_ebd"),
        ("deberta-v2", {"conv_kernel_size": 4}, "conv_kernel_size"),
        ("deberta-v2", {"conv_kernel_size": -3}, "conv_kernel_size"),
        ("deberta-v2", {"conv_kernel_size": 10**9 + 1}, "conv_kernel_size"),
        ("deberta-v2-convolution", {"conv_groups": 5}, "conv_groups"),
        ("deberta-v2-convolution", {"conv_groups": 0}, "conv_groups"),
        ("deberta-v2-convolution", {"conv_act": "softmax"}, "conv_act"),
        ("deberta-v2", {"embedding_size": 20}, "embedding_size"),
        ("deberta-v2", {"head_dim": 6}, "num_attention_heads"),
        ("deberta", {"talking_head": True}, "talking_head"),
        ("deberta", {"pos_att_type": "p2p"}, "pos_att_type"),
        ("deberta", {"num_attention_heads": 5}, "num_attention_heads"),
    ],
)
def test_an_unsupported_setting_is_named(
    tmp_path: Path, name: str, changes: dict[str, Any], key: str
) -> None:
    with pytest.raises(fbg.ModelError, match=rf"config\.json: {key} must be"):
        fbg.load(write(tmp_path, name, **changes))


def test_longrope_must_be_that_of_all_layers(tmp_path: Path) -> None:
    rope = dict(tiny_model("gemma3_text").config["rope_parameters"])
    size = tiny_model("gemma3_text").config["head_dim"] // 2
    lists = {"short_factor": [1.0] * size, "long_factor": [2.0] * size}
    rope["full_attention"] = {"rope_theta": 50.0, "rope_type": "longrope", **lists}
    with pytest.raises(fbg.ModelError, match="rope_parameters must be longrope in all kinds"):
        fbg.load(write(tmp_path, "gemma3_text", rope_parameters=rope))


@pytest.mark.parametrize(
    "name",
    [
        "qwen3",
        "gemma3_text",
        "nomic_bert-hub",
        "new",
        "t5",
        "jina_bert",
        "rembert",
        "deberta",
        "deberta-v2",
        "deberta-v2-convolution",
        "deberta-v2-groups",
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "int8"])
def test_a_saved_model_gives_the_same_bits(tmp_path: Path, name: str, dtype: str) -> None:
    model = fbg.load(write(tmp_path / "model", name), dtype=dtype)
    model.save(tmp_path / "saved")
    ids = np.random.default_rng(3).integers(0, 99, (3, 20))
    states = [m.forward(ids).last_hidden_state for m in (model, fbg.load(tmp_path / "saved"))]
    np.testing.assert_array_equal(*states)


@pytest.mark.parametrize(
    "name",
    [
        *("qwen3", "gemma3_text", "t5", "jina_bert", "mistral", "deberta-v2"),
        "deberta-v2-convolution",
    ],
)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8"])
def test_a_long_text_is_the_same_alone_and_among_others(
    tmp_path: Path, name: str, dtype: str
) -> None:
    longer = {"max_position_embeddings": 400, "n_positions": 400}
    directory = write(tmp_path, name, **longer, sliding_window=50)
    ids = np.random.default_rng(1).integers(0, tiny_models.VOCABULARY, (3, 300))
    mask = np.ones_like(ids)
    mask[1, 40:200:3] = 0
    mask[2, 170:] = 0
    together = fbg.load(directory, dtype=dtype, num_threads=2).forward(ids, mask)
    model = fbg.load(directory, dtype=dtype, num_threads=1)
    for row in range(3):
        alone = model.forward(ids[row : row + 1], mask[row : row + 1]).last_hidden_state
        np.testing.assert_array_equal(alone[0], together.last_hidden_state[row])


@pytest.mark.parametrize("name", ["deberta-v2-convolution", "deberta-v2-groups"])
def test_tensors_of_a_convolution_are_named(tmp_path: Path, name: str) -> None:
    file = write(tmp_path, name) / "model.safetensors"
    tensors = load_file(file)
    own = [key for key in tensors if key.startswith("encoder.conv.")]
    assert len(own) == 4
    for key in own:
        save_file({other: value for other, value in tensors.items() if other != key}, file)
        with pytest.raises(fbg.ModelError, match=rf"model\.safetensors: tensor {key} is missing"):
            fbg.load(tmp_path)
        save_file({**tensors, key: np.concatenate([tensors[key]] * 2)}, file)
        with pytest.raises(fbg.ModelError, match=rf"model\.safetensors: tensor {key} must have"):
            fbg.load(tmp_path)


@pytest.mark.parametrize("dtype", ["int4", "int8"])
def test_a_convolution_is_calibrated_like_other_layers(tmp_path: Path, dtype: str) -> None:
    directory = write(tmp_path, "deberta-v2-groups")
    exact, texts = fbg.load(directory), ["the cat", "a b c d e", "x y"]
    model = fbg.load(directory, dtype=dtype, calibrate=texts)
    ids = np.random.default_rng(3).integers(0, 99, (3, 15))
    states = [m.forward(ids).last_hidden_state.reshape(45, -1) for m in (model, exact)]
    assert cosines(*states).mean() >= (0.99 if dtype == "int8" else 0.8)


def test_a_causal_model_ignores_what_comes_later(tmp_path: Path) -> None:
    model = fbg.load(write(tmp_path, "qwen3"), dtype="int8")
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


def test_another_layout_of_xlm_roberta_is_read(tmp_path: Path) -> None:
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


def as_on_the_hub(name: str, tensors: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
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
            for old, new in HUB_NAMES[name]:
                key = key.replace(old, new)
        key = key.replace("gte.", "new.").replace("lm_head.layer_norm", "lm_head.norm")
        result[key] = tensor
    return result


@pytest.mark.parametrize("kind", ["ForSequenceClassification", "ForMaskedLM"])
def test_heads_of_files_on_the_hub_are_read(tmp_path: Path, kind: str) -> None:
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


def test_scaling_is_read_as_transformers_4_wrote_it(tmp_path: Path) -> None:
    new = fbg.load(write(tmp_path / "new", "qwen2"))
    given = dict(tiny_model("qwen2").config["rope_parameters"])
    theta = given.pop("rope_theta")
    old = write(tmp_path / "old", "qwen2", rope_parameters=None, rope_theta=theta)
    path = old / "config.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), "rope_scaling": given}))
    assert fbg.load(old).config.rotations == new.config.rotations
    assert new.config.rotations[0].kind == "yarn"


def test_longrope_is_that_of_each_sequence_and_not_of_its_batch(tmp_path: Path) -> None:
    model = fbg.load(write(tmp_path, "qwen2-longrope"))
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
    changed = fbg.load(write(tmp_path / "short", "qwen2-longrope", rope_parameters=other))
    states = changed.forward(ids, mask).last_hidden_state
    np.testing.assert_array_equal(states[1], together[1])
    assert not np.array_equal(states[0], together[0])
    assert not np.array_equal(states[2], together[2])


def test_longrope_divides_each_frequency_and_grows_with_the_length() -> None:
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


def test_longrope_of_phi_3_has_its_length_beside_the_other_settings(tmp_path: Path) -> None:
    new = fbg.load(write(tmp_path / "new", "qwen2-longrope"))
    given = dict(tiny_model("qwen2-longrope").config["rope_parameters"])
    theta, original = given.pop("rope_theta"), given.pop("original_max_position_embeddings")
    changes = {"rope_theta": theta, "rope_scaling": given, "rope_parameters": None}
    path = write(tmp_path / "old", "qwen2-longrope", **changes)
    config = json.loads((path / "config.json").read_text())
    config["original_max_position_embeddings"] = original
    (path / "config.json").write_text(json.dumps(config))
    assert fbg.load(path).config.rotations == new.config.rotations
    assert new.config.rotations[0].magnitude == math.sqrt(1 + math.log(36 / 20) / math.log(20))


def test_ntk_scaling_widens_the_base_and_divides_the_frequencies() -> None:
    plain, scaled = Rotation(8, 100.0), Rotation(8, 100.0, "ntk", 4.0)
    wanted = 1 / 400.0 ** (np.arange(4) / 4) / 4 ** (2 / 8)
    np.testing.assert_allclose(scaled.frequencies, wanted, rtol=1e-6)
    np.testing.assert_allclose(plain.frequencies, 1 / 100.0 ** (np.arange(4) / 4), rtol=1e-6)


def test_distances_fall_into_logarithmic_buckets() -> None:
    # The published formula, at distances whose logarithm is not on the edge of a bucket.
    for distance in (1, 7, 9, 13, 20, 40, 100, 127, 500):
        far = 8 + math.log(max(distance, 8) / 8) / math.log(128 / 8) * 8
        near = distance if distance < 8 else min(int(far), 15)
        got = distance_buckets(np.array([-distance, distance]), Buckets(32, 128))
        np.testing.assert_array_equal(got, [near, near + 16])
    assert distance_buckets(np.array([0]), Buckets(32, 128)) == [0]


def test_slopes_are_powers_of_two_and_between_them_for_other_numbers_of_heads() -> None:
    np.testing.assert_allclose(alibi_slopes(8), 2.0 ** -np.arange(1, 9))
    np.testing.assert_allclose(alibi_slopes(12)[:8], alibi_slopes(8))
    np.testing.assert_allclose(alibi_slopes(12)[8:], 2.0 ** -np.array([0.5, 1.5, 2.5, 3.5]))
    assert alibi_slopes(1) == [2.0**-8]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8", "int4"])
def test_gated_layers_of_whole_panels_have_the_bits_of_others(
    dtype: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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
