"""ISA names, limits and FBG_MAX_ISA: what is asked for is what runs, or an error says why not."""

import pytest

import fbg
from helpers.fresh_python import run_python

NAMES = (
    *("generic", "avx2", "avx2_vnni", "avx512", "avx512_vnni"),
    *("avx512_bf16", "avx512_fp16", "avx512_amx"),
    *("neon", "neon_dot", "neon_i8mm", "neon_bf16"),
)


def test_generic_is_supported_everywhere():
    assert "generic" in fbg.isa.supported()


def test_supported_names_are_known():
    assert set(fbg.isa.supported()) <= set(NAMES)


def test_active_is_the_best_supported_without_a_limit():
    with fbg.isa.limit(None):
        assert fbg.isa.active() == fbg.isa.supported()[-1]


@pytest.mark.parametrize("name", fbg.isa.supported())
def test_limit_makes_exactly_that_isa_active(name):
    before = fbg.isa.active()
    with fbg.isa.limit(name):
        assert fbg.isa.active() == name
    assert fbg.isa.active() == before


def test_limits_nest_and_survive_an_exception():
    before, best = fbg.isa.active(), fbg.isa.supported()[-1]

    def fail_inside():
        with fbg.isa.limit("generic"):
            with fbg.isa.limit(best):
                assert fbg.isa.active() == best
            assert fbg.isa.active() == "generic"
            raise KeyError

    with pytest.raises(KeyError):
        fail_inside()
    assert fbg.isa.active() == before


def test_limit_takes_effect_without_a_block():
    undo = fbg.isa.limit("generic")
    assert fbg.isa.active() == "generic"
    with undo:
        pass
    with fbg.isa.limit(None):
        assert fbg.isa.active() == fbg.isa.supported()[-1]


@pytest.mark.parametrize("name", ["", "AVX2", "avx", "sse2", "avx2 ", "\N{SNOWMAN}"])
def test_unknown_name_is_a_value_error_that_lists_the_supported(name):
    before = fbg.isa.active()
    with pytest.raises(ValueError, match=r"isa\.limit: unknown ISA .*supported: generic"):
        fbg.isa.limit(name)
    assert fbg.isa.active() == before


def test_unsupported_names_are_value_errors():
    for name in set(NAMES) - set(fbg.isa.supported()):
        message = f"this CPU does not support '{name}'; supported: generic"
        with pytest.raises(ValueError, match=message):
            fbg.isa.limit(name)


@pytest.mark.parametrize("name", [3, b"avx2", ["avx2"]])
def test_name_of_another_type_is_a_type_error(name):
    with pytest.raises(TypeError, match=r"isa\.limit: name must be a str or None"):
        fbg.isa.limit(name)


@pytest.mark.parametrize("name", fbg.isa.supported())
def test_environment_sets_the_limit(name):
    result = run_python("import fbg; print(fbg.isa.active())", FBG_MAX_ISA=name)
    assert result.stdout.strip() == name, result.stderr


def test_empty_environment_variable_counts_as_unset():
    result = run_python("import fbg; print(fbg.isa.active())", FBG_MAX_ISA="")
    assert result.stdout.strip() == fbg.isa.supported()[-1], result.stderr


def test_bad_environment_variable_fails_at_import():
    result = run_python("import fbg", FBG_MAX_ISA="avx9")
    assert result.returncode != 0
    assert "ValueError: FBG_MAX_ISA: unknown ISA 'avx9'; supported: generic" in result.stderr
