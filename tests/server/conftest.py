"""A server with a model of every kind, for the tests that only ask it something."""

import shutil
from importlib.util import find_spec

import httpx
import pytest

import fbg
from helpers import tiny_bert, tiny_gliner, tiny_towers
from helpers.serving import running
from helpers.tiny_tasks import SERVED_KINDS, write_model

# The tests in a browser are run where there is one, and what drives it.
BROWSER = shutil.which("chromium") and find_spec("playwright")
collect_ignore = [] if BROWSER else ["test_browser.py"]

KINDS = SERVED_KINDS | {"nli": "nli"}
PROMPTS = {"prompts": {"query": "find: "}}


@pytest.fixture(scope="session")
def directories(tmp_path_factory):
    """The model directories by the names that the server gives the models."""
    root = tmp_path_factory.mktemp("served")
    text = root / "text"
    text.mkdir()
    tiny_bert.write_checkpoint(text, seed=3, spread=0.25)
    tiny_bert.write_json(text / "config_sentence_transformers.json", PROMPTS)
    found = {name: write_model(root / name, kind) for name, kind in KINDS.items()}
    found["gliner"] = tiny_gliner.write_model(root / "gliner", "bare")
    return {"text": text} | found | {"clip": tiny_towers.write_tiny_tower(root / "clip", "clip")}


@pytest.fixture(scope="session")
def models(directories):
    """The same models in this process, to compare with."""
    return {name: fbg.load(path, dtype="int8") for name, path in directories.items()}


@pytest.fixture(scope="session")
def server(directories):
    named = [f"{name}={path}" for name, path in directories.items()]
    limits = ["--max-client-batch-size", "500", "--max-body", "100000"]
    with running(*named, "--dtype", "int8", "--threads", "2", *limits) as started:
        yield started


@pytest.fixture
def client(server):
    with httpx.Client(base_url=server.url, timeout=30) as opened:
        yield opened
