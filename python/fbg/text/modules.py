"""modules.json: the modules of sentence-transformers that a text passes, and their folders.

A Router has one list of modules for queries and another for documents. The model gets the modules
of documents. The modules of queries must be the same ones, or a single table of weights for tokens
(query_weights.py).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

from fbg.checkpoints.files import (
    folder_within,
    is_model_file,
    read_json,
    read_optional,
    read_settings,
)
from fbg.checkpoints.settings import Settings
from fbg.errors import ModelError
from fbg.networks.config import EncoderConfig
from fbg.networks.unread import require_known_settings

MODULES, ROUTER = "modules.json", "router_config.json"
# Settings of the encoder as a module; old releases named the file by the family.
OWN = tuple(
    f"sentence_{family}_config.json"
    for family in ("bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
)

TASKS = ("feature-extraction", "sequence-classification", "text-generation", "fill-mask")

# Modules behind the transformer, in the only order that is supported. Dense ones may recur.
QUANTIZER = "FlexibleQuantizer"  # of pplx-embed, whose directory has the code
ORDER = ("Transformer", "Pooling", "Dense", "MultiVectorMask", "Normalize", QUANTIZER)
# Modules that replace another one, in other kinds of models.
INSTEAD_OF = {
    "MLMTransformer": "Transformer",
    "CLIPModel": "Transformer",
    "SpladePooling": "Pooling",
    "StaticEmbedding": "Transformer",
    "LogitScore": "Pooling",
}
NOTHING = "Dropout"  # does nothing at inference
QUERY_TABLE = "SparseStaticEmbedding"
# Modules whose results are not hidden states: none may follow them.
LAST = ("SpladePooling", "LogitScore")

Listed = tuple[tuple[str, str], ...]  # the kind and the folder of each module


@dataclass(frozen=True)
class Modules:
    """The modules that a text passes.

    listed: kind and folder of each module, in order; the kind is the last part of its class name.
    query_table: the folder of the table of weights that queries have instead, if there is one.
    router: router_config.json of the Router, if there is one, relative to the directory.
    """

    listed: Listed = ()
    query_table: str | None = None
    router: str | None = None

    @property
    def encoder(self) -> str:
        """The folder with the files of the encoder; "" is the folder of the model."""
        if not self.listed or INSTEAD_OF.get(self.listed[0][0], self.listed[0][0]) != ORDER[0]:
            return ""
        return self.listed[0][1]

    def folder(self, kind: str) -> str | None:
        """Return the folder of the module of a kind, None if there is none."""
        return dict(self.listed).get(kind)

    @staticmethod
    def place(kind: str) -> str:
        """Return the module whose place in the order a kind of modules takes."""
        return INSTEAD_OF.get(kind, kind)


def read_modules(directory: Path) -> Modules:
    """Read modules.json, if there is one, and the settings of a Router; raises ModelError."""
    path = directory / MODULES
    if not is_model_file(path):
        return Modules()
    modules = read_json(path)
    if not isinstance(modules, list):
        raise ModelError(f"{path}: must hold a JSON array, got {type(modules).__name__}")
    listed, table, router = [], None, None
    for n, module in enumerate(modules):
        fields = Settings(path, module if isinstance(module, dict) else {}, f"[{n}].")
        kind, folder = fields.get("type"), fields.get("path")
        if not isinstance(kind, str) or not isinstance(folder, str):
            raise ModelError(f"{path}: every module must have a type and a path, got {module!r}")
        require_known_settings(fields, MODULES)
        named, folder = _kind(kind), folder_within(path, directory, folder)
        if named == "Router":
            if router is not None:
                raise ModelError(f"{path}: must have no more than one Router")
            router = f"{folder}/{ROUTER}" if folder else ROUTER
            routed, table = _read_router(directory, folder)
            listed += routed
        elif named != NOTHING:
            listed.append((named, folder))
    _check_order(path, [kind for kind, _ in listed])
    return Modules(tuple(listed), table, router)


def read_encoder_settings(directory: Path, modules: Modules) -> Settings:
    """Return the settings of the encoder, which may have none; raises ModelError."""
    paths = [directory / modules.encoder / name for name in OWN]
    return read_optional(next(filter(is_model_file, paths), paths[0]))


def require_known_outputs(settings: Settings, config: EncoderConfig, templated: bool) -> None:
    """Raise ModelError for an encoder that reads or returns something else than in fbg.

    templated: a chat template is put around texts.
    """
    if settings.get("tokenizer_name_or_path") is not None:
        raise settings.error("tokenizer_name_or_path", "null")
    for name in ("model_args", "model_kwargs", "config_args", "config_kwargs"):
        settings.section(name)
    processing, inputs = settings.section("processing_kwargs"), settings.section("modality_config")
    for section in (processing.section("common"), processing.section("text")):
        if section.get("max_length") is not None:
            raise section.error("max_length", "null")
    # The code of towers returns vectors of whole texts and pictures.
    whole = config.picture is not None or config.image is not None or config.vector_size > 0
    if inputs.values() and "text" not in inputs and not templated and config.picture is None:
        raise settings.error("modality_config", "an object with text")
    text = inputs.section("text")
    tokens = ("token_embeddings", "causal_logits", "scores")
    for section, key, known in (
        (text, "method", ("get_text_features",) if whole else ("forward",)),
        (text, "method_output_name", ("pooler_output", "last_hidden_state", "logits")[not whole :]),
        (settings, "module_output_name", ("sentence_embedding",) if whole else tokens),
        (settings, "transformer_task", TASKS),
    ):
        if section.get(key) is not None:
            section.choice(key, known)


def _read_router(directory: Path, folder: str) -> tuple[list[tuple[str, str]], str | None]:
    """Return the modules of documents, and the folder of the table that queries have instead."""
    path = directory / folder / ROUTER
    settings = read_settings(path)
    types, structure = settings.section("types").values(), settings.section("structure")

    def modules(route: str) -> list[tuple[str, str]]:
        names: Any = structure.get(route)
        if not isinstance(names, list) or not names:
            raise structure.error(route, "a list of modules")
        if not all(isinstance(name, str) and isinstance(types.get(name), str) for name in names):
            raise structure.error(route, "a list of modules whose classes are under types")
        places = [f"{folder}/{name}" if folder and name else folder or name for name in names]
        found = [
            (_kind(types[name]), folder_within(path, directory, place))
            for name, place in zip(names, places, strict=True)
        ]
        return [(kind, place) for kind, place in found if kind != NOTHING]

    settings.section("parameters")
    require_known_settings(settings.replaced(types=None, structure=None), ROUTER)
    if set(structure.values()) != {"query", "document"}:
        raise settings.error("structure", "an object with the routes query and document")
    queries, documents = modules("query"), modules("document")
    if queries == documents:
        return documents, None
    if [kind for kind, _ in queries] != [QUERY_TABLE]:
        raise structure.error("query", f"one {QUERY_TABLE}, or the modules of documents")
    return documents, queries[0][1]


def _kind(name: str) -> str:
    return name.rpartition(".")[2]


def _check_order(path: Path, kinds: list[str]) -> None:
    for kind, following in pairwise(kinds):
        if kind in LAST:
            raise ModelError(f"{path}: {kind} must be the last module, but {following} follows it")
    kinds = [INSTEAD_OF.get(kind, kind) for kind in kinds]
    for n, kind in enumerate(kinds):
        if kind not in ORDER:
            supported = ", ".join((*ORDER, NOTHING))
            raise ModelError(f"{path}: module {kind} must be one of {supported}")
        before = [ORDER.index(k) for k in kinds[:n]]
        rank = ORDER.index(kind)
        if any(r > rank or (r == rank and kind != "Dense") for r in before):
            raise ModelError(
                f"{path}: modules must come in the order {', '.join(ORDER)}, and only "
                f"Dense may be repeated, got {', '.join(kinds)}"
            )
