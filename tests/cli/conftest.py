"""What the commands are given: a checkpoint of a small BERT."""

import pytest

from helpers import tiny_bert


@pytest.fixture(scope="session")
def checkpoint(tmp_path_factory):
    return tiny_bert.write_checkpoint(tmp_path_factory.mktemp("model"), seed=4, spread=0.25)
