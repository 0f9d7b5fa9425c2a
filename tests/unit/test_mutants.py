"""Mutants of kernels (scripts/mutants.py): how they are judged, and that they fit the sources."""

from __future__ import annotations

from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).parents[2]


def test_survivors_are_printed_and_counted(capsys, monkeypatch):
    pytest.importorskip("iced_x86")
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    import mutants

    killers = {"first": "timeout", "second": None, "third": "results differ"}
    tried = [mutants.Mutant("drop", name, lambda k=k: k) for name, k in killers.items()]
    assert mutants.judge("avx2", tried, least=66)
    assert not mutants.judge("avx2", tried, least=67)
    survivor, summary = capsys.readouterr().out.splitlines()[:2]
    assert survivor == "second: SURVIVED"
    assert summary.startswith("avx2: 2 of 3 killed (66.7 %) in 0 s; drop 2/3; by timeout 1, ")


def test_every_change_of_the_generator_fits_one_place():
    files = yaml.safe_load((ROOT / "tests/kernels/amx_mutants.yaml").read_text())
    assert sum(map(len, files.values())) >= 40
    for file, places in files.items():
        for name, (old, _) in places.items():
            assert (ROOT / file).read_text().count(old) == 1, name
