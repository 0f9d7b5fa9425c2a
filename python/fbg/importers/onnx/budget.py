"""Limits how much data and work may be made of a file while it is loaded.

A few bytes can ask for any amount of work and memory: functions that call functions, constants that
are expanded, thousands of tensors that are the same part of a file. Work that is larger or takes
longer than in proportion to the file is charged here before it is begun.
"""

from __future__ import annotations

from dataclasses import dataclass

# Limits for each byte that is given, and an addition for small files.
_BYTES, _SLACK_BYTES = 8, 2**26
_STEPS, _SLACK_STEPS = 32, 2**27
_NODES, _SLACK_NODES = 1 / 64, 2**12
_SLACK_REPEATED = 7 * 2**24


@dataclass
class Budget:
    """The rest of the budget: bytes of tensors, nodes, and steps of work.

    A step is an element of an op that NumPy computes. repeated: bytes of tensors that repeat one
    element: they take memory only where they are packed, and once.
    """

    bytes: int
    steps: int
    nodes: int
    repeated: int

    @classmethod
    def of(cls, size: int) -> Budget:
        """Return the budget of a file or of constants of so many bytes."""
        budget = cls(_SLACK_BYTES, _SLACK_STEPS, _SLACK_NODES, _SLACK_REPEATED)
        budget.give(size)
        return budget

    def give(self, size: int) -> None:
        """Add the budget for so many bytes of another file."""
        self.bytes += _BYTES * size
        self.steps += _STEPS * size
        self.nodes += int(_NODES * size)
        self.repeated += _BYTES * size

    def take(self, size: int, steps: int = 0, nodes: int = 0, repeated: int = 0) -> bool:
        """Whether there is room for so much more; if there is, it is taken."""
        if size > self.bytes or steps > self.steps or nodes > self.nodes:
            return False
        if repeated > self.repeated:
            return False
        self.repeated -= repeated
        self.bytes -= size
        self.steps -= steps
        self.nodes -= nodes
        return True
