"""The instructions of generated code, and what data flow tells about them.

Code is decoded along its branches, so that tables of constants behind it are left alone. Registers,
flags and memory that each instruction reads and writes are known, and what is read later.
"""

from __future__ import annotations

from block_values import (
    FLAGS,
    IMMEDIATES,
    PREFETCHES,
    READS,
    SLOTS,
    WRITES,
    Evaluator,
    State,
    same_effects,
)
from iced_x86 import (
    Decoder,
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
from instruction_effects import Effects, is_sum_with, overlap
from kernel_promises import STAGES, Promises

PRESERVED = {getattr(Register, name) for name in ("RBX", "RBP", "RSP", "R12", "R13", "R14", "R15")}
# A store to a slot of the stack by one of these is only read by others of them at the same place.
SLOT_MOVES = {Mnemonic.MOV, Mnemonic.ADD, Mnemonic.SUB, Mnemonic.CMP, Mnemonic.CMOVG}
LOADS = {Mnemonic.MOV, Mnemonic.VBROADCASTSS, Mnemonic.VPBROADCASTD, Mnemonic.VMOVUPS}
SUBNORMAL = 0x20  # of vfpclassps
ALIGNED = {getattr(Mnemonic, "VMOV" + name) for name in ("APS", "DQA", "DQA32", "DQA64", "APD")}


class Instructions:
    """The instructions of a kernel, by address."""

    def __init__(self, code: bytes, name: str = "") -> None:
        self.code = code
        self.name = name
        self.promises = Promises.of(name)
        self.at: dict[int, Instruction] = {}
        self.next: dict[int, list[int]] = {}
        self.targets: set[int] = set()
        self.has_calls = False
        self._info = InstructionInfoFactory()
        self._decode()
        self.effects = {ip: self._effects(x) for ip, x in self.at.items()}
        self._returns_to = self._find_returns()
        self.runs = self._find_what_runs()
        self.live = self._live()
        self.arguments = self._arguments()
        self._stages: dict[int, set[int]] = {}  # registers that hold the place of their parameters
        self.loaded = self._loaded()
        self._stages = {
            ip: {x.op0_register for x in loads.values() if _loads_stages(x)}
            for ip, loads in self.loaded.items()
        }
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

    def _find_returns(self) -> dict[int, set[int]]:
        """For each return from a function within the code, where it goes."""
        returns: dict[int, set[int]] = {}
        for x in self.at.values():
            if x.flow_control != FlowControl.CALL:
                continue
            todo, visited = [x.near_branch_target], set()
            while todo:
                ip = todo.pop()
                if ip in visited:
                    continue
                visited.add(ip)
                if self.at[ip].flow_control == FlowControl.RETURN:
                    returns.setdefault(ip, set()).add(x.next_ip)
                todo += self.next[ip]
        return returns

    def _find_what_runs(self) -> set[int]:
        """All but the code that rounds subnormal numbers, where none can be."""
        never: set[tuple[int, int]] = set()
        for x in self.at.values() if self.promises.no_subnormals else ():
            test = self.at.get(x.next_ip)
            branch = self.at.get(test.next_ip) if test else None
            if x.mnemonic == Mnemonic.VFPCLASSPS and x.immediate(x.op_count - 1) == SUBNORMAL:
                same = test and x.op0_register == test.op0_register == test.op1_register
                if same and branch and branch.mnemonic == Mnemonic.JNE:
                    never.add((branch.ip, branch.near_branch_target))
        todo, visited = [0], set()
        while todo:
            ip = todo.pop()
            if ip not in visited:
                visited.add(ip)
                todo += [to for to in self.next[ip] if (ip, to) not in never]
        return visited

    def _effects(self, x: Instruction) -> Effects:
        reads: set[int] = set()
        writes: set[int] = set()
        replaces: set[int] = set()
        if x.mnemonic in PREFETCHES:  # any address will do
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
        if x.mnemonic == Mnemonic.VZEROUPPER:  # which computes nothing of what it changes
            reads.clear()
            replaces.clear()
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
        before: dict[int, frozenset[int]] = {ip: frozenset() for ip in self.at}
        after = dict(before)
        changed = True
        while changed:
            changed = False
            for ip in sorted(self.at, reverse=True):
                x, e = self.at[ip], self.effects[ip]
                if x.flow_control == FlowControl.CALL:  # what is read behind it, its target knows
                    out = before[x.near_branch_target]
                elif x.flow_control == FlowControl.RETURN:
                    back = self._returns_to.get(ip)
                    out = frozenset(PRESERVED).union(*(before[to] for to in back or ()))
                else:
                    out = frozenset().union(*(before[follow] for follow in self.next[ip]))
                into = (out - e.replaces) | (e.reads if self._is_useful(ip, out) else frozenset())
                if x.flow_control == FlowControl.INDIRECT_CALL:
                    into = everything
                if out != after[ip] or into != before[ip]:
                    after[ip], before[ip] = out, into
                    changed = True
        return after

    def _arguments(self) -> dict[int, frozenset[int]]:
        """For each instruction, where the address of the arguments is before it.

        That is in rdi at first, and in slots of the stack into which rdi was stored. These are
        named by their offset from rsp, so that none is known where rsp has changed.
        """
        before: dict[int, frozenset[int]] = {0: frozenset({Register.RDI})}
        todo = [0]
        while todo:
            ip = todo.pop()
            x, e, where = self.at[ip], self.effects[ip], before[ip]
            stored = [s[1:] for s in e.stores if s[0][0] == Register.RSP]  # type: ignore[index]
            after = {
                place
                for place in where - e.writes
                if place == Register.RDI or not _overlaps_slot(stored, place)
            }
            if Register.RSP in e.writes:
                after &= {Register.RDI}
            elif x.mnemonic == Mnemonic.MOV and e.writes | e.reads >= {Register.RDI}:
                slots = {r for r in e.reads | e.writes if r <= SLOTS}
                if slots <= e.writes and Register.RDI in where:
                    after |= slots
                if slots & where and Register.RDI in e.writes:
                    after.add(Register.RDI)
            if x.flow_control in (FlowControl.CALL, FlowControl.INDIRECT_CALL):
                after &= {Register.RDI}
            for follow in self.next[ip]:
                into = frozenset(after) & before.get(follow, frozenset(after))
                if into != before.get(follow):
                    before[follow] = into
                    todo.append(follow)
        return before

    def _loaded(self) -> dict[int, dict[str, Instruction]]:
        """For each instruction, the loads whose results are still in their registers before it.

        Only loads of constants, arguments and parameters count, which no kernel writes.
        """
        loads = {ip: str(x) for ip, x in self.at.items() if self._is_constant_load(ip)}
        of_text = {text: self.at[ip] for ip, text in loads.items()}
        touches = {text: self.effects[ip].writes for ip, text in loads.items()}
        for text, x in of_text.items():
            if x.op_count == 2 and x.op1_kind == OpKind.MEMORY and x.memory_base != Register.RIP:
                touches[text] |= {x.memory_base}
        before = dict.fromkeys(self.at, frozenset(of_text))
        before[0] = frozenset()
        todo = [0]
        visited = {0}
        while todo:
            ip = todo.pop()
            writes = self.effects[ip].writes
            calls = self.at[ip].flow_control in (FlowControl.CALL, FlowControl.INDIRECT_CALL)
            kept = {t for t in before[ip] if not (calls or touches[t] & writes)}
            if ip in loads:
                kept.add(loads[ip])
            for follow in self.next[ip]:
                into = before[follow] & kept
                if into != before[follow] or follow not in visited:
                    visited.add(follow)
                    before[follow] = into
                    todo.append(follow)
        return {ip: {text: of_text[text] for text in texts} for ip, texts in before.items()}

    def _is_constant_load(self, ip: int) -> bool:
        x = self.at[ip]
        if x.mnemonic in (Mnemonic.VPXOR, Mnemonic.VPXORD):  # of a register with itself: zero
            return len({x.op_register(i) for i in range(3)}) == 1
        if x.mnemonic not in LOADS or x.op_count != 2:
            return False
        if x.op0_kind != OpKind.REGISTER or x.op_mask != Register.NONE:
            return False
        if x.op1_kind != OpKind.MEMORY:
            return x.mnemonic == Mnemonic.MOV and x.op1_kind in IMMEDIATES
        if x.memory_index != Register.NONE or self.effects[ip].writes & {x.memory_base}:
            return False
        is_stages = x.memory_base in self._stages.get(ip, ())
        return is_stages or x.memory_base in (Register.RIP, Register.RDI)

    def repeats_load(self, ip: int) -> bool:
        """Whether the register holds already what an instruction loads."""
        return self._is_constant_load(ip) and str(self.at[ip]) in self.loaded[ip]

    def can_change(self, ip: int) -> bool:
        """Whether an instruction does anything but go on elsewhere, or give a hint."""
        return self.at[ip].flow_control == FlowControl.NEXT and self._is_useful(ip, self.live[ip])

    def computes_the_same(self, offset: int, new: bytes) -> bool:
        """Whether other bytes leave what the piece of code between two branches computes as it is.

        Of the frame on the stack, only the size matters, as nothing needs its alignment.
        """
        ips, end = self._block(offset)
        if offset not in self.runs:
            return True
        if self._keeps_frame(offset, new) or self._restores_unchanged(offset, new):
            return True
        is_wide = any(
            RegisterExt.is_zmm(x.op_register(i))
            for x in self.at.values()
            for i in range(x.op_count)
        )
        evaluator = Evaluator(self.code, self.promises, 64 if is_wide else 32)
        states = []
        for code in (self.code, self.code[:offset] + new + self.code[offset + len(new) :]):
            state = State()
            evaluator.set_arguments(state, self.arguments[ips[0]])
            known = self.loaded[ips[0]].values()
            for x in sorted(known, key=lambda x: x.memory_base != Register.RDI):
                evaluator.run([x], state)
            for done in (state.stores, state.accesses, state.events):
                done.clear()
            decoder = Decoder(64, code[:end])
            decoder.position = decoder.ip = ips[0]
            evaluator.run(decoder, state)
            states.append(state)
        # Tests of no more than whether a range is to be widened; see same_effects().
        widens = self.at[ips[-1]].mnemonic == Mnemonic.JE and "_RowRange" in self.name
        return same_effects(states[0], states[1], self.live[ips[-1]], evaluator, widens)

    def _block(self, ip: int) -> tuple[list[int], int]:
        """The instructions around one that always run one after the other, and where they end."""
        first = ip
        before = {x.next_ip: i for i, x in self.at.items() if x.flow_control == FlowControl.NEXT}
        while first not in self.targets and first in before:
            first = before[first]
        ips = [first]
        while self.at[ips[-1]].flow_control == FlowControl.NEXT:
            follow = self.at[ips[-1]].next_ip
            if follow in self.targets:
                break
            ips.append(follow)
        return ips, self.at[ips[-1]].next_ip

    def _keeps_frame(self, offset: int, new: bytes) -> bool:
        """Whether a frame on the stack only becomes larger, or is aligned otherwise."""
        x, y = self.at[offset], Decoder(64, new, ip=offset).decode()
        if x.mnemonic not in (Mnemonic.SUB, Mnemonic.AND) or x.op0_register != Register.RSP:
            return False
        every = self.at.values()
        if self.has_calls or any(z.mnemonic in ALIGNED and _has_memory(z) for z in every):
            return False
        rounds = [z for z in every if z.mnemonic == Mnemonic.AND and z.op0_register == Register.RSP]
        if not rounds or FLAGS in self.live[offset]:
            return False
        if x.mnemonic == Mnemonic.AND and y.mnemonic == Mnemonic.NOP:
            return True
        if (y.mnemonic, y.op0_register) != (x.mnemonic, Register.RSP) or len(new) != x.len:
            return False
        if x.mnemonic == Mnemonic.AND:
            return -64 <= y.immediate(1) - (1 << 64) < 0
        return x.immediate(1) <= y.immediate(1) < x.immediate(1) + 64

    def _restores_unchanged(self, offset: int, new: bytes) -> bool:
        """Whether a register need not be restored, and another one, into which it is, is free."""
        x, y = self.at[offset], Decoder(64, new, ip=offset).decode()
        if (x.mnemonic, y.mnemonic) != (Mnemonic.POP, Mnemonic.POP) or len(new) != x.len:
            return False
        if y.op0_register in self.live[offset] | {Register.RSP}:
            return False
        return not any(
            x.op0_register in self.effects[ip].writes and z.mnemonic != Mnemonic.POP
            for ip, z in self.at.items()
        )

    def are_independent(self, first: int, second: int) -> bool:
        """Whether neighbours may stand in either order."""
        if Mnemonic.VZEROUPPER in (self.at[first].mnemonic, self.at[second].mnemonic):
            return False  # which also shows afterwards
        a, b = self.effects[first], self.effects[second]
        if is_sum_with(self.at[first], self.at[second], a, b) and FLAGS not in self.live[second]:
            return True
        if (a.writes & b.reads) or (a.reads & b.writes):
            return False
        if a.writes & b.writes & self.live[second]:
            return False
        return not (
            overlap(a.stores, b.loads) or overlap(a.loads, b.stores) or overlap(a.stores, b.stores)
        )


def _overlaps_slot(stored: list[tuple[int, int]], slot: int) -> bool:
    first = SLOTS - slot
    return any(begin < first + 8 and first < end for begin, end in stored)


def _loads_stages(x: Instruction) -> bool:
    if x.mnemonic != Mnemonic.MOV or x.op1_kind != OpKind.MEMORY or x.op_count != 2:
        return False
    return x.memory_base == Register.RDI and x.memory_displacement == STAGES


def _has_memory(x: Instruction) -> bool:
    return any(x.op_kind(i) == OpKind.MEMORY for i in range(x.op_count))


ENDS = {
    FlowControl.RETURN,
    FlowControl.UNCONDITIONAL_BRANCH,
    FlowControl.INDIRECT_BRANCH,
    FlowControl.EXCEPTION,
}
JUMPS = {FlowControl.UNCONDITIONAL_BRANCH, FlowControl.CONDITIONAL_BRANCH, FlowControl.CALL}
