"""A network of rows, ready to run: decides how large its plans are and when they are made."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.graph.graph import Graph
from fbg.graph.linear import Linear
from fbg.graph.lower.rows import lower_rows
from fbg.graph.ops.op import Value
from fbg.networks.config import EncoderConfig
from fbg.runtime.batches import MAX_BATCH_TOKENS, PackedBatch, move_long
from fbg.tuning.plan_cache import PlanCache
from fbg.tuning.store import store

MIN_TOKENS = 64

# The most bytes of all plans of one runner, each with one arena. A plan of BERT-base takes 5 to
# 15 MiB.
MAX_BYTES = 64 << 20


class Runner:
    """Runs a graph on packed sequences of any size, of at most `config.max_length` tokens each.

    A plan serves every run up to its capacity, a power of two of tokens. Plans are kept for later
    runs while they take at most MAX_BYTES together; the one that was used least recently is dropped
    first, and the one that is in use stays, however large it is. Threads may share a runner: runs
    at the same time share all of a plan but its arena. Arenas for sequences longer than a batch are
    freed when another plan runs, so that memory is that for the longest sequence.

    outputs: those of a run; None: the outputs of the graph. packed: see `lower_rows`. features: of
    the CPU, for kernels; None: those that are active when a run begins.
    """

    def __init__(
        self,
        graph: Graph,
        config: EncoderConfig,
        outputs: Sequence[Value] | None = None,
        packed: Callable[[Linear], Linear] = lambda layer: layer,
        features: int | None = None,
    ) -> None:
        self.lowered = lower_rows(graph, outputs, packed)
        self._config, self._features = config, features
        self._plans: PlanCache[_fbg.Plan] = PlanCache(lambda plan: plan.nbytes)
        self._has_long = False

    def run(
        self,
        batch: PackedBatch,
        outputs: Sequence[npt.NDArray[Any]],
        num_threads: int,
        *,
        inputs: Sequence[npt.NDArray[Any]] = (),
        seconds: npt.NDArray[np.float64] | None = None,
        phases: npt.NDArray[np.float64] | None = None,
    ) -> None:
        """Fill `outputs`, one array for every output.

        inputs: one array for every input of the graph besides the sequences.
        seconds: (ops,) receives the time of each op; phases: (ops, 4) the time of its first share
        in packing, scores, softmax and context (include/fbg/core/phase.h).
        """
        plan = self.plan(batch.tokens, num_threads)
        if self._has_long:
            for other in self._plans.plans:
                if other is not plan and other.tokens > MAX_BATCH_TOKENS:
                    other.free_idle()
        placed = move_long(batch, self._config.long_from)
        plan.run(*placed.arrays, list(outputs), num_threads, seconds, phases, inputs)

    @property
    def arena_bytes(self) -> int:
        """Bytes of the arenas of all plans that are kept."""
        return sum(plan.arena_bytes * plan.num_arenas for plan in self._plans.plans)

    def plan(self, tokens: int, num_threads: int) -> _fbg.Plan:
        """Return a plan for at least `tokens` tokens, with kernels for the ISA that is active."""
        capacity = max(MIN_TOKENS, 1 << (tokens - 1).bit_length())
        self._has_long = self._has_long or capacity > MAX_BATCH_TOKENS
        # Read once: another thread may change the limit while the plan is prepared.
        features = _fbg.active_features() if self._features is None else self._features
        key = (capacity, num_threads, features)

        def prepare() -> _fbg.Plan:
            isa = _fbg.best_isa(features)
            return _fbg.Plan(
                self.lowered.native,
                tokens=capacity,
                sequences=capacity,
                length=self._config.max_length,
                threads=num_threads,
                tuned=store.blockings(self.lowered.native.products, num_threads, isa),
                features=features,
            )

        return self._plans.get(key, prepare, MAX_BYTES)
