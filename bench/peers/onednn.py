"""oneDNN itself, without a framework around it: onednn_matmul.cc, compiled at first use.

It needs a C++ compiler, and oneDNN with its headers in the environment (environments/onednn.txt).
Weights are brought into the layout that it asks for. Not every CPU has its bfloat16; without VNNI,
sums of two products of its int8 saturate in int16.
"""

import ctypes
import functools
import subprocess
import sys
import tempfile
import weakref
from pathlib import Path
from typing import Any

import numpy as np

from peers import Call, Peer, Product, Row, rotate

TYPES = {  # of A, B and C, as onednn_matmul.cc numbers them
    "fp32": ("float32", "float32", "float32"),
    "bf16": ("bfloat16", "bfloat16", "bfloat16"),
    "int32": ("uint8", "int8", "int32"),
}


@functools.cache
def compiled(name: str, *options: str) -> Any:
    """The library that a C++ file of this folder makes, or None without a compiler."""
    target = str(Path(tempfile.mkdtemp()) / f"{name}.so")
    source = str(Path(__file__).with_name(f"{name}.cc"))
    command = ["c++", "-std=c++17", "-O2", "-shared", "-fPIC", "-o", target, source, *options]
    try:
        subprocess.run(command, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return ctypes.CDLL(target)


def _library() -> Any:
    include, lib = Path(sys.prefix, "include"), Path(sys.prefix, "lib")
    if not (lib / "libdnnl.so").exists():
        return None
    options = ("-fopenmp", f"-I{include}", f"-L{lib}", f"-Wl,-rpath,{lib}", "-ldnnl")
    library = compiled("onednn_matmul", *options)
    if library is not None:
        number, pointer = ctypes.c_int64, ctypes.c_void_p
        library.create.argtypes = (ctypes.c_int, number, number, number, pointer, ctypes.c_int)
        library.create.restype = pointer
        library.run.argtypes = (pointer, pointer, pointer)
        library.destroy.argtypes = (pointer,)
    return library


def _product(product: Product, kind: str) -> Peer | None:
    import ml_dtypes

    library = _library()
    if library is None:
        return None
    a_type, b_type, c_type = (getattr(ml_dtypes, name, name) for name in TYPES[kind])
    x, w = np.ascontiguousarray(product.x, a_type), np.ascontiguousarray(product.w, b_type)
    out = np.empty((len(x), w.shape[1]), c_type)
    sizes = (len(x), w.shape[1], len(w), w.ctypes.data, product.threads)

    def make() -> Call | None:
        made = library.create(list(TYPES).index(kind), *sizes)
        if not made:
            return None
        run = functools.partial(library.run, made, x.ctypes.data, out.ctypes.data)

        def call() -> Any:
            run()
            return out

        weakref.finalize(call, library.destroy, made)
        return call

    return Peer(rotate(make, product.copies)) if make() else None  # type: ignore[arg-type]


PRODUCTS = {
    f"onednn-{kind}": Row(("ml_dtypes",), functools.partial(_product, kind=kind)) for kind in TYPES
}
