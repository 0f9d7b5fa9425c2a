"""What a model directory or a file of packed weights holds, as far as it is known without a run."""

from __future__ import annotations

from dataclasses import dataclass

from fbg.checkpoints.checkpoint import weight_files
from fbg.checkpoints.saved_directory import WEIGHTS
from fbg.checkpoints.saved_file import SavedFile
from fbg.errors import ModelError, install_line
from fbg.matmul.packed_b import PackedB
from fbg.model.directory import find_directory
from fbg.model.settings import read_model_settings
from fbg.networks.task_config import KINDS
from fbg.reports.machine import binary_size
from fbg.reports.measuring import Report, aligned

__all__ = ["ModelFacts", "WeightFacts", "model_facts", "weight_facts"]


@dataclass(frozen=True)
class ModelFacts(Report):
    """Result of `model_facts`.

    dtype: that of a saved model, else None: `fbg.load` chooses it. method: how a saved model was
    quantized. tasks: methods of `Model` beside `encode` that need the head. file_bytes: of weights.
    """

    path: str
    family: str
    dtype: str | None
    method: str | None
    tasks: tuple[str, ...]
    layers: int
    hidden_size: int
    heads: int
    vocabulary: int
    max_length: int
    pooling: str
    prompts: tuple[str, ...]
    file_bytes: int

    def __str__(self) -> str:
        saved = self.dtype is not None
        rows = {
            "model": f"{self.path}, {self.family}",
            "weights": f"{binary_size(self.file_bytes)}, "
            + (f"saved in {self.dtype}" if saved else "a checkpoint, converted as it is loaded"),
            "layers": f"{self.layers} of {self.hidden_size} columns, {self.heads} heads",
            "texts": f"at most {self.max_length} tokens, {self.vocabulary:,} in the vocabulary",
            "pooling": self.pooling,
        }
        if self.method:
            rows["method"] = self.method
        rows["tasks"] = ", ".join(("encode", *self.tasks))
        if self.prompts:
            rows["prompts"] = ", ".join(self.prompts)
        return aligned(rows)


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


def model_facts(path: str) -> ModelFacts:
    """Read the settings of a model, a directory or a hub id; raises what `fbg.load` raises."""
    try:
        directory = find_directory(path)
    except ModuleNotFoundError as error:
        raise ModelError(
            f"{path}: hub ids need the package {error.name}: {install_line(error.name)}"
        ) from error
    settings = read_model_settings(directory)
    config, sentence = settings.config, settings.sentence
    weights, dtype, method = directory / WEIGHTS, None, None
    if weights.is_file():
        with SavedFile(weights) as file:
            dtype, method = file.metadata("dtype"), file.metadata("method")
        files = [weights]
    else:
        files = weight_files(settings.folder)[1]
    return ModelFacts(
        path,
        config.model_type,
        dtype,
        method,
        KINDS.get(config.tasks.kind, ()),
        config.num_layers,
        config.hidden_size,
        config.num_heads,
        config.vocab_size,
        sentence.max_length,
        sentence.pooling,
        tuple(sentence.prompts),
        sum(file.stat().st_size for file in files),
    )


def weight_facts(path: str) -> WeightFacts:
    """Describe a file of packed weights; raises ModelError for any other file."""
    packed = PackedB.load(path)
    k, n = packed.shape
    return WeightFacts(path, k, n, str(packed.dtype), packed.nbytes, repr(packed))
