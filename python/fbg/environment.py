"""Settings from environment variables, which are read when fbg is imported."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable

from fbg.interruption import is_program

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
        if is_program():
            print(f"Error: {message}", file=sys.stderr)
            raise SystemExit(2) from None
        raise ValueError(message) from None
