"""Changes of single instructions in generated code.

A change keeps the length of what it replaces. Instructions that nothing depends on are left alone,
and independent neighbours are not swapped (kernel_code.py). Other changes without effect are tried.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

from iced_x86 import Encoder, Instruction, MemorySizeExt, OpKind, Register, RegisterExt
from kernel_code import Instructions

IMMEDIATES = {getattr(OpKind, name) for name in dir(OpKind) if name.startswith("IMMEDIATE")}
KINDS = ("drop", "swap", "offset", "register", "mask", "immediate")
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
        """So many different changes, or as many as are found."""
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
            if change.new != old:
                seen.add((change.offset, change.new))
                yield change

    def drop(self, ip: int) -> Change | None:
        if not self.kernel.can_change(ip):
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
        # The higher bits of a byte often have no meaning.
        wide = x.op_kind(i) != OpKind.IMMEDIATE8
        value = x.immediate(i) ^ (self.random.choice((1, 2, 4, 8)) if wide else 1)
        try:
            new.set_immediate_u64(i, value)
        except (ValueError, OverflowError):
            return None
        return self._changed("immediate", ip, new)


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
