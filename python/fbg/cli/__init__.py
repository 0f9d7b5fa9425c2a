"""Commands of the ``fbg`` program: each is one small function that calls the library and prints."""

import click

import fbg
from fbg.cli.bench import bench
from fbg.cli.compare import compare
from fbg.cli.encode import encode
from fbg.cli.info import info
from fbg.cli.profile import profile
from fbg.cli.program import Program
from fbg.cli.quantize import quantize
from fbg.cli.report import report
from fbg.cli.serve import serve
from fbg.cli.tasks import COMMANDS

__all__ = ["main"]


@click.group(cls=Program, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(fbg.__version__, prog_name="fbg")
def main() -> None:
    """Run BERT-style encoders on CPUs: embed texts, quantize, compare, measure."""


for command in (info, encode, *COMMANDS, serve, quantize, compare, bench, profile, report):
    main.add_command(command)
