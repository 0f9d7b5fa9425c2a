"""GLiNER against the package gliner: the same entities, with the same scores."""

import numpy as np
import pytest

import fbg
from helpers.tiny_gliner import CONFIGS, LABELS, TEXTS, golden, write_model


@pytest.fixture(scope="module", params=list(CONFIGS))
def directory(request, tmp_path_factory):
    return write_model(tmp_path_factory.mktemp(request.param) / request.param, request.param)


def as_gliner(entities):
    return [(e["start"], e["end"], e["entity_group"], e["word"]) for e in entities]


@pytest.mark.parametrize("threshold", [0.3, 0.5, 0.6])
def test_entities_are_those_of_gliner(directory, isa, threshold):
    assert fbg.isa.active() == isa
    found = fbg.load(directory).ner(TEXTS, labels=LABELS, threshold=threshold)
    wanted = golden()[directory.name]["found"][str(threshold)]
    for got, text in zip(found, wanted, strict=True):
        assert as_gliner(got) == [(e["start"], e["end"], e["label"], e["text"]) for e in text]
        scores = [e["score"] for e in text]
        np.testing.assert_allclose([e["score"] for e in got], scores, rtol=0, atol=1e-4)


def test_there_are_entities_to_compare():
    for name in CONFIGS:
        counts = [len(text) for text in golden()[name]["found"]["0.5"]]
        assert sum(counts) >= 3, (name, counts)
        labels = {entity["label"] for text in golden()[name]["found"]["0.5"] for entity in text}
        assert len(labels) > 1, (name, labels)
