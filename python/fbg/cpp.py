"""Finds the C++ library that is installed with this package."""

from __future__ import annotations

from pathlib import Path

from fbg import _fbg

# It is beside the extension module: in an editable installation the Python sources are elsewhere.
_PACKAGE = Path(_fbg.__file__).parent


def get_cmake_dir() -> str:
    """Return the directory of ``fbgConfig.cmake``, for ``find_package(fbg)``.

    Give it to CMake as ``fbg_DIR``::

        cmake -S . -B build -Dfbg_DIR=$(python -c "import fbg; print(fbg.get_cmake_dir())")

    >>> get_cmake_dir().endswith("fbg/lib/cmake/fbg")
    True
    """
    return str(_PACKAGE / "lib" / "cmake" / "fbg")


def get_include() -> str:
    """Return the directory to include ``fbg/fbg.h`` from.

    The static libraries are beside it, in ``lib``; ``get_cmake_dir`` spares naming them in order.

    >>> get_include().endswith("fbg/include")
    True
    """
    return str(_PACKAGE / "include")
