"""oneDNN itself, without a framework around it: bench/onednn_matmul.cc, compiled at first use.

It needs a C++ compiler, and oneDNN with its headers in the environment
(bench/environments/onednn.txt).
"""

from __future__ import annotations

import ctypes
import functools
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy.typing as npt

Array = npt.NDArray[Any]

KINDS = ("float32", "bfloat16", "int8")  # types of B, as onednn_matmul.cc numbers them


@functools.cache
def _library() -> Any:
    """The compiled file, or None without oneDNN or a compiler."""
    include, lib = Path(sys.prefix, "include"), Path(sys.prefix, "lib")
    if not (lib / "libdnnl.so").exists():
        return None
    target = str(Path(tempfile.mkdtemp()) / "onednn_matmul.so")
    source = str(Path(__file__).with_name("onednn_matmul.cc"))
    command = ["c++", "-std=c++17", "-O2", "-fopenmp", "-shared", "-fPIC", "-o", target, source]
    command += [f"-I{include}", f"-L{lib}", f"-Wl,-rpath,{lib}", "-ldnnl"]
    try:
        subprocess.run(command, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    library = ctypes.CDLL(target)
    number, pointer = ctypes.c_int64, ctypes.c_void_p
    library.create.argtypes = (ctypes.c_int, number, number, number, pointer, ctypes.c_int)
    library.create.restype = pointer
    library.run.argtypes = (pointer, pointer, pointer)
    library.destroy.argtypes = (pointer,)
    return library


def prepare(a: Array, b: Array, c: Array, threads: int) -> Callable[[], Array] | None:
    """Return a call that writes a @ b to c; None where oneDNN is missing or has no such product.

    All are row-major. Types: all float32, all bfloat16, or uint8, int8 and int32.
    """
    library = _library()
    if library is None:
        return None
    (m, k), n, kind = a.shape, b.shape[1], KINDS.index(b.dtype.name)
    product = library.create(kind, m, n, k, b.ctypes.data, threads)
    if not product:
        return None
    run = functools.partial(library.run, product, a.ctypes.data, c.ctypes.data)

    def call() -> Array:
        run()
        return c

    weakref.finalize(call, library.destroy, product)
    return call
