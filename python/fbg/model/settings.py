"""The settings of a model directory and its tokenizer, read before any weights.

`fbg.load` and `fbg info` both read them here, and then the weights or only their headers.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

from fbg.checkpoints.files import read_optional
from fbg.networks.config import EncoderConfig
from fbg.networks.registry import read_config
from fbg.networks.static import StaticConfig, read_static_config
from fbg.saved_file import WEIGHTS
from fbg.text.modules import read_modules
from fbg.text.sentence import (
    SentenceConfig,
    is_first_qwen3_reranker,
    read_sentence_config,
)
from fbg.text.tokenization import TextTokenizer


@dataclass(frozen=True)
class ModelSettings:
    """folder: has the files of the encoder. static: the settings of static embeddings, if any."""

    folder: Path
    config: EncoderConfig
    sentence: SentenceConfig
    static: StaticConfig | None
    tokenizer: TextTokenizer


def read_model_settings(directory: Path) -> ModelSettings:
    """Read the settings; raises ModelError naming the file and the key that is wrong."""
    static = read_static_config(directory, WEIGHTS)
    folder = directory / read_modules(directory).encoder if static is None else static.folder
    config = read_config(folder / "config.json") if static is None else static
    sentence = read_sentence_config(directory, config)
    tokenizer = TextTokenizer(
        folder / "tokenizer.json",
        sentence.max_length,
        sentence.lowercase,
        special_tokens=static is None,
        skip_unknown=static is not None and static.skips_unknown,
    )
    config = _with_head(config, directory, sentence, tokenizer)
    return ModelSettings(folder, config, sentence, static, tokenizer)


def _with_head(
    config: EncoderConfig, directory: Path, sentence: SentenceConfig, tokenizer: TextTokenizer
) -> EncoderConfig:
    """Return the settings with facts about the head from files other than config.json: the tokens
    whose logits are a score, and the columns of a projection.
    """
    tokens = sentence.score_tokens
    if is_first_qwen3_reranker(directory, config) and tokenizer.is_present:
        found = [tokenizer.token_id(word) for word in ("yes", "no")]
        known = [token for token in found if token is not None and token < config.vocab_size]
        tokens = tuple(known) if len(known) == 2 else ()
    tasks = replace(config.tasks, score_tokens=tokens)
    if config.filler is not None:
        config = replace(config, filler=_padding(config, directory, tokenizer))
    if sentence.multi_vector is not None and sentence.multi_vector.columns is not None:
        tasks = replace(tasks, columns=sentence.multi_vector.columns)
    return replace(config, tasks=tasks)


def _padding(config: EncoderConfig, directory: Path, tokenizer: TextTokenizer) -> int | None:
    """Return the token that fills up texts: that of the tokenizer, else that of config.json."""
    given = read_optional(directory / "tokenizer_config.json").get("pad_token")
    word = given.get("content") if isinstance(given, dict) else given
    found = tokenizer.token_id(word) if isinstance(word, str) and tokenizer.is_present else None
    return found if found is not None and found < config.vocab_size else config.filler
