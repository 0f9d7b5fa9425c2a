"""fbg info: the machine as the library sees it."""

from __future__ import annotations

import json

import click

from fbg.cli.common import print_report, require_none, user_errors
from fbg.cli.options import json_option, parse_shapes, shape_option
from fbg.model.load_net import is_net
from fbg.reports.machine import describe_machine, machine_facts
from fbg.reports.net_facts import net_facts


@click.command()
@click.argument("net", required=False)
@shape_option
@json_option
def info(net: str | None, shapes: tuple[str, ...], as_json: bool) -> None:
    """Show the CPU, instruction sets, caches, threads and versions, or what NET consists of.

    NET is an ONNX file or a network saved from one: its inputs and outputs, its operators and where
    they run, and the memory that it takes.

    \b
    Examples:
      fbg info
      fbg info --json
      fbg info net.onnx --shape x=1,3,224,224
    """
    if net is not None:
        if not is_net(net):
            raise click.UsageError(f"{net} is neither an ONNX file nor a network saved from one")
        with user_errors():
            print_report(net_facts(net, shapes=parse_shapes(shapes)), as_json)
        return
    require_none({"--shape": shapes}, "the machine")
    facts = machine_facts()
    if as_json:
        click.echo(json.dumps(facts, indent=2))
        return
    rows = describe_machine(facts)
    width = max(map(len, rows))
    for name, value in rows.items():
        click.echo(f"{name:<{width}}  {value}")
