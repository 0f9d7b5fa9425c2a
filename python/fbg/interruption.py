"""What Ctrl-C does to the program `fbg` while it runs none of its commands: it ends without a word.

Python would raise KeyboardInterrupt wherever it is, and while the program starts that is inside the
imports of other packages. `fbg/__init__.py` therefore calls `end_quietly` first, and this module
imports nothing that Python has not imported itself. A command may have something to keep, so Ctrl-C
does raise KeyboardInterrupt in it (`Interruptible`).
"""

import os
import sys

__all__ = ["INTERRUPTED", "Interruptible", "end_quietly", "is_program"]

INTERRUPTED = 130  # the exit code that a shell gives programs that SIGINT ended


def is_program() -> bool:
    """Whether this process was started as `fbg` or as `python -m fbg`."""
    name = sys.argv[0] if sys.argv else ""
    if name == "-m":  # what argv[0] is while Python imports the module that -m names
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
