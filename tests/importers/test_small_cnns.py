"""What holds for small networks of every family: agreement, and the same bits in any batch, for any
number of threads and, on integers, for any instruction set."""

import functools

import numpy as np
import onnx
import onnxruntime
import pytest
from onnxruntime import quantization

import fbg
from fbg.importers.net import Net
from fbg.importers.onnx.read import read_model
from helpers.small_cnns import FAMILIES

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
