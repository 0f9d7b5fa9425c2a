"""The instruction sets (ISAs) that kernels may use.

The names are ``generic``; on x86-64 ``avx2``, ``avx2_vnni``, ``avx512``, ``avx512_vnni``,
``avx512_bf16``, ``avx512_fp16`` and ``avx512_amx``; on AArch64 ``neon``, ``neon_dot``,
``neon_i8mm`` and ``neon_bf16``.
Each stands for a set of CPU features. The environment variable ``FBG_MAX_ISA`` sets the limit that
a process starts with; it is read when fbg is imported.
"""

from __future__ import annotations

from fbg import _fbg
from fbg.environment import read_setting

__all__ = ["active", "limit", "supported"]


def supported() -> tuple[str, ...]:
    """Return the names of all ISAs that this machine supports, regardless of the limit.

    >>> "generic" in supported()
    True
    """
    return tuple(_fbg.supported_isas())


def active() -> str:
    """Return the name of the most capable ISA within the limit, which kernels currently prefer.

    >>> active() in supported()
    True
    """
    return _fbg.active_isa()


class _Limit:
    """The limit that was just set; leaving its ``with`` block restores the one before."""

    def __init__(self, previous: str | None) -> None:
        self._previous = previous

    def __enter__(self) -> None:
        return None

    def __exit__(self, *_: object) -> None:
        _fbg.set_isa_limit(self._previous)


def limit(name: str | None) -> _Limit:
    """Restrict all kernels of the process to the features of one ISA; ``None`` removes the limit.

    The limit takes effect immediately and replaces the previous one, including that of
    ``FBG_MAX_ISA``. Used as a context manager, it restores the previous limit at the end.

    Raises TypeError if `name` is neither a str nor None, ValueError if this machine does not
    support it.

    >>> with limit("generic"):
    ...     active()
    'generic'
    """
    if name is not None and not isinstance(name, str):
        raise TypeError(f"isa.limit: name must be a str or None, got {type(name).__name__}")
    previous = _fbg.isa_limit()
    try:
        _fbg.set_isa_limit(name)
    except ValueError as error:
        raise ValueError(f"isa.limit: {error}") from None
    return _Limit(previous)


read_setting("FBG_MAX_ISA", _fbg.set_isa_limit)
