"""Checks the arguments of tasks and puts them into one form. Errors name the argument."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Sized
from typing import TypeVar, cast

import numpy as np

from fbg.arrays import require_integer
from fbg.errors import ModelError
from fbg.networks.config import EncoderConfig
from fbg.progress import active_progress
from fbg.text.tokenization import Text

Pair = tuple[str, str]

MOST = 2**31 - 1  # limit of counts that nothing else bounds

# A block: many batches of average texts, so that sorting finds texts of one length; but not many
# tokens if texts are long.
BLOCK_TEXTS = 2048
BLOCK_CHARACTERS = 1 << 20
WATCHED_TEXTS = 256  # texts of a block if the caller reports progress


def require_tower(config: EncoderConfig, method: str) -> None:
    """Raise ModelError if a network reads pictures only."""
    if config.picture is not None:
        raise ModelError(
            f"{method}: a model of type {config.model_type} has no tower for texts; it has: "
            "encode_image, forward_image"
        )


def require_count(where: str, value: object, least: int = 1) -> int:
    return require_integer(value, where, least, MOST)


def require_choice(where: str, value: object, allowed: Sequence[str]) -> str:
    if not isinstance(value, str) or value not in allowed:
        raise ValueError(f"{where} must be one of {', '.join(allowed)}, got {value!r}")
    return value


def require_iterable(where: str, values: object, wanted: str) -> Iterable[object]:
    """Return a container of texts: any iterable, a NumPy array, an Arrow array.

    Bytes, mappings and tables are refused: iterating over them gives their keys or the names of
    their columns, which are texts too, but hardly the intended ones.
    """
    got = type(values).__name__
    if isinstance(values, Mapping):
        raise TypeError(f"{where} must be {wanted}, got {got}: pass one of its values")
    if hasattr(values, "columns") or hasattr(values, "column_names"):
        raise TypeError(f"{where} must be {wanted}, got {got}: pass one of its columns")
    if isinstance(values, (str, bytes, bytearray)) or not hasattr(values, "__iter__"):
        single = isinstance(values, str) and wanted.endswith(
            (" sequence of str", "iterable of str")
        )
        way_out = ": pass a list that holds it" if single else ""
        raise TypeError(f"{where} must be {wanted}, got {got}{way_out}")
    if isinstance(values, np.ndarray) and values.ndim == 0:
        raise TypeError(f"{where} must be {wanted}, got an array of shape ()")
    return (_python_value(value) for value in cast(Iterable[object], values))


def _python_value(value: object) -> object:
    """Return the value of a scalar of an Arrow array; other objects stay as they are."""
    convert: Callable[[], object] | None = getattr(value, "as_py", None)
    return value if convert is None else convert()


def require_texts(where: str, texts: object, *, several: bool = False) -> list[str]:
    """Return a str, or an iterable of them, as a list. several: a str alone is refused."""
    wanted = "a sequence of str" if several else "a str or a sequence of str"
    if isinstance(texts, str) and not several:
        return [texts]
    return list(checked_texts(where, require_iterable(where, texts, wanted), 0))


def checked_texts(where: str, texts: Iterable[object], first: int) -> Iterator[str]:
    for n, text in enumerate(texts, first):
        if not isinstance(text, str):
            raise TypeError(f"{where}[{n}] must be a str, got {type(text).__name__}")
        yield text


def require_pairs(where: str, pairs: object) -> list[Pair]:
    """Return a sequence of pairs of str, (text, text_pair)."""
    wanted = "a pair of str"
    result: list[Pair] = []
    for n, item in enumerate(require_iterable(where, pairs, "a sequence of pairs of str")):
        pair = as_pair(item)
        if pair is None:
            raise TypeError(f"{where}[{n}] must be {wanted}, got {item!r:.80}")
        result.append(pair)
    return result


def require_texts_or_pairs(where: str, texts: object) -> list[Text]:
    """Return a str, or a sequence of str and of pairs of str, as a list."""
    wanted = "a str or a pair of str"
    if isinstance(texts, str):
        return [texts]
    result: list[Text] = []
    several = "a str, or a sequence of str and of pairs of str"
    for n, item in enumerate(require_iterable(where, texts, several)):
        text = item if isinstance(item, str) else as_pair(item)
        if text is None:
            raise TypeError(f"{where}[{n}] must be {wanted}, got {item!r:.80}")
        result.append(text)
    return result


def as_pair(item: object) -> Pair | None:
    """Return two str in a tuple, a list or an array as a pair; None for anything else."""
    values = item.tolist() if isinstance(item, np.ndarray) else item
    if isinstance(values, (tuple, list)) and len(values) == 2:
        first, second = values
        if isinstance(first, str) and isinstance(second, str):
            return first, second
    return None


def require_same_number(where: str, a: Sequence[object], b: Sequence[object], what: str) -> None:
    if len(a) != len(b):
        raise ValueError(f"{where} must have as many items as {what}, {len(a)}, got {len(b)}")


SomeText = TypeVar("SomeText", bound=Text)


def text_blocks(texts: Iterable[SomeText]) -> Iterator[list[SomeText]]:
    """Cut texts, or texts and pairs, into lists that bound the memory of the computation.

    Reports progress if the number of texts is known.
    """
    progress = active_progress()
    if progress is None or not isinstance(texts, Sized):
        yield from cut_blocks(texts)
        return
    done, total = 0, len(texts)
    progress("texts", done, total)
    for block in cut_blocks(texts, WATCHED_TEXTS):
        yield block
        done += len(block)
        progress("texts", done, total)


def cut_blocks(texts: Iterable[SomeText], most: int | None = None) -> Iterator[list[SomeText]]:
    """Do the same, and report nothing. most: texts of a block; None: BLOCK_TEXTS."""
    most = most or BLOCK_TEXTS
    block: list[SomeText] = []
    characters = 0
    for text in texts:
        block.append(text)
        characters += len(text) if isinstance(text, str) else len(text[0]) + len(text[1])
        if len(block) == most or characters >= BLOCK_CHARACTERS:
            yield block
            block, characters = [], 0
    if block:
        yield block
