"""Names of layers in settings: whole names, names of what layers are part of, or regular
expressions after "re:".
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from fbg.checkpoints.settings import Settings

REGULAR = "re:"
QUANTIFIER = re.compile(r"(?<!\\)[*+?{]")
# A settings file is not trusted: with more of them, or groups that repeat, a match may take years.
MOST_QUANTIFIERS = 4
REPEATED_GROUP = re.compile(r"\)[*+{]")


@dataclass(frozen=True)
class Patterns:
    """names: as they are in the file."""

    names: tuple[str, ...]

    def match(self, module: str) -> bool:
        """Whether a layer, or what it is part of, is named."""
        return any(
            re.match(name.removeprefix(REGULAR), module) is not None
            if name.startswith(REGULAR)
            else f".{name}." in f".{module}."
            for name in self.names
        )


def read_patterns(settings: Settings, key: str) -> Patterns:
    """Return the names under a key, none where there is none; raises ModelError."""
    names = settings.get(key)
    if names is None:
        return Patterns(())
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise settings.error(key, "a list of names")
    for name in names:
        if name.startswith(REGULAR) and not _is_simple(name.removeprefix(REGULAR)):
            raise settings.error(key, "a list of names and simple regular expressions")
    return Patterns(tuple(names))


def _is_simple(expression: str) -> bool:
    """Whether an expression is one, and whether it can be matched in little time."""
    try:
        re.compile(expression)
    except (re.error, RecursionError, OverflowError):
        return False
    few = len(QUANTIFIER.findall(expression)) <= MOST_QUANTIFIERS
    return few and REPEATED_GROUP.search(expression) is None
