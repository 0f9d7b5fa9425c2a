"""Groups of entities, also of labels that the models of the golden results do not have."""

import numpy as np

from fbg.tasks.entities import Token, group_entities, label_words

LABELS = ["O", "B-PER", "I-PER", "B-LOC", "I-LOC", "DATE"]


def tokens(labels):
    """One character each."""
    scores = np.eye(len(LABELS))
    return [
        Token(scores[LABELS.index(label)], n + 1, chr(ord("a") + n), n, n + 1, False)
        for n, label in enumerate(labels)
    ]


def test_b_begins_an_entity_and_i_continues_one_of_its_kind():
    labels = ["B-PER", "I-PER", "B-PER", "I-LOC", "I-LOC", "O", "I-PER", "DATE", "DATE"]
    found = group_entities(label_words(tokens(labels), LABELS, "simple", "".join), "".join)
    wanted = [("PER", "ab"), ("PER", "c"), ("LOC", "de"), ("O", "f"), ("PER", "g"), ("DATE", "hi")]
    assert [(entity["entity_group"], entity["word"]) for entity in found] == wanted
