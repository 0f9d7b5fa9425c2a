"""Models for the tests of integrations: an encoder with prompts, and a cross-encoder."""

import os
from pathlib import Path

import pytest

import fbg
from helpers import tiny_bert
from helpers.tiny_tasks import write_model

# These packages would report their use to their makers. They read this when they are imported.
os.environ |= {
    "ANONYMIZED_TELEMETRY": "False",
    "HAYSTACK_TELEMETRY_ENABLED": "False",
    "RAY_USAGE_STATS_ENABLED": "0",
    "DAFT_ANALYTICS_ENABLED": "0",
    "DO_NOT_TRACK": "true",
}

PROMPTS = {"prompts": {"query": "find: ", "document": "text: "}}


@pytest.fixture(scope="session")
def directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("encoder")
    tiny_bert.write_checkpoint(path, seed=3, spread=0.25)
    tiny_bert.write_json(path / "config_sentence_transformers.json", PROMPTS)
    return path


@pytest.fixture(scope="session")
def model(directory: Path) -> fbg.Model:
    return fbg.load(directory, dtype="int8")


@pytest.fixture(scope="session")
def cross_encoder(tmp_path_factory: pytest.TempPathFactory) -> fbg.Model:
    return fbg.load(write_model(tmp_path_factory.mktemp("rank") / "m", "pairs"))
