"""A fuzz target: inputs to begin with, changed at random, for what must bear any bytes."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from helpers.random_cases import Kind

__all__ = ["CORPUS", "target"]

CORPUS = Path(__file__).parent / "corpus"


def target(name, make_seeds, mutate, run, allowed, cases=200):
    """Return the kind of cases.

    mutate: changes one of the seeds, or of the findings that were fixed, which corpus/NAME has.
    """

    @cache
    def seeds():
        return make_seeds() + [path.read_bytes() for path in sorted((CORPUS / name).glob("*"))]

    def draw(rng):
        data = rng.choice(seeds())
        for _ in range(rng.choice((1, 1, 2, 3))):
            data = mutate(data, rng)
        return data

    def accepted(data):
        run(data)
        return "accepted"

    return Kind(f"fuzz.{name}", accepted, draw, allowed, cases, seconds=1.0, growth=400 << 20)
