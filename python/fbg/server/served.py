"""The models that a server has: loaded, warmed up, found by name, and loaded again."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from fbg.errors import ModelError
from fbg.locks import cached_property
from fbg.model.async_model import AsyncModel
from fbg.model.load import load
from fbg.model.model import Model
from fbg.reports.facts import network_facts
from fbg.runtime.former import BatchFormer
from fbg.server.errors import Fault, RequestError
from fbg.server.messages import Message
from fbg.server.settings import Settings
from fbg.tasks.engines import tasks_of
from fbg.tasks.zero_shot import can_entail

if TYPE_CHECKING:
    from fbg.importers.net import Net

log = logging.getLogger("fbg.server")

OnBatch = Callable[[int, int], None]

# The names of tasks for clients, by the names of the methods of Model.
IN_WORDS = {
    "encode": "embeddings",
    "encode_sparse": "sparse embeddings",
    "encode_multi": "vectors of tokens",
    "encode_hybrid": "hybrid embeddings",
    "classify": "classification",
    "rerank": "reranking",
    "ner": "entities",
    "answer": "answers to questions",
    "fill_mask": "words for masks",
    "zero_shot_classify": "zero-shot classification",
}


@dataclass(frozen=True)
class Served:
    """A model under the name that requests give it."""

    name: str
    runs: AsyncModel
    _others: dict[str, Served] = field(default_factory=dict, repr=False)  # by where they cut

    def cutting(self, side: str | None) -> Served:
        """Return this model, cutting long texts "left" or "right"; None: where it does."""
        if side is None or side == self.model.tokenizer.truncation_side:
            return self
        if side not in self._others:
            self._others[side] = Served(self.name, self.runs.cutting(side))
        return self._others[side]

    @property
    def model(self) -> Model:
        return self.runs.model

    @property
    def head_kind(self) -> str | None:
        head = self.model.network.head
        return None if head is None else head.kind

    @property
    def labels(self) -> tuple[str, ...]:
        head = self.model.network.head
        return () if head is None else head.labels

    @cached_property
    def tasks(self) -> frozenset[str]:
        """The tasks of the model, by the names of the methods of Model."""
        tasks = set(tasks_of(self.model.network, self.model.sentence))
        if len(self.labels) != 1 and self.head_kind == "ForSequenceClassification":
            tasks -= {"rerank"}
        if not can_entail(self.labels):
            tasks -= {"zero_shot_classify"}
        if "rank" in tasks:
            tasks |= {"rerank"}
        return frozenset(tasks | {"encode"})

    @property
    def is_plain(self) -> bool:
        """Whether the model is for embeddings, and for one vector of each text."""
        other = self.finds_labels or self.model.sentence.multi_vector is not None
        return self.head_kind is None and not other

    @property
    def finds_labels(self) -> bool:
        """Whether it is a GLiNER, which finds entities of labels that the request names."""
        return self.model.config.tasks.spans is not None


class Models:
    """Models and networks by name. A reload replaces all at once; requests keep the old ones."""

    def __init__(self, served: Mapping[str, Served], nets: Mapping[str, Net] | None = None) -> None:
        self._served = dict(served)
        self._nets = dict(nets or {})

    def __iter__(self) -> Any:
        return iter(self._served.values())

    def replace(self, other: Models) -> None:
        self._served, self._nets = other._served, other._nets

    @property
    def names(self) -> list[str]:
        return [*self._served, *self._nets]

    @property
    def first(self) -> Served:
        """The first model; raises RequestError if there are only networks."""
        if not self._served:
            raise RequestError(Fault.UNABLE, "no model here takes texts")
        return next(iter(self._served.values()))

    def net(self, name: str) -> Net:
        """Return the network that a request names; raises RequestError."""
        if name not in self._nets:
            raise unknown("network", name, self._nets)
        return self._nets[name]

    def choose(
        self, task: str, message: Message, fits: Callable[[Served], bool] | None = None
    ) -> Served:
        """Return the model that a request names, or the first that has the task, cutting long texts
        where the request says.

        fits: says which of several models to prefer. Embeddings come from a model that is for
        nothing else, if there is one, and rankings from a cross-encoder rather than from a model
        with a vector for every token. Raises RequestError.
        """
        name = message.model
        if name is not None:
            served = self._served.get(name)
            if served is None:
                raise unknown("model", name, self._served)
            able = [served] if task in served.tasks else []
        else:
            able = [served for served in self._served.values() if task in served.tasks]
        if not able:
            raise self._unable(task, name)
        prefer = fits or PREFERRED.get(task, lambda served: True)
        return next(filter(prefer, able), able[0]).cutting(message.cuts)

    def _unable(self, task: str, name: str | None) -> RequestError:
        """Return the error for a task that no model has, or not the one that a request names."""
        which = "no model here" if name is None else f"the model {name!r} is not one that"
        served = "; ".join(
            f"{each.name!r} ({', '.join(w for t, w in IN_WORDS.items() if t in each.tasks)})"
            for each in self._served.values()
        )
        message = f"{which} can do this: {IN_WORDS[task]}; served are {served}"
        return RequestError(Fault.UNABLE, message, "model")


def unknown(what: str, name: str, served: Iterable[str]) -> RequestError:
    """Return the error for a model or a network that is not there; it lists those that are."""
    message = f"there is no {what} {name!r:.200} here; served are {', '.join(map(repr, served))}"
    return RequestError(Fault.UNKNOWN_MODEL, message, "model")


PREFERRED: dict[str, Callable[[Served], bool]] = {
    "encode": lambda served: served.is_plain,
    "rerank": lambda served: "rank" not in served.tasks,
}


def load_models(
    settings: Settings, loaded: Mapping[str, Model] | None = None
) -> dict[str, Model | Net]:
    """Load every model but those that are loaded, and log what was found; raises ModelError,
    TypeError or ValueError."""
    known = loaded or {}
    models: dict[str, Model | Net] = {
        source.name: known.get(source.name) or load(source.path, settings.dtype, settings.threads)
        for source in settings.models
    }
    for source, model in zip(settings.models, models.values(), strict=True):
        if source.name in known:
            continue
        facts: dict[str, Any] = {"path": source.path}
        if isinstance(model, Model):
            facts = {"path": model.name, **network_facts(model.network, model.sentence)}
        fields = {"model": source.name, "dtype": model.dtype, **facts}
        log.info("loaded", extra={"fields": fields})
    return models


def serve_models(
    models: Mapping[str, Model | Net], former: BatchFormer, on_batch: OnBatch
) -> Models:
    served: dict[str, Served] = {}
    nets: dict[str, Net] = {}
    for name, model in models.items():
        if isinstance(model, Model):
            served[name] = Served(name, AsyncModel(model, former, on_batch))
        else:
            nets[name] = model
    return Models(served, nets)


async def warm_up(models: Models) -> None:
    """Run each model once, so that the first request finds kernels, plans and pages in place."""
    for served in models:
        await served.runs.encode(["ready", "a text of several words, with plans of its own"] * 16)
        if "encode_multi" in served.tasks:
            await served.runs.encode_multi("ready", kind="query")
            await served.runs.encode_multi(["ready", "a text of several words"])
        if "encode_hybrid" in served.tasks:
            with contextlib.suppress(ModelError):  # requests get the error
                await served.runs.encode_hybrid(["ready", "a text of several words"])
        if "encode_sparse" in served.tasks:
            await served.runs.encode_sparse("ready")
        if "zero_shot_classify" in served.tasks:
            await served.runs.zero_shot_classify("ready", ["ready"], hypothesis_template="{}")
        if served.head_kind == "ForSequenceClassification":
            await served.runs.classify("ready", top_k=None)
        elif served.head_kind == "ForTokenClassification":
            await served.runs.ner("ready")
        elif served.finds_labels:
            await served.runs.ner("ready", labels=["ready"])
        elif served.head_kind == "ForQuestionAnswering":
            await served.runs.answer("ready?", "ready")
