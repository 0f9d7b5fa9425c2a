"""Late chunking: chunks have the pooled states of their tokens, read in the whole document."""

import asyncio
from dataclasses import replace

import numpy as np
import pytest

import fbg
from fbg.tasks import engines
from fbg.tasks.context import steps_of
from helpers import tiny_bert, tiny_models, tiny_outputs
from helpers.tiny_bert import change_json, write_json

DOCUMENT = "the cat sat on a mat. The dog, who saw it, ran away? It was the end of it all."
SPANS = [(0, 21), (22, 53), (54, len(DOCUMENT)), (8, 30)]
WHOLE = [(0, len(DOCUMENT))]
LENGTH = 80
GEOMETRY = replace(tiny_bert.AWKWARD, max_position_embeddings=LENGTH)


def write(path, mode="mean", normalize=False, **pooling):
    tiny_bert.write_checkpoint(path, GEOMETRY, normalize=normalize)
    write_json(path / "1_Pooling" / "config.json", {"pooling_mode": mode, **pooling})
    return path


def states_of(model, document, prompt=""):
    """Hidden states of a text in one window, and the place of each token; -1 for special ones."""
    (text,) = model.tokenizer.encode([prompt + document], "texts", located=True, cut=False)
    states = model.forward(text.ids[None]).last_hidden_state[0]
    return states, np.where(text.segments < 0, -1, text.offsets[:, 1] - 1)


def pooled(rows, mode):
    wide = rows.astype(np.float64)
    if mode == "max":
        return wide.max(axis=0)
    return wide.sum(axis=0) / (len(rows) if mode == "mean" else np.sqrt(len(rows)))


@pytest.mark.parametrize("mode", ["mean", "max", "mean_sqrt_len_tokens"])
def test_chunks_are_pooled_states_of_the_whole_document(tmp_path, mode):
    model = fbg.load(write(tmp_path, mode))
    states, places = states_of(model, DOCUMENT)
    assert len(states) <= LENGTH
    rows = model.encode_chunks(DOCUMENT, SPANS)
    for row, (begin, end) in zip(rows, SPANS, strict=True):
        chosen = (begin <= places) & (places < end)
        chosen[0] |= begin == 0  # special tokens are in the first and the last chunk
        chosen[-1] |= end == len(DOCUMENT)
        np.testing.assert_allclose(row, pooled(states[chosen], mode), 0, 1e-5)
    whole = model.encode_chunks(DOCUMENT, WHOLE)
    np.testing.assert_allclose(whole[0], model.encode(DOCUMENT), 0, 1e-5)


@pytest.mark.parametrize("family", ["modernbert", "roberta", "qwen3", "t5"])
def test_a_chunk_of_the_whole_document_is_its_embedding(tmp_path, family):
    tiny_models.write_tiny(tmp_path, family)
    write_json(
        tmp_path / "modules.json",
        [
            {"type": "x.Transformer", "path": ""},
            {"type": "x.Pooling", "path": "1_Pooling"},
            {"type": "x.Normalize", "path": "2_Normalize"},
        ],
    )
    write_json(tmp_path / "1_Pooling" / "config.json", {"pooling_mode": "mean"})
    model = fbg.load(tmp_path)
    document = "the cat, and it"
    rows = model.encode_chunks(document, [(0, len(document)), (0, 7), (8, len(document))])
    np.testing.assert_allclose(rows[0], model.encode(document), 0, 1e-5)
    assert abs(rows[1] - rows[2]).max() > 1e-3
    np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, 1e-5)


def test_static_embeddings_have_chunks_too(tmp_path):
    for name in ("model2vec", "dense"):
        model = fbg.load(tiny_outputs.write_static(tmp_path / name, name))
        rows = model.encode_chunks("the cat", [(0, 7)])
        np.testing.assert_allclose(rows[0], model.encode("the cat"), 0, 1e-5)


def test_modules_behind_the_pooling_and_options_are_those_of_encode(tmp_path):
    path = write(tmp_path)
    hidden = tiny_bert.AWKWARD.hidden_size
    tiny_outputs.write_dense(path / "2_Dense", hidden, 8)
    kinds = ("Transformer", ""), ("Pooling", "1_Pooling"), ("Dense", "2_Dense")
    tiny_bert.write_modules(path, *kinds, ("Normalize", "3_Normalize"))
    prompts = {"prompts": {"query": "find: "}, "default_prompt_name": None}
    write_json(path / "config_sentence_transformers.json", prompts)
    for include in (True, False):
        change_json(path / "1_Pooling" / "config.json", include_prompt=include)
        model = fbg.load(path)
        for options in (
            {},
            {"normalize_embeddings": False},
            {"truncate_dim": 5, "normalize_embeddings": True},
            {"prompt_name": "query"},
        ):
            rows = model.encode_chunks(DOCUMENT, WHOLE, **options)
            np.testing.assert_allclose(rows[0], model.encode(DOCUMENT, **options), 0, 1e-5)
    states, places = states_of(model, DOCUMENT, "find: ")
    model = fbg.load(write(tmp_path / "plain", include_prompt=False))
    states, places = states_of(model, DOCUMENT, "find: ")
    row = model.encode_chunks(DOCUMENT, [(0, 21)], prompt="find: ")[0]
    chosen = (places >= 6) & (places < 27)
    np.testing.assert_allclose(row, pooled(states[chosen], "mean"), 0, 1e-5)


def test_places_are_those_of_the_text_whatever_lower_case_does_to_it(tmp_path):
    path = write(tmp_path)
    document = "İİİ the cat. The dog"
    parts = [(0, 12), (13, 20)]
    change_json(path / "sentence_bert_config.json", do_lower_case=True)
    rows = fbg.load(path).encode_chunks(document, parts)
    lowered = document.lower()
    assert len(lowered) > len(document)
    change_json(path / "sentence_bert_config.json", do_lower_case=False)
    moved = [(0, 15), (16, 23)]
    np.testing.assert_array_equal(fbg.load(path).encode_chunks(lowered, moved), rows)


def test_the_network_behind_the_pooling_is_made_once(tmp_path, monkeypatch):
    model = fbg.load(write(tmp_path, normalize=True))
    rows = model.encode_chunks(DOCUMENT, SPANS)

    def refuse(*_, **__):
        raise AssertionError("an engine was made again")

    monkeypatch.setattr(engines, "Engine", refuse)
    np.testing.assert_array_equal(model.encode_chunks(DOCUMENT, SPANS), rows)


def oracle(model, document, size, stride):
    """States of the tokens of a document, without special ones, in overlapping windows: weighted by
    the distance from the edge of a window, whose first and last tokens are special ones.
    """
    (text,) = model.tokenizer.encode([document], "texts", located=True, cut=False)
    ids, places = text.ids[1:-1], text.offsets[1:-1, 1] - 1
    weights, begin = np.zeros(len(ids)), 0
    total = np.zeros((len(ids), tiny_bert.AWKWARD.hidden_size))
    while True:
        end = min(begin + size, len(ids))
        window = np.concatenate([text.ids[:1], ids[begin:end], text.ids[-1:]])
        states = model.forward(window[None]).last_hidden_state[0, 1:-1]
        for n, state in enumerate(states):
            weight = min(n + 2, len(states) + 1 - n)
            total[begin + n] += weight * state
            weights[begin + n] += weight
        if end == len(ids):
            return total / weights[:, None], places
        begin += size - stride


@pytest.mark.parametrize("stride", [None, 0, 5, 30])
def test_long_documents_are_read_in_windows_that_overlap(tmp_path, stride):
    model = fbg.load(write(tmp_path))
    document = " ".join([DOCUMENT] * 6)
    size = LENGTH - 2
    states, places = oracle(model, document, size, size // 2 if stride is None else stride)
    assert len(states) > 2 * size
    spans = [(30, 60), (100, 250), (300, 320)]
    rows = model.encode_chunks(document, spans, stride=stride)
    for row, (begin, end) in zip(rows, spans, strict=True):
        chosen = (begin <= places) & (places < end)
        np.testing.assert_allclose(row, states[chosen].mean(axis=0), 0, 1e-5)
    again = model.encode_chunks(document, spans, 1, stride=stride)
    np.testing.assert_array_equal(again, rows)

    async def shared():
        async with fbg.AsyncModel(model) as tasks:
            return await tasks.encode_chunks(document, spans, stride=stride)

    np.testing.assert_array_equal(asyncio.run(shared()), rows)
    whole = model.encode_chunks(document, [(0, len(document))])
    assert whole.shape == (1, model.embedding_dimension)


def test_there_may_be_more_chunks_than_a_window_has_tokens(tmp_path):
    model = fbg.load(write(tmp_path, normalize=True))
    spans = [SPANS[n % len(SPANS)] for n in range(2 * LENGTH + 3)]
    rows = model.encode_chunks(DOCUMENT, spans)
    few = model.encode_chunks(DOCUMENT, SPANS)
    np.testing.assert_array_equal(rows, [few[n % len(SPANS)] for n in range(len(spans))])


@pytest.mark.parametrize("mode", ["cls", "lasttoken", "weightedmean"])
def test_poolings_of_certain_tokens_are_refused_by_name(tmp_path, mode):
    model = fbg.load(write(tmp_path, mode))
    with pytest.raises(fbg.ModelError, match=f"encode_chunks: .*pooling must be .*got {mode}"):
        model.encode_chunks(DOCUMENT, SPANS)


@pytest.mark.parametrize(
    ("document", "spans", "options", "error", "message"),
    [
        (["a"], [(0, 1)], {}, TypeError, "document must be a str, got list"),
        ("a b", [(0, 4)], {}, ValueError, r"spans\[0\] must be within \[0, 3\], got 4"),
        ("a b", [(0, 1), (2, 1)], {}, ValueError, r"spans\[1\] must be within \[2, 3\], got 1"),
        ("a b", [(-1, 1)], {}, ValueError, r"spans\[0\] must be within \[0, 3\], got -1"),
        ("a b", [(0.5, 1)], {}, TypeError, r"spans\[0\] must be an integer"),
        ("a b", 3, {}, TypeError, "spans must be a sequence of pairs of integers, got int"),
        ("a b", [3], {}, TypeError, r"spans\[0\] must be a pair of integers, got 3"),
        ("a b", [(0, 1), (3,)], {}, TypeError, r"spans\[1\] must be a pair of integers"),
        ("a b", [(0, 1, 2)], {}, TypeError, r"spans\[0\] must be a pair of integers"),
        ("a b", np.array([[0, 1, 2]]), {}, TypeError, r"spans\[0\] must be a pair of integers"),
        ("a b", [(1, 2)], {}, ValueError, r"spans\[0\] has no token"),
        ("", [(0, 0)], {}, ValueError, r"spans\[0\] has no token"),
        ("a", [(0, 1)], {"stride": LENGTH}, ValueError, "stride must be within"),
        ("a", [(0, 1)], {"truncate_dim": 0}, ValueError, "truncate_dim must be within"),
        ("a", [(0, 1)], {"batch_size": 0}, ValueError, "batch_size must be within"),
        ("a", [(0, 1)], {"prompt": 1}, TypeError, "prompt must be a str"),
        ("a", [(0, 1)], {"prompt_name": "x"}, ValueError, "prompt_name must be"),
        ("a " * 99, [(0, 1)], {"prompt": "b " * 90}, ValueError, "prompt leaves no room"),
        ("\ud800", [(0, 1)], {}, ValueError, "not valid Unicode"),
    ],
)
def test_wrong_arguments_are_named_before_the_network_runs(
    tmp_path, document, spans, options, error, message
):
    model = fbg.load(write(tmp_path))
    with pytest.raises(error, match=f"^encode_chunks: .*{message}"):
        next(steps_of(fbg.Model.encode_chunks)(model, document, spans, **options))


def test_no_chunks_have_no_rows(tmp_path):
    model = fbg.load(write(tmp_path))
    assert model.encode_chunks(DOCUMENT, []).shape == (0, model.embedding_dimension)
    assert model.encode_chunks(DOCUMENT, np.array(SPANS)).shape[0] == len(SPANS)


def test_documents_are_cut_at_the_ends_of_sentences(tmp_path):
    model = fbg.load(write(tmp_path))
    document = "é" + DOCUMENT
    spans = model.chunk_spans(document, 25)
    assert len(spans) > 2
    assert all(model.token_counts(document[b:e])[0] <= 25 + 2 for b, e in spans)
    assert [document[e - 1] for _, e in spans] == [".", "?", "."]
    assert model.encode_chunks(document, spans).shape[0] == len(spans)
    with pytest.raises(ValueError, match="tokens must be within"):
        model.chunk_spans(document, 0)
    with pytest.raises(TypeError, match="chunk_spans: document must be a str, got list"):
        model.chunk_spans([document])
