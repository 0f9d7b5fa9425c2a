"""Plans for shapes, threads and instructions, kept until they are too large or outdated."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Generic, TypeVar

from fbg.locks import Lock
from fbg.tuning.store import store

Plan = TypeVar("Plan")


class PlanCache(Generic[Plan]):
    """Keeps plans by key; threads may share it, and two that want the same plan may both make it.

    size: what a plan counts for against the bound that `get` is given.

    >>> cache = PlanCache(len)
    >>> cache.get("a", lambda: "12", 4), cache.get("b", lambda: "345", 4), cache.plans
    ('12', '345', ('345',))
    """

    def __init__(self, size: Callable[[Plan], int] = lambda _: 1) -> None:
        self._size = size
        self._kept: OrderedDict[tuple[int, Hashable], Plan] = OrderedDict()
        self._last: tuple[tuple[int, Hashable], Plan] | None = None  # the one that was used last
        self._generation = store.generation
        self._lock = Lock()

    @property
    def plans(self) -> tuple[Plan, ...]:
        """All plans that are kept, the least recently used first."""
        return tuple(self._kept.values())

    def get(
        self, key: Hashable, prepare: Callable[[], Plan], most: int, *, anew: bool = False
    ) -> Plan:
        """Return the plan of a key, made if there is none, if tuning has found something since, or
        if it is wanted anew.

        The least recently used plans are dropped until the rest is within `most`; the plan that is
        returned stays, however large it is.
        """
        generation = store.generation
        entry, last = (generation, key), self._last
        if last is not None and last[0] == entry and not anew:
            return last[1]  # without the lock: most calls have the shape of the last one
        with self._lock:
            if self._generation != generation:
                self._generation = generation
                self._kept.clear()
            plan = None if anew else self._kept.get(entry)
            if plan is not None:
                self._kept.move_to_end(entry)
                self._last = entry, plan
                return plan
        plan = prepare()  # without the lock: plans of other keys need not wait for it
        with self._lock:
            self._kept[entry] = plan
            self._kept.move_to_end(entry)
            self._last = entry, plan
            while len(self._kept) > 1 and sum(map(self._size, self._kept.values())) > most:
                self._kept.popitem(last=False)
        return plan
