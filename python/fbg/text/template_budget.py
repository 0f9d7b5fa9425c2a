"""The budget of a chat template: characters, items and calls.

`Budget.charge` is the one function that looks into the values of a template. It must be called
before text is made of a value, or before a value is compared or hashed: containers that share
items cost as much as they would without sharing. It knows every type that a template can reach,
and refuses a value of any other, so that nothing goes by unseen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Set, ValuesView
from types import BuiltinMethodType, FunctionType, MethodType, NoneType
from typing import Any

from jinja2 import Undefined
from jinja2.exceptions import SecurityError
from jinja2.runtime import LoopContext, Macro, TemplateReference
from jinja2.utils import Namespace

MAX_NUMBER = 1 << 63
COMPARED = 64  # characters are compared in the time that another step takes
# The text of these has a few characters: a number, or the name of a type and an address.
SMALL: tuple[type, ...] = (NoneType, float, complex, type, FunctionType, Iterator)
SMALL += (Undefined, LoopContext, TemplateReference)


class Budget:
    def __init__(self, left: int) -> None:
        self.left = left

    def spend(self, amount: int) -> None:
        self.left -= amount
        if self.left < 0:
            raise SecurityError("it takes more steps or characters than a chat template may")

    def charge(self, value: object) -> None:
        """Charge for all contents of a value."""
        values = [value]
        while values:
            item = values.pop()
            self.spend(1)
            if isinstance(item, str | bytes):
                self.spend(len(item))
            elif isinstance(item, int):
                if abs(item) > MAX_NUMBER:
                    raise SecurityError("it makes a number that is too large")
            elif isinstance(item, range):
                self.spend(len(item))
            elif not isinstance(item, SMALL):
                held = _held(item)
                self.spend(len(held))
                values += held

    def charge_search(self, text: object, *sought: object) -> None:
        """Charge for a search that may compare each character with the whole searched text."""
        for item in sought:
            if isinstance(text, str) and isinstance(item, str):
                self.spend(len(text) * len(item) // COMPARED)

    def counted(self, values: Iterable[Any]) -> Iterator[Any]:
        """Yield values, each for a charge of 1."""
        for value in values:
            self.spend(1)
            yield value


def _held(item: object) -> list[Any] | tuple[Any, ...] | Set[Any] | ValuesView[Any]:
    """Return the contents of a value that are seen in its text; raises SecurityError."""
    if isinstance(item, Mapping):
        return [part for pair in item.items() for part in pair]
    if isinstance(item, Namespace):
        return [object.__getattribute__(item, "_Namespace__attrs")]
    if isinstance(item, Macro):
        return [item.name or ""]
    if isinstance(item, MethodType | BuiltinMethodType):
        return [item.__self__]
    if isinstance(item, list | tuple | Set | ValuesView):
        return item
    raise SecurityError(f"it uses a {type(item).__name__}, which no chat template needs")
