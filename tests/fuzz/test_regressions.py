"""Replays the corpora of the fuzz targets, and a few new cases of each; `make fuzz` runs many."""

import os
from collections.abc import Iterator

import pytest

from fuzz.driver import CORPUS, TARGETS, find_target, outcome, run_cases

NEW_CASES = {"onnx": 60, "http": 60, "saved_model": 40, "tokenizer": 300}
KEPT = [(path.parent.name, path) for path in sorted(CORPUS.glob("*/*")) if path.is_file()]


@pytest.fixture(autouse=True)
def environment() -> Iterator[None]:
    """The tuning cache of other tests is not the one that was fuzzed."""
    name = "FBG_TUNING_CACHE"
    before = os.environ.get(name)
    yield
    if before is None:
        os.environ.pop(name, None)
    else:
        os.environ[name] = before


@pytest.mark.parametrize(("name", "path"), KEPT, ids=lambda value: getattr(value, "name", value))
def test_what_was_found_once_is_refused_in_time(name, path) -> None:
    ended, problem = outcome(find_target(name), path.read_bytes())
    assert problem is None, f"{ended}: {problem}"


@pytest.mark.parametrize("name", TARGETS)
def test_changed_inputs_raise_documented_exceptions_only(name: str) -> None:
    target = find_target(name)
    assert run_cases(target, seed=12, first=0, count=NEW_CASES.get(name, 200)) == []
