"""Heads of models: every family has them, a result is its text's alone, damage is named."""

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import fbg
from fbg.networks.registry import FAMILIES
from helpers import tiny_bert, tiny_tasks
from helpers.task_checks import change_config, change_tensors, every_result
from helpers.tiny_bert import MISSING
from helpers.tiny_tasks import HUB, KINDS, MODELS, TEXTS, write_model

SEQUENCE, TOKENS = "bert-ForSequenceClassification", "bert-ForTokenClassification"
MASKED = "bert-ForMaskedLM"
# The ends of names of tables of words.
WORDS = (
    *("embeddings.word_embeddings.weight", "embeddings.tok_embeddings.weight"),
    *("embed_tokens.weight", "shared.weight"),
)


def test_every_family_has_a_golden_model_of_every_head():
    tested = {(family, kind) for family, kind, _ in MODELS.values()}
    families = {name: family for name, family in FAMILIES.items() if name not in HUB}
    heads = {(name, kind) for name, family in families.items() for kind in family.heads}
    # A few columns of the decoders of a language model are read: test_score_tokens.py.
    assert tested == {head for head in heads if head[1] in KINDS}


@pytest.mark.parametrize("kind", KINDS)
def test_no_texts_give_no_results(load, kind):
    assert every_result(load(f"bert-{kind}"), kind, []) == []


@pytest.mark.parametrize("kind", KINDS)
def test_int8_quantizes_the_encoder_and_leaves_the_head(load, kind):
    model, exact = load(f"roberta-{kind}", "int8"), load(f"roberta-{kind}")
    head, its = model.network.head, exact.network.head
    assert head is not None and its is not None
    for part, other in ((head.dense, its.dense), (head.output, its.output)):
        if part is not None and other is not None:
            np.testing.assert_array_equal(part.weight.block, other.weight.block)
    assert model.network.layers[0].qkv.weight.shape == (32, 96)
    assert model.dtype == "int8"


TASKS = {
    "classify": lambda m: m.classify("a"),
    "zero_shot_classify": lambda m: m.zero_shot_classify("a", "b"),
    "predict": lambda m: m.predict([("a", "b")]),
    "rerank": lambda m: m.rerank("a", ["b"]),
    "ner": lambda m: m.ner("a"),
    "answer": lambda m: m.answer("a", "b"),
    "fill_mask": lambda m: m.fill_mask("[MASK]"),
}


@pytest.mark.parametrize("task", TASKS)
def test_a_model_without_the_head_says_what_it_has(load, tmp_path, task):
    encoder = fbg.load(tiny_bert.write_checkpoint(tmp_path))
    got = r"config\.json: architectures must name .* got BertModel; this model has: encode$"
    with pytest.raises(fbg.ModelError, match=f"{task}: .*{got}"):
        TASKS[task](encoder)
    other = TOKENS if task != "ner" else MASKED
    with pytest.raises(fbg.ModelError, match=f"{task}: .*this model has: encode, (ner|fill_mask)"):
        TASKS[task](load(other))


@pytest.mark.parametrize(
    "name",
    [name for name in MODELS if name.startswith(("bert", "roberta", "modern", "euro", "qwen"))],
)
def test_no_tensor_of_a_head_is_ignored(tmp_path, name):
    file = write_model(tmp_path, name) / "model.safetensors"
    tensors, kind = load_file(file), MODELS[name][1]
    table = next(key for key in tensors if key.endswith(WORDS))
    prefix = table.removesuffix(next(words for words in WORDS if table.endswith(words)))
    of_head = [key for key in tensors if not key.startswith(prefix or ("embed", "encoder", "pool"))]
    for key in of_head:
        save_file({name: tensor for name, tensor in tensors.items() if name != key}, file)
        with pytest.raises(fbg.ModelError):  # a head of one tensor is missing as a whole
            every_result(fbg.load(tmp_path), kind, TEXTS[:1])
        extra = f"{key.rpartition('.')[0]}.other"
        save_file({**tensors, extra: np.ones(3, np.float32)}, file)
        with pytest.raises(fbg.ModelError, match=f"tensor {extra} has no place"):
            fbg.load(tmp_path)


@pytest.mark.parametrize("name", [SEQUENCE, "roberta-ForMaskedLM"])
def test_a_checkpoint_without_its_head_is_an_encoder(tmp_path, name):
    directory = write_model(tmp_path, name)
    heads = ("classifier", "lm_head")
    change_tensors(directory, lambda t: [t.pop(key) for key in list(t) if key.startswith(heads)])
    model = fbg.load(directory)
    model.encode("a")
    with pytest.raises(fbg.ModelError, match="the checkpoint has no tensors of that head"):
        (model.classify if name == SEQUENCE else model.fill_mask)("a")


@pytest.mark.parametrize(
    ("name", "missing"),
    [
        (SEQUENCE, "classifier.bias"),
        ("distilbert-ForSequenceClassification", "pre_classifier.weight"),
        ("roberta-ForMaskedLM", "lm_head.layer_norm.bias"),
        (MASKED, "cls.predictions.bias"),
    ],
)
def test_a_missing_tensor_of_a_head_is_named(tmp_path, name, missing):
    directory = write_model(tmp_path, name)
    change_tensors(directory, lambda t: t.pop(missing))
    with pytest.raises(fbg.ModelError, match=f"tensor {missing} is missing"):
        fbg.load(directory)


def test_a_head_on_a_pooler_needs_it(tmp_path):
    directory = write_model(tmp_path, SEQUENCE)
    change_tensors(directory, lambda t: t.pop("bert.pooler.dense.weight"))
    with pytest.raises(fbg.ModelError, match=r"classifier\.weight requires a pooler, which is mis"):
        fbg.load(directory)


def test_values_that_are_not_finite_are_refused(tmp_path):
    directory = write_model(tmp_path, SEQUENCE)
    change_tensors(directory, lambda t: t["classifier.weight"].fill(np.nan))
    with pytest.raises(fbg.ModelError, match=r"tensor classifier\.weight holds NaN"):
        fbg.load(directory)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"id2label": {"0": "a", "1": "b"}}, r"tensor classifier\.weight must have shape \(2, 39"),
        ({"id2label": MISSING, "num_labels": 5}, r"classifier\.weight must have shape \(5, 39"),
        ({"num_labels": 5}, r"config\.json: num_labels must be the number of labels in id2label"),
        ({"id2label": MISSING, "num_labels": 2**50}, r"config\.json: num_labels must be at most"),
        (
            {"id2label": {"0": "a", "2": "b"}},
            r"config\.json: id2label must be an object with a label",
        ),
        (
            {"id2label": {"0": 1}},
            r"config\.json: id2label must be an object whose values are strings",
        ),
        ({"id2label": ["a"]}, r"config\.json: id2label must be an object"),
        ({"problem_type": "ranking"}, r"config\.json: problem_type must be one of"),
        ({"classifier_activation": "silu"}, r"config\.json: classifier_activation must be one of"),
        ({"architectures": "Bert"}, r"config\.json: architectures must be a list"),
        ({"tie_word_embeddings": 1}, r"config\.json: tie_word_embeddings must be true or false"),
        (
            {"sbert_ce_default_activation_function": "torch.nn.ReLU"},
            r"sbert_ce_default_activation_function must be one of the activations",
        ),
    ],
)
def test_a_wrong_setting_of_a_head_is_named(tmp_path, changes, message):
    directory = write_model(tmp_path, SEQUENCE)
    change_config(directory, **changes)
    with pytest.raises(fbg.ModelError, match=message):
        fbg.load(directory)


def test_a_shape_of_endless_empty_rows_is_refused(tmp_path):
    directory = write_model(tmp_path, SEQUENCE)
    change_config(directory, id2label=MISSING, label2id=MISSING)
    file = directory / "model.safetensors"
    tensors = load_file(file)
    tensors["classifier.bias"] = np.zeros((2**50, 0), np.float32)
    save_file(tensors, file)
    with pytest.raises(fbg.ModelError, match=r"tensor classifier\.bias: its header says"):
        fbg.load(directory)


# --- Saved models -------------------------------------------------------------------------------


def test_a_saved_model_has_its_head(load, tmp_path):
    for kind in KINDS:
        for family in ("bert", "roberta", "albert"):
            model = load(f"{family}-{kind}", "int8")
            model.save(tmp_path / f"{family}{kind}")
            before = fbg.pack_count()
            saved = fbg.load(tmp_path / f"{family}{kind}")
            assert fbg.pack_count() == before
            mask = f" {tiny_tasks.mask_token(family)}"
            texts = [text + mask for text in TEXTS] if kind == "ForMaskedLM" else TEXTS
            task = {
                "ForSequenceClassification": lambda m, t: m.classify(t),
                "ForTokenClassification": lambda m, t: m.ner(t),
                "ForQuestionAnswering": lambda m, t: m.answer(t, t),
                "ForMaskedLM": lambda m, t: m.fill_mask(t),
            }[kind]
            assert task(saved, texts) == task(model, texts)


def test_a_model_saved_before_there_were_heads_loads(load, tmp_path):
    """Version 1 of the format: no tensors of a head, whatever config.json names."""
    path = tmp_path / "saved"
    fbg.load(tiny_bert.write_checkpoint(tmp_path / "model")).save(path)
    change_config(path, architectures=["BertForMaskedLM"])
    file = path / "fbg.safetensors"
    content = file.read_bytes()
    assert content.count(b'"version": "4"') == 1
    file.write_bytes(content.replace(b'"version": "4"', b'"version": "1"'))
    model = fbg.load(path)
    model.encode("a")
    with pytest.raises(fbg.ModelError, match="has no tensors of that head"):
        model.fill_mask("[MASK]")
