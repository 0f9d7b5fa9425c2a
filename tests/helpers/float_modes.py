"""Threads of programs that flush subnormal numbers, as those compiled with -ffast-math do."""

import ctypes
import platform
from contextlib import contextmanager

import numpy as np

# Of the C library's fenv_t: which of its words is the control register, and its bits for flushing
# (FTZ and DAZ of MXCSR, FZ of FPCR).
_WORD, _FLUSHES = {"x86_64": (7, 0x8040), "aarch64": (0, 1 << 24)}[platform.machine()]
_LIBRARY = ctypes.CDLL("libm.so.6")
_TINY = np.full(1, 1e-40, np.float32)


def _environment():
    words = (ctypes.c_uint32 * 64)()
    assert _LIBRARY.fegetenv(words) == 0
    return words


def flushes():
    """Whether this thread flushes them."""
    flushed = bool((_TINY * np.float32(2) == 0).all())
    assert flushed == (_environment()[_WORD] & _FLUSHES == _FLUSHES)
    return flushed


@contextmanager
def flushing():
    """In the block, this thread flushes subnormal numbers; it must still do so at the end."""
    before, words = _environment(), _environment()
    words[_WORD] |= _FLUSHES
    assert _LIBRARY.fesetenv(words) == 0
    try:
        assert flushes()
        yield
        assert flushes()
    finally:
        _LIBRARY.fesetenv(before)
    assert not flushes()
