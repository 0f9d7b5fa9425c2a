"""Work: token sequences for one engine to compute for a task."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from fbg.arrays import Floats, Indices
from fbg.runtime.engine import Engine, Types


def _everything(number: int, output: Floats) -> Floats:
    return output


def copied(number: int, output: Floats) -> Floats:
    """Keep a copy of all rows of a sequence, instead of the output of its whole batch."""
    return output.copy()


@dataclass(frozen=True)
class Work:
    """Sequences to compute, and the function that keeps results.

    keep: called once for each sequence, with its number and its rows of the output, from any
        thread. Its result must not be a view if memory matters: the rows belong to the
        output of a whole batch.
    where: the name of the function in errors.
    batch_size: the most sequences of a batch, if the work is computed by itself.
    before, after: how many sequences of the same request were submitted earlier or will be
        submitted later, if a request is computed in parts.
    types: the token types of each sequence; None stands for zeros, and so does no sequence at all.
        For a tower of pictures, the rows of patches of each.
    """

    engine: Engine
    ids: Sequence[Indices]
    where: str
    keep: Callable[[int, Floats], Floats] = _everything
    batch_size: int = 32
    before: int = 0
    after: int = 0
    types: Sequence[Types] = ()

    @property
    def is_part(self) -> bool:
        return self.before > 0 or self.after > 0
