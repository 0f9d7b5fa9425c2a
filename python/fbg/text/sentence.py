"""modules.json: how sentence-transformers turn the hidden states of a sentence into one vector.

And the files beside it: what is put before a text (prompts), and the length at which it is cut.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from fbg.checkpoints.files import Settings, read_json, read_settings
from fbg.errors import ModelError
from fbg.networks.config import EncoderConfig
from fbg.networks.dense import Dense, dense_files, read_dense
from fbg.networks.static import StaticConfig
from fbg.networks.task_config import read_pair_activation
from fbg.text.multi_vector import ARTIFACT, MultiVector, read_multi_vector
from fbg.text.pair_template import PairTemplate, read_pair_template
from fbg.text.token_heads import TOKEN_HEADS, TokenHeads, read_token_heads

__all__ = [
    "SentenceConfig",
    "is_first_qwen3_reranker",
    "read_sentence_config",
    "sentence_files",
]

# Pooling modes under their names in 1_Pooling/config.json.
MODES = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}
SUPPORTED = tuple(MODES.values())

# Modules behind the transformer, in the only order that is supported. Dense ones may recur.
MODULES_ORDER = ("Transformer", "Pooling", "Dense", "MultiVectorMask", "Normalize")
# Modules that take the place of another: those of other kinds of models.
INSTEAD_OF = {
    "MLMTransformer": "Transformer",
    "SpladePooling": "Pooling",
    "StaticEmbedding": "Transformer",
    "LogitScore": "Pooling",
}
NOTHING = "Dropout"  # does nothing at inference

SETTINGS, MODULES = "sentence_bert_config.json", "modules.json"
PROMPTS, TOKENIZER = "config_sentence_transformers.json", "tokenizer_config.json"


@dataclass(frozen=True)
class Splade:
    """How sparse embeddings are made. sums: over the places of a text, instead of their maximum.
    twice: log(1 + x) is taken twice.
    """

    sums: bool = False
    twice: bool = False


@dataclass(frozen=True)
class SentenceConfig:
    """What comes before and after the encoder when a sentence is embedded."""

    pooling: str = "mean"
    normalize: bool = False
    max_length: int = 0
    lowercase: bool = False
    dense: tuple[Dense, ...] = ()
    prompts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    default_prompt_name: str | None = None
    include_prompt: bool = True  # in what is pooled
    splade: Splade = Splade()
    score_tokens: tuple[int, ...] = ()  # of rerankers, as TaskConfig has them
    pair_activation: str | None = None
    template: PairTemplate | None = None
    multi_vector: MultiVector | None = None  # of models with a vector for every token
    token_heads: TokenHeads | None = None  # of bge-m3


def read_sentence_config(directory: Path, config: EncoderConfig) -> SentenceConfig:
    """Read modules.json and what it names; a directory without it means mean pooling."""
    max_length, lowercase = _read_length(directory, config)
    prompts, default_prompt_name = _read_prompts(directory / PROMPTS)
    pooling, normalize, dense, width = "mean", False, [], config.hidden_size
    include_prompt, splade = True, Splade()
    tokens: tuple[int, ...] = ()
    modules = _modules(directory / MODULES)
    multi_vector = read_multi_vector(directory, config, modules, max_length)
    for kind, folder in modules if multi_vector is None else []:
        if kind == "Pooling":
            settings = read_settings(directory / folder / "config.json")
            pooling = _pooling(settings, config)
            include_prompt = settings.flag("include_prompt", default=True)
            if pooling == "weightedmean" and not include_prompt:
                raise settings.error("include_prompt", "true where tokens count by their place")
        elif kind == "SpladePooling":
            splade = _splade(read_settings(directory / folder / "config.json"))
        elif kind == "LogitScore":
            tokens = _score_tokens(read_settings(directory / folder / "config.json"), config)
        elif kind == "Dense":
            dense.append(read_dense(directory / folder, width))
            width = dense[-1].outputs
        elif kind == "Normalize":
            normalize = True
    if isinstance(config, StaticConfig) and config.normalize is not None:
        normalize = config.normalize
    prompt = None if default_prompt_name is None else prompts[default_prompt_name]
    return SentenceConfig(
        pooling,
        normalize,
        max_length,
        lowercase,
        tuple(dense),
        prompts,
        default_prompt_name,
        include_prompt,
        splade,
        tokens,
        _read_activation(directory / PROMPTS),
        _read_template(directory, config, bool(tokens), prompt),
        multi_vector,
        read_token_heads(directory, config),
    )


def _read_activation(path: Path) -> str | None:
    return read_pair_activation(read_settings(path)) if path.is_file() else None


def _read_template(
    directory: Path, config: EncoderConfig, scores: bool, prompt: str | None
) -> PairTemplate | None:
    is_qwen3 = is_first_qwen3_reranker(directory, config)
    if not scores and not is_qwen3:
        return None
    return read_pair_template(directory, prompt, is_qwen3=is_qwen3)


def is_first_qwen3_reranker(directory: Path, config: EncoderConfig) -> bool:
    """Whether it may be a Qwen3-Reranker as first published, without files that say so."""
    kind = (config.model_type, config.tasks.kind)
    return kind == ("qwen3", "ForCausalLM") and not (directory / MODULES).is_file()


def _score_tokens(settings: Settings, config: EncoderConfig) -> tuple[int, ...]:
    settings.choice("module_input_name", ("causal_logits",), default="causal_logits")
    if config.tasks.kind != "ForCausalLM":
        raise ModelError(
            f"{settings.path}: LogitScore requires an architecture that ends in ForCausalLM, got "
            f"{', '.join(config.tasks.architectures) or 'none'}"
        )
    keys = ["true_token_id"]
    if settings.get("false_token_id") is not None:
        keys.append("false_token_id")
    for key in keys:
        if settings.size(key, at_least=0) >= config.vocab_size:
            raise settings.error(key, f"a token of the vocabulary, below {config.vocab_size}")
    return tuple(settings.size(key, at_least=0) for key in keys)


def _read_length(directory: Path, config: EncoderConfig) -> tuple[int, bool]:
    """Return the tokens at which sentences are cut, and whether they are lower-cased first."""
    longest, lowercase = None, False
    if isinstance(config, StaticConfig):
        return config.max_length, False
    if (directory / SETTINGS).is_file():
        settings = read_settings(directory / SETTINGS)
        lowercase = settings.flag("do_lower_case")
        if settings.get("max_seq_length") is not None:
            longest = settings.size("max_seq_length")
    if longest is None and (directory / TOKENIZER).is_file():
        settings = read_settings(directory / TOKENIZER)
        value = settings.get("model_max_length")  # transformers write 1e30 for "no limit"
        if value is not None:
            if type(value) not in (int, float) or not 1 <= value <= sys.float_info.max:
                raise settings.error("model_max_length", "a number of at least 1")
            longest = int(value)
    return config.max_length if longest is None else min(longest, config.max_length), lowercase


def _read_prompts(path: Path) -> tuple[Mapping[str, str], str | None]:
    if not path.is_file():
        return MappingProxyType({}), None
    settings = read_settings(path)
    prompts, default = settings.get("prompts") or {}, settings.get("default_prompt_name")
    if not isinstance(prompts, dict) or not all(isinstance(p, str) for p in prompts.values()):
        raise settings.error("prompts", "an object of strings")
    if default is not None and default not in tuple(prompts):
        raise settings.error("default_prompt_name", "null or the name of a prompt")
    return MappingProxyType(prompts), default


def sentence_files(directory: Path) -> list[str]:
    """Return the files that `read_sentence_config` reads, relative to the directory."""
    files = [SETTINGS, MODULES, PROMPTS, TOKENIZER, "chat_template.jinja", ARTIFACT, *TOKEN_HEADS]
    for kind, folder in _modules(directory / MODULES):
        if kind == "StaticEmbedding":
            files.append(f"{folder}/tokenizer.json")
        elif INSTEAD_OF.get(kind, kind) == "Pooling" or kind == "MultiVectorMask":
            files.append(f"{folder}/config.json")
        elif kind == "Dense":
            files += dense_files(folder)
    for name in files:
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise ModelError(f"{directory / MODULES}: {name} is not in the directory of the model")
    return [name for name in files if (directory / name).is_file()]


def _modules(path: Path) -> list[tuple[str, str]]:
    """Return the (kind, folder) of each module; the kind is the last part of its class name."""
    if not path.is_file():
        return []
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
    result = [module for module in result if module[0] != NOTHING]
    _check_order(path, [kind for kind, _ in result])
    return result


def _check_order(path: Path, kinds: list[str]) -> None:
    kinds = [INSTEAD_OF.get(kind, kind) for kind in kinds]
    for n, kind in enumerate(kinds):
        if kind not in MODULES_ORDER:
            supported = ", ".join((*MODULES_ORDER, NOTHING))
            raise ModelError(f"{path}: module {kind} must be one of {supported}")
        before = [MODULES_ORDER.index(k) for k in kinds[:n]]
        rank = MODULES_ORDER.index(kind)
        if any(r > rank or (r == rank and kind != "Dense") for r in before):
            raise ModelError(
                f"{path}: modules must come in the order {', '.join(MODULES_ORDER)}, and only "
                f"Dense may be repeated, got {', '.join(kinds)}"
            )


def _splade(settings: Settings) -> Splade:
    strategy = settings.choice("pooling_strategy", ("max", "sum"), default="max")
    activation = settings.choice("activation_function", ("relu", "log1p_relu"), default="relu")
    return Splade(strategy == "sum", activation == "log1p_relu")


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
    if len(modes) != 1:
        raise ModelError(
            f"{settings.path}: exactly one pooling mode of {', '.join(SUPPORTED)} is supported, "
            f"got {', '.join(modes) or 'none'}"
        )
    return modes[0]
