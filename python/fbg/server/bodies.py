"""The bodies of requests: from bytes to messages whose lists are bounded and whose size is known.

    bytes -> JSON -> message, in which null for an optional key is absence -> limits -> size

No other code loops over a list of a request before its length has been compared here.
"""

from __future__ import annotations

import codecs
import json
import re
import sys
from collections.abc import Iterator
from functools import cache
from typing import Any, TypeVar, get_args

import msgspec

from fbg.server.errors import Fault, RequestError

M = TypeVar("M")

MOST_CHARACTERS = 240  # of an error, which repeats keys
MOST_IDS = 1 << 16  # of a sequence: the tokenizer joins one in one piece, keeping the interpreter
BYTES_OF_INT = 40  # with its place in a list

COMPRESSED = {b"\x1f\x8b": "gzip", b"\x28\xb5\x2f\xfd": "zstd"}
WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
WANTED = "it must be JSON in UTF-8"
# `\ud83d` without its other half behind it, or `\ude00` without one before it, where the backslash
# is not itself escaped.
HALF = re.compile(
    rb"(?<!\\)(?:\\\\)*(\\u[dD](?:[89abAB]..(?!\\u[dD][c-fC-F])|(?<!\\u[dD][89abAB]..\\u[dD])[c-fC-F]))",
    re.DOTALL,
)
SURROGATE = re.compile("[\ud800-\udfff]")


def decode(body: bytes | msgspec.Raw, kind: type[M]) -> M:
    """Return the message of a body; raises RequestError, and what msgspec raises for a body that is
    no JSON (`not_json`)."""
    try:
        return _decoder(kind).decode(body)  # type: ignore[no-any-return, arg-type]
    except msgspec.ValidationError as error:
        again = _with_absent_keys(body, kind)
        if again is None:
            raise _wrong(error) from None
    try:
        return _decoder(kind).decode(again)  # type: ignore[no-any-return, arg-type]
    except msgspec.ValidationError as error:
        raise _wrong(error) from None


def _with_absent_keys(body: bytes | msgspec.Raw, kind: Any) -> bytes | None:
    """Return the body without optional keys that are null; None if there are none."""
    try:
        given = msgspec.json.decode(body)
        plain = _without_nulls(given, kind)
        return None if plain == given else msgspec.json.encode(plain)
    except (ValueError, RecursionError):
        return None


def _wrong(error: msgspec.ValidationError) -> RequestError:
    return RequestError(Fault.VALIDATION, str(error)[:MOST_CHARACTERS])


@cache
def _decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    return msgspec.json.Decoder(kind)


def _without_nulls(value: Any, kind: Any) -> Any:
    """Return a JSON value without the keys of optional fields that are null."""
    struct = next(_structs(kind), None)
    if struct is None:
        return value
    if isinstance(value, list) and len(value) <= MOST_IDS:
        return [_without_nulls(item, kind) for item in value]
    if not isinstance(value, dict):
        return value
    fields = {field.encode_name: field for field in msgspec.structs.fields(struct)}
    return {
        key: _without_nulls(item, fields[key].type) if key in fields else item
        for key, item in value.items()
        if item is not None or key not in fields or fields[key].required
    }


def _structs(kind: Any) -> Iterator[type[msgspec.Struct]]:
    """Yield the structs that a type consists of, in unions and lists."""
    if isinstance(kind, type) and issubclass(kind, msgspec.Struct):
        yield kind
    for each in get_args(kind):
        yield from _structs(each)


# --- What is no JSON ------------------------------------------------------------------------------


def not_json(body: bytes, error: str, encoding: str = "") -> RequestError:
    """Return the error of a body that is not JSON. It takes long for a long one.

    error: of the decoder. encoding: the header Content-Encoding.
    """
    return RequestError(Fault.MALFORMED, _what_is_wrong(body, error, encoding))


def _what_is_wrong(body: bytes, error: str, encoding: str) -> str:
    packed = next((name for magic, name in COMPRESSED.items() if body.startswith(magic)), encoding)
    if packed:
        return f"the body is compressed ({packed[:20]}), which is not supported; {WANTED}"
    if body.startswith(codecs.BOM_UTF8):
        return f"the body begins with a byte order mark (BOM, at byte 0); {WANTED} without one"
    if body.startswith(WIDE) or b"\0" in body[:4]:
        return f"the body is in UTF-16 or UTF-32, not in UTF-8 (at byte 0); {WANTED}"
    try:
        body.decode()
    except UnicodeDecodeError as wrong:
        where = f"at byte {wrong.start} of the body{_in_text(body)}"
        return f"the body is not UTF-8: {wrong.reason} {where}"
    half = HALF.search(body)
    if half is not None:
        escape = half[1][:6].decode(errors="replace")
        where = f"at byte {half.start(1)} of the body{_in_text(body)}"
        return f"the body has half a character of UTF-16 ({escape} without its other half) {where}"
    return f"the body is not valid JSON: {error.removeprefix('JSON is malformed: ')}"


def _in_text(body: bytes) -> str:
    """Return which text of a body has a part that is no character, for an error."""
    try:
        path = _path_of(json.loads(body.decode("utf-8", "surrogateescape")))
    except (ValueError, RecursionError):
        return ""
    return f", in `{path.removeprefix('.')}`" if path else ""


def _path_of(value: Any) -> str | None:
    """Return where in a JSON value the first text is that has a part that is no character."""
    if isinstance(value, str):
        return None if value.isascii() or not SURROGATE.search(value) else ""
    items = value.items() if isinstance(value, dict) else ()
    for key, item in enumerate(value) if isinstance(value, list) else items:
        found = _path_of(item)
        if found is not None:
            return (f"[{key}]" if isinstance(key, int) else f".{key[:80]}") + found
    return None


# --- Lists and sizes ------------------------------------------------------------------------------


def require_lists_within(value: Any, most: int, path: str = "") -> None:
    """Raise RequestError for a list in a message that has too many items.

    most: items of a list; sequences of token ids may have MOST_IDS, if these are more.
    """
    if isinstance(value, msgspec.Struct):
        dot = "." if path else ""
        for name in value.__struct_fields__:
            require_lists_within(getattr(value, name), most, f"{path}{dot}{name}")
    elif isinstance(value, list) and value:
        are_ids = type(value[0]) is int
        limit = max(most, MOST_IDS) if are_ids else most
        if len(value) > limit:
            text = f"batch size {len(value)} > maximum allowed batch size {limit}"  # TEI's words
            if are_ids:
                text = f"each of `{path}` must have at most {limit} token ids, got {len(value)}"
            elif path != "inputs":
                text += f" of `{path}`"
            raise RequestError(Fault.VALIDATION, text, path)
        for item in () if are_ids else value:
            if isinstance(item, (list, msgspec.Struct)):
                require_lists_within(item, most, path)


def size_of(value: Any) -> int:
    """Return the bytes that a message takes, whose lists are bounded; those of `Raw` are not
    counted, which are a part of the body."""
    if isinstance(value, msgspec.Struct):
        return sum(size_of(getattr(value, name)) for name in value.__struct_fields__)
    if isinstance(value, (list, tuple)):
        inner = BYTES_OF_INT * len(value) if value and type(value[0]) is int else 0
        return sys.getsizeof(value) + (inner or sum(map(size_of, value)))
    return sys.getsizeof(value) if isinstance(value, str) else 0
