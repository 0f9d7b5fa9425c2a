"""Changes that leave what generated code computes as it is (scripts/block_values.py)."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

pytest.importorskip("iced_x86")
ROOT = Path(__file__).parents[2]

STAGES = "488b9fa8000000"  # mov rbx, [rdi+0A8h]
LOAD_POINT = "c4e27d18631c"  # vbroadcastss ymm4, [rbx+1Ch]
ADD_POINT = "c5fdfec4"  # vpaddd ymm0, ymm0, ymm4
STORE = "c5fc1107"  # vmovups [rdi], ymm0
POP, PUSH = "5b", "53"  # of rbx
RET = "c3"
NOP_4, NOP_5 = "0f1f4000", "0f1f440000"
CENTERED = "gemm_int32_u8_s8_1x8_avx2_za_Requantize_uint8_centered"
BOUNDED = "gemm_fp32_f32_f32_1x8_avx2_Requantize_uint8_bounded"


@pytest.fixture
def kernel_code(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import kernel_code

    return kernel_code


def same(kernel_code: ModuleType, parts: list[str], at: int, new: str, name: str = "") -> Any:
    """Whether `new` may take the place of what begins with the part `at`."""
    kernel = kernel_code.Instructions(bytes.fromhex("".join(parts)), name)
    offset = len("".join(parts[:at])) // 2
    return kernel.computes_the_same(offset, bytes.fromhex(new))


def test_a_zero_point_that_is_promised_to_be_zero_need_not_be_added(
    kernel_code: ModuleType,
) -> None:
    code = [PUSH, STAGES, LOAD_POINT, ADD_POINT, STORE, POP, RET]
    assert same(kernel_code, code, 3, NOP_4, CENTERED)
    assert not same(kernel_code, code, 3, NOP_4, CENTERED.replace("_centered", ""))
    assert not same(kernel_code, code, 3, NOP_4, CENTERED.replace("_za", "_za_Bias"))


def test_bounds_of_numbers_may_be_applied_in_either_order(kernel_code: ModuleType) -> None:
    low, high = "c5fc5f4314", "c5fc5d4318"  # vmaxps (vminps) ymm0, ymm0, [rbx+14h (18h)]
    load_low, load_high = "c4e27d186314", "c4e27d186b18"  # vbroadcastss ymm4 (5), ...
    by_low, by_high = "c5fc5fc4", "c5fc5dc5"  # vmaxps ymm0, ymm0, ymm4; vminps ymm0, ymm0, ymm5
    code = [PUSH, STAGES, load_low, load_high, by_low, by_high, STORE, POP, RET]
    assert same(kernel_code, code, 4, by_high + by_low, BOUNDED)
    assert not same(kernel_code, code, 4, by_high + by_low, BOUNDED.replace("_bounded", ""))
    assert not same(kernel_code, code, 4, NOP_4, BOUNDED)
    # Each by the instruction of the other.
    assert not same(kernel_code, code, 4, "c5fc5fc5" + "c5fc5dc4", BOUNDED)
    both_without_load = [PUSH, STAGES, low, high, STORE, POP, RET]  # 8 different bounds
    assert not same(kernel_code, both_without_load, 2, high + low, BOUNDED)


def test_bounds_that_packing_applies_are_not_needed(kernel_code: ModuleType) -> None:
    load_low, load_high = "c4e27d186314", "c4e27d186b18"  # vbroadcastss ymm4 (5), ...
    by_low, by_high = "c5fc5fc4", "c5fc5dc5"  # vmaxps ymm0, ymm0, ymm4; vminps ymm0, ymm0, ymm5
    convert = "c5fd5bc0"  # vcvtps2dq ymm0, ymm0
    code = [PUSH, STAGES, load_low, load_high, by_low, by_high, convert, STORE, POP, RET]
    signed = BOUNDED.replace("_uint8", "_int8")
    assert same(kernel_code, code, 4, NOP_4, BOUNDED)
    assert not same(kernel_code, code, 5, NOP_4, BOUNDED)  # the zero point may carry it too far
    assert same(kernel_code, code, 5, NOP_4, signed)
    assert same(kernel_code, code, 5, NOP_4, BOUNDED.replace("_bounded", "_centered_bounded"))
    assert not same(kernel_code, code, 4, NOP_4, signed.replace("_bounded", ""))
    assert not same(kernel_code, code, 4, NOP_4, signed.replace("_avx2", "_avx512"))


def test_a_result_tells_its_flags(kernel_code: ModuleType) -> None:
    unite, others, test, jump = "09d0", "21d0", "85c0", "7405"  # or (and) eax, edx; test eax, eax
    code = [unite, test, jump, STORE, RET, RET]
    assert same(kernel_code, code, 1, "6690")
    assert same(kernel_code, code, 0, test + unite)
    assert not same(kernel_code, code, 1, "85c2")
    assert not same(kernel_code, code, 0, others)


def test_a_range_may_be_widened_without_need_but_not_stay(kernel_code: ModuleType) -> None:
    name = "gemm_fp32_f32_f32_1x8_avx2_RowRange"
    clear = "31c0"  # xor eax, eax
    below, above = "c5fcc2c909", "c5fcc2d206"  # vcmpngeps ymm1, ymm0, ymm1; vcmpnleps ymm2, ...
    moves, unite, test, jump = ["c5fc50d1", "c5fc50d2"], "09d0", "85c0", "7405"
    code = [clear, below, moves[0], unite, above, moves[1], unite, test, jump, STORE, RET, RET]
    assert same(kernel_code, code, 0, "6690", name)  # eax holds something
    assert not same(kernel_code, code, 0, "6690")
    assert not same(kernel_code, code, 3, "6690", name)  # what lies below is not seen
    assert not same(kernel_code, code, 6, "6690", name)
    not_equal = [*code[:8], "7505", *code[9:]]
    assert not same(kernel_code, not_equal, 0, "6690", name)


def test_arguments_are_found_again_on_the_stack(kernel_code: ModuleType) -> None:
    save, restore, change = (
        "48893c24eb00",
        "488b3c24",
        "4883c708",
    )  # mov [rsp], rdi; ...; add rdi, 8
    load = "c5fc1007"  # vmovups ymm0, [rdi]
    assert same(kernel_code, [save, "6690", restore, load, STORE, RET], 2, NOP_4)
    assert not same(kernel_code, [save, change, restore, load, STORE, RET], 2, NOP_4)
    overwritten = [save, "48ff0c24", restore, load, STORE, RET]  # dec qword [rsp]
    assert not same(kernel_code, overwritten, 2, NOP_4)
    assert not same(kernel_code, [save, "6690", "488b7c2408", load, STORE, RET], 2, NOP_5)


def test_only_what_is_read_after_a_call_is_alive(kernel_code: ModuleType) -> None:
    to_rax, to_rdx, call = "488b07", "488b17", "e806000000"  # mov rax (rdx), [rdi]; call
    stores = "488907"  # mov [rdi], rax
    code = [to_rax, to_rdx, call, stores, "6690", RET, "6690", RET]
    kernel = kernel_code.Instructions(bytes.fromhex("".join(code)))
    assert kernel.can_change(0)
    assert not kernel.can_change(3)
    assert kernel.can_change(11)


def test_code_for_subnormal_numbers_does_not_run_where_none_are(kernel_code: ModuleType) -> None:
    name = "gemm_fp32_bf16_bf16_1x16_avx512_bf16_kept_Cast_bfloat16"
    find, test, jump = "62f37d4866d020", "c5f898d2", "7504"  # vfpclassps k2, zmm0, 20h; kortestw
    code = [find, test, jump, RET, "6690", "90", STORE, RET]
    assert same(kernel_code, code, 6, NOP_4, name)
    for other in (name.replace("_kept", "_loadc"), name.replace("_kept", "_kept_Scale")):
        assert not same(kernel_code, code, 6, NOP_4, other)
    where_none = [find, test, jump, STORE, RET, "6690", "90", RET]
    assert not same(kernel_code, where_none, 3, NOP_4, name)


def test_vzeroupper_changes_places_with_nothing(kernel_code: ModuleType) -> None:
    clear = "c5f877"
    kernel = kernel_code.Instructions(bytes.fromhex("".join([STORE, clear, RET])))
    assert not kernel.are_independent(0, 4)


def test_a_parameter_may_be_loaded_once_more(kernel_code: ModuleType) -> None:
    code = [PUSH, STAGES, LOAD_POINT, ADD_POINT, LOAD_POINT, ADD_POINT, STORE, POP, RET]
    assert same(kernel_code, code, 4, ADD_POINT + LOAD_POINT)
    assert not same(kernel_code, code, 2, ADD_POINT + LOAD_POINT)


def test_constants_that_are_stored_twice_are_the_same(kernel_code: ModuleType) -> None:
    load = "c5fc580509000000"  # vaddps ymm0, ymm0, [rip+9]
    moved = "c5fc580505000000"
    table = "0000803f" * 8
    assert same(kernel_code, [load, STORE, RET, "0000803f", table], 0, moved)
    assert not same(kernel_code, [load, STORE, RET, "00000000", table], 0, moved)


def test_addresses_depend_on_every_register(kernel_code: ModuleType) -> None:
    lea, other = "4a8d1446", "4a8d144e"  # lea rdx, [rsi+r8*2 (r9*2)]
    load = "c5fc1002"  # vmovups ymm0, [rdx]
    assert not same(kernel_code, [lea, load, STORE, RET], 0, other)
    assert not same(kernel_code, [lea, load, STORE, RET], 0, NOP_4)


def test_what_the_caller_relies_on_is_kept(kernel_code: ModuleType) -> None:
    clear = "c5f877"  # vzeroupper
    pop_rsi, pop_rbp = "5e", "5d"
    assert not same(kernel_code, [STORE, clear, RET], 1, "0f1f00")
    assert not same(kernel_code, [PUSH, STAGES, STORE, POP, RET], 3, pop_rsi)
    assert same(kernel_code, [PUSH, STORE, POP, RET], 2, pop_rsi)
    both = ["55", PUSH, STAGES, STORE, POP, pop_rbp, RET]
    assert not same(kernel_code, both, 4, pop_rbp + POP)


def test_a_frame_may_be_larger_but_not_smaller(kernel_code: ModuleType) -> None:
    reserve, align = "4883ec40", "4883e4c0"  # sub rsp, 40h; and rsp, -40h
    on_stack, restore = "c5fc110424", "4889f4"  # vmovups [rsp], ymm0; mov rsp, rsi
    code = ["4889e6", reserve, align, on_stack, restore, RET]
    assert same(kernel_code, code, 1, align + reserve)
    assert same(kernel_code, code, 1, "4883ec42")
    assert not same(kernel_code, code, 1, "4883ec3f")
    assert same(kernel_code, code, 2, NOP_4)


def test_stores_that_meet_keep_their_order(kernel_code: ModuleType) -> None:
    other, apart = "c5fc114f10", "c5fc114f20"  # vmovups [rdi+10h (20h)], ymm1
    assert not same(kernel_code, [STORE, other, RET], 0, other + STORE)
    assert same(kernel_code, [STORE, apart, RET], 0, apart + STORE)


def test_what_is_left_out_is_kept_apart(kernel_code: ModuleType) -> None:
    from random import Random

    from instruction_changes import Mutator

    code = bytes.fromhex("".join([PUSH, STAGES, LOAD_POINT, ADD_POINT, STORE, POP, RET]))
    mutator = Mutator(code, Random(1), CENTERED)
    tried = {change.text for change in mutator.changes(40)}
    left_out = {change.text for change in mutator.left_out}
    assert any("vpaddd" in text and "dropped" in text for text in left_out)
    assert not tried & left_out
