"""Settings of sentence-transformers that fbg does not know are never ignored if they may change a
result.
"""

import json
import warnings
from pathlib import Path

import numpy as np
import pytest

import fbg
from helpers import tiny_bert, tiny_multi, tiny_outputs, tiny_rerankers, tiny_sparse
from helpers.tiny_bert import change_json, write_json

OWN, SHARED = "sentence_bert_config.json", "config_sentence_transformers.json"


def write_dense(path):
    tiny_bert.write_checkpoint(path)
    hidden = tiny_bert.AWKWARD.hidden_size
    tiny_outputs.write_dense(path / "2_Dense", hidden, 8, activation_function="torch.nn.Identity")
    kinds = ("Transformer", ""), ("Pooling", "1_Pooling"), ("Dense", "2_Dense")
    tiny_bert.write_modules(path, *kinds, ("Normalize", "3_Normalize"))
    return path


WRITERS = {
    "dense": write_dense,
    "static": lambda path: tiny_outputs.write_static(path, "plain"),
    "sparse": lambda path: tiny_sparse.write_routed(path, next(iter(tiny_sparse.ROUTED))),
    "hidden": lambda path: tiny_multi.write_multi(path, "hidden"),
    "pylate": lambda path: tiny_multi.write_multi(path, "pylate"),
    "reranker": lambda path: tiny_rerankers.write_reranker(path, "template"),
}
# Settings that would change results, wherever they are in a file.
FOREIGN = {
    "attention_window": 3,
    "pooling_mode_attention": True,
    "query_prefix_tokens": [5],
    "scale_embeddings": True,
    "use_projection": True,
}


def files_of(directory):
    """All files that hold settings of modules."""
    own = {OWN, SHARED, "modules.json", "router_config.json"}
    model = {"tokenizer.json", "tokenizer_config.json", "special_tokens_map.json"}
    return [
        path
        for path in sorted(directory.rglob("*"))
        if path.name in own
        or (
            path.suffix == ".json"
            and path.parent != directory
            and path.name not in model
            and "model_type" not in json.loads(path.read_text())
        )
    ]


@pytest.mark.parametrize("kind", WRITERS)
def test_a_key_of_any_file_is_refused_by_name(tmp_path, kind):
    directory = WRITERS[kind](tmp_path / "model")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fbg.load(directory)  # knows all that the files hold
    files = files_of(directory)
    assert files
    for path in files:
        whole = json.loads(path.read_text())
        for key, value in FOREIGN.items():
            changed = {**whole, key: value} if isinstance(whole, dict) else [*whole]
            if isinstance(changed, list):
                changed[-1] = {**changed[-1], key: value}
            write_json(path, changed)
            with pytest.raises(fbg.ModelError, match=rf"{path.name}: .*{key} must be left out"):
                fbg.load(directory)
        write_json(path, whole)
    fbg.load(directory)


@pytest.mark.parametrize(
    ("file", "changes", "wanted"),
    [
        (OWN, {"transformer_task": "any-to-any"}, "transformer_task must be one of"),
        (OWN, {"tokenizer_name_or_path": "x"}, "tokenizer_name_or_path must be null"),
        (OWN, {"module_output_name": "sentence_embedding"}, "module_output_name must be one of"),
        (OWN, {"model_args": {"is_causal": True}}, r"model_args\.is_causal must be left out"),
        (
            OWN,
            {"modality_config": {"text": {"method": "forward", "method_output_name": "pooler"}}},
            r"modality_config\.text\.method_output_name must be one of last_hidden_state",
        ),
        (
            OWN,
            {"modality_config": {"message": {"method": "forward", "method_output_name": "x"}}},
            "modality_config must be an object with text",
        ),
        (
            OWN,
            {"processing_kwargs": {"text": {"max_length": 5}}},
            r"processing_kwargs\.text\.max_length must be null",
        ),
        (
            OWN,
            {"processing_kwargs": {"common": {"add_special_tokens": False}}},
            r"processing_kwargs\.common\.add_special_tokens must be left out",
        ),
        (SHARED, {"truncate_dim": 0}, "truncate_dim must be an integer of at least 1"),
        (
            "3_Normalize/config.json",
            {"module_input_name": "token_embeddings"},
            "module_input_name must be one of sentence_embedding",
        ),
    ],
    ids=str,
)
def test_what_would_give_other_results_is_named(tmp_path, file, changes, wanted):
    directory = write_dense(tmp_path / "model")
    write_json(directory / file, changes)
    with pytest.raises(fbg.ModelError, match=rf"{Path(file).name}: {wanted}"):
        fbg.load(directory)


def test_settings_that_change_nothing_are_known(tmp_path):
    directory = write_dense(tmp_path / "model")
    vector = fbg.load(directory).encode("the cat")
    forward = {"method": "forward", "method_output_name": "last_hidden_state"}
    settings = {
        "transformer_task": "feature-extraction",
        "modality_config": {"text": forward, "message": {**forward, "format": "flat"}},
        "module_output_name": "token_embeddings",
        "unpad_inputs": False,
        "model_args": {"add_pooling_layer": False, "torch_dtype": "float16"},
        "tokenizer_args": {"padding_side": "left", "trust_remote_code": True},
        "processing_kwargs": {"common": {"padding": True}, "image": {"do_resize": False}},
        "query_length": None,
    }
    shared = {"__version__": {"torch": "2"}, "similarity_fn_name": "dot", "model_type": "x"}
    write_json(directory / OWN, settings)
    write_json(directory / SHARED, shared)
    np.testing.assert_array_equal(fbg.load(directory).encode("the cat"), vector)
    change_json(directory / SHARED, team="somebody")
    with pytest.warns(UserWarning, match=rf"{SHARED}: fbg does not know team, and ignores it"):
        fbg.load(directory)


@pytest.mark.parametrize(
    ("name", "settings"),
    [
        (OWN, {"max_seq_length": 9, "tokenizer_args": {"model_max_length": 7}}),
        (OWN, {"processor_kwargs": {"model_max_length": 7}}),
        ("sentence_xlm-roberta_config.json", {"max_seq_length": 7}),
    ],
)
def test_the_limit_of_texts_is_found_wherever_releases_wrote_it(tmp_path, name, settings):
    directory = write_dense(tmp_path / "model")
    (directory / OWN).unlink()
    write_json(directory / name, settings)
    model = fbg.load(directory)
    model.save(tmp_path / "saved")
    assert model.max_length == fbg.load(tmp_path / "saved").max_length == 7
