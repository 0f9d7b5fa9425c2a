"""Settings of models with a vector for every token (ColBERT): lengths, prefixes, skipped tokens.

Three layouts have them: PyLate's, with all settings in config_sentence_transformers.json; one of
MultiVectorEncoder of sentence-transformers, with a module MultiVectorMask and with settings of
queries in sentence_bert_config.json; and the first one of ColBERT, of the architecture HF_ColBERT,
with artifact.metadata. Dense modules project each token, or a linear layer of the checkpoint.
"""

from __future__ import annotations

import string
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from fbg.checkpoints.files import read_optional, read_settings
from fbg.checkpoints.settings import Settings
from fbg.networks.config import EncoderConfig
from fbg.networks.dense import TOKENS, Dense, read_dense, read_normalize
from fbg.networks.unread import require_known_settings
from fbg.text.modules import Modules

PYLATE, PACKAGE = "ColBERT", "MultiVectorEncoder"
MASK = "MultiVectorMask"
ARTIFACT = "artifact.metadata"
KINDS = ("query", "document")
MARKERS = {"query": "[Q] ", "document": "[D] "}  # PyLate's prefixes for a model that states none


@dataclass(frozen=True)
class Expansion:
    """The token with which queries are filled up.

    length: length of the result. attended: others see the tokens. cuts: longer queries are cut.
    token: None: the mask token, or the end of a text if there is none.
    """

    length: int
    attended: bool
    cuts: bool = True
    token: str | None = None


@dataclass(frozen=True)
class MultiVector:
    """The layer behind the encoder for each token, and settings of queries and documents.

    lengths: at which they are cut. prefixes: texts before them. inserted: a prefix is one token.
    skiplist: tokens whose vectors are left out, of the kinds in skipped_in. columns: of the linear
    layer in the checkpoint, None if there is none. assumed: kinds whose prefix the files do not
    state; it is left out where the vocabulary does not have it as a token.
    """

    dense: tuple[Dense, ...]
    normalize: bool
    lengths: Mapping[str, int]
    prefixes: Mapping[str, str]
    inserted: bool
    expansion: Expansion | None
    skiplist: tuple[str, ...]
    skipped_in: tuple[str, ...]
    columns: int | None = None
    assumed: tuple[str, ...] = ()


def read_multi_vector(
    directory: Path,
    config: EncoderConfig,
    modules: Modules,
    settings: Settings,
    own: Settings,
    max_length: int,
) -> MultiVector | None:
    """Return the settings of a model that has a vector for every token, None for any other.

    settings: of the whole model. own: of the encoder. max_length: used if no other limit is set.
    Raises ModelError.
    """
    kind, folders = settings.get("model_type"), dict(modules.listed)
    if config.tasks.kind == "HF_ColBERT" and not modules.listed:
        return _of_artifact(directory / ARTIFACT, max_length)
    if kind not in (PYLATE, PACKAGE) and MASK not in folders:
        return None
    width, dense = config.output_size, []
    for name, folder in modules.listed:
        if name == "Dense":
            dense.append(read_dense(directory / folder, width, TOKENS))
            width = dense[-1].outputs
        elif name == "Normalize":
            read_normalize(directory / folder, TOKENS)
    prompts = settings.section("prompts")
    if kind == PYLATE:
        return _of_pylate(settings, tuple(dense), prompts, max_length)
    words: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ("document",)
    if MASK in folders:
        mask = read_settings(directory / folders[MASK] / "config.json")
        words = _names(mask, "skiplist_words", ())
        tasks = _names(mask, "skiplist_tasks", tasks)
        if mask.get("keep_only_token_ids") is not None:
            raise mask.error("keep_only_token_ids", "null")
        require_known_settings(mask, MASK)
    return MultiVector(
        tuple(dense),
        "Normalize" in folders,
        _lengths(own, dict.fromkeys(KINDS, max_length), max_length),
        {kind: _text(prompts, kind, "") for kind in KINDS},
        False,
        _expansion(own, max_length),
        words,
        tasks,
    )


def _of_pylate(
    settings: Settings, dense: tuple[Dense, ...], prompts: Settings, max_length: int
) -> MultiVector:
    lengths = _lengths(settings, {"query": 32, "document": 180}, max_length)
    expansion = None
    if settings.flag("do_query_expansion", default=True):
        attended = settings.flag("attend_to_expansion_tokens")
        expansion = Expansion(lengths["query"], attended)
    prefixes = {
        kind: _text(settings, f"{kind}_prefix", MARKERS[kind]) + _text(prompts, kind, "")
        for kind in KINDS
    }
    words = _names(settings, "skiplist_words", tuple(string.punctuation))
    assumed = tuple(kind for kind in KINDS if settings.get(f"{kind}_prefix") is None)
    return MultiVector(
        dense, True, lengths, prefixes, True, expansion, words, ("document",), assumed=assumed
    )


def _of_artifact(path: Path, max_length: int) -> MultiVector:
    metadata = read_optional(path)
    lengths = {}
    for kind, key, default in (("query", "query_maxlen", 32), ("document", "doc_maxlen", None)):
        given = metadata.get(key) is not None
        lengths[kind] = min(metadata.size(key) if given else default or max_length, max_length)
    for key, known in (("similarity", "cosine"), ("interaction", "colbert")):
        metadata.choice(key, (known,), default=known)
    return MultiVector(
        (),
        True,
        lengths,
        {
            "query": _text(metadata, "query_token_id", "[unused0]"),
            "document": _text(metadata, "doc_token_id", "[unused1]"),
        },
        True,
        Expansion(lengths["query"], metadata.flag("attend_to_mask_tokens")),
        tuple(string.punctuation) if metadata.flag("mask_punctuation", default=True) else (),
        ("document",),
        metadata.size("dim", 128),
    )


def _expansion(settings: Settings, max_length: int) -> Expansion | None:
    if settings.get("query_expansion") is None:
        return None
    section = settings.section("query_expansion")
    length = section.size("length")
    if length > max_length:
        raise section.error("length", f"at most {max_length}, which the model takes")
    token = section.get("token")
    if token is not None and not isinstance(token, str):
        raise section.error("token", "a string or null")
    strategy = section.choice("strategy", ("fixed", "min"))
    return Expansion(length, section.flag("attend"), strategy == "fixed", token)


def _lengths(settings: Settings, default: Mapping[str, int], max_length: int) -> dict[str, int]:
    lengths = {}
    for kind in KINDS:
        key = f"{kind}_length"
        given = settings.get(key) is not None
        lengths[kind] = min(settings.size(key) if given else default[kind], max_length)
    return lengths


def _text(settings: Settings, key: str, default: str) -> str:
    value = settings.get(key)
    if value is None:
        return default
    if not isinstance(value, str):
        raise settings.error(key, "a string or null")
    return value


def _names(settings: Settings, key: str, default: tuple[str, ...]) -> tuple[str, ...]:
    value = settings.get(key)
    if value is None:
        return default
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise settings.error(key, "a list of strings or null")
    return tuple(value)
