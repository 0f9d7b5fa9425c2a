"""The machine as the library sees it: CPU, instruction sets, caches, threads and versions."""

from __future__ import annotations

import platform
from importlib import metadata
from typing import Any

import fbg
from fbg import _fbg

PACKAGES = ("numpy", "safetensors", "tokenizers")


def machine_facts() -> dict[str, Any]:
    """Return the facts that `fbg info --json` prints."""
    from fbg.topology import CORE, NODE, group_cpus, usable_cpus

    cpus = usable_cpus()
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
        "topology": {
            "cpus": len(cpus),
            "cores": len(group_cpus(cpus, CORE)),
            "nodes": [sorted(numbers) for numbers in group_cpus(cpus, NODE)],
        },
        "versions": {
            "fbg": fbg.__version__,
            "python": platform.python_version(),
            "platform": platform.platform(),
            **{name: _version(name) for name in PACKAGES},
        },
    }


def describe_machine(facts: dict[str, Any]) -> dict[str, str]:
    """Return the facts as text by name, in the order in which to show them."""
    cpu, isa, threads = facts["cpu"], facts["isa"], facts["threads"]
    places = facts["topology"]
    rows = {
        "fbg": facts["versions"]["fbg"],
        "CPU": cpu["name"].strip(),
        "topology": f"CPUs: {places['cpus']}, cores: {places['cores']}, NUMA nodes: "
        f"{len(places['nodes'])}",
        "caches": ", ".join(
            f"{level} {binary_size(cpu[key])}"
            for level, key in (("L1d", "l1d_bytes"), ("L2", "l2_bytes"), ("L3", "l3_bytes"))
        ),
        "ISAs": " ".join(isa["supported"]),
        "active ISA": isa["active"] + (f" (limit: {isa['limit']})" if isa["limit"] else ""),
        "threads": f"{threads['default']} ({threads['available_cpus']} CPUs available)",
    }
    return rows | {name: text for name, text in facts["versions"].items() if name != "fbg"}


def binary_size(size: int) -> str:
    return f"{size >> 20} MiB" if size >= 1 << 20 else f"{size >> 10} KiB"


def _version(distribution: str) -> str:
    try:
        return metadata.version(distribution)
    except metadata.PackageNotFoundError:
        return "not installed"
