"""What is known of a model without its weights: what it can do, and what requests ask of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fbg.model.model import Model
from fbg.model.quantize import choose_stored
from fbg.networks.transformer import Transformer
from fbg.reports.facts import find_and_inspect, network_facts
from fbg.tasks.engines import Engines, tasks_of
from fbg.tasks.zero_shot import can_entail
from fbg.text.sentence import SentenceConfig

if TYPE_CHECKING:
    from fbg.importers.description import TensorType
    from fbg.importers.net import Net


@dataclass(frozen=True)
class Facts:
    """A model of texts. described: the fields of `ModelFacts` that logs have, and others need.

    tasks: by the names of the methods of Model. is_plain: whether the model is for embeddings, and
    for one vector of each text. finds_labels: whether it is a GLiNER, which finds entities of
    labels that the request names.
    """

    dtype: str
    described: Mapping[str, Any]
    dimension: int
    head_kind: str | None
    labels: tuple[str, ...]
    tasks: frozenset[str]
    is_plain: bool
    finds_labels: bool

    @classmethod
    def of(cls, network: Transformer, sentence: SentenceConfig, dtype: str) -> Facts:
        """Return those of a network, which may have no weights."""
        head, finds_labels = network.head, network.config.tasks.spans is not None
        kind, labels = (None, ()) if head is None else (head.kind, head.labels)
        tasks = {*tasks_of(network, sentence)}
        if len(labels) != 1 and kind == "ForSequenceClassification":
            tasks -= {"rerank"}
        if not can_entail(labels):
            tasks -= {"zero_shot_classify"}
        if "rank" in tasks:
            tasks |= {"rerank"}
        tower = (network.config.image or network.config).picture
        if tower is not None and tower.input is not None:
            tasks |= {"encode_image"}
            tasks |= {"zero_shot_classify_image"} if network.config.image is not None else set()
        if network.config.picture is None:
            tasks |= {"encode"}
        return cls(
            dtype,
            network_facts(network, sentence),
            Engines(network, sentence).dimension,
            kind,
            labels,
            frozenset(tasks),
            kind is None and not finds_labels and sentence.multi_vector is None,
            finds_labels,
        )


@dataclass(frozen=True)
class NetFacts:
    """A network: its inputs and its outputs by name."""

    dtype: str
    inputs: Mapping[str, TensorType]
    outputs: Mapping[str, TensorType]


def facts_of(model: Model | Net) -> Facts | NetFacts:
    """Return the facts of a model or a network that is loaded."""
    if isinstance(model, Model):
        return Facts.of(model.network, model.sentence, model.dtype)
    return NetFacts(model.dtype, model.inputs, model.outputs)


def find_facts(path: str, dtype: str | None, adapters: Mapping[str, str]) -> Facts:
    """Return the facts of a model of texts; raises what `fbg.load` raises, without reading weights.

    path, dtype, adapters: arguments of `fbg.load`.
    """
    directory, settings, found = find_and_inspect(path, adapters)
    if found.dtype is not None and dtype not in (None, found.dtype):
        raise ValueError(
            f"load: dtype must be {found.dtype!r}, the dtype of the saved model {directory}, "
            f"or None, got {dtype!r}"
        )
    chosen = found.dtype or choose_stored(directory, dtype, found.quantized)[0]
    return Facts.of(found.network, settings.sentence, chosen)
