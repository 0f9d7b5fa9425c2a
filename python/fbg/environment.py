"""Settings from environment variables, which are read when fbg is imported."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

__all__ = ["read_setting"]


def read_setting(variable: str, use: Callable[[str], object]) -> None:
    """Call `use` with the value of an environment variable, unless it is unset or empty.

    A ValueError of `use` is raised again with the name of the variable before its message. The
    program ``fbg`` could not catch it, because it has to import this package first. So there the
    process ends with one line and exit code 2.
    """
    text = os.environ.get(variable)
    if not text:
        return
    try:
        use(text)
    except ValueError as error:
        message = f"{variable}: {error}"
        if _is_program(sys.argv, sys.orig_argv):
            print(f"Error: {message}", file=sys.stderr)
            raise SystemExit(2) from None
        raise ValueError(message) from None


def _is_program(argv: list[str], original: list[str]) -> bool:
    """Whether a process with these arguments is ``fbg`` or ``python -m fbg``."""
    program = argv[0] if argv else ""
    if program == "-m":  # what argv[0] is while Python imports the module that -m names
        return "fbg" in original[original.index("-m") + 1 :][:1]
    return Path(program).stem == "fbg"
