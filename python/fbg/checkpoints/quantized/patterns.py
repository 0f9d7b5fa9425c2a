"""Names of layers in settings: whole names, names of what layers are part of, or regular
expressions after "re:".

A file of settings is not trusted, and Python's expressions may take years for a name. So they are
only parsed by Python, and matched here in time proportional to the name and the expression: for
all places of a name at once, each a bit of an integer (Baeza-Yates and Gonnet, 1992).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from fbg.checkpoints.settings import Settings
from fbg.errors import ModelError

REGULAR = "re:"
MOST_NAMES = 1 << 14
MOST_CHARACTERS = 1 << 12  # of all expressions of a list
LONGEST = 1 << 10  # characters of a layer's name
# The parser of regular expressions, which is public as sre_parse before Python 3.11.
PARSER: Any = getattr(re, "_parser", None) or re.sre_parse  # type: ignore[attr-defined]
CATEGORIES: dict[str, Callable[[str], bool]] = {
    "CATEGORY_DIGIT": str.isdecimal,
    "CATEGORY_SPACE": str.isspace,
    "CATEGORY_WORD": lambda character: character.isalnum() or character == "_",
}
CHARACTERS = ("LITERAL", "NOT_LITERAL", "ANY", "IN")
REPEATS = ("MAX_REPEAT", "MIN_REPEAT")
STARTS = ("AT_BEGINNING", "AT_BEGINNING_STRING")
ENDS = ("AT_END", "AT_END_STRING")

Nodes = Iterable[tuple[Any, Any]]


@dataclass(frozen=True)
class Patterns:
    """names: as they are in the file. expressions: parsed."""

    names: tuple[str, ...] = ()
    expressions: tuple[Nodes, ...] = ()

    def match(self, module: str) -> bool:
        """Whether a layer, or what it is part of, is named."""
        whole = f".{module}."
        if any(f".{name}." in whole for name in self.names):
            return True
        if not self.expressions or len(module) > LONGEST:
            return False
        text = _Text(module)
        return any(text.ends(nodes, 1) for nodes in self.expressions)


def read_patterns(settings: Settings, key: str) -> Patterns:
    """Return the names under a key, none where there is none; raises ModelError."""
    given = settings.get(key)
    if given is None:
        return Patterns()
    if not isinstance(given, list):
        raise settings.error(key, "a list of names")
    if len(given) > MOST_NAMES:
        raise ModelError(f"{settings.path}: {key} must have at most {MOST_NAMES} names")
    if not all(isinstance(name, str) for name in given):
        raise settings.error(key, "a list of names")
    regular = [name.removeprefix(REGULAR) for name in given if name.startswith(REGULAR)]
    names = tuple(name for name in given if not name.startswith(REGULAR))
    parsed = [_parsed(expression) for expression in regular]
    if None in parsed or sum(map(len, regular)) > MOST_CHARACTERS:
        raise settings.error(key, "a list of names and simple regular expressions")
    return Patterns(names, tuple(nodes for nodes in parsed if nodes is not None))


def _parsed(expression: str) -> Nodes | None:
    """Return the parts of an expression; None if it is none, or one that `_Text` does not know."""
    if len(expression) > MOST_CHARACTERS:
        return None
    try:
        parsed = PARSER.parse(expression)
    except (re.error, RecursionError, OverflowError):
        return None
    plain = parsed.state.flags & ~(re.UNICODE | re.VERBOSE) == 0
    return parsed if plain and _is_simple(parsed) else None


def _is_simple(nodes: Nodes) -> bool:
    for op, value in nodes:
        kind = str(op)
        if kind in REPEATS:
            _, most, part = value
            ((inner, _),) = list(part) if len(part) == 1 else ((None, None),)
            simple = str(inner) in CHARACTERS or (most == 1 and _is_simple(part))
        elif kind == "BRANCH":
            simple = all(map(_is_simple, value[1]))
        elif kind == "SUBPATTERN":
            simple = value[1] == value[2] == 0 and _is_simple(value[3])
        elif kind in ("ASSERT", "ASSERT_NOT"):
            simple = value[0] == 1 and _is_simple(value[1])
        else:
            simple = kind in CHARACTERS or (kind == "AT" and str(value) in (*STARTS, *ENDS))
        if not simple:
            return False
    return True


class _Text:
    """A name in which expressions are looked for; bit n of a set of places stands before its nth
    character.
    """

    def __init__(self, text: str) -> None:
        self._length = len(text)
        self._places: dict[str, int] = {}
        for n, character in enumerate(text):
            self._places[character] = self._places.get(character, 0) | 1 << n

    def ends(self, nodes: Nodes, begins: int) -> int:
        """Return the places where the parts may end if they begin at any of some places."""
        for op, value in nodes:
            if not begins:
                break
            begins = self._step(str(op), value, begins)
        return begins

    def _step(self, kind: str, value: Any, begins: int) -> int:
        if kind in CHARACTERS:
            return (begins & self._where(kind, value)) << 1
        if kind in REPEATS:
            least, most, part = value
            return self._repeated(int(least), int(most), part, begins)
        if kind == "BRANCH":
            found = 0
            for part in value[1]:
                found |= self.ends(part, begins)
            return found
        if kind == "SUBPATTERN":
            return self.ends(value[3], begins)
        if kind == "AT":
            return begins & (1 if str(value) in STARTS else 1 << self._length)
        places = [n for n in range(self._length + 1) if begins >> n & 1]
        ahead = sum(1 << n for n in places if self.ends(value[1], 1 << n))
        return ahead if kind == "ASSERT" else begins & ~ahead

    def _repeated(self, least: int, most: int, part: Nodes, begins: int) -> int:
        for _ in range(min(least, self._length + 1)):
            begins = self.ends(part, begins)
        found = new = begins
        for _ in range(min(most - least, self._length)):
            new = self.ends(part, new) & ~found
            if not new:
                break
            found |= new
        return found

    def _where(self, kind: str, value: Any) -> int:
        """Return the places before a character of a kind."""
        test = _test(kind, value)
        found = 0
        for character, places in self._places.items():
            if test(character):
                found |= places
        return found


def _test(kind: str, value: Any) -> Callable[[str], bool]:
    if kind == "ANY":
        return lambda character: character != "\n"
    if kind == "LITERAL":
        return lambda character: ord(character) == value
    if kind == "NOT_LITERAL":
        return lambda character: ord(character) != value
    if kind == "RANGE":
        return lambda character: value[0] <= ord(character) <= value[1]
    if kind == "CATEGORY":
        name = str(value).replace("NOT_", "")
        return lambda character: CATEGORIES[name](character) == (name == str(value))
    negated = bool(value) and str(value[0][0]) == "NEGATE"
    tests = [_test(str(op), own) for op, own in value[negated:]]
    return lambda character: any(test(character) for test in tests) != negated
