"""Changes of generated code (scripts/instruction_changes.py), and what data flow leaves alone."""

from __future__ import annotations

from pathlib import Path
from random import Random

import pytest

iced_x86 = pytest.importorskip("iced_x86")
ROOT = Path(__file__).parents[2]


@pytest.fixture
def changes(monkeypatch):
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import instruction_changes

    return instruction_changes


VADDPS = "c5f458c2"  # vaddps ymm0, ymm1, ymm2
VMULPS = "c5e459e4"  # vmulps ymm4, ymm3, ymm4
VSUBPS = "c5fc5cc3"  # vsubps ymm0, ymm0, ymm3
STORE = "c5fc1107"  # vmovups [rdi], ymm0
STORE_4 = "c5fc116720"  # vmovups [rdi+32], ymm4
PREFETCH = "0f180e"  # prefetcht0 [rsi]
ADVANCE = "4883c640"  # add rsi, 64
POP = "5b"  # pop rbx
UPPER = "c5f877"  # vzeroupper
RET = "c3"


def instructions(changes, *parts):
    return changes.Instructions(bytes.fromhex("".join(parts)))


def test_hints_and_their_addresses_may_be_dropped(changes):
    kernel = instructions(changes, VADDPS, ADVANCE, PREFETCH, STORE, UPPER, RET)
    can_change = [str(kernel.at[ip]) for ip in sorted(kernel.at) if kernel.can_change(ip)]
    assert can_change == ["vaddps ymm0,ymm1,ymm2", "vmovups [rdi],ymm0", "vzeroupper"]


def test_what_callers_rely_on_is_read_in_the_end(changes):
    kernel = instructions(changes, POP, RET)
    assert kernel.can_change(0)


def test_independent_neighbours_may_be_swapped(changes):
    kernel = instructions(changes, VADDPS, VMULPS, VSUBPS, STORE, STORE_4, RET)
    assert kernel.are_independent(0, 4)  # other registers
    assert not kernel.are_independent(8, 12)  # stored before it is complete
    assert kernel.are_independent(12, 16)  # other bytes


def test_loops_keep_alive_what_their_next_round_reads(changes):
    # loop: vaddps ymm0, ymm0, [rsi]; add rsi, 64; dec ecx; jnz loop
    kernel = instructions(changes, "c5fc5806", ADVANCE, "ffc9", "75f4", STORE, RET)
    assert kernel.can_change(4)
    assert not kernel.are_independent(0, 4)


def test_only_what_is_read_after_a_call_is_alive(changes):
    to_rax, to_rdx, call = "488b07", "488b17", "e806000000"  # mov rax (rdx), [rdi]; call
    stores = "488907"  # mov [rdi], rax
    kernel = instructions(changes, to_rax, to_rdx, call, stores, "6690", RET, "6690", RET)
    assert kernel.can_change(0)
    assert not kernel.can_change(3)
    assert kernel.can_change(11)


def test_vzeroupper_changes_places_with_nothing(changes):
    kernel = instructions(changes, STORE, UPPER, RET)
    assert not kernel.are_independent(0, 4)


def test_data_behind_the_code_is_not_decoded(changes):
    kernel = instructions(changes, STORE, RET, "06" * 16)
    assert sorted(kernel.at) == [0, 4]


def test_changes_keep_the_length_of_what_they_replace(changes):
    code = bytes.fromhex("".join([VADDPS, VMULPS, VSUBPS, STORE, STORE_4, POP, UPPER, RET]))
    found = list(changes.Mutator(code, Random(1)).changes(40))
    assert len(found) == 40
    assert {change.kind for change in found} >= {"drop", "swap", "offset", "register"}
    for change in found:
        new = bytearray(code)
        new[change.offset : change.offset + len(change.new)] = change.new
        assert len(new) == len(code)
        assert new != code
        decoded = list(iced_x86.Decoder(64, bytes(new)))
        assert all(x.code != iced_x86.Code.INVALID for x in decoded), change.text
        assert str(decoded[-1]) == "ret"
