"""Results of the task heads: classification, named entities, answers and masks."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from cases import Case, everywhere

import fbg
from models import DTYPES, TEXTS, directories

PAIRS = [("where is it?", "here, on the table"), ("a", "the b c d")]
CONTEXTS = [
    "Ada lives in the north, near York. The river runs by; the bridge was built in 1850. Look.",
    "short context here",
]
QUESTIONS = ["where is she?", "how long"]
STRATEGIES = ("none", "simple", "first", "average", "max")


def sequence_results(model: Any, path: Path) -> Iterator[Case]:
    yield "classify", model.classify(TEXTS, top_k=None)
    yield "classify-pairs", [model.classify(PAIRS, top_k=None), model.classify(TEXTS[1])]
    yield "predict", [model.predict(PAIRS), np.asarray(model.predict(PAIRS[0]))]
    yield "predict-softmax", model.predict(PAIRS, activation_fn="none", apply_softmax=True)
    if len(model.classify(TEXTS[0], top_k=None)) == 1:
        yield "rerank", model.rerank("who is the author", TEXTS, return_documents=True)


def token_results(model: Any, path: Path) -> Iterator[Case]:
    for strategy in STRATEGIES:
        yield f"ner-{strategy}", model.ner(TEXTS, aggregation_strategy=strategy)
    yield "ner-all", model.ner(TEXTS, aggregation_strategy="none", ignore_labels=())


def answer_results(model: Any, path: Path) -> Iterator[Case]:
    yield "answer", model.answer(QUESTIONS, CONTEXTS)
    windows = {"max_seq_len": 40, "doc_stride": 7, "handle_impossible_answer": True}
    yield "answer-several", model.answer(QUESTIONS, CONTEXTS, top_k=4, max_answer_len=5)
    yield "answer-windows", model.answer(QUESTIONS, CONTEXTS, top_k=3, **windows)


def mask_results(model: Any, path: Path) -> Iterator[Case]:
    square = "[MASK]" in (path / "tokenizer.json").read_text(encoding="utf-8")
    mask = "[MASK]" if square else "<mask>"
    texts = [f"the {mask} cat", f"a {mask} and {mask}."]
    yield "fill-mask", model.fill_mask(texts, top_k=4)
    yield "fill-mask-targets", model.fill_mask(texts[0], targets=["b", "7", "q"])


RESULTS: dict[str, Callable[[Any, Path], Iterator[Case]]] = {
    "ForSequenceClassification": sequence_results,
    "ForTokenClassification": token_results,
    "ForQuestionAnswering": answer_results,
    "ForMaskedLM": mask_results,
}


def task_cases(models: Path) -> Iterator[Case]:
    for path in directories(models / "tasks"):
        (architecture,) = json.loads((path / "config.json").read_text())["architectures"]
        (results,) = (its for kind, its in RESULTS.items() if architecture.endswith(kind))
        loaded = {kind: fbg.load(path, dtype=kind) for kind in DTYPES}
        for setting in everywhere():
            for kind, model in loaded.items():
                for name, result in results(model, path):
                    yield f"{path.name}/{kind}/{name}/{setting}", result
