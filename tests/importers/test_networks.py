"""Whole networks: small CNNs and BERTs, exported and trained ones, what their ends mean."""

import functools
import runpy
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import helper
from onnxruntime import quantization
from onnxruntime.transformers.fusion_options import FusionOptions
from onnxruntime.transformers.optimizer import optimize_model

import fbg
from fbg.importers.class_scores import class_scores
from fbg.importers.net import Net
from fbg.importers.onnx.read import read_model
from fbg.reports.comparison import compare_net
from helpers.exported_bert import export_bert
from helpers.onnx_models import make_model, make_net
from helpers.small_cnns import FAMILIES
from helpers.tiny_bert import AWKWARD, write_checkpoint

# What holds for small networks of every family: agreement, and the same bits in any batch, for any
# number of threads and, on integers, for any instruction set.

IMAGES = 3
KINDS = ("float32", "int8", "qdq")


@functools.cache
def images(family):
    """A batch of images for a network of the family."""
    _, shape = FAMILIES[family]()
    rng = np.random.default_rng(0)
    return rng.standard_normal((IMAGES, *shape[1:])).astype(np.float32)


def each(x):
    """Return the images of a batch, one by one."""
    return [x[i : i + 1] for i in range(len(x))]


class Calibration(quantization.CalibrationDataReader):
    def __init__(self, feeds):
        self.left = iter(feeds)

    def get_next(self):
        x = next(self.left, None)
        return None if x is None else {"x": x}


@pytest.fixture(scope="module")
def model_of(tmp_path_factory):
    """A function of family and kind: the float32 model, or the one that onnxruntime quantizes."""

    @functools.cache
    def make(family, kind):
        model, _ = FAMILIES[family]()
        if kind != "qdq":
            return model
        directory = tmp_path_factory.mktemp(family)
        onnx.save(model, str(directory / "float32.onnx"))
        quantization.quantize_static(
            str(directory / "float32.onnx"),
            str(directory / "qdq.onnx"),
            Calibration(each(images(family))),
            quant_format=quantization.QuantFormat.QDQ,
            per_channel=True,
            activation_type=quantization.QuantType.QUInt8,
            weight_type=quantization.QuantType.QInt8,
        )
        return onnx.load(str(directory / "qdq.onnx"))

    return make


@functools.cache
def reference(family):
    """The results of onnxruntime in float32."""
    model, _ = FAMILIES[family]()
    session = onnxruntime.InferenceSession(model.SerializeToString())
    return session.run(None, {"x": images(family)})[0]


def load(model, family, kind, threads=1):
    """Return the network, all of it on fbg."""
    calibrate = each(images(family)) if kind == "int8" else None
    network = read_model(model, family, None)
    return Net(network, backends=("fbg",), num_threads=threads, calibrate=calibrate)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_results_agree_with_onnxruntime_in_float32(model_of, family, kind):
    y, wanted = load(model_of(family, kind), family, kind)(images(family)), reference(family)
    scale = np.abs(wanted).max()
    assert np.abs(y - wanted).max() <= (1e-5 if kind == "float32" else 0.05) * scale
    cosine = (y * wanted).sum() / np.linalg.norm(y) / np.linalg.norm(wanted)
    assert cosine > 0.999


@pytest.mark.parametrize("isa", ["avx2", "avx512_vnni"])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("family", FAMILIES)
def test_batch_and_threads_change_no_bit(model_of, family, kind, isa):
    if isa not in fbg.isa.supported():
        isa = fbg.isa.supported()[0]
    x = images(family)
    with fbg.isa.limit(isa):
        results = []
        for threads in (1, 2):
            net = load(model_of(family, kind), family, kind, threads)
            results += [net(x), np.concatenate([net(image) for image in each(x)])]
    for y in results[1:]:
        np.testing.assert_array_equal(results[0], y)


@pytest.mark.parametrize("kind", ["int8", "qdq"])
@pytest.mark.parametrize("family", FAMILIES)
def test_integers_do_not_depend_on_the_instruction_set(model_of, family, kind):
    net = load(model_of(family, kind), family, kind)  # calibrated once
    # Functions of floats, such as a final sigmoid, round differently without fused multiply-adds.
    isas = [isa for isa in fbg.isa.supported() if isa != "generic"]
    results = []
    for isa in isas:
        with fbg.isa.limit(isa):
            results.append(net(images(family)))
    for y in results[1:]:
        np.testing.assert_array_equal(results[0], y)


# A BERT that was exported to ONNX gives what its directory gives, on the same fused ops.


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    directory = tmp_path_factory.mktemp("bert")
    write_checkpoint(directory, AWKWARD)
    export_bert(directory, directory / "bert.onnx")
    return directory


def feeds(batch, length, seed=0):
    rng = np.random.default_rng(seed)
    mask = np.ones((batch, length), np.int64)
    for row in range(1, batch):
        mask[row, rng.integers(1, length + 1) :] = 0
    return {
        "input_ids": rng.integers(0, AWKWARD.vocab_size, (batch, length)),
        "attention_mask": mask,
        "token_type_ids": rng.integers(0, 2, (batch, length)),
    }


@pytest.mark.parametrize(("batch", "length"), [(1, 1), (1, 17), (4, 23), (2, 40)])
def test_hidden_states_are_those_of_the_directory(bert, batch, length, isa):
    given = feeds(batch, length)
    y = fbg.load(bert / "bert.onnx", backends=("fbg",)).run(given)["last_hidden_state"]
    wanted = fbg.load(str(bert)).forward(**given).last_hidden_state
    seen = given["attention_mask"][..., None]
    np.testing.assert_allclose(y * seen, wanted * seen, rtol=0, atol=1e-5)


LAYER = ["conv", "conv", "conv", "attention", "conv", "layer_norm", "conv", "conv", "layer_norm"]


def steps_of(net):
    net.run(feeds(2, 9))
    return [step.algorithm.split(":")[0].split(" ")[0] for step in net.plan().steps]


def test_layers_run_on_fused_steps(bert):
    net = fbg.load(bert / "bert.onnx", backends=("fbg",))
    steps = steps_of(net)
    assert steps[-len(LAYER) :] == LAYER
    assert steps.count("attention") == AWKWARD.num_hidden_layers
    assert sum("GELU" in step.algorithm for step in net.plan().steps) == AWKWARD.num_hidden_layers


def test_int8_takes_no_step_apart(bert):
    """Only what products read is rounded, by a step of its own behind attention and norms. GELU
    behind so few channels is a table of bytes: of the product, or behind it where the CPU does not
    look up bytes in registers."""
    calibrate = [feeds(2, 9, seed) for seed in range(3)]
    net = fbg.load(bert / "bert.onnx", backends=("fbg",), dtype="int8", calibrate=calibrate)
    steps = steps_of(net)
    assert [step for step in steps if step not in ("quantize", "look_up")][-len(LAYER) :] == LAYER
    assert steps.count("quantize") == 3 * AWKWARD.num_hidden_layers
    with_gelu = [step for step in net.plan().steps if any("Erf" in name for name in step.nodes)]
    assert not any("GELU" in step.algorithm for step in net.plan().steps)
    assert len(with_gelu) == AWKWARD.num_hidden_layers


def test_batches_and_threads_give_the_same_bits(bert):
    given = feeds(3, 21)
    one = {name: value[2:] for name, value in given.items()}
    results = []
    for threads in (1, 2):
        net = fbg.load(bert / "bert.onnx", num_threads=threads)
        results.append(net.run(given)["last_hidden_state"])
        np.testing.assert_array_equal(net.run(one)["last_hidden_state"][0], results[0][2])
    np.testing.assert_array_equal(*results)


def test_ids_outside_of_the_vocabulary_are_refused(bert):
    given = feeds(1, 8)
    given["input_ids"][0, 3] = AWKWARD.vocab_size
    with pytest.raises(ValueError, match="'input_ids' must be indices of 99 rows, got 99"):
        fbg.load(bert / "bert.onnx").run(given)


@pytest.mark.parametrize("fuses", [True, False], ids=["fused", "norms only"])
def test_what_the_optimizer_of_onnxruntime_makes_of_it_gives_the_same(bert, tmp_path, fuses):
    """It writes LayerNormalization in operator set 11, which does not have it."""
    model = onnx.load(bert / "bert.onnx")
    model.opset_import[0].version = 14
    onnx.save(model, tmp_path / "bert.onnx")
    options = FusionOptions("bert")
    if not fuses:
        for name in ("attention", "skip_layer_norm", "embed_layer_norm", "bias_gelu", "gelu"):
            setattr(options, f"enable_{name}", False)
    heads, size = AWKWARD.num_attention_heads, AWKWARD.hidden_size
    optimized = optimize_model(
        str(tmp_path / "bert.onnx"), "bert", heads, size, options, opt_level=0
    )
    optimized.save_model_to_file(str(tmp_path / "optimized.onnx"))
    assert any("LayerNorm" in node.op_type for node in optimized.model.graph.node)
    given = feeds(2, 11)
    got = fbg.load(tmp_path / "optimized.onnx").run(given)["last_hidden_state"]
    wanted = fbg.load(bert / "bert.onnx").run(given)["last_hidden_state"]
    seen = given["attention_mask"][..., None]
    np.testing.assert_allclose(got * seen, wanted * seen, rtol=0, atol=1e-4)


# Networks as exporters of transformers write them: products that vary, attention, GELU, gather.

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


# A network that was trained on real images keeps its accuracy on integers.

EXAMPLE = Path(__file__).parents[2] / "examples" / "digits.py"


def test_int8_loses_at_most_three_tenths_of_a_point_on_digits():
    digits = runpy.run_path(str(EXAMPLE))
    images, labels = digits["load_digits"]()
    count = digits["TEST_IMAGES"]
    trained = digits["train"](images[count:], labels[count:])
    nets = digits["load_both"](trained, images[count:])
    right = {
        name: digits["accuracy"](net, images[:count], labels[:count]) for name, net in nets.items()
    }
    assert right["float32"] > 0.95
    assert right["int8"] >= right["float32"] - 0.003
    kinds = [step.algorithm for step in nets["int8"].plan().steps if "conv" in step.algorithm]
    assert len(kinds) == 3
    assert all("int32_u8_s8" in kind for kind in kinds)


# Agreement of the most probable class is told of classifiers, and not of embeddings.

SIZES = {"w": (6, 10), "b": (10,), "scale": (10,)}
GEMM = ("Gemm", ["x", "w", "b"])
# The nodes of a network with the input x, and whether its output y is scores of classes.
ENDS = {
    "linear layer": ([GEMM], True),
    "product and bias": ([("MatMul", ["x", "w"]), ("Add", ["t0", "b"])], True),
    "softmax": ([("MatMul", ["x", "w"]), ("Softmax", ["t0"])], True),
    "logarithm of softmax, moved": (
        [GEMM, ("LogSoftmax", ["t0"]), ("Flatten", ["t1"])],
        True,
    ),
    "projection": ([("MatMul", ["x", "w"])], False),
    "projection without bias": ([("Gemm", ["x", "w"])], False),
    "norm": ([GEMM, ("LayerNormalization", ["t0", "scale", "b"])], False),
    "unit length": ([GEMM, ("LpNormalization", ["t0"])], False),
    "pooler": ([GEMM, ("Tanh", ["t0"])], False),
    "residual": ([GEMM, GEMM, ("Add", ["t0", "t1"])], False),
}


def write(path, nodes, output="y"):
    made = []
    for n, (op, inputs) in enumerate(nodes):
        result = output if n + 1 == len(nodes) else f"t{n}"
        made.append(helper.make_node(op, inputs, [result]))
    rng = np.random.default_rng(0)
    constants = {name: rng.standard_normal(n).astype(np.float32) for name, n in SIZES.items()}
    given, results = {"x": (np.float32, (2, 6))}, {output: (np.float32, (2, 10))}
    onnx.save(make_model(made, given, results, constants, opset=17), path)
    return path


@pytest.mark.parametrize("end", ENDS)
def test_compare_tells_the_agreement_of_classes_where_there_are_some(end, tmp_path):
    nodes, has_classes = ENDS[end]
    found = compare_net(str(write(tmp_path / "net.onnx", nodes)), rounds=1)
    assert (found.top_1 is not None) == has_classes
    assert ("most probable class" in str(found)) == has_classes
    assert has_classes == (found.to_dict()["top_1"] is not None)


@pytest.mark.parametrize(("name", "known"), [("logits", True), ("embedding", False)])
def test_a_name_says_so_too(name, known, tmp_path):
    net = fbg.load(write(tmp_path / "net.onnx", [("MatMul", ["x", "w"])], name))
    assert isinstance(net, Net)
    assert bool(class_scores(net.network)) == known


def test_networks_of_images_are_classifiers(tmp_path):
    model, _ = FAMILIES["resnet18"]()
    onnx.save(model, tmp_path / "net.onnx")
    net = fbg.load(tmp_path / "net.onnx")
    assert isinstance(net, Net)
    assert class_scores(net.network) == list(net.outputs)
