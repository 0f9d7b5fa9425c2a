"""Changes of single instructions in generated code, and which of them cannot change what it does.

Code is decoded along its branches, so that tables of constants behind it are left alone. A change
keeps the length of what it replaces. Changes without any effect are found by data flow: which
registers, flags and memory each instruction reads and writes, and what is read later.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from iced_x86 import (
    Decoder,
    Encoder,
    FlowControl,
    Instruction,
    InstructionInfoFactory,
    MemorySizeExt,
    Mnemonic,
    OpAccess,
    OpKind,
    Register,
    RegisterExt,
)

KINDS = ("drop", "swap", "offset", "register", "mask", "immediate")
FLAGS = -1  # as a register; slots of the stack are those below
READS = {OpAccess.READ, OpAccess.COND_READ, OpAccess.READ_WRITE, OpAccess.READ_COND_WRITE}
WRITES = {OpAccess.WRITE, OpAccess.COND_WRITE, OpAccess.READ_WRITE, OpAccess.READ_COND_WRITE}
PRESERVED = {getattr(Register, name) for name in ("RBX", "RBP", "RSP", "R12", "R13", "R14", "R15")}
HINTS = {getattr(Mnemonic, name) for name in dir(Mnemonic) if name.startswith("PREFETCH")}
# A store to a slot of the stack by one of these is only read by others of them at the same place.
SLOT_MOVES = {Mnemonic.MOV, Mnemonic.ADD, Mnemonic.SUB, Mnemonic.CMP, Mnemonic.CMOVG}
SLOTS = -1000
# Sums of integers, which may be added in any order: the first operand is both source and result.
SUMS = {Mnemonic.ADD, Mnemonic.SUB, Mnemonic.VPADDD, Mnemonic.VPSUBD, Mnemonic.VPDPBUSD}
# By length, from 1 to 9 bytes.
NOPS = (
    *("90", "6690", "0f1f00", "0f1f4000", "0f1f440000", "660f1f440000"),
    *("0f1f8000000000", "0f1f840000000000", "660f1f840000000000"),
)


def nops(count: int) -> bytes:
    whole, rest = divmod(count, len(NOPS))
    return bytes.fromhex(NOPS[-1] * whole + (NOPS[rest - 1] if rest else ""))


@dataclass(frozen=True)
class Change:
    """Bytes that take the place of others at an offset."""

    kind: str
    offset: int
    new: bytes
    text: str


@dataclass(frozen=True)
class Effects:
    """What an instruction reads and writes; `replaces` is what no bit is left of."""

    reads: frozenset[int]
    writes: frozenset[int]
    replaces: frozenset[int]
    loads: tuple[tuple[object, int, int], ...]  # (place, first byte, end)
    stores: tuple[tuple[object, int, int], ...]


class Instructions:
    """The instructions of a kernel, by address."""

    def __init__(self, code: bytes) -> None:
        self.code = code
        self.at: dict[int, Instruction] = {}
        self.next: dict[int, list[int]] = {}
        self.targets: set[int] = set()
        self.has_calls = False
        self._info = InstructionInfoFactory()
        self._visited = {0}
        self._decode()
        self.effects = {ip: self._effects(x) for ip, x in self.at.items()}
        self.live = self._live()
        self.loaded = self._loaded()

    def _decode(self) -> None:
        decoder = Decoder(64, self.code)
        todo = [0]
        while todo:
            ip = todo.pop()
            if ip in self.at:
                continue
            decoder.position = decoder.ip = ip
            x = decoder.decode()
            if not x:
                raise ValueError(f"no instruction at {ip:#x}: {self.code[ip : ip + 16].hex()}")
            follow = [] if x.flow_control in ENDS else [x.next_ip]
            if x.flow_control in JUMPS:
                follow.append(x.near_branch_target)
                self.targets.add(x.near_branch_target)
            self.has_calls |= x.flow_control in (FlowControl.CALL, FlowControl.INDIRECT_CALL)
            self.at[ip], self.next[ip] = x, follow
            todo += follow

    def _effects(self, x: Instruction) -> Effects:
        reads: set[int] = set()
        writes: set[int] = set()
        replaces: set[int] = set()
        if x.mnemonic in HINTS:  # any address will do
            return Effects(frozenset(), frozenset(), frozenset(), (), ())
        info = self._info.info(x)
        for used in info.used_registers():
            full = RegisterExt.full_register(used.register)
            wide = RegisterExt.size(used.register) >= 4 or RegisterExt.is_k(used.register)
            if used.access in READS:
                reads.add(full)
            if used.access in WRITES:
                writes.add(full)
                if used.access in (OpAccess.WRITE, OpAccess.READ_WRITE) and wide:
                    replaces.add(full)
        if x.rflags_read:
            reads.add(FLAGS)
        if x.rflags_modified:
            writes.add(FLAGS)
            replaces.add(FLAGS)
        loads, stores = [], []
        for memory in info.used_memory():
            place: object = (memory.base, memory.index, memory.scale)
            first = memory.displacement
            if first >= 1 << 63:
                first -= 1 << 64
            size = max(MemorySizeExt.size(memory.memory_size), 1)
            is_slot = memory.base == Register.RSP and x.mnemonic in SLOT_MOVES
            if is_slot and memory.index == Register.NONE and first >= 0 and size == 8:
                if memory.access in READS:
                    reads.add(SLOTS - first)
                if memory.access in WRITES:
                    writes.add(SLOTS - first)
                    replaces.add(SLOTS - first)
                continue
            if memory.access in READS:
                loads.append((place, first, first + size))
            if memory.access in WRITES:
                stores.append((place, first, first + size))
        return Effects(
            frozenset(reads), frozenset(writes), frozenset(replaces), tuple(loads), tuple(stores)
        )

    def _is_useful(self, ip: int, read_later: frozenset[int]) -> bool:
        x, e = self.at[ip], self.effects[ip]
        if x.flow_control != FlowControl.NEXT or x.mnemonic == Mnemonic.VZEROUPPER:
            return True
        adds = x.mnemonic in (Mnemonic.ADD, Mnemonic.SUB) and FLAGS not in read_later
        if adds and x.op1_kind in IMMEDIATES and x.immediate(1) == 0:
            return False
        return bool(e.stores) or bool(e.writes & read_later)

    def _live(self) -> dict[int, frozenset[int]]:
        """For each instruction, what useful ones read after it before it is replaced."""
        everything = frozenset(
            {FLAGS} | {r for e in self.effects.values() for r in e.reads | e.writes}
        )
        at_return = everything if self.has_calls else frozenset(PRESERVED)
        before: dict[int, frozenset[int]] = {ip: frozenset() for ip in self.at}
        after = dict(before)
        changed = True
        while changed:
            changed = False
            for ip in sorted(self.at, reverse=True):
                x, e = self.at[ip], self.effects[ip]
                out = at_return if x.flow_control == FlowControl.RETURN else frozenset()
                for follow in self.next[ip]:
                    out |= before[follow]
                into = (out - e.replaces) | (e.reads if self._is_useful(ip, out) else frozenset())
                if x.flow_control in (FlowControl.CALL, FlowControl.INDIRECT_CALL):
                    into = everything
                if out != after[ip] or into != before[ip]:
                    after[ip], before[ip] = out, into
                    changed = True
        return after

    def _loaded(self) -> dict[int, frozenset[str]]:
        """For each instruction, the loads whose results are still in their registers before it.

        Only loads of constants and of arguments count, which no kernel writes.
        """
        loads = {ip: str(x) for ip, x in self.at.items() if self._is_constant_load(ip)}
        targets = {text: self.effects[ip].writes for ip, text in loads.items()}
        everything = frozenset(targets)
        before = dict.fromkeys(self.at, everything)
        before[0] = frozenset()
        todo = [0]
        while todo:
            ip = todo.pop()
            writes = self.effects[ip].writes
            calls = self.at[ip].flow_control in (FlowControl.CALL, FlowControl.INDIRECT_CALL)
            kept = {t for t in before[ip] if not (calls or targets[t] & writes)}
            if Register.RDI in writes:
                kept.clear()
            if ip in loads:
                kept.add(loads[ip])
            for follow in self.next[ip]:
                into = before[follow] & kept
                if into != before[follow] or follow not in self._visited:
                    self._visited.add(follow)
                    before[follow] = into
                    todo.append(follow)
        return before

    def _is_constant_load(self, ip: int) -> bool:
        x = self.at[ip]
        if x.mnemonic in (Mnemonic.VPXOR, Mnemonic.VPXORD):  # of a register with itself: zero
            return len({x.op_register(i) for i in range(3)}) == 1
        if x.mnemonic not in (Mnemonic.MOV, Mnemonic.VBROADCASTSS) or x.op_count != 2:
            return False
        if x.op0_kind != OpKind.REGISTER or x.op_mask != Register.NONE:
            return False
        if x.op1_kind != OpKind.MEMORY:
            return x.mnemonic == Mnemonic.MOV and x.op1_kind in IMMEDIATES
        return x.memory_base in (Register.RIP, Register.RDI) and x.memory_index == Register.NONE

    def repeats_load(self, ip: int) -> bool:
        """Whether the register holds already what an instruction loads."""
        return self._is_constant_load(ip) and str(self.at[ip]) in self.loaded[ip]

    def can_change(self, ip: int) -> bool:
        """Whether an instruction does anything but go on elsewhere, or give a hint."""
        return self.at[ip].flow_control == FlowControl.NEXT and self._is_useful(ip, self.live[ip])

    def are_independent(self, first: int, second: int) -> bool:
        """Whether neighbours may stand in either order."""
        a, b = self.effects[first], self.effects[second]
        if _is_sum_with(self.at[first], self.at[second], a, b) and FLAGS not in self.live[second]:
            return True
        if (a.writes & b.reads) or (a.reads & b.writes):
            return False
        if a.writes & b.writes & self.live[second]:
            return False
        return not (
            _overlap(a.stores, b.loads)
            or _overlap(a.loads, b.stores)
            or _overlap(a.stores, b.stores)
        )


ENDS = {
    FlowControl.RETURN,
    FlowControl.UNCONDITIONAL_BRANCH,
    FlowControl.INDIRECT_BRANCH,
    FlowControl.EXCEPTION,
}
JUMPS = {FlowControl.UNCONDITIONAL_BRANCH, FlowControl.CONDITIONAL_BRANCH, FlowControl.CALL}


def _overlap(some: tuple[tuple[object, int, int], ...], other: tuple) -> bool:  # type: ignore[type-arg]
    """Whether accesses may meet. Those of different registers belong to different operands."""
    return any(
        p == q and first < other_end and other_first < end
        for p, first, end in some
        for q, other_first, other_end in other
    )


def _is_sum_with(x: Instruction, y: Instruction, a: Effects, b: Effects) -> bool:
    """Whether both add to the same register."""
    if x.mnemonic not in SUMS or y.mnemonic not in SUMS or x.op0_kind != OpKind.REGISTER:
        return False
    if y.op0_kind != OpKind.REGISTER or x.op0_register != y.op0_register:
        return False
    if x.op_mask != Register.NONE or y.op_mask != Register.NONE:
        return False
    target = RegisterExt.full_register(x.op0_register)
    for z in (x, y):
        others = [
            RegisterExt.full_register(z.op_register(i))
            for i in range(1, z.op_count)
            if z.op_kind(i) == OpKind.REGISTER
        ]
        adds = z.mnemonic in (Mnemonic.VPADDD, Mnemonic.VPSUBD)
        if adds and (not others or others[0] != target or target in others[1:]):
            return False
        if not adds and target in others:
            return False
    return target in a.writes and target in b.writes


def encoded(x: Instruction, ip: int, length: int) -> bytes | None:
    """The bytes of an instruction at an address, padded to a length; None where they are more."""
    encoder = Encoder(64)
    try:
        encoder.encode(x, ip)
    except ValueError:
        return None
    new = encoder.take_buffer()
    return new + nops(length - len(new)) if len(new) <= length else None


class Mutator:
    """Changes of a kernel at random."""

    def __init__(self, code: bytes, random: Random) -> None:
        self.kernel = Instructions(code)
        self.random = random
        self.order = sorted(self.kernel.at)

    def changes(self, count: int) -> Iterator[Change]:
        """So many different changes that data flow does not show to be without effect."""
        seen: set[tuple[int, bytes]] = set()
        for _ in range(50 * count):
            if len(seen) == count:
                return
            kind = self.random.choice(KINDS)
            ip = self.random.choice(self.order)
            change: Change | None = getattr(self, kind)(ip)
            if change is None or (change.offset, change.new) in seen:
                continue
            old = self.kernel.code[change.offset : change.offset + len(change.new)]
            if change.new == old:
                continue
            seen.add((change.offset, change.new))
            yield change

    def drop(self, ip: int) -> Change | None:
        if not self.kernel.can_change(ip) or self.kernel.repeats_load(ip):
            return None
        x = self.kernel.at[ip]
        return Change("drop", ip, nops(x.len), f"{ip:#x}: {x} dropped")

    def swap(self, ip: int) -> Change | None:
        kernel = self.kernel
        x = kernel.at[ip]
        y = kernel.at.get(x.next_ip)
        if y is None or x.next_ip in kernel.targets:
            return None
        if not (kernel.can_change(ip) and kernel.can_change(x.next_ip)):
            return None
        if kernel.are_independent(ip, x.next_ip):
            return None
        first = encoded(y, ip, y.len)
        second = encoded(x, ip + y.len, x.len)
        if first is None or second is None:
            return None
        return Change("swap", ip, first + second, f"{ip:#x}: {x} swapped with {y}")

    def _changed(self, kind: str, ip: int, new: Instruction) -> Change | None:
        x = self.kernel.at[ip]
        code = encoded(new, ip, x.len)
        return Change(kind, ip, code, f"{ip:#x}: {x} became {new}") if code else None

    def _memory_operand(self, x: Instruction) -> bool:
        return any(x.op_kind(i) == OpKind.MEMORY for i in range(x.op_count))

    def offset(self, ip: int) -> Change | None:
        x = self.kernel.at[ip]
        if not (self.kernel.can_change(ip) and self._memory_operand(x)):
            return None
        size = max(MemorySizeExt.size(x.memory_size), 1)
        delta = self.random.choice((4, -4, size, -size, 64, -64))
        new = x.copy()
        new.memory_displacement = (x.memory_displacement + delta) & 0xFFFFFFFFFFFFFFFF
        if new.memory_displ_size == 0:
            return None
        return self._changed("offset", ip, new)

    def register(self, ip: int) -> Change | None:
        x = self.kernel.at[ip]
        if not self.kernel.can_change(ip):
            return None
        places = [
            ("op", i, x.op_register(i))
            for i in range(x.op_count)
            if x.op_kind(i) == OpKind.REGISTER
        ]
        if self._memory_operand(x):
            for name in ("memory_base", "memory_index"):
                if getattr(x, name) not in (Register.NONE, Register.RIP):
                    places.append((name, 0, getattr(x, name)))
        places = [p for p in places if _file_of(p[2])]
        if not places:
            return None
        name, i, old = self.random.choice(places)
        file = [r for r in _file_of(old) if r != old]
        chosen = self.random.choice(file)
        new = x.copy()
        if name == "op":
            new.set_op_register(i, chosen)
            to_dead = RegisterExt.full_register(chosen) not in self.kernel.live[ip]
            if i == 0 and to_dead and self.kernel.repeats_load(ip):
                return None
        else:
            setattr(new, name, chosen)
        return self._changed("register", ip, new)

    def mask(self, ip: int) -> Change | None:
        x = self.kernel.at[ip]
        if x.op_mask == Register.NONE or not self.kernel.can_change(ip):
            return None
        new = x.copy()
        what = self.random.choice(("none", "other", "zeroing"))
        if what == "zeroing":
            if x.op0_kind == OpKind.MEMORY:
                return None
            new.zeroing_masking = not x.zeroing_masking
        else:
            others = [k for k in range(Register.K1, Register.K7 + 1) if k != x.op_mask]
            new.op_mask = Register.NONE if what == "none" else self.random.choice(others)
            if what == "none":
                new.zeroing_masking = False
        return self._changed("mask", ip, new)

    def immediate(self, ip: int) -> Change | None:
        x = self.kernel.at[ip]
        places = [i for i in range(x.op_count) if x.op_kind(i) in IMMEDIATES]
        if not places or not self.kernel.can_change(ip):
            return None
        i = self.random.choice(places)
        new = x.copy()
        # Of a byte, higher bits often have no meaning.
        wide = x.op_kind(i) != OpKind.IMMEDIATE8
        value = x.immediate(i) ^ (self.random.choice((1, 2, 4, 8)) if wide else 1)
        try:
            new.set_immediate_u64(i, value)
        except (ValueError, OverflowError):
            return None
        return self._changed("immediate", ip, new)


IMMEDIATES = {getattr(OpKind, name) for name in dir(OpKind) if name.startswith("IMMEDIATE")}


def _file_of(register: int) -> list[int]:
    """The registers that may stand in the place of one."""
    if RegisterExt.is_zmm(register):
        return list(range(Register.ZMM0, Register.ZMM31 + 1))
    if RegisterExt.is_ymm(register):
        return list(range(Register.YMM0, Register.YMM15 + 1))
    if RegisterExt.is_xmm(register):
        return list(range(Register.XMM0, Register.XMM15 + 1))
    if RegisterExt.is_k(register):
        return list(range(Register.K1, Register.K7 + 1))
    if RegisterExt.is_gpr64(register):
        return list(range(Register.RAX, Register.R15 + 1))
    if RegisterExt.is_gpr32(register):
        return list(range(Register.EAX, Register.R15D + 1))
    return []
