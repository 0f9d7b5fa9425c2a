"""GLiNER against its definition: entities of any labels; settings that are refused."""

import json
import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from safetensors.numpy import load_file, save_file

import fbg
from fbg.networks.gliner import GLINER, KNOWN
from fbg.tasks.gliner.spans import SpanScorer, WordScorer, best_spans, spans_of
from helpers.tiny_gliner import CONFIGS, LABELS, MARKER, TEXTS, tokenizer, write_model
from helpers.torch_files import write_torch_file


@pytest.fixture(scope="module", params=list(CONFIGS))
def directory(request, tmp_path_factory):
    return write_model(tmp_path_factory.mktemp(request.param) / request.param, request.param)


def mlp(x, weights, name):
    wide = np.maximum(x @ weights[f"{name}.0.weight"].T + weights[f"{name}.0.bias"], 0)
    return wide @ weights[f"{name}.3.weight"].T + weights[f"{name}.3.bias"]


def lstm(x, weights, name):
    def sigmoid(y):
        return 1 / (1 + np.exp(-y))

    size = weights[f"rnn.lstm.weight_hh_{name}"].shape[1]
    h, c, result = np.zeros(size), np.zeros(size), []
    for row in x:
        sums = weights[f"rnn.lstm.bias_ih_{name}"] + weights[f"rnn.lstm.bias_hh_{name}"]
        sums = sums + weights[f"rnn.lstm.weight_ih_{name}"] @ row
        sums = sums + weights[f"rnn.lstm.weight_hh_{name}"] @ h
        i, f, g, o = np.split(sums, 4)
        c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
        h = sigmoid(o) * np.tanh(c)
        result.append(h)
    return np.array(result)


@pytest.mark.parametrize("name", ["published", "bare", "deep"])
def test_scores_are_those_of_the_definition(tmp_path, name):
    """By the formulas of the paper, in float64: a vector for each span, and one for each label."""
    directory = write_model(tmp_path, name)
    config = json.loads((directory / GLINER).read_text())
    tensors = load_file(directory / "model.safetensors")
    weights = {name: tensor.astype(np.float64) for name, tensor in tensors.items()}
    states = np.random.default_rng(1).standard_normal((12, 36)).astype(np.float32)
    scorer = fbg.load(directory).context.span_scorer
    assert isinstance(scorer, SpanScorer)
    found = {span[1:]: span[0] for span in scorer.above(states[:3], states[3:], -1.0, 1)}
    x = states.astype(np.float64)
    if config["hidden_size"] != 36:
        projection = "token_rep_layer.projection"
        x = x @ weights[f"{projection}.weight"].T + weights[f"{projection}.bias"]
    labels, words = x[:3], x[3:]
    for n in range(config["num_rnn_layers"]):
        backwards = lstm(words[::-1], weights, f"l{n}_reverse")[::-1]
        words = np.concatenate([lstm(words, weights, f"l{n}"), backwards], axis=1)
    marker = "span_rep_layer.span_rep_layer"
    starts, ends = (mlp(words, weights, f"{marker}.project_{side}") for side in ("start", "end"))
    prompts = mlp(labels, weights, "prompt_rep_layer")
    count = 0
    for first in range(9):
        for last in range(first, min(first + config["max_width"], 9)):
            both = np.maximum(np.concatenate([starts[first], ends[last]]), 0)
            logits = prompts @ mlp(both, weights, f"{marker}.out_project")
            got = [found[first, last, label] for label in range(3)]
            np.testing.assert_allclose(got, 1 / (1 + np.exp(-logits)), rtol=0, atol=1e-5)
            count += 3
    assert count == len(found)


def test_scores_of_words_are_those_of_the_definition(tmp_path):
    """By the formulas of words.py, in float64, without an LSTM."""
    directory = write_model(tmp_path, "bert")
    tensors = load_file(directory / "model.safetensors")
    weights = {name: tensor.astype(np.float64) for name, tensor in tensors.items()}
    states = np.random.default_rng(1).standard_normal((400, 39)).astype(np.float32)
    scorer = fbg.load(directory).context.span_scorer
    assert isinstance(scorer, WordScorer)
    got = scorer.scores(states[:3], states[3:], 1)

    def layer(x, name):
        return x @ weights[f"scorer.{name}.weight"].T + weights[f"scorer.{name}.bias"]

    a, b = np.split(layer(states[3:], "proj_token"), 2, axis=1)
    c, d = np.split(layer(states[:3], "proj_label"), 2, axis=1)
    for label in range(3):
        both = np.concatenate([a, np.broadcast_to(c[label], a.shape), b * d[label]], axis=1)
        logits = layer(np.maximum(layer(both, "out_mlp.0"), 0), "out_mlp.3")
        np.testing.assert_allclose(got[:, label], 1 / (1 + np.exp(-logits)), rtol=0, atol=1e-5)


@given(arrays(np.float32, (7, 2, 3), elements=st.sampled_from([0.0, 0.25, 0.5, 0.75])))
def test_spans_of_words_are_all_that_can_be_chosen(scores):
    """All spans in the order of gliner, of which the same are chosen."""
    first, last, inside = np.moveaxis(scores, 2, 0)
    every = [
        (
            float(min(*inside[begin : end + 1, label], first[begin, label], last[end, label])),
            begin,
            end,
            label,
        )
        for begin in range(7)
        for label in range(2)
        if first[begin, label] > 0.3
        for end in range(begin, 7)
        if last[end, label] > 0.3 and inside[begin : end + 1, label].min() >= 0.3
    ]
    found = list(spans_of(scores, 0.3))
    assert set(found) <= set(every)
    assert best_spans(found) == best_spans(every)


async def test_scores_are_computed_beside_the_event_loop(directory, monkeypatch):
    model, threads = fbg.load(directory), set()
    scorer = type(model.context.span_scorer)
    above = scorer.above

    def noted(*given):
        threads.add(threading.current_thread())
        return above(*given)

    monkeypatch.setattr(scorer, "above", noted)
    async with fbg.AsyncModel(model) as tasks:
        found = await tasks.ner(TEXTS[:1], labels=LABELS)
    assert threads and threading.main_thread() not in threads
    assert found == model.ner(TEXTS[:1], labels=LABELS)


@pytest.mark.parametrize("dtype", ["bfloat16", "float16", "int8"])
def test_other_dtypes_find_nearly_the_same(directory, dtype):
    exact, model = fbg.load(directory), fbg.load(directory, dtype=dtype)
    scores = []
    for each in (exact, model):
        scorer, tokens = each.context.span_scorer, each.context.engines.tokens
        assert scorer is not None
        ids = np.arange(6, 40, dtype=np.int32)
        output = tokens.compute([ids], [None], 1, "ner")[0]
        if isinstance(scorer, WordScorer):
            scores.append(scorer.scores(output[:3], output[3:], 1).ravel().tolist())
        else:
            scores.append([span[0] for span in scorer.above(output[:3], output[3:], -1.0, 1)])
    assert np.abs(np.subtract(*scores)).mean() < (0.05 if dtype == "int8" else 0.01)
    assert scores[0] != scores[1]


def test_long_texts_are_cut(directory):
    model = fbg.load(directory)
    words = ["ab"] * 80
    cut = model.ner(" ".join(words[:60]), labels=LABELS, threshold=0.2)
    assert model.ner("", labels=LABELS, threshold=0.2) == []
    with pytest.warns(UserWarning, match="has more than 60 words and was truncated to the 60"):
        assert model.ner(" ".join(words), labels=LABELS, threshold=0.2) == cut
    with pytest.raises(ValueError, match=r"texts\[1\] has more than 60 words"):
        model.ner(["a", " ".join(words)], labels=LABELS, truncation=False)


def test_spans_do_not_overlap():
    found = [(0.9, 2, 4, 0), (0.95, 4, 5, 1), (0.8, 0, 1, 0), (0.7, 2, 3, 2), (0.95, 4, 4, 0)]
    assert best_spans(found) == [(0.8, 0, 1, 0), (0.7, 2, 3, 2), (0.95, 4, 5, 1)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"labels": None}, "labels must say what to find, got None"),
        ({"labels": []}, "labels must be texts that are not empty"),
        ({"labels": ["a", " "]}, "labels must be texts that are not empty"),
        ({"labels": ["a", "a"]}, "labels must differ"),
        ({"threshold": 1.5}, r"threshold must be within \[0, 1\], got 1.5"),
        ({"threshold": float("nan")}, r"threshold must be within \[0, 1\], got nan"),
        ({"stride": 3}, "stride must be None with GLiNER, got 3"),
        ({"aggregation_strategy": "none"}, "aggregation_strategy must be 'simple' with GLiNER"),
        ({"batch_size": 0}, "batch_size must be"),
        ({"labels": ["many words " * 2000]}, "labels leave no room for texts"),
    ],
)
@pytest.mark.filterwarnings("ignore:ner")
def test_a_wrong_argument_is_named(tmp_path, arguments, message):
    model = fbg.load(write_model(tmp_path, "bare"))
    with pytest.raises(ValueError, match=f"ner: {message}"):
        model.ner("a text", **{"labels": LABELS, **arguments})
    with pytest.raises(TypeError, match="ner: threshold must be a number, got str"):
        model.ner("a text", labels=LABELS, threshold="high")


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"span_mode": "token_level", "represent_spans": True}, "represent_spans"),
        ({"span_mode": "markerV1"}, "span_mode"),
        ({"labels_encoder": "BAAI/bge-small-en-v1.5"}, "labels_encoder"),
        ({"labels_decoder": "gpt2"}, "labels_decoder"),
        ({"relations_layer": "dot"}, "relations_layer"),
        ({"model_type": "gliner_bi_encoder_span"}, "model_type"),
        ({"model_type": "gliner_uni_encoder_span_relex"}, "model_type"),
        ({"subtoken_pooling": "mean"}, "subtoken_pooling"),
        ({"words_splitter_type": "spacy"}, "words_splitter_type"),
        ({"fuse_layers": True}, "fuse_layers"),
        ({"post_fusion_schema": "l2l"}, "post_fusion_schema"),
        ({"span_encoder_config": {"model_type": "rnn"}}, "span_encoder_config"),
        ({"precomputed_prompts_mode": True}, "precomputed_prompts_mode"),
        ({"hidden_size": 23}, "hidden_size"),
        ({"hidden_size": None}, "hidden_size"),
        ({"max_width": 0}, "max_width"),
        ({"max_width": 10**9}, "max_width"),
        ({"num_rnn_layers": 10**9}, "num_rnn_layers"),
        ({"num_rnn_layers": -1}, "num_rnn_layers"),
        ({"max_len": 0}, "max_len"),
        ({"ent_token": 3}, "ent_token"),
        ({"class_token_index": -2}, "class_token_index"),
        ({"vocab_size": 0}, "vocab_size"),
        ({"embed_ent_token": 1}, "embed_ent_token"),
        ({"model_type": "gliner_bi_encoder_token"}, "model_type"),
        ({"encoder_config": {"model_type": "llama"}}, "encoder_config.model_type"),
        ({"encoder_config": {"hidden_size": 0}}, "encoder_config.hidden_size"),
        ({"encoder_config": None, "model_name": "roberta-base"}, "model_name"),
    ],
)
def test_another_variant_is_refused(tmp_path, changes, key):
    with pytest.raises(fbg.ModelError, match=rf"gliner_config\.json: {key} must be"):
        fbg.load(write_model(tmp_path, "published", **changes))


@pytest.mark.parametrize(("name", "count"), [("published", 2 + 8 + 16), ("token", 2 + 8 + 8)])
def test_every_tensor_behind_the_encoder_is_checked(tmp_path, name, count):
    file = write_model(tmp_path, name) / "model.safetensors"
    tensors = load_file(file)
    own = [key for key in tensors if "bert_layer" not in key]
    assert len(own) == count
    for key in own:
        save_file({other: value for other, value in tensors.items() if other != key}, file)
        with pytest.raises(fbg.ModelError, match=rf"tensor {key} is missing"):
            fbg.load(tmp_path)
        save_file({**tensors, key: np.concatenate([tensors[key]] * 2)}, file)
        with pytest.raises(fbg.ModelError, match=rf"tensor {key} must have shape"):
            fbg.load(tmp_path)


def test_a_tokenizer_without_the_marker_is_named(tmp_path):
    model = fbg.load(write_model(tmp_path / "a", "bare", ent_token="<<LABEL>>"))
    with pytest.raises(fbg.ModelError, match=r"tokenizer\.json: must have the token <<LABEL>>"):
        model.ner("a", labels=["b"])
    model = fbg.load(write_model(tmp_path / "b", "published", class_token_index=7))
    with pytest.raises(fbg.ModelError, match=rf"<<ENT>> with the id 7, got {MARKER}"):
        model.ner("a", labels=["b"])


def test_a_pickled_checkpoint_is_read(tmp_path):
    plain, pickled = (write_model(tmp_path / name, "published") for name in ("a", "b"))
    tensors = load_file(pickled / "model.safetensors")
    (pickled / "model.safetensors").unlink()
    write_torch_file(pickled / "pytorch_model.bin", tensors)
    results = [fbg.load(path).ner(TEXTS, labels=LABELS) for path in (plain, pickled)]
    assert results[0] == results[1]


def test_encoders_that_are_only_named_are_known():
    small = KNOWN["microsoft/deberta-v3-small"]
    assert small["num_hidden_layers"] == 6 and small["intermediate_size"] == 3072


def test_other_models_take_no_labels(load):
    with pytest.raises(ValueError, match="ner: labels must be None: the model has labels of its"):
        load("bert-ForTokenClassification").ner("a", labels=["b"])


def test_other_tasks_say_what_the_model_has(tmp_path):
    model = fbg.load(write_model(tmp_path, "bare"))
    assert model.encode("a text").shape == (36,)
    with pytest.raises(fbg.ModelError, match=r"classify: .* this model has: encode, ner$"):
        model.classify("a")


def test_the_files_are_those_that_gliner_writes(tmp_path):
    config = json.loads((write_model(tmp_path, "published") / GLINER).read_text())
    assert config["encoder_config"]["model_type"] == "deberta-v2"
    assert tokenizer().token_to_id("<<ENT>>") == config["class_token_index"]


def test_labels_must_not_hold_the_marks_of_labels(tmp_path):
    model = fbg.load(write_model(tmp_path, "published"))
    with pytest.raises(ValueError, match="ner: labels must not hold '<<ENT>>', got 'a <<ENT>>"):
        model.ner("Ada lives", labels=["a <<ENT>> b", "place"])


def test_a_threshold_is_of_gliner_only(load):
    with pytest.raises(ValueError, match="ner: threshold must be None without labels"):
        load("bert-ForTokenClassification").ner("a", threshold=0.5)
