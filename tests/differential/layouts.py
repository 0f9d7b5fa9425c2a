"""Arrays that lie in memory in every way that NumPy knows: what fbg reads, and where it writes.

They end or begin beside an inaccessible page: what goes beyond them ends the process.
"""

from __future__ import annotations

import copy
import ctypes
import math
import mmap
import pickle
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["Target", "again", "integers", "laid_out"]

Array = npt.NDArray[Any]


_mprotect = ctypes.CDLL(None, use_errno=True).mprotect
_PAGE = mmap.PAGESIZE


def guarded(random, count):
    """Return so many bytes beside an inaccessible page, behind or before them."""
    whole = -(-count // _PAGE) * _PAGE
    pages = np.frombuffer(mmap.mmap(-1, whole + 2 * _PAGE), np.uint8)
    for at in (0, whole + _PAGE):
        address = ctypes.c_void_p(pages.ctypes.data + at)
        assert _mprotect(address, ctypes.c_size_t(_PAGE), 0) == 0
    first = _PAGE if random.random() < 0.3 else whole + _PAGE - count
    return pages[first : first + count]


def integers(rng, shape, dtype):
    """Return values of the whole range; now and then its ends only."""
    limits = np.iinfo(dtype)
    values = rng.integers(limits.min, limits.max + 1, shape, dtype)
    if rng.random() < 0.3:
        values = np.where(rng.random(shape) < 0.5, limits.min, limits.max).astype(dtype)
    return values


def again(random, value):
    """Return a value, or what is copied or unpickled of it."""
    way = random.randrange(6)
    if way < 2:
        return (copy.copy, copy.deepcopy)[way](value)
    if way == 2:
        return pickle.loads(pickle.dumps(value, random.randint(2, 5)))
    return value


def laid_out(random, values, rows=False):
    """Return an array of these values with other strides, which may be read-only.

    Its axes are in any order, with gaps, backwards, or at addresses that are no multiple of an
    element; where there are no neighbours, strides are any number. rows: only what an operand may
    have whose rows must be contiguous and equally far apart.
    """
    size = values.itemsize
    if random.random() < 0.4:
        plain = guarded(random, values.nbytes).view(values.dtype).reshape(values.shape)
        plain[...] = values
        return plain
    order = list(range(values.ndim))
    if not rows and random.random() < 0.3:
        random.shuffle(order)
    strides, distance, first = [0] * values.ndim, size, 0
    odd = random.random() < 0.15  # elements are not aligned
    spaced = 0  # axes that may have gaps
    for axis in reversed(order):
        count = values.shape[axis]
        if count <= 1 or values.size == 0:
            strides[axis] = random.randint(-40, 40)
            continue
        if not rows or (axis != order[-1] and not spaced):
            spaced += 1
            distance = distance * random.choice((1, 1, 1, 2, 3)) + odd * random.randint(0, 3)
            if random.random() < 0.03 and math.prod(values.shape) < 2000:
                distance = max(distance, 4096)  # of a page, or twice as far as one
        strides[axis] = distance
        if not rows and random.random() < 0.15:
            strides[axis] = -distance
            first += distance * (count - 1)
        distance *= count
    lead = random.randint(0, 7) if odd else size * random.randint(0, 2)
    offset = first + lead
    ends = (max(0, step * (n - 1)) for step, n in zip(strides, values.shape, strict=True) if n > 1)
    memory = guarded(random, offset + (sum(ends) + size if values.size else 0))
    view = np.ndarray(values.shape, values.dtype, memory, offset, strides)
    view[...] = values
    view.flags.writeable = random.random() < 0.8
    return view


class Target:
    """An `out`: rows of any distance, between bytes that nothing may write to."""

    FILL = 0xA5

    def __init__(self, random, shape, dtype):
        *outer, n = shape
        dtype = np.dtype(dtype)
        distance = (n + random.choice((0, 0, 1, 5))) * dtype.itemsize
        lead = dtype.itemsize * random.randint(0, 3)
        rows = math.prod(outer)
        self._memory = guarded(random, lead + max(rows - 1, 0) * distance + n * dtype.itemsize)
        self._memory[:] = self.FILL
        strides, step = [dtype.itemsize], distance
        for count in reversed(outer):
            used = count > 1 and rows * n > 0
            strides.insert(0, step if used else random.randint(-40, 40))
            step *= count
        if n <= 1 or rows == 0:
            strides[-1] = random.randint(-40, 40)
        self.array = np.ndarray(tuple(shape), dtype, self._memory, lead, strides)

    def fault(self, result):
        """Return what is wrong with a call that was given the array, if anything is."""
        if result is not self.array:
            return "another array than out was returned"
        untouched = np.ones(len(self._memory), bool)
        mask = np.ndarray(
            (*self.array.shape, self.array.itemsize),
            bool,
            untouched,
            self.array.__array_interface__["data"][0] - self._memory.__array_interface__["data"][0],
            (*self.array.strides, 1),
        )
        mask[...] = False
        clean = (self._memory[untouched] == self.FILL).all()
        return None if clean else "bytes around out were written to"
