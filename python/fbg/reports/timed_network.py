"""A network whose ops are timed one by one: with their names, work and time.

A plan times its ops, and within the fused ones the phases of include/fbg/core/phase.h: packing
(which quantizes), scores, softmax and context. The last op, "other", is the rest of the call.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from fbg.arrays import Doubles
from fbg.graph.ops import rows as ops
from fbg.graph.ops.op import Op, Value
from fbg.networks.transformer import Transformer
from fbg.runtime.engine import Runner, pack_padded

PACK, SCORES, SOFTMAX, CONTEXT = range(4)  # include/fbg/core/phase.h
PHASES = 4

ATTENTION, LAYER_NORM, OTHER = "attention", "LayerNorm", "other"
EMBEDDINGS = "embeddings"
POOLING = "pooler"  # and whatever else follows the last layer
SUB_LAYERS = {
    "embedding": EMBEDDINGS,
    "embeddings.projection": EMBEDDINGS,
    "qkv": "QKV linear",
    "rotate": "rotary positions",
    "attention": ATTENTION,
    "attention_output": "attention output linear",
    "layer_norm": LAYER_NORM,
    "rms_norm": LAYER_NORM,
    "norm_heads": LAYER_NORM,
    "intermediate": "intermediate linear, activation",
    **{f"{gate} multiply": "intermediate linear, activation" for gate in ops.GATES},
    "output": "output linear",
    "add": "residual sums",
    **dict.fromkeys(("router", "route", "take_routed", "add_routed"), "routing to experts"),
}


@dataclass(frozen=True)
class TimedOp:
    """An op of a plan.

    sub_layer: the part of the network that it belongs to; of norms, they begin with their place.
    layer: "embeddings", "layer 1" and so on, "pooler" for the part behind the last layer, "other".
    operations: those of its products in a run; a multiply-add is two.
    activated: whether it is a linear layer that applies an activation, also that of a gate.
    """

    sub_layer: str
    layer: str
    operations: float
    is_linear: bool
    activated: bool


class TimedNetwork:
    """An encoder with its pooler. Without activations, the difference is their time."""

    def __init__(self, network: Transformer, activations: bool = True) -> None:
        self._config = network.config
        graph = network.build_forward()
        self._pooled = network.pooler is not None
        timed = graph if activations else graph.rewritten(_without_activation)
        self._runner = Runner(timed, network.config)

    def ops(self, tokens: int, threads: int) -> list[TimedOp]:
        """Return the ops of a run of one sequence, and the rest of the call."""
        plan = self._runner.plan(tokens, threads)
        timed = [
            self._timed(value, op[0], tokens)
            for value, op in zip(self._runner.lowered.values, plan.ops, strict=True)
        ]
        return [*timed, TimedOp(OTHER, OTHER, 0.0, False, False)]

    def _timed(self, value: Value, native: str, tokens: int) -> TimedOp:
        """Return a native op, given its name and the value that it is computed for."""
        op, scope = value.op, value.name.rpartition(".")[0]
        is_linear = isinstance(op, ops.Linear) and native.startswith("linear")
        name, operations, activated = native, 0.0, False
        if isinstance(op, ops.Linear) and is_linear:
            name = op.layer.name if scope else POOLING
            activated = op.activation != "none" or op.gate is not None
        part = sub_layer(name)
        if isinstance(op, ops.Linear) and is_linear:
            rows, mixture = 1.0 if part == POOLING else tokens, self._config.mixture
            if op.routes is not None and mixture is not None:
                rows *= mixture.chosen / mixture.count  # on average
            operations = 2.0 * rows * float(np.prod(op.layer.weight.shape))
        elif isinstance(op, ops.Attention):
            pairs = visible_pairs(tokens, op.heads.window)
            operations = 4.0 * pairs * self._config.num_heads * self._config.head_dim
        if part == LAYER_NORM:
            part = f"{_place(scope)} {part}"
        return TimedOp(part, _layer(scope), operations, is_linear, activated)

    def time(self, ids: npt.NDArray[np.int64], threads: int) -> tuple[Doubles, Doubles]:
        """Run one sequence twice and return the seconds of each op of the second run, (ops + 1,),
        and of its phases, (ops + 1, 4); the last are those of the rest of the call.

        ids: (1, tokens).
        """
        tokens, width = ids.size, self._config.output_size
        outputs = [np.empty((tokens, width), np.float32)]
        if self._pooled:
            outputs.append(np.empty((1, width), np.float32))
        count = len(self._runner.plan(tokens, threads).ops)
        seconds, phases = np.zeros(count + 1), np.zeros((count + 1, PHASES))
        packed = pack_padded(ids, None, None, self._config.pad_token_id)
        self._runner.run(packed, outputs, threads)
        start = time.perf_counter()
        packed = pack_padded(ids, None, None, self._config.pad_token_id)
        self._runner.run(packed, outputs, threads, seconds=seconds[:-1], phases=phases[:-1])
        seconds[-1] = max(time.perf_counter() - start - seconds.sum(), 0.0)
        return seconds, phases


def _place(scope: str) -> str:
    """Return the sub-layer that this scope of the graph is, or "final" behind the last layer."""
    inside = [part for part in scope.split(".") if not part.isdigit()]
    return inside[-1].replace("_", "-") or "final"


def _layer(scope: str) -> str:
    """Return the name of the layer whose values are in this scope of the graph."""
    first, *inside = scope.split(".")
    if first == EMBEDDINGS:
        return EMBEDDINGS
    return f"layer {int(inside[0]) + 1}" if first == "layers" else POOLING


def _without_activation(op: Op) -> Op:
    """Return an op that applies no activation; a gate becomes the simplest of all."""
    if isinstance(op, ops.Linear):
        return replace(op, activation="none", gate=op.gate and "relu")
    return op


def sub_layer(op: str) -> str:
    """Return the sub-layer of an op, given its name in a plan or that of its linear layer."""
    op = op.partition(" ")[0]  # the rest are options: "attention window 64"
    if op in SUB_LAYERS:
        return SUB_LAYERS[op]
    last = op.rpartition(".")[2]
    return SUB_LAYERS.get(last, last if op.startswith("layers.") else POOLING)


def visible_pairs(tokens: int, window: int | None) -> int:
    """Return the number of pairs of query and key that attention multiplies."""
    if window is None or window >= tokens:
        return tokens * tokens
    return tokens * (2 * window + 1) - window * (window + 1)
