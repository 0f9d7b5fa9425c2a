"""Decoders that rerank by the logits of tokens, against CrossEncoder of sentence-transformers."""

import json
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import fbg
from helpers import tiny_tasks
from helpers.minilm import arrays
from helpers.tiny_rerankers import PAIRS, RERANKERS, write_reranker


@pytest.fixture(autouse=True)
def long_pairs_are_cut() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", ".* was truncated")
        yield


@pytest.mark.parametrize("name", RERANKERS)
def test_scores_are_those_of_the_package(tmp_path: Path, name: str, isa: str) -> None:
    model = fbg.load(write_reranker(tmp_path, name))
    golden = arrays("tiny_outputs")[f"rerank-{name}"]
    np.testing.assert_allclose(model.predict(PAIRS), golden, rtol=0, atol=1e-4)
    ranked = model.rerank(PAIRS[0][0], [PAIRS[0][1], "x"])
    assert {hit["corpus_id"] for hit in ranked} == {0, 1}


def test_an_instruction_takes_the_place_of_that_of_the_model(tmp_path: Path) -> None:
    directory = write_reranker(tmp_path, "template")
    golden = arrays("tiny_outputs")["rerank-prompt"]
    model = fbg.load(directory)
    np.testing.assert_allclose(model.predict(PAIRS, prompt="say so"), golden, rtol=0, atol=1e-4)
    assert model.rerank("a", ["b"], prompt="say so") != model.rerank("a", ["b"])
    encoder = fbg.CrossEncoder(directory)
    scores = encoder.predict(PAIRS, prompt_name="other")
    np.testing.assert_array_equal(scores, model.predict(PAIRS, prompt="say so"))
    with pytest.raises(ValueError, match="prompt_name must be one of 'query', 'other', got 'no'"):
        encoder.predict(PAIRS, prompt_name="no")


@pytest.mark.parametrize("name", RERANKERS)
@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8"])
def test_bits_do_not_depend_on_batch_threads_or_saving(
    tmp_path: Path, name: str, dtype: str
) -> None:
    directory = write_reranker(tmp_path / "model", name)
    one, two = (fbg.load(directory, dtype=dtype, num_threads=n) for n in (1, 2))
    two.save(tmp_path / "saved")
    together = two.predict(PAIRS)
    np.testing.assert_array_equal(fbg.load(tmp_path / "saved").predict(PAIRS), together)
    for pair, score in zip(PAIRS, np.asarray(together), strict=True):
        assert one.predict(pair) == score


def test_a_pair_that_is_too_long_is_refused_if_asked(tmp_path: Path) -> None:
    model = fbg.load(write_reranker(tmp_path, "template"))
    with pytest.raises(ValueError, match=r"inputs\[3\] has .* takes at most 64"):
        model.predict(PAIRS, truncation=False)
    with pytest.raises(fbg.ModelError, match="the text behind a pair has"):
        model.with_max_length(6).predict(PAIRS)


def test_an_embedder_does_not_rank(tmp_path: Path) -> None:
    directory = write_reranker(tmp_path, "plain")
    (directory / "modules.json").unlink()
    with pytest.raises(fbg.ModelError, match=r"LlamaForCausalLM, .* LogitScore .* has: encode$"):
        fbg.load(directory).predict(PAIRS)


def change(path: Path, **values: Any) -> None:
    path.write_text(json.dumps({**json.loads(path.read_text()), **values}))


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"true_token_id": None}, "true_token_id must be an integer of at least 0, got None"),
        ({"false_token_id": 99}, "false_token_id must be a token of the vocabulary, below 99"),
        ({"false_token_id": "no"}, "false_token_id must be an integer"),
        ({"module_input_name": "x"}, "module_input_name must be one of causal_logits"),
    ],
)
def test_a_wrong_token_is_named(tmp_path: Path, values: dict[str, Any], message: str) -> None:
    change(write_reranker(tmp_path, "template") / "1_LogitScore" / "config.json", **values)
    with pytest.raises(fbg.ModelError, match=message):
        fbg.load(tmp_path)


@pytest.mark.parametrize(
    ("template", "message"),
    [
        ("{{ messages[0].content }}", "chat_template must place messages of the roles query and"),
        ("{% for", "chat_template cannot be rendered"),
        ("{{ raise_exception('roles') }}", "chat_template cannot be rendered: roles"),
        ("{{ ''.__class__.__mro__ }}", "chat_template cannot be rendered"),
    ],
)
def test_a_template_that_cannot_be_used_is_named(
    tmp_path: Path, template: str, message: str
) -> None:
    path = write_reranker(tmp_path, "template") / "chat_template.jinja"
    path.write_text(template)
    with pytest.raises(fbg.ModelError, match=rf"chat_template\.jinja: {message}"):
        fbg.load(tmp_path)


def test_scores_of_tokens_need_a_decoder(tmp_path: Path) -> None:
    directory = write_reranker(tmp_path, "plain")
    change(directory / "config.json", architectures=["LlamaModel"])
    with pytest.raises(fbg.ModelError, match="LogitScore requires an architecture that ends in"):
        fbg.load(directory)


def test_only_a_template_has_room_for_an_instruction(tmp_path: Path) -> None:
    pairs = fbg.load(tiny_tasks.write_model(tmp_path / "pairs", "pairs"))
    plain = fbg.load(write_reranker(tmp_path / "plain", "plain"))
    for model in (pairs, plain):
        with pytest.raises(ValueError, match="prompt must be None: the model has no place"):
            model.predict(PAIRS, prompt="judge")
    with pytest.raises(TypeError, match="prompt must be a str or None, got int"):
        plain.rerank("a", ["b"], prompt=3)  # type: ignore[arg-type]
