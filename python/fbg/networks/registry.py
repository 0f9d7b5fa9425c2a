"""The families of networks, found by the model_type of config.json.

A family is added by an entry in a file of families/.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from fbg.checkpoints.adapters import Adapter, merge_adapter
from fbg.checkpoints.checkpoint import Checkpoint
from fbg.checkpoints.files import read_settings
from fbg.checkpoints.mapped_file import StoredTensor
from fbg.checkpoints.quantized.formats import read_quantization
from fbg.checkpoints.settings import Settings
from fbg.matmul.vocabulary import columns_of
from fbg.networks import families
from fbg.networks.config import EncoderConfig, Family
from fbg.networks.gliner import GLINER, read_gliner, read_gliner_head
from fbg.networks.heads import read_head
from fbg.networks.names import HeadNames
from fbg.networks.source import CheckpointSource, SavedSource, Source
from fbg.networks.static import StaticConfig, read_saved_static, read_static
from fbg.networks.tensors import read_transformer
from fbg.networks.towers import read_logits
from fbg.networks.transformer import Transformer, with_dtype
from fbg.networks.unread import reason_to_leave, require_known_settings
from fbg.saved_file import SavedFile

FAMILIES: dict[str, Family] = {family.model_type: family for family in families.FAMILIES}


class Borrowed(NamedTuple):
    """A family whose files on the hub have the name of another.

    is_meant: whether settings belong to this family.
    """

    family: str
    is_meant: Callable[[Settings], bool]


BORROWED = {
    "bert": Borrowed("jina_bert", lambda s: s.get("position_embedding_type") == "alibi"),
    "xlm-roberta": Borrowed(
        "xlm-roberta-flash",
        lambda s: s.get("position_embedding_type") == "rotary" or "use_flash_attn" in s,
    ),
}

# Other names of families, and settings that they stand for.
RENAMED: dict[str, dict[str, Any]] = {
    "bidirectional_pplx_qwen3": {
        **{"model_type": "qwen3", "use_bidirectional_attention": True},
        **{"id2label": None, "num_labels": None},  # states are not projected
    }
}

# Keys that say whether a token sees later ones, and what they are where it does not.
DIRECTIONS = {
    "is_causal": True,
    "causal": True,
    "use_bidirectional_attention": False,
    "is_bidirectional": False,
    "bidirectional": False,
}

COLBERT = HeadNames("linear", output_biased=False)  # prefix of the encoder in any family


def read_config(path: Path) -> EncoderConfig:
    """Read and check config.json, or gliner_config.json beside it; raises ModelError."""
    if (path.parent / GLINER).is_file():
        return read_gliner(path.parent / GLINER, _read_config)
    return _read_config(read_settings(path))


def _read_config(settings: Settings) -> EncoderConfig:
    borrowed = BORROWED.get(str(settings.get("model_type")))
    if borrowed is not None and borrowed.is_meant(settings):
        settings = settings.replaced(model_type=borrowed.family)
    settings = settings.replaced(**RENAMED.get(str(settings.get("model_type")), {}))
    family = FAMILIES[settings.choice("model_type", tuple(FAMILIES))]
    positions = family.positions
    settings.choice("position_embedding_type", positions, default=positions[0])
    for decoding in ("is_decoder", "add_cross_attention"):
        if settings.flag(decoding):
            raise settings.error(decoding, "false: only encoders are supported")
    quantization = read_quantization(settings)
    config = dataclasses.replace(family.read_config(settings), quantization=quantization)
    for key, value in DIRECTIONS.items():
        if settings.get(key) is not None and settings.flag(key) != (value == config.causal):
            raise settings.error(key, f"{str(value == config.causal).lower()} in this family")
    require_known_settings(settings, family.model_type)
    return config


def open_checkpoint(
    directory: Path, config: EncoderConfig, adapter: Adapter | None = None, *, reads: bool = True
) -> Checkpoint:
    """Read the headers of the files of a Hugging Face directory; raises ModelError.

    adapter: merged into the weights. reads: as of `Checkpoint`.
    """
    if isinstance(config, StaticConfig):
        return Checkpoint(directory, "", reads=reads)

    def change(tensors: dict[str, StoredTensor]) -> dict[str, StoredTensor]:
        if config.quantization is not None:
            tensors = config.quantization.decoded(tensors)
        return merge_adapter(directory / "config.json", adapter, tensors)

    return Checkpoint(directory, _anchor(config), change, reads=reads)


def read_opened(checkpoint: Checkpoint, config: EncoderConfig, num_threads: int) -> Transformer:
    """Read the network of a checkpoint; raises ModelError.

    The weights of the encoder's linear layers stay in the file, unpacked; all others are float32.

    num_threads: threads that read and pack weights.
    """
    if isinstance(config, StaticConfig):
        return read_static(config, checkpoint.tensors, checkpoint.reads)
    # Names of a head are complete: no prefix is put before them.
    of_head = CheckpointSource(checkpoint.without_prefix(), num_threads)
    transformer = _read(CheckpointSource(checkpoint, num_threads), of_head, config)
    family, kind = FAMILIES[config.model_type], config.tasks.kind
    heads = {**family.heads, **({"HF_ColBERT": COLBERT} if kind == "HF_ColBERT" else {})}
    read = heads.get(kind) if transformer.head is not None else None
    tied = kind == "ForMaskedLM" and config.tasks.tied
    quantized = config.quantization is not None  # some packages write biases that layers lack

    def reason(name: str) -> str | None:
        if quantized and name.endswith(".bias") and checkpoint.is_zero(name):
            return "biases of zeros"
        return reason_to_leave(name, config, heads.values(), read, tied)

    checkpoint.require_all_read(reason)
    anchor = _anchor(config)
    if read is not None and tied:
        checkpoint.require_copy(anchor, f"{read.output}.weight")
    checkpoint.require_copy(anchor, "encoder.embed_tokens.weight")  # of T5
    return transformer


def _anchor(config: EncoderConfig) -> str:
    """Return a tensor that every checkpoint has, after the prefix of models with a head."""
    names = config.layouts[0]
    return f"{names.patches or names.word}.weight"


def read_saved(file: SavedFile, config: EncoderConfig, dtype: str) -> Transformer:
    """Map the network of a model that was saved with `dtype`; raises ModelError."""
    source = SavedSource(file, dtype, file.metadata_object("higher_precision"))
    transformer = _read(source, source, config)
    file.require_all_read()
    return with_dtype(transformer, dtype)


def _read(source: Source, of_head: Source, config: EncoderConfig) -> Transformer:
    if isinstance(config, StaticConfig):
        return read_saved_static(source, config)
    family = FAMILIES[config.model_type]
    transformer = read_transformer(source, config)
    if config.image is not None:
        image, logits = read_transformer(source, config.image), read_logits(source)
        transformer = dataclasses.replace(transformer, image=image, logits=logits)
    if config.projected:
        name, shape = config.layouts[0].last_projection, (config.hidden_size, config.projected)
        last = of_head.linear("projection", [name], *shape, bias=False, dtype="float32")
        transformer = dataclasses.replace(transformer, projection=last)
    if config.tasks.spans is not None:
        return dataclasses.replace(transformer, spans=read_gliner_head(of_head, config))
    names = COLBERT if config.tasks.kind == "HF_ColBERT" else family.heads.get(config.tasks.kind)
    if names is None:
        return transformer
    width = columns_of(transformer.embeddings.word)
    has_pooler = transformer.pooler is not None
    head = read_head(of_head, config, names, width, has_pooler)
    return dataclasses.replace(transformer, head=head)
