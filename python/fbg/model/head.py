"""Facts about the head of a model that stand in other files than config.json."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from fbg.checkpoints.files import read_optional
from fbg.networks.config import EncoderConfig
from fbg.text.sentence import SentenceConfig, is_first_qwen3_reranker
from fbg.text.tokenization import TextTokenizer


def with_head(
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
