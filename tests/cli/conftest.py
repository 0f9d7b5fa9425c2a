"""What the commands are given: a checkpoint of a small BERT."""

from pathlib import Path

import pytest

from helpers import tiny_bert


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_bert.write_checkpoint(tmp_path_factory.mktemp("model"), seed=4, spread=0.25)
