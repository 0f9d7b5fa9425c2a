"""Kinds of pipeline stages with parameters and formulas, and every legal composition of them."""

import numpy as np

import fbg
from helpers.formulas import Output, integer_output, quantize_rows

LONGEST = 4  # compositions up to this length are enumerated

# Kinds of stage: the type each takes and the type it gives.
KINDS = {
    "correct": {"acc": "int32"},
    "dequantize": {"acc": "float32", "int32": "float32"},
    "bias_int32": {"acc": "acc", "int32": "int32"},
    "bias_float32": {"float32": "float32"},
    "relu": {"int32": "int32", "float32": "float32"},
    "gelu": {"float32": "float32"},
    "add": {"float32": "float32"},
    "add_int8": {"float32": "float32"},
    "row_range": {"float32": "last"},
    "to_uint8": {"acc": "uint8", "int32": "uint8", "float32": "uint8"},
    "to_int8": {"acc": "int8", "int32": "int8", "float32": "int8"},
}


def compositions(start, longest):
    """Every legal sequence of kinds from a type, the empty one included."""
    yield ()
    if longest == 0:
        return
    for kind, types in KINDS.items():
        if start in types:
            for rest in compositions(types[start], longest - 1):
                yield (kind, *rest)


M, N, K = 5, 21, 19
RNG = np.random.default_rng(0)
PARAMETERS = {
    "bias_int32": RNG.integers(-20000, 20000, N, dtype=np.int32),
    "bias_float32": RNG.standard_normal(N, dtype=np.float32),
    "add": RNG.standard_normal((M, N), dtype=np.float32),
    "add_int8": (RNG.integers(-128, 128, (M, N), dtype=np.int8), 0.0625, -9),
    "to_uint8": (0.03125, 100, "uint8"),
    "to_int8": (0.0625, -7, "int8"),
}
EXTENTS = np.empty((M, 2), np.float32)  # what row_range writes
STAGES = {
    "correct": fbg.CorrectZeroPoints(),
    "dequantize": fbg.Dequantize(),
    "bias_int32": fbg.Bias(PARAMETERS["bias_int32"]),
    "bias_float32": fbg.Bias(PARAMETERS["bias_float32"]),
    "relu": fbg.ReLU(),
    "gelu": fbg.GELU(),
    "add": fbg.Add(PARAMETERS["add"]),
    "add_int8": fbg.Add(PARAMETERS["add_int8"][0], scale=0.0625, zero_point=-9),
    "row_range": fbg.RowRange(EXTENTS),
    "to_uint8": fbg.Requantize(*PARAMETERS["to_uint8"]),
    "to_int8": fbg.Requantize(*PARAMETERS["to_int8"]),
}


def apply(kind, output):
    """The formula of one kind of stage."""
    {
        "correct": output.correct_zero_points,
        "dequantize": output.dequantize,
        "bias_int32": lambda: output.bias(PARAMETERS["bias_int32"]),
        "bias_float32": lambda: output.bias(PARAMETERS["bias_float32"]),
        "relu": output.relu,
        "gelu": output.gelu,
        "add": lambda: output.add(PARAMETERS["add"]),
        "add_int8": lambda: output.add_quantized(*PARAMETERS["add_int8"]),
        "row_range": lambda: None,
        "to_uint8": lambda: output.requantize(*PARAMETERS["to_uint8"]),
        "to_int8": lambda: output.requantize(*PARAMETERS["to_int8"]),
    }[kind]()


class Formulas:
    """Results of compositions, each computed once from that of its prefix."""

    def __init__(self, start):
        self._known = {(): start}

    def result(self, kinds):
        if kinds not in self._known:
            before = self.result(kinds[:-1])
            output = Output(before.value, before._scale, before._correction)
            output.type = before.type
            apply(kinds[-1], output)
            self._known[kinds] = output
        return self._known[kinds]


def row_extents(y):
    """Least and greatest of each row; both NaN where it holds one. Zeros count as +0."""
    return np.stack([y.min(axis=1), y.max(axis=1)], axis=1) + np.float32(0)


def integer_operands(symmetric):
    rng = np.random.default_rng(1)
    x = rng.standard_normal((M, K), dtype=np.float32)
    packed = fbg.PackedB(rng.standard_normal((K, N), dtype=np.float32), symmetric=symmetric)
    a = quantize_rows(x)
    assert packed.scale is not None and packed.zero_point is not None
    output = integer_output(
        a.q, a.scale, a.zero_point, packed.unpack(), packed.scale, packed.zero_point
    )
    return fbg.PackAWithQuantRowOffset(x), packed, output


def float_operands():
    rng = np.random.default_rng(2)  # sums of small integers: exact in any order
    x = rng.integers(-3, 4, (M, K)).astype(np.float32) / 8
    w = rng.integers(-3, 4, (K, N)).astype(np.float32)
    return fbg.PackA(x), fbg.PackedB(w, dtype="float32"), Output(x @ w)


OPERANDS = {
    "symmetric": integer_operands(True),
    "asymmetric": integer_operands(False),
    "float": float_operands(),
}
FORMULAS = {name: Formulas(operands[2]) for name, operands in OPERANDS.items()}


def through(x, pipeline):
    """Run values through a pipeline of the float kernels, unchanged by the product."""
    identity = fbg.PackedB(np.eye(x.shape[1], dtype=np.float32), dtype="float32")
    return fbg.gemm(fbg.PackA(x), identity, pipeline)
