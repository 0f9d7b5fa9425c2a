"""The models of a server: which one answers a request that names none, and what runs at first."""

import asyncio

import pytest

import fbg
from fbg.model.async_model import AsyncModel
from fbg.runtime.batcher import Batcher
from fbg.server.messages import Embedding, Message
from fbg.server.models.served import Models, serve_models, warm_up
from helpers import tiny_multi, tiny_outputs, tiny_sparse
from helpers.tiny_tasks import write_model


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    root = tmp_path_factory.mktemp("kinds")
    directories = {
        "colbert": tiny_multi.write_multi(root / "colbert", "pylate"),
        "cross": write_model(root / "cross", "pairs"),
        "sparse": tiny_sparse.write_routed(root / "sparse", "saved"),
        "hybrid": tiny_outputs.write_hybrid(root / "hybrid"),
        "nli": write_model(root / "nli", "nli"),
    }
    queue = Batcher(1)
    models = {name: fbg.load(path) for name, path in directories.items()}
    result = serve_models(models, queue, lambda tokens, sequences: None)
    yield result
    queue.close()
    for one in result:
        one.runs.close()


def test_cross_encoders_rank_before_models_with_vectors_of_tokens(served):
    assert served.choose("rerank", Message()).name == "cross"
    assert served.choose("rerank", Message(model="colbert")).name == "colbert"
    alone = Models({"colbert": served.choose("rank", Message())})
    assert alone.choose("rerank", Message()).name == "colbert"


def cutting(served, message):
    return served.choose("encode", message).cutting(message.cuts)


def test_another_side_to_cut_on_is_another_model_with_the_same_weights(served):
    own = served.choose("encode", Embedding(inputs="a"))
    left = cutting(served, Embedding(inputs="a", truncation_direction="Left"))
    assert left.model.network is own.model.network and left.name == own.name
    assert left.model.tokenizer.truncation_side == "left"
    assert left is cutting(served, Embedding(inputs="a", truncation_direction="left"))
    assert own is cutting(served, Embedding(inputs="a", truncation_direction="Right"))


def test_models_are_warmed_up_by_each_of_their_tasks(served, monkeypatch):
    called = {}
    run = AsyncModel.run

    async def spy(self, steps, *arguments):
        name = next(one.name for one in served if one.runs is self)
        called.setdefault(name, set()).add(steps.__name__)
        return await run(self, steps, *arguments)

    monkeypatch.setattr(AsyncModel, "run", spy)
    asyncio.run(warm_up(served))
    assert {name: steps - {"embed"} for name, steps in called.items()} == {
        "colbert": {"encode_multi"},
        "cross": {"classify"},
        "sparse": {"encode_sparse_steps"},
        "hybrid": {"encode_hybrid"},
        "nli": {"classify", "zero_shot_classify"},
    }


def test_a_model_that_lacks_something_for_hybrid_embeddings_is_served(tmp_path):
    model = fbg.load(tiny_outputs.write_hybrid(tmp_path, pooling="mean"))
    queue = Batcher(1)
    served = serve_models({"hybrid": model}, queue, lambda tokens, sequences: None)
    asyncio.run(warm_up(served))
    queue.close()
    served.first.runs.close()
