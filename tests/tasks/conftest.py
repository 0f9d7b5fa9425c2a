"""Models with heads for the tests of tasks: each is written and loaded once for a test module."""

import pytest

import fbg
from helpers.tiny_tasks import write_model


@pytest.fixture(scope="module")
def load(tmp_path_factory):
    """Load one of tiny_tasks.MODELS."""
    models = {}

    def loaded(name, dtype="float32"):
        if (name, dtype) not in models:
            path = write_model(tmp_path_factory.mktemp("model"), name)
            models[name, dtype] = fbg.load(path, dtype=dtype)
        return models[name, dtype]

    return loaded
