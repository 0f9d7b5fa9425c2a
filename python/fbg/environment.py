"""The environment of the process: how it was started, the effect of Ctrl-C, and variables.

The program `fbg` ends without a word if Ctrl-C comes while it runs none of its commands. Python
would raise KeyboardInterrupt wherever it is, and at the start that is inside the imports of other
packages. `fbg/__init__.py` therefore calls `end_quietly` first, and this module imports nothing
that Python has not imported itself. A command may have something to keep, so Ctrl-C does raise
KeyboardInterrupt in it (`Interruptible`).
"""

import os
import sys

TYPE_CHECKING = False  # as in typing, which is slow to import
if TYPE_CHECKING:
    from collections.abc import Callable

INTERRUPTED = 130  # the exit code that a shell gives programs that SIGINT ended


def is_program() -> bool:
    """Whether this process was started as `fbg` or as `python -m fbg`."""
    name = sys.argv[0] if sys.argv else ""
    if name == "-m":  # argv[0] while Python imports the module that -m names
        return sys.orig_argv[-len(sys.argv)] in ("fbg", "-mfbg")
    return os.path.splitext(os.path.basename(name))[0] == "fbg"


def end_quietly() -> None:
    """Let Ctrl-C end this process, if it is the program `fbg`."""
    if not is_program():
        return
    try:
        import signal

        # A shell lets programs in the background ignore Ctrl-C: they go on doing so.
        if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, _end)
    except KeyboardInterrupt:
        _end()


class Interruptible:
    """Lets Ctrl-C raise KeyboardInterrupt in its block, in which a command of the program runs."""

    def __enter__(self) -> None:
        import signal

        self._ours = signal.getsignal(signal.SIGINT) is _end
        if self._ours:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def __exit__(self, *_: object) -> None:
        import signal

        if self._ours:
            signal.signal(signal.SIGINT, _end)


def _end(*_: object) -> None:
    os._exit(INTERRUPTED)


def read_setting(variable: str, use: "Callable[[str], object]") -> None:
    """Call `use` with the value of an environment variable, unless it is unset or empty.

    Settings are read when fbg is imported. A ValueError of `use` is raised again with the name of
    the variable before its message. The program ``fbg`` could not catch it, because it has to
    import this package first. So there the process ends with one line and exit code 2.
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
