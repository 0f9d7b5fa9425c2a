"""Tasks against the pipelines of transformers: the same labels and spans, scores within 1e-4."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import fbg
from fbg.networks.heads import HEADS
from helpers import tiny_bert, tiny_tasks
from helpers.tiny_tasks import (
    DOCUMENTS,
    MODELS,
    PAIRS,
    QUERY,
    STRATEGIES,
    TEXTS,
    golden,
    write_model,
)

TOLERANCE = 1e-4


def of_kind(kind: str) -> list[str]:
    return [name for name, (_, its, _) in MODELS.items() if its == kind]


@pytest.fixture(scope="module")
def load(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., fbg.Model]:
    """Load one of MODELS; each is loaded once."""
    models: dict[tuple[str, str], fbg.Model] = {}

    def loaded(name: str, dtype: str = "float32") -> fbg.Model:
        if (name, dtype) not in models:
            path = write_model(tmp_path_factory.mktemp("model"), name)
            models[name, dtype] = fbg.load(path, dtype=dtype)
        return models[name, dtype]

    return loaded


Load = Callable[..., fbg.Model]


def assert_same(got: Any, wanted: Any) -> None:
    """The same structure: numbers called "score" close, everything else equal."""
    if isinstance(wanted, list):
        assert isinstance(got, list)
        assert len(got) == len(wanted), (got, wanted)
        for one, other in zip(got, wanted, strict=True):
            assert_same(one, other)
    elif isinstance(wanted, dict):
        assert got.keys() == wanted.keys()
        assert {k: v for k, v in got.items() if k != "score"} == {
            k: v for k, v in wanted.items() if k != "score"
        }
        assert abs(got["score"] - wanted["score"]) <= TOLERANCE
        assert type(got["score"]) is float
    else:
        assert got == wanted


# --- Golden results -----------------------------------------------------------------------------


def test_every_family_has_a_golden_model_of_every_head() -> None:
    tested = {(family, kind) for family, kind, _ in MODELS.values()}
    assert tested == {(family, kind) for kind, table in HEADS.items() for family in table}


@pytest.mark.parametrize("name", of_kind("ForSequenceClassification"))
def test_classify_agrees_with_transformers(load: Load, name: str, isa: str) -> None:
    model, wanted = load(name), golden()[name]
    assert_same(model.classify(TEXTS, top_k=None), wanted["texts"])
    assert_same(model.classify(PAIRS, top_k=None), wanted["pairs"])
    assert_same(model.classify(TEXTS[1]), wanted["texts"][1][:1])


def test_rerank_agrees_with_a_cross_encoder(load: Load) -> None:
    model, scores = load("pairs"), golden()["pairs"]["documents"]
    order = np.argsort(scores)[::-1].tolist()
    wanted = [{"corpus_id": n, "score": scores[n]} for n in order]
    assert_same(model.rerank(QUERY, DOCUMENTS), wanted)
    assert_same(model.rerank(QUERY, tuple(DOCUMENTS), top_k=2), wanted[:2])
    best = model.rerank(QUERY, DOCUMENTS, top_k=1, return_documents=True)
    assert_same(best, [{**wanted[0], "text": DOCUMENTS[order[0]]}])
    pairs = [(QUERY, document) for document in DOCUMENTS]
    np.testing.assert_allclose(model.predict(pairs), scores, rtol=0, atol=TOLERANCE)


@pytest.mark.parametrize("strategy", STRATEGIES)
@pytest.mark.parametrize("name", of_kind("ForTokenClassification"))
def test_ner_agrees_with_transformers(load: Load, name: str, strategy: Any) -> None:
    wanted = golden()[name][strategy]
    assert len({entity["score"] for entities in wanted for entity in entities}) > 3
    assert_same(load(name).ner(TEXTS, aggregation_strategy=strategy), wanted)
    assert_same(load(name).ner(TEXTS[1], aggregation_strategy=strategy), wanted[1])


@pytest.mark.parametrize("name", of_kind("ForQuestionAnswering"))
def test_answer_agrees_with_transformers(load: Load, name: str) -> None:
    model, wanted = load(name), golden()[name]
    questions, contexts = tiny_tasks.QUESTIONS, tiny_tasks.CONTEXTS
    assert_same(model.answer(questions, contexts), wanted["best"])
    assert_same(model.answer(questions[0], contexts[0]), wanted["best"][0])
    several = model.answer(questions, contexts, top_k=4, max_answer_len=5)
    assert_same(several, wanted["several"])
    windows = model.answer(questions, contexts, top_k=3, max_seq_len=40, doc_stride=7)
    assert_same(windows, wanted["windows"])
    impossible = model.answer(questions, contexts, top_k=3, handle_impossible_answer=True)
    assert_same(impossible, wanted["impossible"])


@pytest.mark.parametrize("name", of_kind("ForMaskedLM"))
def test_fill_mask_agrees_with_transformers(load: Load, name: str) -> None:
    model, family, wanted = load(name), MODELS[name][0], golden()[name]
    texts = tiny_tasks.masked(family)
    assert_same(model.fill_mask(texts, top_k=4), wanted["filled"])
    assert_same(model.fill_mask(texts[0], targets=tiny_tasks.targets(family)), wanted["targets"])


# --- Batches ------------------------------------------------------------------------------------


def everything(model: fbg.Model, kind: str, texts: list[str], **options: Any) -> list[Any]:
    """The results of a task for texts, one for each."""
    if kind == "ForSequenceClassification":
        return list(model.classify(texts, top_k=None, **options))
    if kind == "ForTokenClassification":
        return list(model.ner(texts, "none", ignore_labels=(), **options))
    if kind == "ForQuestionAnswering":
        questions = ["who is it"] * len(texts)
        return list(model.answer(questions, texts, top_k=3, **options))
    return list(model.fill_mask([f"{text} [MASK]" for text in texts], **options))


@pytest.mark.parametrize("dtype", ["float32", "int8"])
@pytest.mark.parametrize("kind", HEADS)
def test_a_result_depends_on_its_own_text_alone(load: Load, kind: str, dtype: str) -> None:
    model = load(f"bert-{kind}", dtype)
    texts = [*TEXTS, "a b c d e f g h i j k l", *TEXTS, "b"]
    alone = [everything(model, kind, [text])[0] for text in texts]
    assert everything(model, kind, texts) == alone
    assert everything(model, kind, texts, batch_size=2) == alone
    before = fbg.get_num_threads()
    fbg.set_num_threads(3)
    try:
        assert everything(model, kind, texts, batch_size=5) == alone
    finally:
        fbg.set_num_threads(before)


@pytest.mark.parametrize("kind", HEADS)
def test_no_texts_give_no_results(load: Load, kind: str) -> None:
    assert everything(load(f"bert-{kind}"), kind, []) == []


def test_no_pairs_give_no_scores(load: Load) -> None:
    model = load("pairs")
    assert model.predict([]).shape == (0,)
    assert model.rerank("q", []) == []
    assert load("bert-ForSequenceClassification").predict([]).shape == (0, 3)


def test_other_sequences_of_text_will_do(load: Load) -> None:
    model = load("bert-ForSequenceClassification")
    wanted = model.classify(TEXTS)
    assert model.classify(tuple(TEXTS)) == wanted
    assert model.classify(np.array(TEXTS)) == wanted
    assert model.classify([list(pair) for pair in PAIRS]) == model.classify(PAIRS)
    assert model.classify([PAIRS[0], TEXTS[0]]) == [model.classify(PAIRS)[0], wanted[0]]


def test_long_texts_are_cut_and_empty_ones_are_texts(load: Load) -> None:
    model = load("bert-ForSequenceClassification")
    long = " ".join("a" for _ in range(1000))
    assert model.classify(long) == model.classify(" ".join("a" for _ in range(62)))
    # Of a pair the longer text is cut; 3 special tokens.
    cut = ("b", " ".join("a" for _ in range(60)))
    assert model.classify([("b", long)]) == model.classify([cut])
    assert model.classify("")[0].keys() == {"label", "score"}
    assert load("bert-ForTokenClassification").ner("") == []


@pytest.mark.parametrize("kind", HEADS)
def test_int8_quantizes_the_encoder_and_leaves_the_head(load: Load, kind: str) -> None:
    model, exact = load(f"roberta-{kind}", "int8"), load(f"roberta-{kind}")
    head, its = model._transformer.head, exact._transformer.head
    assert head is not None and its is not None
    for part, other in ((head.dense, its.dense), (head.output, its.output)):
        if part is not None and other is not None:
            np.testing.assert_array_equal(part.weight.block, other.weight.block)
    assert model._transformer.layers[0].qkv.weight.shape == (32, 96)
    assert model.dtype == "int8"


# --- What is asked for --------------------------------------------------------------------------


def test_top_k_and_threshold_choose_labels(load: Load) -> None:
    model = load("many-labels")
    every = model.classify(TEXTS[1], top_k=None)
    assert len(every) == 4
    assert model.classify(TEXTS[1], top_k=2) == every[:2]
    assert model.classify(TEXTS[1], top_k=9) == every
    middle = every[1]["score"]
    assert model.classify(TEXTS[1], top_k=None, threshold=middle) == every[:2]
    assert model.classify(TEXTS[1], threshold=2) == []


def test_scores_are_what_the_function_makes_of_logits(load: Load) -> None:
    model = load("bert-ForSequenceClassification")

    def scores(function: Any) -> np.ndarray:
        found: Any = model.classify(TEXTS[0], top_k=None, function_to_apply=function)
        by_label = {entry["label"]: entry["score"] for entry in found}
        return np.array([by_label[label] for label in tiny_tasks.LABELS.values()])

    logits = scores("none")
    np.testing.assert_allclose(scores("sigmoid"), 1 / (1 + np.exp(-logits)), atol=1e-12)
    powers = np.exp(logits)
    np.testing.assert_allclose(scores("softmax"), powers / powers.sum(), atol=1e-12)
    assert model.classify(TEXTS[0]) == model.classify(TEXTS[0], function_to_apply="softmax")


def test_predict_gives_the_shape_of_cross_encoders(load: Load) -> None:
    model, pairs = load("bert-ForSequenceClassification"), list(PAIRS)
    logits = model.predict(pairs)
    assert logits.shape == (2, 3)
    assert logits.dtype == np.float32
    np.testing.assert_array_equal(model.predict(pairs[0]), logits[0])
    np.testing.assert_allclose(model.predict(pairs, apply_softmax=True).sum(axis=1), 1, atol=1e-6)
    single = load("pairs")
    assert np.shape(single.predict(pairs[0])) == ()
    raw = single.predict(pairs, activation_fn="none")
    np.testing.assert_allclose(single.predict(pairs), 1 / (1 + np.exp(-raw)), atol=1e-6)


@pytest.mark.parametrize(
    "setting",
    [
        {"sbert_ce_default_activation_function": "torch.nn.modules.linear.Identity"},
        {"sentence_transformers": {"activation_fn": "torch.nn.modules.linear.Identity"}},
    ],
)
def test_a_cross_encoder_may_name_its_activation(
    load: Load, tmp_path: Path, setting: dict[str, Any]
) -> None:
    change_config(write_model(tmp_path, "pairs"), **setting)
    pairs = list(PAIRS)
    raw = load("pairs").predict(pairs, activation_fn="none")
    np.testing.assert_array_equal(fbg.load(tmp_path).predict(pairs), raw)


def test_a_context_of_any_length_is_read_in_windows(load: Load) -> None:
    model = load("bert-ForQuestionAnswering")
    context = "a b c d, e f g. " * 200
    found: Any = model.answer("who", context)
    assert context[found["start"] : found["end"]] == found["answer"] != ""


def test_ignored_labels_are_left_out(load: Load) -> None:
    model = load("roberta-ForTokenClassification")
    tokens: Any = model.ner(TEXTS[1], "none", ignore_labels=())
    assert [token["index"] for token in tokens] == list(range(1, len(tokens) + 1))
    labels = {token["entity"] for token in tokens}
    assert len(labels) > 1
    for label in labels:
        rest: Any = model.ner(TEXTS[1], "none", ignore_labels=[label])
        assert rest == [token for token in tokens if token["entity"] != label]


# --- Errors -------------------------------------------------------------------------------------


SEQUENCE, TOKENS = "bert-ForSequenceClassification", "bert-ForTokenClassification"
ANSWERS, MASKED = "bert-ForQuestionAnswering", "bert-ForMaskedLM"


@pytest.mark.parametrize(
    ("name", "call", "error", "message"),
    [
        (SEQUENCE, lambda m: m.classify(3), TypeError, "classify: texts must be"),
        (SEQUENCE, lambda m: m.classify(b"x"), TypeError, "classify: texts must be"),
        (SEQUENCE, lambda m: m.classify({"text": "a"}), TypeError, "texts must be .*, got dict"),
        (SEQUENCE, lambda m: m.classify(["a", None]), TypeError, r"classify: texts\[1\] must be"),
        (SEQUENCE, lambda m: m.classify([("a", "b", "c")]), TypeError, r"texts\[0\] must be"),
        (SEQUENCE, lambda m: m.classify("a", top_k=0), ValueError, "classify: top_k must be"),
        (SEQUENCE, lambda m: m.classify("a", top_k=1.5), TypeError, "classify: top_k must be"),
        (SEQUENCE, lambda m: m.classify("a", batch_size=0), ValueError, "classify: batch_size"),
        (
            SEQUENCE,
            lambda m: m.classify("a", function_to_apply="relu"),
            ValueError,
            "function_to_apply must be one of softmax, sigmoid, none, got 'relu'",
        ),
        (SEQUENCE, lambda m: m.classify(["a", "\ud800"]), ValueError, r"texts\[1\] is not valid"),
        (SEQUENCE, lambda m: m.classify([("a", "\ud800")]), ValueError, r"texts\[0\] is not val"),
        (SEQUENCE, lambda m: m.rerank("q", ["d"]), ValueError, "one label, got 3"),
        (SEQUENCE, lambda m: m.predict(["a", "b", "c"]), TypeError, r"inputs\[0\] must be a pair"),
        ("pairs", lambda m: m.predict("ab"), TypeError, "predict: inputs"),
        ("pairs", lambda m: m.rerank(1, ["d"]), TypeError, "rerank: query must be a str"),
        ("pairs", lambda m: m.rerank("q", "d"), TypeError, "rerank: documents must be"),
        ("pairs", lambda m: m.rerank("q", [1]), TypeError, r"rerank: documents\[0\] must be"),
        (TOKENS, lambda m: m.ner("a", "best"), ValueError, "aggregation_strategy must be one of"),
        (TOKENS, lambda m: m.ner([1]), TypeError, r"ner: texts\[0\] must be"),
        (TOKENS, lambda m: m.ner("\ud800"), ValueError, r"ner: texts\[0\] is not valid Unicode"),
        (ANSWERS, lambda m: m.answer("", "c"), ValueError, "question must not be empty"),
        (ANSWERS, lambda m: m.answer("q", " "), ValueError, "context must not be empty"),
        (ANSWERS, lambda m: m.answer("q", "\x00"), ValueError, "context must have tokens"),
        (ANSWERS, lambda m: m.answer(["q"], ["c", "d"]), ValueError, "as many as question"),
        (ANSWERS, lambda m: m.answer("q " * 90, "c"), ValueError, "leave a place"),
        (ANSWERS, lambda m: m.answer("q", "c " * 90, doc_stride=60), ValueError, "doc_stride"),
        (ANSWERS, lambda m: m.answer("q", "c", max_answer_len=0), ValueError, "max_answer_len"),
        (MASKED, lambda m: m.fill_mask("a"), ValueError, r"texts\[0\] must have a mask token"),
        (MASKED, lambda m: m.fill_mask("[MASK]", targets=["zz"]), ValueError, r"targets\[0\]"),
        (MASKED, lambda m: m.fill_mask("[MASK]", targets=[]), ValueError, "at least one"),
    ],
)
def test_a_wrong_argument_is_named(
    load: Load,
    name: str,
    call: Callable[[Any], object],
    error: type[Exception],
    message: str,
) -> None:
    with pytest.raises(error, match=message):
        call(load(name))


TASKS: dict[str, Callable[[Any], object]] = {
    "classify": lambda m: m.classify("a"),
    "predict": lambda m: m.predict([("a", "b")]),
    "rerank": lambda m: m.rerank("a", ["b"]),
    "ner": lambda m: m.ner("a"),
    "answer": lambda m: m.answer("a", "b"),
    "fill_mask": lambda m: m.fill_mask("[MASK]"),
}


@pytest.mark.parametrize("task", TASKS)
def test_a_model_without_the_head_says_what_it_has(load: Load, tmp_path: Path, task: str) -> None:
    encoder = fbg.load(tiny_bert.write_checkpoint(tmp_path))
    got = r"config\.json: architectures must name .* got BertModel; this model has: encode$"
    with pytest.raises(fbg.ModelError, match=f"{task}: .*{got}"):
        TASKS[task](encoder)
    other = TOKENS if task != "ner" else MASKED
    with pytest.raises(fbg.ModelError, match=f"{task}: .*this model has: encode, (ner|fill_mask)"):
        TASKS[task](load(other))


def change_config(directory: Path, **changes: Any) -> None:
    path = directory / "config.json"
    config = {**json.loads(path.read_text()), **changes}
    path.write_text(json.dumps({key: value for key, value in config.items() if value is not None}))


def change_tensors(directory: Path, change: Callable[[dict[str, Any]], object]) -> None:
    path = directory / "model.safetensors"
    tensors = load_file(path)
    change(tensors)
    save_file(tensors, path)


@pytest.mark.parametrize("name", [SEQUENCE, "roberta-ForMaskedLM"])
def test_a_checkpoint_without_its_head_is_an_encoder(tmp_path: Path, name: str) -> None:
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
def test_a_missing_tensor_of_a_head_is_named(tmp_path: Path, name: str, missing: str) -> None:
    directory = write_model(tmp_path, name)
    change_tensors(directory, lambda t: t.pop(missing))
    with pytest.raises(fbg.ModelError, match=f"tensor {missing} is missing"):
        fbg.load(directory)


def test_a_head_on_a_pooler_needs_it(tmp_path: Path) -> None:
    directory = write_model(tmp_path, SEQUENCE)
    change_tensors(directory, lambda t: t.pop("bert.pooler.dense.weight"))
    with pytest.raises(fbg.ModelError, match=r"classifier\.weight follows a pooler, which is mis"):
        fbg.load(directory)


def test_values_that_are_not_finite_are_refused(tmp_path: Path) -> None:
    directory = write_model(tmp_path, SEQUENCE)
    change_tensors(directory, lambda t: t["classifier.weight"].fill(np.nan))
    with pytest.raises(fbg.ModelError, match=r"tensor classifier\.weight holds NaN"):
        fbg.load(directory)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"id2label": {"0": "a", "1": "b"}}, r"tensor classifier\.weight must have shape \(2, 39"),
        ({"id2label": None, "num_labels": 5}, r"classifier\.weight must have shape \(5, 39"),
        ({"num_labels": 5}, r"config\.json: num_labels must be the number of labels in id2label"),
        ({"id2label": None, "num_labels": 2**50}, r"config\.json: num_labels must be at most"),
        ({"id2label": {"0": "a", "2": "b"}}, r"config\.json: id2label must be a map with a label"),
        ({"id2label": {"0": 1}}, r"config\.json: id2label must be a map to text"),
        ({"id2label": ["a"]}, r"config\.json: id2label must be an object"),
        ({"problem_type": "ranking"}, r"config\.json: problem_type must be one of"),
        ({"classifier_activation": "silu"}, r"config\.json: classifier_activation must be one of"),
        ({"architectures": "Bert"}, r"config\.json: architectures must be a list"),
        ({"tie_word_embeddings": 1}, r"config\.json: tie_word_embeddings must be true or false"),
        (
            {"sbert_ce_default_activation_function": "torch.nn.ReLU"},
            r"sbert_ce_default_activation_function must be an activation among",
        ),
    ],
)
def test_a_wrong_setting_of_a_head_is_named(
    tmp_path: Path, changes: dict[str, Any], message: str
) -> None:
    directory = write_model(tmp_path, SEQUENCE)
    change_config(directory, **changes)
    with pytest.raises(fbg.ModelError, match=message):
        fbg.load(directory)


def test_labels_without_names_have_numbers(tmp_path: Path) -> None:
    change_config(write_model(tmp_path, SEQUENCE), id2label=None, label2id=None)
    found: Any = fbg.load(tmp_path).classify(TEXTS[0], top_k=None)
    assert {entry["label"] for entry in found} == {"LABEL_0", "LABEL_1", "LABEL_2"}


def test_a_shape_of_endless_empty_rows_is_refused(tmp_path: Path) -> None:
    directory = write_model(tmp_path, SEQUENCE)
    change_config(directory, id2label=None, label2id=None)
    file = directory / "model.safetensors"
    tensors = load_file(file)
    tensors["classifier.bias"] = np.zeros((2**50, 0), np.float32)
    save_file(tensors, file)
    with pytest.raises(fbg.ModelError, match=r"tensor classifier\.weight must have shape"):
        fbg.load(directory)


def test_a_decoder_that_is_not_tied_is_read(load: Load, tmp_path: Path) -> None:
    directory = write_model(tmp_path, MASKED)
    change_config(directory, tie_word_embeddings=False)
    decoder = "cls.predictions.decoder.weight"
    with pytest.raises(fbg.ModelError, match=f"tensor {decoder} is missing"):
        fbg.load(directory)
    table = "bert.embeddings.word_embeddings.weight"
    change_tensors(directory, lambda t: t.update({decoder: t[table].copy()}))
    same = fbg.load(directory)
    assert same.fill_mask("a [MASK]") == load(MASKED).fill_mask("a [MASK]")
    change_tensors(directory, lambda t: t.update({decoder: -t[table]}))
    other = fbg.load(directory)
    assert other.fill_mask("a [MASK]") != same.fill_mask("a [MASK]")
    other.save(tmp_path / "saved")
    assert fbg.load(tmp_path / "saved").fill_mask("a [MASK]") == other.fill_mask("a [MASK]")


# --- Saved models -------------------------------------------------------------------------------


def test_a_saved_model_has_its_head(load: Load, tmp_path: Path) -> None:
    for kind in HEADS:
        for family in ("bert", "roberta", "albert"):
            model = load(f"{family}-{kind}", "int8")
            model.save(tmp_path / f"{family}{kind}")
            before = fbg.pack_count()
            saved = fbg.load(tmp_path / f"{family}{kind}")
            assert fbg.pack_count() == before
            mask = f" {tiny_tasks.mask_token(family)}"
            texts = [text + mask for text in TEXTS] if kind == "ForMaskedLM" else TEXTS
            task: Any = {
                "ForSequenceClassification": lambda m, t: m.classify(t),
                "ForTokenClassification": lambda m, t: m.ner(t),
                "ForQuestionAnswering": lambda m, t: m.answer(t, t),
                "ForMaskedLM": lambda m, t: m.fill_mask(t),
            }[kind]
            assert task(saved, texts) == task(model, texts)


def test_a_model_saved_before_there_were_heads_loads(load: Load, tmp_path: Path) -> None:
    """Version 1 of the format: no tensors of a head, whatever config.json names."""
    path = tmp_path / "saved"
    fbg.load(tiny_bert.write_checkpoint(tmp_path / "model")).save(path)
    change_config(path, architectures=["BertForMaskedLM"])
    file = path / "fbg.safetensors"
    content = file.read_bytes()
    assert content.count(b'"version": "2"') == 1
    file.write_bytes(content.replace(b'"version": "2"', b'"version": "1"'))
    model = fbg.load(path)
    model.encode("a")
    with pytest.raises(fbg.ModelError, match="has no tensors of that head"):
        model.fill_mask("[MASK]")
