"""SentenceTransformer and CrossEncoder take what the originals take, and refuse what they refuse.

tests/data/drop_ins.npz has what the originals returned, and the arguments of all their methods
(scripts/golden.py). Without torch, tensors are arrays; similarities of arrays always are.
"""

import importlib.util
import inspect
import json
import sys

import numpy as np
import pytest

import fbg
from fbg.integrations import Embedder, vectors
from fbg.integrations.fastembed import TextEmbedding
from fbg.integrations.prompted import encode_prompted
from helpers.drop_in_calls import CALLS, PAIRS, TEXTS, numbers, outcome
from helpers.drop_ins import write_prompted
from helpers.minilm import arrays
from helpers.tiny_bert import change_json
from helpers.tiny_tasks import write_model

GOLDEN = arrays("drop_ins")
OUTCOMES = json.loads(str(GOLDEN["outcomes"]))
SIGNATURES = json.loads(str(GOLDEN["signatures"]))
CLASSES = {"SentenceTransformer": fbg.SentenceTransformer, "CrossEncoder": fbg.CrossEncoder}
TORCH = importlib.util.find_spec("torch") is not None
# Ours refuse what the originals compute nonsense of: a str as a pair, and unknown arguments.
REFUSED = {("CrossEncoder", "pairs: text"), ("CrossEncoder", "predict: unknown")}
# The originals pad the tokens of a batch, ours do not.
UNPADDED = {"encode: everything", "encode: everything with a prompt"}
CLOSE_BYTES = {"encode: int8 tensor"}  # a value at the border of two steps
# Arguments that only their names make positional in the originals.
VARIADIC = {"args", "kwargs"}


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    place = tmp_path_factory.mktemp("drop")
    return {
        "SentenceTransformer": fbg.SentenceTransformer(write_prompted(place / "tiny")),
        "CrossEncoder": fbg.CrossEncoder(write_model(place / "pairs", "pairs")),
    }


def without_torch(described):
    """The outcome that a program without torch sees where arrays stand for tensors."""
    return json.loads(json.dumps(described).replace("tensor (", "array ("))


@pytest.mark.parametrize(("kind", "call"), [(k, c) for k in CALLS for c in CALLS[k]])
def test_a_call_has_the_outcome_of_the_original(kind, call, models):
    wanted = "refused" if (kind, call) in REFUSED else OUTCOMES[kind][call]
    try:
        got = json.loads(json.dumps(outcome(CALLS[kind][call], models[kind])))
    except ModuleNotFoundError as error:
        assert error.name == "torch" and not TORCH and "tensor" in json.dumps(wanted)
        return
    if call in UNPADDED:
        assert [each.keys() for each in got] == [each.keys() for each in wanted]
        return
    arrays_only = not TORCH or call.startswith(("similarity", "pairwise"))
    assert got == (without_torch(wanted) if arrays_only else wanted)
    if wanted == "refused":
        return
    values = numbers(CALLS[kind][call](models[kind]))
    golden = GOLDEN[f"{kind}/{call}"]
    assert values.shape == golden.shape
    if call in CLOSE_BYTES:
        assert np.abs(values - golden).max() <= 1
    elif golden.size:
        assert np.abs(values - golden).max() <= 1e-5 * max(1, np.abs(golden).max())


@pytest.mark.parametrize(("kind", "name"), [(k, n) for k in SIGNATURES for n in SIGNATURES[k]])
def test_every_argument_and_method_is_taken_or_refused_by_name(kind, name, models):
    model, wanted = models[kind], SIGNATURES[kind][name]
    if name in {"SUPPORTED_SIMILARITY_FN_NAMES", "default_huggingface_organization"}:
        return  # constants of the class
    if not hasattr(type(model), name) and not hasattr(model, name):
        with pytest.raises(AttributeError, match=f"'{kind}' object has no attribute '{name}': ."):
            getattr(model, name)
        return
    if wanted is None:
        return
    parameters = inspect.signature(getattr(type(model), name)).parameters
    takes_any = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values())
    for argument in set(wanted) - VARIADIC:
        if name == "encode_multi_process" and argument == "sentences":
            continue  # by place
        if name == "to" or takes_any:
            continue
        assert argument in parameters, f"{kind}.{name} lacks {argument}"
    places = [n for n in wanted if n in parameters and n not in VARIADIC]
    ours = [n for n in parameters if n in places]
    assert takes_any or ours == places


def test_options_of_the_constructors_are_taken_or_refused_by_name(tmp_path):
    directory = write_prompted(tmp_path / "m")
    taken = [
        {"model_kwargs": {"attn_implementation": "sdpa", "torch_dtype": "float32"}},
        {"model_kwargs": {"device_map": "cpu"}},
        {"processor_kwargs": {"padding_side": "left"}},
        {"tokenizer_kwargs": {"padding_side": "left"}},
        {"config_kwargs": {"hidden_size": 48, "attention_probs_dropout_prob": 0.3}},
        {"token": "a token", "trust_remote_code": True, "backend": "torch", "device": "cpu"},
    ]
    plain = fbg.SentenceTransformer(directory)
    for options in taken:
        model = fbg.SentenceTransformer(directory, **options)
        assert np.array_equal(model.encode(TEXTS), plain.encode(TEXTS))
    for argument, key, value in (
        ("model_kwargs", "file_name", "model_O2.onnx"),
        ("model_kwargs", "device_map", "cuda"),
        ("processor_kwargs", "do_lower_case", True),
        ("config_kwargs", "hidden_size", 49),
    ):
        with pytest.raises(ValueError, match=rf"{argument}\['{key}'\]"):
            fbg.SentenceTransformer(directory, **{argument: {key: value}})
    for argument, value in (("modules", [object()]), ("backend", "onnx"), ("truncate_dim", 0)):
        with pytest.raises(ValueError, match=argument):
            fbg.SentenceTransformer(directory, **{argument: value})
    with pytest.raises(TypeError, match="model_name_or_path must be a path or a hub id, got NoneT"):
        fbg.SentenceTransformer()
    short = fbg.SentenceTransformer(directory, processor_kwargs={"model_max_length": 7})
    assert short.max_seq_length == 7
    assert fbg.SentenceTransformer(directory, model_kwargs={"dtype": "bfloat16"}).model.dtype == (
        "bfloat16"
    )
    with pytest.raises(ValueError, match="Both `token` and `use_auth_token`"), pytest.warns():
        fbg.SentenceTransformer(directory, token="a", use_auth_token="b")


def test_options_of_cross_encoders_are_taken_or_refused_by_name(tmp_path):
    directory = write_model(tmp_path / "pairs", "pairs")
    plain = fbg.CrossEncoder(directory)
    for options in (
        {"num_labels": 1},
        {"config_kwargs": {"num_labels": 1}},
        {"classifier_dropout": 0.2},
        {"keep_in_fp32_modules": []},
        {"default_activation_function": "sigmoid"},
    ):
        model = fbg.CrossEncoder(directory, **options)
        assert np.array_equal(model.predict(PAIRS), plain.predict(PAIRS))
    with pytest.raises(ValueError, match="num_labels must be 1, as the model has, or None, got 3"):
        fbg.CrossEncoder(directory, num_labels=3)
    with pytest.raises(ValueError, match="activation_fn must be one of sigmoid, none"):
        fbg.CrossEncoder(directory, activation_fn="tanh")
    with pytest.raises(ValueError, match="keep_in_fp32_modules must be empty"):
        fbg.CrossEncoder(directory, keep_in_fp32_modules=["classifier"])
    with pytest.raises(TypeError, match="documents must be a sequence of str, got str"):
        plain.rank("the dog", "a cat")


def test_a_query_without_a_name_has_the_prompt_for_queries(models):
    model = models["SentenceTransformer"]
    wanted = model.encode(TEXTS, prompt="find: ")
    assert np.array_equal(model.encode_query(TEXTS, prompt_name=None), wanted)
    assert np.array_equal(model.encode_query(TEXTS, None), wanted)


def test_columns_and_keys_are_no_texts(models):
    class Frame(dict):
        columns = ("text",)

    model, pairs = models["SentenceTransformer"], models["CrossEncoder"]
    for wrong in (Frame(text=TEXTS), {"q1": "a dog", "q2": "a cat"}):
        for call in (
            model.encode,
            model.encode_query,
            model.encode_document,
            model.preprocess,
            pairs.predict,
            lambda x: pairs.rank("the dog", x),
        ):
            with pytest.raises(TypeError, match=r"must be a .*, got (Frame|dict)"):
                call(wrong)


def test_plug_ins_take_no_columns_keys_or_letters_for_texts(directory):
    class Frame:
        columns = ("text",)

        def __iter__(self):
            return iter(self.columns)

    model = fbg.load(directory)
    rows = encode_prompted(model, (text for text in TEXTS), ("document",))
    assert np.array_equal(rows, model.encode(TEXTS, prompt_name="document"))
    stream = TextEmbedding(str(directory))
    for wrong in (Frame(), {"q": "a dog"}):
        for call in (
            lambda x: encode_prompted(model, x, ("document",)),
            Embedder(directory)._encode,
            lambda x: [*stream.embed(x)],
        ):
            with pytest.raises(TypeError, match=r"got (Frame|dict): pass one of its"):
                call(wrong)
    with pytest.raises(TypeError, match="got str: pass a list that holds it"):
        encode_prompted(model, "a dog", ("document",))


def test_a_column_of_a_table_is_ranked_by_its_places(models):
    pandas = pytest.importorskip("pandas")
    column = pandas.Series(TEXTS, index=[7, 3])
    model = models["CrossEncoder"]
    got = model.rank("the dog", column, return_documents=True)
    assert got == model.rank("the dog", TEXTS, return_documents=True)
    model = models["SentenceTransformer"]
    assert np.array_equal(model.encode(column), model.encode(TEXTS))


@pytest.mark.parametrize("truncate_dim", [0, -1])
def test_no_dimensions_are_refused(truncate_dim, models):
    model = models["SentenceTransformer"]
    for call in (
        lambda: model.encode(TEXTS, truncate_dim=truncate_dim),
        lambda: setattr(model, "truncate_dim", truncate_dim),
    ):
        with pytest.raises(ValueError, match=r"truncate_dim must be within \[1, "):
            call()
    assert model.truncate_dim is None


@pytest.mark.parametrize("kept", [None, 4, 10**6])
def test_dimensions_that_a_model_names_can_be_taken_back(kept, tmp_path):
    directory = write_prompted(tmp_path / "m")
    whole = fbg.SentenceTransformer(directory).encode("a dog")
    change_json(directory / "config_sentence_transformers.json", truncate_dim=kept)
    model = fbg.SentenceTransformer(directory)
    assert np.array_equal(model.encode("a dog"), whole[:kept])
    assert model.get_embedding_dimension() == whole[:kept].size
    model.truncate_dim = None
    assert np.array_equal(model.encode("a dog"), whole)


def test_a_saved_model_keeps_what_was_set(tmp_path):
    directory = write_prompted(tmp_path / "m")
    prompts = {"query": "q: ", "document": "d: "}
    model = fbg.SentenceTransformer(
        directory, prompts=prompts, similarity_fn_name="euclidean", default_prompt_name="document"
    )
    model.max_seq_length, model.truncate_dim = 9, 16
    model.save_pretrained(tmp_path / "saved")
    again = fbg.SentenceTransformer(tmp_path / "saved")
    assert again.prompts == {**prompts, "passage": "text: "} == model.prompts
    assert again.default_prompt_name == "document" and again.similarity_fn_name == "euclidean"
    assert again.max_seq_length == 9 and again.truncate_dim == 16
    long = [" ".join(TEXTS * 3)]
    assert np.array_equal(again.encode_query(long), model.encode_query(long))
    again.save_pretrained(tmp_path / "saved")
    assert fbg.SentenceTransformer(tmp_path / "saved").prompts == again.prompts


def test_a_saved_cross_encoder_keeps_what_was_set(tmp_path):
    directory = write_model(tmp_path / "pairs", "pairs")
    model = fbg.CrossEncoder(directory, activation_fn="none", max_length=8, prompts={"a": "b: "})
    model.save_pretrained(tmp_path / "saved")
    again = fbg.CrossEncoder(tmp_path / "saved")
    assert again.max_length == 8 and again.prompts["a"] == "b: "
    assert np.array_equal(again.predict(PAIRS), model.predict(PAIRS))
    model.activation_fn = np.tanh
    with pytest.raises(ValueError, match="activation_fn must be one of Sigmoid, Identity"):
        model.save(tmp_path / "other")


@pytest.mark.parametrize("side", ["left", "right"])
def test_a_saved_model_cuts_texts_where_it_did(side, tmp_path):
    model = fbg.load(write_prompted(tmp_path / "m")).with_max_length(6).with_truncation_side(side)
    model.save(tmp_path / "saved")
    again = fbg.load(tmp_path / "saved")
    assert again.max_length == 6 and again.tokenizer.truncation_side == side
    assert np.array_equal(again.encode(TEXTS), model.encode(TEXTS))


def test_an_activation_may_be_any_function_of_tensors(models):
    torch = pytest.importorskip("torch")
    model = models["CrossEncoder"]
    logits = model.predict(PAIRS, activation_fn="none")
    assert np.array_equal(model.predict(PAIRS, activation_fn=torch.nn.Identity()), logits)
    got = model.predict(PAIRS, activation_fn=torch.nn.Tanh())
    assert got.dtype == np.float32 and np.allclose(got, np.tanh(logits), atol=1e-6)
    assert np.array_equal(
        model.predict(PAIRS, activation_fn=torch.nn.Sigmoid()), model.predict(PAIRS)
    )
    assert type(model.activation_fn) is torch.nn.Sigmoid
    assert model.device == torch.device("cpu") == model.device != torch.device("meta")
    assert torch.zeros(1, device=model.device).device == model.device


def test_nothing_needs_torch(models, monkeypatch):
    monkeypatch.setattr(vectors, "find_spec", lambda name: None)
    monkeypatch.setitem(sys.modules, "torch", None)
    model, pairs = models["SentenceTransformer"], models["CrossEncoder"]
    assert model.device == "cpu" and model.device.type == "cpu"
    assert isinstance(model.preprocess(TEXTS)["input_ids"], np.ndarray)
    assert pairs.get_default_activation_fn() == "sigmoid"
    with pytest.raises(ModuleNotFoundError, match="tensors need torch"):
        model.encode(TEXTS, convert_to_tensor=True)


def test_similarities_of_tensors_are_tensors(models):
    torch = pytest.importorskip("torch")
    model = models["SentenceTransformer"]
    rows = model.encode(TEXTS)
    for given in (torch.from_numpy(rows), list(torch.from_numpy(rows))):
        for method in (model.similarity, model.similarity_pairwise):
            got = method(given, rows)
            assert isinstance(got, torch.Tensor)
            assert np.allclose(got, method(rows, rows), atol=1e-6)


def test_evaluators_may_store_what_they_like(models, tmp_path):
    model = models["SentenceTransformer"]
    model.model_card_data.generate_widget_examples = False
    evaluator = object()
    model.model_card_data.set_evaluation_metrics(evaluator, {"score": 1.0})
    assert model.model_card_data.eval_results_dict[evaluator] == {"score": 1.0}
    assert model.config.hidden_size == 48 and model.model.name_or_path == model.model.name
    assert model.model_card_data.model_name is None is model.model_card_data.base_model
    assert model.evaluate(lambda m, path: (m, path), str(tmp_path / "a" / "b")) == (
        model,
        str(tmp_path / "a" / "b"),
    )
    assert (tmp_path / "a" / "b").is_dir()
