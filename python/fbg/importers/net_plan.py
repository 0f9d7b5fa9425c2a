"""The steps of a run of a network, as `Net.plan` and `Net.profile` return them."""

from __future__ import annotations

from dataclasses import dataclass

from fbg.importers.session import PlacedStep


@dataclass(frozen=True)
class NetPlan:
    """The steps of a run, and the bytes of memory that it needs.

    arena_bytes: memory of the run. tensor_bytes: memory of all tensors side by side.
    weight_bytes: packed weights, which all plans of the network share. samples: in a
    profile, the seconds of each step, round by round.
    """

    steps: tuple[PlacedStep, ...]
    arena_bytes: int
    tensor_bytes: int
    weight_bytes: int
    samples: tuple[tuple[float, ...], ...] = ()

    def __str__(self) -> str:
        """A table with a row for each step, and one for each further result of a step."""
        total = sum(step.seconds or 0.0 for step in self.steps)
        rows = [["back end", "algorithm", "nodes", "result"]]
        if self.samples:
            rows[0] = ["ms", "share", "G op/s", *rows[0]]
        for step in self.steps:
            first, *others = step.types or ("",)
            seconds, times = step.seconds or 0.0, []
            if self.samples:
                rate = (
                    f"{1e-9 * step.operations / seconds:.0f}" if seconds and step.operations else ""
                )
                share = f"{seconds / total:.1%}" if total else ""
                times = [f"{1e3 * seconds:.3f}", share, rate]
            rows.append([*times, step.backend, step.algorithm, " + ".join(step.nodes), first])
            rows += [["" for _ in rows[0][:-1]] + [other] for other in others]
        figures = len(rows[0]) - 4  # columns of numbers
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join(
                cell.rjust(width) if n < figures else cell.ljust(width)
                for n, (cell, width) in enumerate(zip(row, widths, strict=True))
            ).rstrip()
            for row in rows
        ]
        lines.append(f"arena: {self.arena_bytes} bytes, packed weights: {self.weight_bytes} bytes")
        return "\n".join(lines)
