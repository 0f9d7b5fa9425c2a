"""A fuzz target: inputs to begin with, changed at random, for what must bear any bytes."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from random import Random

from helpers.random_cases import Kind

__all__ = ["CORPUS", "target"]

CORPUS = Path(__file__).parent / "corpus"


def target(
    name: str,
    make_seeds: Callable[[], list[bytes]],
    mutate: Callable[[bytes, Random], bytes],
    run: Callable[[bytes], object],
    allowed: tuple[type[Exception], ...],
    cases: int = 200,
) -> Kind:
    """Return the kind of cases.

    mutate: changes one of the seeds, or of the findings that were fixed, which corpus/NAME has.
    """

    @cache
    def seeds() -> list[bytes]:
        return make_seeds() + [path.read_bytes() for path in sorted((CORPUS / name).glob("*"))]

    def draw(rng: Random) -> bytes:
        data = rng.choice(seeds())
        for _ in range(rng.choice((1, 1, 2, 3))):
            data = mutate(data, rng)
        return data

    def accepted(data: bytes) -> str:
        run(data)
        return "accepted"

    return Kind(f"fuzz.{name}", accepted, draw, allowed, cases, seconds=1.0, growth=400 << 20)
