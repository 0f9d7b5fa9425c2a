"""Convolutions that are merged with what is around them: branches, others beside them, padding."""

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from onnx import helper

import fbg
from helpers.onnx_models import make_model, make_net, node, plain_onnxruntime

# Zeros that a Pad puts around an image become padding of the windows that read it.

SIDES = st.lists(st.integers(-1, 3), min_size=4, max_size=4)


def padded_network(
    rng, sides, kernel, *, fill=0.0, channels=0, pads=(0, 0, 0, 0), stride=1, groups=1
):
    inputs = 4 + channels
    constants = {
        "p": np.array([0, 0, *sides[:2], 0, channels, *sides[2:]]),
        "v": np.float32(fill),
        "w": rng.standard_normal((8, inputs // groups, kernel, kernel), np.float32),
    }
    options = {"pads": list(pads), "strides": [stride, stride], "group": groups}
    nodes = [node("Pad", ["x", "p", "v"], "padded"), node("Conv", ["padded", "w"], "y", **options)]
    return nodes, constants, {"x": rng.standard_normal((2, 4, 9, 8), np.float32)}


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    sides=SIDES,
    pads=st.lists(st.integers(0, 2), min_size=4, max_size=4),
    kernel=st.sampled_from([1, 3, 5]),
    stride=st.integers(1, 2),
    groups=st.sampled_from([1, 2, 4]),
    channels=st.sampled_from([0, 0, 4]),
    fill=st.sampled_from([0.0, 0.0, -0.0, 1.0]),
)
def test_padded_results_are_those_of_onnxruntime(
    seed, sides, pads, kernel, stride, groups, channels, fill
):
    rng = np.random.default_rng(seed)
    more = {"fill": fill, "channels": channels, "pads": pads, "stride": stride, "groups": groups}
    nodes, constants, feed = padded_network(rng, sides, kernel, **more)
    wanted = plain_onnxruntime(make_model(nodes, feed, ["y"], constants), feed)[0]
    y = make_net(nodes, feed, ["y"], constants, backends=("fbg",)).run(feed)["y"]
    np.testing.assert_allclose(y, wanted, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("sides", "kernel", "more", "folded"),
    [
        ([0, 0, 1, 1], 3, {"stride": 2}, True),
        ([1, 2, 2, 1], 5, {"stride": 2, "groups": 4}, True),
        ([1, 1, 1, 1], 3, {"pads": (1, 1, 1, 1)}, True),
        ([1, 1, 1, 1], 3, {"fill": 1.0}, False),
        ([1, 1, 1, 1], 3, {"channels": 4}, False),
        ([-1, 0, 1, 1], 3, {}, False),
        ([1, 1, 1, 1], 1, {}, False),
    ],
)
def test_zeros_around_an_image_are_not_written(sides, kernel, more, folded):
    nodes, constants, feed = padded_network(np.random.default_rng(0), sides, kernel, **more)
    net = make_net(nodes, feed, ["y"], constants, backends=("fbg",))
    assert ("padded" in str(net.profile(feed))) != folded


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    op=st.sampled_from(["QLinearConv", "ConvInteger", "computed"]),
    sides=SIDES,
    kernel=st.sampled_from([1, 3]),
    fill=st.sampled_from([0, 7, 7, 9]),
)
def test_integers_are_padded_with_their_zero_point(seed, op, sides, kernel, fill):
    rng = np.random.default_rng(seed)
    constants = {
        "p": np.array([0, 0, *sides[:2], 0, 0, *sides[2:]]),
        "v": np.uint8(fill),
        # Larger weights saturate in onnxruntime on CPUs without VNNI.
        "w": rng.integers(-64, 65, (8, 4, kernel, kernel), np.int8),
        "z": np.uint8(7),
        "wz": np.int8(0),
        **{name: np.float32(scale) for name, scale in (("s", 0.1), ("ws", 0.01), ("ys", 0.4))},
    }
    feed = {"x": rng.integers(0, 256, (2, 4, 9, 8), np.uint8)}
    if op == "computed":
        del constants["z"]
        feed["z"] = np.array(7, np.uint8)
    inputs = {"QLinearConv": ["padded", "s", "z", "w", "ws", "wz", "ys", "z"]}
    conv = "ConvInteger" if op == "computed" else op
    nodes = [
        node("Pad", ["x", "p", "v"], "padded"),
        node(conv, inputs.get(op, ["padded", "w", "z", "wz"]), "y", pads=[1, 0, 0, 1]),
    ]
    results = {"y": (np.uint8 if op == "QLinearConv" else np.int32, None)}
    wanted = plain_onnxruntime(make_model(nodes, feed, results, constants), feed)[0]
    net = make_net(nodes, feed, results, constants, backends=("fbg",))
    np.testing.assert_array_equal(net.run(feed)["y"], wanted)
    written = "padded" in str(net.profile(feed))
    assert written or (fill == 7 and op != "computed") or max(map(abs, sides)) == 0


@settings(max_examples=60)
@given(
    seed=st.integers(0, 2**32 - 1),
    sides=SIDES,
    pads=st.sampled_from([(0, 0, 0, 0), (1, 0, 0, 1)]),
    kernel=st.sampled_from([2, 3]),
    stride=st.integers(1, 2),
    fill=st.sampled_from([0.0, 0.0, 1.0]),
    options=st.fixed_dictionaries(
        {"count_include_pad": st.integers(0, 1), "ceil_mode": st.integers(0, 1)}
    ),
)
def test_means_count_the_zeros_of_a_pad(seed, sides, pads, kernel, stride, fill, options):
    rng = np.random.default_rng(seed)
    constants = {"p": np.array([0, 0, *sides[:2], 0, 0, *sides[2:]]), "v": np.float32(fill)}
    windows = {"kernel_shape": [kernel] * 2, "strides": [stride] * 2, "pads": list(pads)}
    nodes = [
        node("Pad", ["x", "p", "v"], "padded"),
        node("AveragePool", ["padded"], "y", **windows, **options),
    ]
    feed = {"x": rng.standard_normal((2, 4, 9, 8), np.float32)}
    wanted = plain_onnxruntime(make_model(nodes, feed, ["y"], constants), feed)[0]
    y = make_net(nodes, feed, ["y"], constants, backends=("fbg",)).run(feed)["y"]
    np.testing.assert_allclose(y, wanted, rtol=1e-5, atol=1e-5)


def test_means_over_a_small_border_are_one_step():
    constants = {"p": np.array([0, 0, 1, 1, 0, 0, 1, 1]), "v": np.float32(0)}
    nodes = [
        node("Pad", ["x", "p", "v"], "padded"),
        node("AveragePool", ["padded"], "y", kernel_shape=[3, 3]),
    ]
    feed = {"x": np.ones((1, 4, 8, 8), np.float32)}
    net = make_net(nodes, feed, ["y"], constants, backends=("fbg",))
    assert "padded" not in str(net.profile(feed))


# Convolutions whose results are joined write them side by side: the bits of separate results.


def pool(name, result):
    """A node that reads a tensor as integers, where it is quantized, and returns its elements."""
    return helper.make_node("MaxPool", [name], [result], result, kernel_shape=[1, 1])


def joined_network(rng, draw_groups, batch, spatial, outputs, *, quantized):
    """Several convolutions of x, joined: nodes, constants, x, what is joined, and the result."""
    inputs = 8
    x = rng.standard_normal((batch, inputs, *spatial)).astype(np.float32)
    nodes, constants, names = [], {}, []
    for i, count in enumerate(outputs):
        k = (1, 3, 5)[i % 3]
        groups = draw_groups[i]
        w = rng.standard_normal((count, inputs // groups, k, k)).astype(np.float32)
        constants[f"w{i}"] = w
        pads = {"pads": [k // 2] * 4, "group": groups}
        nodes.append(helper.make_node("Conv", ["x", f"w{i}"], [f"c{i}"], f"c{i}", **pads))
        nodes.append(helper.make_node("Relu", [f"c{i}"], [f"r{i}"], f"r{i}"))
        names.append(f"r{i}")
    nodes.append(helper.make_node("Concat", names, ["joined"], "join", axis=1))
    last = "joined"
    if quantized:
        nodes.append(pool("joined", "y"))
        last = "y"
    return nodes, constants, x, names, last


@settings(max_examples=40)
@given(
    seed=st.integers(0, 2**32 - 1),
    batch=st.integers(1, 2),
    spatial=st.sampled_from([(1, 1), (5, 4), (12, 13)]),
    outputs=st.lists(st.sampled_from([8, 16, 24, 40]), min_size=2, max_size=4),
    groups=st.lists(st.sampled_from([1, 2, 8]), min_size=4, max_size=4),
    isa=st.sampled_from(fbg.isa.supported()),
    threads=st.integers(1, 2),
    quantized=st.booleans(),
)
@example(
    seed=0,
    batch=1,
    spatial=(1, 1),
    outputs=[8, 24],
    groups=[1, 2, 1, 1],
    isa="generic",
    threads=1,
    quantized=True,
)
def test_joined_results_have_the_bits_of_separate_ones(
    seed, batch, spatial, outputs, groups, isa, threads, quantized
):
    rng = np.random.default_rng(seed)
    nodes, constants, x, names, last = joined_network(
        rng, groups, batch, spatial, outputs, quantized=quantized
    )
    options = {"backends": ("fbg",), "num_threads": threads}
    if quantized:
        options["calibrate"] = [x]
    with fbg.isa.limit(isa):
        net = make_net(nodes, {"x": x}, [last], constants, **options)
        y = net.run({"x": x})[last]
        others = [pool(name, f"{name}.again") for name in names] if quantized else []
        outputs = [last, *(node.output[0] for node in others)] if quantized else names
        apart = make_net([*nodes, *others], {"x": x}, outputs, constants, **options)
        results = apart.run({"x": x})
        steps = net.plan().steps
    if quantized:
        np.testing.assert_array_equal(y, results[last])
    else:
        np.testing.assert_array_equal(y, np.concatenate([results[name] for name in names], axis=1))
    assert sum("conv" in step.algorithm for step in steps) == len(names)
    assert any("join" in step.nodes and "conv" in step.algorithm for step in steps)


@pytest.mark.parametrize("threads", [1, 2])
def test_what_others_read_is_not_joined_in_place(threads):
    rng = np.random.default_rng(5)
    nodes, constants, x, names, _ = joined_network(rng, [1, 1], 1, (6, 6), [8, 8], quantized=False)
    nodes.append(helper.make_node("Neg", [names[0]], ["z"], "neg"))
    net = make_net(nodes, {"x": x}, ["joined", "z"], constants, num_threads=threads)
    results = net.run({"x": x})
    np.testing.assert_array_equal(results["z"], -results["joined"][:, :8])
    assert "arrange" in [step.algorithm for step in net.plan().steps if "join" in step.nodes]


# Convolutions and affine maps of one tensor whose results are added become one convolution.

X = np.random.default_rng(0).standard_normal((2, 8, 9, 7)).astype(np.float32)


class Writer:
    """Writes branches of x: nodes and constants."""

    def __init__(self, rng, x=X, margin=0, stride=1):
        self.rng, self.x, self.margin, self.stride = rng, x, margin, stride
        self.nodes, self.constants = [], {}
        self.axes, self.channels = x.ndim - 2, x.shape[1]

    def constant(self, *shape, positive=False):
        name = f"k{len(self.constants)}"
        values = self.rng.standard_normal(shape).astype(np.float32)
        self.constants[name] = np.abs(values) + np.float32(0.5) if positive else values
        return name

    def add(self, op, *inputs, **attributes):
        name = f"t{len(self.nodes)}"
        self.nodes.append(node(op, list(inputs), name, **attributes))
        return name

    def conv(
        self, kernel, dilation=1, groups=1, *, x="x", outputs=None, shift=0, bias=True, w=None
    ):
        """A convolution whose output is as large as that of all others. shift: of the window."""
        kernel = (kernel,) * self.axes if isinstance(kernel, int) else kernel
        total = [(k - 1) * dilation + self.margin for k in kernel]
        before = [min(max(size // 2 + shift, 0), size) for size in total]
        pads = [*before, *(size - own for size, own in zip(total, before, strict=True))]
        w = w or self.constant(self.channels, self.channels // groups, *kernel)
        inputs = [x, w, *([self.constant(self.channels)] if bias else [])]
        steps = {"strides": [self.stride] * self.axes, "dilations": [dilation] * self.axes}
        return self.add("Conv", *inputs, pads=pads, group=groups, **steps)

    def batch_norm(self, x="x"):
        names = [self.constant(self.channels, positive=i == 3) for i in range(4)]
        return self.add("BatchNormalization", x, *names)

    def factor(self, op, x="x", *, full=False):
        shape = (self.channels, *[1] * self.axes)
        return self.add(op, x, self.constant(*([1] * full), *shape, positive=True))

    def total(self, *names, op="Add"):
        result, *others = names
        for name in others:
            result = self.add(op, result, name)
        return result

    def wanted(self, *outputs):
        model = make_model(self.nodes, {"x": self.x}, list(outputs), self.constants, opset=17)
        return plain_onnxruntime(model, {"x": self.x})

    def net(self, *outputs, **options):
        return make_net(
            self.nodes, {"x": self.x}, list(outputs), self.constants, opset=17, **options
        )

    def check(self, *outputs, **options):
        """Compare results with those of onnxruntime; return the operators of the network."""
        net = self.net(*outputs, backends=("fbg",), **options)
        for y, wanted in zip(net.run({"x": self.x}).values(), self.wanted(*outputs), strict=True):
            scale = max(float(np.abs(wanted).max()), 1.0)
            np.testing.assert_allclose(y / scale, wanted / scale, rtol=1e-5, atol=1e-5)
        return sorted(each.op for each in net.network.nodes)


def writer(**more):
    return Writer(np.random.default_rng(1), **more)


@st.composite
def sums(draw):
    """A tree of sums of branches, of which not all can be joined."""
    axes, stride = draw(st.integers(1, 3)), draw(st.integers(1, 2))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    x = rng.standard_normal((draw(st.integers(1, 2)), 8, *[9, 7, 6][:axes])).astype(np.float32)
    net = Writer(rng, x, draw(st.integers(0, 2)), stride)
    convs = st.tuples(
        st.lists(st.sampled_from([1, 3, 5]), min_size=axes, max_size=axes),
        st.integers(1, 2),
        st.sampled_from([1, 2, 4, 8]),
    )
    names = []
    for _ in range(draw(st.integers(2, 5))):
        kind = draw(st.sampled_from(["conv", "conv", "other", "x", "norm", "factor", "constant"]))
        if kind in ("conv", "other"):
            more = {"shift": draw(st.integers(-1, 1)), "bias": draw(st.booleans())}
            source = "x" if kind == "conv" else net.add("Relu", "x")
            name = net.conv(*draw(convs), x=source, **more)
        elif kind == "constant":
            name = net.constant(*draw(st.sampled_from([(), (8, *[1] * axes), (1,) * axes])))
        elif net.stride > 1 or net.margin:
            continue  # x is larger than what convolutions give
        else:
            name = {"x": lambda: "x", "norm": net.batch_norm, "factor": lambda: net.factor("Mul")}[
                kind
            ]()
        if name not in net.constants:
            after = draw(st.sampled_from(["", "", "norm", "Add", "Sub", "Mul", "Div"]))
            if after:
                name = net.batch_norm(name) if after == "norm" else net.factor(after, name)
        names.append(name)
    if not names or all(name in net.constants for name in names):
        names.append(net.conv(3))
    names.append(net.conv(3, groups=draw(st.sampled_from([1, 8]))))
    while len(names) > 1:
        a, b = (names.pop(draw(st.integers(0, len(names) - 1))) for _ in range(2))
        op = draw(st.sampled_from(["Add", "Add", "Sub"]))
        name = net.add(op, a, b)
        names.append(net.factor("Mul", name) if draw(st.integers(0, 5)) == 0 else name)
    return net, names[0]


@settings(max_examples=150, deadline=None)
@given(sums(), st.sampled_from(["float32", "float32", "int8"]))
def test_results_are_those_of_onnxruntime(case, dtype):
    net, total = case
    result = net.add("Relu", total)
    if dtype == "float32":
        net.check(result)
        return
    y = net.net(result, backends=("fbg",), calibrate=[net.x]).run({"x": net.x})[result]
    wanted = net.wanted(result)[0]
    assert np.linalg.norm(y - wanted) <= 0.1 * np.linalg.norm(wanted) + 1e-3


def test_a_block_of_repvgg_is_one_convolution():
    net = writer()
    total = net.total(net.conv(1), net.conv(3), net.batch_norm())
    assert net.check(net.add("Relu", total)) == ["Conv", "Relu"]


@pytest.mark.parametrize("groups", [1, 8])
def test_a_block_of_mobileone_is_one_convolution(groups):
    net = writer()
    convs = [net.conv(3, groups=groups) for _ in range(4)]
    net.constants["none"] = np.float32(0)
    total = net.total("none", net.conv(1, groups=groups), *convs, net.batch_norm())
    assert net.check(net.add("Relu", net.add("Add", total, "none"))) == ["Conv", "Relu"]


def test_a_mixer_of_fastvit_is_one_convolution():
    net = writer()
    mixed = net.total(net.batch_norm(), net.conv(1, groups=8), net.conv(3, groups=8))
    scaled = net.factor("Mul", net.total(mixed, net.batch_norm(), op="Sub"))
    assert net.check(net.total("x", scaled)) == ["Conv"]


@pytest.mark.parametrize(
    ("branches", "more"),
    [
        ([(3, 2, 1), (1, 1, 1)], {}),
        ([(3, 1, 1), ((1, 3), 1, 1), ((3, 1), 1, 1)], {}),
        ([(5, 1, 8), (3, 2, 8), (1, 1, 8)], {}),
        ([(3, 1, 2), (1, 1, 8)], {}),
        ([(3, 1, 4), (3, 1, 2)], {}),
        ([(3, 1, 1), (1, 1, 1)], {"stride": 2}),
        ([(3, 1, 1), (1, 1, 1)], {"stride": 2, "margin": 1}),
    ],
)
def test_windows_are_joined_where_they_overlap(branches, more):
    net = writer(**more)
    assert net.check(net.total(*(net.conv(*each) for each in branches))) == ["Conv"]


@pytest.mark.parametrize(
    "branches",
    [
        [((1, 3), 1, 1), ((3, 1), 1, 1)],
        [(3, 1, 1), (3, 2, 1)],
        [(3, 1, 8), (1, 1, 1)],
        [(3, 1, 4), (1, 1, 1)],
    ],
)
def test_windows_stay_apart_where_one_would_take_more_multiplications(branches):
    net = writer()
    assert net.check(net.total(*(net.conv(*each) for each in branches))) == ["Add", "Conv", "Conv"]


def test_a_branch_that_has_another_reader_stays():
    net = writer()
    one, other = net.conv(3), net.conv(1)
    total = net.add("Relu", net.total(one, other))
    assert net.check(total, other) == ["Add", "Conv", "Conv", "Relu"]
    again = net.add("Sigmoid", one)
    assert net.check(total, again) == ["Add", "Conv", "Conv", "Relu", "Sigmoid"]


def test_a_sum_within_a_sum_stays_where_it_is_an_output():
    net = writer()
    inner = net.total(net.conv(3), net.conv(1))
    assert net.check(inner, net.total(inner, net.conv(3))) == ["Add", "Conv", "Conv"]


def test_branches_of_different_tensors_are_joined_by_tensor():
    net = writer()
    y = net.add("Relu", "x")
    total = net.total(net.conv(3), net.conv(3, x=y), net.conv(1), net.conv(1, x=y), "x")
    assert net.check(total) == ["Add", "Conv", "Conv", "Relu"]


def test_an_affine_map_with_numbers_for_pixels_stays():
    net = writer()
    image = net.add("Mul", "x", net.constant(1, 1, 9, 7))
    assert net.check(net.total(net.conv(3), net.conv(1), image)) == ["Add", "Conv", "Mul"]


def test_a_sum_that_broadcasts_stays():
    net = writer()
    large = net.add("Conv", "x", net.constant(8, 8, 1, 1))
    small = net.add("Conv", "x", net.constant(8, 8, 9, 7))
    assert net.check(net.total(large, small)) == ["Add", "Conv", "Conv"]


def test_weights_that_branches_share_are_not_changed():
    net = writer()
    shared = net.constant(8, 8, 3, 3)
    one = net.total(net.conv(3, w=shared), net.conv(1))
    assert net.check(one, net.conv(3, w=shared)) == ["Conv", "Conv"]


def test_numbers_that_are_not_finite_stay_apart():
    net = writer()
    net.constants["zeros"] = np.zeros((8, 1, 1), np.float32)
    total = net.total(net.conv(3), net.add("Div", "x", "zeros"))
    names = [each.op for each in net.net(total).network.nodes]
    assert sorted(names) == ["Add", "Conv", "Div"]


def test_nodes_that_are_placed_stay():
    net = writer()
    one, other = net.conv(3), net.conv(1)
    total = net.total(one, other)
    name = next(each.name for each in net.net(total).network.nodes if each.op == "Conv")
    placed = {each.name: "fbg" for each in net.nodes if each.output[0] == other}
    assert net.check(total, placement=placed) == ["Add", "Conv", "Conv"]
    assert name == next(each.name for each in net.nodes if each.output[0] == one)


def test_padding_by_name_is_aligned():
    net = writer()
    same = {"auto_pad": "SAME_LOWER"}
    even = net.add("Conv", "x", net.constant(8, 8, 2, 2), **same)
    odd = net.add("Conv", "x", net.constant(8, 8, 3, 3), auto_pad="SAME_UPPER")
    valid = net.add("Conv", "x", net.constant(8, 8, 1, 1), auto_pad="VALID")
    assert net.check(net.total(even, odd, valid)) == ["Conv"]


def test_products_of_integers_are_joined_too(tmp_path):
    net = writer()
    total = net.add("Relu", net.total(net.conv(1), net.conv(3), net.batch_norm()))
    quantized = net.net(total, calibrate=[net.x])
    assert str(quantized.products) == "int8 in 1 of 1 product"
    quantized.save(tmp_path / "saved")
    again = fbg.load(tmp_path / "saved").run({"x": net.x})[total]
    np.testing.assert_array_equal(again, quantized.run({"x": net.x})[total])


def test_a_sum_that_reads_another_tensor_twice_runs_on_fbg():
    net = writer()
    other = net.factor("Mul", net.add("Add", "x", net.factor("Mul", "x")))
    total = net.total(net.factor("Mul", net.conv(3)), other, op="Sub")
    net.check(net.add("Relu", net.factor("Mul", total)))
