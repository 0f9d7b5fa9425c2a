"""What an instruction reads and writes, and whether two of them can change places."""

from __future__ import annotations

from dataclasses import dataclass

from iced_x86 import Instruction, Mnemonic, OpKind, Register, RegisterExt

# Sums of integers, which may be added in any order: the first operand is both source and result.
SUMS = {Mnemonic.ADD, Mnemonic.SUB, Mnemonic.VPADDD, Mnemonic.VPSUBD, Mnemonic.VPDPBUSD}


@dataclass(frozen=True)
class Effects:
    """What an instruction reads and writes; `replaces` is what no bit is left of."""

    reads: frozenset[int]
    writes: frozenset[int]
    replaces: frozenset[int]
    loads: tuple[tuple[object, int, int], ...]  # (place, first byte, end)
    stores: tuple[tuple[object, int, int], ...]


def overlap(some: tuple[tuple[object, int, int], ...], other: tuple) -> bool:  # type: ignore[type-arg]
    """Whether accesses may meet. Those of different registers belong to different operands."""
    return any(
        p == q and first < other_end and other_first < end
        for p, first, end in some
        for q, other_first, other_end in other
    )


def is_sum_with(x: Instruction, y: Instruction, a: Effects, b: Effects) -> bool:
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
