"""Factors that move scale between channels: the same function, with channels that use more of
their 8 bits.
"""

import numpy as np
import pytest

import fbg
from fbg.graph.passes.migration import row_factors, tensor_factors
from fbg.importers.int8.equalization import channel_ranges, divisible, equalize_channels, pairs_of
from fbg.importers.int8.observe import calibrate_network
from fbg.importers.int8.quantize import quantize_network
from fbg.importers.net import Net
from helpers.onnx_models import make_net, node

SHAPE = (1, 3, 12, 12)
INPUTS = {"x": (np.float32, SHAPE)}


def separable(function="Relu", spread=1.5, bias=0.2, pads=1, bound=6.0):
    """Convolutions, of 16 channels between them, whose sizes differ by powers of 10."""
    rng = np.random.default_rng(3)
    sizes = (10 ** rng.uniform(-spread, spread, (2, 16, 1, 1, 1))).astype(np.float32)
    w1, w2, w3 = (
        (rng.standard_normal(shape) / np.sqrt(np.prod(shape[1:]))).astype(np.float32)
        for shape in [(16, 3, 3, 3), (16, 1, 3, 3), (8, 16, 1, 1)]
    )
    w1 *= sizes[0]
    w2 *= sizes[1] / sizes[0]
    w3 /= sizes[1].reshape(1, 16, 1, 1)
    constants = {"w1": w1, "w2": w2, "w3": w3, "zero": np.float32(0), "top": np.float32(bound)}
    constants["b1"] = (bias * sizes[0]).astype(np.float32).ravel()
    constants["b2"] = (bias * sizes[1]).astype(np.float32).ravel()
    borders = [pads] * 4
    nodes = [node("Conv", ["x", "w1", "b1"], "c1", name="first", pads=[1] * 4)]
    more = ["zero", "top"] if function == "Clip" else []
    nodes.append(node(function, ["c1", *more], "r1"))
    nodes.append(node("Conv", ["r1", "w2", "b2"], "c2", name="second", pads=borders, group=16))
    nodes.append(node(function, ["c2", *more], "r2"))
    nodes.append(node("Conv", ["r2", "w3"], "y", name="third"))
    return nodes, constants


def images(count, seed=0):
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(SHAPE, dtype=np.float32) for _ in range(count)]


def equalized(network, feeds):
    return equalize_channels(network, channel_ranges(network, [{"x": x} for x in feeds], Net))


SIZES = 10.0 ** np.arange(-3, 5)
WEIGHTS = np.random.default_rng(0).uniform(0.1, 1, 8)


@pytest.mark.parametrize("exponent", [0.25, 0.5])
def test_factors_of_rows_keep_their_size_and_move_a_part_of_the_ratios(exponent):
    factors = row_factors(SIZES, WEIGHTS.astype(np.float32), exponent)
    np.testing.assert_allclose(np.log(factors).mean(), 0, atol=1e-6)
    wanted = (SIZES / WEIGHTS) ** exponent
    np.testing.assert_allclose(factors / factors[0], wanted / wanted[0], 1e-4)


@pytest.mark.parametrize("exponent", [0.5, 1.0])
def test_factors_of_tensors_leave_the_largest_channel_as_it_is(exponent):
    factors = tensor_factors(SIZES[3:], WEIGHTS[3:], exponent, np.inf)
    after = SIZES[3:] / factors
    np.testing.assert_allclose(after.max(), SIZES.max())
    assert after.min() > SIZES[3] and factors.min() >= 1e-3


@pytest.mark.parametrize("idle", ["sizes", "weights"])
def test_channels_without_a_part_in_the_result_keep_the_factor_1(idle):
    sizes, weights = SIZES.copy(), WEIGHTS.copy()
    (sizes if idle == "sizes" else weights)[2] = 0
    assert row_factors(sizes, weights.astype(np.float32))[2] == 1
    assert tensor_factors(sizes, weights, 0.5, np.inf)[2] == 1
    nothing = np.zeros(8, np.float32)
    assert (row_factors(sizes, nothing) == 1).all()
    assert (tensor_factors(sizes, nothing.astype(np.float64), 0.5, np.inf) == 1).all()


@pytest.mark.parametrize("function", ["Relu", "Identity"])
@pytest.mark.parametrize("bias", [0.2, 5.0])
@pytest.mark.parametrize("pads", [0, 1])
def test_the_function_stays_the_same(function, bias, pads):
    exact = make_net(*args(function=function, bias=bias, pads=pads))
    network = equalized(exact.network, images(3))
    assert [pair.first.name for pair in pairs_of(network)] == ["first", "second"]
    for x in images(3):
        wanted = exact(x)
        np.testing.assert_allclose(Net(network)(x), wanted, 1e-4, 1e-4 * np.abs(wanted).max())


def args(**options):
    nodes, constants = separable(**options)
    return nodes, INPUTS, ["y"], constants


def test_channels_between_convolutions_get_the_same_range():
    network = equalized(make_net(*args()).network, images(3))
    ranges = channel_ranges(network, [{"x": x} for x in images(3)], Net)
    high = ranges[pairs_of(network)[0].between][1]
    np.testing.assert_allclose(high, high.max(), 1e-4)


def test_a_minimum_is_absorbed_where_nothing_is_padded():
    exact = make_net(*args(bias=5.0, pads=0)).network
    between = [pair.between for pair in pairs_of(exact)]
    feeds = [{"x": x} for x in images(3)]
    before = channel_ranges(exact, feeds, Net)
    after = channel_ranges(equalized(exact, images(3)), feeds, Net)
    for name in between:
        assert (before[name][0] > 0).any()
        np.testing.assert_allclose(after[name][0], 0, atol=1e-4 * after[name][1].max())


@pytest.mark.parametrize("bound", [3.0, 40.0])
def test_a_clip_cuts_off_what_it_did(bound):
    exact = make_net(*args(function="Clip", bound=bound))
    network = equalized(exact.network, images(3))
    assert len(pairs_of(network)) == 2
    for x in images(3):
        wanted = exact(x)
        np.testing.assert_allclose(Net(network)(x), wanted, 1e-4, 1e-4 * np.abs(wanted).max())


@pytest.mark.parametrize("function", ["Relu", "Clip"])
def test_uneven_channels_lose_less_in_8_bits(function):
    exact = make_net(*args(function=function, bound=40.0))

    def cosine(network):
        feeds = [{"x": x} for x in images(4)]
        found = calibrate_network(network, feeds, Net)
        net = Net(quantize_network(network, found))
        pairs = [(exact(x).ravel(), net(x).ravel()) for x in images(4, seed=1)]
        return np.mean([a @ b / np.linalg.norm(a) / np.linalg.norm(b) for a, b in pairs])

    assert cosine(exact.network) < 0.99
    assert cosine(equalized(exact.network, images(4))) > 0.998


def test_a_tensor_with_other_readers_is_left_alone():
    nodes, constants = separable()
    nodes.append(node("Relu", ["r1"], "z"))
    network = make_net(nodes, INPUTS, ["y", "z"], constants).network
    assert [pair.first.name for pair in pairs_of(network)] == ["second"]


def test_equalizing_takes_inputs_to_calibrate_on():
    with pytest.raises(ValueError, match="equalize of an ONNX file requires"):
        fbg.load("some.onnx", equalize=True)


def hard_swish_between(*readers):
    """Convolutions behind a hard-swish with channels of different ranges."""
    rng = np.random.default_rng(3)
    constants = {
        "w1": (rng.standard_normal((8, 4, 3, 3)) / 6 * 3.0 ** np.arange(8)[:, None, None, None]),
        "dense": rng.standard_normal((6, 8, 3, 3)) / 3.0 ** np.arange(8)[None, :, None, None],
        "depthwise": rng.standard_normal((8, 1, 3, 3)) / 3.0 ** np.arange(8)[:, None, None, None],
    }
    nodes = [node("Conv", ["x", "w1"], "a"), node("HardSwish", ["a"], "h")]
    nodes += [
        node("Conv", ["h", w], f"y{n}", group=8 if w == "depthwise" else 1)
        for n, w in enumerate(readers)
    ]
    shape = np.zeros((2, 4, 12, 12), np.float32)
    outputs = [f"y{n}" for n in range(len(readers))]
    return nodes, {"x": shape}, outputs, {k: v.astype(np.float32) for k, v in constants.items()}


READERS = [("dense",), ("depthwise",), ("dense", "depthwise")]


@pytest.mark.parametrize("readers", READERS)
def test_what_convolutions_read_behind_a_function_is_divided(readers):
    exact = make_net(*hard_swish_between(*readers))
    rng = np.random.default_rng(4)
    feeds = [{"x": rng.standard_normal((2, 4, 12, 12), dtype=np.float32)} for _ in range(4)]
    network = equalize_channels(exact.network, channel_ranges(exact.network, feeds[:3], Net))
    assert list(divisible(exact.network)) == ["h"]
    (mul,) = [each for each in network.nodes if each.op == "Mul"]
    assert mul.inputs[0] == "h" and all(
        each.inputs[0] == mul.outputs[0]
        for each in network.nodes
        if each.op == "Conv" and each.name != "a"
    )

    def errors(network):
        net = Net(network)
        pairs = [(net.run(feed), exact.run(feed)) for feed in feeds]
        return max(
            np.linalg.norm(y[name] - w[name]) / np.linalg.norm(w[name])
            for y, w in pairs
            for name in w
        )

    def rounded(network):
        return errors(quantize_network(network, calibrate_network(network, feeds[:3], Net)))

    assert errors(network) < 1e-5
    error = rounded(network)
    assert error < 0.5 * rounded(exact.network)
    assert error < 0.04 or len(readers) > 1


def test_tensors_whose_channels_are_alike_are_not_divided():
    nodes, feeds, outputs, constants = hard_swish_between("dense")
    rng = np.random.default_rng(3)
    constants = {name: rng.standard_normal(w.shape, np.float32) for name, w in constants.items()}
    network = make_net(nodes, feeds, outputs, constants).network
    feed = {"x": rng.standard_normal((2, 4, 12, 12), np.float32)}
    changed = equalize_channels(network, channel_ranges(network, [feed], Net))
    assert [each.op for each in changed.nodes] == ["Conv", "HardSwish", "Conv"]
