"""The table of ops that fbg computes: a function that builds each, with its requirements."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fbg.importers.backends.base import TypedNode

if TYPE_CHECKING:
    from fbg.importers.ops.builder import Builder


FLOAT = ("float32",)
BYTES = ("uint8", "int8")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
NUMBERS = (
    *FLOAT,
    "float64",
    *INTEGERS,
)  # of which functions are exact or as accurate as their type
# The types of elements that ops may only move.
MOVABLE = (*NUMBERS, "bool", "float16", "bfloat16")

Build = Callable[["Builder", TypedNode], None]


@dataclass(frozen=True)
class Entry:
    """build: adds the op. types: types of input 0. constants: inputs whose values must be known.
    since: the first version of the operator set that is supported."""

    build: Build
    types: tuple[str, ...]
    constants: tuple[int, ...]
    since: int


OPS: dict[tuple[str, str], Entry] = {}


def op(
    *names: str,
    types: tuple[str, ...] = FLOAT,
    constants: tuple[int, ...] = (),
    domain: str = "",
    since: int = 1,
) -> Callable[[Build], Build]:
    """Register a function as the one that builds the ops of these names."""

    def register(build: Build) -> Build:
        for name in names:
            OPS[domain, name] = Entry(build, types, constants, since)
        return build

    return register
