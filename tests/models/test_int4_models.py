"""Models with int4 weights: close to float32, saved and mapped, the same alone and in a batch."""

from pathlib import Path

import numpy as np
import pytest

import fbg
from fbg.compression.rounding import round_to_gram
from helpers.formulas import cosines
from helpers.minilm import minilm_directory, sentences

TEXTS = sentences()[::2]
CALIBRATING = sentences()[1::2] + [f"{a} {b}" for a, b in zip(TEXTS, TEXTS[5:], strict=False)]


@pytest.fixture(scope="module")
def exact() -> np.ndarray:
    return fbg.load(minilm_directory()).encode(TEXTS)


@pytest.fixture(scope="module")
def model() -> fbg.Model:
    return fbg.load(minilm_directory(), dtype="int4")


def test_embeddings_are_close_to_float32(model: fbg.Model, exact: np.ndarray) -> None:
    assert cosines(model.encode(TEXTS), exact).mean() > 0.975
    for dtype, least in (("int4_g64", 0.965), ("int4_g128", 0.955)):
        coarse = fbg.load(minilm_directory(), dtype=dtype)
        assert cosines(coarse.encode(TEXTS), exact).mean() > least


def test_calibration_is_more_accurate(model: fbg.Model, exact: np.ndarray) -> None:
    calibrated = fbg.load(minilm_directory(), dtype="int4", calibrate=CALIBRATING)
    loss = 1 - cosines(calibrated.encode(TEXTS), exact).mean()
    assert loss < 0.75 * (1 - cosines(model.encode(TEXTS), exact).mean())


def test_saved_models_give_the_same(model: fbg.Model, tmp_path: Path) -> None:
    model.save(tmp_path / "saved")
    saved = fbg.load(tmp_path / "saved")
    assert saved.dtype == "int4"
    np.testing.assert_array_equal(saved.encode(TEXTS), model.encode(TEXTS))
    with pytest.raises(ValueError, match="dtype must be 'int4', the dtype of the saved model"):
        fbg.load(tmp_path / "saved", dtype="int8")


def test_a_text_alone_and_in_a_batch_is_the_same(model: fbg.Model) -> None:
    batch = model.encode(TEXTS)
    for text, row in zip(TEXTS[::5], batch[::5], strict=True):
        np.testing.assert_array_equal(model.encode(text), row)


def test_rounding_with_the_scales_of_groups_stays_within_4_bits() -> None:
    rng = np.random.default_rng(0)
    weight = rng.standard_normal((100, 20)).astype(np.float32)
    x = rng.standard_normal((400, 100)).astype(np.float32) @ rng.standard_normal((100, 100))
    gram = (x.T @ x).astype(np.float32)
    scale = np.full((100, 20), 0.3, np.float32)
    q = round_to_gram(weight, scale, gram, -8, 7)
    assert q.min() >= -8 and q.max() <= 7

    def error(values: np.ndarray) -> float:
        return float(np.linalg.norm(x @ (weight - values * scale)))

    assert error(q) < 0.7 * error(np.clip(np.rint(weight / scale), -8, 7))
