"""The command fbg, called in this process: what it prints, and how it ends."""

from collections.abc import Iterable, Sequence
from typing import Any

from click.testing import CliRunner, Result


def invoke(*arguments: object, **options: Any) -> Result:
    from fbg.cli import main

    return CliRunner().invoke(main, [*map(str, arguments)], **options)


def succeed(*arguments: object, **options: Any) -> Result:
    result = invoke(*arguments, **options)
    assert result.exit_code == 0, result.output
    return result


def check_mistakes(cases: Iterable[tuple[Sequence[object], int, str]], *command: object) -> None:
    """cases: the arguments of a command that cannot work, its exit status, and what it says."""
    for arguments, status, message in cases:
        result = invoke(*command, *arguments)
        assert result.exit_code == status, result.output
        assert message in result.output
        assert "Traceback" not in result.output
        assert result.exception is None or isinstance(result.exception, SystemExit)
