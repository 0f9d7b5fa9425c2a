"""The CPUs that a process may use, and which of them share a NUMA node, a cache or a core."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Sequence
from itertools import chain, groupby, pairwise
from pathlib import Path

SYSTEM = Path("/sys/devices/system")

# Its node, the first CPU with the same cache of level 3, the first with the same core, its number.
Cpu = tuple[str, int, int, int]
NODE, CACHE, CORE = 1, 2, 3


def parse_cpus(text: str) -> set[int]:
    """Return the numbers of a list such as "0-3,8"; none if it is malformed."""
    numbers: set[int] = set()
    for part in text.split(","):
        bounds = re.fullmatch(r"(\d{1,5})(?:-(\d{1,5}))?\n?", part, re.ASCII)
        if bounds is None:
            return set()
        numbers.update(range(int(bounds[1]), int(bounds[2] or bounds[1]) + 1))
    return numbers


def usable_cpus(system: Path = SYSTEM, allowed: Collection[int] | None = None) -> list[Cpu]:
    """Return the CPUs of an affinity mask, neighbours beside each other.

    system: where Linux describes them. Without a description, each is a core of one node.
    allowed: the mask; None: that of this thread.
    """

    def listed(path: str | Path) -> set[int]:
        try:
            return parse_cpus((system / path).read_text("utf-8", "replace"))
        except OSError:
            return set()

    nodes: dict[int, str] = {}
    for folder in system.glob("node/node[0-9]*"):
        nodes |= dict.fromkeys(listed(folder / "cpulist"), folder.name)

    def place(n: int) -> Cpu:
        cache = listed(f"cpu/cpu{n}/cache/index3/shared_cpu_list")
        core = listed(f"cpu/cpu{n}/topology/thread_siblings_list")
        return nodes.get(n, ""), min(cache, default=-1), min(core, default=n), n

    return sorted(map(place, os.sched_getaffinity(0) if allowed is None else allowed))


def group_cpus(cpus: Sequence[Cpu], shared: int) -> list[set[int]]:
    """Return the numbers of the CPUs that share a NODE, a CACHE or a CORE."""
    return [{cpu[3] for cpu in found} for _, found in groupby(cpus, lambda cpu: cpu[:shared])]


def split_cpus(cpus: Sequence[Cpu], count: int) -> list[set[int]]:
    """Return the numbers of so many groups of neighbours: of whole cores, if there are enough."""
    units = group_cpus(cpus, CORE)
    if len(units) < count:
        units = [{cpu[3]} for cpu in cpus]
    ends = [len(units) * n // count for n in range(count + 1)]
    return [set(chain(*units[begin:end])) for begin, end in pairwise(ends)]
