"""The ``fbg`` program, also as ``python -m fbg``. The library itself works without click."""

import sys


def main() -> None:
    try:
        from fbg.cli import main as run
    except ModuleNotFoundError as error:
        if error.name != "click":
            raise
        sys.exit("fbg: the command line needs click; install it with: pip install 'fbg[cli]'")
    run(prog_name="fbg")


if __name__ == "__main__":
    main()
