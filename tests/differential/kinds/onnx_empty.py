"""Single operators of ONNX files that read tensors without elements.

Drawn are cases of `onnx_ops`, in which the size of one axis is 0 wherever it stands, or an axis of
a single input; ONNX's own tests of nodes; and operators of onnxruntime. A result is that of
onnxruntime, which runs in a process of its own because it may end that, or of the reference
implementation, where one of these has one; it must not depend on memory that nothing has written.
Or it is refused by name.
"""

from __future__ import annotations

import functools
import warnings

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests
from onnx.reference import ReferenceEvaluator

from differential.kinds.onnx_ops import OPERATORS, SHAPED_LIKE_INPUTS, same, text, versions
from differential.onnx_cases.draw import DRAWN, Draw, with_all_attributes
from fbg.errors import ModelError
from fbg.importers.backends.native import OPS
from helpers.forks import found_by_child
from helpers.one_op import OneOp
from helpers.poison import BYTES, bits, perturbed, unwritten
from helpers.random_cases import Different, Kind


class EmptyDraw(Draw):
    """Draws sizes of which one is 0: the number `zero`, counted from 0."""

    def __init__(self, random, zero):
        super().__init__(random)
        self._left = zero

    def size(self, most=6):
        self._left -= 1
        return 0 if self._left == -1 else super().size(most)


def apart(*computations):
    """Return the results that a process of its own computes, in order, until one ends it.

    Those are left out that fail or depend on memory that nothing has written.
    """

    def stable():
        for compute in computations:
            try:
                found = []
                for byte in BYTES:
                    with perturbed(byte):
                        found.append([np.asarray(y) for y in compute()])
            except Exception:
                continue
            if bits(found[0]) == bits(found[1]):
                yield found[0]

    return found_by_child(stable)


@functools.cache
def node_tests():
    """Return ONNX's tests of nodes whose inputs are all numbers."""
    found = []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        cases = load_model_tests(kind="node")
    for case in cases:
        [node, *others], opset = case.model.graph.node, case.model.opset_import[0]
        protos = case.data_sets[0][0]
        if others or not all(isinstance(x, onnx.TensorProto) and x.data_type < 12 for x in protos):
            continue
        attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        given = iter(protos)
        inputs = [numpy_helper.to_array(next(given)) if name else None for name in node.input]
        if all(x is None or x.dtype.kind in "fiub" for x in inputs):
            count = len(node.output)
            found.append((node.op_type, opset.version, inputs, attributes, count, opset.domain))
    return found


def f(*shape):
    return np.asarray(np.random.default_rng(1).standard_normal(shape), np.float32)


def b(*shape):
    return np.random.default_rng(1).integers(0, 200, shape, np.uint8)


ONE, POINT = np.float32(0.1).reshape(()), np.uint8(7).reshape(())
Q = [b(2, 3), ONE, POINT]
# Operators of onnxruntime, and others that no table of cases has: inputs, attributes, outputs.
FOREIGN = {
    "BiasGelu": ([f(2, 3), f(3)], {}, 1),
    "BiasSoftmax": ([f(2, 3), f(2, 3)], {"axis": 1, "is_inner_broadcast": 0}, 1),
    "DynamicQuantizeMatMul": ([f(2, 3), b(3, 4), ONE, POINT, f(4)], {}, 1),
    "EmbedLayerNormalization": (
        [np.int32([[0, 1]]), None, f(5, 8), f(4, 8), None, f(8), f(8), np.int32([[1, 1]])],
        {},
        2,
    ),
    "FastGelu": ([f(2, 3), f(3)], {}, 1),
    "FusedConv": ([f(1, 2, 5, 5), f(3, 2, 3, 3), f(3)], {"activation": "Relu"}, 1),
    "FusedGemm": ([f(2, 3), f(3, 4), f(4)], {"activation": "Relu"}, 1),
    "FusedMatMul": ([f(2, 3), f(3, 4)], {"alpha": 2.0}, 1),
    "Gelu": ([f(2, 3)], {}, 1),
    "GroupQueryAttention": (
        [
            f(1, 3, 8),
            f(1, 3, 8),
            f(1, 3, 8),
            f(1, 2, 2, 4),
            f(1, 2, 2, 4),
            np.int32([2]),
            np.int32([3]),
        ],
        {"num_heads": 2, "kv_num_heads": 2},
        3,
    ),
    "Inverse": ([f(2, 3, 3)], {}, 1),
    "MatMulIntegerToFloat": ([b(2, 3), b(3, 4), ONE, ONE, POINT, POINT, f(4)], {}, 1),
    "MultiHeadAttention": (
        [f(1, 3, 8), f(1, 3, 8), f(1, 3, 8), None, None, None, f(1, 2, 2, 4), f(1, 2, 2, 4)],
        {"num_heads": 2},
        3,
    ),
    "NhwcMaxPool": ([b(1, 4, 4, 2)], {"kernel_shape": [2, 2]}, 1),
    "QLinearAdd": ([*Q, *Q, ONE, POINT], {}, 1),
    "QLinearAveragePool": ([b(1, 2, 4, 4), ONE, POINT, ONE, POINT], {"kernel_shape": [2, 2]}, 1),
    "QLinearConcat": ([ONE, POINT, *Q, *Q], {"axis": 0}, 1),
    "QLinearGlobalAveragePool": ([b(1, 2, 4, 4), ONE, POINT, ONE, POINT], {}, 1),
    "QLinearLeakyRelu": ([*Q, ONE, POINT], {}, 1),
    "QLinearMul": ([*Q, *Q, ONE, POINT], {}, 1),
    "QLinearReduceMean": ([*Q, ONE, POINT], {"axes": [1]}, 1),
    "QLinearSigmoid": ([*Q, ONE, POINT], {}, 1),
    "QLinearSoftmax": ([*Q, ONE, POINT], {"opset": 13}, 1),
    "QuickGelu": ([f(2, 3)], {}, 1),
    "SkipLayerNormalization": ([f(1, 2, 8), f(1, 2, 8), f(8), f(8)], {}, 1),
    "SkipSimplifiedLayerNormalization": ([f(1, 2, 8), f(1, 2, 8), f(8)], {}, 1),
    "TransposeMatMul": ([f(2, 3), f(3, 4)], {}, 1),
}


def with_zeros(random, inputs):
    """Return inputs of which an axis is empty, or all axes of one size are."""
    places = [(i, a) for i, x in enumerate(inputs) if x is not None for a in range(x.ndim)]
    if not places:
        return inputs
    place, axis = random.choice(places)
    given = inputs[place]
    size = given.shape[axis] if given is not None and random.random() < 0.7 else -1
    result = []
    for i, x in enumerate(inputs):
        shape = [] if x is None else list(x.shape)
        cut = [0 if n == size or (i, a) == (place, axis) else n for a, n in enumerate(shape)]
        result.append(x if x is None or cut == shape else np.zeros(cut, x.dtype))
    return result


def drawn(random):
    """Draw a case; None where an operator cannot be drawn with that size."""
    kind, domain = random.random(), ""
    if kind < 0.55:
        op = random.choice(OPERATORS)
        version = random.choice(versions(op))
        d = EmptyDraw(random, random.randint(0, 9))
        try:
            inputs, drawn_attributes = DRAWN[op](d, op, version)
        except (ValueError, IndexError, ZeroDivisionError):  # sizes that the draw divides by
            return None
        outputs = drawn_attributes.pop("", 1)
        attributes = with_all_attributes(op, version, drawn_attributes)
        if not any(x is not None and x.size == 0 for x in inputs) or random.random() < 0.2:
            inputs = with_zeros(random, inputs)
    elif kind < 0.8:
        op, version, inputs, attributes, outputs, domain = random.choice(node_tests())
        inputs = with_zeros(random, inputs)
    else:
        op, domain, version = random.choice(sorted(FOREIGN)), "com.microsoft", 1
        inputs, attributes, outputs = FOREIGN[op]
        inputs = with_zeros(random, inputs)
    while inputs and inputs[-1] is None:
        inputs.pop()
    constants = OPS[domain, op].constants if (domain, op) in OPS else ()
    constant = {i for i in range(len(inputs)) if random.random() < (0.9 if i in constants else 0.1)}
    return OneOp(op, version, inputs, attributes, frozenset(constant), outputs, domain=domain)


def reference(case):
    model = case.model()
    with np.errstate(all="ignore"):
        return list(ReferenceEvaluator(model).run(None, case.feeds))


def run(random):
    case = drawn(random)
    if case is None:
        return "not drawn"
    backends = random.choice((None, None, None, ("fbg",), ("onnxruntime", "reference")))
    try:
        case.model()
    except ValueError:  # an empty list is no attribute
        return "not drawn"
    # The reference counts windows of pools otherwise.
    ways = [] if case.op.endswith("Pool") else [lambda: reference(case)]
    if case.op not in SHAPED_LIKE_INPUTS:
        ways.append(case.on_onnxruntime)
    wanted = apart(*ways)
    if wanted:
        case.declared = [(y.dtype, None) for y in wanted[0]]
    elif case.domain == "":
        case.declared = None
    where = f"{case} {backends or ''}"
    try:
        got = unwritten(lambda: case.on_fbg(backends), where)
    except (ModelError, ValueError, TypeError) as error:
        if case.op not in str(error) and "input 'x" not in str(error):
            raise Different(f"{where}: refused without a name: {error}") from error
        return "refused by all" if not wanted else "refused"
    if not wanted:
        return "only fbg"
    for right in wanted:
        if all(same(mine, y, case.op) for mine, y in zip(got, right, strict=True)):
            return "same" if any(y.size for y in got) else "empty"
    raise Different(f"{where}: got {text(got)}, wanted {' or '.join(map(text, wanted))}")


KIND = Kind("differential.onnx_empty", run, cases=150, seconds=30)
