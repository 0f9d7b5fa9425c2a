"""Dense modules of sentence-transformers: linear layers behind the pooling."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from fbg.checkpoints.checkpoint import FORMATS, Checkpoint
from fbg.checkpoints.files import read_optional, read_settings
from fbg.checkpoints.settings import Settings
from fbg.graph.graph import Graph
from fbg.graph.linear import Linear
from fbg.graph.ops.op import Value
from fbg.networks.heads import add_activated
from fbg.networks.unread import require_known_settings

# Classes of torch.nn, and their form in the graph: an activation of linear layers, or an op.
ACTIVATIONS = {"Identity": "none", "ReLU": "relu", "GELU": "gelu", "Tanh": "tanh"}


SENTENCE, TOKENS = "sentence_embedding", "token_embeddings"


@dataclass(frozen=True)
class Dense:
    """y = activation(x @ weight + bias), in float32: one row gains nothing from less precision."""

    linear: Linear
    outputs: int
    activation: str


def dense_files(folder: str) -> list[str]:
    """Return the files that `read_dense` may read."""
    return [f"{folder}/{name}" for name in ("config.json", *(form.single for form in FORMATS))]


def read_dense(directory: Path, inputs: int, of: str = SENTENCE) -> Dense:
    """Read a folder such as 2_Dense; raises ModelError.

    inputs: columns of its input. of: the name of the input, SENTENCE or TOKENS.
    """
    settings = read_settings(directory / "config.json")
    if settings.size("in_features") != inputs:
        raise settings.error(
            "in_features", f"{inputs}, the number of outputs of the module before it"
        )
    outputs = settings.size("out_features")
    _require_feature(settings, of)
    if settings.flag("use_residual"):
        raise settings.error("use_residual", "false")
    has_bias = settings.flag("bias", default=True)
    activation = ACTIVATIONS[_activation_class(settings)]
    require_known_settings(settings, "Dense")
    checkpoint = Checkpoint(directory, "linear.weight")
    weight = checkpoint.weight(["linear"], [outputs], inputs).pack("float32", 1)
    bias = np.zeros(outputs, np.float32)
    if has_bias:
        bias = checkpoint.tensor("linear.bias", outputs)
    checkpoint.require_all_read()
    return Dense(Linear("dense", weight, bias), outputs, activation)


def read_normalize(directory: Path, of: str = SENTENCE) -> None:
    """Read the folder of a Normalize module, whose settings may be missing.

    Arguments as of `read_dense`.
    """
    settings = read_optional(directory / "config.json")
    _require_feature(settings, of)
    require_known_settings(settings, "Normalize")


def _require_feature(settings: Settings, of: str) -> None:
    for key in ("module_input_name", "module_output_name"):
        if settings.get(key) is not None:
            settings.choice(key, (of,))


def build_dense(graph: Graph, x: Value, dense: Dense) -> Value:
    """Add the layer to a graph."""
    return add_activated(graph, x, dense.linear, dense.activation)


def _activation_class(settings: Settings) -> str:
    name = settings.get("activation_function")
    if name is None:
        return "Tanh"  # the default of sentence-transformers
    last = name.rpartition(".")[2] if isinstance(name, str) else None
    if last not in ACTIVATIONS:
        raise settings.error(
            "activation_function", "one of these classes of torch.nn: " + ", ".join(ACTIVATIONS)
        )
    return last
