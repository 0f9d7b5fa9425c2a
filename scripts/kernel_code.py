"""The instructions of generated code, and what each reads and writes.

Code is decoded along its branches, so that tables of constants behind it are left alone. Data flow
tells which instructions nothing depends on, and which neighbours may stand in either order.
"""

from __future__ import annotations

from dataclasses import dataclass

from iced_x86 import (
    Decoder,
    FlowControl,
    Instruction,
    InstructionInfoFactory,
    MemorySizeExt,
    Mnemonic,
    OpAccess,
    Register,
    RegisterExt,
)

FLAGS = -1  # as a register
READS = {OpAccess.READ, OpAccess.COND_READ, OpAccess.READ_WRITE, OpAccess.READ_COND_WRITE}
WRITES = {OpAccess.WRITE, OpAccess.COND_WRITE, OpAccess.READ_WRITE, OpAccess.READ_COND_WRITE}
PREFETCHES = {getattr(Mnemonic, name) for name in dir(Mnemonic) if name.startswith("PREFETCH")}
PRESERVED = {getattr(Register, name) for name in ("RBX", "RBP", "RSP", "R12", "R13", "R14", "R15")}
ENDS = {
    FlowControl.RETURN,
    FlowControl.UNCONDITIONAL_BRANCH,
    FlowControl.INDIRECT_BRANCH,
    FlowControl.EXCEPTION,
}
JUMPS = {FlowControl.UNCONDITIONAL_BRANCH, FlowControl.CONDITIONAL_BRANCH, FlowControl.CALL}
Access = tuple[object, int, int]  # (registers of the address, first byte, end)


@dataclass(frozen=True)
class Effects:
    """What an instruction reads and writes; `replaces` is what no bit is left of."""

    reads: frozenset[int] = frozenset()
    writes: frozenset[int] = frozenset()
    replaces: frozenset[int] = frozenset()
    loads: tuple[Access, ...] = ()
    stores: tuple[Access, ...] = ()

    @staticmethod
    def of(x: Instruction, info_factory: InstructionInfoFactory) -> Effects:
        if x.mnemonic in PREFETCHES:  # any address will do
            return Effects()
        info = info_factory.info(x)
        reads = {FLAGS} if x.rflags_read else set()
        writes = {FLAGS} if x.rflags_modified else set()
        replaces = set(writes)
        for used in info.used_registers():
            full = RegisterExt.full_register(used.register)
            whole = RegisterExt.size(used.register) >= 4 or RegisterExt.is_k(used.register)
            if used.access in READS:
                reads.add(full)
            if used.access in WRITES:
                writes.add(full)
                if used.access in (OpAccess.WRITE, OpAccess.READ_WRITE) and whole:
                    replaces.add(full)
        loads, stores = [], []
        for memory in info.used_memory():
            first = (memory.displacement + (1 << 63)) % (1 << 64) - (1 << 63)
            end = first + max(MemorySizeExt.size(memory.memory_size), 1)
            access = ((memory.base, memory.index, memory.scale), first, end)
            loads += [access] if memory.access in READS else []
            stores += [access] if memory.access in WRITES else []
        if x.mnemonic == Mnemonic.VZEROUPPER:  # which computes nothing of what it changes
            reads, replaces = set(), set()
        return Effects(
            frozenset(reads), frozenset(writes), frozenset(replaces), tuple(loads), tuple(stores)
        )


def overlap(some: tuple[Access, ...], others: tuple[Access, ...]) -> bool:
    """Whether accesses may meet. Different registers belong to different operands."""
    return any(
        p == q and first < other_end and other_first < end
        for p, first, end in some
        for q, other_first, other_end in others
    )


class Instructions:
    """The instructions of a kernel, by address."""

    def __init__(self, code: bytes) -> None:
        self.code = code
        self.at: dict[int, Instruction] = {}
        self.next: dict[int, list[int]] = {}
        self.targets: set[int] = set()
        self._decode()
        factory = InstructionInfoFactory()
        self.effects = {ip: Effects.of(x, factory) for ip, x in self.at.items()}
        self.live: dict[int, frozenset[int]] = {}
        self._follow_liveness()

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
            self.at[ip], self.next[ip] = x, follow
            todo += follow

    def _is_useful(self, ip: int, read_later: frozenset[int]) -> bool:
        x, e = self.at[ip], self.effects[ip]
        if x.flow_control == FlowControl.CONDITIONAL_BRANCH:
            return not self._leaves_nothing_out(ip)
        if x.flow_control != FlowControl.NEXT or x.mnemonic == Mnemonic.VZEROUPPER:
            return True
        return bool(e.stores) or bool(e.writes & read_later)

    def _leaves_nothing_out(self, branch: int) -> bool:
        """Whether only instructions that nothing depends on, such as hints, are left out."""
        ip, target = self.at[branch].next_ip, self.at[branch].near_branch_target
        while ip < target and ip in self.at and self.at[ip].flow_control == FlowControl.NEXT:
            if self._is_useful(ip, self.live[ip]):
                return False
            ip = self.at[ip].next_ip
        return ip == target

    def _follow_liveness(self) -> None:
        """Find for each instruction what useful ones read after it before it is replaced."""
        everything = frozenset[int]().union(*(e.reads | e.writes for e in self.effects.values()))
        calls = [x for x in self.at.values() if x.flow_control == FlowControl.CALL]
        before: dict[int, frozenset[int]] = {ip: frozenset() for ip in self.at}
        after = dict(before)
        self.live = after
        changed = True
        while changed:
            changed = False
            for ip in sorted(self.at, reverse=True):
                x, e = self.at[ip], self.effects[ip]
                if x.flow_control == FlowControl.RETURN:  # to the caller, or behind any call
                    out = frozenset(PRESERVED).union(*(before[call.next_ip] for call in calls))
                elif x.flow_control == FlowControl.CALL:  # what is read behind it, its target knows
                    out = before[x.near_branch_target]
                else:
                    out = frozenset[int]().union(*(before[follow] for follow in self.next[ip]))
                into = (out - e.replaces) | (e.reads if self._is_useful(ip, out) else frozenset())
                if x.flow_control == FlowControl.INDIRECT_CALL:
                    into = everything
                if out != after[ip] or into != before[ip]:
                    after[ip], before[ip] = out, into
                    changed = True

    def can_change(self, ip: int) -> bool:
        """Whether an instruction does anything but go on elsewhere, or give a hint."""
        return self.at[ip].flow_control == FlowControl.NEXT and self._is_useful(ip, self.live[ip])

    def are_independent(self, first: int, second: int) -> bool:
        """Whether neighbours may stand in either order."""
        if Mnemonic.VZEROUPPER in (self.at[first].mnemonic, self.at[second].mnemonic):
            return False  # which also shows afterwards
        a, b = self.effects[first], self.effects[second]
        both_write = a.writes & b.writes & self.live[second]
        if a.writes & b.reads or a.reads & b.writes or both_write:
            return False
        return not (
            overlap(a.stores, b.loads) or overlap(a.loads, b.stores) or overlap(a.stores, b.stores)
        )
