"""Settings of models, read key by key: each getter checks the type of what it returns."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from fbg.errors import ModelError

MAX_SIZE = 2**100  # limit of all counts in a model: formulas in floats do not overflow


class Settings:
    """A JSON object that is read key by key; each getter checks the type of its result.

    prefix: its place in the file, which errors put before a key. asked: names of the keys that
    getters were asked for, and with a dot at the end those of the objects that were opened; objects
    of one file share it.
    """

    def __init__(
        self, path: Path, values: dict[str, Any], prefix: str = "", asked: set[str] | None = None
    ) -> None:
        self.path = path
        self._values = values
        self._prefix = prefix
        self._asked: set[str] = set() if asked is None else asked

    def error(self, key: str, wanted: str) -> ModelError:
        got = repr(self._values[key]) if key in self._values else "nothing"
        return ModelError(f"{self.path}: {self._prefix}{key} must be {wanted}, got {got}")

    def size(self, key: str, default: int | None = None, at_least: int = 1) -> int:
        value = self._value(key, default)
        if type(value) is not int or value < at_least:
            raise self.error(key, f"an integer of at least {at_least}")
        if value > MAX_SIZE:
            raise self.error(key, "an integer of at most 2**100")
        return value

    def number(self, key: str, default: float) -> float:
        """Return a finite number, zero or more."""
        value = self._value(key, default)
        if type(value) not in (int, float) or not 0 <= value <= sys.float_info.max:
            raise self.error(key, "a number of at least 0")
        return float(value)

    def flag(self, key: str, default: bool = False) -> bool:
        value = self._value(key, default)
        if type(value) is not bool:
            raise self.error(key, "true or false")
        return value

    def choice(self, key: str, supported: tuple[str, ...], default: str | None = None) -> str:
        value = self._value(key, default)
        if not isinstance(value, str) or value not in supported:
            raise self.error(key, "one of " + ", ".join(supported))
        return value

    def section(self, key: str) -> Settings:
        """Return the object under a key; an empty one where there is none, or null."""
        value = self._value(key)
        if value is None:
            value = {}
        if not isinstance(value, dict):
            raise self.error(key, "an object")
        self._asked.add(f"{self._prefix}{key}.")
        return Settings(self.path, value, f"{self._prefix}{key}.", self._asked)

    def values(self) -> dict[str, Any]:
        """Return a copy of all keys with their values, of whatever type."""
        return dict(self._values)

    def __contains__(self, key: str) -> bool:
        self._value(key)
        return key in self._values

    def get(self, key: str) -> Any:
        return self._value(key)

    def replaced(self, **values: Any) -> Settings:
        """Return the same settings with some other values."""
        return Settings(self.path, {**self._values, **values}, self._prefix, self._asked)

    def unread(self) -> Iterator[tuple[str, Any, dict[str, Any]]]:
        """Yield the place in the file and the value of each key that nothing has asked for, with
        what was asked for in the same object.
        """
        read = {k: value for k, value in self._values.items() if self._prefix + k in self._asked}
        for key, value in self._values.items():
            name = self._prefix + key
            if isinstance(value, dict) and f"{name}." in self._asked:
                yield from self.section(key).unread()
            elif key not in read:
                yield name, value, read

    def _value(self, key: str, default: Any = None) -> Any:
        self._asked.add(self._prefix + key)
        return self._values.get(key, default)
