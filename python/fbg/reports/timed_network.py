"""A network whose ops are timed one by one: what they are called, compute and take.

A plan times its ops, and within the fused ones the phases of include/fbg/core/phase.h: packing
(which quantizes), scores, softmax and context.
"""

from __future__ import annotations

import bisect
import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.networks.graph import build_pooler
from fbg.networks.transformer import Transformer, linears
from fbg.runtime.batches import pack_padded
from fbg.runtime.runner import Runner

__all__ = [
    "ATTENTION",
    "CONTEXT",
    "EMBEDDINGS",
    "LAYER_NORM",
    "PACK",
    "POOLING",
    "SCORES",
    "SOFTMAX",
    "TimedNetwork",
    "TimedOp",
]

Doubles = npt.NDArray[np.float64]

PACK, SCORES, SOFTMAX, CONTEXT = range(4)  # include/fbg/core/phase.h
PHASES = 4

ATTENTION, LAYER_NORM = "attention", "LayerNorm"
EMBEDDINGS = "embeddings"
POOLING = "pooling"  # all that follows the last layer
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
    **dict.fromkeys(("geglu", "geglu_tanh", "swiglu", "reglu"), "intermediate linear, activation"),
    "output": "output linear",
    "add": "residual sums",
}


@dataclass(frozen=True)
class TimedOp:
    """An op of a plan.

    sub_layer: the part of the network that it belongs to.
    layer: "embeddings", "layer 1" and so on, or "pooling" for what follows the last layer.
    operations: of its products in a run, a multiply-add being two.
    activated: whether it is a linear layer that applies an activation, also that of a gate.
    """

    sub_layer: str
    layer: str
    operations: float
    is_linear: bool
    activated: bool


class TimedNetwork:
    """An encoder with its pooler. Without activations, the difference in time is what they take."""

    def __init__(self, network: Transformer, activations: bool = True) -> None:
        self._config = network.config
        names = {id(linear.weight): name for name, linear in linears(network).items()}
        self._graph = _NamedGraph(names, activations)
        self._ends: list[int] = []  # the last op of the embeddings and of each layer
        hidden = network.build(self._graph, self._ends)
        self._graph.output(hidden)
        self._pooled = network.pooler is not None
        if network.pooler is not None:
            self._graph.output(build_pooler(self._graph, hidden, network.pooler))
        self._runner = Runner(self._graph, network.config.max_length, network.config.long_from)

    def ops(self, tokens: int, threads: int) -> list[TimedOp]:
        """Return the ops of a run of one sequence."""
        plan, graph = self._runner.plan(tokens, threads), self._graph
        result = []
        for n, op in enumerate(plan.ops):
            is_linear = n in graph.layers
            part = sub_layer(graph.layers.get(n, op[0]))
            operations = 0.0
            if is_linear:
                operations = 2.0 * graph.weights[n] * (1 if part == POOLING else tokens)
            elif part == ATTENTION:
                pairs = visible_pairs(tokens, window_of(op[0]))
                operations = 4.0 * pairs * self._config.num_heads * self._config.head_dim
            layer = self._layer(n)
            result.append(TimedOp(part, layer, operations, is_linear, n in graph.activated))
        return result

    def _layer(self, op: int) -> str:
        index = bisect.bisect_left(self._ends, op)
        if index == len(self._ends):
            return POOLING
        return f"layer {index}" if index else EMBEDDINGS

    def time(self, ids: npt.NDArray[np.int64], threads: int) -> tuple[Doubles, Doubles]:
        """Run one sequence twice and return the seconds of each op of the second run, (ops,), and
        of its phases, (ops, 4).

        ids: (1, tokens).
        """
        tokens, width = ids.size, self._config.hidden_size
        packed = pack_padded(ids, None, None, self._config.pad_token_id)
        outputs = [np.empty((tokens, width), np.float32)]
        if self._pooled:
            outputs.append(np.empty((1, width), np.float32))
        count = len(self._runner.plan(tokens, threads).ops)
        seconds, phases = np.zeros(count), np.zeros((count, PHASES))
        self._runner.run(packed, outputs, threads)
        self._runner.run(packed, outputs, threads, seconds, phases)
        return seconds, phases


class _NamedGraph(_fbg.Graph):
    """A graph that knows which linear layer each op is; it may leave activations out, and have the
    simplest of all gates.

    layers, weights: by op, the name of a linear layer and how many weights it has.
    activated: ops that apply an activation, also where it is left out.
    """

    def __init__(self, names: dict[int, str], activations: bool) -> None:
        super().__init__()
        self._names, self._activations = names, activations
        self.layers: dict[int, str] = {}
        self.weights: dict[int, int] = {}
        self.activated: set[int] = set()

    def linear(self, x: int, w: Any, *arguments: Any, **options: Any) -> int:
        gated = options.get("gate") is not None
        active = gated or options.get("activation", "none") != "none"
        if not self._activations:
            options |= {"gate": "relu"} if gated else {"activation": "none"}
        op = super().linear(x, w, *arguments, **options)
        self.layers[op] = self._names.get(id(w), POOLING)
        self.weights[op] = w.shape[0] * w.shape[1]
        if active:
            self.activated.add(op)
        return op


def sub_layer(op: str) -> str:
    """Return the sub-layer of an op, given its name in a plan or that of its linear layer."""
    op = op.partition(" ")[0]  # what follows are options: "attention window 64"
    if op in SUB_LAYERS:
        return SUB_LAYERS[op]
    last = op.rpartition(".")[2]
    return SUB_LAYERS.get(last, last if op.startswith("layers.") else POOLING)


def window_of(op: str) -> int | None:
    """Return how far away the keys may be that a query of this attention op sees."""
    match = re.search(r" window (\d+)", op)
    return int(match[1]) if match else None


def visible_pairs(tokens: int, window: int | None) -> int:
    """Return how many pairs of query and key attention multiplies."""
    if window is None or window >= tokens:
        return tokens * tokens
    return tokens * (2 * window + 1) - window * (window + 1)
