"""GGUF files give what the directory of the same model gives: its settings, tensors and tokens.

Names of tensors and what blocks stand for are those of the package gguf
(scripts/goldens/gguf.py); what the directories give is compared with transformers elsewhere.
"""

import pickle
import warnings

import ml_dtypes
import numpy as np
import pytest
from click.testing import CliRunner

import fbg
from fbg.checkpoints.gguf.header import SIZES, read_header
from fbg.cli import main
from fbg.networks.transformer import linears
from helpers import tiny_bert
from helpers.gguf_files import NUMBERS, Blocks, write_gguf
from helpers.tiny_gguf import CASES, GOLDEN, NAMES, metadata_of, renamed, settings_of
from helpers.tiny_models import write_checkpoint

IDS = [[2, 17, 5, 60, 41, 8, 3]]


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*are dequantized and compute in float32")
        yield


def states(path, **options):
    return fbg.load(path, **options).forward(IDS).last_hidden_state


@pytest.mark.parametrize("architecture", CASES)
def test_an_architecture_computes_what_its_directory_does(tmp_path, architecture):
    config, tensors = settings_of(architecture)
    directory = write_checkpoint(tmp_path / "hf", config, tensors)
    path = write_gguf(
        tmp_path / "m.gguf", metadata_of(architecture, config), renamed(architecture, tensors)
    )
    np.testing.assert_array_equal(states(path), states(directory))


def test_a_decoder_may_see_both_ways(tmp_path):
    config, tensors = settings_of("qwen3")
    directory = write_checkpoint(tmp_path, {**config, "is_causal": False}, tensors)
    metadata = {**metadata_of("qwen3", config), "qwen3.attention.causal": False}
    path = write_gguf(tmp_path / "m.gguf", metadata, renamed("qwen3", tensors))
    np.testing.assert_array_equal(states(path), states(directory))


def test_rows_that_rotations_turn_keep_their_integers(tmp_path):
    config, tensors = settings_of("llama")
    config |= {"hidden_size": 64, "head_dim": 16, "num_attention_heads": 4}
    config |= {"num_key_value_heads": 2, "intermediate_size": 96}
    shapes = {"q_proj": (64, 64), "k_proj": (32, 64), "v_proj": (32, 64), "o_proj": (64, 64)}
    shapes |= {"gate_proj": (96, 64), "up_proj": (96, 64), "down_proj": (64, 96)}
    rng = np.random.default_rng(5)
    stored = {}
    floats = {}
    for name in tensors:
        rows, columns = shapes.get(name.split(".")[-2], (99, 64))
        floats[name] = np.ones(64, np.float32)
        if "norm" not in name:
            chosen = rng.integers(len(GOLDEN["Q4_0"]), size=rows * columns // 32)
            floats[name] = GOLDEN["Q4_0_values"][chosen].reshape(rows, columns)
            octets = GOLDEN["Q4_0"][chosen].reshape(rows, -1)
            count = {"q_proj": 4, "k_proj": 2}.get(name.split(".")[-2])
            if count:
                octets = octets.reshape(count, 2, 8, -1).swapaxes(1, 2).reshape(rows, -1)
            stored[NAMES["llama"][name]] = Blocks("Q4_0", (rows, columns), octets)
        else:
            stored[NAMES["llama"][name]] = floats[name]
    directory = write_checkpoint(tmp_path, config, floats)
    path = write_gguf(tmp_path / "m.gguf", metadata_of("llama", config), stored)
    np.testing.assert_array_equal(states(path, dtype="float32"), states(directory))
    packed = linears(fbg.load(path).network)["layers.1.qkv"].packed
    assert packed.dtype == "int4"
    rows = [floats[f"layers.1.self_attn.{part}_proj.weight"] for part in "qkv"]
    given = packed.unpack() * np.repeat(packed.scale, 32, axis=0).astype(np.float32)
    np.testing.assert_array_equal(given, np.concatenate(rows).T)


def test_gated_layers_of_t5_are_read(tmp_path):
    config, tensors = settings_of("t5encoder")
    config |= {"feed_forward_proj": "gated-gelu", "dense_act_fn": "gelu_new"}
    gated = {}
    stored = renamed("t5encoder", tensors)
    for name, tensor in tensors.items():
        gated[name.replace(".wi.", ".wi_1.")] = tensor
        if ".wi." in name:
            gated[name.replace(".wi.", ".wi_0.")] = tensor[::-1].copy()
            gate = NAMES["t5encoder"][name].replace("ffn_up", "ffn_gate")
            stored[gate] = tensor[::-1].copy()
    directory = write_checkpoint(tmp_path, config, gated)
    path = write_gguf(tmp_path / "m.gguf", metadata_of("t5encoder", config), stored)
    np.testing.assert_array_equal(states(path), states(directory))


def test_yarn_is_read(tmp_path):
    config, tensors = settings_of("qwen2")
    scaling = {"type": "yarn", "factor": 4.0, "original_max_position_embeddings": 16}
    directory = write_checkpoint(tmp_path, {**config, "rope_scaling": scaling}, tensors)
    prefix = "qwen2.rope.scaling"
    metadata = {
        **metadata_of("qwen2", config),
        **{f"{prefix}.type": "yarn", f"{prefix}.factor": 4.0},
        f"{prefix}.original_context_length": 16,
    }
    path = write_gguf(tmp_path / "m.gguf", metadata, renamed("qwen2", tensors))
    np.testing.assert_array_equal(states(path), states(directory))


def test_a_model_without_token_types_is_read(tmp_path):
    config, tensors = settings_of("bert")
    types = "embeddings.token_type_embeddings.weight"
    tensors[types] = np.zeros_like(tensors[types])
    directory = write_checkpoint(tmp_path, config, tensors)
    del tensors[types]
    path = write_gguf(tmp_path / "m.gguf", metadata_of("bert", config), renamed("bert", tensors))
    np.testing.assert_array_equal(states(path), states(directory))


# --- Types of tensors -----------------------------------------------------------------------------

WIDE = tiny_bert.Geometry(256, 2, 4, 512, vocab_size=99, max_position_embeddings=12)


def quantized(tensors, kind):
    """Matrices of the golden blocks of a type, under names of GGUF, and what they stand for."""
    stored = {}
    floats = {}
    for seed, (name, tensor) in enumerate(sorted(tensors.items())):
        floats[name] = tensor
        stored[NAMES["bert"][name]] = tensor
        if tensor.ndim == 2 and "position" not in name and "token_type" not in name:
            rows, columns = tensor.shape
            count = SIZES[kind].count
            chosen = np.random.PCG64(seed).random_raw(rows * columns // count) % len(GOLDEN[kind])
            octets = GOLDEN[kind][chosen].reshape(rows, -1)
            stored[NAMES["bert"][name]] = Blocks(kind, tensor.shape, octets)
            floats[name] = GOLDEN[f"{kind}_values"][chosen].reshape(rows, columns)
    return stored, floats


def wide_model():
    # As many names as the golden model has, which has two layers, too.
    tensors = tiny_bert.random_tensors(WIDE)
    return tiny_bert.config(WIDE), {k: v for k, v in tensors.items() if "pooler" not in k}


@pytest.mark.parametrize("kind", NUMBERS)
def test_blocks_stand_for_what_the_package_says(tmp_path, kind):
    config, tensors = wide_model()
    stored, floats = quantized(tensors, kind)
    directory = write_checkpoint(tmp_path, config, floats)
    path = write_gguf(tmp_path / "m.gguf", metadata_of("bert", config), stored)
    expected = states(directory)
    np.testing.assert_array_equal(states(path, dtype="float32"), expected)
    model = fbg.load(path)
    assert model.dtype == ("int4" if kind == "Q4_0" else "float32")
    given = model.forward(IDS).last_hidden_state
    # int4 quantizes activations.
    np.testing.assert_allclose(given, expected, atol=0.2 if kind == "Q4_0" else 0)


@pytest.mark.parametrize(("kind", "kept"), [("Q4_0", "'int4' would keep"), ("Q4_1", "no dtype")])
def test_what_becomes_of_codes_in_another_dtype_is_said(tmp_path, kind, kept):
    config, tensors = wide_model()
    path = write_gguf(tmp_path / "m.gguf", metadata_of("bert", config), quantized(tensors, kind)[0])
    with pytest.warns(UserWarning, match=f"quantized again, because dtype is 'int8'; {kept}"):
        fbg.load(path, dtype="int8")


def test_codes_of_four_bits_are_kept(tmp_path):
    config, tensors = wide_model()
    stored, _ = quantized(tensors, "Q4_0")
    path = write_gguf(tmp_path / "m.gguf", metadata_of("bert", config), stored)
    weight = stored["blk.1.ffn_down.weight"]
    assert isinstance(weight, Blocks)
    pairs = weight.octets.reshape(-1, 18)[:, 2:].astype(np.int8)
    codes = np.concatenate([pairs & 15, (pairs >> 4) & 15], axis=1) - 8
    packed = linears(fbg.load(path).network)["layers.1.output"].packed
    assert packed.dtype == "int4"
    np.testing.assert_array_equal(packed.unpack().T, codes.reshape(weight.shape))


@pytest.mark.parametrize("dtype", [np.float16, ml_dtypes.bfloat16, np.float32])
def test_floats_are_read_as_they_are(tmp_path, dtype):
    config, tensors = settings_of("bert")
    rounded = {k: v.astype(dtype) if v.ndim == 2 else v for k, v in tensors.items()}
    directory = write_checkpoint(tmp_path, config, rounded)
    path = write_gguf(tmp_path / "m.gguf", metadata_of("bert", config), renamed("bert", rounded))
    np.testing.assert_array_equal(states(path), states(directory))


def test_a_file_of_the_package_is_read(tmp_path):
    (tmp_path / "m.gguf").write_bytes(GOLDEN["written"].tobytes())
    header = read_header(tmp_path / "m.gguf")
    assert header.metadata["general.architecture"] == "bert"
    assert header.metadata["bert.context_length"] == 12
    assert header.metadata["bert.attention.causal"] is False
    assert header.metadata["tokenizer.ggml.tokens"] == ["[PAD]", "▁über", "x"]
    assert header.metadata["tokenizer.ggml.scores"].tolist() == [0, -1.5, 2]
    numbers = np.arange(64, dtype=np.float32).reshape(2, 32)
    np.testing.assert_array_equal(header.tensors["float32"].view(), numbers)
    np.testing.assert_array_equal(header.tensors["float16"].view(), numbers[:1])
    assert (header.tensors["Q8_0"].dtype, header.tensors["Q8_0"].shape) == ("Q8_0", (2, 32))


# --- As a model -----------------------------------------------------------------------------------


def test_pooling_is_that_of_the_file(tmp_path):
    words = ["[UNK]", "[CLS]", "[SEP]", "▁hello", "▁world"]
    kinds = np.array([2, 3, 3, 1, 1], np.int32)
    config, tensors = settings_of("bert")
    metadata = {
        **metadata_of("bert", config),
        **{"tokenizer.ggml.model": "bert", "tokenizer.ggml.tokens": words},
        **{"tokenizer.ggml.token_type": kinds, "tokenizer.ggml.cls_token_id": 1},
        "tokenizer.ggml.seperator_token_id": 2,
    }
    path = tmp_path / "m.gguf"
    hidden = None
    for number, pool in enumerate((lambda h: h.mean(0), lambda h: h[0], lambda h: h[-1]), 1):
        values = {**metadata, "bert.pooling_type": number}
        model = fbg.load(write_gguf(path, values, renamed("bert", tensors)))
        hidden = model.forward([[1, 3, 4, 2]]).last_hidden_state[0]
        vector = pool(hidden)
        expected = vector / np.linalg.norm(vector)
        np.testing.assert_allclose(model.encode("hello world"), expected, atol=1e-6)


@pytest.mark.parametrize("kind", [None, "Q8_0"])
def test_layers_behind_the_pooling_are_read(tmp_path, kind):
    config, tensors = settings_of("gemma-embedding")
    stored = renamed("gemma-embedding", tensors)
    first = np.random.default_rng(3).standard_normal((64, 36)).astype(np.float32)
    second = np.random.default_rng(4).standard_normal((20, 64)).astype(np.float32)
    stored |= {"dense_2.weight": first, "dense_3.weight": second}
    if kind is not None:
        chosen = np.arange(40) % len(GOLDEN[kind])
        second = GOLDEN[f"{kind}_values"][chosen].reshape(20, 64)
        stored["dense_3.weight"] = Blocks(kind, (20, 64), GOLDEN[kind][chosen].reshape(20, -1))
    words = [f"▁{n}" for n in range(98)]
    metadata = {
        **metadata_of("gemma-embedding", config),
        **{"gemma-embedding.pooling_type": 1, "gemma-embedding.dense_2_feat_in": 36},
        **{"tokenizer.ggml.model": "llama", "tokenizer.ggml.tokens": ["<unk>", *words]},
        **{"tokenizer.ggml.add_bos_token": False, "tokenizer.ggml.unknown_token_id": 0},
    }
    path = write_gguf(tmp_path / "m.gguf", metadata, stored)
    model = fbg.load(path)
    ids = model.tokenizer(["7 8 9"])[0]
    vector = model.forward([ids]).last_hidden_state[0].mean(0) @ first.T @ second.T
    np.testing.assert_allclose(model.encode("7 8 9"), vector / np.linalg.norm(vector), atol=1e-5)
    model.save(tmp_path / "saved")
    again = fbg.load(tmp_path / "saved")
    np.testing.assert_array_equal(again.encode("7 8 9"), model.encode("7 8 9"))


def test_a_model_of_a_file_can_be_saved_and_pickled(tmp_path):
    config, tensors = settings_of("bert")
    path = write_gguf(tmp_path / "m.gguf", metadata_of("bert", config), renamed("bert", tensors))
    model = fbg.load(path)
    model.save(tmp_path / "saved")
    np.testing.assert_array_equal(states(tmp_path / "saved"), states(path))
    again = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(again.forward(IDS).last_hidden_state, states(path))


def test_integers_of_a_file_are_kept_when_it_is_saved(tmp_path):
    config, tensors = wide_model()
    stored, _ = quantized(tensors, "Q4_0")
    path = write_gguf(tmp_path / "m.gguf", metadata_of("bert", config), stored)
    fbg.load(path).save(tmp_path / "saved")
    np.testing.assert_array_equal(states(tmp_path / "saved"), states(path))


def test_info_describes_a_file(tmp_path):
    config, tensors = settings_of("bert")
    path = write_gguf(tmp_path / "m.gguf", metadata_of("bert", config), renamed("bert", tensors))
    result = CliRunner().invoke(main, ["info", str(path)])
    assert result.exit_code == 0, result.output
    assert "bert" in result.output
