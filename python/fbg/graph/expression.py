"""The steps of a map in the order in which an output pipeline runs them.

A pipeline has one value at a time, and slots in which steps save values (steps.py). The steps of a
map are taken in their order. A value that the next step would overwrite is saved if a later step
reads it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from fbg import _fbg
from fbg.graph.ops.common import MapStep
from fbg.graph.steps import (
    ACTIVATIONS,
    OPERATIONS,
    Activation,
    Binary,
    Quantization,
    Save,
    Step,
)

COMMUTATIVE = {"add", "multiply", "equal"}
LONG = {"gelu", "gelu_tanh", "tanh", "sigmoid", "silu", "exp"}
MOST_LONG = 4  # functions of many instructions, which kernels repeat for each vector of a tile


def pipeline_steps(
    steps: Sequence[MapStep],
    operands: Mapping[int, Binary],
    x: int | None,
    dtype: str,
    count: int,
) -> list[Step] | None:
    """Return the steps of a pipeline that computes those of a map, or None if there are none.

    operands: how the pipeline reads registers besides x: operands of the map, and what dequantizes
    these. x: the operand that is its first value. dtype: of the result. count: of all operands.
    """
    expanded, registers = _expanded(steps, count)
    known = {registers[register]: read for register, read in operands.items()}
    last = expanded.pop() if expanded[-1][0] == "quantize" else None
    if dtype not in ("float32", "bool") and last is None:
        return None
    result = count + len(expanded) - 1 if last is None else last[1]
    written = _Writer(count, known, x).write(expanded, result)
    if written is None:
        return None
    if last is not None:
        written.append(Quantization(last[3], int(last[4]), dtype))
    elif dtype == "bool":
        written.append(Quantization(1.0, 0, "uint8"))
    return written


def fits(steps: Sequence[Step], reserved: int = 0) -> bool:
    """Whether a pipeline may have these steps, besides as many stages as are reserved."""
    long = sum(isinstance(step, Activation) and step.function in LONG for step in steps)
    return len(steps) + reserved <= _fbg.MAX_STAGES and long <= MOST_LONG


def integers(steps: Sequence[MapStep], register: int, count: int) -> tuple[int, MapStep] | None:
    """Return the register and the step that dequantizes an operand, if no other step reads it.

    count: how many operands there are.
    """
    readers = [n for n, (_, a, b, _, _) in enumerate(steps) if register in (a, b)]
    if len(readers) != 1 or steps[readers[0]][0] != "dequantize":
        return None
    return count + readers[0], steps[readers[0]]


def _expanded(given: Sequence[MapStep], count: int) -> tuple[list[MapStep], list[int]]:
    """Return the steps with several in place of functions that read a value twice, and what number
    each register has in them.
    """
    registers = list(range(count))
    steps: list[MapStep] = []

    def add(function: str, a: int, b: int, c0: float = 0.0, c1: float = 0.0) -> int:
        steps.append((function, a, b, c0, c1))
        return count + len(steps) - 1

    for function, a, b, c0, c1 in given:
        u, v = registers[a], registers[b]
        if function == "square":
            registers.append(add("multiply", u, u))
        elif function == "hard_swish":
            registers.append(add("multiply", u, add("hard_sigmoid", u, u, 1 / 6, 0.5)))
        else:
            registers.append(add(function, u, v, c0, c1))
    return steps, registers


def _function(function: str, c0: float, c1: float) -> list[Step] | None:
    """Return the steps of a function of one operand, or None if there are no such steps."""

    def number(operation: str, value: float, swapped: bool = False) -> Binary:
        return Binary(operation, "constant", number=value, reversed=swapped)

    line: list[Step] = [number("multiply", c0), number("add", c1)]
    simple: dict[str, list[Step]] = {
        "affine": line,
        "hard_sigmoid": [*line, Activation("clip", 0.0, 1.0)],
        "dequantize": [number("subtract", c1), number("multiply", c0)],
        "leaky": [number("prelu", c0)],
        "negate": [number("multiply", -1.0)],
        "reciprocal": [number("divide", 1.0, swapped=True)],
        "not": [number("equal", 0.0)],
    }
    if function in simple:
        return simple[function]
    if function not in ACTIVATIONS or (function == "clip" and not c0 <= c1):
        return None
    return [Activation(function, c0, c1)]


@dataclass
class _Writer:
    """Writes the steps of a map as those of a pipeline.

    count: of operands. others: how registers that are no values of the pipeline are read. value:
    the register whose value the pipeline has. slots: of registers that are saved. uses: how many
    steps have yet to read a register.
    """

    count: int
    others: dict[int, Binary]
    value: int | None
    written: list[Step] = field(default_factory=list)
    slots: dict[int, int] = field(default_factory=dict)
    uses: Counter[int] = field(default_factory=Counter)

    def write(self, steps: Sequence[MapStep], result: int) -> list[Step] | None:
        """Return the steps after which the pipeline has the value of a register; None if none."""
        for number, (function, a, b, _, _) in enumerate(steps, self.count):
            if number not in self.others:
                self.uses.update({a, b} if function in OPERATIONS else {a})
        self.uses[result] += 1
        for number, (function, a, b, c0, c1) in enumerate(steps, self.count):
            if number in self.others:
                continue
            binary = function in OPERATIONS
            done = self._combine(function, a, b) if binary else self._apply(function, a, c0, c1)
            if not done:
                return None
            self.value = number
        return self.written if self._load(result) else None

    def _apply(self, function: str, a: int, c0: float, c1: float) -> bool:
        """Write a function of the value in register a."""
        steps = _function(function, c0, c1)
        if steps is None or not self._load(a):
            return False
        self.uses[a] -= 1
        if self.uses[a] > 0 and not self._save(a):
            return False
        self.written += steps
        return True

    def _combine(self, operation: str, a: int, b: int) -> bool:
        """Write an operation on two registers, of which one becomes the value of the pipeline."""
        swapped = a != b and (b == self.value or (a in self.others and a != self.value))
        value, other = (b, a) if swapped else (a, b)
        if not self._load(value):
            return False
        for register in {value, other}:
            self.uses[register] -= 1
        if (other == value or self.uses[value] > 0) and not self._save(value):
            return False
        reverses = swapped and operation not in COMMUTATIVE
        self.written.append(self._read(other, operation, reverses))
        return True

    def _read(self, register: int, operation: str, reverses: bool) -> Binary:
        known = self.others.get(register)
        if known is None:
            known = Binary(operation, "slot", slot=self.slots[register])
        return replace(known, operation=operation, reversed=reverses)

    def _load(self, register: int) -> bool:
        """Make the value of a register that of the pipeline, and save that which it had."""
        if register == self.value:
            return True
        if self.value is not None and self.uses[self.value] > 0 and not self._save(self.value):
            return False
        if register not in self.slots and register not in self.others:
            return False
        self.written.append(self._read(register, "replace", False))
        self.value = register
        return True

    def _save(self, register: int) -> bool:
        if register in self.slots or register in self.others:
            return True
        used = {slot for saved, slot in self.slots.items() if self.uses[saved] > 0}
        free = [slot for slot in range(_fbg.MAX_SLOTS) if slot not in used]
        if not free:
            return False
        self.slots = {r: slot for r, slot in self.slots.items() if slot != free[0]}
        self.slots[register] = free[0]
        self.written.append(Save(free[0]))
        return True
