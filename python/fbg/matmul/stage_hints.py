"""Advice for a stage that does not fit the stages before it in a pipeline."""

from __future__ import annotations

from typing import Protocol

from fbg._fbg import StageRow


class Typed(Protocol):
    """The attributes of a stage used here: its row, the types it takes, and its results."""

    _row: StageRow
    _types: dict[str, str]


def way_out(stage: Typed, given: set[str], before: str) -> str:
    """Return advice for a stage that gets values of these types and takes none of them.

    before: the stage that it follows; "" for the first one.
    """
    name = type(stage).__name__
    if "acc" in given:
        return f"; put {'Dequantize' if 'float32' in stage._types else 'Requantize'} before {name}"
    if "acc" not in stage._types:
        return ""
    if stage._row.operand == "columns":
        return "; its values must be float32 where results are"
    if before:
        return f"; one {name} is enough" if name == before else f"; put {name} before {before}"
    return f"; leave {name} out: sums of these weights are float32 already"
