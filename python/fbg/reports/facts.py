"""Facts about a model directory, a network or a file of packed weights."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from fbg.checkpoints.checkpoint import weight_files
from fbg.errors import ModelError, install_line
from fbg.matmul.packed_b import PackedB
from fbg.model.adapted import find_adapters
from fbg.model.directory import find_directory
from fbg.model.load import dtype_and_method, load, require_left_out
from fbg.model.quantize import StoredDtypes, stored_dtypes
from fbg.model.settings import ModelSettings, read_model_settings
from fbg.networks.config import EncoderConfig
from fbg.networks.registry import open_checkpoint, read_opened, read_saved
from fbg.networks.transformer import Transformer
from fbg.reports.inputs import random_feeds
from fbg.reports.machine import binary_size
from fbg.reports.measuring import Report, aligned
from fbg.saved_file import WEIGHTS, SavedFile
from fbg.tasks.engines import tasks_of
from fbg.text.sentence import SentenceConfig

WITHOUT_TEXTS = ("encode_image", "classify_image")  # tasks that need no tokenizer
VERDICT = {"verdict": "loads"}  # on what has facts: all else raises the errors of `fbg.load`


@dataclass(frozen=True)
class ModelFacts(Report):
    """Result of `model_facts`.

    dtype: the one of a saved model, else None: `fbg.load` chooses. method: how a saved model was
    quantized. tensors: how many a checkpoint has of each dtype. left_out: its tensors that nothing
    reads, with the reason. quantization: how its weights are quantized, and which layers keep them.
    file_bytes: of weights. tasks: methods of `Model` beside `encode`. prompts: texts by their
    names. default_prompt: the name of the one that texts get. pictures: size and patches of those
    that the model reads, and how many layers read them; None: it reads texts only. missing: the
    tokenizer's file, if the directory lacks it: then the model takes only token ids.
    """

    path: str
    dtype: str | None
    method: str | None
    tensors: dict[str, int]
    left_out: dict[str, str]
    quantization: str | None
    file_bytes: int
    family: str
    tasks: tuple[str, ...]
    layers: int
    hidden_size: int
    heads: int
    vocabulary: int
    max_length: int
    pooling: str
    prompts: dict[str, str]
    default_prompt: str | None
    pictures: str | None
    reads_texts: bool
    missing: str | None

    def __str__(self) -> str:
        stored = f"saved in {self.dtype}"
        if self.dtype is None:
            counts = ", ".join(f"{count} in {dtype}" for dtype, count in self.tensors.items())
            stored = f"a checkpoint, tensors: {counts}"
        rows = {
            "model": f"{self.path}, {self.family}",
            "weights": f"{binary_size(self.file_bytes)}, {stored}",
            "layers": f"{self.layers} of {self.hidden_size} columns, {self.heads} heads",
        }
        if self.reads_texts:
            words = f"{self.vocabulary:,} in the vocabulary"
            rows["texts"] = f"at most {self.max_length} tokens, {words}"
            if self.missing is not None:
                rows["texts"] = f"none, as there is no {self.missing}: only token ids, {words}"
        if self.pictures:
            rows["pictures"] = self.pictures
        rows["pooling"] = self.pooling
        if self.quantization:
            rows["quantized"] = self.quantization
        if self.method:
            rows["method"] = self.method
        tasks = ("encode", *self.tasks) if self.reads_texts else self.tasks
        if self.missing is not None:
            tasks = ("forward", *(task for task in tasks if task in WITHOUT_TEXTS))
        rows["tasks"] = ", ".join(tasks)
        if self.prompts:
            shown = (f"{name} {text!r:.60}" for name, text in self.prompts.items())
            rows["prompts"] = f"{', '.join(shown)}; by default {self.default_prompt or 'none'}"
        if self.left_out:
            rows["left out"] = "; ".join(_by_reason(self.left_out))
        return aligned(rows | VERDICT)


@dataclass(frozen=True)
class NetFacts(Report):
    """Result of `net_facts`.

    operators: the number of nodes of each operator. products, int8_products: convolutions and
    products of matrices, and those of them that multiply integers of 8 bits. steps: of the
    plan, by back end. parameters: elements of constant tensors. tensor_bytes: of all tensors
    between the nodes, one beside the other. arena_bytes: of the memory in which fbg keeps them.
    These, the steps and weight_bytes are None where the file leaves sizes of inputs open.
    """

    path: str
    dtype: str
    inputs: dict[str, str]
    outputs: dict[str, str]
    operators: dict[str, int]
    steps: dict[str, int] | None
    products: int
    int8_products: int
    parameters: int
    weight_bytes: int | None
    tensor_bytes: int | None
    arena_bytes: int | None

    def __str__(self) -> str:
        rows = {
            "network": self.path,
            "inputs": _list(self.inputs, ": "),
            "outputs": _list(self.outputs, ": "),
            "operators": _list(self.operators, " "),
            "products": f"{self.products}, {self.int8_products} of them in int8",
            "parameters": f"{self.parameters:,}",
        }
        if self.steps is None:
            name = next(iter(self.inputs))
            rows["plan"] = f"depends on the shapes of inputs: pass --shape {name}=1,…"
        else:
            rows["steps"] = _list(self.steps, " ")
            rows["packed weights"] = _mib(self.weight_bytes)
            rows["arena"] = f"{_mib(self.arena_bytes)}, of tensors of {_mib(self.tensor_bytes)}"
        return aligned(rows | VERDICT)


def _by_reason(left_out: Mapping[str, str]) -> Iterator[str]:
    """Name three tensors for each reason, and count the others."""
    for reason in dict.fromkeys(left_out.values()):
        names = [name for name, why in left_out.items() if why == reason]
        others = f" and {len(names) - 3} more" if len(names) > 3 else ""
        yield f"{', '.join(names[:3])}{others} ({reason})"


def _list(values: Mapping[str, object], between: str) -> str:
    return ", ".join(f"{name}{between}{value}" for name, value in values.items())


def _mib(size: int | None) -> str:
    return f"{(size or 0) / 2**20:.1f} MiB"


@dataclass(frozen=True)
class WeightFacts(Report):
    """Result of `weight_facts`: a file that `PackedB.save` wrote."""

    path: str
    k: int
    n: int
    dtype: str
    weight_bytes: int
    description: str

    def __str__(self) -> str:
        size = binary_size(self.weight_bytes)
        return aligned({"packed weights": self.path, "content": self.description, "size": size})


@dataclass(frozen=True)
class Inspected:
    """What shows of a model directory without its weights.

    network: without weights. dtype, method: of a saved model, else None. tensors: how many a
    checkpoint has of each dtype. left_out: those that nothing reads, with the reason. quantized:
    how its weights are, if they are.
    """

    network: Transformer
    dtype: str | None = None
    method: str | None = None
    tensors: Mapping[str, int] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    quantized: StoredDtypes | None = None


def inspect(directory: Path, settings: ModelSettings, adapters: Mapping[str, str]) -> Inspected:
    """Check a directory as `load` does, and raise its ModelError, without reading the weights of
    the network, except scales of quantized ones.

    adapters: paths of those that are to be kept beside the base, by name.

    What only values show stays unnoticed: numbers that are not finite, wrong checksums and copies.
    """
    config = settings.config
    if (directory / WEIGHTS).is_file():
        require_left_out(directory, adapter=adapters)
        with SavedFile(directory / WEIGHTS, verify=False) as file:
            dtype, method = dtype_and_method(file)
            return Inspected(read_saved(file, config, dtype), dtype, method)
    checkpoint = open_checkpoint(settings.folder, config, reads=False)
    network = read_opened(checkpoint, config, 1)
    for adapter in find_adapters(directory, settings.folder, adapters).values():
        read_opened(open_checkpoint(settings.folder, config, adapter, reads=False), config, 1)
    quantized = stored_dtypes(config, network)
    return Inspected(network, None, None, checkpoint.dtypes, checkpoint.left_out, quantized)


def find_and_inspect(
    path: str, adapters: Mapping[str, str] = MappingProxyType({})
) -> tuple[Path, ModelSettings, Inspected]:
    """Return the directory of a model, its settings, and what `inspect` finds there."""
    try:
        directory = find_directory(path)
        settings = read_model_settings(directory)
        return directory, settings, inspect(directory, settings, adapters)
    except ModuleNotFoundError as error:
        raise ModelError(
            f"{path}: models need the package {error.name}: {install_line(error.name)}"
        ) from error


def model_facts(path: str) -> ModelFacts:
    """Read the settings of a model, a directory or a hub id, and the headers of its weights.

    Raises the errors of `fbg.load`, without reading the weights: a model that has facts loads,
    unless values are damaged.
    """
    directory, settings, found = find_and_inspect(path)
    weights, missing = directory / WEIGHTS, None
    if settings.config.picture is None and not settings.tokenizer.is_present:
        missing = settings.tokenizer.path.name
    files = [weights] if found.dtype is not None else weight_files(settings.folder)[1]
    return ModelFacts(
        path,
        found.dtype,
        found.method,
        dict(found.tensors),
        dict(found.left_out),
        None if found.quantized is None else str(found.quantized),
        sum(file.stat().st_size for file in files),
        **network_facts(found.network, settings.sentence),
        missing=missing,
    )


def network_facts(network: Transformer, sentence: SentenceConfig) -> dict[str, Any]:
    """Return the fields of `ModelFacts` that do not depend on how the weights are stored."""
    config = network.config
    return {
        "family": config.model_type,
        "tasks": (*_picture_tasks(config), *tasks_of(network, sentence)),
        "layers": config.num_layers,
        "hidden_size": config.hidden_size,
        "heads": config.num_heads,
        "vocabulary": config.vocab_size,
        "max_length": sentence.max_length,
        "pooling": sentence.pooling,
        "prompts": dict(sentence.prompts),
        "default_prompt": sentence.default_prompt_name,
        "pictures": _pictures(config),
        "reads_texts": config.picture is None,
    }


def _picture_tasks(config: EncoderConfig) -> tuple[str, ...]:
    if config.image is not None:
        return "encode_image", "zero_shot_classify_image"
    return () if config.picture is None else ("encode_image",)


def _pictures(config: EncoderConfig) -> str | None:
    """Describe the tower for pictures, if there is one."""
    tower = config.image or config
    if tower.picture is None:
        return None
    size, patch = (" x ".join(map(str, s)) for s in (tower.picture.size, tower.picture.patch))
    text = f"{size} pixels in patches of {patch}"
    if config.image is None:
        return text
    return f"{text}, {tower.num_layers} layers of {tower.hidden_size} columns"


def net_facts(path: str, *, shapes: Mapping[str, Sequence[int]] | None = None) -> NetFacts:
    """Load an ONNX file or a saved network; prepare its plan by a run on random inputs.

    shapes: of inputs, where the file leaves sizes open; without them there is no plan. Raises what
    `fbg.load` raises.
    """
    net = load(path, shapes=shapes or {})
    plan, network, count = None, net.network, net.products
    if all(kind.fixed is not None for kind in net.inputs.values()):
        net.run(random_feeds(net, 1)[0])
        plan = net.plan()
    operators = Counter(node.op for node in network.nodes)
    constants = {name for node in network.nodes for name in node.reads} & network.constants.keys()
    return NetFacts(
        path,
        net.dtype,
        {name: str(kind) for name, kind in net.inputs.items()},
        {name: str(kind) for name, kind in net.outputs.items()},
        dict(operators.most_common()),
        None if plan is None else dict(Counter(step.backend for step in plan.steps)),
        count.all,
        count.int8,
        sum(math.prod(network.constants[name].shape) for name in constants),
        None if plan is None else plan.weight_bytes,
        None if plan is None else plan.tensor_bytes,
        None if plan is None else plan.arena_bytes,
    )


def weight_facts(path: str) -> WeightFacts:
    """Describe a file of packed weights; raises ModelError for any other file."""
    packed = PackedB.load(path)
    k, n = packed.shape
    return WeightFacts(path, k, n, str(packed.dtype), packed.nbytes, repr(packed))
