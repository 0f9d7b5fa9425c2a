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
        lines = []
        for step in self.steps:
            nodes = " + ".join(step.nodes)
            time = "" if step.seconds is None else f"{1e3 * step.seconds:9.3f} ms  "
            types = "; ".join(step.types)
            lines.append(f"{time}{step.backend:12} {step.algorithm:48} {nodes}  {types}")
        lines.append(f"arena: {self.arena_bytes} bytes, packed weights: {self.weight_bytes} bytes")
        return "\n".join(lines)
