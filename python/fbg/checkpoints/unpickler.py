"""A pickle machine that can only build data: numbers, text, tuples, lists, dictionaries, and
objects that its caller makes of the names and persistent ids in the pickle.

The pickle module runs whatever function a pickle names. Here a name is looked up in a table of the
caller, and nothing else is ever called. The opcodes are those that torch.save writes (protocol 2,
https://docs.python.org/3/library/pickletools.html); any other one is an error. Memory is bounded
by the size of the pickle: an opcode makes at most one object.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Mapping
from typing import Any

PROTOCOL = 2


class Constructor:
    """A function that a pickle may call."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function


def unpickle(
    data: bytes, names: Mapping[str, Any], persistent: Callable[[object], object]
) -> object:
    """Return the object that a pickle describes; raises ValueError for any other bytes.

    names: what "module.name" stands for. A Constructor is called by the pickle; a ValueError or
        TypeError that it raises is one of this function.
    persistent: gives the object for a persistent id.
    """
    machine = _Machine(data, names, persistent)
    try:
        return machine.run()
    except (IndexError, KeyError, struct.error):
        raise ValueError(f"damaged pickle, near byte {machine.position}") from None
    except TypeError as error:
        raise ValueError(f"damaged pickle, near byte {machine.position}: {error}") from None


class _Machine:
    """A stack, the stacks below each mark, and a memo of objects that are referred to again."""

    def __init__(
        self, data: bytes, names: Mapping[str, Any], persistent: Callable[[object], object]
    ) -> None:
        self.position = 0
        self._data, self._names, self._persistent = data, names, persistent
        self._stack: list[Any] = []
        self._below: list[list[Any]] = []
        self._memo: dict[int, Any] = {}

    def run(self) -> object:
        while True:
            opcode = self._take(1)
            if opcode == b".":
                return self._stack.pop()
            step = STEPS.get(opcode)
            if step is None:
                raise ValueError(f"torch.save never writes the pickle opcode {opcode!r}")
            step(self)

    # --- Reading ------------------------------------------------------------------------------

    def _take(self, count: int) -> bytes:
        part = self._data[self.position : self.position + count]
        if len(part) != count:
            raise ValueError("truncated pickle")
        self.position += count
        return part

    def _number(self, layout: str) -> Any:
        return struct.unpack(layout, self._take(struct.calcsize(layout)))[0]

    def _line(self) -> str:
        end = self._data.find(b"\n", self.position)
        if end < 0:
            raise ValueError("truncated pickle")
        line = self._take(end - self.position)
        self.position += 1
        return line.decode()

    # --- Steps --------------------------------------------------------------------------------

    def _push(self, value: Any) -> None:
        self._stack.append(value)

    def _pop_to_mark(self) -> list[Any]:
        items, self._stack = self._stack, self._below.pop()
        return items

    def protocol(self) -> None:
        version = self._number("<B")
        if version != PROTOCOL:
            raise ValueError(f"pickle protocol must be {PROTOCOL}, as torch writes it: {version}")

    def mark(self) -> None:
        self._below.append(self._stack)
        self._stack = []

    def unicode(self) -> None:
        self._push(self._take(self._number("<I")).decode())

    def long(self) -> None:
        self._push(int.from_bytes(self._take(self._number("<B")), "little", signed=True))

    def tuple_of(self, count: int) -> None:
        if len(self._stack) < count:
            raise IndexError
        items = tuple(self._stack[-count:])
        del self._stack[-count:]
        self._push(items)

    def append(self, items: list[Any]) -> None:
        if type(self._stack[-1]) is not list:
            raise ValueError("the pickle appends to an object that is not a list")
        self._stack[-1].extend(items)

    def set_items(self, items: list[Any]) -> None:
        target = self._stack[-1]
        if type(target) is not dict or len(items) % 2:
            raise ValueError("the pickle sets items of an object that is not a dictionary")
        for key, value in zip(items[::2], items[1::2], strict=True):
            # Tuples of tuples could take for ever to hash.
            if type(key) not in (str, int):
                raise ValueError("a key in the pickle must be text or an integer")
            target[key] = value

    def get(self, layout: str) -> None:
        self._push(self._memo[self._number(layout)])

    def put(self, layout: str) -> None:
        self._memo[self._number(layout)] = self._stack[-1]

    def find(self) -> None:
        name = f"{self._line()}.{self._line()}"
        if name not in self._names:
            raise ValueError(
                f"it refers to {name[:200]}, which is neither a tensor nor a storage of one"
            )
        self._push(self._names[name])

    def call(self) -> None:
        arguments, constructor = self._stack.pop(), self._stack.pop()
        if not isinstance(constructor, Constructor) or type(arguments) is not tuple:
            raise ValueError("the pickle calls an object that is not a function")
        self._push(constructor.function(*arguments))

    def set_state(self) -> None:
        """Drop the attributes of an object: a dictionary has none that matter."""
        self._stack.pop()
        if type(self._stack[-1]) is not dict:
            raise ValueError("the pickle sets attributes of an object that is not a dictionary")

    def load_persistent(self) -> None:
        self._push(self._persistent(self._stack.pop()))


STEPS: dict[bytes, Callable[[_Machine], None]] = {
    b"\x80": _Machine.protocol,
    b"N": lambda m: m._push(None),
    b"\x88": lambda m: m._push(True),
    b"\x89": lambda m: m._push(False),
    b"J": lambda m: m._push(m._number("<i")),
    b"K": lambda m: m._push(m._number("<B")),
    b"M": lambda m: m._push(m._number("<H")),
    b"\x8a": _Machine.long,
    b"G": lambda m: m._push(m._number(">d")),
    b"X": _Machine.unicode,
    b"(": _Machine.mark,
    b")": lambda m: m._push(()),
    b"\x85": lambda m: m.tuple_of(1),
    b"\x86": lambda m: m.tuple_of(2),
    b"\x87": lambda m: m.tuple_of(3),
    b"t": lambda m: m._push(tuple(m._pop_to_mark())),
    b"]": lambda m: m._push([]),
    b"a": lambda m: m.append([m._stack.pop()]),
    b"e": lambda m: m.append(m._pop_to_mark()),
    b"}": lambda m: m._push({}),
    b"s": lambda m: m.set_items([m._stack.pop(-2), m._stack.pop()]),
    b"u": lambda m: m.set_items(m._pop_to_mark()),
    b"h": lambda m: m.get("<B"),
    b"j": lambda m: m.get("<I"),
    b"q": lambda m: m.put("<B"),
    b"r": lambda m: m.put("<I"),
    b"c": _Machine.find,
    b"R": _Machine.call,
    b"b": _Machine.set_state,
    b"Q": _Machine.load_persistent,
}
