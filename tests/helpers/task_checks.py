"""What the tests of tasks share: comparisons with golden results, and changes to model files."""

from safetensors.numpy import load_file, save_file

from helpers.tiny_bert import change_json
from helpers.tiny_tasks import MODELS

TOLERANCE = 1e-4


def of_kind(kind):
    """Return the names of the models that have a head of this kind."""
    return [name for name, (_, its, _) in MODELS.items() if its == kind]


def assert_same(got, wanted):
    """The same structure: numbers called "score" close, everything else equal."""
    assert type(got) is type(wanted), (got, wanted)
    if isinstance(wanted, list):
        assert len(got) == len(wanted), (got, wanted)
        for one, other in zip(got, wanted, strict=True):
            assert_same(one, other)
    elif isinstance(wanted, dict):
        assert {k: v for k, v in got.items() if k != "score"} == {
            k: v for k, v in wanted.items() if k != "score"
        }
        assert abs(got["score"] - wanted["score"]) <= TOLERANCE
        assert type(got["score"]) is float
    else:
        assert got == wanted


def every_result(model, kind, texts, **options):
    """Return what the task of this kind of head gives for texts, one result for each."""
    if kind == "ForSequenceClassification":
        return list(model.classify(texts, top_k=None, **options))
    if kind == "ForTokenClassification":
        return list(model.ner(texts, "none", ignore_labels=(), **options))
    if kind == "ForQuestionAnswering":
        questions = ["who is it"] * len(texts)
        return list(model.answer(questions, texts, top_k=3, **options))
    return list(model.fill_mask([f"{text} [MASK]" for text in texts], **options))


def change_config(directory, **changes):
    change_json(directory / "config.json", **changes)


def change_tensors(directory, change):
    path = directory / "model.safetensors"
    tensors = load_file(path)
    change(tensors)
    save_file(tensors, path)
