"""Sparse embeddings against SparseEncoder of sentence-transformers."""

import json

import numpy as np
import pytest
from safetensors.numpy import save_file

import fbg
from fbg.runtime.steps import compute
from fbg.tasks.engines import MASKS
from fbg.tasks.sparse import encode_sparse_steps
from helpers import tiny_bert, tiny_sparse, tiny_tasks
from helpers.minilm import arrays
from helpers.tiny_bert import change_json

NAME = "bert-ForMaskedLM"
TEXTS = tiny_tasks.TEXTS


def write(path, **pooling):
    tiny_tasks.write_model(path, NAME)
    module = "sentence_transformers.sparse_encoder.models"
    modules = [
        {"type": f"{module}.MLMTransformer", "path": ""},
        {"type": f"{module}.SpladePooling", "path": "1_SpladePooling"},
    ]
    tiny_bert.write_json(path / "modules.json", modules)
    tiny_bert.write_json(path / "1_SpladePooling" / "config.json", pooling)
    return path


@pytest.mark.parametrize("sums", [False, True])
@pytest.mark.parametrize("twice", [False, True])
def test_weights_are_those_of_sentence_transformers(tmp_path, sums, twice):
    options = {
        "pooling_strategy": "sum" if sums else "max",
        "activation_function": "log1p_relu" if twice else "relu",
    }
    model = fbg.load(write(tmp_path / "model", **options))
    golden = arrays("tiny_sparse")[
        f"{options['pooling_strategy']}-{options['activation_function']}"
    ]
    result = model.encode_sparse(TEXTS)
    np.testing.assert_allclose(result.to_dense(), golden, rtol=0, atol=1e-4)
    assert 0 < result.indices.size < result.shape[0] * result.shape[1]
    assert (result.data > 0).all()
    assert (np.diff(result.indices[: result.indptr[1]]) > 0).all()
    model.save(tmp_path / "saved")
    again = fbg.load(tmp_path / "saved").encode_sparse(TEXTS)
    np.testing.assert_array_equal(again.data, result.data)


@pytest.fixture(params=list(tiny_sparse.ROUTED))
def routed(request, tmp_path):
    return tiny_sparse.write_routed(tmp_path / request.param, request.param)


@pytest.mark.filterwarnings("ignore:.*was truncated")
@pytest.mark.parametrize("kind", ["query", "document"])
def test_queries_have_the_weights_of_their_tokens(routed, tmp_path, kind):
    model = fbg.load(routed)
    golden = arrays("tiny_sparse")[f"{routed.name}-{kind}"]
    found = model.encode_sparse(tiny_sparse.TEXTS, kind=kind)
    tolerance = 0 if kind == "query" else 1e-4
    np.testing.assert_allclose(found.to_dense(), golden, rtol=0, atol=tolerance)
    assert (found.data != 0).all()
    for n, text in enumerate(tiny_sparse.TEXTS):
        alone = model.encode_sparse(text, kind=kind)
        np.testing.assert_array_equal(alone.to_dense()[0], found.to_dense()[n])
    model.save(tmp_path / "copy")
    again = fbg.load(tmp_path / "copy").encode_sparse(tiny_sparse.TEXTS, kind=kind)
    np.testing.assert_array_equal(again.indices, found.indices)
    np.testing.assert_array_equal(again.data, found.data)


def test_a_query_is_cut_at_its_own_length(routed):
    model = fbg.load(routed)
    long = "x " * (tiny_sparse.QUERY_LENGTH + 1)
    with pytest.raises(ValueError, match=r"sentences\[1\] has 31 tokens, .* takes at most 30"):
        model.encode_sparse(["a", long], truncation=False, kind="query")
    model.encode_sparse(long, truncation=False)  # a document may be longer
    with pytest.raises(ValueError, match=r"has 31 tokens, .* takes at most 5"):
        model.with_max_length(5).encode_sparse(long, truncation=False, kind="query")


def test_queries_are_documents_where_there_is_no_table(tmp_path):
    model = fbg.load(write(tmp_path))
    rows = [model.encode_sparse(TEXTS, kind=kind) for kind in ("query", "document")]
    np.testing.assert_array_equal(*(row.to_dense() for row in rows))
    with pytest.raises(ValueError, match="kind must be one of query, document, got 'text'"):
        model.encode_sparse("a", kind="text")


TABLE = "query_0_Table"
ENCODER = {"document": ["document_0_MLMTransformer"]}
MODULES = ("document_0_MLMTransformer", "document_1_SpladePooling")


@pytest.mark.parametrize(
    ("file", "values", "message"),
    [
        ("router_config.json", {"structure": None}, "structure must be .* query and document"),
        ("router_config.json", {"structure": {"query": [TABLE]}}, "structure must be .* document"),
        (
            "router_config.json",
            {"structure": {"query": [], **ENCODER}},
            r"structure\.query must be a list of modules",
        ),
        (
            "router_config.json",
            {"structure": {"query": ["none"], **ENCODER}},
            r"structure\.query must be a list of modules whose classes are under types",
        ),
        (
            "router_config.json",
            {"structure": {"query": ["document_1_SpladePooling"], **ENCODER}},
            r"structure\.query must be one SparseStaticEmbedding, or the modules of documents",
        ),
        (
            "router_config.json",
            {"structure": {"query": [TABLE], **ENCODER}},
            "documents must have a module SpladePooling",
        ),
        ("modules.json", None, r"'\.\./x' is not a folder in the directory of the model"),
        (f"{TABLE}/config.json", {"path": "idf.json"}, "path must be null"),
        (f"{TABLE}/tokenizer_config.json", {"model_max_length": 0}, "model_max_length must be"),
        (f"{TABLE}/tokenizer.json", None, r"tokenizer\.json: no such file, which queries are"),
        (f"{TABLE}/model.safetensors", None, r"weight must have shape \(99,\), got \(98,\)"),
    ],
)
def test_a_wrong_router_is_named(tmp_path, file, values, message):
    path = tiny_sparse.write_routed(tmp_path, "saved") / file
    if values is not None:
        change_json(path, **values)
    elif file == "modules.json":
        modules = json.loads(path.read_text())
        path.write_text(json.dumps([{**modules[0], "path": "../x"}]))
    elif path.suffix == ".safetensors":
        save_file({"weight": np.ones(98, np.float32)}, path)
    else:
        path.unlink()
    with pytest.raises(fbg.ModelError, match=message):
        fbg.load(tmp_path)


def test_queries_may_pass_the_modules_of_documents(tmp_path):
    path = tiny_sparse.write_routed(tmp_path, "saved") / "router_config.json"
    same = ["document_0_MLMTransformer", "document_1_SpladePooling"]
    change_json(path, structure={"query": same, "document": same})
    rows = [fbg.load(tmp_path).encode_sparse(TEXTS, kind=kind) for kind in ("query", "document")]
    np.testing.assert_array_equal(*(row.to_dense() for row in rows))


@pytest.mark.parametrize("strategy", ["max", "sum"])
def test_texts_share_products_with_the_vocabulary(tmp_path, strategy):
    model = fbg.load(write(tmp_path, pooling_strategy=strategy))
    texts = TEXTS * 10  # some of them begin in one product and end in the next
    assert sum(ids.size for ids in model.tokenizer(texts)) > 3 * MASKS[1]
    together = model.encode_sparse(texts, batch_size=len(texts)).to_dense()
    alone = [model.encode_sparse(text).to_dense()[0] for text in TEXTS]
    np.testing.assert_array_equal(together, np.stack(alone * 10))


def test_hidden_states_of_one_batch_are_kept_at_a_time(tmp_path):
    model = fbg.load(write(tmp_path))
    steps = encode_sparse_steps(model.context, TEXTS * 3, batch_size=5)
    counts, work = [], next(steps)
    with pytest.raises(StopIteration):
        while True:
            after = len(TEXTS * 3) - sum(counts) - len(work.ids)
            assert (work.before, work.after) == (sum(counts), after)
            counts.append(len(work.ids))
            work = steps.send(compute(work, 1))
    assert counts == [5, 5, 2]


def test_no_texts_make_no_rows(tmp_path):
    result = fbg.load(write(tmp_path)).encode_sparse([])
    assert result.shape[0] == 0
    assert result.to_dense().shape == result.shape


@pytest.mark.parametrize(
    ("options", "key"),
    [
        ({"pooling_strategy": "mean"}, "pooling_strategy"),
        ({"activation_function": "gelu"}, "activation_function"),
    ],
)
def test_an_unsupported_setting_is_named(tmp_path, options, key):
    with pytest.raises(fbg.ModelError, match=rf"1_SpladePooling.config\.json: {key} must be"):
        fbg.load(write(tmp_path, **options))


def test_a_model_without_predictions_has_no_sparse_embeddings(tmp_path):
    model = fbg.load(tiny_bert.write_checkpoint(tmp_path))
    with pytest.raises(fbg.ModelError, match=r"encode_sparse: .*must name a class that ends in"):
        model.encode_sparse("a")


PROMPTS = {"query": "who? ", "document": "the ", "passage": "b ", "other": "c "}


@pytest.mark.parametrize("kind", ["query", "document"])
def test_prompts_of_queries_and_documents_precede_them(routed, tmp_path, kind):
    single = write(tmp_path / "single")
    for path in (routed, single):
        settings = path / "config_sentence_transformers.json"
        texts = [PROMPTS[kind] + text for text in TEXTS]
        wanted = fbg.load(path).encode_sparse(texts, kind=kind)
        own = {"prompts": PROMPTS, "default_prompt_name": "other"}
        tiny_bert.write_json(settings, {**own, "model_type": "SparseEncoder"})
        found = fbg.load(path).encode_sparse(TEXTS, kind=kind)
        np.testing.assert_array_equal(found.to_dense(), wanted.to_dense())
        one = fbg.load(path).encode_sparse(TEXTS[0], kind=kind)
        np.testing.assert_array_equal(one.to_dense()[0], wanted.to_dense()[0])


@pytest.mark.parametrize("kind", ["query", "document"])
def test_only_prompts_of_their_own_names_precede_texts(tmp_path, kind):
    path = write(tmp_path)
    wanted = fbg.load(path).encode_sparse(TEXTS, kind=kind)
    # SparseEncoder has empty prompts for both kinds, which come before any other.
    own = {"prompts": {"passage": "b ", "other": "c "}, "default_prompt_name": "other"}
    tiny_bert.write_json(path / "config_sentence_transformers.json", own)
    found = fbg.load(path).encode_sparse(TEXTS, kind=kind)
    np.testing.assert_array_equal(found.to_dense(), wanted.to_dense())


def move_router(path):
    """Put the Router and its modules into a folder, as after another module."""
    moved = path / "0_Router"
    moved.mkdir()
    for name in (TABLE, *MODULES, "router_config.json"):
        (path / name).rename(moved / name)
    modules = json.loads((path / "modules.json").read_text())
    (path / "modules.json").write_text(json.dumps([{**modules[0], "path": moved.name}]))


@pytest.mark.filterwarnings("ignore:.*was truncated")
def test_a_router_in_a_folder_is_saved_with_the_model(tmp_path):
    path = tiny_sparse.write_routed(tmp_path / "model", "saved")
    wanted = fbg.load(path)
    move_router(path)
    model = fbg.load(path)
    model.save(tmp_path / "saved")
    for kind in ("query", "document"):
        rows = wanted.encode_sparse(TEXTS, kind=kind).to_dense()
        for same in (model, fbg.load(tmp_path / "saved")):
            np.testing.assert_array_equal(same.encode_sparse(TEXTS, kind=kind).to_dense(), rows)


def test_no_more_than_one_router_is_read(tmp_path):
    path = tiny_sparse.write_routed(tmp_path, "saved") / "modules.json"
    modules = json.loads(path.read_text())
    path.write_text(json.dumps(modules * 2))
    with pytest.raises(fbg.ModelError, match=r"modules\.json: must have no more than one Router"):
        fbg.load(tmp_path)


@pytest.mark.parametrize("kind", ["Normalize", "Dense"])
def test_nothing_follows_the_pooling_of_sparse_embeddings(tmp_path, kind):
    path = write(tmp_path) / "modules.json"
    modules = json.loads(path.read_text())
    path.write_text(json.dumps([*modules, {"type": kind, "path": "2"}]))
    message = rf"SpladePooling must be the last module, but {kind} follows it"
    with pytest.raises(fbg.ModelError, match=message):
        fbg.load(tmp_path)


@pytest.mark.parametrize("folder", ["x" * 5000, "x" * 300, "x/" * 2500, "a\0b"])
@pytest.mark.parametrize("file", ["modules.json", "router_config.json"])
def test_a_name_that_no_folder_has_is_refused(tmp_path, file, folder):
    path = tiny_sparse.write_routed(tmp_path, "saved") / file
    if file == "modules.json":
        modules = json.loads(path.read_text())
        path.write_text(json.dumps([{**modules[0], "path": folder}]))
    else:
        change_json(path, types={folder: "Transformer"}, structure={"query": [folder], **ENCODER})
    with pytest.raises(fbg.ModelError, match=rf"{file}: .* cannot be a folder: "):
        fbg.load(tmp_path)
