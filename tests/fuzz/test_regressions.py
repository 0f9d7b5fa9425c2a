"""Replays the corpora of the fuzz targets, and a few new cases of each; `make fuzz` runs many."""

import os

import pytest

from fuzz.target import CORPUS
from helpers.random_cases import KINDS, find_kind, outcome, run_cases

KEPT = [(f"fuzz.{path.parent.name}", path) for path in sorted(CORPUS.glob("*/*")) if path.is_file()]


@pytest.fixture(autouse=True)
def environment():
    """The tuning cache of other tests is not the one that was fuzzed."""
    name = "FBG_TUNING_CACHE"
    before = os.environ.get(name)
    yield
    if before is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = before


@pytest.mark.parametrize(("name", "path"), KEPT, ids=lambda value: getattr(value, "name", value))
def test_what_was_found_once_is_refused_in_time(name, path):
    ended, problem = outcome(find_kind(name), path.read_bytes())
    assert problem is None, f"{ended}: {problem}"


@pytest.mark.parametrize("name", KINDS["fuzz"])
def test_changed_inputs_raise_documented_exceptions_only(name):
    kind = find_kind(name)
    assert run_cases(kind, seed=12, count=kind.cases) == []
