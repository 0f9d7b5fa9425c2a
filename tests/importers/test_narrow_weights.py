"""`narrow_weights=`: int8 weights of networks, of which CPUs without VNNI sum two products."""

import numpy as np
import onnx
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fbg
from fbg.graph.passes.rounding import round_to_nearest
from fbg.importers.int8.agreement import relative_error
from fbg.importers.int8.verification import MOST_ERROR
from fbg.importers.net import Net
from fbg.matmul.narrow import NARROW_LIMIT, gains_from_narrow, is_narrow, lane_sums, outputs_as_rows
from helpers.commands import invoke
from helpers.onnx_models import make_model, make_net, node

RNG = np.random.default_rng(8)


def plain_sums(rows):
    """Of each row: the largest sum of one sign in the same half of two groups of four in a row."""
    n, k = rows.shape
    padded = np.zeros((n, k + 8), rows.dtype)
    padded[:, :k] = rows
    found = np.zeros(n)
    for start in range(0, k, 4):
        for half in (0, 2):
            places = [start + half + step for step in (0, 1, 4, 5)]
            for sign in (1, -1):
                sums = np.maximum(sign * padded[:, places].astype(np.float64), 0).sum(axis=1)
                found = np.maximum(found, sums)
    return found


@given(st.integers(0, 5), st.integers(0, 23), st.booleans(), st.integers(0, 2**32 - 1))
def test_lanes_are_pairs_of_two_neighbouring_groups(n, k, integers, seed):
    rows = np.random.default_rng(seed).integers(-128, 128, (n, k))
    rows = rows.astype(np.int8) if integers else rows.astype(np.float32) / 8
    np.testing.assert_allclose(lane_sums(rows), plain_sums(rows), rtol=1e-6)


@pytest.mark.parametrize("draw", ["standard_normal", "laplace", "uniform", "one sign", "outliers"])
@pytest.mark.parametrize(("shape", "axis"), [((70, 9), 1), ((6, 50), 0), ((8, 12, 3, 2), 0)])
def test_narrow_integers_have_the_least_scales(shape, axis, draw):
    w = RNG.standard_normal(shape)
    if draw in ("laplace", "uniform"):
        w = getattr(RNG, draw)(size=shape)
    w = np.abs(w) if draw == "one sign" else w**7 if draw == "outliers" else w
    w = w.astype(np.float32)
    q, scale = round_to_nearest(w, axis, narrow=True)
    _, full = round_to_nearest(w, axis)
    rows = outputs_as_rows(q, axis)
    assert is_narrow(rows) and (plain_sums(rows) <= NARROW_LIMIT).all()
    steps = scale.reshape([-1 if i == axis else 1 for i in range(w.ndim)])
    assert (np.abs(q * steps - w) <= 0.501 * steps).all()
    assert (scale > full).all()
    assert (plain_sums(rows) >= NARROW_LIMIT - 4).all()  # no smaller scale would do


CONSTANTS = {
    "k1": RNG.standard_normal((16, 3, 3, 3)).astype(np.float32),
    "deep": RNG.standard_normal((16, 1, 3, 3)).astype(np.float32),
    "k3": RNG.standard_normal((16, 16, 3, 3)).astype(np.float32) / 12,
    "grouped": RNG.standard_normal((16, 8, 1, 1)).astype(np.float32) / 3,
    "m": RNG.standard_normal((16, 10)).astype(np.float32) / 4,
}
NODES = [
    node("Conv", ["x", "k1"], "a", pads=[1, 1, 1, 1]),
    node("Relu", ["a"], "ra"),
    node("Conv", ["ra", "deep"], "b", group=16, pads=[1, 1, 1, 1]),
    node("Relu", ["b"], "rb"),
    node("Conv", ["rb", "k3"], "c", pads=[1, 1, 1, 1]),
    node("Conv", ["c", "grouped"], "d", group=2),
    node("GlobalAveragePool", ["d"], "e"),
    node("Flatten", ["e"], "f"),
    node("MatMul", ["f", "m"], "y"),
]
FEEDS = [{"x": RNG.standard_normal((2, 3, 10, 10), np.float32)} for _ in range(3)]
OTHER = {"x": RNG.standard_normal((2, 3, 10, 10), np.float32)}


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    path = tmp_path_factory.mktemp("nets") / "net.onnx"
    onnx.save(make_model(NODES, FEEDS[0], ["y"], CONSTANTS), path)
    return str(path)


def load(file, **more):
    return fbg.load(file, dtype="int8", calibrate=FEEDS, **more)


def weights(net):
    """Integers by the name of the weights."""
    constants = net.network.constants
    return {name.partition(".")[0]: constants[name] for name in constants if ".quantized" in name}


def test_all_weights_but_depthwise_ones_become_narrow(file, tmp_path):
    net, full = load(file, narrow_weights=True), load(file, narrow_weights=False)
    assert set(weights(net)) == CONSTANTS.keys()
    for name, q in weights(net).items():
        assert name == "deep" or is_narrow(outputs_as_rows(q, 1 if name == "m" else 0)), name
    np.testing.assert_array_equal(weights(net)["deep"], weights(full)["deep"])
    assert net.narrow_products == 4 and "int8 in 5 of 5 products, narrow weights in 4)" in repr(net)
    assert full.narrow_products == 0 and "narrow" not in repr(full)
    exact = fbg.load(file).run(OTHER)["y"]
    assert relative_error(net.run(OTHER)["y"], exact) < 0.03
    net.save(tmp_path / "saved")
    saved = fbg.load(tmp_path / "saved")
    assert saved.narrow_products == 4
    assert saved.run(OTHER)["y"].tobytes() == net.run(OTHER)["y"].tobytes()


def test_by_default_the_cpu_decides(file, monkeypatch):
    by_default = load(file).narrow_products
    assert by_default == load(file, narrow_weights=gains_from_narrow()).narrow_products
    for isas, gains in [
        (["generic"], False),
        (["generic", "avx2"], True),
        (["generic", "avx2", "avx512"], True),
        (["generic", "avx2", "avx2_vnni"], False),
        (["generic", "avx2", "avx512", "avx512_vnni"], False),
        (["generic", "neon"], False),
    ]:
        monkeypatch.setattr("fbg.matmul.narrow._fbg.supported_isas", lambda isas=isas: isas)
        assert gains_from_narrow() is gains


def test_quantized_files_keep_their_integers(file, tmp_path):
    """A network that was quantized before: its weights stay as they are."""
    full = load(file, narrow_weights=False)
    again = Net(full.network, calibrate=FEEDS, narrow_weights=True)
    for name, q in weights(full).items():
        np.testing.assert_array_equal(weights(again)[name], q)


# Weights of one sign, of which narrow integers have two bits less; and x with a mean of 0, so that
# only the small differences between weights matter.
CLOSE = (1 + RNG.standard_normal((64, 24)) / 20).astype(np.float32)
BALANCED = RNG.uniform(-1, 1, (100, 64)).astype(np.float32)
BALANCED -= BALANCED.mean(axis=1, keepdims=True)


def close(**more):
    nodes, feed = [node("MatMul", ["x", "w"], "y")], {"x": BALANCED}
    return make_net(nodes, feed, ["y"], {"w": CLOSE}, calibrate=[feed], **more)


def test_weights_that_need_all_bits_have_them():
    """Narrow weights are given up where the first run shows that full ones suffice."""
    net, full = close(narrow_weights=True), close(narrow_weights=False)
    assert net.products.int8 == 1 and net.narrow_products == 0
    assert net.int8_error == full.int8_error < MOST_ERROR
    np.testing.assert_array_equal(weights(net)["w"], weights(full)["w"])


def test_a_wanted_accuracy_may_need_all_bits_of_weights():
    """No other product could stay in int8."""
    net = close(narrow_weights=True, accuracy=0.99)
    assert net.kept.nodes == () and net.kept.agreement >= 0.99
    assert net.products.int8 == 1 and net.narrow_products == 0
    with pytest.raises(ValueError, match="cannot be reached in int8"):
        close(narrow_weights=True, accuracy=0.999999)


def test_products_that_need_more_bits_stay_in_float32_beside_narrow_ones(file):
    net = load(file, narrow_weights=True, accuracy=0.99998)
    assert net.kept.nodes and net.kept.agreement >= 0.99998
    assert 0 < net.narrow_products <= net.products.int8 < 5


def test_the_option_is_checked(file, tmp_path):
    for value in ("yes", 1):
        with pytest.raises(TypeError, match="narrow_weights must be True or False"):
            load(file, narrow_weights=value)
    for value in (True, False):
        with pytest.raises(ValueError, match="narrow_weights of an ONNX file requires"):
            fbg.load(file, narrow_weights=value)
    fbg.load(file).save(tmp_path / "saved")
    with pytest.raises(ValueError, match="narrow_weights must be left out"):
        fbg.load(tmp_path / "saved", narrow_weights=False)


@pytest.mark.parametrize("option", ["--narrow-weights", "--full-weights"])
def test_the_command_line_has_the_option(file, tmp_path, option):
    np.savez(tmp_path / "inputs.npz", x=np.stack([feed["x"] for feed in FEEDS]))
    given = ("--calibrate", tmp_path / "inputs.npz", option)
    result = invoke("quantize", file, tmp_path / "out", *given)
    assert result.exit_code == 0, result.output
    narrow = fbg.load(tmp_path / "out").narrow_products
    assert narrow == 4 * (option == "--narrow-weights")
    assert (f"narrow weights in {narrow} products" in result.output) is (narrow > 0)
    result = invoke("quantize", file, tmp_path / "no", "--dtype", "float32", option)
    assert "requires dtype='int8'" in result.output
