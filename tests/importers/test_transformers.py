"""Networks as exporters of transformers write them: products that vary, attention, GELU, gather."""

import numpy as np
import onnxruntime
import pytest
from onnx import helper

from helpers.onnx_models import make_model, make_net

RNG = np.random.default_rng(5)
HEADS, DEPTH = 3, 8


def floats(*shape):
    return RNG.standard_normal(shape, dtype=np.float32)


def check(nodes, feeds, constants=None, opset=17, tolerance=2e-6, **options):
    """Run a network on fbg alone, compare with onnxruntime, and return the net."""
    net = make_net(nodes, feeds, ["y"], constants, opset=opset, backends=("fbg",), **options)
    model = make_model(nodes, feeds, ["y"], constants, opset).SerializeToString()
    expected = onnxruntime.InferenceSession(model).run(["y"], feeds)[0]
    y = net.run(feeds)["y"]
    assert y.dtype == expected.dtype
    np.testing.assert_allclose(y, expected, rtol=tolerance, atol=tolerance * 10)
    return net


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ((5, 7), (7, 3)),
        ((2, 3, 5, 7), (2, 3, 7, 33)),
        ((130, 40), (40, 70)),
        ((4, 1, 5, 7), (1, 3, 7, 2)),
        ((6, 5, 7), (7, 4)),
        ((7,), (7, 4)),
        ((3, 5, 7), (7,)),
        ((7,), (7,)),
        ((1, 9), (9, 1)),
    ],
)
def test_products_of_tensors_that_vary(a, b, isa):
    check([helper.make_node("MatMul", ["a", "b"], ["y"], "m")], {"a": floats(*a), "b": floats(*b)})


@pytest.mark.parametrize("transposed", [(0, 0), (0, 1), (1, 0), (1, 1)])
def test_gemm_of_tensors_that_vary(transposed):
    a, b = floats(5, 9), floats(9, 6)
    feeds = {"a": a.T.copy() if transposed[0] else a, "b": b.T.copy() if transposed[1] else b}
    feeds["c"] = floats(6)
    node = helper.make_node(
        "Gemm",
        ["a", "b", "c"],
        ["y"],
        "g",
        transA=transposed[0],
        transB=transposed[1],
        alpha=0.5,
        beta=2.0,
    )
    check([node], feeds)


def attention_nodes(scale, mask, *, before):
    """Heads side by side in the rows of q, k and v, as BERT has them."""
    nodes = []
    for name, perm in (("q", [0, 2, 1, 3]), ("k", [0, 2, 3, 1]), ("v", [0, 2, 1, 3])):
        nodes.append(helper.make_node("Reshape", [name, "split"], [name + "1"], name + "split"))
        nodes.append(
            helper.make_node("Transpose", [name + "1"], [name + "2"], name + "t", perm=perm)
        )
    scores = "s0"
    if before:  # the factor is applied to q
        nodes.append(helper.make_node("Mul", ["q2", "c"], ["q3"], "scale"))
        nodes.append(helper.make_node("MatMul", ["q3", "k2"], ["s0"], "qk"))
    else:
        nodes.append(helper.make_node("MatMul", ["q2", "k2"], ["s0"], "qk"))
        nodes.append(helper.make_node(scale, ["s0", "c"], ["s1"], "scale"))
        scores = "s1"
    if mask:
        nodes.append(helper.make_node("Add", [scores, "mask"], ["s2"], "masked"))
        scores = "s2"
    nodes += [
        helper.make_node("Softmax", [scores], ["p"], "softmax", axis=-1),
        helper.make_node("MatMul", ["p", "v2"], ["o"], "pv"),
        helper.make_node("Transpose", ["o"], ["o1"], "back", perm=[0, 2, 1, 3]),
        helper.make_node("Reshape", ["o1", "join"], ["y"], "joined"),
    ]
    return nodes


def attention_feeds(batch, length, mask=()):
    feeds = {name: floats(batch, length, HEADS * DEPTH) for name in "qkv"}
    if mask:
        feeds["mask"] = np.where(RNG.random(mask) < 0.3, np.float32(-1e9), floats(*mask))
    return feeds


def attention_constants(c=DEPTH**0.5):
    return {
        "split": np.array([0, 0, HEADS, DEPTH], np.int64),
        "join": np.array([0, 0, HEADS * DEPTH], np.int64),
        "c": np.array(c, np.float32),
    }


@pytest.mark.parametrize("length", [1, 5, 16, 33, 200])
@pytest.mark.parametrize("mask", ["none", "keys", "all"])
def test_attention_is_one_step(length, mask, isa):
    shape = {"none": (), "keys": (2, 1, 1, length), "all": (2, HEADS, length, length)}[mask]
    feeds = attention_feeds(2, length, shape)
    nodes = attention_nodes("Div", shape, before=False)
    net = check(nodes, feeds, attention_constants())
    steps = [step.algorithm for step in net.plan().steps]
    assert steps == ["attention"]


def test_a_factor_of_the_queries_joins_attention():
    feeds = attention_feeds(1, 12)
    net = check(attention_nodes("Mul", (), before=True), feeds, attention_constants(0.25))
    assert [step.algorithm for step in net.plan().steps] == ["attention"]


@pytest.mark.parametrize("read", ["s0", "s1", "s2", "p"])
def test_scores_that_others_read_are_computed_as_they_are_named(read):
    feeds = attention_feeds(1, 9, (1, 1, 9, 9))
    nodes = attention_nodes("Div", (1,), before=False)
    nodes[-1].output[0] = "z"
    nodes.append(helper.make_node("ReduceMean", [read], ["m"], "mean", axes=[-2], keepdims=0))
    nodes.append(helper.make_node("Flatten", ["m"], ["m1"], "flat"))
    nodes.append(helper.make_node("Flatten", ["z"], ["z1"], "flat2"))
    nodes.append(helper.make_node("Concat", ["m1", "z1"], ["y"], "both", axis=1))
    check(nodes, feeds, attention_constants())


def test_threads_and_batches_give_the_same_bits():
    feeds = attention_feeds(3, 50, (3, 1, 1, 50))
    nodes = attention_nodes("Div", (1,), before=False)
    whole = [
        make_net(nodes, feeds, ["y"], attention_constants(), opset=17, num_threads=n).run(feeds)[
            "y"
        ]
        for n in (1, 2)
    ]
    np.testing.assert_array_equal(*whole)
    one = {name: value[1:2] for name, value in feeds.items()}
    net = make_net(nodes, one, ["y"], attention_constants(), opset=17)
    np.testing.assert_array_equal(net.run(one)["y"][0], whole[0][1])


GELU = {
    "erf": [
        ("Div", ["x", "sqrt2"], "a"),
        ("Erf", ["a"], "b"),
        ("Add", ["b", "one"], "c"),
    ],
    "erf of a product": [
        ("Mul", ["sqrt_half", "x"], "a"),
        ("Erf", ["a"], "b"),
        ("Add", ["one", "b"], "c"),
    ],
    "tanh": [
        ("Pow", ["x", "three"], "p"),
        ("Mul", ["p", "small"], "q"),
        ("Add", ["x", "q"], "r"),
        ("Mul", ["r", "sqrt_2_pi"], "a"),
        ("Tanh", ["a"], "b"),
        ("Add", ["b", "one"], "c"),
    ],
    "tanh of products": [
        ("Mul", ["x", "x"], "s"),
        ("Mul", ["s", "x"], "p"),
        ("Mul", ["small", "p"], "q"),
        ("Add", ["q", "x"], "r"),
        ("Mul", ["sqrt_2_pi", "r"], "a"),
        ("Tanh", ["a"], "b"),
        ("Add", ["b", "one"], "c"),
    ],
}
TAILS = {
    "half last": [("Mul", ["x", "c"], "d"), ("Mul", ["d", "half"], "y")],
    "half first": [("Mul", ["x", "half"], "d"), ("Mul", ["d", "c"], "y")],
    "half within": [("Mul", ["half", "c"], "d"), ("Mul", ["x", "d"], "y")],
}
NUMBERS = {
    "sqrt2": 2**0.5, "sqrt_half": 0.5**0.5, "one": 1.0, "half": 0.5, "three": 3.0,
    "small": 0.044715, "sqrt_2_pi": (2 / np.pi) ** 0.5,
}  # fmt: skip


def written(steps):
    return [helper.make_node(op, inputs, [name], f"{op}_{name}") for op, inputs, name in steps]


def numbers(**more):
    return {name: np.array(value, np.float32) for name, value in (NUMBERS | more).items()}


@pytest.mark.parametrize("tail", TAILS)
@pytest.mark.parametrize("head", GELU)
def test_gelu_as_exporters_write_it_is_one_step(head, tail):
    nodes = written(GELU[head] + TAILS[tail])
    net = check(nodes, {"x": floats(3, 40)}, numbers(), tolerance=1e-5)
    form = "gelu" if head.startswith("erf") else "gelu_tanh"
    assert [step.algorithm for step in net.plan().steps] == [f"elementwise {form}"]


@pytest.mark.parametrize(
    "changed", [{"half": 0.4}, {"one": 2.0}, {"sqrt2": 1.5}], ids=lambda c: next(iter(c))
)
def test_what_is_almost_gelu_is_left_alone(changed):
    nodes = written(GELU["erf"] + TAILS["half last"])
    net = check(nodes, {"x": floats(3, 40)}, numbers(**changed), tolerance=1e-5)
    assert "gelu" not in net.plan().steps[-1].algorithm


def test_gelu_whose_constants_have_more_axes_is_left_alone():
    nodes = written(GELU["erf"] + TAILS["half last"])
    net = check(nodes, {"x": floats(3, 40)}, numbers(half=[[[0.5]]]), tolerance=1e-5)
    assert "gelu" not in net.plan().steps[-1].algorithm


def test_layer_normalization_as_exporters_write_it_is_one_step():
    steps = [
        ("ReduceMean", ["x"], "mean"),
        ("Sub", ["x", "mean"], "d"),
        ("Pow", ["d", "two"], "p"),
        ("ReduceMean", ["p"], "v"),
        ("Add", ["v", "eps"], "w"),
        ("Sqrt", ["w"], "s"),
        ("Div", ["d", "s"], "n"),
        ("Mul", ["n", "gamma"], "m"),
        ("Add", ["m", "beta"], "y"),
    ]
    nodes = written(steps)
    for node in nodes:
        if node.op_type == "ReduceMean":
            node.attribute.append(helper.make_attribute("axes", [-1]))
    constants = numbers(two=2.0, eps=1e-5) | {"gamma": floats(24), "beta": floats(24)}
    net = check(nodes, {"x": floats(2, 5, 24)}, constants, tolerance=1e-5)
    assert [step.algorithm for step in net.plan().steps] == ["layer_norm"]


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("axis", [0, 1])
def test_rows_by_indices_of_every_run(dtype, axis):
    table = floats(7, 9, 5)
    rows = table.shape[axis]
    ids = RNG.integers(-rows, rows, (2, 3)).astype(dtype)
    nodes = [helper.make_node("Gather", ["table", "ids"], ["y"], "g", axis=axis)]
    net = check(nodes, {"ids": ids}, {"table": table})
    for wrong in (-rows - 1, rows):
        ids[1, 1] = wrong
        with pytest.raises(ValueError, match=f"'ids' must be indices of {rows} rows, got {wrong}"):
            net.run({"ids": ids})


def test_indices_may_be_narrowed_before_they_are_used():
    ids = RNG.integers(0, 7, (2, 3))
    nodes = [
        helper.make_node("Cast", ["ids"], ["narrow"], "cast", to=6),
        helper.make_node("Gather", ["table", "narrow"], ["y"], "g"),
    ]
    net = check(nodes, {"ids": ids}, {"table": floats(7, 4)})
    with pytest.raises(ValueError, match="'ids' must be indices of 7 rows, got 9"):
        net.run({"ids": ids + 9 - ids.max()})


def test_a_mask_of_integers_becomes_numbers():
    mask = RNG.integers(-5, 2**40, (2, 6))
    nodes = [
        helper.make_node("Cast", ["mask"], ["f"], "cast", to=1),
        helper.make_node("Sub", ["one", "f"], ["y"], "sub"),
    ]
    check(nodes, {"mask": mask}, numbers())


def test_silu_is_one_step_and_an_output_may_be_read_as_well():
    nodes = [
        helper.make_node("Sigmoid", ["x"], ["s"], "sigmoid"),
        helper.make_node("Mul", ["x", "s"], ["y"], "mul"),
        helper.make_node("Neg", ["y"], ["z"], "neg"),
    ]
    x = floats(3, 40)
    net = make_net(nodes, {"x": x}, ["y", "z"], backends=("fbg",))
    outputs = net.run({"x": x})
    np.testing.assert_allclose(outputs["y"], x / (1 + np.exp(-x)), 1e-6, 1e-6)
    np.testing.assert_array_equal(outputs["z"], -outputs["y"])
    assert net.plan().steps[0].algorithm == "elementwise silu"
