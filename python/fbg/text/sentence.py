"""modules.json: how sentence-transformers turn the hidden states of a sentence into one vector.

The files beside it set texts before each text (prompts), and the length at which it is cut.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType

from fbg.checkpoints.files import is_model_file, read_optional, read_settings
from fbg.checkpoints.settings import Settings
from fbg.errors import ModelError
from fbg.networks.config import EncoderConfig, read_pair_activation
from fbg.networks.dense import Dense, dense_files, read_dense, read_normalize
from fbg.networks.gliner import GLINER
from fbg.networks.static import StaticConfig
from fbg.networks.towers import PREPROCESSOR, PROCESSOR
from fbg.networks.unread import require_known_settings
from fbg.text.modules import (
    MODULES,
    OWN,
    QUANTIZER,
    ROUTER,
    Modules,
    read_encoder_settings,
    read_modules,
    require_known_outputs,
)
from fbg.text.multi_vector import ARTIFACT, MultiVector, read_multi_vector
from fbg.text.pair_template import CHAT_TEMPLATE, PairTemplate, read_pair_template
from fbg.text.query_weights import (
    QueryWeights,
    query_files,
    read_model_max_length,
    read_query_weights,
)
from fbg.text.token_heads import TOKEN_HEADS, TokenHeads, read_token_heads
from fbg.text.tokenizer_settings import TOKENIZER_CONFIG, TOKENIZER_FILES

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

PROMPTS = "config_sentence_transformers.json"


@dataclass(frozen=True)
class Splade:
    """The rule of sparse embeddings. sums: sum over the places of a text, instead of their maximum.
    twice: log(1 + x) is taken twice.
    """

    sums: bool = False
    twice: bool = False


@dataclass(frozen=True)
class SentenceConfig:
    """The steps before and after the encoder when a sentence is embedded."""

    pooling: str = "mean"
    normalize: bool = False
    max_length: int = 0
    lowercase: bool = False
    dense: tuple[Dense, ...] = ()
    prompts: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    default_prompt_name: str | None = None
    include_prompt: bool = True  # whether prompts are pooled, too
    rounded: bool = False  # whether elements are round(127 tanh(x)), as pplx-embed has them
    splade: Splade = Splade()
    score_tokens: tuple[int, ...] = ()  # for rerankers, as in TaskConfig
    pair_activation: str | None = None
    template: PairTemplate | None = None
    multi_vector: MultiVector | None = None  # for models with a vector for every token
    token_heads: TokenHeads | None = None  # for bge-m3
    query_weights: QueryWeights | None = None  # for sparse models whose queries pass no encoder
    truncate_dim: int | None = None  # the first dimensions that are kept, unless a call says more


def read_sentence_config(directory: Path, config: EncoderConfig) -> SentenceConfig:
    """Read modules.json and the files that it names; a directory without it means the pooling of
    the family, mostly the mean.
    """
    modules = read_modules(directory)
    shared, own = read_optional(directory / PROMPTS), read_encoder_settings(directory, modules)
    max_length, lowercase = _read_length(own, config)
    prompts, default_prompt_name = _read_prompts(shared)
    pooling, normalize, dense, width = config.pooling, False, [], config.dimension
    include_prompt, splade = True, Splade()
    tokens: tuple[int, ...] = ()
    multi_vector = read_multi_vector(directory, config, modules, shared, own, max_length)
    for kind, folder in modules.listed if multi_vector is None else ():
        if kind == "Pooling":
            settings = read_settings(directory / folder / "config.json")
            pooling = _pooling(settings, config)
            include_prompt = settings.flag("include_prompt", default=True)
            require_known_settings(settings, kind)
            if pooling == "weightedmean" and not include_prompt:
                raise settings.error("include_prompt", "true where tokens count by their place")
        elif kind == "SpladePooling":
            settings = read_settings(directory / folder / "config.json")
            splade = _splade(settings)
            require_known_settings(settings, kind)
        elif kind == "LogitScore":
            settings = read_settings(directory / folder / "config.json")
            tokens = _score_tokens(settings, config)
            require_known_settings(settings, kind)
        elif kind == "Dense":
            dense.append(read_dense(directory / folder, width))
            width = dense[-1].outputs
        elif kind == "Normalize":
            read_normalize(directory / folder)
            normalize = True
    if isinstance(config, StaticConfig) and config.normalize is not None:
        normalize = config.normalize
    prompt = None if default_prompt_name is None else prompts[default_prompt_name]
    result = SentenceConfig(
        pooling,
        normalize,
        max_length,
        lowercase,
        tuple(dense),
        prompts,
        default_prompt_name,
        include_prompt,
        modules.folder(QUANTIZER) is not None,
        splade,
        tokens,
        read_pair_activation(shared),
        _read_template(directory, modules.encoder, config, own, bool(tokens), prompt),
        multi_vector,
        read_token_heads(directory, config),
        _read_query_weights(directory, config, modules),
        _read_truncate_dim(shared, config),
    )
    require_known_outputs(own, config, result.template is not None)
    require_known_settings(own, OWN[0])
    require_known_settings(shared, PROMPTS)
    return result


def _read_truncate_dim(shared: Settings, config: EncoderConfig) -> int | None:
    if shared.get("truncate_dim") is None:
        return None
    if config.picture is not None or config.image is not None:
        raise shared.error("truncate_dim", "null, as vectors of pictures are not cut")
    return shared.size("truncate_dim")


def _read_query_weights(
    directory: Path, config: EncoderConfig, modules: Modules
) -> QueryWeights | None:
    if modules.query_table is None:
        return None
    if modules.folder("SpladePooling") is None:
        path = directory / (modules.router or ROUTER)
        raise ModelError(f"{path}: documents must have a module SpladePooling")
    return read_query_weights(directory / modules.query_table, config.vocab_size)


def _read_template(
    directory: Path,
    encoder: str,
    config: EncoderConfig,
    settings: Settings,
    scores: bool,
    prompt: str | None,
) -> PairTemplate | None:
    is_qwen3 = is_first_qwen3_reranker(directory, config)
    if not scores and not is_qwen3:
        return None
    return read_pair_template(directory / encoder, settings, prompt, is_qwen3=is_qwen3)


def is_first_qwen3_reranker(directory: Path, config: EncoderConfig) -> bool:
    """Whether it may be a Qwen3-Reranker as first published, without files that say so."""
    kind = (config.model_type, config.tasks.kind)
    return kind == ("qwen3", "ForCausalLM") and not is_model_file(directory / MODULES)


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


def _read_length(settings: Settings, config: EncoderConfig) -> tuple[int, bool]:
    """Return the tokens at which sentences are cut, and whether they are lower-cased first."""
    if isinstance(config, StaticConfig):
        return config.max_length, False
    lowercase, longest = settings.flag("do_lower_case"), None
    for section in (settings.section("tokenizer_args"), settings.section("processor_kwargs")):
        if section.get("model_max_length") is not None:
            longest = section.size("model_max_length")
    if longest is None and settings.get("max_seq_length") is not None:
        longest = settings.size("max_seq_length")
    if longest is None:
        longest = read_model_max_length(settings.path.parent / TOKENIZER_CONFIG)
    return config.max_length if longest is None else min(longest, config.max_length), lowercase


def _read_prompts(settings: Settings) -> tuple[Mapping[str, str], str | None]:
    prompts, default = settings.get("prompts") or {}, settings.get("default_prompt_name")
    if not isinstance(prompts, dict) or not all(isinstance(p, str) for p in prompts.values()):
        raise settings.error("prompts", "an object of strings")
    if default is not None and default not in tuple(prompts):
        raise settings.error("default_prompt_name", "null or the name of a prompt")
    return MappingProxyType(prompts), default


def sentence_files(directory: Path) -> list[str]:
    """Return the files of a model except its weights, relative to the directory."""
    modules = read_modules(directory)
    files = [MODULES, PROMPTS, ARTIFACT, *TOKEN_HEADS, GLINER, "config.json"]
    if modules.router is not None:
        files.append(modules.router)
    own = ("config.json", *TOKENIZER_FILES, *OWN, CHAT_TEMPLATE)
    for name in (*own, PREPROCESSOR, PROCESSOR):
        files.append(str(Path(modules.encoder) / name))
    for kind, folder in modules.listed:
        if Modules.place(kind) == "Pooling" or kind in ("MultiVectorMask", "Normalize"):
            files.append(f"{folder}/config.json")
        elif kind == "Dense":
            files += dense_files(folder)
    if modules.query_table is not None:
        files += query_files(modules.query_table)
    return [name for name in dict.fromkeys(files) if is_model_file(directory / name)]


def _splade(settings: Settings) -> Splade:
    strategy = settings.choice("pooling_strategy", ("max", "sum"), default="max")
    activation = settings.choice("activation_function", ("relu", "log1p_relu"), default="relu")
    return Splade(strategy == "sum", activation == "log1p_relu")


def _pooling(settings: Settings, config: EncoderConfig) -> str:
    sizes = [settings.get(key) for key in ("word_embedding_dimension", "embedding_dimension")]
    size = sizes[0] or sizes[1]
    if size not in (None, config.output_size):
        raise ModelError(
            f"{settings.path}: word_embedding_dimension must be {config.output_size}, "
            f"the width of its hidden states, got {size!r}"
        )
    modes = [mode for key, mode in MODES.items() if settings.flag(key)]
    if settings.get("pooling_mode") is not None:
        return settings.choice("pooling_mode", SUPPORTED)
    if len(modes) != 1:
        raise ModelError(
            f"{settings.path}: exactly one pooling mode of {', '.join(SUPPORTED)} is supported, "
            f"got {', '.join(modes) or 'none'}"
        )
    return modes[0]
