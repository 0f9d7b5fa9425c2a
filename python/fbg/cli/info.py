"""fbg info: the machine as the library sees it."""

from __future__ import annotations

import json
import platform
from importlib import metadata
from typing import Any

import click

import fbg
from fbg import _fbg
from fbg.cli.common import binary_size


@click.command()
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def info(as_json: bool) -> None:
    """Show the CPU, instruction sets, caches, threads and versions.

    \b
    Examples:
      fbg info
      fbg info --json
    """
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
