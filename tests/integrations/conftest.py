"""What tests of integrations share: an encoder with prompts, a cross-encoder, a cluster of Ray."""

import importlib.util
import os

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
    "RAY_prestart_worker_first_driver": "0",  # workers of Ray start when there is work
}

# make check installs these packages, and names the tests of them; make test leaves them out.
NEEDS = {"test_chroma.py": "chromadb", "test_daft.py": "daft", "test_lancedb.py": "lancedb"}
collect_ignore = [test for test, needs in NEEDS.items() if importlib.util.find_spec(needs) is None]

PROMPTS = {"prompts": {"query": "find: ", "document": "text: "}}


@pytest.fixture(scope="session")
def directory(tmp_path_factory):
    path = tmp_path_factory.mktemp("encoder")
    tiny_bert.write_checkpoint(path, seed=3, spread=0.25)
    tiny_bert.write_json(path / "config_sentence_transformers.json", PROMPTS)
    return path


@pytest.fixture(scope="session")
def model(directory):
    return fbg.load(directory, dtype="int8")


@pytest.fixture(scope="session")
def cross_encoder(tmp_path_factory):
    return fbg.load(write_model(tmp_path_factory.mktemp("rank") / "m", "pairs"))


@pytest.fixture(scope="session")
def cluster():
    """A local cluster for all tests of Ray: to start and stop one takes as long as each of them."""
    import ray

    os.environ["RAY_ACCEL_ENV_VAR_OVERRIDE_ON_ZERO"] = "0"
    # Two actors of one CPU each would leave none for those that read.
    ray.init(num_cpus=4, include_dashboard=False, log_to_driver=False, _node_ip_address="127.0.0.1")
    yield
    ray.shutdown()
