"""Functions of elementwise programs at zeros, ends of their ranges and numbers that are none."""

import numpy as np
import pytest

from fbg import _fbg

SPECIAL = [0, -0.0, np.inf, -np.inf, np.nan, 1, -1, 0.5, -0.5, 2.5, -2.5, 1e30, -1e30, 88.5, 20.25]
SIZES = [1, 3, 16, 31, 64, 200, 1025]


def compute(step, *operands, output="float32", extents=None):
    """Return what one step makes of operands: arrays, or numbers that are read everywhere."""
    graph = _fbg.Graph()
    arrays = [np.atleast_1d(x) for x in operands]
    size = max(x.size for x in arrays)
    given = [
        (
            graph.append("input", x.nbytes, "tensor"),
            x.dtype.name.replace("bool", "uint8"),
            [int(x.size > 1)],
        )
        for x in arrays
    ]
    graph.output(
        graph.append("elementwise", extents or [size], given, [step] if step else [], output)
    )
    y = np.empty(size, output)
    _fbg.run_tensors(_fbg.Plan(graph, 1, 1, 1, 2), arrays, [y], 2)
    return y


def special(size):
    return np.resize(np.array(SPECIAL, np.float32), size)


FUNCTIONS = {
    "sign": lambda x: np.where(x == 0, x, np.sign(x)),
    "softsign": lambda x: x / (1 + np.abs(x)),
    "threshold": lambda x: np.where(x > 0.75, x, 0),
    "not": lambda x: x == 0,
    "truncate": np.trunc,
    "exp": np.exp,
}


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_functions_at_their_ends(isa, function, size):
    x = special(size)
    with np.errstate(all="ignore"):
        wanted = FUNCTIONS[function](x.astype(np.float64)).astype(np.float32)
    y = compute((function, 0, 0, 0.75, 0.0), x)
    np.testing.assert_allclose(y, wanted, 2e-7)
    exact = x == 0
    np.testing.assert_array_equal(np.signbit(y[exact]), np.signbit(wanted[exact]))


def test_exp_is_exact_to_the_last_place_but_one(isa):
    x = np.concatenate(
        [np.linspace(-87.3, 88.7228, 200001), np.linspace(-1, 1, 20001), [88.7229, 88.8, 89, 1e38]]
    ).astype(np.float32)
    with np.errstate(over="ignore"):
        wanted = np.exp(x.astype(np.float64)).astype(np.float32)
    np.testing.assert_allclose(compute(("exp", 0, 0, 0.0, 0.0), x), wanted, 2.4e-7)


BINARY = ["add", "subtract", "multiply", "divide", "minimum", "maximum", "less", "greater"]
BINARY += ["equal", "less_equal", "greater_equal", "quantize_by", "prelu", "power"]


@pytest.mark.parametrize("function", BINARY)
@pytest.mark.parametrize("size", [1, 17, 300, 9000])
def test_a_number_as_an_operand_is_an_array_of_it(isa, function, size):
    x = special(size)
    for number in np.array([0.75, -3, 0, np.inf, np.nan], np.float32):
        for step in ((function, 0, 1, 0.0, 0.0), (function, 1, 0, 0.0, 0.0)):
            a = compute(step, x, number)
            b = compute(step, x, np.full(size, number)) if size > 1 else a
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("size", [*SIZES, 9000])
@pytest.mark.parametrize("function", ["and", "or", "xor"])
def test_truth_values_in_bytes(isa, function, size):
    rng = np.random.default_rng(size)
    a, b = (rng.integers(0, 3, size, np.uint8) * rng.choice([1, 127], size) for _ in range(2))
    a, b = a.astype(np.uint8), b.astype(np.uint8)
    wanted = getattr(np, f"logical_{function}")(a, b)
    np.testing.assert_array_equal(compute((function, 0, 1, 0.0, 0.0), a, b, output="uint8"), wanted)


@pytest.mark.parametrize("dtype", ["float16", "float32", "uint8"])
def test_a_program_without_steps_converts(isa, dtype):
    x = np.array([0, -0.0, 1.5, 3, 250] * 50, np.float32)
    y = compute(None, x, output=dtype)
    np.testing.assert_array_equal(y, np.trunc(x).astype(dtype) if dtype == "uint8" else x)
    if dtype != "uint8":
        np.testing.assert_array_equal(np.signbit(y), np.signbit(x))


@pytest.mark.parametrize("dtype", ["uint8", "int8"])
def test_bytes_are_saturated(isa, dtype):
    x = np.array(
        [np.nan, np.inf, -np.inf, 1e30, -1e30, 127.6, 254.6, 255.4, -128.4, 2.5, 3.5, -0.5] * 9
    )
    x = x.astype(np.float32)
    limits = np.iinfo(dtype)
    wanted = np.clip(np.trunc(np.nan_to_num(x, nan=-np.inf)), limits.min, limits.max).astype(dtype)
    np.testing.assert_array_equal(compute(("affine", 0, 0, 1.0, 0.0), x, output=dtype), wanted)
