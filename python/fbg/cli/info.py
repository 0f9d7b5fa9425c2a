"""fbg info: the machine as the library sees it, or what a model or a file consists of."""

from __future__ import annotations

import json
import os.path

import click

from fbg.cli.common import print_report, refuse_given, user_errors
from fbg.cli.options import json_option, parse_shapes, shape_option
from fbg.model.load_net import is_net
from fbg.reports.facts import model_facts, net_facts, weight_facts
from fbg.reports.machine import describe_machine, machine_facts
from fbg.reports.measuring import Report, aligned
from fbg.saved_file import PACKED, format_of


@click.command()
@click.argument("model", required=False)
@shape_option
@json_option
def info(model: str | None, shapes: tuple[str, ...], as_json: bool) -> None:
    """Show the CPU, instruction sets, caches, threads and versions, or what MODEL consists of.

    MODEL is a directory, a GGUF file or a hub id: whether it loads, its family, sizes and tasks,
    how its weights are stored, its prompts, and the tensors that nothing reads. If it would not
    load, the reason is shown, and the exit code is 1; no weights are read. Or it is an ONNX file or
    a network saved from one: its inputs and outputs, its operators and, if all shapes are known,
    where they run and the memory that they take. Or it is a file of packed weights.

    \b
    Examples:
      fbg info
      fbg info --json
      fbg info path/to/bert-base
      fbg info net.onnx --shape x=1,3,224,224
    """
    if model is not None:
        if not is_net(model):
            refuse_given("encoders", "shapes")
        with user_errors():
            print_report(_facts(model, shapes), as_json)
        return
    refuse_given("the machine", "shapes")
    facts = machine_facts()
    if as_json:
        click.echo(json.dumps(facts, indent=2))
        return
    click.echo(aligned(describe_machine(facts)))


def _facts(model: str, shapes: tuple[str, ...]) -> Report:
    if is_net(model):
        return net_facts(model, shapes=parse_shapes(shapes))
    named = model.lower().endswith(".safetensors") and os.path.isfile(model)
    return weight_facts(model) if named or format_of(model) == PACKED else model_facts(model)
