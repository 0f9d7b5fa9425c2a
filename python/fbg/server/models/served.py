"""The models that a server has: loaded, warmed up, found by name, and loaded again."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from fbg.errors import ModelError
from fbg.model.async_model import AsyncModel
from fbg.model.load import load
from fbg.model.load_net import is_net
from fbg.model.model import Model
from fbg.runtime.batcher import Batcher
from fbg.server.errors import Fault, RequestError
from fbg.server.messages import Message
from fbg.server.models.facts import Facts, NetFacts, facts_of, find_facts
from fbg.server.models.slot import Slot
from fbg.server.settings import ModelSource, Settings

if TYPE_CHECKING:
    from fbg.importers.net import Net

log = logging.getLogger("fbg.server")

OnBatch = Callable[[int, int], None]
OnChange = Callable[[str, bool], None]

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
    "encode_image": "embeddings of pictures",
    "classify_image": "classes of pictures",
    "zero_shot_classify_image": "pictures by labels of the request",
}


class Served:
    """A model under the name that requests give it. facts: those of the model that is loaded, or
    was found in the directory. adapter: that of the model in the slot with which it computes."""

    slot: Slot[AsyncModel]

    def __init__(self, name: str, facts: Facts, adapter: str | None = None) -> None:
        self.name = name
        self.facts = facts
        self._adapter = adapter
        self._others: dict[str, Served] = {}  # by where they cut

    def cutting(self, side: str | None) -> Served:
        """Return this model, cutting long texts "left" or "right"; None: where it does."""
        if side is None or side == self.model.tokenizer.truncation_side:
            return self
        if side not in self._others:
            other = self._others[side] = Served(self.name, self.facts)
            other.slot = Slot(self.name, self.runs.cutting(side))
        return self._others[side]

    @property
    def runs(self) -> AsyncModel:
        """The model, while it is loaded."""
        runs = self.slot.value
        assert runs is not None
        return runs if self._adapter is None else runs.with_adapter(self._adapter)

    @property
    def model(self) -> Model:
        return self.runs.model

    def forget(self) -> None:
        """Drop what was made from the model, which is unloaded."""
        self._others.clear()


@dataclass(frozen=True)
class ServedNet:
    """A network under the name that requests give it."""

    name: str
    facts: NetFacts
    slot: Slot[Net]


class Models:
    """Models and networks by name. A reload replaces all at once; requests keep the old ones."""

    def __init__(
        self, served: Mapping[str, Served], nets: Mapping[str, ServedNet] | None = None
    ) -> None:
        self._served = dict(served)
        self._nets = dict(nets or {})

    def __iter__(self) -> Any:
        return iter(self._served.values())

    def replace(self, other: Models) -> None:
        """Take the models of another; those of this one are unloaded when no request uses them."""
        before = Models(self._served, self._nets)
        self._served, self._nets = other._served, other._nets
        before.retire()

    @property
    def slots(self) -> dict[str, Slot[Any]]:
        """Of all models and networks, by name."""
        every: list[Served | ServedNet] = [*self._served.values(), *self._nets.values()]
        return {each.name: each.slot for each in every}

    def retire(self) -> None:
        """Unload what is loaded, as soon as no request uses it."""
        for slot in self.slots.values():
            slot.retire()

    @property
    def names(self) -> list[str]:
        return [*self._served, *self._nets]

    @property
    def first(self) -> Served:
        """The first model; raises RequestError if there are only networks."""
        if not self._served:
            raise RequestError(Fault.UNABLE, "no model here takes texts")
        return next(iter(self._served.values()))

    def net(self, name: str) -> ServedNet:
        """Return the network that a request names; raises RequestError."""
        if name not in self._nets:
            raise unknown("network", name, self._nets)
        return self._nets[name]

    def choose(
        self, task: str, message: Message, fits: Callable[[Served], bool] | None = None
    ) -> Served:
        """Return the model that a request names, or the first that has the task.

        fits: says which of several models to prefer. Embeddings come from a model that is for
        nothing else, if there is one, and rankings from a cross-encoder rather than from a model
        with a vector for every token. Raises RequestError.
        """
        name = message.model
        if name is not None:
            served = self._served.get(name)
            if served is None:
                raise unknown("model", name, self._served)
            able = [served] if task in served.facts.tasks else []
        else:
            able = [served for served in self._served.values() if task in served.facts.tasks]
        if not able:
            raise self._unable(task, name)
        prefer = fits or PREFERRED.get(task, lambda served: True)
        return next(filter(prefer, able), able[0])

    def _unable(self, task: str, name: str | None) -> RequestError:
        """Return the error for a task that no model has, or not the one that a request names."""
        which = "no model here" if name is None else f"the model {name!r} is not one that"
        served = "; ".join(
            f"{each.name!r} ({', '.join(w for t, w in IN_WORDS.items() if t in each.facts.tasks)})"
            for each in self._served.values()
        )
        message = f"{which} can do this: {IN_WORDS[task]}; "
        message += f"served are {served}" if served else "only networks are served"
        return RequestError(Fault.UNABLE, message, "model")


def unknown(what: str, name: str, served: Iterable[str]) -> RequestError:
    """Return the error for a model or a network that is not there; it lists those that are."""
    there = ", ".join(map(repr, served))
    message = f"there is no {what} {name!r:.200} here; "
    message += f"served are {there}" if there else f"no {what} is served"
    return RequestError(Fault.UNKNOWN_MODEL, message, "model")


PREFERRED: dict[str, Callable[[Served], bool]] = {
    "encode": lambda served: served.facts.is_plain,
    "rerank": lambda served: "rank" not in served.facts.tasks,
}


Loaded = Any  # a Model, a Net, or the facts of one that is not loaded yet


def load_models(settings: Settings, known: Mapping[str, Loaded] | None = None) -> dict[str, Loaded]:
    """Load every model but those that are known, or only look at it if its first request is to load
    it; log what was found. Raises ModelError, TypeError or ValueError."""
    known = known or {}
    waits = settings.idle_unload is not None
    models: dict[str, Loaded] = {}
    for source in settings.models:
        if source.name in known:
            models[source.name] = known[source.name]
            continue
        if not waits:
            found = models[source.name] = _load(source, settings)
            facts = facts_of(found)
        elif is_net(source.path):  # its file is the description
            facts = models[source.name] = facts_of(_load(source, settings))
        else:
            adapters = dict(source.adapters)
            facts = models[source.name] = find_facts(source.path, settings.dtype, adapters)
        described = facts.described if isinstance(facts, Facts) else {}
        fields = {"model": source.name, "dtype": facts.dtype, "path": source.path, **described}
        log.info("found" if waits else "loaded", extra={"fields": fields})
    return models


def _load(source: ModelSource, settings: Settings) -> Any:
    return load(source.path, settings.dtype, settings.threads, adapters=dict(source.adapters))


def serve_models(
    models: Mapping[str, Loaded],
    batcher: Batcher,
    on_batch: OnBatch,
    settings: Settings | None = None,
    on_change: OnChange = lambda name, loaded: None,
) -> Models:
    """Return models to choose from. settings: say how to load those that are not.

    on_change: called with the name of each that is loaded (True) or unloaded (False).
    """
    sources = {} if settings is None else {source.name: source for source in settings.models}
    seconds = None if settings is None else settings.idle_unload
    served: dict[str, Served] = {}
    adapted: dict[str, Served] = {}
    nets: dict[str, ServedNet] = {}

    def load_again(name: str, kind: type) -> Any:
        assert settings is not None
        loaded = _load(sources[name], settings)
        found = facts_of(loaded)
        if not isinstance(found, kind):
            raise ModelError(f"{sources[name].path}: is no longer what it was")
        if isinstance(found, NetFacts):
            return loaded
        for each in served.values():
            if each.slot is served[name].slot:  # its adapters, too
                each.facts = found
        return AsyncModel(loaded, batcher, on_batch)

    for name, model in models.items():
        facts = model if isinstance(model, (Facts, NetFacts)) else facts_of(model)
        make, changed = partial(load_again, name, type(facts)), partial(on_change, name)
        if isinstance(facts, NetFacts):
            net = None if model is facts else model
            own = Slot(name, net, make, seconds=seconds, changed=changed)
            nets[name] = ServedNet(name, facts, own)
        else:
            runs = None if model is facts else AsyncModel(model, batcher, on_batch)
            one = served[name] = Served(name, facts)
            family = [one]
            for adapter, _ in sources[name].adapters if name in sources else ():
                family.append(Served(adapter, facts, adapter))
                adapted[adapter] = family[-1]
            slot = Slot(name, runs, make, partial(_close, family), seconds, changed)
            for each in family:
                each.slot = slot
    served |= adapted  # behind the others, for requests that name none
    return Models(served, nets)


def _close(family: Iterable[Served], runs: AsyncModel) -> None:
    for each in family:
        each.forget()
    runs.close()


async def warm_up(models: Models) -> None:
    """Run each model once that is loaded, so that the first request finds kernels, plans and pages
    in place."""
    for served in models:
        if served.slot.value is None:
            continue
        if "encode" in served.facts.tasks:
            texts = ["ready", "a text of several words, with plans of its own"]
            await served.runs.encode(texts * 16)
        if "encode_image" in served.facts.tasks:
            picture = np.zeros((*served.model.image_size, 3), np.uint8)
            with contextlib.suppress(ModuleNotFoundError):  # requests get the error
                await served.runs.encode_image([picture])
        if "encode_multi" in served.facts.tasks:
            await served.runs.encode_multi("ready", kind="query")
            await served.runs.encode_multi(["ready", "a text of several words"])
        if "encode_hybrid" in served.facts.tasks:
            with contextlib.suppress(ModelError):  # requests get the error
                await served.runs.encode_hybrid(["ready", "a text of several words"])
        if "encode_sparse" in served.facts.tasks:
            await served.runs.encode_sparse("ready")
        if "zero_shot_classify" in served.facts.tasks:
            await served.runs.zero_shot_classify("ready", ["ready"], hypothesis_template="{}")
        if served.facts.head_kind == "ForSequenceClassification":
            await served.runs.classify("ready", top_k=None)
        elif served.facts.head_kind == "ForTokenClassification":
            await served.runs.ner("ready")
        elif served.facts.finds_labels:
            await served.runs.ner("ready", labels=["ready"])
        elif served.facts.head_kind == "ForQuestionAnswering":
            await served.runs.answer("ready?", "ready")
