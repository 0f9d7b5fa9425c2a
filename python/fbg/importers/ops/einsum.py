"""Einsum, as products of matrices.

Operands are joined two at a time. Letters of both that nothing else needs are the inner axis of a
product; other letters of both number a stack of products. Everything before and after is moves.
"""

from __future__ import annotations

import math
import string
from collections.abc import Sequence
from dataclasses import dataclass

from fbg.graph.ops.elements import Function
from fbg.graph.ops.moves import AxisMap, Move
from fbg.graph.ops.op import MOST_ELEMENTS, Value
from fbg.graph.ops.products import MatMul
from fbg.graph.ops.tensors import shape_of
from fbg.graph.ops.windows import Reduce
from fbg.graph.refusal import Unsupported
from fbg.importers.backends.base import TypedNode
from fbg.importers.ops.builder import Builder
from fbg.importers.ops.registry import NUMBERS, op

MOST_TERMS = (
    2**26
)  # of a product of numbers other than float32, which is written before it is summed


@dataclass(frozen=True)
class Term:
    """A tensor and the letters of its axes, each of which occurs once."""

    value: Value
    letters: str

    def size(self, letter: str) -> int:
        """Return the size of an axis, 1 where there is none."""
        at = self.letters.find(letter)
        return 1 if at < 0 else shape_of(self.value)[at]


@op("Einsum", types=NUMBERS)
def build_einsum(builder: Builder, node: TypedNode) -> None:
    """Sums of products of elements whose letters agree."""
    values = [builder.input(node, i) for i in range(len(node.node.inputs))]
    given, result = _parsed(node, values)
    terms = [_without_repeats(builder, Term(x, own)) for x, own in zip(values, given, strict=True)]
    joined = _summed(builder, terms[0], _needed(terms[1:], result))
    for i, term in enumerate(terms[1:], 1):
        later = _needed(terms[i + 1 :], result)
        joined = _joined(builder, joined, _summed(builder, term, {*joined.letters, *later}), later)
    if set(joined.letters) != set(result):
        raise Unsupported(node.node.name, "a letter of the result that no input has")
    order = tuple(joined.letters.index(letter) for letter in result)
    value = builder.transposed(joined.value, order) if order else joined.value
    builder.set_output(node, builder.reshaped(value, node.output_shape()))


def _needed(terms: Sequence[Term], result: str) -> set[str]:
    return {*result, *(letter for term in terms for letter in term.letters)}


def _parsed(node: TypedNode, values: Sequence[Value]) -> tuple[list[str], str]:
    """Return the letters of all operands and of the result; those of an ellipsis are made up."""
    equation = str(node.attribute("equation")).replace(" ", "")
    left, arrow, result = equation.partition("->")
    given = left.split(",")
    if len(given) != len(values):
        raise Unsupported(node.node.name, f"equation '{equation}' of {len(values)} inputs")
    free = [c for c in string.ascii_letters + string.digits if c not in equation]
    wide = [
        len(x.shape) - len(own.replace("...", "")) for x, own in zip(values, given, strict=True)
    ]
    dots = (
        "".join(free[: max(n for n, own in zip(wide, given, strict=True) if "..." in own)])
        if ("..." in left)
        else ""
    )
    terms = []
    for own, n, x in zip(given, wide, values, strict=True):
        terms.append(own.replace("...", dots[len(dots) - n :]))
        if n < 0 or len(terms[-1]) != len(x.shape):
            raise Unsupported(node.node.name, f"'{own}' for an input of {len(x.shape)} axes")
    if not arrow:
        letters = "".join(terms)
        once = sorted(c for c in set(letters) - {*dots} if letters.count(c) == 1)
        return terms, dots + "".join(once)
    result = result.replace("...", dots)
    if len(set(result)) != len(result):
        raise Unsupported(node.node.name, f"a letter twice in '{result}'")
    return terms, result


def _without_repeats(builder: Builder, term: Term) -> Term:
    """Return the diagonal of axes that have the same letter."""
    value, letters = term.value, term.letters
    for letter in dict.fromkeys(letters):
        while letters.count(letter) > 1:
            first, second = letters.index(letter), letters.rindex(letter)
            rest = [a for a in range(len(letters)) if a not in (first, second)]
            turned = builder.transposed(value, (*rest, first, second))
            shape = shape_of(turned)
            if shape[-1] != shape[-2]:
                raise Unsupported(builder.node, f"different sizes of '{letter}'")
            flat = builder.reshaped(turned, (*shape[:-2], shape[-1] ** 2))
            axes = [AxisMap(size, axis) for axis, size in enumerate(shape[:-2])]
            axes.append(AxisMap(shape[-1], len(axes), step=shape[-1] + 1))
            value = builder.add(Move(flat, tuple(axes)))
            letters = "".join(letters[a] for a in rest) + letter
    return Term(value, letters)


def _summed(builder: Builder, term: Term, kept: set[str]) -> Term:
    """Return the sum over all letters that are not kept."""
    axes = tuple(a for a, letter in enumerate(term.letters) if letter not in kept)
    if not axes:
        return term
    letters = "".join(letter for letter in term.letters if letter in kept)
    return Term(builder.add(Reduce(term.value, "sum", axes)), letters)


def _joined(builder: Builder, a: Term, b: Term, later: set[str]) -> Term:
    """Return the product of two terms, summed over the letters that are not needed later."""
    both = [letter for letter in a.letters if letter in b.letters]
    inner = [letter for letter in both if letter not in later and _alike(a, b, letter)]
    stack = [letter for letter in both if letter not in inner]
    rows = [letter for letter in a.letters if letter not in both]
    columns = [letter for letter in b.letters if letter not in both]
    letters = "".join([*stack, *rows, *columns])
    if a.value.dtype == "float32" and inner:
        left = _matrices(builder, a, stack, rows, inner)
        right = _matrices(builder, b, stack, inner, columns)
        product = builder.add(MatMul(left, right))
    else:
        product = _summed_products(builder, a, b, letters, inner)
    shape = tuple(max(a.size(letter), b.size(letter)) for letter in letters)
    result = Term(builder.reshaped(product, shape), letters)
    return _summed(builder, result, later)


def _alike(a: Term, b: Term, letter: str) -> bool:
    return a.size(letter) == b.size(letter)


def _matrices(
    builder: Builder, term: Term, stack: list[str], rows: list[str], columns: list[str]
) -> Value:
    """Return a tensor as a stack of matrices."""
    order = tuple(term.letters.index(letter) for letter in (*stack, *rows, *columns))
    sizes = [[term.size(letter) for letter in part] for part in (stack, rows, columns)]
    shape = (*sizes[0], math.prod(sizes[1]), math.prod(sizes[2]))
    return builder.reshaped(builder.transposed(term.value, order), shape)


def _summed_products(builder: Builder, a: Term, b: Term, letters: str, inner: list[str]) -> Value:
    """Return the sums of all products, which are written first."""
    every = [*letters, *inner]
    count = math.prod(max(a.size(letter), b.size(letter)) for letter in every)
    if count > (MOST_TERMS if inner else MOST_ELEMENTS):
        raise Unsupported(builder.node, f"{count} products")
    operands = []
    for term in (a, b):
        order = tuple(term.letters.index(letter) for letter in every if letter in term.letters)
        shape = tuple(term.size(letter) for letter in every)
        operands.append(builder.reshaped(builder.transposed(term.value, order), shape))
    if a.value.dtype == "float32":
        product = builder.apply("multiply", *operands)
    else:
        product = builder.add(Function("multiply", tuple(operands)))
    axes = tuple(range(len(letters), len(every)))
    return builder.add(Reduce(product, "sum", axes)) if axes else product
