"""The architectures of GGUF files: what Hugging Face calls their settings and their tensors.

A model becomes config.json and tensors under the names that its family in networks/families reads;
the file counts as the directory of a model, with the files that would be there beside the weights.
"""

from __future__ import annotations

import functools
import json
import os
import re
import struct
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from fbg.checkpoints.gguf.header import Header, read_header
from fbg.checkpoints.gguf.tokenizer import make_tokenizer
from fbg.checkpoints.mapped_file import StoredTensor
from fbg.checkpoints.quantized.gguf import read
from fbg.checkpoints.quantized.tensor import Module
from fbg.checkpoints.settings import Settings
from fbg.checkpoints.weights import ComputedTensor
from fbg.errors import ModelError
from fbg.files import open_regular
from fbg.reading import FileState

LAYER = re.compile(r"((?:enc\.)?blk)\.(0|[1-9]\d{0,5})\.(.+)")
# Metadata of an architecture that change nothing, or whose tensors say the same.
IRRELEVANT = ("vocab_size", "pooling_type", "tensor_data_layout", "rope.scaling.finetuned")
DENSE_SIZES = re.compile(r"dense_[23]_feat_(in|out)")
WORDS, TYPES = "token_embd.weight", "token_types.weight"
# Layers behind the pooling, in order.
DENSE = {"dense_2.weight": "2_Dense", "dense_3.weight": "3_Dense"}
DENSE_WEIGHT, SAVED = "linear.weight", "model.safetensors"
POOLINGS = ("none", "mean", "cls", "lasttoken")  # by their numbers in the file


def _table(text: str) -> dict[str, str]:
    """Return a table of two columns."""
    words = text.split()
    return dict(zip(words[::2], words[1::2], strict=True))


SIZES = _table("""
    embedding_length hidden_size             block_count num_hidden_layers
    attention.head_count num_attention_heads feed_forward_length intermediate_size
    context_length max_position_embeddings""")
NORM = {"attention.layer_norm_epsilon": "layer_norm_eps"}
ROPE = {"rope.freq_base": "rope_theta"}
DECODER = _table("""
    attention.layer_norm_rms_epsilon rms_norm_eps  attention.head_count_kv num_key_value_heads
    attention.key_length head_dim""")


@dataclass(frozen=True)
class Architecture:
    """config: settings that are always the same. keys: of others, by those of metadata. tensors,
    layers: names by those in the file, without ".weight" and ".bias"; `layer`, and a number, is
    before those of layers.
    equal: keys that must have the value of another one, by it.
    causal: whether tokens see no later ones unless the file says so. dense: whether there may be
    layers behind the pooling.
    """

    config: Mapping[str, Any]
    keys: Mapping[str, str]
    tensors: Mapping[str, str]
    layer: str
    layers: Mapping[str, str]
    equal: Mapping[str, str]
    causal: bool = False
    dense: bool = False


BERT = _table("""
    token_embd embeddings.word_embeddings          token_embd_norm embeddings.LayerNorm
    token_types embeddings.token_type_embeddings   position_embd embeddings.position_embeddings""")
BERT_LAYERS = _table("""
    attn_q attention.self.query               attn_k attention.self.key
    attn_v attention.self.value               attn_output attention.output.dense
    attn_output_norm attention.output.LayerNorm
    ffn_up intermediate.dense                 ffn_down output.dense
    layer_output_norm output.LayerNorm""")
HUB = {**BERT, "token_embd_norm": "emb_ln"}
HUB_LAYERS = _table("""
    attn_output_norm norm1  layer_output_norm norm2  ffn_down mlp.fc2""")
DECODER_TENSORS = _table("token_embd embed_tokens  output_norm norm")
DECODER_LAYERS = _table("""
    attn_norm input_layernorm     attn_q self_attn.q_proj       attn_k self_attn.k_proj
    attn_v self_attn.v_proj       attn_output self_attn.o_proj  ffn_norm post_attention_layernorm
    ffn_gate mlp.gate_proj        ffn_up mlp.up_proj            ffn_down mlp.down_proj
    attn_q_norm self_attn.q_norm  attn_k_norm self_attn.k_norm""")
T5_LAYERS = _table("""
    attn_q layer.0.SelfAttention.q  attn_k layer.0.SelfAttention.k
    attn_v layer.0.SelfAttention.v  attn_o layer.0.SelfAttention.o
    attn_rel_b layer.0.SelfAttention.relative_attention_bias
    attn_norm layer.0.layer_norm    ffn_norm layer.1.layer_norm
    ffn_up layer.1.DenseReluDense.wi  ffn_down layer.1.DenseReluDense.wo""")
T5_GATED = _table("""
    ffn_gate layer.1.DenseReluDense.wi_0  ffn_up layer.1.DenseReluDense.wi_1""")
HEADS = _table("attention.head_count_kv attention.head_count")
WIDTHS = _table("attention.value_length attention.key_length")


def _decoder(family: str, *, causal: bool = True, **config: Any) -> Architecture:
    return Architecture(
        {"model_type": family, **config},
        {**SIZES, **DECODER, **ROPE},
        DECODER_TENSORS,
        "layers",
        DECODER_LAYERS,
        WIDTHS,
        causal,
    )


GEMMA = _decoder(
    "gemma3_text",
    causal=False,
    use_bidirectional_attention=True,
    hidden_activation="gelu_pytorch_tanh",
    norm_adds_one=False,
)
T5 = Architecture(
    {"model_type": "t5", "feed_forward_proj": "relu"},
    _table("""
        embedding_length d_model        block_count num_layers
        attention.head_count num_heads  feed_forward_length d_ff
        attention.key_length d_kv       context_length n_positions
        attention.layer_norm_rms_epsilon layer_norm_epsilon
        attention.relative_buckets_count relative_attention_num_buckets"""),
    _table("token_embd shared  enc.output_norm encoder.final_layer_norm"),
    "encoder.block",
    T5_LAYERS,
    {**WIDTHS, "attention.layer_norm_epsilon": "attention.layer_norm_rms_epsilon"},
)


ARCHITECTURES = {
    "bert": Architecture(
        {"model_type": "bert"}, {**SIZES, **NORM}, BERT, "encoder.layer", BERT_LAYERS, HEADS
    ),
    "nomic-bert": Architecture(
        {"model_type": "nomic_bert", "activation_function": "swiglu"},
        _table("""
            embedding_length n_embd         block_count n_layer
            attention.head_count n_head     feed_forward_length n_inner
            context_length n_positions      attention.layer_norm_epsilon layer_norm_epsilon
            rope.freq_base rotary_emb_base"""),
        HUB,
        "encoder.layers",
        {
            **HUB_LAYERS,
            **_table("attn_qkv attn.Wqkv  attn_output attn.out_proj"),
            **_table("ffn_gate mlp.fc12  ffn_up mlp.fc11"),
        },
        HEADS,
    ),
    "jina-bert-v2": Architecture(
        {"model_type": "jina_bert", "position_embedding_type": "alibi"},
        {**SIZES, **NORM},
        BERT,
        "encoder.layer",
        {
            **BERT_LAYERS,
            **_table("ffn_gate mlp.gate_proj  ffn_up mlp.up_proj  ffn_down mlp.wo"),
            "layer_output_norm": "mlp.layernorm",
        },
        HEADS,
    ),
    "jina-bert-v3": Architecture(
        {"model_type": "jina_embeddings_v3"},
        {**SIZES, **NORM, "rope.freq_base": "rotary_emb_base"},
        HUB,
        "encoder.layers",
        {
            **HUB_LAYERS,
            **_table("attn_qkv mixer.Wqkv  attn_output mixer.out_proj  ffn_up mlp.fc1"),
        },
        HEADS,
    ),
    "modern-bert": Architecture(
        {"model_type": "modernbert"},
        {
            **SIZES,
            **_table("""
                attention.layer_norm_epsilon norm_eps      rope.freq_base global_rope_theta
                rope.freq_base_swa local_rope_theta        attention.sliding_window local_attention
                attention.sliding_window_pattern global_attn_every_n_layers"""),
        },
        _table("""
            token_embd embeddings.tok_embeddings  token_embd_norm embeddings.norm
            output_norm final_norm"""),
        "layers",
        _table("""
            attn_norm attn_norm  attn_qkv attn.Wqkv  attn_output attn.Wo
            ffn_norm mlp_norm    ffn_up mlp.Wi       ffn_down mlp.Wo"""),
        HEADS,
    ),
    "eurobert": _decoder("eurobert", causal=False),
    "gemma-embedding": replace(
        GEMMA,
        dense=True,
        keys={
            **GEMMA.keys,
            **_table("""
                attention.sliding_window sliding_window
                attention.sliding_window_pattern _sliding_window_pattern
                rope.freq_base_swa rope_local_base_freq"""),
        },
        layers={
            **DECODER_LAYERS,
            **_table("""
                post_attention_norm post_attention_layernorm
                ffn_norm pre_feedforward_layernorm
                post_ffw_norm post_feedforward_layernorm"""),
        },
    ),
    "llama": _decoder("llama", rope_interleaved=True),
    "qwen2": _decoder("qwen2"),
    "qwen3": _decoder("qwen3"),
    "t5encoder": T5,
}


def find_architecture(header: Header) -> tuple[str, Architecture]:
    """Return the architecture of a file and its name; raises ModelError."""
    settings = Settings(header.path, dict(header.metadata))
    if settings.get("split.count") not in (None, 0, 1):
        raise settings.error("split.count", "1: models in several files are not supported")
    settings.choice("general.type", ("model",), default="model")
    name = settings.choice("general.architecture", tuple(ARCHITECTURES))
    form = ARCHITECTURES[name]
    if form is T5 and "enc.blk.0.ffn_gate.weight" in header.tensors:
        config = {**form.config, "feed_forward_proj": "gated-gelu"}
        form = replace(form, config=config, layers={**form.layers, **T5_GATED})
    return name, form


def make_config(header: Header) -> dict[str, Any]:
    """Return what config.json holds; raises ModelError for metadata that say something else."""
    name, form = find_architecture(header)
    prefix = f"{name}."
    own = {
        key.removeprefix(prefix): value
        for key, value in header.metadata.items()
        if key.startswith(prefix) and key.removeprefix(prefix) not in IRRELEVANT
    }
    if form.dense:
        own = {key: value for key, value in own.items() if not DENSE_SIZES.fullmatch(key)}
    settings = Settings(header.path, own, prefix)
    config = {**form.config, "vocab_size": _rows(header, WORDS)}
    if TYPES.removesuffix(".weight") in form.tensors:
        config["type_vocab_size"] = _rows(header, TYPES, 1)
    for key, ours in form.keys.items():
        if key in settings:
            config[ours] = settings.get(key)
            if isinstance(config[ours], (list, np.ndarray)):
                raise settings.error(key, "one number for all layers")
    for one, other in form.equal.items():
        if one in settings and settings.get(one) != settings.get(other):
            raise settings.error(one, f"{other}, {settings.get(other)!r:.80}")
    if form is ARCHITECTURES["gemma-embedding"]:
        config["query_pre_attn_scalar"] = settings.size("attention.key_length")
    _read_direction(settings, config, form.causal)
    if settings.get("rope.dimension_count") is not None:
        _require_whole_heads(settings, own)
    settings.choice("rope.scaling.type", ("none", "linear", "yarn"), default="none")
    scaling = settings.get("rope.scaling.type")
    if scaling not in (None, "none"):
        config["rope_scaling"] = _scaling(settings)
    for key, value, _ in settings.unread():
        if isinstance(value, (list, np.ndarray)) or value not in (0, ""):
            raise ModelError(
                f"{header.path}: {key} must be left out, got {value!r:.80}: fbg does not know what "
                f"it changes in the architecture {name}"
            )
    if any(tensor.dtype.isupper() for tensor in header.tensors.values()):
        config["quantization_config"] = {"quant_method": "gguf"}
    return config


def _rows(header: Header, name: str, default: int | None = None) -> int:
    tensor = header.tensors.get(name)
    if tensor is None and default is None:
        raise ModelError(f"{header.path}: tensor {name} is missing")
    return default or 0 if tensor is None else tensor.shape[0]


def _read_direction(settings: Settings, config: dict[str, Any], usual: bool) -> None:
    """Say whether a token sees later ones, in decoders alone."""
    causal = settings.flag("attention.causal", default=usual)
    if causal != usual:
        if causal:
            raise settings.error("attention.causal", "false")
        config["use_bidirectional_attention"] = True


def _require_whole_heads(settings: Settings, own: Mapping[str, Any]) -> None:
    key, heads = "rope.dimension_count", "attention.head_count"
    width = own.get("attention.key_length")
    if width is None:
        width = settings.size("embedding_length") // settings.size(heads)
    if settings.size(key) != width:
        raise settings.error(key, f"the width of a head, {width!r:.80}")


def _scaling(settings: Settings) -> dict[str, Any]:
    """Return rope_scaling of config.json."""
    names = _table("""
        rope.scaling.type type  rope.scaling.factor factor
        rope.scaling.original_context_length original_max_position_embeddings
        rope.scaling.yarn_beta_fast beta_fast  rope.scaling.yarn_beta_slow beta_slow""")
    return {ours: settings.get(key) for key, ours in names.items() if key in settings}


def named_tensors(header: Header) -> dict[str, StoredTensor]:
    """Return the tensors under the names of their family; raises ModelError for others."""
    name, form = find_architecture(header)
    found: dict[str, StoredTensor] = {}
    for stored, tensor in header.tensors.items():
        if form.dense and stored in DENSE:
            continue
        stem, _, kind = stored.rpartition(".")
        layer = LAYER.fullmatch(stem)
        known = form.tensors.get(stem)
        if layer is not None and layer[3] in form.layers:
            known = f"{form.layer}.{layer[2]}.{form.layers[layer[3]]}"
        if known is None or kind not in ("weight", "bias"):
            raise ModelError(
                f"{header.path}: tensor {stored:.80} has no place in the architecture {name}; "
                "without it, results would be wrong"
            )
        found[f"{known}.{kind}"] = tensor
    _add_types(header, form, found)
    return found


def dense_layers(header: Header) -> dict[str, StoredTensor]:
    """Return the layers behind the pooling by the names of their folders; raises ModelError."""
    _, form = find_architecture(header)
    found = {folder: header.tensors.get(name) for name, folder in DENSE.items() if form.dense}
    return {folder: tensor for folder, tensor in found.items() if tensor is not None}


def _add_types(header: Header, form: Architecture, found: dict[str, StoredTensor]) -> None:
    """Add a table of zeros where a family has token types, and the file none."""
    words = header.tensors.get(WORDS)
    types = form.tensors.get("token_types")
    if words is not None and types is not None and TYPES not in header.tensors:
        shape = 1, *words.shape[1:]
        found[f"{types}.weight"] = ComputedTensor.zeros(words, shape)


def read_gguf(path: Path) -> dict[str, StoredTensor]:
    """Return the tensors of a file under the names of its family, or that of a layer behind the
    pooling for its folder "in" the file; raises ModelError.
    """
    if path.is_file():
        return named_tensors(read_header(path))
    return {DENSE_WEIGHT: _dense(read_header(path.parent))[path.name]}


def _dense(header: Header) -> dict[str, StoredTensor]:
    """Return the layers behind the pooling by folder; raises ModelError."""
    found = dense_layers(header)
    for folder, tensor in found.items():
        module = Module("linear", {"weight": tensor})
        if len(tensor.shape) != 2:
            raise ModelError(f"{header.path}: tensor {tensor.name} must be a matrix")
        if tensor.dtype.isupper():
            found[folder] = read(Settings(header.path, {}))(module)
    return found


def files_of(path: Path) -> Mapping[str, bytes]:
    """Return the files of a model directory by name; raises ModelError."""
    try:
        with open_regular(path) as file:  # which notes that this load reads it
            state = FileState.of(os.fstat(file.fileno()))
    except OSError as error:
        raise ModelError(f"{path}: {error}") from None
    return _files_of(path, state)


@functools.lru_cache(maxsize=1)  # a load asks for them one by one
def _files_of(path: Path, state: FileState) -> Mapping[str, bytes]:
    header = read_header(path)
    files: dict[str, Any] = {"config.json": make_config(header)}
    tokenizer = make_tokenizer(header)
    if tokenizer is not None:
        files["tokenizer.json"] = tokenizer
    name = header.metadata["general.architecture"]
    settings = Settings(path, dict(header.metadata))
    number = settings.size(f"{name}.pooling_type", default=0, at_least=0)
    if number >= len(POOLINGS):
        known = ", ".join(f"{n} ({pooling})" for n, pooling in enumerate(POOLINGS))
        raise settings.error(f"{name}.pooling_type", f"one of {known}")
    dense = _dense(header)
    if number > 0:
        # Whoever reads such files normalizes vectors unless told otherwise.
        behind = [*((folder, "Dense") for folder in dense), ("9_Normalize", "Normalize")]
        kinds = [("", "Transformer"), ("1_Pooling", "Pooling"), *behind]
        files["modules.json"] = [{"path": folder, "type": kind} for folder, kind in kinds]
        files["1_Pooling/config.json"] = {"pooling_mode": POOLINGS[number]}
    elif dense:
        raise settings.error(f"{name}.pooling_type", "given, for the layers behind the pooling")
    for folder, tensor in dense.items():
        outputs, inputs = tensor.shape
        files[f"{folder}/config.json"] = {
            **{"in_features": inputs, "out_features": outputs, "bias": False},
            "activation_function": "torch.nn.Identity",
        }
    found = {file: json.dumps(values).encode() for file, values in files.items()}
    return found | {f"{folder}/{SAVED}": _saved(tensor) for folder, tensor in dense.items()}


def _saved(tensor: StoredTensor) -> bytes:
    """Return the file of safetensors of a layer behind the pooling, for whoever saves the model."""
    data = np.asarray(tensor.view(), np.float32).tobytes()
    place = {"dtype": "F32", "shape": tensor.shape, "data_offsets": (0, len(data))}
    header = json.dumps({DENSE_WEIGHT: place}).encode()
    return struct.pack("<Q", len(header)) + header + data
