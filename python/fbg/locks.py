"""Locks, and properties that are computed once, which a forked child can go on using.

A forked child has the memory of its parent, but none of the parent's other threads: what one of
them had locked would stay locked for ever. All locks of the package are therefore of this kind, and
`tests/unit/test_locks.py` finds any other. What they protect is changed in single steps, each of
which leaves it whole.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class Lock:
    """A `threading.Lock` that is free in a forked child, and in a copy or a pickle of its owner.

    >>> lock = Lock()
    >>> with lock:
    ...     pass
    """

    __slots__ = ("__weakref__", "_lock")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        _locks.add(weakref.ref(self, _locks.discard))

    def acquire(self, blocking: bool = True, timeout: float = -1) -> bool:
        """Lock it, as `threading.Lock.acquire` does."""
        return self._lock.acquire(blocking, timeout)

    def release(self) -> None:
        """Unlock it."""
        self._lock.release()

    def __enter__(self) -> bool:
        return self._lock.acquire()

    def __exit__(self, *_: object) -> None:
        self._lock.release()

    def condition(self) -> threading.Condition:
        """Return a condition variable for threads that hold this lock."""
        return threading.Condition(self)  # type: ignore[arg-type]  # it needs no more than this

    def __reduce__(self) -> tuple[type[Lock], tuple[()]]:
        return Lock, ()


_locks: set[weakref.ref[Lock]] = set()


def _free_all() -> None:
    for reference in tuple(_locks):
        lock = reference()
        if lock is not None:
            lock._lock = threading.Lock()


os.register_at_fork(after_in_child=_free_all)


class cached_property(Generic[T]):
    """A property that is computed when it is first asked for, by several threads if need be.

    Before Python 3.12, the one of functools holds a lock for all instances of a class.
    """

    def __init__(self, make: Callable[[Any], T]) -> None:
        self._make = make
        self.__doc__ = make.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name

    @overload
    def __get__(self, instance: None, owner: type) -> cached_property[T]: ...
    @overload
    def __get__(self, instance: object, owner: type) -> T: ...
    def __get__(self, instance: object | None, owner: type) -> cached_property[T] | T:
        if instance is None:
            return self
        value: T = instance.__dict__.setdefault(self._name, self._make(instance))
        return value
