"""Embedder: what it makes of batches, and how it travels between processes."""

import os
import pickle
import subprocess
import sys

import numpy as np
import pyarrow
import pytest

import fbg
from fbg.integrations import Embedder

TEXTS = ["a fox", "the lazy dog", "x"]


@pytest.fixture
def embedder(directory):
    return Embedder(directory, "int8")


def test_batches_of_every_kind_get_the_bits_of_encode(embedder, model):
    wanted = model.encode(TEXTS)
    width = wanted.shape[1]
    table = embedder(pyarrow.table({"n": [1, 2, 3], "text": TEXTS}))
    assert table.column_names == ["n", "text", "embedding"]
    assert table.schema.field("embedding").type == pyarrow.list_(pyarrow.float32(), width)
    stacked = np.array(table.column("embedding").to_pylist(), np.float32)
    assert np.array_equal(stacked, wanted)
    columns = embedder({"text": np.array(TEXTS, object), "n": [1, 2, 3]})
    assert columns.keys() == {"text", "n", "embedding"}
    assert np.array_equal(columns["embedding"], wanted)
    rows = embedder(TEXTS)
    assert rows.type == pyarrow.list_(pyarrow.float32(), width)
    assert np.array_equal(rows.flatten().to_numpy().reshape(3, -1), wanted)
    assert len(embedder([])) == 0


def test_names_of_columns_and_options_of_encode(directory, model):
    embedder = Embedder(directory, "int8", column="body", output="vector", prompt_name="query")
    wanted = model.encode(TEXTS, prompt_name="query")
    assert np.array_equal(embedder({"body": TEXTS})["vector"], wanted)
    with pytest.raises(KeyError, match="body"):
        embedder(pyarrow.table({"text": TEXTS}))
    with pytest.raises(TypeError, match=r"sentences\[1\] must be a str, got int"):
        embedder(["a", 1])


def test_only_arguments_are_pickled(directory, model, tmp_path, monkeypatch):
    monkeypatch.chdir(directory.parent)
    embedder = Embedder(directory.name, "int8").warm_up()
    data = pickle.dumps(embedder)
    assert len(data) < 1000
    (tmp_path / "embedder").write_bytes(data)
    code = "import pickle, sys; e = pickle.load(open('embedder', 'rb')); e(['a fox']); "
    code += "sys.stdout.buffer.write(e({'text': ['a fox']})['embedding'].tobytes())"
    result = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=dict(os.environ), capture_output=True
    )
    assert result.returncode == 0, result.stderr
    got = np.frombuffer(result.stdout, np.float32)
    assert np.array_equal(got, model.encode("a fox"))


def test_the_model_is_loaded_at_the_first_batch(directory, tmp_path):
    missing = Embedder(tmp_path / "none")
    with pytest.raises(fbg.ModelError, match="no such directory"):
        missing(["a"])
    embedder = Embedder(directory)
    embedder(["a"])
    assert embedder.model is embedder.model
