"""Finds results that depend on memory which nothing has written.

Runs fill arenas and outputs with a byte beforehand (`Plan::set_poison`), and the bits of two runs
with two bytes are compared. Arrays of NumPy, which other back ends write, begin as such bytes, too.
"""

from __future__ import annotations

import ctypes
from contextlib import contextmanager

import numpy as np

import fbg.importers.session
from fbg import _fbg
from helpers.random_cases import Different

M_PERTURB = -6  # of <malloc.h>
BYTES = (0xA5, 0x5A)  # as float32, -2.9e-16 and 1.5e16


class _Numpy:
    """NumPy, whose new arrays are filled with a byte."""

    def __init__(self, byte):
        self._byte = byte

    def __getattr__(self, name):
        return getattr(np, name)

    def empty(self, *args, **options):
        made = np.empty(*args, **options)
        if made.size and made.dtype.kind != "O":
            made.reshape(-1).view(np.uint8)[:] = self._byte
        return made


@contextmanager
def perturbed(byte):
    """Let glibc fill what it allocates with a byte, as a hint to all other code."""
    mallopt = getattr(ctypes.CDLL(None), "mallopt", None)
    if mallopt:
        mallopt(M_PERTURB, byte)
    try:
        yield
    finally:
        if mallopt:
            mallopt(M_PERTURB, 0)


@contextmanager
def poisoned(byte):
    """Fill memory with a byte before it is written."""
    before, module = _fbg.set_poison(byte), fbg.importers.session
    module.np = _Numpy(byte)
    try:
        with perturbed(byte):
            yield
    finally:
        module.np = np
        _fbg.set_poison(before)


def bits(results):
    return [
        (x.shape, str(x.dtype), x.tolist() if x.dtype.kind in "OSU" else x.tobytes())
        for x in results
    ]


def unwritten(compute, case):
    """Return the results; raise Different if they depend on memory that nothing has written."""
    found = []
    for byte in BYTES:
        with poisoned(byte):
            found.append(compute())
    if bits(found[0]) != bits(found[1]):
        raise Different(f"{case}: reads what nothing has written, got {found[0]} and {found[1]}")
    return found[0]
