"""Branches of If as plans of their own: a run computes the condition and chooses one of the two.

The branches are networks whose inputs are the tensors that they read from around them. A branch
that does not fit the shapes of a run is no error as long as no run takes it: networks ask for the
shape of a tensor, or for a sample rate, before they take a branch that only fits this one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fbg.arrays import Array
from fbg.errors import ModelError
from fbg.graph.refusal import Unsupported
from fbg.importers.backends.base import BackEnd, ForeignPart, Step, TypedNode
from fbg.importers.backends.foreign import modelled_seconds, written
from fbg.importers.description import Network, Node
from fbg.importers.onnx.inference import captured, infer
from fbg.importers.session import AnyBackEnd, Session, computing
from fbg.tuning.trials import ConvTrial


class Branches:
    """Plans of branches. backends: those of the network, which compute the branches, too."""

    name = "branches"

    def __init__(self, backends: Sequence[AnyBackEnd]) -> None:
        self._backends: list[AnyBackEnd] = [*backends, self]

    def needs(self, op: TypedNode) -> tuple[str, ...]:
        """Return the tensors that nodes of the branches need."""
        inside = {name for branch in op.node.branches for name in needs(branch, self._backends)}
        return tuple(name for name in op.node.captures if name in inside)

    def supports(self, op: TypedNode) -> bool:
        """Whether it is an If, and the shapes of all tensors that its branches read are known."""
        shapes = [op.types[name].fixed if name in op.types else None for name in op.node.reads]
        return bool(op.node.branches) and None not in shapes and math.prod(shapes[0] or ()) == 1

    def cost(self, op: TypedNode) -> float:
        """Return the time to pass tensors: branches cost the same anywhere, others never move."""
        return modelled_seconds(op) if op.node.branches else math.inf

    def prepare(self, part: ForeignPart) -> PreparedBranches:
        """Return the plans of an If; raises Unsupported if no back end has an op of a branch."""
        return PreparedBranches(part, [self._choice(op, part) for op in part.ops])

    def _choice(self, op: TypedNode, part: ForeignPart) -> _Choice:
        then, other = (self._plan(op, branch, part) for branch in op.node.branches)
        return _Choice(op.node, then, other)

    def _plan(self, op: TypedNode, branch: Network, part: ForeignPart) -> Session | ModelError:
        inputs, known = captured(op.node, op.types, op.constants)
        try:
            infer(branch, inputs, known, (), computing(self._backends, part.features))
        except ModelError as error:
            return error
        try:
            threads, features = part.num_threads, part.features
            return Session(branch, inputs, known, self._backends, {}, threads, features)
        except ModelError as error:
            raise Unsupported(op.node.name, str(error)) from error


def needs(network: Network, backends: Sequence[BackEnd]) -> set[str]:
    """Return the tensors whose values ops of a network need: weights or shapes, mostly."""
    ops = [TypedNode(node, {}) for node in network.nodes]
    return {name for op in ops for backend in backends for name in backend.needs(op)}


@dataclass(frozen=True)
class _Choice:
    """An If: the plans of its branches, or why they cannot be planned."""

    node: Node
    then: Session | ModelError
    other: Session | ModelError

    def run(self, values: Mapping[str, Array]) -> dict[str, Array]:
        """Return the outputs that the node has for the tensors that it reads."""
        plan = self.then if values[self.node.inputs[0]].item() else self.other
        if isinstance(plan, ModelError):
            raise ModelError(str(plan)) from plan
        return dict(zip(self.node.outputs, plan.run(values).values(), strict=True))


class PreparedBranches:
    """If nodes, one after the other. plans: those of all branches."""

    def __init__(self, part: ForeignPart, choices: Sequence[_Choice]) -> None:
        self._part, self._choices = part, choices
        both = [plan for choice in choices for plan in (choice.then, choice.other)]
        self.plans = [plan for plan in both if isinstance(plan, Session)]
        conditions = (op.node.inputs[0] for op in part.ops)
        known = part.ops[0].constants
        self._known = {name: known[name] for name in conditions if name in known}

    def run(self, inputs: Sequence[Array], outputs: Sequence[Array | None]) -> list[Array]:
        values = {**self._known, **dict(zip(self._part.inputs, inputs, strict=True))}
        for choice in self._choices:
            values.update(choice.run(values))
        named = zip(self._part.outputs, outputs, strict=True)
        return [written(self._part, name, values[name], out) for name, out in named]

    def timed(
        self, inputs: Sequence[Array], outputs: Sequence[Array | None]
    ) -> tuple[list[Array], list[float]]:
        return self.run(inputs, outputs), []

    def steps(self) -> list[Step]:
        return [Step((choice.node.name,), "plan of a branch") for choice in self._choices]

    @property
    def trials(self) -> list[ConvTrial]:
        """The trials that time each convolution of the plans."""
        return [trial for plan in self.plans for trial in plan.trials]

    @property
    def arena_bytes(self) -> int:
        """Bytes of the arenas of the plans."""
        return sum(plan.nbytes for plan in self.plans)
