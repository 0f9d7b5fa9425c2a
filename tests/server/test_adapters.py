"""Adapters beside a model, which requests choose by name."""

import signal
import time

import httpx
import numpy as np
import pytest

import fbg
from helpers import tiny_models
from helpers.serving import running
from helpers.tiny_tasks import write_model
from models.test_adapters import LAYERS, write_folder
from server.test_lifecycle import fails

TEXTS = ["the dog", "a cat and a dog"]


@pytest.fixture(scope="module")
def base(tmp_path_factory):
    root = tmp_path_factory.mktemp("adapters")
    own = tiny_models.write_tiny(root / "model", "qwen3")
    write_folder(own / "law", LAYERS[:2])
    write_folder(root / "med", LAYERS, rank=2)
    return own


def embed(server, model, **more):
    body = {"inputs": TEXTS, "model": model, "normalize": False, **more}
    return httpx.post(f"{server.url}/embed", json=body, timeout=30)


@pytest.mark.parametrize("more", [(), ("--workers", "2"), ("--idle-unload", "0.2")])
def test_requests_choose_adapters_by_name(base, more):
    model = fbg.load(base, "int8", adapters={"law": "law", "med": base.parent / "med"})
    wanted = {None: model, "text": model}
    wanted |= {name: model.with_adapter(name) for name in model.adapters}
    given = ["--adapter", "law=law", "--adapter", f"text:med={base.parent / 'med'}"]
    with running(f"text={base}", *given, "--dtype", "int8", *more) as server:
        server.wait_ready()
        for turn in range(2):
            for name, one in wanted.items():
                answer = embed(server, name)
                assert answer.status_code == 200, answer.text
                rows = np.array(answer.json(), np.float32)
                np.testing.assert_array_equal(rows, one.encode(TEXTS))
            assert embed(server, "law", truncation_direction="Left").status_code == 200
            if turn == 0:
                server.signal(signal.SIGHUP)
                while not any(e["message"] == "reload: ready" for e in server.entries()):
                    time.sleep(0.05)
                time.sleep(0.5)  # until models without requests are unloaded
        models = httpx.get(f"{server.url}/v1/models").json()["data"]
        assert [each["id"] for each in models] == ["text", "law", "med"]
        assert embed(server, "tax").status_code == 404


def test_an_adapter_is_of_one_of_several_models(base, tmp_path):
    pairs = write_model(tmp_path / "rank", "pairs")
    with running(f"a={base}", f"b={pairs}", "--adapter", "a:law=law") as server:
        server.wait_ready()
        info = httpx.get(f"{server.url}/info").json()
        assert [each["name"] for each in info["models"]] == ["a", "b", "law"]
        assert embed(server, "law").status_code == 200


def test_wrong_adapters_end_the_program(base, tmp_path):
    text = str(base)
    for wrong in ("law", "=law", "law=", "other:law=law"):
        assert "ADAPTER must be NAME=ADAPTER" in fails(text, "--adapter", wrong, status=2)
    assert "ADAPTER must be NAME" in fails(f"a={text}", f"b={text}", "--adapter", "c=law", status=2)
    own = "every model must have a NAME of its own"
    assert own in fails(f"a={text}", "--adapter", "a=law", status=2)
    for idle in ((), ("--idle-unload", "1")):
        assert "adapter must be one of" in fails(text, "--adapter", "c=none", "--port", "0", *idle)
    fbg.load(text, dtype="int8").save(tmp_path / "int8")
    saved = str(tmp_path / "int8")
    for idle in ((), ("--idle-unload", "1")):
        assert "is a saved model" in fails(saved, "--adapter", "c=law", "--port", "0", *idle)
