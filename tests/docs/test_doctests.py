"""The examples in the docstrings of every public module do what they say."""

import doctest
import importlib
import pkgutil

import numpy as np
import pytest

import fbg
from helpers import tiny_bert
from helpers.tiny_towers import write_tiny_tower

# __main__ would run the program.
MODULES = sorted(
    {
        "fbg",
        *(
            module.name
            for module in pkgutil.walk_packages(fbg.__path__, "fbg.")
            if module.name.rpartition(".")[2] not in ("__main__", "_fbg")
        ),
    }
)


@pytest.fixture(scope="module")
def names(tmp_path_factory):
    """What examples use without making it: a small model with the hidden size of MiniLM."""
    geometry = tiny_bert.Geometry(384, 1, 12, 1536, vocab_size=99)
    path = tiny_bert.write_checkpoint(tmp_path_factory.mktemp("model"), geometry)
    clip = fbg.load(write_tiny_tower(tmp_path_factory.mktemp("clip"), "clip"))
    out = tmp_path_factory.mktemp("out")
    return {"fbg": fbg, "np": np, "model": fbg.load(path), "clip": clip, "tmp": out}


@pytest.mark.usefixtures("keep_settings")  # which examples may change
@pytest.mark.parametrize("name", MODULES)
def test_examples_of(name, names):
    # What an integration is for may not be installed: make check has all of them.
    may_lack = name.startswith("fbg.integrations.")
    module = pytest.importorskip(name) if may_lack else importlib.import_module(name)
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    result = doctest.testmod(module, optionflags=flags, extraglobs=names)
    assert result.failed == 0


@pytest.mark.parametrize(
    "name", sorted(n for n in fbg.__all__ if isinstance(getattr(fbg, n), type) or n == "gemm")
)
def test_public_names_are_documented(name):
    assert getattr(fbg, name).__doc__


def test_there_are_examples():
    finder = doctest.DocTestFinder(exclude_empty=True)
    for name in (
        "fbg.matmul.packed_b",
        "fbg.matmul.packers",
        "fbg.matmul.pipeline",
        "fbg.matmul.product",
        "fbg.quantization",
        "fbg.isa",
    ):
        module = importlib.import_module(name)
        assert any(test.examples for test in finder.find(module)), name
