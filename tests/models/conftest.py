"""Fixtures that several files share: checkpoints, an int8 model, and that model saved."""

import pytest

import fbg
from helpers import tiny_bert


@pytest.fixture(scope="session")
def directory(tmp_path_factory):
    """A model with the files that sentence-transformers write by default."""
    return tiny_bert.write_checkpoint(tmp_path_factory.mktemp("model"), seed=4, spread=0.25)


@pytest.fixture(scope="module")
def checkpoint(tmp_path_factory):
    """A model with the files of sentence-transformers, away from their defaults."""
    path = tmp_path_factory.mktemp("model")
    tiny_bert.write_checkpoint(path, seed=4, spread=0.25, pooling="cls")
    tiny_bert.write_json(path / "sentence_bert_config.json", {"max_seq_length": 12})
    return path


@pytest.fixture(scope="module")
def original(checkpoint):
    return fbg.load(checkpoint, dtype="int8")


@pytest.fixture
def saved(original, tmp_path):
    original.save(tmp_path / "saved")
    return tmp_path / "saved"
