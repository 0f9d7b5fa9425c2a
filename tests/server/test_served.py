"""The models of a server: which one answers a request that names none."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import fbg
from fbg.runtime.work_queue import WorkQueue
from fbg.server.served import Models, serve_models
from helpers import tiny_multi, tiny_outputs, tiny_sparse
from helpers.tiny_tasks import write_model


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Models]:
    root: Path = tmp_path_factory.mktemp("kinds")
    directories = {
        "colbert": tiny_multi.write_multi(root / "colbert", "pylate"),
        "cross": write_model(root / "cross", "pairs"),
        "sparse": tiny_sparse.write_routed(root / "sparse", "saved"),
        "hybrid": tiny_outputs.write_hybrid(root / "hybrid"),
        "nli": write_model(root / "nli", "nli"),
    }
    queue = WorkQueue(1)
    models = {name: fbg.load(path) for name, path in directories.items()}
    result = serve_models(models, queue, lambda tokens, sequences: None)
    yield result
    queue.close()
    for one in result:
        one.runs.close()


def test_cross_encoders_rank_before_models_with_vectors_of_tokens(served: Models) -> None:
    assert served.choose("rerank", None).name == "cross"
    assert served.choose("rerank", "colbert").name == "colbert"
    alone = Models({"colbert": served.choose("rank", None)})
    assert alone.choose("rerank", None).name == "colbert"
