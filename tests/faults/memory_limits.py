"""Loads and runs a model where the process may have only so much memory (RLIMIT_AS).

    python -m faults.memory_limits [MODEL] [--from MIB] [--to MIB] [--step MIB]      (in tests/)

Each limit is tried in a child, forked before any model was loaded: so many MiB beyond what the
process has mapped already. The child must end in time: with the results, with MemoryError, OSError
or another exception, or aborted by a library that has no other answer to a lack of memory (Rust's
allocator, which the tokenizers use, ends the process). It must never hang.
"""

from __future__ import annotations

import argparse
import os
import resource
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import fbg
from faults.kills import in_child
from helpers import tiny_bert

SECONDS = 30.0  # of CPU time or of waiting
POLL = 0.01  # seconds


def mapped_bytes():
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[0]) * resource.getpagesize()


def ending(directory, mebibytes):
    """Return how a load with so much memory ends."""
    reader, writer = os.pipe()

    def work():
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        limit = mapped_bytes() + (mebibytes << 20)
        resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        try:
            fbg.load(directory, dtype="int8").encode(["the dog", "a fox"])
            os.write(writer, b"results")
        except BaseException as error:
            os.write(writer, type(error).__name__.encode())

    child = in_child(work)
    os.close(writer)
    polls = 0  # unlike a clock, they stand still while this process and the child are stopped
    while (status := os.waitpid(child, os.WNOHANG))[0] == 0:
        if polls * POLL > SECONDS:
            os.kill(child, 9)
            os.waitpid(child, 0)
            os.close(reader)
            return "HANG"
        time.sleep(POLL)
        polls += 1
    with open(reader, "rb") as pipe:
        told = pipe.read().decode()
    code = os.waitstatus_to_exitcode(status[1])
    return told or f"ended with {code}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", nargs="?", type=Path, help="a directory; without, a small one")
    parser.add_argument("--from", dest="first", type=int, default=2)
    parser.add_argument("--to", dest="last", type=int, default=150)
    parser.add_argument("--step", type=int, default=1)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="fbg-faults-") as folder:
        directory = given.model or tiny_bert.write_checkpoint(folder)
        seen, hangs = Counter[str](), []
        for mebibytes in range(given.first, given.last + 1, given.step):
            how = ending(directory, mebibytes)
            seen[how] += 1
            if how == "HANG":
                hangs.append(mebibytes)
        print(f"{sum(seen.values())} limits: {dict(seen.most_common())}")
        if hangs:
            print(f"hangs with +{hangs} MiB")
    return 1 if hangs else 0


if __name__ == "__main__":
    sys.exit(main())
