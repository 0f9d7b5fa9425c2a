"""The steps of a map in the order in which an output pipeline runs them.

A pipeline has one value at a time, and slots in which steps save values (steps.py). The steps of a
map are taken in their order. A value that the next step would overwrite is saved if a later step
reads it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace

from fbg import _fbg
from fbg.graph.functions import COMPOSED, COMPOSED_OF_TWO, Term
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

COMMUTATIVE = {"add", "multiply", "equal", "merge"}
SHORT = {"absolute", "square_root", "round", "floor", "ceil", "truncate", "relu", "clip"}
MOST_LONG = 4  # functions of many instructions, which kernels repeat for each vector of a tile
OF_THE_LIBRARY = 200  # instructions of a function that is computed element by element


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
    last = steps[-1] if steps[-1][0] == "quantize" else None
    if dtype not in ("float32", "bool") and last is None:
        return None
    expansion = _Expansion(count)
    for register, step in enumerate(steps if last is None else steps[:-1], count):
        expansion.append(step, operands.get(register))
    result = expansion.registers[-1 if last is None else last[1]]
    given = {register: read for register, read in operands.items() if register < count}
    written = _Writer(count, given | expansion.read, x).write(expansion.steps, result)
    if written is None:
        return None
    if last is not None:
        written.append(Quantization(last[3], int(last[4]), dtype))
    elif dtype == "bool":
        written.append(Quantization(1.0, 0, "uint8"))
    return written


def program_steps(
    steps: Sequence[MapStep], count: int, kept: Set[str]
) -> tuple[list[MapStep], list[float]]:
    """Return the steps of a map with those of COMPOSED in place of functions that are not kept, and
    the numbers that they read, which are further operands.
    """
    expansion = _Expansion(count, kept)
    for step in steps:
        expansion.append(step, None)
    numbers = [read.number for read in expansion.read.values()]
    if expansion.registers[-1] != count + len(expansion.steps) - 1:
        last = expansion.registers[-1]
        expansion.steps.append(("affine", last, last, 1.0, 0.0))

    def moved(register: int) -> int:
        if register < 0:
            return count - 1 - register
        return register if register < count else register + len(numbers)

    return [(f, moved(a), moved(b), c0, c1) for f, a, b, c0, c1 in expansion.steps], numbers


def fits(steps: Sequence[Step], reserved: int = 0) -> bool:
    """Whether a pipeline may have these steps, besides as many stages as are reserved."""
    long = sum(isinstance(step, Activation) and step.function not in SHORT for step in steps)
    return len(steps) + reserved <= _fbg.MAX_STAGES and long <= MOST_LONG


def cost(function: str) -> int:
    """Return how many instructions a function of a map takes for a vector of elements."""
    expansion = _Expansion(2)
    expansion.append((function, 0, 1, 2.0, 2.0), None)
    return sum(_fbg.COSTS.get(name, OF_THE_LIBRARY) for name, *_ in expansion.steps)


def integers(steps: Sequence[MapStep], register: int, count: int) -> tuple[int, MapStep] | None:
    """Return the register and the step that dequantizes an operand, if no other step reads it.

    count: how many operands there are.
    """
    readers = [n for n, (_, a, b, _, _) in enumerate(steps) if register in (a, b)]
    if len(readers) != 1 or steps[readers[0]][0] != "dequantize":
        return None
    return count + readers[0], steps[readers[0]]


def _made(function: str, row: Callable[..., Term], *arguments: Term | float) -> Term:
    """Return what a row of a table of functions makes; a mistake in it is no refusal of an op."""
    try:
        made = row(*arguments)
    except TypeError as error:
        raise AssertionError(f"functions.py: the row of '{function}': {error}") from error
    assert isinstance(made, Term), f"functions.py: the row of '{function}' made {made!r}, no Term"
    return made


@dataclass
class _Expansion:
    """The steps of a map with those of COMPOSED in place of its functions.

    registers: what number each register of the map has. read: registers of constants and of what is
    read in place of a step, which have negative numbers. kept: functions that are not replaced.
    """

    count: int
    kept: Set[str] = frozenset()
    steps: list[MapStep] = field(default_factory=list)
    read: dict[int, Binary] = field(default_factory=dict)
    registers: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.registers = list(range(self.count))

    def append(self, step: MapStep, instead: Binary | None) -> None:
        """Append what computes a step of the map, or what is read instead."""
        if instead is not None:
            self.registers.append(self._reading(instead))
            return
        function, a, b, c0, c1 = step
        u, v = (Term(self.registers[register], self._apply) for register in (a, b))
        if function in self.kept:
            made = self._apply(function, u, v, c0, c1)
        elif function in COMPOSED:
            made = _made(function, COMPOSED[function], u, c0, c1)
        elif function in COMPOSED_OF_TWO:
            made = _made(function, COMPOSED_OF_TWO[function], u, v)
        else:
            made = self._apply(function, u, v, c0, c1)
        self.registers.append(made.register)

    def _apply(
        self, function: str, a: Term | float, b: Term | float | None, c0: float, c1: float
    ) -> Term:
        u = self._register(a)
        v = u if b is None else self._register(b)
        self.steps.append((function, u, v, c0, c1))
        return Term(self.count + len(self.steps) - 1, self._apply)

    def _register(self, value: Term | float) -> int:
        if isinstance(value, Term):
            return value.register
        return self._reading(Binary("add", "constant", number=value))

    def _reading(self, read: Binary) -> int:
        register = -1 - len(self.read)
        self.read[register] = read
        return register


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
        for function, a, b, _, _ in steps:
            self.uses.update({a, b} if function in OPERATIONS else {a})
        self.uses[result] += 1
        if not self._save_tensors(steps):
            return None
        for number, (function, a, b, c0, c1) in enumerate(steps, self.count):
            binary = function in OPERATIONS
            done = self._combine(function, a, b) if binary else self._apply(function, a, c0, c1)
            if not done:
                return None
            self.value = number
        return self.written if self._load(result) else None

    def _save_tensors(self, steps: Sequence[MapStep]) -> bool:
        """Save a tensor that is read several times: a pipeline reads each but once."""
        reads = Counter(r for f, a, b, _, _ in steps for r in ((a, b) if f in OPERATIONS else (a,)))
        for register, read in [*self.others.items()]:
            if read.operand == "matrix" and reads[register] > 1:
                if not self._load(register):
                    return False
                del self.others[register]
                if not self._save(register):
                    return False
        return True

    def _apply(self, function: str, a: int, c0: float, c1: float) -> bool:
        """Write a function of the value in register a."""
        if function not in ACTIVATIONS or (function == "clip" and not c0 <= c1):
            return False
        if not self._load(a):
            return False
        self.uses[a] -= 1
        if self.uses[a] > 0 and not self._save(a):
            return False
        self.written.append(Activation(function, c0, c1))
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
