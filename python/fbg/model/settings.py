"""The settings of a model directory and its tokenizer, read before any weights.

`fbg.load` and `fbg info` both read them here, and then the weights or only their headers.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fbg.checkpoints.saved_directory import WEIGHTS
from fbg.model.head import with_head
from fbg.networks.config import EncoderConfig
from fbg.networks.registry import read_config
from fbg.networks.static import StaticConfig, read_static_config
from fbg.text.modules import read_modules
from fbg.text.sentence import SentenceConfig, read_sentence_config
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
    config = with_head(config, directory, sentence, tokenizer)
    return ModelSettings(folder, config, sentence, static, tokenizer)
