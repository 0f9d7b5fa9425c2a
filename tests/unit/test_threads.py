"""The default number of threads: set, from the environment, from the CPUs a process may use."""

import os

import numpy as np
import pytest

import fbg
from fbg import _fbg
from helpers.fresh_python import run_python

PRINT_THREADS = "import fbg; print(fbg.get_num_threads())"


@pytest.fixture(autouse=True)
def restore_num_threads():
    before = fbg.get_num_threads()
    yield
    fbg.set_num_threads(before)


@pytest.mark.parametrize("n", [1, 2, 7, 1024, np.int64(3)])
def test_what_is_set_is_returned(n):
    fbg.set_num_threads(n)
    assert fbg.get_num_threads() == n


@pytest.mark.parametrize("n", [0, -1, 1025, 2**70])
def test_out_of_range_is_a_value_error_and_changes_nothing(n):
    fbg.set_num_threads(2)
    message = rf"set_num_threads: n must be within \[1, 1024\], got {n}"
    with pytest.raises(ValueError, match=message):
        fbg.set_num_threads(n)
    assert fbg.get_num_threads() == 2


@pytest.mark.parametrize("n", [1.0, "2", None])
def test_other_types_are_a_type_error(n):
    with pytest.raises(TypeError, match="set_num_threads: n must be an integer"):
        fbg.set_num_threads(n)


def test_default_respects_the_affinity_mask():
    one_cpu = min(os.sched_getaffinity(0))
    code = f"import os; os.sched_setaffinity(0, [{one_cpu}]); {PRINT_THREADS}"
    result = run_python(code, FBG_NUM_THREADS="")
    assert result.stdout.strip() == "1", result.stderr


def test_available_cpus_is_within_the_affinity_mask():
    assert 1 <= _fbg.available_cpus() <= len(os.sched_getaffinity(0))


def test_environment_sets_the_default():
    assert run_python(PRINT_THREADS, FBG_NUM_THREADS="5").stdout.strip() == "5"


@pytest.mark.parametrize("text", ["0", "-2", "two", "1.5", "99999"])
def test_bad_environment_variable_fails_at_import(text):
    result = run_python("import fbg", FBG_NUM_THREADS=text)
    assert result.returncode != 0
    message = f"ValueError: FBG_NUM_THREADS: must be an integer in [1, 1024], got '{text}'"
    assert message in result.stderr
