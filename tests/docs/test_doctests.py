"""The examples in the docstrings of every public module do what they say."""

import doctest
import importlib
import pkgutil

import pytest

import fbg

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


@pytest.mark.usefixtures("keep_settings")  # which examples may change
@pytest.mark.parametrize("name", MODULES)
def test_examples_of(name: str) -> None:
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.failed == 0


@pytest.mark.parametrize(
    "name", sorted(n for n in fbg.__all__ if isinstance(getattr(fbg, n), type) or n == "gemm")
)
def test_public_names_are_documented(name: str) -> None:
    assert getattr(fbg, name).__doc__


def test_there_are_examples() -> None:
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
