"""The end of a run of bench/bert.py: a row for each case, our dtypes against the fastest peers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import timing

# The precision of the peers that each dtype of ours is compared with.
RIVALS = {"int8": "int8", "bf16": "bf16", "fp16": "fp32", "fp32": "fp32"}


def fastest_peer(results: dict[str, timing.Result], precision: str) -> timing.Result | None:
    """By median; None where no peer of that precision was measured."""
    peers = [
        result
        for name, result in results.items()
        if name.endswith(f"-{precision}") and not name.startswith("fbg-")
    ]
    return min(peers, key=lambda result: result.median, default=None)


def summary(measured: Sequence[tuple[dict[str, Any], dict[str, timing.Result]]]) -> str:
    """Markdown: of each dtype our median in ms and the median ratio to the fastest peer."""
    headers = ["geometry", "threads", "tokens"]
    for dtype in RIVALS:
        headers += [f"{dtype} ms", "× as fast as"]
    rows = []
    for case, results in measured:
        row = [str(case[key]) for key in headers[:3]]
        for dtype, precision in RIVALS.items():
            mine, rival = results.get(f"fbg-{dtype}"), fastest_peer(results, precision)
            row.append(f"{mine.median * 1e3:.2f}" if mine else "")
            engine = rival.name.partition("-")[0] if rival else ""
            row.append(f"{mine.speedup_over(rival):.2f} {engine}" if mine and rival else "")
        rows.append(row)
    return timing.markdown(headers, rows)
