"""Short forms of the sweeps of faults; `make faults` runs them whole."""

import resource
import subprocess
import sys
from pathlib import Path

import pytest

from faults.injection import run_with_faults
from faults.memory_limits import mapped_bytes
from fbg.checkpoints.mapped_file import read_safetensors

TESTS = Path(__file__).parents[1]


@pytest.mark.parametrize("part", range(3))
def test_a_failed_allocation_is_a_memory_error_and_harms_nothing(part):
    few = ("--step", "499", "--most", "12")
    told = run_with_faults("faults.allocations", *few, "--part", str(part), "3")
    assert ", 0 problems" in told.splitlines()[-1]


def test_a_failed_operation_on_files_leaves_the_old_output_or_the_new_one():
    assert ", 0 problems" in run_with_faults("faults.files", "--step", "5").splitlines()[-1]


@pytest.mark.parametrize(
    ("kind", "count"),
    [
        ("encode", 4),
        ("quantize", 12),
        ("network", 12),
        ("shards", 3),
        ("interrupt", 12),
        ("fork", 12),
        ("exit", 8),
        ("spawn", 2),
    ],
)
def test_whatever_is_killed_leaves_nothing_half_done(kind, count):
    command = [sys.executable, "-m", "faults.kills", kind, "--count", str(count), "--seed", "5"]
    result = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stdout + result.stderr


def test_a_server_that_is_killed_has_sent_whole_answers_only():
    command = [sys.executable, "-m", "faults.kills", "serve", "--count", "1"]
    result = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stdout + result.stderr


def test_too_little_memory_is_an_error_and_no_hang():
    command = [sys.executable, "-m", "faults.memory_limits", "--to", "40", "--step", "3"]
    result = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, timeout=300)
    assert result.returncode == 0, result.stdout + result.stderr


def test_a_checkpoint_that_memory_has_no_place_for_is_no_damaged_one(tmp_path):
    path = tmp_path / "model.safetensors"
    with path.open("wb") as file:
        file.truncate(1 << 30)  # of which the disk holds nothing
    soft, hard = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (mapped_bytes() + (64 << 20), hard))
    try:
        with pytest.raises(MemoryError, match=r"model\.safetensors: Cannot allocate memory"):
            read_safetensors(path)
    finally:
        resource.setrlimit(resource.RLIMIT_AS, (soft, hard))
