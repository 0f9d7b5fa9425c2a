"""Damaged GGUF files: the error names the file and what is wrong, and costs neither time nor
memory.
"""

import struct

import numpy as np
import pytest

import fbg
from helpers.gguf_files import Blocks, gguf_bytes, string
from helpers.tiny_gguf import metadata_of, renamed, settings_of

FLOATS = np.arange(64, dtype=np.float32).reshape(2, 32)


def header(tensors=0, pairs=0, version=3, magic=b"GGUF"):
    return struct.pack("<4sIQQ", magic, version, tensors, pairs)


def pair(kind, value, name="x"):
    return header(0, 1) + string(name) + struct.pack("<I", kind) + value


def tensor(*sizes, kind=0, offset=0, name="t", room=4096, axes=-1):
    axes = len(sizes) if axes < 0 else axes
    place = string(name) + struct.pack(f"<I{len(sizes)}Q", axes, *sizes)
    return header(1) + place + struct.pack("<IQ", kind, offset) + bytes(room)


HUGE = 2**64 - 1
BYTES = {
    "nothing": (b"", "cannot mmap an empty file|empty"),
    "another file": (b"PK\3\4" + bytes(60), "must begin with b'GGUF'"),
    "old": (header(version=1), "version must be one of"),
    "big-endian": (header(version=3 << 24), "little-endian"),
    "cut in the header": (header()[:13], "it ends at byte 13"),
    "too many tensors": (header(HUGE), "18446744073709551615 items at byte"),
    "too many pairs": (header(0, HUGE), "18446744073709551615 items at byte"),
    "a long name": (
        header(0, 1) + struct.pack("<Q", 2**63) + bytes(9),
        "9223372036854775808 items",
    ),
    "a name that is no text": (header(0, 1) + struct.pack("<Q", 1) + b"\xff" * 40, "utf-8"),
    "an unknown type": (pair(99, bytes(8)), "x must have values of a known type, got number 99"),
    "a long array": (pair(9, struct.pack("<IQ", 4, 2**62)), "4611686018427387904 items"),
    "a long list": (pair(9, struct.pack("<IQ", 8, 2**61)), "2305843009213693952 items"),
    "a list of a long string": (
        pair(9, struct.pack("<IQQ", 8, 1, HUGE) + bytes(40)),
        "a string ends at byte 184467",
    ),
    "a list of no texts": (pair(9, struct.pack("<IQQ", 8, 1, 8) + b"\xff" * 40), "utf-8"),
    "nested arrays": (pair(9, struct.pack("<IQ", 9, 1) + bytes(64)), "known type, got number 9"),
    "no axes": (tensor(), "must have 1 to 4 axes, got 0"),
    "many axes": (tensor(1, axes=2**32 - 1), "must have 1 to 4 axes, got 4294967295"),
    "a size that overflows": (tensor(2**63, 4), "must have blocks of 1 elements"),
    "sizes that overflow": (tensor(2**40, 2**40), "4835703278458516698824704 bytes at offset 0"),
    "an unknown kind": (tensor(32, kind=16), "must have a type of float32, .*, got number 16"),
    "half a block": (tensor(48, kind=8), "must have blocks of 32 elements"),
    "an offset that overflows": (tensor(32, offset=HUGE - 31), "must be a multiple of 32"),
    "no alignment": (tensor(32, offset=8), "must be a multiple of 32"),
    "cut": (tensor(32, 2, room=100), "256 bytes at offset 0 must be"),
}


@pytest.mark.parametrize("name", BYTES)
def test_a_damaged_header_is_refused(tmp_path, name):
    content, error = BYTES[name]
    path = tmp_path / "m.gguf"
    path.write_bytes(content)
    with pytest.raises(fbg.ModelError, match=error) as caught:
        fbg.load(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("key", "value", "error"),
    [
        ("general.alignment", 0, "general.alignment must be an integer above 0"),
        ("general.alignment", "32", "general.alignment must be an integer above 0"),
        ("general.alignment", 48, "must be a multiple of 48"),
    ],
)
def test_a_wrong_alignment_is_refused(tmp_path, key, value, error):
    path = tmp_path / "m.gguf"
    path.write_bytes(gguf_bytes({key: value}, {"a": FLOATS[0], "b": FLOATS}))
    with pytest.raises(fbg.ModelError, match=error):
        fbg.load(path)


def test_tensors_must_not_overlap_or_share_a_name(tmp_path):
    path = tmp_path / "m.gguf"
    whole = gguf_bytes({}, {"a": FLOATS, "b": FLOATS})
    place = struct.pack("<I2QIQ", 2, 32, 2, 0, 256)
    assert whole.count(place) == 1
    path.write_bytes(whole.replace(place, struct.pack("<I2QIQ", 2, 32, 2, 0, 128)))
    with pytest.raises(fbg.ModelError, match="tensor b: 256 bytes at offset 128 must be"):
        fbg.load(path)
    path.write_bytes(whole.replace(string("b"), string("a")))
    with pytest.raises(fbg.ModelError, match="tensor a is there twice"):
        fbg.load(path)
    path.write_bytes(header(0, 2) + 2 * (string("x") + struct.pack("<IB", 0, 1)))
    with pytest.raises(fbg.ModelError, match="x is there twice"):
        fbg.load(path)


# --- A model that is described wrongly ------------------------------------------------------------

WORDS = ["[UNK]", "[CLS]", "[SEP]", *(f"▁w{n}" for n in range(29))]


def model():
    rng = np.random.default_rng(7)

    def floats(*shape):
        return rng.normal(scale=0.1, size=shape).astype(np.float32)

    layer = {
        **{f"attn_{x}.weight": floats(32, 32) for x in ("q", "k", "v", "output")},
        **{f"attn_{x}.bias": floats(32) for x in ("q", "k", "v", "output")},
        **{"ffn_up.weight": floats(64, 32), "ffn_up.bias": floats(64)},
        **{"ffn_down.weight": floats(32, 64), "ffn_down.bias": floats(32)},
    }
    norms = ("token_embd_norm", "blk.0.attn_output_norm", "blk.0.layer_output_norm")
    tensors = {
        **{"token_embd.weight": floats(32, 32), "token_types.weight": floats(2, 32)},
        "position_embd.weight": floats(12, 32),
        **{f"blk.0.{name}": tensor for name, tensor in layer.items()},
        **{f"{norm}.{part}": floats(32) for norm in norms for part in ("weight", "bias")},
    }
    sizes = {
        **{"context_length": 12, "embedding_length": 32, "feed_forward_length": 64},
        **{"block_count": 1, "attention.head_count": 2, "attention.layer_norm_epsilon": 1e-6},
        **{"attention.causal": False, "pooling_type": 1},
    }
    tokens = {
        **{"model": "bert", "tokens": WORDS, "cls_token_id": 1, "seperator_token_id": 2},
        "token_type": np.array([2, 3, 3, *[1] * 29], np.int32),
    }
    metadata = {
        "general.architecture": "bert",
        **{f"bert.{key}": value for key, value in sizes.items()},
        **{f"tokenizer.ggml.{key}": value for key, value in tokens.items()},
    }
    return metadata, tensors


def test_the_model_is_whole(tmp_path):
    path = tmp_path / "m.gguf"
    path.write_bytes(gguf_bytes(*model()))
    assert fbg.load(path).encode("w1 w2").shape == (32,)


TOKENS = "tokenizer.ggml"
SETTINGS = [
    ("general.architecture", None, "general.architecture must be one of bert, nomic-bert"),
    ("general.architecture", "mamba", "general.architecture must be one of bert, nomic-bert"),
    ("general.architecture", 3, "general.architecture must be one of"),
    ("general.type", "adapter", "general.type must be one of model"),
    ("split.count", 2, "split.count must be 1"),
    ("bert.embedding_length", None, "hidden_size must be an integer of at least 1, got nothing"),
    ("bert.embedding_length", "32", "hidden_size must be an integer"),
    ("bert.embedding_length", 2**31, "must have shape"),
    ("bert.block_count", 2**32 - 1, "num_hidden_layers must be"),
    ("bert.block_count", 2, "encoder.layer.1.* is missing"),
    ("bert.attention.head_count", np.array([2, 2], np.int32), "attention.head_count must be one"),
    ("bert.attention.head_count_kv", 1, "bert.attention.head_count_kv must be attention.head"),
    ("bert.attention.causal", True, "bert.attention.causal must be false"),
    ("bert.attention.layer_norm_epsilon", float("nan"), "layer_norm_eps must be"),
    ("bert.pooling_type", 4, r"bert.pooling_type must be one of 0 \(none\)"),
    ("bert.pooling_type", "mean", "bert.pooling_type must be an integer"),
    ("bert.expert_count", 8, "bert.expert_count must be left out, got 8"),
    ("bert.attention.scale", 0.5, "bert.attention.scale must be left out"),
    ("bert.rope.dimension_count", 8, "bert.rope.dimension_count must be the width of a head, 16"),
    ("bert.rope.scaling.type", "longrope", "bert.rope.scaling.type must be one of"),
    (f"{TOKENS}.model", "rwkv", "tokenizer.ggml.model must be one of bert, t5, gpt2"),
    (f"{TOKENS}.tokens", None, "tokenizer.ggml.tokens must be strings"),
    (f"{TOKENS}.tokens", [], "tokenizer.ggml.tokens must be strings"),
    (f"{TOKENS}.tokens", np.zeros(32, np.int32), "tokenizer.ggml.tokens must be strings"),
    (f"{TOKENS}.tokens", ["a"] * 32, "tokenizer.ggml.tokens must be distinct"),
    (f"{TOKENS}.token_type", np.ones(3, np.int32), "must have a number for each of 32 tokens"),
    (f"{TOKENS}.token_type", ["a"], "tokenizer.ggml.token_type must be numbers"),
    (f"{TOKENS}.cls_token_id", 32, "tokenizer.ggml.cls_token_id must be one of 32 tokens"),
    (f"{TOKENS}.add_bos_token", "yes", "tokenizer.ggml.add_bos_token must be true or false"),
]


@pytest.mark.parametrize(("key", "value", "error"), SETTINGS)
def test_metadata_that_say_something_else_are_refused(tmp_path, key, value, error):
    metadata, tensors = model()
    metadata[key] = value
    if value is None:
        del metadata[key]
    path = tmp_path / "m.gguf"
    path.write_bytes(gguf_bytes(metadata, tensors))
    with pytest.raises(fbg.ModelError, match=error) as caught:
        fbg.load(path)
    assert str(path) in str(caught.value)


OTHER_TOKENS = [
    ("t5", {"scores": np.full(32, np.nan, np.float32)}, "scores must be finite"),
    ("t5", {"scores": np.zeros(3, np.float32)}, "must have a number for each of 32 tokens"),
    ("t5", {"unknown_token_id": 99}, "not a readable tokenizer"),
    ("t5", {"precompiled_charsmap": "abc"}, "precompiled_charsmap must be an array of bytes"),
    ("t5", {"precompiled_charsmap": np.full(7, 255, np.uint8)}, "tokenizer"),
    ("gpt2", {"pre": "unheard-of"}, "tokenizer.ggml.pre must be one of"),
    ("gpt2", {"merges": ["ab"]}, "merges must be pairs of tokens"),
    ("gpt2", {"merges": ["a b"]}, "not a readable tokenizer"),
    ("gpt2", {"merges": np.zeros(3, np.float32)}, "merges must be strings"),
    ("llama", {"scores": np.full(32, np.nan, np.float32)}, "scores must be finite"),
    ("llama", {"tokens": ["a"] * 32}, "tokens must be distinct"),
    ("llama", {"bos_token_id": 32}, "bos_token_id must be one of 32 tokens"),
]


def test_the_cost_of_merges_is_bounded(tmp_path):
    metadata, tensors = model()
    metadata |= {f"{TOKENS}.model": "llama", f"{TOKENS}.unknown_token_id": 0}
    words = metadata[f"{TOKENS}.tokens"]
    metadata[f"{TOKENS}.tokens"] = [*words[:30], "a" * 1_000_000, "a" * 999_999]
    path = tmp_path / "m.gguf"
    path.write_bytes(gguf_bytes(metadata, tensors))
    assert fbg.load(path).encode("w1 w2").shape == (32,)  # would take minutes


@pytest.mark.parametrize(("kind", "changes", "error"), OTHER_TOKENS)
def test_other_vocabularies_are_checked(tmp_path, kind, changes, error):
    metadata, tensors = model()
    metadata[f"{TOKENS}.model"] = kind
    metadata |= {f"{TOKENS}.{key}": value for key, value in changes.items()}
    path = tmp_path / "m.gguf"
    path.write_bytes(gguf_bytes(metadata, tensors))
    with pytest.raises(fbg.ModelError, match=error) as caught:
        fbg.load(path)
    assert str(path) in str(caught.value)


def blocks(octet, kind="Q8_0", size=34):
    return Blocks(kind, (32, 32), np.full((32, size), octet, np.uint8))


TENSORS = [
    ("missing", lambda t: t.pop("blk.0.attn_q.weight"), "attention.self.query.weight is missing"),
    ("no table", lambda t: t.pop("token_embd.weight"), "tensor token_embd.weight is missing"),
    ("further", lambda t: t.update({"blk.0.attn_sinks.weight": FLOATS}), "attn_sinks.* has no pl"),
    ("a reranker", lambda t: t.update({"cls.weight": FLOATS}), "cls.weight has no place"),
    ("a layer", lambda t: t.update({"blk.1.attn_q.weight": FLOATS}), "layer.1.* has no place"),
    ("numbers", lambda t: t.update({"blk.00.attn_q.weight": FLOATS}), "blk.00.* has no place"),
    ("shape", lambda t: t.update({"blk.0.attn_q.weight": FLOATS}), "must have shape"),
    ("f64", lambda t: t.update({"blk.0.attn_q.weight": np.eye(32)}), "must have dtype"),
    ("nan", lambda t: t.update({"blk.0.attn_q.weight": blocks(255)}), "NaN or infinite"),
    ("nan", lambda t: t.update({"token_embd.weight": blocks(255)}), "NaN or infinite"),
    ("nan", lambda t: t.update({"blk.0.attn_q.weight": blocks(255, "Q4_0", 18)}), "NaN or inf"),
    ("e8m0", lambda t: t.update({"blk.0.attn_q.weight": blocks(255, "MXFP4", 17)}), "NaN or inf"),
    (
        "a vector of blocks",
        lambda t: t.update({"blk.0.attn_q.bias": Blocks("Q8_0", (32,), blocks(0).octets[0])}),
        "must have dtype",
    ),
]


@pytest.mark.filterwarnings("ignore:.*are dequantized")
@pytest.mark.parametrize(("name", "change", "error"), TENSORS)
def test_tensors_that_do_not_fit_are_refused(tmp_path, name, change, error):
    metadata, tensors = model()
    change(tensors)
    path = tmp_path / "m.gguf"
    path.write_bytes(gguf_bytes(metadata, tensors))
    with pytest.raises(fbg.ModelError, match=error) as caught:
        fbg.load(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("stored", "pooling", "error"),
    [
        (FLOATS, 1, "in_features must be 36"),
        (FLOATS[0], 1, "tensor dense_2.weight must be a matrix"),
        (Blocks("Q8_0", (32,), blocks(0).octets[0]), 1, "dense_2.weight must be a matrix"),
        (np.full((2, 36), np.nan, np.float32), 1, "NaN or infinite"),
        (np.zeros((2, 36), np.float64), 1, "must have dtype"),
        (FLOATS, 0, "gemma-embedding.pooling_type must be given"),
    ],
)
def test_layers_behind_the_pooling_are_checked(tmp_path, stored, pooling, error):
    config, tensors = settings_of("gemma-embedding")
    metadata = metadata_of("gemma-embedding", config)
    metadata |= {"gemma-embedding.pooling_type": pooling}
    path = tmp_path / "m.gguf"
    whole = {**renamed("gemma-embedding", tensors), "dense_2.weight": stored}
    path.write_bytes(gguf_bytes(metadata, whole))
    with pytest.raises(fbg.ModelError, match=error) as caught:
        fbg.load(path)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("architecture", "key", "value", "error"),
    [
        ("gemma-embedding", "attention.causal", True, "attention.causal must be false"),
        ("gemma-embedding", "attention.key_length", None, "attention.key_length must be an"),
        ("t5encoder", "attention.layer_norm_epsilon", 0.5, "must be attention.layer_norm_rms"),
        ("llama", "rope.dimension_count", 8, "must be the width of a head, 12"),
    ],
)
def test_settings_of_other_architectures_are_checked(tmp_path, architecture, key, value, error):
    config, tensors = settings_of(architecture)
    metadata = {**metadata_of(architecture, config), f"{architecture}.{key}": value}
    if value is None:
        del metadata[f"{architecture}.{key}"]
    path = tmp_path / "m.gguf"
    path.write_bytes(gguf_bytes(metadata, renamed(architecture, tensors)))
    with pytest.raises(fbg.ModelError, match=error):
        fbg.load(path)


def test_a_file_cut_anywhere_is_refused(tmp_path):
    whole = gguf_bytes(*model())
    path = tmp_path / "m.gguf"
    for length in [*range(0, 3000, 97), *range(3000, len(whole), 2311)]:
        path.write_bytes(whole[:length])
        with pytest.raises(fbg.ModelError):
            fbg.load(path)
