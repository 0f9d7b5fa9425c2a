"""Low-rank adapters (Hu et al., 2021, arXiv:2106.09685): small matrices that are added to weights.

    weight + scale * up @ down        up: (rows, rank), down: (rank, columns)

They are merged when a checkpoint is read, so that nothing computes with them afterwards. Two
layouts have them: a folder that PEFT wrote, and checkpoints that keep the adapters of several tasks
beside their weights, as torch.nn.utils.parametrize names them (jina-embeddings-v3).
"""

from __future__ import annotations

import math
import os.path
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg.checkpoints.files import read_settings
from fbg.checkpoints.mapped_file import FLOATS, StoredTensor, read_safetensors
from fbg.checkpoints.settings import Settings
from fbg.errors import ModelError

ADAPTER_FILES = ("adapter_config.json", "adapter_model.safetensors")
ORIGINAL, PARAMETRIZED = ".parametrizations.weight.original", ".parametrizations.weight.0."
PEFT = "base_model.model."
PARTS = ("lora_A.weight", "lora_B.weight", "lora_embedding_A", "lora_embedding_B")
NOT_FINITE = "makes NaN or infinite values"
BASE = "base_layer.weight"  # table that PEFT stores beside its adapter

# Settings of PEFT that change what an adapter computes, and that are not supported.
FLAGS = ("use_dora", "fan_in_fan_out", "use_qalora", "lora_bias")
LISTS = (
    "rank_pattern",
    "alpha_pattern",
    "modules_to_save",
    "layer_replication",
    "alora_invocation_tokens",
    "target_parameters",
    "trainable_token_indices",
)
# Settings that change nothing: where the adapter comes from, how it was trained, and which layers
# have one, as its tensors say.
HARMLESS = frozenset(
    (
        *("auto_mapping", "base_model_name_or_path", "peft_version", "revision", "task_type"),
        *("inference_mode", "lora_dropout", "megatron_core", "runtime_config"),
        *("eva_config", "corda_config", "loftq_config", "lora_ga_config", "qalora_group_size"),
        *("target_modules", "exclude_modules", "layers_to_transform", "layers_pattern"),
    )
)
# Ways to begin training that do not change the weights of the model; others change them, too.
INITIAL = ("gaussian", "eva", "orthogonal")

Tensors = dict[str, StoredTensor]


@dataclass(frozen=True)
class Adapter:
    """The adapter to merge. folder: written by PEFT; None: a task of the checkpoint itself.

    lasting_name: finds the same adapter of the same model from any working directory.
    """

    name: str
    folder: Path | None
    lasting_name: str


@dataclass(frozen=True)
class MergedTensor(StoredTensor):
    """A weight to which the product of two small matrices is added whenever it is read."""

    base: StoredTensor = field(kw_only=True)
    up: StoredTensor = field(kw_only=True)
    down: StoredTensor = field(kw_only=True)
    scale: float = field(kw_only=True)

    def view(self) -> npt.NDArray[Any]:
        """Return the sum in float32, added up in one order: its bits are always the same.

        Raises ModelError if the adapter makes values that are not finite.
        """
        merged = self.base.view().astype(np.float32)
        with np.errstate(over="ignore", invalid="ignore"):
            up = self.up.view().astype(np.float32) * np.float32(self.scale)
            down = self.down.view().astype(np.float32)
            for small, tensor in ((up, self.up), (down, self.down)):
                if not np.isfinite(small).all():
                    raise tensor.error(NOT_FINITE)
            for column, row in zip(up.T, down, strict=True):
                merged += column[:, None] * row
        finite = merged.size == 0 or np.isfinite([merged.min(), merged.max()]).all()
        # Non-finite values in the weight itself are reported by its reader.
        if not finite and np.isfinite(self.base.view()).all():
            raise self.up.error(NOT_FINITE)
        return merged

    def rows(self, first: int, count: int) -> StoredTensor:
        base, up = self.base.rows(first, count), self.up.rows(first, count)
        return replace(self, shape=base.shape, begin=base.begin, base=base, up=up)

    def release(self) -> None:
        self.base.release()


def find_adapter(directory: Path, encoder: Path, name: str) -> Adapter:
    """Return the adapter of a name: a folder in the directory of the model or of its encoder, a
    task of the checkpoint, or any other folder. Raises ValueError.
    """
    if Path(name) == Path():
        raise ValueError(f"load: adapter must be the name of a task or a folder, got {name!r}")
    own = tuple(dict.fromkeys((directory, encoder)))
    for parent in own:
        if _has_adapter(parent / name):
            return Adapter(name, parent / name, name)
    tasks = _task_names(read_settings(encoder / "config.json"))
    if name in tasks:
        return Adapter(name, None, name)
    if _has_adapter(Path(name)):
        return Adapter(name, Path(name), os.path.abspath(name))
    found = {path.parent.name for parent in own for path in parent.glob(f"*/{ADAPTER_FILES[0]}")}
    known = ", ".join(dict.fromkeys([*tasks, *sorted(found)]))
    known = f"one of {known}, or " if known else ""
    raise ValueError(f"load: adapter must be {known}a folder with {ADAPTER_FILES[0]}, got {name!r}")


def _has_adapter(folder: Path) -> bool:
    return os.path.isfile(folder / ADAPTER_FILES[0])  # False for names that no file can have


def merge_adapter(path: Path, adapter: Adapter | None, tensors: Tensors) -> Tensors:
    """Return the tensors of a checkpoint with an adapter; raises ModelError. path: config.json."""
    task = adapter.name if adapter is not None and adapter.folder is None else None
    if any(name.endswith(ORIGINAL) for name in tensors):
        tensors = _merge_task(tensors, read_settings(path), task)
    elif task is not None:
        raise ModelError(
            f"{path}: lora_adaptations names {task}, but the weights have no adapters: the name of "
            f"no tensor ends in {ORIGINAL}"
        )
    if adapter is not None and adapter.folder is not None:
        tensors = _merge_folder(tensors, adapter.folder)
    return tensors


def _task_names(settings: Settings) -> tuple[str, ...]:
    """Return the tasks of a checkpoint with adapters of its own, in their order."""
    names = settings.get("lora_adaptations")
    if names is None:
        return ()
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise settings.error("lora_adaptations", "a list of strings or null")
    return tuple(names)


def _merge_task(
    tensors: Mapping[str, StoredTensor], settings: Settings, task: str | None
) -> Tensors:
    """Return tensors under their plain names, with the adapter of a task; None: without any.

    settings: config.json. Raises ModelError.
    """
    merged, names = {}, _task_names(settings)
    rank, scale = 0, 0.0
    if task is not None:
        rank = settings.size("lora_rank", default=4)
        scale = _scale(settings, settings.number("lora_alpha", default=1), rank)
    for name, tensor in tensors.items():
        if PARAMETRIZED in name:
            continue
        if not name.endswith(ORIGINAL):
            merged[name] = tensor
            continue
        stem = name.removesuffix(ORIGINAL)
        merged[f"{stem}.weight"] = tensor
        if task is not None:
            small = [
                _of_task(tensors, f"{stem}{PARAMETRIZED}lora_{part}", len(names), names.index(task))
                for part in "AB"
            ]
            # Tables are multiplied from the other side.
            down, up = small if "embeddings" not in stem else small[::-1]
            merged[f"{stem}.weight"] = _merged(tensor, up, down, rank, scale)
    return merged


def _of_task(
    tensors: Mapping[str, StoredTensor], name: str, count: int, index: int
) -> StoredTensor:
    """Return the matrix of a task from a tensor that has one for each."""
    if name not in tensors:
        raise ModelError(f"{next(iter(tensors.values())).path}: tensor {name} is missing")
    stacked = _floats(tensors[name])
    if len(stacked.shape) != 3 or stacked.shape[0] != count:
        raise stacked.error(f"must have a matrix for each of {count} tasks, got {stacked.shape}")
    first, *others = stacked.view().strides
    begin = stacked.begin + index * first
    return replace(stacked, shape=stacked.shape[1:], begin=begin, strides=tuple(others))


def _scale(settings: Settings, alpha: float, divisor: float) -> float:
    """Return the factor of the product of the matrices; raises ModelError."""
    scale = alpha / divisor
    if scale > float(np.finfo(np.float32).max):
        raise settings.error("lora_alpha", "a number whose quotient by the rank fits in float32")
    return scale


def _merge_folder(tensors: Mapping[str, StoredTensor], folder: Path) -> Tensors:
    """Return tensors with an adapter that PEFT wrote; raises ModelError."""
    rank, scale = _read_scale(read_settings(folder / ADAPTER_FILES[0]))
    path = folder / ADAPTER_FILES[1]
    merged, names = dict(tensors), tuple(tensors)
    module_of: dict[str, str] = {}
    for module, parts in _read_modules(path).items():
        target = _target(path, module, names)
        if target in module_of:
            raise ModelError(
                f"{path}: {module_of[target]} and {module} are both an adapter of {target}"
            )
        module_of[target] = module
        table = PARTS[2] in parts or PARTS[3] in parts
        missing = [part for part in (PARTS[2:] if table else PARTS[:2]) if part not in parts]
        if missing:
            raise ModelError(f"{path}: tensor {PEFT}{module}.{missing[0]} is missing")
        if table:  # (rank, rows) and (columns, rank)
            up, down = _transposed(parts[PARTS[2]]), _transposed(parts[PARTS[3]])
        else:
            up, down = parts[PARTS[1]], parts[PARTS[0]]
        merged[target] = _merged(parts.get(BASE, tensors[target]), up, down, rank, scale)
    return merged


def _read_scale(settings: Settings) -> tuple[int, float]:
    """Check adapter_config.json; return the rank and the scale of the adapter."""
    settings.choice("peft_type", ("LORA",))
    for key in FLAGS:
        if settings.flag(key):
            raise settings.error(key, "false")
    for key in LISTS:
        if settings.get(key):
            raise settings.error(key, "empty")
    if settings.get("bias") not in (None, "none"):
        raise settings.error("bias", "none")
    initial = settings.get("init_lora_weights")
    if not (initial is None or isinstance(initial, bool) or initial in INITIAL):
        raise settings.error("init_lora_weights", "true, false, gaussian, eva or orthogonal")
    rank = settings.size("r")
    divisor = math.sqrt(rank) if settings.flag("use_rslora") else rank
    alpha = settings.number("lora_alpha", default=8)
    for name, value, _ in settings.unread():
        if value and name not in HARMLESS:
            raise settings.error(name, "left out or off, as fbg does not know what it changes")
    return rank, _scale(settings, alpha, divisor)


def _read_modules(path: Path) -> dict[str, dict[str, StoredTensor]]:
    """Return the tensors of an adapter for each layer that has one."""
    modules: dict[str, dict[str, StoredTensor]] = {}
    for name, tensor in read_safetensors(path).items():
        part = next((part for part in (*PARTS, BASE) if name.endswith(f".{part}")), None)
        if part is None:
            raise tensor.error("does not belong to a low-rank adapter")
        module = name.removesuffix(f".{part}").removeprefix(PEFT)
        parts = modules.setdefault(module, {})
        if part in parts:
            raise ModelError(f"{path}: {parts[part].name} and {name} are the same tensor")
        parts[part] = _floats(tensor)
    if not modules:
        raise ModelError(f"{path}: holds no tensors of a low-rank adapter")
    return modules


def _target(path: Path, module: str, names: Sequence[str]) -> str:
    """Return the weight of an adapter: one of them may have a prefix before its name."""
    wanted = f"{module}.weight"
    found = [
        name
        for name in names
        if name == wanted or name.endswith(f".{wanted}") or wanted.endswith(f".{name}")
    ]
    if len(found) != 1:
        raise ModelError(f"{path}: {module} must be a layer of the model, which has {len(found)}")
    return found[0]


def _floats(tensor: StoredTensor) -> StoredTensor:
    if tensor.dtype not in FLOATS:
        raise tensor.error(f"must have dtype {', '.join(FLOATS)}, got {tensor.dtype}")
    return tensor


def _transposed(tensor: StoredTensor) -> StoredTensor:
    strides = tensor.view().strides[::-1]
    return replace(tensor, shape=tensor.shape[::-1], strides=strides)


def _merged(
    weight: StoredTensor, up: StoredTensor, down: StoredTensor, rank: int, scale: float
) -> StoredTensor:
    rows, columns = weight.shape if len(weight.shape) == 2 else (0, 0)
    for tensor, shape in ((up, (rows, rank)), (down, (rank, columns))):
        if tensor.shape != shape:
            raise tensor.error(
                f"must have shape {shape}, of an adapter of rank {rank} for a weight of shape "
                f"{weight.shape}, got {tensor.shape}"
            )
    own = {f.name: getattr(weight, f.name) for f in fields(StoredTensor)}
    return MergedTensor(**own, base=weight, up=up, down=down, scale=scale)
