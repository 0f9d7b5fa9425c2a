"""The command fbg, called in this process: what it prints, and how it ends."""

from click.testing import CliRunner


def invoke(*arguments, **options):
    from fbg.cli import main

    return CliRunner().invoke(main, [*map(str, arguments)], **options)


def succeed(*arguments, **options):
    result = invoke(*arguments, **options)
    assert result.exit_code == 0, result.output
    return result


def check_mistakes(cases, *command):
    """cases: the arguments of a command that cannot work, its exit status, and what it says."""
    for arguments, status, message in cases:
        result = invoke(*command, *arguments)
        assert result.exit_code == status, result.output
        assert message in result.output
        assert "Traceback" not in result.output
        assert result.exception is None or isinstance(result.exception, SystemExit)
