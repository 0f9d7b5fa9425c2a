"""Which files this process holds open."""

from __future__ import annotations

import contextlib
import os


def open_files(directory):
    """Return the files below a directory that have a descriptor.

    Other descriptors come and go by themselves: threads of earlier tests may still open and close
    sockets.
    """
    found = []
    for descriptor in os.listdir("/proc/self/fd"):
        with contextlib.suppress(FileNotFoundError):  # closed meanwhile
            found.append(os.readlink(f"/proc/self/fd/{descriptor}"))
    root = str(directory.resolve())
    return [name for name in found if name == root or name.startswith(root + os.sep)]
