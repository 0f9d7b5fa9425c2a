"""The example of a recommender computes what DLRM is, from a file of its weights."""

from __future__ import annotations

import runpy
from pathlib import Path

import numpy as np
import pytest
from safetensors.numpy import save_file

EXAMPLE = runpy.run_path(str(Path(__file__).parents[2] / "examples" / "recommender.py"))
SAMPLES = 12


@pytest.fixture(scope="module")
def state():
    rows = [min(count, 40) for count in EXAMPLE["ROWS"]]
    return EXAMPLE["draw_state"](rows, np.random.default_rng(0))


def samples(state):
    rows = [len(state[f"emb_l.{t}.weight"]) for t in range(26)]
    return EXAMPLE["draw_batch"](rows, SAMPLES, np.random.default_rng(1))


def dlrm(state, dense, indices):
    """The model by its definition, in float64."""

    def mlp(x, part):
        for i in range(0, 2 * sum(n.startswith(part) for n in state) // 2, 2):
            x = x @ state[f"{part}.{i}.weight"].T.astype(float) + state[f"{part}.{i}.bias"]
            x = np.maximum(x, 0) if x.shape[1] > 1 else 1 / (1 + np.exp(-x))
        return x

    x = mlp(dense.astype(float), "bot_l")
    tables = (state[f"emb_l.{t}.weight"].astype(float) for t in range(len(indices)))
    sums = [table[rows].sum(1) for table, rows in zip(tables, indices, strict=True)]
    vectors = [x, *sums]
    pairs = [(vectors[i] * vectors[j]).sum(1) for i in range(27) for j in range(i)]
    return mlp(np.concatenate([x, np.stack(pairs, 1)], 1), "top_l")[:, 0]


@pytest.mark.parametrize(
    ("mlp", "tables", "most"),
    [
        ("float32", "float32", 1e-5),
        ("float32", "int8", 0.02),
        ("int8", "int8", 0.05),
        ("int8", "int4", 0.2),
    ],
)
def test_clicks_are_those_of_the_definition(state, mlp, tables, most):
    dense, indices = samples(state)
    clicks = EXAMPLE["Recommender"](state, mlp, tables)(dense, indices)
    wanted = dlrm(state, dense, indices)
    assert np.ptp(wanted) > 0.1
    assert np.abs(clicks - wanted).max() < most


def test_blocks_of_samples_give_what_all_at_once_give(state):
    rows = [len(state[f"emb_l.{t}.weight"]) for t in range(26)]
    dense, indices = EXAMPLE["draw_batch"](rows, 700, np.random.default_rng(2))
    model = EXAMPLE["Recommender"](state, "int8", "int8")
    np.testing.assert_allclose(model(dense, indices), model.predict(dense, indices), rtol=1e-5)


def test_the_program_compares_dtypes(state, tmp_path, capsys):
    save_file(state, tmp_path / "dlrm.safetensors")
    EXAMPLE["main"](["--checkpoint", str(tmp_path / "dlrm.safetensors"), "--batch", "300"])
    lines = capsys.readouterr().out.splitlines()
    assert [tuple(line.split()[:2]) for line in lines[2:]] == EXAMPLE["DTYPES"]
    assert all(float(line.split()[-1]) > 0.9 for line in lines[2:])
