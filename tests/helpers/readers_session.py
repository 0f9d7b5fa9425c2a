"""What runs in a reader's interpreter: the blocks that the tests send, as lines of JSON.

It imports nothing but the standard library, because the environment of a reader has no more. A
block is code, which runs in one namespace with those before it, or the words of a program `fbg`.
"""

import json
import os
import runpy
import sys
import traceback
import warnings

__all__ = []


def run(block, names):
    """Return what went wrong, or None."""
    try:
        if "words" in block:
            sys.argv = block["words"]
            runpy.run_module("fbg", run_name="__main__")
        else:
            # Empty lines before it: tracebacks then show the lines of the page.
            code = "\n" * (block["line"] - 1) + block["code"]
            exec(compile(code, block["page"], "exec", dont_inherit=True), names)
    except SystemExit as end:
        return None if end.code in (None, 0) else f"exit code {end.code}"
    except BaseException:
        return traceback.format_exc()
    return None


def main():
    answers = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)  # what blocks print
    warnings.filterwarnings("error", module=r"(__main__|fbg)\b")
    warnings.filterwarnings("ignore", ".* was truncated to the", UserWarning)
    names = {"__name__": "__main__"}
    for line in sys.stdin:
        print(json.dumps(run(json.loads(line), names)), file=answers)


if __name__ == "__main__":
    main()
