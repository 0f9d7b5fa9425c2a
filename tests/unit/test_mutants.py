"""The mutants of scripts/amx_mutants.py fit the generator as it is now."""

import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


def test_every_mutant_changes_one_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    mutants = runpy.run_path(str(ROOT / "scripts" / "amx_mutants.py"))["MUTANTS"]
    assert len(mutants) >= 40
    for mutant in mutants:
        assert (ROOT / mutant.file).read_text().count(mutant.old) == 1, mutant.name
