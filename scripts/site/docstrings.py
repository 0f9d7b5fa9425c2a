"""An extension of griffe, for mkdocs.yml: our plain docstrings become sections that it knows.

    rows: how many.                  Args:
        At most 8.                       rows: how many.
    a, b: matrices.                          At most 8.
                               ->        a: (and b) matrices.
                                         b: see `a`.

    >>> f(2)                         Examples:
    4                                    >>> f(2)
                                         4

A paragraph describes parameters (of a class: its fields) if each of its lines that is not indented
begins with the names of some.
"""

from __future__ import annotations

import re
import textwrap
from typing import Any

from griffe import Class, ExprSubscript, Extension, Function, Object

ENTRY = re.compile(r"(\w+(?:, \w+)*): ")
TITLES = ("Args:", "Attributes:")


class PlainDocstrings(Extension):
    """Rewrites docstrings before they are parsed."""

    def on_object(self, *, obj: Object, **_: Any) -> None:
        returns = obj.returns if isinstance(obj, Function) else None
        if isinstance(returns, ExprSubscript) and str(returns.left) == "Steps":
            obj.returns = returns.slice  # of a task, which callers get the result of
        if obj.docstring is None:
            return
        names: set[str] = set()
        title = TITLES[isinstance(obj, Class)]
        if isinstance(obj, Function):
            names = {parameter.name for parameter in obj.parameters}
        elif isinstance(obj, Class):
            names = set(obj.attributes)
        obj.docstring.value = rewritten(obj.docstring.value, names, title)


def rewritten(text: str, names: set[str], title: str) -> str:
    """Return a docstring in which descriptions of `names`, and examples, stand in sections."""
    paragraphs: list[str] = []
    section = ""
    for paragraph in re.split(r"\n\s*\n", text):
        first, _, rest = paragraph.partition("\n")
        if first in TITLES:
            found, body = first, one_entry_a_name(textwrap.dedent(rest))
        elif first.startswith(">>> "):
            found, body = "Examples:", paragraph
        elif describes(paragraph, names):
            found, body = title, one_entry_a_name(paragraph)
        else:
            found, body = "", paragraph
        if found:
            body = textwrap.indent(body, "    ")
        paragraphs.append(body if found in ("", section) else f"{found}\n{body}")
        section = found
    return "\n\n".join(paragraphs)


def describes(paragraph: str, names: set[str]) -> bool:
    if paragraph.startswith(" "):  # a formula, a table
        return False
    entries = [ENTRY.match(line) for line in paragraph.split("\n") if not line.startswith(" ")]
    return all(entry is not None and set(entry[1].split(", ")) <= names for entry in entries)


def one_entry_a_name(paragraph: str) -> str:
    """Split entries that describe several names at once."""
    result = []
    for entry in re.split(r"\n(?=\S)", paragraph):
        match = ENTRY.match(entry)
        first, *others = match[1].split(", ") if match else [""]
        if match and others:
            entry = f"{first}: (and {', '.join(others)}) {entry[match.end() :]}"
        result += [entry, *(f"{name}: see `{first}`." for name in others)]
    return "\n".join(result)
