"""Functions of elements that consist of others.

To add one, write a row of COMPOSED: the result as an expression of the element x and the constants
a and b, or of the elements x and y. Pipelines compute it behind products and by itself. What has no
row is a function or an operation of the library (src/kernels/functions.h).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

Apply = Callable[[str, "Term | float", "Term | float | None", float, float], "Term"]


@dataclass(frozen=True)
class Term:
    """A value of an expression. apply: appends a function of one or two values to it.

    Besides the operators there are the functions of ACTIVATIONS and OPERATIONS (graph/steps.py).
    """

    register: int
    apply: Apply

    def to(self, function: str, other: Term | float | None = None) -> Term:
        """Return function(self) or function(self, other)."""
        return self.apply(function, self, other, 0.0, 0.0)

    def clip(self, low: float, high: float) -> Term:
        """Return min(max(self, low), high)."""
        return self.apply("clip", self, None, low, high)

    def __add__(self, other: Term | float) -> Term:
        return self.to("add", other)

    def __sub__(self, other: Term | float) -> Term:
        return self.to("subtract", other)

    def __mul__(self, other: Term | float) -> Term:
        return self if other == 1.0 else self.to("multiply", other)

    def __radd__(self, other: float) -> Term:
        return self + other

    def __rsub__(self, other: float) -> Term:
        return self.apply("subtract", other, self, 0.0, 0.0)

    def __rmul__(self, other: float) -> Term:
        return self * other

    def __neg__(self) -> Term:
        return self * -1.0

    def __truediv__(self, other: Term | float) -> Term:
        return self.to("divide", other)

    def __rtruediv__(self, other: float) -> Term:
        return self.apply("divide", other, self, 0.0, 0.0)


OfConstants = Callable[[Term, float, float], Term]
OfTwo = Callable[[Term, Term], Term]


def _mish(x: Term) -> Term:
    """x tanh(ln(1 + e^x)) = x n / (n + 2), n = e^x (e^x + 2)."""
    power = x.to("minimum", 20.0).to("exp")
    n = power * (power + 2.0)
    return x * (n / (n + 2.0))


def _shrink(x: Term, bias: float, bound: float) -> Term:
    below = x.to("less", -bound)
    above = x.to("greater", bound).to("keep_where", x - bias)
    return below.to("keep_where", x + bias) + below.to("keep_unless", above)


def _exponential(x: Term, alpha: float) -> Term:
    return x.to("relu") + x.to("expm1_below_zero") * alpha


def _celu(x: Term, alpha: float) -> Term:
    if alpha < 0:  # e^(x / alpha) - 1 is positive below zero, where it grows without bounds
        return x.to("relu") + ((x.to("minimum", 0.0) / alpha).to("exp") - 1.0) * alpha
    return x.to("relu") + (x / alpha).to("expm1_below_zero") * alpha


COMPOSED: dict[str, OfConstants] = {
    "affine": lambda x, a, b: x * a + b,
    "celu": lambda x, a, _: _celu(x, a),
    "dequantize": lambda x, a, b: (x - b) * a,
    "elu": lambda x, a, _: _exponential(x, a),
    "hard_sigmoid": lambda x, a, b: (x * a + b).clip(0, 1),
    "hard_swish": lambda x, _a, _b: x * (x * (1 / 6) + 0.5).clip(0, 1),
    "leaky": lambda x, a, _: x.to("prelu", a),
    "mish": lambda x, _a, _b: _mish(x),
    "negate": lambda x, _a, _b: -x,
    "not": lambda x, _a, _b: x.to("equal", 0.0),
    "reciprocal": lambda x, _a, _b: 1.0 / x,
    "selu": lambda x, a, b: _exponential(x, a) * b,
    "shrink": _shrink,
    "sign": lambda x, _a, _b: (x * 2.0**127).clip(-1, 1),
    "softsign": lambda x, _a, _b: x / (x.to("absolute") + 1.0),
    "square": lambda x, _a, _b: x * x,
    "threshold": lambda x, a, _: x.to("greater", a).to("keep_where", x),
}
COMPOSED_OF_TWO: dict[str, OfTwo] = {
    "and": lambda x, y: x * y,
    "or": lambda x, y: x.to("maximum", y),
    "quantize_by": lambda x, y: (x / y).to("round"),
    "xor": lambda x, y: (x - y).to("absolute"),
}
