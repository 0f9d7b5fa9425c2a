"""What tasks are called with: checked, and put into one form. Errors name the argument."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import cast

from fbg.arrays import require_integer

__all__ = [
    "Pair",
    "require_choice",
    "require_count",
    "require_iterable",
    "require_pairs",
    "require_same_number",
    "require_texts",
]

Pair = tuple[str, str]


MOST = 2**31 - 1  # of counts that nothing else bounds


def require_count(where: str, value: object, least: int = 1) -> int:
    return require_integer(value, where, least, MOST)


def require_choice(where: str, value: object, allowed: Sequence[str]) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{where} must be one of {', '.join(allowed)}, got {value!r}")
    return value


def require_iterable(where: str, values: object, of: str, *refused: type) -> Iterable[object]:
    """Return what can be iterated, but for bytes and the types that are refused."""
    if isinstance(values, (bytes, *refused)) or not hasattr(values, "__iter__"):
        raise TypeError(f"{where} must be {of}, got {type(values).__name__}")
    return cast(Iterable[object], values)


def require_texts(
    where: str, texts: object, *, several: bool = False, keys: bool = False
) -> list[str]:
    """Return a str, or an iterable of them, as a list.

    several: a str alone is refused. keys: a mapping counts as its keys; else it is refused.
    """
    wanted = "a sequence of str" if several else "a str or a sequence of str"
    if isinstance(texts, str):
        if several:
            raise TypeError(f"{where} must be {wanted}, got str")
        return [texts]
    result = []
    for n, text in enumerate(require_iterable(where, texts, wanted, *(() if keys else (Mapping,)))):
        if not isinstance(text, str):
            raise TypeError(f"{where}[{n}] must be a str, got {type(text).__name__}")
        result.append(text)
    return result


def require_pairs(where: str, pairs: object, *, or_texts: bool) -> list[str | Pair]:
    """Return a sequence of pairs of str, (text, text_pair); of single str too with `or_texts`."""
    wanted = "a str or a pair of str" if or_texts else "a pair of str"
    result: list[str | Pair] = []
    # Of a mapping the keys would be taken: those of {"text": …, "text_pair": …}, for one.
    for n, item in enumerate(require_iterable(where, pairs, f"a sequence, each {wanted}", Mapping)):
        if or_texts and isinstance(item, str):
            result.append(item)
        elif (
            isinstance(item, (tuple, list))
            and len(item) == 2
            and all(isinstance(part, str) for part in item)
        ):
            result.append((item[0], item[1]))
        else:
            raise TypeError(f"{where}[{n}] must be {wanted}, got {item!r:.80}")
    return result


def require_same_number(where: str, a: list[str], b: list[str], what: str) -> None:
    if len(a) != len(b):
        raise ValueError(f"{where} must be as many as {what}, {len(a)}, got {len(b)}")
