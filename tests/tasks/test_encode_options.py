"""What sentence-transformers put around an encoder: pooling, Dense modules, prompts, lengths."""

import numpy as np
import pytest
from safetensors.numpy import load_file, save_file

import fbg
from helpers import tiny_bert
from helpers.tiny_bert import write_modules
from helpers.torch_files import write_torch_file

TEXTS = ["a", "the quick brown fox", "0123 abc def, klm! nop?", "one two three four five six"]
WIDTH = tiny_bert.AWKWARD.hidden_size


def hidden_states(model, text):
    ids = tiny_bert.wordpiece(99).encode(text).ids
    return model.forward([ids]).last_hidden_state[0].astype(np.float64)


def write(path, **options):
    return tiny_bert.write_checkpoint(path, seed=3, spread=0.25, **options)


def write_dense(folder, inputs, outputs, activation, bias=True):
    """A Dense module as sentence-transformers save it; returns its weight and bias."""
    rng = np.random.PCG64(outputs)
    weight = tiny_bert.near_normal(rng, (outputs, inputs), 0.3)
    shift = tiny_bert.near_normal(rng, (outputs,), 0.3)
    config = {"in_features": inputs, "out_features": outputs, "bias": bias}
    if activation is not None:
        config["activation_function"] = activation
    tiny_bert.write_json(folder / "config.json", config)
    tensors = {"linear.weight": weight} | ({"linear.bias": shift} if bias else {})
    save_file(tensors, folder / "model.safetensors")
    return weight, shift * bias


POOLINGS = {
    "cls": ("pooling_mode_cls_token", lambda x: x[0]),
    "lasttoken": ("pooling_mode_lasttoken", lambda x: x[-1]),
    "mean": ("pooling_mode_mean_tokens", lambda x: x.mean(axis=0)),
    "max": ("pooling_mode_max_tokens", lambda x: x.max(axis=0)),
    "mean_sqrt_len_tokens": (
        "pooling_mode_mean_sqrt_len_tokens",
        lambda x: x.sum(axis=0) / np.sqrt(len(x)),
    ),
    "weightedmean": (
        "pooling_mode_weightedmean_tokens",
        lambda x: np.average(x, axis=0, weights=np.arange(1, len(x) + 1)),
    ),
}


@pytest.mark.parametrize("form", ["flag", "name"])
@pytest.mark.parametrize("pooling", sorted(POOLINGS))
def test_every_pooling_of_sentence_transformers(tmp_path, pooling, form):
    key, formula = POOLINGS[pooling]
    path = write(tmp_path, normalize=False)
    config = {key: True} if form == "flag" else {"pooling_mode": pooling}
    tiny_bert.write_json(path / "1_Pooling" / "config.json", config)
    model = fbg.load(path)
    rows = model.encode(TEXTS)
    for text, row in zip(TEXTS, rows, strict=True):
        np.testing.assert_allclose(row, formula(hidden_states(model, text)), rtol=0, atol=2e-5)
        assert np.array_equal(model.encode(text), row)


ACTIVATIONS = {
    None: np.tanh,
    "torch.nn.modules.activation.Tanh": np.tanh,
    "torch.nn.modules.linear.Identity": lambda x: x,
    "torch.nn.modules.activation.ReLU": lambda x: np.maximum(x, 0),
}


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("activation", ACTIVATIONS, ids=str)
def test_dense_modules_follow_the_pooling(tmp_path, activation, bias):
    path = write(tmp_path / "model")
    write_modules(
        path,
        ("Transformer", ""),
        ("Pooling", "1_Pooling"),
        ("Dropout", "2_Dropout"),
        ("Dense", "3_Dense"),
        ("Dense", "4_Dense"),
        ("Normalize", "5_Normalize"),
    )
    first, second = (
        write_dense(path / "3_Dense", WIDTH, 70, activation, bias),
        write_dense(path / "4_Dense", 70, 21, "torch.nn.modules.linear.Identity"),
    )
    model = fbg.load(path)
    assert model.embedding_dimension == 21
    assert model.encode([]).shape == (0, 21)
    rows = model.encode(TEXTS)
    for text, row in zip(TEXTS, rows, strict=True):
        x = hidden_states(model, text).mean(axis=0)
        x = ACTIVATIONS[activation](x @ first[0].T + first[1]) @ second[0].T + second[1]
        np.testing.assert_allclose(row, x / np.linalg.norm(x), rtol=0, atol=1e-5)
        assert np.array_equal(model.encode(text), row)

    model.save(tmp_path / "saved")
    assert np.array_equal(fbg.load(tmp_path / "saved").encode(TEXTS), rows)
    int8 = fbg.load(path, dtype="int8")
    int8.save(tmp_path / "int8")
    assert np.array_equal(fbg.load(tmp_path / "int8").encode(TEXTS), int8.encode(TEXTS))


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"in_features": WIDTH + 1}, f"in_features must be {WIDTH}"),
        ({"out_features": 0}, "out_features must be an integer"),
        ({"out_features": 8}, r"linear.weight must have shape \(8, 48\)"),
        (
            {"activation_function": "os.system"},
            "activation_function must be one of these classes of torch.nn",
        ),
        (
            {"activation_function": 3},
            "activation_function must be one of these classes of torch.nn",
        ),
        ({"bias": 1}, "bias must be true or false"),
        ({"module_input_name": "token_embeddings"}, "module_input_name must be one of"),
    ],
)
def test_a_damaged_dense_module_is_named(tmp_path, changes, named):
    path = write(tmp_path)
    write_modules(path, ("Transformer", ""), ("Dense", "2_Dense"))
    write_dense(path / "2_Dense", WIDTH, 7, None)
    tiny_bert.change_json(path / "2_Dense" / "config.json", **changes)
    with pytest.raises(fbg.ModelError, match=f"2_Dense.*{named}"):
        fbg.load(path)


def test_a_pickled_dense_module_is_the_same(tmp_path):
    path = write(tmp_path / "model")
    write_modules(path, ("Transformer", ""), ("Pooling", "1_Pooling"), ("Dense", "2_Dense"))
    write_dense(path / "2_Dense", WIDTH, 7, None)
    expected = fbg.load(path).encode(TEXTS)
    weights = path / "2_Dense" / "model.safetensors"
    write_torch_file(weights.with_name("pytorch_model.bin"), load_file(weights))
    weights.unlink()
    model = fbg.load(path)
    np.testing.assert_array_equal(model.encode(TEXTS), expected)
    model.save(tmp_path / "saved")
    np.testing.assert_array_equal(fbg.load(tmp_path / "saved").encode(TEXTS), expected)


@pytest.mark.parametrize(
    "kinds",
    [
        ("Transformer", "Normalize", "Pooling"),
        ("Transformer", "Pooling", "Pooling"),
        ("Transformer", "Pooling", "Normalize", "Dense"),
        ("Transformer", "LSTM"),
    ],
)
def test_modules_that_are_not_supported_are_named(tmp_path, kinds):
    path = write(tmp_path)
    write_modules(path, *((kind, "1_Pooling") for kind in kinds))
    with pytest.raises(fbg.ModelError, match=rf"modules\.json.*{kinds[-1]}"):
        fbg.load(path)


def test_dimensions_can_be_cut_off(tmp_path):
    plain, unit = (
        fbg.load(write(tmp_path / str(normalize), normalize=normalize))
        for normalize in (False, True)
    )
    raw, whole = plain.encode(TEXTS), unit.encode(TEXTS)
    assert np.array_equal(plain.encode(TEXTS, truncate_dim=11), raw[:, :11])
    # As sentence-transformers: the Normalize module comes before the cut, the argument after it.
    assert np.array_equal(unit.encode(TEXTS, truncate_dim=11), whole[:, :11])
    wanted = raw[:, :11] / np.linalg.norm(raw[:, :11], axis=1, keepdims=True)
    for model in (plain, unit):
        rows = model.encode(TEXTS, truncate_dim=11, normalize_embeddings=True)
        np.testing.assert_allclose(rows, wanted, rtol=0, atol=1e-6)
        for text, row in zip(TEXTS, rows, strict=True):
            alone = model.encode(text, truncate_dim=11, normalize_embeddings=True)
            assert np.array_equal(alone, row)
    assert np.array_equal(unit.encode(TEXTS, truncate_dim=WIDTH), whole)
    rows = unit.encode(TEXTS, truncate_dim=11, normalize_embeddings=False)
    assert np.array_equal(rows, raw[:, :11])


def test_saved_dimensions_are_those_of_calls_that_name_none(tmp_path):
    """sentence-transformers write truncate_dim, and take it unless a call names another."""
    path = write(tmp_path)
    whole = fbg.load(path).encode(TEXTS)
    for saved, kept in ((11, 11), (WIDTH, WIDTH), (10 * WIDTH, WIDTH)):
        tiny_bert.write_json(path / "config_sentence_transformers.json", {"truncate_dim": saved})
        model = fbg.load(path)
        assert model.embedding_dimension == kept
        assert np.array_equal(model.encode(TEXTS), whole[:, :kept])
        assert np.array_equal(model.encode(TEXTS, truncate_dim=WIDTH), whole)
        assert np.array_equal(model.encode(TEXTS[0], truncate_dim=3), whole[0, :3])


def test_prompts_come_before_texts(tmp_path):
    path = write(tmp_path / "model")
    config = {"prompts": {"query": "find: ", "none": ""}, "default_prompt_name": None}
    tiny_bert.write_json(path / "config_sentence_transformers.json", config)
    model = fbg.load(path)
    assert dict(model.prompts) == config["prompts"]
    wanted = model.encode([f"find: {text}" for text in TEXTS])
    assert np.array_equal(model.encode(TEXTS, prompt="find: "), wanted)
    assert np.array_equal(model.encode(TEXTS, prompt_name="query"), wanted)
    assert np.array_equal(model.encode(TEXTS, prompt="", prompt_name="query"), model.encode(TEXTS))

    config["default_prompt_name"] = "query"
    tiny_bert.write_json(path / "config_sentence_transformers.json", config)
    model = fbg.load(path)
    model.save(tmp_path / "saved")
    for loaded in (model, fbg.load(tmp_path / "saved")):
        assert np.array_equal(loaded.encode(TEXTS), wanted)
        assert not np.array_equal(loaded.encode(TEXTS, prompt_name="none"), wanted)


@pytest.mark.parametrize(
    "config",
    [{"prompts": {"a": 1}}, {"prompts": ["a"]}, {"default_prompt_name": "absent"}],
    ids=str,
)
def test_damaged_prompts_are_named(tmp_path, config):
    path = write(tmp_path)
    tiny_bert.write_json(path / "config_sentence_transformers.json", config)
    key = next(iter(config))
    with pytest.raises(fbg.ModelError, match=rf"config_sentence_transformers\.json.*{key}"):
        fbg.load(path)


LONG = "a " * 500


def test_a_cut_text_is_said_once_and_can_be_an_error(tmp_path):
    model = fbg.load(write(tmp_path))
    texts = ["a", LONG, "b", LONG]
    with pytest.warns(
        UserWarning, match=r"sentences\[1\] has 502 tokens and was truncated to the 40"
    ):
        rows = model.encode(texts)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("warnings.warn", lambda *args, **options: pytest.fail("said twice"))
        assert np.array_equal(model.encode(texts), rows)
    with pytest.raises(
        ValueError, match=r"sentences\[1\] has 502 tokens, but the model takes at most 40"
    ):
        model.encode(texts, truncation=False)
    assert np.array_equal(model.encode(texts[::2], truncation=False), rows[::2])


@pytest.mark.parametrize(
    ("files", "wanted"),
    [
        ({"tokenizer_config.json": {"model_max_length": 30}}, 30),
        ({"tokenizer_config.json": {"model_max_length": 1e30}}, 40),
        ({"tokenizer_config.json": {"model_max_length": 10**30}}, 40),
        ({"tokenizer_config.json": {"model_max_length": None}}, 40),
        (
            {
                "tokenizer_config.json": {"model_max_length": 30},
                "sentence_bert_config.json": {"max_seq_length": 35},
            },
            35,
        ),
        (
            {
                "tokenizer_config.json": {"model_max_length": 30},
                "sentence_bert_config.json": {"do_lower_case": False},
            },
            30,
        ),
        ({"tokenizer_config.json": {"model_max_length": "long"}}, None),
        ({"tokenizer_config.json": {"model_max_length": 0}}, None),
    ],
)
def test_the_length_at_which_texts_are_cut(tmp_path, files, wanted):
    path = write(tmp_path / "model")
    (path / "sentence_bert_config.json").unlink()
    for name, value in files.items():
        tiny_bert.write_json(path / name, value)
    if wanted is None:
        with pytest.raises(fbg.ModelError, match=r"tokenizer_config\.json: model_max_length"):
            fbg.load(path)
        return
    model = fbg.load(path)
    model.save(tmp_path / "saved")
    for loaded in (model, fbg.load(tmp_path / "saved")):
        assert loaded.max_length == wanted
        assert loaded.token_counts([LONG]) == [wanted]


@pytest.mark.parametrize(
    ("arguments", "error", "message"),
    [
        ({"truncate_dim": 0}, ValueError, "truncate_dim must be within"),
        ({"truncate_dim": WIDTH + 1}, ValueError, "truncate_dim must be within"),
        ({"truncate_dim": "8"}, TypeError, "truncate_dim must be an integer"),
        ({"prompt": 3}, TypeError, "prompt must be a str or None, got int"),
        ({"prompt_name": "absent"}, ValueError, r"prompt_name .* \(none\), got 'absent'"),
        ({"truncation": 0}, TypeError, "truncation must be True or False, got 0"),
    ],
)
def test_bad_options_are_named(tmp_path, arguments, error, message):
    model = fbg.load(write(tmp_path))
    for function in (model.encode, model.encode_stream):
        with pytest.raises(error, match=f"encode: {message}"):
            function(["a"], **arguments)
