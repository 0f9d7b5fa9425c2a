"""Whatever a task makes of a text, its bits depend on that text alone: not on the others of a call,
on batches, on threads, or on whether the model was saved.
"""

from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import fbg
from helpers import tiny_gliner, tiny_multi, tiny_outputs, tiny_rerankers, tiny_tasks
from helpers.task_checks import every_result

pytestmark = pytest.mark.filterwarnings("ignore:.* was truncated")


class Task(NamedTuple):
    """write: the files of a model. run: returns a result for each of the texts."""

    write: Callable[[Path], Path]
    texts: list[Any]
    run: Callable[..., Any]


def head(kind):
    texts = [*tiny_tasks.TEXTS, "a b c d e f g h i j k l", "b"]
    return Task(
        partial(tiny_tasks.write_model, name=f"bert-{kind}"),
        texts,
        lambda model, texts, **options: every_result(model, kind, texts, **options),
    )


def of_rows(vectors):
    """The indices and values of each row."""
    ends = vectors.indptr[1:-1]
    return list(zip(np.split(vectors.indices, ends), np.split(vectors.data, ends), strict=True))


def of_hybrid(model, texts, **options):
    found = model.encode_hybrid(texts, **options)
    return list(zip(found.dense, of_rows(found.sparse), found.multi, strict=True))


TASKS = {
    **{kind: head(kind) for kind in tiny_tasks.KINDS},
    **{
        f"{kind} of {name}": Task(
            partial(tiny_multi.write_multi, name=name),
            texts,
            partial(lambda kind, m, texts, **o: m.encode_multi(texts, kind, **o), kind),
        )
        for name in tiny_multi.MODELS
        for kind, texts in (("query", tiny_multi.QUERIES), ("document", tiny_multi.DOCUMENTS))
    },
    **{
        f"static {name}": Task(
            partial(tiny_outputs.write_static, name=name),
            [*tiny_outputs.TEXTS, *tiny_outputs.UNKNOWN, tiny_outputs.LONG],
            lambda model, texts, **options: model.encode(texts, **options),
        )
        for name in tiny_outputs.STATIC
    },
    **{
        f"reranker {name}": Task(
            partial(tiny_rerankers.write_reranker, name=name),
            tiny_rerankers.PAIRS,
            lambda model, pairs, **options: model.predict(pairs, **options),
        )
        for name in tiny_rerankers.RERANKERS
    },
    **{
        f"spans {name}": Task(
            partial(tiny_gliner.write_model, name=name),
            [*tiny_gliner.TEXTS, "", "a b"],
            lambda m, texts, **o: m.ner(texts, labels=tiny_gliner.LABELS, threshold=0.3, **o),
        )
        for name in tiny_gliner.CONFIGS
    },
    "hybrid": Task(
        tiny_outputs.write_hybrid,
        ["the cat", "Ada lives in the north, the cat too.", "x", "", "zebra 42! the \u4e2d"],
        of_hybrid,
    ),
    "sparse": Task(
        partial(tiny_tasks.write_model, name="bert-ForMaskedLM"),
        tiny_tasks.TEXTS,
        lambda model, texts, **options: of_rows(model.encode_sparse(texts, **options)),
    ),
    "zero-shot": Task(
        partial(tiny_tasks.write_model, name="nli"),
        tiny_tasks.TEXTS,
        lambda m, texts, **o: m.zero_shot_classify(
            texts, tiny_tasks.CANDIDATES, multi_label=True, **o
        ),
    ),
}


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8"])
@pytest.mark.parametrize("name", TASKS)
def test_a_result_depends_on_its_own_text_alone(tmp_path, name, dtype):
    write, texts, run = TASKS[name]
    directory = write(tmp_path / "model")
    one, two = (fbg.load(directory, dtype=dtype, num_threads=n) for n in (1, 2))
    two.save(tmp_path / "saved")
    alone = [run(one, [text])[0] for text in texts]
    for model in (two, fbg.load(tmp_path / "saved")):
        for given, wanted in ((texts, alone), (texts[::-1] * 3, alone[::-1] * 3)):
            for size in (2, 32):
                np.testing.assert_equal(list(run(model, given, batch_size=size)), wanted)
