"""fbg info: the machine as the library sees it."""

from __future__ import annotations

import json
import platform
from importlib import metadata
from typing import Any

import click

import fbg
from fbg import _fbg
from fbg.cli.common import (
    binary_size,
    json_option,
    parse_shapes,
    print_report,
    require_none,
    shape_option,
    user_errors,
)
from fbg.model.load_net import is_net
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
    facts = _collect_info()
    if as_json:
        click.echo(json.dumps(facts, indent=2))
        return
    cpu, isa, threads = facts["cpu"], facts["isa"], facts["threads"]
    rows = {
        "fbg": facts["versions"]["fbg"],
        "CPU": cpu["name"].strip(),
        "caches": ", ".join(
            f"{level} {binary_size(cpu[key])}"
            for level, key in (("L1d", "l1d_bytes"), ("L2", "l2_bytes"), ("L3", "l3_bytes"))
        ),
        "ISAs": " ".join(isa["supported"]),
        "active ISA": isa["active"] + (f" (limit: {isa['limit']})" if isa["limit"] else ""),
        "threads": f"{threads['default']} ({threads['available_cpus']} CPUs available)",
    }
    rows |= {name: version for name, version in facts["versions"].items() if name != "fbg"}
    width = max(map(len, rows))
    for name, value in rows.items():
        click.echo(f"{name:<{width}}  {value}")


def _collect_info() -> dict[str, Any]:
    return {
        "cpu": dict(_fbg.cpu_info()),
        "isa": {
            "supported": list(fbg.isa.supported()),
            "active": fbg.isa.active(),
            "limit": _fbg.isa_limit(),
        },
        "threads": {
            "default": fbg.get_num_threads(),
            "available_cpus": _fbg.available_cpus(),
        },
        "versions": {
            "fbg": fbg.__version__,
            "python": platform.python_version(),
            "platform": platform.platform(),
            **{name: _version(name) for name in ("numpy", "safetensors", "tokenizers")},
        },
    }


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "not installed"
