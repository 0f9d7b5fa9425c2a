"""A few differential cases of each kind; `make differential` runs many."""

import pytest

from helpers.random_cases import KINDS, find_kind, run_cases


@pytest.mark.parametrize("name", KINDS["differential"], ids=lambda name: name.partition(".")[2])
def test_random_cases_agree_with_another_implementation(name):
    kind = find_kind(name)
    pytest.importorskip(kind.needs)
    assert run_cases(kind, seed=7, count=kind.cases) == []
