"""The arguments of constructors of sentence-transformers: which model, from where, with what."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from fbg.checkpoints.files import read_optional
from fbg.model.directory import find_directory
from fbg.model.model import Model

__all__ = ["ModelArguments"]

Options = Mapping[str, Any] | None

# Ids without an organization on the hub that belong to no organization.
ORIGINAL = re.compile(
    r"albert-(base|x{0,2}large)-v[12]|bert-base-chinese|camembert-base|distilroberta-base|"
    r"bert-(base|large)-(multilingual-|german-(dbmdz-)?)?(un)?cased(-whole-word-masking)?"
    r"(-finetuned-(mrpc|squad))?|distilbert-base-(german-|multilingual-)?(un)?cased"
    r"(-distilled-squad|-finetuned-sst-2-english)?|roberta-(base|large)(-mnli|-openai-detector)?|"
    r"xlm-roberta-(base|large)(-finetuned-conll0\d-\w+)?|t5-(small|base|large|3b|11b)",
    re.ASCII | re.IGNORECASE,
)
# Keys that say how torch computes or loads, on which no result depends here.
NO_EFFECT = {
    "model_kwargs": "attn_implementation low_cpu_mem_usage use_safetensors trust_remote_code",
    "processor_kwargs": "padding_side use_fast trust_remote_code clean_up_tokenization_spaces",
    "config_kwargs": "*dropout* trust_remote_code attn_implementation",
}


@dataclass(frozen=True)
class ModelArguments:
    """The arguments that all constructors have; dtype and num_threads are those of `fbg.load`.

    organization: of hub ids that name none.
    """

    organization: str
    model_name_or_path: Any
    modules: object
    device: object
    prompts: Mapping[str, str | None] | None
    default_prompt_name: str | None
    cache_folder: str | None
    revision: str | None
    local_files_only: bool
    token: bool | str | None
    model_kwargs: Options
    processor_kwargs: Options
    config_kwargs: Options
    model_card_data: Any
    backend: str
    dtype: str | None
    num_threads: int | None

    @classmethod
    def of(cls, organization: str, given: Mapping[str, Any]) -> ModelArguments:
        """Return those of the arguments of a constructor, by name, that all have."""
        names = [field.name for field in fields(cls) if field.name != "organization"]
        return cls(organization, **{name: given[name] for name in names})

    def find(self, where: str) -> Path:
        """Return the directory of the model.

        Raises ModelError for the model, and TypeError or ValueError for an argument that asks for
        torch, or for another library that computes.
        """
        if self.modules is not None:
            raise ValueError(
                f"{where}: modules must be None, got {type(self.modules).__name__}: modules of "
                "torch are not run; save them with sentence-transformers, and pass the directory"
            )
        if not isinstance(self.model_name_or_path, (str, os.PathLike)):
            raise TypeError(
                f"{where}: model_name_or_path must be a path or a hub id, got "
                f"{type(self.model_name_or_path).__name__}"
            )
        if self.backend != "torch":
            raise ValueError(
                f"{where}: backend must be 'torch', got {self.backend!r}: fbg computes by itself; "
                "fbg.load loads ONNX files"
            )
        name = os.fspath(self.model_name_or_path)
        bare = "/" not in name and not os.path.exists(name) and not ORIGINAL.fullmatch(name)
        return find_directory(
            f"{self.organization}/{name}" if bare else name,
            revision=self.revision,
            cache_folder=self.cache_folder or os.getenv("SENTENCE_TRANSFORMERS_HOME"),
            local_files_only=self.local_files_only,
            token=self.token,
        )

    def precision(self, where: str) -> str | None:
        """Return the dtype of `fbg.load` that was asked for, here or among model_kwargs."""
        given = dict(self.model_kwargs or {})
        wanted = [given.pop("dtype", None), given.pop("torch_dtype", None)]
        if given.pop("device_map", None) not in (None, "auto", "cpu"):
            raise ValueError(f"{where}: model_kwargs['device_map'] must be 'cpu' or 'auto'")
        _require_no_effect(where, "model_kwargs", given)
        names = [str(name).removeprefix("torch.") for name in wanted if name is not None]
        chosen = [name for name in names if name != "auto"]
        return self.dtype or (chosen[0] if chosen else None)

    def changed(self, model: Model, where: str) -> Model:
        """Return the model as processor_kwargs and config_kwargs ask for it; raises ValueError."""
        given = dict(self.processor_kwargs or {})
        length = given.pop("model_max_length", None)
        side = given.pop("truncation_side", None)
        _require_no_effect(where, "processor_kwargs", given)
        folder = model.tokenizer.path.parent
        settings = read_optional(folder / "config.json")
        wanted = dict(self.config_kwargs or {})
        others = {key: value for key, value in wanted.items() if settings.get(key) != value}
        _require_no_effect(where, "config_kwargs", others)
        if length is not None:
            model = model.with_max_length(length)
        return model if side is None else model.with_truncation_side(side)


def _require_no_effect(where: str, argument: str, keys: Iterable[str]) -> None:
    """Raise ValueError for the first key of an argument that would change something."""
    patterns = NO_EFFECT[argument].split()
    for key in keys:
        if not any(fnmatchcase(key, pattern) for pattern in patterns):
            raise ValueError(
                f"{where}: {argument}[{key!r}] is not supported: save the model with it by "
                "sentence-transformers, and load that"
            )
