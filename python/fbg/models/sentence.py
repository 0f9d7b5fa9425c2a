"""modules.json: how sentence-transformers turn the hidden states of a sentence into one vector."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from fbg.errors import ModelError
from fbg.models.config import EncoderConfig
from fbg.models.files import Settings, read_json, read_settings

__all__ = ["SentenceConfig", "read_sentence_config", "sentence_files"]

# Pooling modes under their names in 1_Pooling/config.json, and those that we have.
MODES = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
SUPPORTED = ("cls", "mean", "max")

SETTINGS, MODULES = "sentence_bert_config.json", "modules.json"


@dataclass(frozen=True)
class SentenceConfig:
    """What follows the encoder when a sentence is embedded."""

    pooling: str = "mean"
    normalize: bool = False
    max_length: int = 0
    lowercase: bool = False


def read_sentence_config(directory: Path, config: EncoderConfig) -> SentenceConfig:
    """Read modules.json and what it names; a directory without it means mean pooling."""
    max_length, lowercase = config.max_length, False
    path = directory / SETTINGS
    if path.is_file():
        settings = read_settings(path)
        if settings.get("max_seq_length") is not None:
            max_length = min(max_length, settings.size("max_seq_length"))
        lowercase = settings.flag("do_lower_case")

    path = directory / MODULES
    if not path.is_file():
        return SentenceConfig(max_length=max_length, lowercase=lowercase)
    pooling, normalize = "mean", False
    for kind, folder in _modules(path):
        if kind == "Pooling":
            pooling = _pooling(read_settings(directory / folder / "config.json"), config)
        elif kind == "Normalize":
            normalize = True
        elif kind != "Transformer":
            supported = "Transformer, Pooling, Normalize"
            raise ModelError(f"{path}: module {kind} is not among the supported: {supported}")
    return SentenceConfig(pooling, normalize, max_length, lowercase)


def sentence_files(directory: Path) -> list[str]:
    """Return the files that `read_sentence_config` reads, relative to the directory."""
    files = [SETTINGS, MODULES]
    if (directory / MODULES).is_file():
        for kind, folder in _modules(directory / MODULES):
            if kind == "Pooling":
                files.append(f"{folder}/config.json")
    for name in files:
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise ModelError(f"{directory / MODULES}: {name} is not in the directory of the model")
    return [name for name in files if (directory / name).is_file()]


def _modules(path: Path) -> list[tuple[str, str]]:
    """Return the (kind, folder) of each module; the kind is the last part of its class name."""
    modules = read_json(path)
    if not isinstance(modules, list):
        raise ModelError(f"{path}: must hold a JSON array, got {type(modules).__name__}")
    result = []
    for module in modules:
        fields = module if isinstance(module, dict) else {}
        kind, folder = fields.get("type"), fields.get("path")
        if not isinstance(kind, str) or not isinstance(folder, str):
            raise ModelError(f"{path}: every module must have a type and a path, got {module!r}")
        result.append((kind.rpartition(".")[2], folder))
    return result


def _pooling(settings: Settings, config: EncoderConfig) -> str:
    size = settings.get("word_embedding_dimension") or settings.get("embedding_dimension")
    if size not in (None, config.hidden_size):
        raise ModelError(
            f"{settings.path}: word_embedding_dimension must be {config.hidden_size}, "
            f"the hidden_size of the model, got {size!r}"
        )
    if settings.get("pooling_mode") is not None:
        return settings.choice("pooling_mode", SUPPORTED)
    modes = [mode for key, mode in MODES.items() if settings.flag(key)]
    if len(modes) != 1 or modes[0] not in SUPPORTED:
        raise ModelError(
            f"{settings.path}: exactly one pooling mode of {', '.join(SUPPORTED)} is supported, "
            f"got {', '.join(modes) or 'none'}"
        )
    return modes[0]
