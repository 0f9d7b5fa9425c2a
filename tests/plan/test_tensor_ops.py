"""The ops of tensors against NumPy, for every instruction set and number of threads."""

import numpy as np
import pytest

import fbg
from fbg import _fbg
from helpers.row_plans import whole_rows


def run(build, *arrays, shape, dtype=np.float32, threads=2):
    graph = _fbg.Graph()
    buffers = [graph.append("input", array.nbytes, "tensor") for array in arrays]
    graph.output(build(graph, *buffers))
    out = np.empty(shape, dtype)
    _fbg.run_tensors(_fbg.Plan(graph, 1, 1, 1, threads), list(arrays), [out], threads)
    return out


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float32, np.int64])
def test_arrange_interleaves_the_channels_of_images(isa, dtype):
    x = np.arange(2 * 3 * 2503).reshape(2, 3, 2503).astype(dtype)
    axes = [(2, 7509, 7509, []), (3, 1, 2503, []), (2503, 3, 1, [])]
    y = run(
        lambda g, b: g.append("arrange", [b], x.size, x.itemsize, [(0, 0, 0, axes)]),
        x,
        shape=(2, 2503, 3),
        dtype=dtype,
    )
    np.testing.assert_array_equal(y, x.transpose(0, 2, 1))


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, np.float32, np.int64])
@pytest.mark.parametrize(("rows", "columns"), [(1, 2), (5, 67), (16, 16), (33, 18), (100, 47)])
def test_arrange_transposes_matrices(isa, dtype, rows, columns):
    x = np.random.default_rng(1).integers(0, 256, (2, rows, columns)).astype(dtype)
    size = rows * columns
    axes = [(2, size, size, []), (columns, rows, 1, []), (rows, 1, columns, [])]
    y = run(
        lambda g, b: g.append("arrange", [b], x.size, x.itemsize, [(0, 0, 0, axes)]),
        x,
        shape=(2, columns, rows),
        dtype=dtype,
        threads=2,
    )
    np.testing.assert_array_equal(y, x.transpose(0, 2, 1))


def test_arrange_refuses_parts_outside_of_their_tensors():
    graph = _fbg.Graph()
    x = graph.append("input", 16, "tensor")
    for part in [(0, 0, 1, [(4, 1, 1, [])]), (0, 1, 0, [(4, 1, 1, [])]), (1, 0, 0, [])]:
        with pytest.raises(ValueError, match="arrange"):
            graph.append("arrange", [x], 4, 4, [part])
    with pytest.raises(ValueError, match="arrange"):
        graph.append("arrange", [x], 4, 4, [(0, 0, 0, [(2, 1, 1, [0, 4])])])


UNWRITTEN = {
    "a table without an element for each place": [(0, 0, 0, [(4, 1, 1, [0, 1, -1, 3])])],
    "a part that ends too early": [(0, 0, 0, [(3, 1, 1, [])])],
    "every other element": [(0, 0, 0, [(2, 2, 1, [])])],
    "two parts of the same elements": [(0, 0, 0, [(2, 1, 1, [])]), (0, 0, 2, [(2, 1, 1, [])])],
    "two axes of the same elements": [(0, 0, 0, [(2, 1, 1, []), (2, 1, 2, [])])],
    "an axis that stays where it is": [(0, 0, 0, [(4, 0, 1, [])])],
    "an axis that reaches into the next": [
        (0, 0, 0, [(2, 1, 0, []), (2, 2, 2, [])]),
        (0, 3, 0, []),
    ],
}


@pytest.mark.parametrize("why", UNWRITTEN)
def test_arrange_refuses_parts_that_do_not_write_every_element_once(why):
    graph = _fbg.Graph()
    x = graph.append("input", 16, "tensor")
    with pytest.raises(ValueError, match="arrange"):
        graph.append("arrange", [x], 4, 4, UNWRITTEN[why])


def test_products_refuse_results_that_do_not_fill_their_tensor():
    graph = _fbg.Graph()
    x = graph.append("input", 64, "tensor")
    for c in [(0, [2], 1, 1), (0, [4], 4, 1), (0, [0], 2, 1), (0, [1], 2, 4)]:
        with pytest.raises(ValueError, match="matmul"):
            graph.append("multiply", [2], (2, 2, 2), (x, [4], 2, 1), (x, [4], 2, 1), c)
    graph.append("multiply", [2], (2, 2, 2), (x, [4], 2, 1), (x, [4], 2, 1), (0, [2], 4, 1))


FUNCTIONS = {
    "absolute": np.abs,
    "exp": np.exp,
    "floor": np.floor,
    "gelu_tanh": lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
    "hard_swish": lambda x: x * np.clip(x / 6 + 0.5, 0, 1),
    "negate": np.negative,
    "relu": lambda x: np.maximum(x, 0),
    "round": np.rint,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "sign": np.sign,
    "silu": lambda x: x / (1 + np.exp(-x)),
    "softplus": lambda x: np.logaddexp(0, x),
    "square": np.square,
    "tanh": np.tanh,
}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_function_of_elements(isa, function):
    x = np.linspace(-30, 30, 1031, dtype=np.float32)
    y = run(
        lambda g, b: g.append(
            "elementwise", [x.size], [(b, "float32", [1])], [(function, 0, 0, 0.0, 0.0)]
        ),
        x,
        shape=x.shape,
    )
    np.testing.assert_allclose(y, FUNCTIONS[function](x.astype(np.float64)), 2e-6, 1e-6)


def test_exp_reaches_both_ends(isa):
    x = np.array([-200, -88, 88.6, 89, 1000, -np.inf, np.inf, np.nan], np.float32)
    y = run(
        lambda g, b: g.append(
            "elementwise", [x.size], [(b, "float32", [1])], [("exp", 0, 0, 0.0, 0.0)]
        ),
        x,
        shape=x.shape,
    )
    with np.errstate(over="ignore"):
        np.testing.assert_allclose(y, np.exp(x), 1e-6, 1e-37)


@pytest.mark.parametrize("columns", [1, 15, 64, 333, 30522])
def test_log_softmax_of_rows(isa, columns):
    x = np.random.default_rng(columns).standard_normal((6, columns)).astype(np.float32) * 20
    x[1, columns // 2] = -np.inf
    x[2] += 1e4
    x[3, columns // 2], x[4, columns // 2], x[5] = np.nan, np.inf, -np.inf
    y = run(lambda g, b: g.append("norm", b, "log_softmax", width=columns), x, shape=x.shape)
    assert np.isnan(y[3:]).all()
    centered = x[:3].astype(np.float64)
    with np.errstate(all="ignore"):
        centered -= centered.max(1, keepdims=True)
        wanted = centered - np.log(np.exp(centered).sum(1, keepdims=True))
    if columns == 1:  # the only element is infinite
        assert np.isnan(y[1]).all()
        y, wanted = y[::2], wanted[::2]
    np.testing.assert_allclose(y[: len(wanted)], wanted, 2e-6, 2e-6)


def test_programs_round_to_float16_as_numpy_does(isa):
    halves = np.arange(0x7C00, dtype=np.uint16).view(np.float16).astype(np.float32)
    middles = (halves[:-1] + halves[1:]) / 2
    around = [np.nextafter(middles, np.float32(end)) for end in (0, np.inf)]
    ends = np.array([65519, 65520, 1e38, np.inf, np.nan], np.float32)
    x = np.concatenate([halves, middles, *around, ends])
    x = np.concatenate([x, -x])
    y = run(
        lambda g, b: g.append(
            "elementwise",
            [x.size],
            [(b, "float32", [1])],
            [("affine", 0, 0, 1.0, -0.0)],
            "float16",
        ),
        x,
        shape=x.shape,
        dtype=np.float16,
    )
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(y, x.astype(np.float16))


def test_program_broadcasts_and_saturates(isa):
    rng = np.random.default_rng(3)
    x = rng.integers(0, 256, (9, 70), dtype=np.uint8)
    w = rng.standard_normal((70,), dtype=np.float32)
    program = [
        ("dequantize", 0, 0, 0.5, 128.0),
        ("multiply", 2, 1, 0.0, 0.0),
        ("quantize", 3, 3, 0.25, -3.0),
    ]
    operands = [(0, "uint8", [70, 1]), (1, "float32", [0, 1])]
    y = run(
        lambda g, a, b: g.append("elementwise", [9, 70], operands, program, "int8"),
        x,
        w,
        shape=(9, 70),
        dtype=np.int8,
    )
    real = (x.astype(np.float32) - 128) * np.float32(0.5) * w
    np.testing.assert_array_equal(y, np.clip(np.rint(real / np.float32(0.25)) - 3, -128, 127))


@pytest.mark.parametrize("shape", [(3, 11, 5), (2, 100, 24), (4, 3, 300), (1, 7, 256), (70, 1, 1)])
@pytest.mark.parametrize("threads", [1, 2])
def test_lines_of_any_length_are_broadcast(isa, shape, threads):
    rng = np.random.default_rng(4)
    a, b, c = shape
    operands = {
        "all": (shape, [b * c, c, 1]),
        "last": ((a, c), [c, 0, 1]),
        "line": ((b,), [0, 1, 0]),
        "turned": ((b, a, c), [c, a * c, 1]),
    }
    x = rng.standard_normal(shape, dtype=np.float32)
    for kind, (own, strides) in operands.items():
        y = rng.standard_normal(own, dtype=np.float32)
        wanted = {"last": lambda y: y[:, None], "line": lambda y: y[:, None]}.get(kind, lambda y: y)
        wanted = y.transpose(1, 0, 2) if kind == "turned" else wanted(y)
        z = run(
            lambda g, u, v, strides=strides: g.append(
                "elementwise",
                list(shape),
                [(u, "float32", [b * c, c, 1]), (v, "float32", strides)],
                [("multiply", 0, 1, 0.0, 0.0)],
            ),
            x,
            y,
            shape=shape,
            threads=threads,
        )
        np.testing.assert_array_equal(z, x * wanted)


@pytest.mark.parametrize("scale", [0.1, 1 / 3, 0.0078431, 1e-9, 3e7, 1e-35])
@pytest.mark.parametrize(("dtype", "point"), [("int8", 3), ("int8", -128), ("uint8", 255)])
def test_quantizing_rounds_as_division_does(isa, scale, dtype, point):
    rng = np.random.default_rng(5)
    scale = np.float32(scale)
    ties = ((np.arange(-300, 300) + np.float32(0.5)) * scale).astype(np.float32)
    near = [np.nextafter(ties, np.float32(end)) for end in (-np.inf, np.inf)]
    ends = np.array([np.inf, -np.inf, np.nan, 3e38, -3e38, 1e-45, 0.0, -0.0], np.float32)
    x = np.concatenate(
        [ties, *near, ends, rng.uniform(-200, 200, 20000).astype(np.float32) * scale]
    )
    y = run(
        lambda g, b: g.append(
            "elementwise",
            [x.size],
            [(b, "float32", [1])],
            [("quantize", 0, 0, scale, float(point))],
            dtype,
        ),
        x,
        shape=x.shape,
        dtype=dtype,
    )
    info = np.iinfo(dtype)
    with np.errstate(over="ignore"):
        real = np.rint(x / scale) + np.float32(point)
    wanted = np.where(np.isnan(real), info.min, np.clip(real, info.min, info.max)).astype(dtype)
    np.testing.assert_array_equal(y, wanted)


def test_program_refuses_what_it_cannot_run():
    graph = _fbg.Graph()
    x = graph.append("input", 16, "tensor")
    good = [(x, "float32", [1])]
    for operands, steps in [
        (good, [("nonsense", 0, 0, 0.0, 0.0)]),
        (good, [("add", 0, 1, 0.0, 0.0)]),
        ([], []),
        ([(x, "float32", [2])], [("exp", 0, 0, 0.0, 0.0)]),
        ([(x, "float32", [1, 1])], [("exp", 0, 0, 0.0, 0.0)]),
    ]:
        with pytest.raises(ValueError, match="elementwise"):
            graph.append("elementwise", [4], operands, steps)
    with pytest.raises(ValueError, match="beyond"):
        graph.append("elementwise", [5], good, [("exp", 0, 0, 0.0, 0.0)])


KINDS = [(f, d) for f in ("max", "min") for d in (np.float32, np.uint8, np.int8)]


@pytest.mark.parametrize(("function", "dtype"), [*KINDS, ("mean", np.float32)])
@pytest.mark.parametrize("channels", [1, 3, 64, 131])
def test_window(isa, dtype, channels, function):
    rng = np.random.default_rng(5)
    x = rng.standard_normal((2, 6, 7, channels)) * 50
    x = (np.abs(x) if dtype == np.uint8 else x).astype(dtype)
    sizes = [(1, 6, 7), (1, 3, 4), (1, 3, 3), (1, 2, 2), (1, 1, 1), (0, 0, 1), (0, 0, 1)]
    y = run(
        lambda g, b: g.append(
            "window", b, sizes, function, 2, channels, False, np.dtype(dtype).name
        ),
        x,
        shape=(2, 3, 4, channels),
        dtype=dtype,
    )
    pick = {"max": np.max, "min": np.min, "mean": np.mean}[function]
    for i in range(3):
        for j in range(4):
            part = x[:, 2 * i : 2 * i + 3, max(2 * j - 1, 0) : 2 * j + 2]
            np.testing.assert_allclose(y[:, i, j], pick(part, (1, 2)), 1e-5, 1e-5)


@pytest.mark.parametrize("axis", [1, 2])
def test_the_error_of_a_mean_does_not_grow_with_the_image(isa, axis):
    rng = np.random.default_rng(6)
    x = rng.random((1, 60_000, 1, 19), np.float32).swapaxes(1, axis)
    height, width = x.shape[1:3]
    whole = (1, height, width)
    sizes = [whole, (1, 1, 1), whole, (1, 1, 1), (1, 1, 1), (0, 0, 0), (0, 0, 0)]
    y = run(
        lambda g, b: g.append("window", b, sizes, "mean", 1, 19, False, "float32"), x, shape=(1, 19)
    )
    np.testing.assert_allclose(y, x.mean((1, 2), dtype=np.float64), 2e-6)  # one by one: 4e-5


@pytest.mark.parametrize("count_padding", [False, True])
@pytest.mark.parametrize("kernel", [2, 3, 5])
@pytest.mark.parametrize("stride", [1, 2])
@pytest.mark.parametrize("channels", [5, 64, 200])
@pytest.mark.parametrize("dtype", [np.uint8, np.int8])
def test_means_of_integers_beside_each_other_and_at_borders(
    isa, dtype, channels, stride, kernel, count_padding
):
    info = np.iinfo(dtype)
    rng = np.random.default_rng(channels)
    x = rng.integers(info.min, info.max + 1, (1, 9, 13, channels), dtype=dtype)
    rows, cols = (9 + 1 - kernel) // stride + 1, (13 + 2 - kernel) // stride + 1
    steps = (1, stride, stride)
    sizes = [(1, 9, 13), (1, rows, cols), (1, kernel, kernel), steps]
    sizes += [(1, 1, 1), (0, 1, 1), (0, 0, 1)]
    y = run(
        lambda g, b: g.append(
            "window", b, sizes, "mean", 1, channels, count_padding, np.dtype(dtype).name, 0.9, 11, 3
        ),
        x,
        shape=(rows, cols, channels),
        dtype=dtype,
        threads=2,
    )
    for i in range(rows):
        for j in range(cols):
            top, left = i * stride - 1, j * stride - 1
            part = x[0, max(top, 0) : top + kernel, max(left, 0) : left + kernel]
            pixels = part.shape[0] * part.shape[1]
            divisor = kernel * kernel if count_padding else pixels
            sums = (part.astype(np.int32).sum((0, 1)) - 11 * pixels).astype(np.float32)
            expected = np.rint(sums * (np.float32(0.9) / np.float32(divisor))) + 3
            np.testing.assert_array_equal(y[i, j], np.clip(expected, info.min, info.max))


@pytest.mark.parametrize("function", ["max", "min", "sum", "mean"])
def test_reduction_of_rows(isa, function):
    x = np.random.default_rng(7).standard_normal((5, 77), dtype=np.float32)
    y = run(lambda g, b: g.append("window", b, whole_rows(77), function, 5, 1), x, shape=(5,))
    np.testing.assert_allclose(y, getattr(np, function)(x, 1), 1e-5, 1e-6)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_convolution_does_not_overwrite_the_channels_that_it_reads(threads):
    rng = np.random.default_rng(10)
    x = rng.standard_normal((1, 9, 7, 32), dtype=np.float32)
    w = fbg.PackedConv(
        rng.standard_normal((16, 32, 3, 3), dtype=np.float32), padding=1, dtype="float32"
    )

    def build(graph, a):
        t = graph.append("arrange", [a], x.size, 4, [(0, 0, 0, [(x.size, 1, 1, [])])])
        place = {"channels": 32, "first": 16, "before": t}  # t is needed by nobody else
        return graph.append("convolve", t, w._native, 1, (1, 9, 7), [], **place)

    y = run(build, x, shape=x.shape, threads=threads)
    np.testing.assert_array_equal(y, np.concatenate([x[..., :16], fbg.conv(x, w)], axis=-1))


def test_a_convolution_lies_within_the_channels_that_it_becomes_a_part_of():
    graph, w = _fbg.Graph(), fbg.PackedConv(np.ones((16, 8, 1, 1), np.float32), dtype="float32")
    x = graph.append("input", 4 * 8, "tensor")
    for channels, first in ((32, 17), (8, 0), (32, 2**63 - 1), (32, -1)):
        with pytest.raises(ValueError, match="the result must lie within the channels"):
            graph.append("convolve", x, w._native, 1, (1, 1, 1), [], channels=channels, first=first)


def test_runs_check_the_sizes_of_their_arrays():
    graph = _fbg.Graph()
    x = graph.append("input", 16, "tensor")
    graph.output(graph.append("elementwise", [4], [(x, "float32", [1])], [("exp", 0, 0, 0, 0)]))
    plan = _fbg.Plan(graph, 1, 1, 1, 1)
    four, five = np.zeros(4, np.float32), np.zeros(5, np.float32)
    for inputs, outputs in [([five], [four]), ([four], [five]), ([], [four]), ([four], [])]:
        with pytest.raises(ValueError, match="run"):
            _fbg.run_tensors(plan, inputs, outputs, 1)


RECURRENT = {
    "cell": "lstm",
    "sizes": (3, 2, 1, 4),
    "step_stride": 32,
    "batch_stride": 16,
    "functions": [("sigmoid", 0.0, 0.0), ("tanh", 0.0, 0.0), ("tanh", 0.0, 0.0)],
}
WRONG = {
    "cell": "minimal",
    "sizes": [(0, 2, 1, 4), (3, 2, 3, 4), (2, 2, 1, 4), (3, 2, 2, 2), (3, 2**62, 1, 4)],
    "step_stride": [16, -32, 2**62],
    "batch_stride": 0,
    "functions": [[], [("sigmoid", 0.0, 0.0)], [("cosine", 0.0, 0.0)] * 3],
    "weights": [
        fbg.PackedConv(np.ones((16, 5, 1), np.float32)),
        fbg.PackedConv(np.ones((12, 4, 1), np.float32)),
        fbg.PackedConv(np.ones((16, 4, 1), np.float32), dtype="float16"),
        fbg.PackedConv(np.ones((16, 4, 1), np.int8)),
    ],
    "last_weights": fbg.PackedConv(np.ones((4, 4, 1), np.float32)),
    "bias": np.ones(5, np.float32),
    "peepholes": np.ones(4, np.float32),
    "clip": -1.0,
    "lengths": 0,
    "hidden_state": 0,
}


@pytest.mark.parametrize("name", WRONG)
def test_recurrent_layers_refuse_what_does_not_fit(name):
    fields = {**RECURRENT, "weights": fbg.PackedConv(np.ones((16, 4, 1), np.float32))}
    wrong = WRONG[name] if isinstance(WRONG[name], list) else [WRONG[name]]
    for value in wrong:
        graph = _fbg.Graph()
        fields = {
            key: value._native if isinstance(value, fbg.PackedConv) else value
            for key, value in {**fields, name: value}.items()
        }
        with pytest.raises(ValueError, match=r"recur|overflows"):
            graph.append("recur", inputs=graph.append("input", 384, "tensor"), **fields)
