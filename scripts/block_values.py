"""What a straight piece of generated code computes, as values that two pieces can be compared by.

Registers and memory hold terms over what they held before. Terms that are equal by arithmetic, or
by what a kernel is promised, are the same term: sums of integers in another order, a zero point
that is promised to be 0 added, constants that are stored twice, arguments that are loaded again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field

from iced_x86 import (
    Instruction,
    InstructionInfoFactory,
    MemorySizeExt,
    Mnemonic,
    OpAccess,
    OpKind,
    Register,
    RegisterExt,
)
from kernel_promises import COL, LOWEST, PANEL_COLUMNS, STAGE_SIZE, STAGES, Promises

FLAGS = -1  # as a register
SLOTS = -1000  # slots of the stack, as registers, from here downwards
READS = {OpAccess.READ, OpAccess.COND_READ, OpAccess.READ_WRITE, OpAccess.READ_COND_WRITE}
WRITES = {OpAccess.WRITE, OpAccess.COND_WRITE, OpAccess.READ_WRITE, OpAccess.READ_COND_WRITE}
IMMEDIATES = {getattr(OpKind, name) for name in dir(OpKind) if name.startswith("IMMEDIATE")}
PREFETCHES = {getattr(Mnemonic, name) for name in dir(Mnemonic) if name.startswith("PREFETCH")}
HINTS = PREFETCHES | {Mnemonic.NOP}
ZEROS = {Mnemonic.VPXOR, Mnemonic.VPXORD, Mnemonic.VXORPS, Mnemonic.XOR}
COPIES = {Mnemonic.VMOVAPS, Mnemonic.VMOVUPS, Mnemonic.VMOVDQA, Mnemonic.VMOVDQU, Mnemonic.MOV}
BROADCASTS = {Mnemonic.VBROADCASTSS, Mnemonic.VPBROADCASTD}
BYTE_PACKS = {Mnemonic.VPACKSSWB, Mnemonic.VPACKUSWB}

Term = int
Place = tuple[object, int, int]  # (what addresses share, first byte, size)


class Terms:
    """Terms by number: equal ones have the same."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[object, ...], Term] = {}
        self._all: list[tuple[object, ...]] = []

    def of(self, *parts: object) -> Term:
        number = self._numbers.setdefault(parts, len(self._all))
        if number == len(self._all):
            self._all.append(parts)
        return number

    def parts(self, term: Term) -> tuple[object, ...]:
        return self._all[term]


@dataclass
class State:
    """What registers hold, and what was written and read meanwhile."""

    registers: dict[int, Term] = field(default_factory=dict)
    stores: list[tuple[Place, Term]] = field(default_factory=list)
    accesses: set[Place] = field(default_factory=set)
    events: list[Term] = field(default_factory=list)


class Evaluator:
    """Runs instructions on terms."""

    def __init__(self, code: bytes, promises: Promises, widest: int) -> None:
        self.code = code
        self.promises = promises
        self.widest = widest  # bytes of a vector
        self.terms = Terms()
        self._info = InstructionInfoFactory()
        # Codes of instructions.
        self._broadcasts: set[int] = set()
        self._mask_moves: set[int] = set()
        self._ands: set[int] = set()
        self._comparisons: set[int] = set()
        self._arguments = self.terms.of("the place of the arguments")
        self._slots: set[int] = set()  # offsets from rsp at first of those that hold it

    def set_arguments(self, state: State, places: Iterable[int]) -> None:
        """Tell where the place of the arguments is: in rdi, or in slots of the stack."""
        self._slots = {SLOTS - place for place in places if place <= SLOTS}
        if Register.RDI in places:
            state.registers[Register.RDI] = self._arguments

    def run(self, instructions: Iterable[Instruction], state: State) -> None:
        for x in instructions:
            if x.mnemonic not in HINTS:
                self._step(x, state)

    # Linear terms of general registers: factor * base + constant.
    def _linear(self, term: Term) -> tuple[object, int, int]:
        parts = self.terms.parts(term)
        if parts[0] == "linear":
            return parts[1], parts[2], parts[3]  # type: ignore[return-value]
        return term, 1, 0

    def _from_linear(self, base: object, factor: int, constant: int) -> Term:
        wrap = 1 << 64
        if base is None or factor % wrap == 0:
            return self.terms.of("linear", None, 0, constant % wrap)
        if factor == 1 and constant % wrap == 0:
            return base  # type: ignore[return-value]
        return self.terms.of("linear", base, factor % wrap, constant % wrap)

    def register(self, state: State, register: int) -> Term:
        full = RegisterExt.full_register(register) if register > 0 else register
        return state.registers.setdefault(full, self.terms.of("initial", full))

    def _place(self, memory: object, state: State) -> Place:
        base, factor, constant = None, 0, memory.displacement  # type: ignore[attr-defined]
        size = max(MemorySizeExt.size(memory.memory_size), 1)  # type: ignore[attr-defined]
        if memory.base not in (Register.NONE, Register.RIP):  # type: ignore[attr-defined]
            base, factor, more = self._linear(self.register(state, memory.base))  # type: ignore[attr-defined]
            constant += more
        index: object = None
        if memory.index != Register.NONE:  # type: ignore[attr-defined]
            other, by, more = self._linear(self.register(state, memory.index))  # type: ignore[attr-defined]
            constant += more * memory.scale  # type: ignore[attr-defined]
            if other is not None:
                index = (other, by * memory.scale)  # type: ignore[attr-defined]
        constant = (constant + (1 << 63)) % (1 << 64) - (1 << 63)
        return (base, factor, index), constant, size

    def _load(self, place: Place, state: State) -> Term:
        (base, factor, index), first, size = place  # type: ignore[misc]
        if base is None and index is None:  # behind the code, where constants lie
            return self.terms.of("constant", self.code[first : first + size])
        parts = self.terms.parts(base) if factor == 1 and index is None else ()  # type: ignore[arg-type]
        if parts == ("the place of the arguments",):
            return self.terms.of("argument", first, size)
        if parts == ("argument", STAGES, 8):
            zero = size == 4 and first in self.promises.zeros
            return self.terms.of("zero") if zero else self.terms.of("parameter", first, size)
        state.accesses.add(place)
        for other, value in reversed(state.stores):
            if other == place:
                return self.terms.of("stored", value, size)
            if _may_meet(other, place):
                return self.terms.of("memory", place, "after", len(state.stores), value)
        if parts == ("initial", Register.RSP) and size == 8 and first in self._slots:
            return self._arguments
        return self.terms.of("memory", place)

    def _step(self, x: Instruction, state: State) -> None:
        info = self._info.info(x)
        places = [(self._place(m, state), m.access) for m in info.used_memory()]
        loaded = [self._load(place, state) for place, access in places if access in READS]
        inputs: list[Term] = []
        operands: list[int] = []  # in order; 0 is no register
        for i in range(x.op_count):
            kind = x.op_kind(i)
            operands.append(0)
            if kind == OpKind.REGISTER:
                full = RegisterExt.full_register(x.op_register(i))
                operands[-1] = full
                if info.op_access(i) in READS:
                    inputs.append(self.register(state, full))
            elif kind == OpKind.MEMORY:
                inputs += loaded
            elif kind in IMMEDIATES:
                inputs.append(self.terms.of("immediate", x.immediate(i)))
        mask = x.op_mask
        if mask != Register.NONE:
            inputs.append(self.terms.of("mask", self.register(state, mask), x.zeroing_masking))
        implicit = sorted(
            {
                RegisterExt.full_register(u.register)
                for u in info.used_registers()
                if u.access in READS
            }
            - set(operands)
            - {Register.RSP, x.memory_base, x.memory_index, mask}
        )
        inputs += [self.register(state, r) for r in implicit]
        if not any(x.op_kind(i) == OpKind.MEMORY for i in range(x.op_count)):
            inputs += loaded  # of the stack
        if x.mnemonic == Mnemonic.LEA:
            parts = [self.register(state, r) for r in (x.memory_base, x.memory_index)]
            scale = x.memory_index_scale
            inputs.append(self.terms.of("address", *parts, scale, x.memory_displacement))
        if x.rflags_read:
            inputs.append(self.register(state, FLAGS))
        for mnemonics, codes in (
            (BROADCASTS, self._broadcasts),
            ({Mnemonic.VMOVMSKPS}, self._mask_moves),
            ({Mnemonic.VANDPS}, self._ands),
            ({Mnemonic.VCMPPS}, self._comparisons),
        ):
            if x.mnemonic in mnemonics:
                codes.add(x.code)
        key = (x.code, x.is_broadcast, x.rounding_control, tuple(inputs))
        result = self._known(x, inputs, state)
        for used in info.used_registers():
            if used.access not in WRITES:
                continue
            full = RegisterExt.full_register(used.register)
            if full == Register.RSP and x.mnemonic in (Mnemonic.PUSH, Mnemonic.POP):
                by = -8 if x.mnemonic == Mnemonic.PUSH else 8
                base, factor, constant = self._linear(self.register(state, full))
                state.registers[full] = self._from_linear(base, factor, constant + by)
                continue
            at = next((i for i, r in enumerate(operands) if r == full), None)
            value = self.terms.of(*key, "result", -full if at is None else at)
            if at == 0 and result is not None:
                value = result
            narrow = RegisterExt.size(used.register) < 4 and not RegisterExt.is_k(used.register)
            if narrow:
                value = self.terms.of("part", used.register, self.register(state, full), value)
            state.registers[full] = value
        if x.rflags_modified:
            state.registers[FLAGS] = self._flags(x, inputs, state) or self.terms.of(*key, "flags")
        for place, access in places:
            if access in WRITES:
                state.accesses.add(place)
                state.stores.append((place, self.terms.of(*key, "stored")))
        writes = any(u.access in WRITES for u in info.used_registers()) or x.rflags_modified
        if x.mnemonic == Mnemonic.VZEROUPPER or not (writes or places):
            state.events.append(self.terms.of(*key, x.near_branch_target))

    def _flags(self, x: Instruction, inputs: list[Term], state: State) -> Term | None:
        """The flags of a logical operation, which its result tells."""
        size = RegisterExt.size(x.op0_register)
        if x.op0_kind != OpKind.REGISTER:
            return None
        if x.mnemonic == Mnemonic.KORTESTW:  # carry tells of all ones, which nothing asks for
            return self.terms.of("zero flags of", 2, self._union(inputs))
        if size < 4:
            return None
        if x.mnemonic == Mnemonic.TEST and x.op0_register == x.op1_register:
            return self.terms.of("zero flags of", size, inputs[0])
        if x.mnemonic in (Mnemonic.OR, Mnemonic.AND, Mnemonic.XOR):
            return self.terms.of("zero flags of", size, self.register(state, x.op0_register))
        return None

    def _members(self, term: Term) -> frozenset[Term]:
        """The terms whose bits a term unites."""
        parts = self.terms.parts(term)
        if parts[0] == "union":
            return parts[1]  # type: ignore[return-value]
        is_zero = parts == ("zero",) or parts == ("linear", None, 0, 0)
        return frozenset() if is_zero else frozenset({term})

    def _union(self, terms: Iterable[Term]) -> Term:
        members = frozenset[Term]().union(*(self._members(term) for term in terms))
        return next(iter(members)) if len(members) == 1 else self.terms.of("union", members)

    def only_widens_more(self, old: Term, new: Term) -> bool:
        """Whether flags before a branch tell to widen a range wherever they did, or oftener.

        Widening computes the range from all elements and from the range that is there, which
        remains as it is where none lies outside. The branch saves time, no more.
        """
        a, b = self.terms.parts(old), self.terms.parts(new)
        if a[0] != "zero flags of" or b[:2] != a[:2]:
            return False
        members = self._members(a[2])  # type: ignore[arg-type]
        if not members <= self._members(b[2]):  # type: ignore[arg-type]
            return False
        return bool(members) and all(self._compares(term) for term in members)

    def _compares(self, term: Term) -> bool:
        """Whether a mask tells which elements lie outside a range."""
        parts = self.terms.parts(term)
        if parts[0] in self._mask_moves:  # of AVX2
            return self._compares(parts[3][0])  # type: ignore[index]
        if parts[0] in self._ands:
            return any(self._compares(operand) for operand in parts[3])  # type: ignore[attr-defined]
        if parts[0] not in self._comparisons:
            return False
        predicates = [self.terms.parts(operand) for operand in parts[3]]  # type: ignore[attr-defined]
        return any(p in (("immediate", 9), ("immediate", 6)) for p in predicates)

    def _known(self, x: Instruction, inputs: list[Term], state: State) -> Term | None:
        """The result of an instruction in a form that does not depend on how it came about."""
        if x.op_count == 0 or x.op0_kind != OpKind.REGISTER or x.op_mask != Register.NONE:
            return None
        is_or = x.mnemonic == Mnemonic.OR and RegisterExt.is_gpr32(x.op0_register)
        if (is_or and x.op1_kind == OpKind.REGISTER) or x.mnemonic == Mnemonic.KORW:
            return self._union(inputs)
        of_itself = x.mnemonic in (Mnemonic.KXORW, Mnemonic.XOR) and x.op1_kind == OpKind.REGISTER
        if of_itself and x.op_register(x.op_count - 1) == x.op_register(x.op_count - 2):
            return self._from_linear(None, 0, 0)
        target = x.op0_register
        if RegisterExt.is_gpr64(target):
            return self._known_integer(x, inputs, state)
        if not RegisterExt.is_vector_register(target):
            return None
        return self._known_vector(x, inputs)

    def _known_integer(self, x: Instruction, inputs: list[Term], state: State) -> Term | None:
        immediate = x.immediate(1) if x.op_count == 2 and x.op1_kind in IMMEDIATES else None
        if x.mnemonic == Mnemonic.MOV:
            return inputs[0] if immediate is None else self._from_linear(None, 0, immediate)
        if x.mnemonic == Mnemonic.XOR and x.op0_register == x.op1_register:
            return self._from_linear(None, 0, 0)
        if x.mnemonic == Mnemonic.LEA and x.memory_index == Register.NONE:
            if x.memory_base in (Register.NONE, Register.RIP):
                return self._from_linear(None, 0, x.memory_displacement)
            base, factor, constant = self._linear(self.register(state, x.memory_base))
            return self._from_linear(base, factor, constant + x.memory_displacement)
        if not inputs:
            return None
        base, factor, constant = self._linear(inputs[0])
        if x.mnemonic in (Mnemonic.ADD, Mnemonic.SUB) and immediate is not None:
            sign = 1 if x.mnemonic == Mnemonic.ADD else -1
            return self._from_linear(base, factor, constant + sign * immediate)
        if x.mnemonic == Mnemonic.ADD and x.op1_kind == OpKind.REGISTER and inputs[0] == inputs[1]:
            return self._from_linear(base, 2 * factor, 2 * constant)
        if x.mnemonic == Mnemonic.NEG:
            return self._from_linear(base, -factor, -constant)
        if x.mnemonic == Mnemonic.AND and immediate is not None:
            within = self.terms.parts(inputs[0]) == ("argument", COL, 8)
            if within and immediate == PANEL_COLUMNS - 1 and self.promises.starts_panel:
                return self._from_linear(None, 0, 0)
            if factor == 1 and (-immediate) % (1 << 64) == 64:
                rounded = self.terms.of("rounded down", base, constant % 64)
                return self._from_linear(rounded, 1, constant - constant % 64)
        return None

    def _known_vector(self, x: Instruction, inputs: list[Term]) -> Term | None:
        zero = self.terms.of("zero")
        width = RegisterExt.size(x.op0_register)
        if x.mnemonic in ZEROS and x.op_count == 3 and len({x.op_register(i) for i in (1, 2)}) == 1:
            return zero if x.op2_kind == OpKind.REGISTER else None
        if x.mnemonic in COPIES and width == self.widest and x.op1_kind == OpKind.REGISTER:
            return inputs[0]
        if x.mnemonic in BROADCASTS and inputs[0] == zero:
            return zero
        if x.mnemonic in (Mnemonic.VPADDD, Mnemonic.VPSUBD, Mnemonic.VPDPBUSD):
            return self._sum(x, inputs)
        if x.mnemonic == Mnemonic.VFMADD231PS and self.promises.any_order:
            product = self.terms.of(x.code, x.is_broadcast, inputs[1], inputs[2])
            return self._total(width, [(inputs[0], 1), (product, 1)])
        if x.mnemonic in (Mnemonic.VMAXPS, Mnemonic.VMINPS):
            return self._bounded(x, inputs)
        if x.mnemonic == Mnemonic.VCVTPS2DQ and self.promises.packed:
            return self.terms.of("rounded", width, self._unbounded(inputs[0]))
        if x.mnemonic in BYTE_PACKS and width == 16:
            # Of AVX2: the 8 lanes of a vector make 8 bytes, and no more are stored.
            return self.terms.of(x.code, inputs[0])
        return None

    def _sum(self, x: Instruction, inputs: list[Term]) -> Term:
        """Sums of 32-bit integers by what is added how often, which the order does not change."""
        width = RegisterExt.size(x.op0_register)
        added: list[tuple[Term, int]]
        if x.mnemonic == Mnemonic.VPDPBUSD:
            product = self.terms.of(x.code, x.is_broadcast, inputs[1], inputs[2])
            added = [(inputs[0], 1), (product, 1)]
        else:
            second = inputs[1]
            if x.is_broadcast and self.terms.parts(second) != ("zero",):
                second = self.terms.of("all", second)
            added = [(inputs[0], 1), (second, 1 if x.mnemonic == Mnemonic.VPADDD else -1)]
        return self._total(width, added)

    def _total(self, width: int, added: list[tuple[Term, int]]) -> Term:
        total, alone = 0, None
        for term, times in added:
            parts = self.terms.parts(term)
            if parts == ("zero",):
                continue
            if parts[0] == "sum" and parts[1] == width:
                total += times * parts[2]  # type: ignore[operator]
            else:
                total += times * _digest(term)
            alone = term if alone is None and times == 1 else ()
        if isinstance(alone, int):
            return alone
        return self.terms.of("sum", width, total)

    def _bound(self, term: Term) -> Term | None:
        """The parameter that is a bound of numbers, where a term is one in all lanes."""
        parts = self.terms.parts(term)
        if parts[0] == "parameter" and parts[2] == 4 and parts[1] in self.promises.bounds:
            return term
        is_broadcast = parts[0] in self._broadcasts
        return self._bound(parts[3][0]) if is_broadcast else None  # type: ignore[index]

    def _bounded(self, x: Instruction, inputs: list[Term]) -> Term | None:
        first = self.terms.parts(inputs[0])
        bound = self._bound(inputs[1])
        if bound is None:
            return None
        lowest = self.terms.parts(bound)[1] % STAGE_SIZE == LOWEST  # type: ignore[operator]
        if lowest != (x.mnemonic == Mnemonic.VMAXPS):
            return None
        if first[0] == "bounded":
            return self.terms.of("bounded", first[1], first[2] | {bound})  # type: ignore[operator]
        return self.terms.of("bounded", inputs[0], frozenset({bound}))

    def _unbounded(self, term: Term) -> Term:
        parts = self.terms.parts(term)
        if parts[0] != "bounded":
            return term
        offsets = {bound: self.terms.parts(bound)[1] for bound in parts[2]}  # type: ignore[attr-defined]
        left = frozenset(b for b, offset in offsets.items() if offset not in self.promises.packed)
        return self.terms.of("bounded", parts[1], left) if left else parts[1]  # type: ignore[return-value]


def _digest(term: Term) -> int:
    return int.from_bytes(hashlib.blake2b(str(term).encode(), digest_size=16).digest(), "little")


def _may_meet(a: Place, b: Place) -> bool:
    """Whether two accesses may meet. Those of different registers belong to different operands."""
    if a[0] == b[0]:
        return a[1] < b[1] + b[2] and b[1] < a[1] + a[2]
    return a[0][0] == b[0][0]  # type: ignore[index]


def same_effects(
    a: State, b: State, live: Iterable[int], evaluator: Evaluator, widens: bool = False
) -> bool:
    """Whether what follows cannot tell one from the other.

    That is also the case where they end with a test whether to widen a range, and the second does
    so wherever the first does.
    """
    branches = [state.events[-1:] if widens else [] for state in (a, b)]
    events = [s.events[: len(s.events) - len(x)] for s, x in zip((a, b), branches, strict=True)]
    if events[0] != events[1] or not b.accesses <= a.accesses:
        return False
    different = {r for r in live if evaluator.register(a, r) != evaluator.register(b, r)}
    if branches[0] != branches[1] or FLAGS in different:
        flags = [evaluator.register(state, FLAGS) for state in (a, b)]
        if not (widens and evaluator.only_widens_more(*flags)):
            return False
    if different - {FLAGS}:
        return False
    if a.stores == b.stores:
        return True
    places = [place for place, _ in a.stores]
    if any(_may_meet(p, q) for i, p in enumerate(places) for q in places[:i]):
        return False
    return sorted(map(str, a.stores)) == sorted(map(str, b.stores))
