"""The last resort: the reference implementation of package onnx, which is right but very slow."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from onnx.reference import ReferenceEvaluator

from fbg.arrays import Array
from fbg.importers.backends.base import ForeignPart, PreparedPart, Step, TypedNode
from fbg.importers.backends.foreign import (
    failure,
    modelled_seconds,
    part_model,
    prepared_in_runs,
    written,
)
from fbg.importers.onnx.folding import MEANT_SINCE


class Reference:
    """`onnx.reference` as a back end."""

    name = "reference"

    def needs(self, op: TypedNode) -> tuple[str, ...]:
        """Return nothing: it needs no values beforehand."""
        return ()

    def supports(self, op: TypedNode) -> bool:
        """Whether the package has an implementation."""
        node = op.node
        if node.domain == "" and node.version < MEANT_SINCE.get(node.op, 0):
            return False
        try:
            part = ForeignPart((op,), (), (), {op.node.domain: op.node.version}, 1)
            ReferenceEvaluator(part_model(part))
        except Exception:  # it has an exception type for each kind of failure
            return False
        return True

    def cost(self, op: TypedNode) -> float:
        """Return 50 times the time of a kernel."""
        return 50 * modelled_seconds(op)

    def prepare(self, part: ForeignPart) -> PreparedPart:
        """Return the evaluator of a part."""
        return prepared_in_runs(part, _PreparedReference)


class _PreparedReference:
    def __init__(self, part: ForeignPart) -> None:
        self._part = part
        self._evaluator = ReferenceEvaluator(part_model(part))

    def run(self, inputs: Sequence[Array], outputs: Sequence[Array | None]) -> list[Array]:
        feeds = dict(zip(self._part.inputs, inputs, strict=True))
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                results = self._evaluator.run(list(self._part.outputs), feeds)
            except Exception as error:  # any type: it checks little beforehand
                raise failure(self._part, "the reference", error) from error
        named = zip(self._part.outputs, results, outputs, strict=True)
        return [written(self._part, *item) for item in named]

    def timed(
        self, inputs: Sequence[Array], outputs: Sequence[Array | None]
    ) -> tuple[list[Array], list[float]]:
        return self.run(inputs, outputs), []

    def steps(self) -> list[Step]:
        return [Step((op.node.name,), "onnx.reference") for op in self._part.ops]
