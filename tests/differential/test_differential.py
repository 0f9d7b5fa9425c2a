"""A few differential cases of each kind; `make differential` runs many."""

import pytest

from differential.driver import KINDS, find_kind, run_cases

CASES: dict[str, int] = {}  # of kinds whose cases take much more or less than a millisecond
PEERS = {"torch_exports": "torch", "transformers": "transformers"}  # that tests need not have


@pytest.mark.parametrize("name", KINDS)
def test_random_cases_agree_with_another_implementation(name: str) -> None:
    pytest.importorskip(PEERS.get(name, "fbg"))
    assert run_cases(find_kind(name), seed=7, count=CASES.get(name, 100)) == []
