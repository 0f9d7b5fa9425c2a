"""Runs a command that compiles: one line of progress instead of its output, which a failure shows.

python scripts/build_progress.py TITLE COMMAND...
"""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections import deque

STEP = re.compile(r"\[(\d+)/(\d+)\]")  # as ninja counts
SHOWN = 100  # lines of the output of a command that failed


def run(title: str, command: list[str]) -> int:
    """Return the exit status of the command."""
    start, shown, lines = time.monotonic(), -1, deque[str](maxlen=SHOWN)
    print(f"{title} …", flush=True)
    process = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )
    assert process.stdout is not None
    for line in process.stdout:
        lines.append(line)
        if step := STEP.search(line):
            done = 100 * int(step[1]) // int(step[2])
            if done // 5 > shown:  # 20 lines are not too many where they cannot be overwritten
                shown = done // 5
                begin, end = ("\r", "") if sys.stdout.isatty() else ("", "\n")
                print(f"{begin}  {done:3} % compiled", end=end, flush=True)
    status = process.wait()
    print(
        f"\n  {'failed' if status else 'done'} after {time.monotonic() - start:.0f} s", flush=True
    )
    if status:
        sys.stderr.writelines(lines)
    return status


if __name__ == "__main__":
    try:
        sys.exit(run(sys.argv[1], sys.argv[2:]))
    except KeyboardInterrupt:
        sys.exit(130)
