"""Native graphs are plain data: one that is made anew of its records has the same bits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fbg
from fbg import _fbg
from fbg.importers.net import Net
from fbg.importers.onnx.read import read_model
from helpers.saved_models import results
from helpers.small_cnns import FAMILIES
from helpers.tiny_models import write_tiny

Plan = _fbg.Plan
PLAIN = bool | int | float | str | np.ndarray | _fbg.PackedB | _fbg.ConvWeights | None


def require_plain(value: Any) -> None:
    if isinstance(value, list):
        for item in value:
            require_plain(item)
    else:
        assert isinstance(value, PLAIN)


def replayed(graph: _fbg.Graph) -> _fbg.Graph:
    copy = _fbg.Graph()
    for kind, fields in graph.records:
        require_plain(list(fields.values()))
        copy.append(kind, **fields)
    for buffer in graph.outputs:
        copy.output(buffer)
    return copy


@pytest.fixture
def kinds(monkeypatch: pytest.MonkeyPatch) -> set[str]:
    """Plans are made of replayed graphs, whose kinds of ops are collected."""
    found: set[str] = set()

    def planned(graph: _fbg.Graph, *arguments: Any, **options: Any) -> _fbg.Plan:
        found.update(kind for kind, _ in graph.records)
        return Plan(replayed(graph), *arguments, **options)

    monkeypatch.setattr(_fbg, "Plan", planned)
    return found


@pytest.mark.parametrize("dtype", ["int8", "float32"])
@pytest.mark.parametrize("name", ["bert", "gemma3_text", "deberta-v2-convolution"])
def test_encoders(
    name: str, dtype: str, tmp_path: Path, kinds: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    model = fbg.load(write_tiny(tmp_path / name, name), dtype=dtype)
    again = results(model)
    assert kinds >= {"embedding", "linear", "attention"}
    monkeypatch.undo()
    assert results(fbg.load(tmp_path / name, dtype=dtype)) == again


@pytest.mark.parametrize(
    ("family", "some"),
    [
        ("vit", {"tensor_input", "constant", "convolve", "attend", "layer_norm_rows"}),
        ("mobilenet_v3", {"convolve", "elementwise", "window"}),
        ("yolo_head", {"arrange", "convolve"}),
    ],
)
def test_networks(
    family: str, some: set[str], kinds: set[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    model, shape = FAMILIES[family]()
    x = np.random.default_rng(3).standard_normal(shape).astype(np.float32)
    again = Net(read_model(model, family, None))(x)
    assert kinds >= some
    monkeypatch.undo()
    np.testing.assert_array_equal(Net(read_model(model, family, None))(x), again)
