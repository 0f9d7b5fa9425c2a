"""Where the time of a run of a network from a file goes: the report of `fbg profile net.onnx`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from fbg.model.load import load
from fbg.reports.inputs import random_feeds
from fbg.reports.measuring import NOISY, Report, is_steady

if TYPE_CHECKING:
    from fbg.importers.net import NetPlan

__all__ = ["NetProfile", "profile_net"]


@dataclass(frozen=True)
class NetProfile(Report):
    """The steps of a network with their median times, as its method `profile` returns them.

    noisy: the rounds disagree by more than 10 % in the time of a run or in the share of a step in
    it, or there are fewer than 5: something else was using the machine.
    """

    path: str
    threads: int
    plan: NetPlan
    noisy: bool

    @classmethod
    def of(cls, path: str, threads: int, plan: NetPlan) -> NetProfile:
        """Return what a plan with samples says."""
        return cls(path, threads, plan, not is_steady(np.array(plan.samples, np.float64)))

    def __str__(self) -> str:
        total = sum(step.seconds or 0.0 for step in self.plan.steps)
        noise = f" ({NOISY})" if self.noisy else ""
        head = f"{self.path}, threads: {self.threads}{noise}"
        return f"{head}\n{self.plan}\ntotal: {1e3 * total:.3f} ms"


def profile_net(
    path: str,
    *,
    shapes: Mapping[str, tuple[int, ...]] | None = None,
    num_threads: int | None = None,
    rounds: int = 15,
) -> NetProfile:
    """Load a network and time it on random inputs; integers are 0, and bool is true.

    shapes: of inputs by name, where the file leaves sizes open. Raises ValueError for an input
    whose size is not known, and what `fbg.load` raises.
    """
    from fbg import _fbg

    threads = num_threads or _fbg.num_threads()
    net = load(path, num_threads=threads, shapes=shapes or {})
    return NetProfile.of(path, threads, net.profile(random_feeds(net, 1)[0], rounds))
