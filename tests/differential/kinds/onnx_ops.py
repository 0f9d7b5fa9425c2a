"""Single operators of ONNX files with all their attributes, as onnxruntime computes them.

Drawn are the operator, the version of the operator set, shapes, types and attributes, which inputs
the file holds, what it says about the outputs, and whether fbg or onnxruntime comes first. Whatever
onnxruntime computes, fbg computes alike or better; what it refuses is not compared.
"""

from __future__ import annotations

import functools

import numpy as np
import onnx

from differential.onnx_cases import (  # noqa: F401  each registers
    elements,
    indices,
    moves,
    others,
    recurrent,
    sums,
    windows,
)
from differential.onnx_cases.draw import DRAWN, Draw, with_all_attributes
from fbg.errors import ModelError
from fbg.importers.backends.native import OPS
from helpers.forks import found_by_child
from helpers.one_op import OneOp
from helpers.poison import unwritten
from helpers.random_cases import Different, Kind

OPERATORS = sorted({*DRAWN, *(name for domain, name in OPS if domain == "")})
OLDEST = 7
PRODUCTS = {"MatMul": 99, "MatMulInteger": 99, "QLinearMatMul": 7, "Gemm": 2}  # what is added
SHAPED_LIKE_INPUTS = ("ArgMax", "ArgMin")  # onnxruntime says so of what is empty
ROUNDED = ("QuantizeLinear", "DynamicQuantizeLinear", "QLinearConv", "QLinearMatMul")


@functools.cache
def newest():
    """Return the newest operator set that onnxruntime reads."""
    relu = OneOp("Relu", onnx.defs.onnx_opset_version(), [np.ones(1, np.float32)])
    while isinstance(attempt(relu.on_onnxruntime), Exception) and relu.version > OLDEST:
        relu.version -= 1
    return relu.version


@functools.cache
def versions(op):
    """Return the versions at which an operator changed, from the oldest that is drawn on."""
    changed = {
        max(schema.since_version, OLDEST)
        for schema in onnx.defs.get_all_schemas_with_history()
        if schema.name == op and schema.domain == "" and not schema.deprecated
    }
    return sorted(version for version in changed if version <= newest())


def attempt(function):
    try:
        return function()
    except Exception as error:
        return error


def attempt_apart(function):
    """The same in a process of its own, which onnxruntime may end."""

    def found():
        result = attempt(function)
        yield RuntimeError(str(result)) if isinstance(result, Exception) else result

    results = found_by_child(found)
    return results[0] if results else RuntimeError("the process ended")


def drawn(d, op=""):
    op = op or d.one(OPERATORS)
    version = d.one(versions(op))
    inputs, attributes = DRAWN[op](d, op, version)
    outputs = attributes.pop("", 1)
    if op == "MaxPool" and version >= 8 and d.random.random() < 0.1:
        outputs = 2
    while inputs and inputs[-1] is None:
        inputs.pop()
    constants = OPS["", op].constants if ("", op) in OPS else ()
    every = d.random.random() < 0.1
    constant = {
        i
        for i in range(len(inputs))
        if every or d.random.random() < (0.9 if i in constants else 0.1)
    }
    attributes = with_all_attributes(op, version, attributes)
    return OneOp(op, version, inputs, attributes, frozenset(constant), outputs)


def declared(d, case, results):
    """Let the file say something about the outputs, which need not be true."""
    kind = d.random.random()
    case.declared = []
    for y in results:
        shape = list(y.shape)
        if kind < 0.2 and shape:
            shape[d.random.randrange(len(shape))] = d.one((None, "n", 1, 3))
        case.declared.append((y.dtype, None if kind > 0.6 else shape))


def with_empty_sums(case, results):
    """Return the results with zeros where nothing is added up: onnxruntime writes nothing there.

    In a Gemm, former versions forget beta.
    """
    turned = case.op == "Gemm" and case.attributes.get("transA")
    if case.op not in PRODUCTS or np.shape(case.inputs[0])[0 if turned else -1 :][:1] != (0,):
        return results
    place = PRODUCTS[case.op]
    if place >= len(case.inputs) or case.inputs[place] is None:
        return [np.zeros_like(y) for y in results]
    beta = case.attributes.get("beta")
    added = case.inputs[place]
    beta = 1.0 if beta is None else beta
    return [np.broadcast_to(added * y.dtype.type(beta), y.shape).astype(y.dtype) for y in results]


def grouped_norm(case):
    """Return the result in float64: onnxruntime subtracts squares, which cancel."""
    given, *terms = (np.asarray(x, np.float64) for x in case.inputs if x is not None)
    groups = case.attributes["num_groups"]
    x = given.reshape(len(given), groups, -1)
    epsilon = case.attributes.get("epsilon", 1e-5)
    with np.errstate(all="ignore"):
        x = (x - x.mean(2, keepdims=True)) / np.sqrt(x.var(2, keepdims=True) + epsilon)
    channels = (1, given.shape[1], *[1] * (given.ndim - 2))
    scale, bias = (np.repeat(t, given.shape[1] // t.size).reshape(channels) for t in terms)
    assert case.inputs[0] is not None
    return [(x.reshape(given.shape) * scale + bias).astype(case.inputs[0].dtype)]


def same(got, wanted, op):
    if (got.dtype, got.shape) != (wanted.dtype, wanted.shape):
        return False
    if wanted.dtype.kind not in "fV":
        most = 1 if op in ROUNDED else 0
        return bool((np.abs(got.astype(np.float64) - wanted.astype(np.float64)) <= most).all())
    precision = 1e-2 if wanted.dtype.itemsize == 2 else 1e-4
    a, b = got.astype(np.float64), wanted.astype(np.float64)
    scale = float(np.abs(b[np.isfinite(b)]).max(initial=0))
    return bool(np.allclose(a, b, rtol=precision, atol=precision * (scale + 0.1), equal_nan=True))


def text(found):
    if isinstance(found, Exception):
        return f"{type(found).__name__}: {' '.join(str(found).split())[:300]}"
    return "; ".join(f"{y.dtype}{list(y.shape)} {y.ravel()[:12].tolist()}" for y in found)


def results(random):
    """Draw an operator for fingerprints."""
    case = drawn(Draw(random))

    def compute(threads):
        found = attempt(case.on_fbg)
        yield f"{case.op}", type(found).__name__ if isinstance(found, Exception) else found

    return compute


def run(random):
    d = Draw(random)
    return compared(d, drawn(d))


def compared(d, case):
    """Return how a case ended that fbg and onnxruntime ran; raises Different."""
    backends = d.one((None, None, None, ("onnxruntime", "reference")))
    is_empty = any(x is not None and x.size == 0 for x in case.inputs)
    wanted = (attempt_apart if is_empty else attempt)(case.on_onnxruntime)
    if isinstance(wanted, list) and case.op == "GroupNormalization" and not is_empty:
        wanted = grouped_norm(case)
    if isinstance(wanted, list):
        wanted = with_empty_sums(case, wanted)
        declared(d, case, wanted)
    where = f"{case} {case.declared} {backends or ''}: "
    got = attempt(lambda: unwritten(lambda: case.on_fbg(backends), where))
    if isinstance(got, Different):
        raise got
    if isinstance(got, Exception) and not isinstance(got, ModelError | ValueError | TypeError):
        raise Different(f"{where}{text(got)}, onnxruntime {text(wanted)}")
    if is_empty and (case.op in SHAPED_LIKE_INPUTS or isinstance(got, ModelError)):
        return "empty"  # judged by `onnx_empty`
    if isinstance(wanted, Exception):
        return "refused by both" if isinstance(got, Exception) else "only fbg"
    if isinstance(got, Exception) or not all(
        same(a, b, case.op) for a, b in zip(got, wanted, strict=True)
    ):
        raise Different(f"{where}got {text(got)}, onnxruntime {text(wanted)}")
    return "same"


KIND = Kind("differential.onnx_ops", run, cases=400, seconds=20, results=results)
