"""Errors of the library in the words of a request.

The library speaks of its arguments (`encode: sentences[2] …`), which a client does not know. What
the message of a request calls them follows from its fields and ALIASES.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import msgspec

from fbg.server.errors import Fault, RequestError

# The names in messages of arguments of the library, if they do not have a field of its name.
ALIASES = {
    "sentences": ("inputs", "input"),
    "texts": ("inputs",),
    "images": ("inputs", "input"),
    "document": ("inputs",),
    "documents": ("texts",),
    "truncation": ("truncate",),
    "truncate_dim": ("dimensions",),
    "normalize_embeddings": ("normalize",),
    "top_k": ("top_n",),
}
LITERALS = {"True": "true", "False": "false", "None": "null"}


def fault_of_library(error: ValueError, message: Any) -> RequestError:
    """Return an error that the library raised for a request, in the request's words."""
    keys = {name: path for path, name, value in _values(message) if value is not None}
    text = re.sub(r"^\w+: ", "", str(error))

    def key_of(argument: str) -> str | None:
        return next((keys[n] for n in (argument, *ALIASES.get(argument, ())) if n in keys), None)

    def said(match: re.Match[str]) -> str:
        key = key_of(match[1])
        return match[0] if key is None else f"`{key}`: {LITERALS[match[2]]}"

    # "truncation=True truncates it" is advice on a field that is usually left out.
    text = re.sub(r"\b(\w+)=(True|False|None)\b", said, text)
    first = re.match(r"\w+", text)
    key = None if first is None else key_of(first[0])
    if first is not None and key is not None:
        text = f"`{key}`{text[first.end() :]}"
    return RequestError(Fault.VALIDATION, text, key)


def _values(message: Any, above: str = "") -> Iterator[tuple[str, str, Any]]:
    """Yield the path, the name and the value of each field, inner ones included."""
    if not isinstance(message, msgspec.Struct):
        return
    for name, value in msgspec.structs.asdict(message).items():
        yield above + name, name, value
        yield from _values(value, f"{above}{name}.")
