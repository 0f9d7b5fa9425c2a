"""Settings and tensors that fbg does not know are never ignored if they may change a result.

tests/data/tiny_settings.npz has what transformers computes with other values of each setting.
"""

import json
import warnings

import numpy as np
import pytest
import yaml
from safetensors.numpy import load_file, save_file

import fbg
from fbg.networks.registry import (
    DIRECTIONS,
    FAMILIES,
    RENAMED,
    open_checkpoint,
    read_config,
    read_opened,
)
from helpers import tiny_bert, tiny_gliner, tiny_outputs
from helpers.changed_settings import FOREIGN, MODELS, sample, with_value
from helpers.minilm import DATA, arrays
from helpers.tiny_bert import change_json, write_json
from helpers.tiny_families import HUB_FAMILIES, REFERENCES
from helpers.tiny_models import golden_inputs, tiny_model, write_tiny

TOLERANCE = 1e-4
# Keys of code on the hub, which the classes of transformers do not read; what they stand for.
BOTH_WAYS = ("use_bidirectional_attention", "is_bidirectional")
DECODERS = ("llama", "mistral", "qwen2", "qwen3")
OF_HUB = (*HUB_FAMILIES, *REFERENCES)
HUB = yaml.safe_load((DATA / "hub_settings.yaml").read_text(encoding="utf-8"))


def states(directory, tiny):
    ids = golden_inputs(tiny.config)["full"][:, :12]
    return fbg.load(directory).forward(ids).last_hidden_state


@pytest.mark.parametrize("name", MODELS)
def test_a_changed_setting_is_refused_or_reported_or_does_as_in_transformers(tmp_path, name):
    tiny = tiny_model(name)
    directory = write_tiny(tmp_path, name)
    base = sample(states(directory, tiny))
    outcomes = json.loads(str(arrays("tiny_settings")[name]))
    wrong, refused = [], 0
    for key, values in outcomes.items():
        for text, outcome in values.items():
            value = json.loads(text)
            if key in BOTH_WAYS and value is True and name in DECODERS:
                outcome = outcomes["is_causal"]["false"]
            write_json(directory / "config.json", with_value(tiny.config, key, value))
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("always")
                try:
                    got = sample(states(directory, tiny))
                except ValueError:  # ModelError, or token ids that the vocabulary does not have
                    refused += 1
                    continue
            expected = base if isinstance(outcome, str) else np.array(outcome)
            if not caught and not np.allclose(got, expected, 0, TOLERANCE):
                wrong.append((key, value, outcome, got.round(4).tolist()))
    assert wrong == []
    assert refused


@pytest.mark.parametrize("name", OF_HUB)
def test_keys_of_other_families_are_refused_or_reported(tmp_path, name):
    """For files on the hub, whose keys transformers does not read."""
    tiny = tiny_model(name)
    directory = write_tiny(tmp_path, name)
    base = states(directory, tiny)
    for key, values in FOREIGN.items():
        for value in values:
            write_json(directory / "config.json", with_value(tiny.config, key, value))
            off = value in (False, 1.0, {}) and not isinstance(value, int)
            if key.startswith(("rope_", "position_")) or off:
                continue  # read by some, and turned off
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                try:
                    got = states(directory, tiny)
                except (ValueError, UserWarning):
                    continue
            assert value is False or key in DIRECTIONS, (key, value)
            np.testing.assert_array_equal(got, base)


@pytest.mark.parametrize("name", (*MODELS, *OF_HUB))
def test_a_tensor_that_has_no_place_is_named(tmp_path, name):
    file = write_tiny(tmp_path, name) / "model.safetensors"
    tensors = load_file(file)
    layer = next(key for key in tensors if ".0." in key)
    added = [layer.replace(".0.", ".7.", 1), "linear.weight", "adapter.scale"]
    for n, key in enumerate(tensors):
        stem, _, last = key.rpartition(".")
        kinds = ("lora_A.weight", "weight_scale", "other", "bias" if last == "weight" else "zeros")
        added.append(f"{stem}.{kinds[n % 4]}")
    config = read_config(tmp_path / "config.json")
    for extra in added:
        if extra in tensors or "pooler" in extra:
            continue  # a pooler belongs to heads, which have more layers in some models
        save_file({**tensors, extra: np.ones(3, np.float32)}, file)
        with pytest.raises(fbg.ModelError, match=rf"model\.safetensors: tensor {extra} has no"):
            read_opened(open_checkpoint(tmp_path, config), config, 1)


@pytest.mark.parametrize("name", (*MODELS, *OF_HUB))
def test_a_tensor_that_is_left_out_is_named_or_changes_nothing(tmp_path, name):
    tiny = tiny_model(name)
    file = write_tiny(tmp_path, name) / "model.safetensors"
    tensors = load_file(file)
    wanted, refused = states(tmp_path, tiny), 0
    for key in tensors:
        save_file({other: tensors[other] for other in tensors if other != key}, file)
        try:
            got = states(tmp_path, tiny)
        except fbg.ModelError as error:
            assert key in str(error) or key.rpartition(".")[0] in str(error)
            refused += 1
        else:
            np.testing.assert_array_equal(got, wanted, err_msg=key)
    assert refused


# What checkpoints on the hub have beside the encoder.
BESIDE = {
    "bert": ("embeddings.position_ids", "cls.predictions.bias", "cls.seq_relationship.weight"),
    "roberta": ("lm_head.dense.weight", "embeddings.position_ids", "classifier.out_proj.weight"),
    "mpnet": ("embeddings.position_ids", "lm_head.decoder.weight"),
    "distilbert": ("vocab_transform.weight", "vocab_projector.bias", "pre_classifier.bias"),
    "electra": ("discriminator_predictions.dense.weight", "electra.embeddings.position_ids"),
    "albert": ("predictions.bias", "sop_classifier.classifier.weight"),
    "deberta-v2": (
        *("embeddings.position_embeddings.weight", "lm_predictions.lm_head.bias"),
        *("mask_predictions.dense.weight", "pooler.dense.weight", "embeddings.position_ids"),
    ),
    "modernbert": ("head.dense.weight", "decoder.bias"),
    "neobert": ("dense.weight", "decoder.bias", "decoder.weight"),
    "llama": ("lm_head.weight", "layers.0.self_attn.rotary_emb.inv_freq"),
    "qwen3": ("lm_head.weight", "score.weight"),
    "t5": ("lm_head.weight", "decoder.block.0.layer.0.SelfAttention.q.weight"),
    "xlm-roberta-xl": ("lm_head.bias",),
}


@pytest.mark.parametrize("name", BESIDE)
def test_what_checkpoints_have_beside_the_encoder_may_stay(tmp_path, name):
    file = write_tiny(tmp_path, name) / "model.safetensors"
    tensors = load_file(file)
    base = states(tmp_path, tiny_model(name))
    save_file({**tensors, **dict.fromkeys(BESIDE[name], np.ones(3, np.float32))}, file)
    np.testing.assert_array_equal(states(tmp_path, tiny_model(name)), base)


def test_a_norm_of_distances_may_stay_where_attention_is_not_relative(tmp_path):
    write_tiny(tmp_path, "deberta-v2", relative_attention=False, pos_att_type=None)
    file = tmp_path / "model.safetensors"
    tensors = load_file(file)
    del tensors[next(name for name in tensors if "rel_embeddings" in name)]
    assert any(name.endswith("encoder.LayerNorm.weight") for name in tensors)
    save_file({name: own for name, own in tensors.items() if "encoder.LayerNorm" not in name}, file)
    base = states(tmp_path, tiny_model("deberta-v2"))
    save_file(tensors, file)
    np.testing.assert_array_equal(states(tmp_path, tiny_model("deberta-v2")), base)


@pytest.mark.parametrize("kind", ["gliner", "static"])
def test_models_that_are_no_transformer_ignore_nothing_either(tmp_path, kind):
    gliner = kind == "gliner"
    if gliner:
        directory = tiny_gliner.write_model(tmp_path / "model", "bare")
    else:
        directory = tiny_outputs.write_static(tmp_path / "model", "model2vec")
    file = directory / "model.safetensors"
    tensors = load_file(file)
    save_file({**tensors, "other.weight": np.ones(3, np.float32)}, file)
    with pytest.raises(fbg.ModelError, match=r"tensor other\.weight has no place"):
        fbg.load(directory)
    save_file(tensors, file)
    settings = directory / ("gliner_config.json" if gliner else "config.json")
    change_json(settings, attention_temper=2.0)
    with pytest.raises(fbg.ModelError, match=r"config\.json: attention_temper must be left out"):
        fbg.load(directory)
    change_json(settings, attention_temper=None, team="somebody")
    with pytest.warns(UserWarning, match="does not know team"):
        fbg.load(directory)


def test_modules_behind_the_encoder_ignore_nothing_either(tmp_path):
    directory = tiny_bert.write_checkpoint(tmp_path / "model")
    pooling = directory / "1_Pooling" / "config.json"
    change_json(pooling, pooling_mode_attention=True)
    with pytest.raises(
        fbg.ModelError, match=r"1_Pooling.config\.json: pooling_mode_attention must"
    ):
        fbg.load(directory)
    change_json(pooling, pooling_mode_attention=False)
    fbg.load(directory)


def test_a_copy_of_the_embeddings_must_be_one(tmp_path):
    file = write_tiny(tmp_path, "t5") / "model.safetensors"
    tensors = load_file(file)
    table = tensors["shared.weight"]
    save_file({**tensors, "encoder.embed_tokens.weight": table}, file)
    fbg.load(tmp_path)
    save_file({**tensors, "encoder.embed_tokens.weight": table + 1}, file)
    with pytest.raises(fbg.ModelError, match=r"encoder\.embed_tokens\.weight must be a copy"):
        fbg.load(tmp_path)


def test_the_table_of_t5_may_have_the_name_of_the_encoder_only(tmp_path):
    for prefix, head in (("", None), ("transformer.", "classifier")):
        directory = write_tiny(tmp_path / str(head), "t5")
        file = directory / "model.safetensors"
        tensors = {f"{prefix}{name}": value for name, value in load_file(file).items()}
        base = states(directory, tiny_model("t5"))
        table = tensors.pop(f"{prefix}shared.weight")
        save_file({**tensors, f"{prefix}encoder.embed_tokens.weight": table}, file)
        np.testing.assert_array_equal(states(directory, tiny_model("t5")), base)
        save_file(tensors, file)
        with pytest.raises(fbg.ModelError, match=r"model\.safetensors: tensor .* is missing"):
            fbg.load(directory)


# Names of the same quantity on the hub, by BERT's.
AGAIN = {
    "hidden_size": "emb_size d_model n_embd dim embedding_dim embedding_size hidden_dim model_dim",
    "num_hidden_layers": "n_layer n_layers num_layers layers",
    "num_attention_heads": "n_head num_heads n_heads heads",
    "intermediate_size": "d_ff ffn_dim ffn_size mlp_dim inner_dim n_inner",
    "max_position_embeddings": "n_positions max_positions num_positions",
    "hidden_act": "activation activation_function hidden_activation",
}
# Keys that could be confused with these, and mean something else.
ELSE = {
    "num_hidden_layers": "num_skipped_layers layer_groups layer_size cross_layers",
    "num_attention_heads": "head_dim head_size num_extra_heads head_groups",
    "hidden_size": "head_dim hidden_groups attention_window extra_hidden_tokens pooled_dim",
    "max_position_embeddings": "sliding_window attention_window position_buckets",
}


@pytest.mark.parametrize("key", AGAIN)
def test_a_setting_may_be_said_again_by_another_name(tmp_path, key):
    tiny = tiny_model("bert")
    directory = write_tiny(tmp_path, "bert")
    base, value = states(directory, tiny), tiny.config[key]
    for name in AGAIN[key].split():
        write_json(directory / "config.json", {**tiny.config, name: value})
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            np.testing.assert_array_equal(states(directory, tiny), base)
        other = f"{value}_other" if isinstance(value, str) else value + 1
        write_json(directory / "config.json", {**tiny.config, name: other})
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises((fbg.ModelError, UserWarning), match=f"{name}"):
                fbg.load(directory)


@pytest.mark.parametrize("key", ELSE)
def test_a_value_that_is_the_same_by_chance_says_nothing(tmp_path, key):
    tiny = tiny_model("bert")
    directory = write_tiny(tmp_path, "bert")
    for name in ELSE[key].split():
        changes = {name: tiny.config[key]}
        write_json(directory / "config.json", {**tiny.config, **changes})
        with pytest.raises(fbg.ModelError, match=f"{name} must be"):
            fbg.load(directory)


@pytest.mark.parametrize("changes", [{"generator_size": "0.25"}, {"_num_labels": 9}], ids=str)
def test_what_only_pretraining_or_heads_read_stops_nothing(tmp_path, changes):
    directory = write_tiny(tmp_path, "electra")
    write_json(directory / "config.json", {**tiny_model("electra").config, **changes})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fbg.load(directory)


@pytest.mark.parametrize("name", HUB)
def test_settings_of_models_on_the_hub_are_all_known(tmp_path, name):
    write_json(tmp_path / "config.json", HUB[name])
    assert read_config(tmp_path / "config.json").num_layers > 1  # a warning would be an error


def test_every_family_has_settings_of_a_model_on_the_hub():
    families = {settings["model_type"] for settings in HUB.values()}
    # They are called bert and xlm-roberta on the hub.
    borrowed = {"jina_bert", "xlm-roberta-flash", "jina_embeddings_v3"}
    assert families >= (FAMILIES.keys() | RENAMED.keys()) - borrowed


def test_an_unknown_key_is_named_with_what_to_do_or_reported_once(tmp_path):
    directory = write_tiny(tmp_path, "bert", residual_scale=2.0)
    message = r"config\.json: residual_scale must be left out or off, got 2\.0: fbg does not know"
    with pytest.raises(fbg.ModelError, match=message):
        fbg.load(directory)
    change_json(directory / "config.json", residual_scale=1.0, team="somebody")
    with pytest.warns(UserWarning, match=r"config\.json: fbg does not know team, and ignores it"):
        fbg.load(directory)


# --- Models whose code on the hub is their own ----------------------------------------------------


def test_bidirectional_qwen3_projects_its_states(tmp_path):
    """As voyage-4-nano: the projection is at the root of the checkpoint, its width num_labels."""
    tiny = tiny_model("qwen3")
    plain = write_tiny(tmp_path / "plain", "qwen3", use_bidirectional_attention=True)
    projection = np.random.default_rng(1).standard_normal((50, 36)).astype(np.float32)
    directory = write_tiny(
        tmp_path / "voyage",
        "qwen3",
        prefix="model.",
        use_bidirectional_attention=True,
        num_labels=50,
    )
    with pytest.raises(fbg.ModelError, match=r"tensor linear\.weight is missing"):
        fbg.load(directory)
    file = directory / "model.safetensors"
    save_file({**load_file(file), "linear.weight": projection}, file)
    np.testing.assert_allclose(
        states(directory, tiny), states(plain, tiny) @ projection.T, 0, TOLERANCE
    )
    model = fbg.load(directory, dtype="int8")
    assert model.encode("the cat").shape == (50,)
    model.save(tmp_path / "saved")
    text = "the dog"
    np.testing.assert_array_equal(fbg.load(tmp_path / "saved").encode(text), model.encode(text))
    change_json(directory / "config.json", num_labels=None)
    with pytest.raises(fbg.ModelError, match=r"tensor linear\.weight has no place"):
        fbg.load(directory)


def test_pplx_is_bidirectional_and_rounds_its_embeddings(tmp_path):
    both = write_tiny(tmp_path / "both", "qwen3", is_causal=False)
    directory = write_tiny(tmp_path / "pplx", "qwen3", model_type="bidirectional_pplx_qwen3")
    modules = [("Transformer", ""), ("Pooling", "1_Pooling"), ("FlexibleQuantizer", "")]
    listed = [
        {"idx": n, "type": f"x.{kind}", "path": path} for n, (kind, path) in enumerate(modules)
    ]
    write_json(directory / "modules.json", listed)
    (directory / "1_Pooling").mkdir()
    write_json(directory / "1_Pooling" / "config.json", {"pooling_mode_mean_tokens": True})
    exact = fbg.load(both).encode("the cat")
    model = fbg.load(directory)
    rounded = model.encode("the cat")
    np.testing.assert_array_equal(rounded, np.rint(np.tanh(exact) * 127))
    unit = model.encode("the cat", normalize_embeddings=True)
    np.testing.assert_allclose(unit, rounded / np.linalg.norm(rounded), 1e-6)
