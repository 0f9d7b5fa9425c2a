"""Convolutions and affine maps of one tensor whose results are added become one convolution."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fbg
from helpers.onnx_models import make_model, make_net, node, plain_onnxruntime

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
