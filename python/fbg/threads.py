"""The default number of threads of calls.

The environment variable ``FBG_NUM_THREADS`` sets the number a process starts with; it is read when
fbg is imported. Without it, that is the number of CPUs the process may use: the smaller of its
affinity mask and its cgroup quota.
"""

from __future__ import annotations

from fbg import _fbg
from fbg.arrays import require_integer
from fbg.environment import read_setting


class _Calling:
    """``with calling:`` counts this thread among the callers that share the CPUs.

    Runs of a plan count by themselves; this covers other work of a call that needs a CPU
    too, such as tokenizing. A block must not yield to code of the caller's. Blocks may be nested.
    """

    def __enter__(self) -> None:
        _fbg.enter_call()

    def __exit__(self, *_: object) -> None:
        _fbg.leave_call()


calling = _Calling()


def set_num_threads(n: int) -> None:
    """Set the default number of threads of the process.

    Raises TypeError if `n` is not an integer, ValueError if it is less than 1 or more than 1024.

    >>> set_num_threads(2)
    >>> get_num_threads()
    2
    """
    _fbg.set_num_threads(require_integer(n, "set_num_threads: n", 1, _fbg.MAX_THREADS))


def get_num_threads() -> int:
    """Return the default number of threads of the process.

    >>> 1 <= get_num_threads() <= 1024
    True
    """
    return _fbg.num_threads()


def _use_environment(text: str) -> None:
    try:
        set_num_threads(int(text))
    except ValueError:
        wanted = f"an integer in [1, {_fbg.MAX_THREADS}]"
        raise ValueError(f"must be {wanted}, got {text!r}") from None


read_setting("FBG_NUM_THREADS", _use_environment)
