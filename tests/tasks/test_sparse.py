"""Sparse embeddings against SparseEncoder of sentence-transformers."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fbg
from helpers import tiny_bert, tiny_tasks
from helpers.minilm import arrays

NAME = "bert-ForMaskedLM"
TEXTS = tiny_tasks.TEXTS


def write(path: Path, **pooling: Any) -> Path:
    tiny_tasks.write_model(path, NAME)
    module = "sentence_transformers.sparse_encoder.models"
    modules = [
        {"type": f"{module}.MLMTransformer", "path": ""},
        {"type": f"{module}.SpladePooling", "path": "1_SpladePooling"},
    ]
    tiny_bert.write_json(path / "modules.json", modules)
    tiny_bert.write_json(path / "1_SpladePooling" / "config.json", pooling)
    return path


def expected(logits: np.ndarray, sums: bool, twice: bool) -> np.ndarray:
    """The published formula on (tokens, vocabulary) predictions."""
    gained = np.log1p(np.maximum(logits, 0))
    gained = np.log1p(gained) if twice else gained
    return gained.sum(axis=0) if sums else gained.max(axis=0)


@pytest.mark.parametrize("sums", [False, True])
@pytest.mark.parametrize("twice", [False, True])
def test_weights_are_those_of_sentence_transformers(
    tmp_path: Path, sums: bool, twice: bool
) -> None:
    options = {
        "pooling_strategy": "sum" if sums else "max",
        "activation_function": "log1p_relu" if twice else "relu",
    }
    model = fbg.load(write(tmp_path / "model", **options))
    golden = arrays("tiny_sparse")[
        f"{options['pooling_strategy']}-{options['activation_function']}"
    ]
    result = model.encode_sparse(TEXTS)
    np.testing.assert_allclose(result.to_dense(), golden, rtol=0, atol=1e-4)
    assert 0 < result.indices.size < result.shape[0] * result.shape[1]
    model.save(tmp_path / "saved")
    again = fbg.load(tmp_path / "saved").encode_sparse(TEXTS)
    np.testing.assert_array_equal(again.data, result.data)


def test_a_row_is_the_same_alone_and_with_any_threads(tmp_path: Path) -> None:
    directory = write(tmp_path)
    for dtype in ("float32", "int8"):
        one, two = (fbg.load(directory, dtype=dtype, num_threads=n) for n in (1, 2))
        together = two.encode_sparse(TEXTS, batch_size=3)
        for n, text in enumerate(TEXTS):
            alone = one.encode_sparse(text)
            part = slice(together.indptr[n], together.indptr[n + 1])
            np.testing.assert_array_equal(alone.indices, together.indices[part])
            np.testing.assert_array_equal(alone.data, together.data[part])
            assert (np.diff(alone.indices) > 0).all()
            assert (alone.data > 0).all()


def test_no_texts_make_no_rows(tmp_path: Path) -> None:
    result = fbg.load(write(tmp_path)).encode_sparse([])
    assert result.shape[0] == 0
    assert result.to_dense().shape == result.shape


@pytest.mark.parametrize(
    ("options", "key"),
    [
        ({"pooling_strategy": "mean"}, "pooling_strategy"),
        ({"activation_function": "gelu"}, "activation_function"),
    ],
)
def test_an_unsupported_setting_is_named(tmp_path: Path, options: dict[str, str], key: str) -> None:
    with pytest.raises(fbg.ModelError, match=rf"1_SpladePooling.config\.json: {key} must be"):
        fbg.load(write(tmp_path, **options))


def test_a_model_without_predictions_has_no_sparse_embeddings(tmp_path: Path) -> None:
    model = fbg.load(tiny_bert.write_checkpoint(tmp_path))
    with pytest.raises(fbg.ModelError, match=r"encode_sparse: .*must name a class that ends in"):
        model.encode_sparse("a")
