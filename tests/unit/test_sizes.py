"""Files and functions stay small enough to be read in one sitting."""

import ast
from pathlib import Path

ROOT = Path(__file__).parents[2]
FOLDERS = ("include", "src", "python", "tests", "bench", "examples", "scripts")
MOST_LINES_OF_A_FILE = 700
MOST_LINES_OF_A_FUNCTION = 60

# What was too long when these limits came. The lists only become shorter: an entry that is within
# its limit fails the test, and must be removed.
LONG_FILES = set()
LONG_FUNCTIONS = set()


def sources(*folders, suffixes):
    for folder in folders:
        files = [path for path in (ROOT / folder).rglob("*") if path.suffix in suffixes]
        assert files, f"no sources under {folder}"
        for path in files:
            yield path.relative_to(ROOT).as_posix(), path


def test_no_file_is_long():
    too_long = {
        name
        for name, path in sources(*FOLDERS, suffixes=(".py", ".pyi", ".cc", ".h"))
        if len(path.read_text().splitlines()) > MOST_LINES_OF_A_FILE
    }
    assert too_long == LONG_FILES


def test_no_function_of_the_package_is_long():
    too_long = {
        f"{name}: {node.name}"
        for name, path in sources("python/fbg", suffixes=(".py",))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
        and node.end_lineno is not None
        and node.end_lineno - node.lineno + 1 > MOST_LINES_OF_A_FUNCTION
    }
    assert too_long == LONG_FUNCTIONS
