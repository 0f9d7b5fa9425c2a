"""Windows of long texts: what they cover, and that only some of them are there at a time."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fbg
from fbg.tasks import chunks, context
from fbg.text import tokenization
from fbg.text.encoded_text import EncodedText, Windows, count_windows, windows
from helpers import tiny_bert
from helpers.tiny_tasks import LONG


@given(st.integers(0, 200), st.integers(1, 50), st.data())
def test_windows_cover_a_text_and_share_their_stride(length, size, data):
    stride = data.draw(st.integers(0, size - 1))
    found = list(windows(length, size, stride))
    assert len(found) == count_windows(length, size, stride)
    assert found[0].start == 0 and found[-1].stop == length
    assert all(part.stop - part.start == size for part in found[:-1])
    for one, other in pairwise(found):
        assert one.stop - other.start == stride and other.stop > one.stop


def test_windows_are_counted_without_being_made(monkeypatch):
    count = 10**6
    segments = np.zeros(count, np.int32)
    segments[[0, -1]] = -1
    text = EncodedText(np.arange(count, dtype=np.int32), None, count, segments=segments)
    found = text.windows(0, 510, 509)
    assert isinstance(found, Windows) and len(found) == count - 2 - 509
    first = next(iter(found)).ids
    assert first.size == 512 and first[[0, 1, -2, -1]].tolist() == [0, 1, 510, count - 1]


@pytest.mark.parametrize("most", [1, 1 << 9])
def test_results_do_not_depend_on_how_many_windows_are_made(load, monkeypatch, most):
    tags, answers = load("bert-ForTokenClassification"), load("bert-ForQuestionAnswering")
    options = {"max_seq_len": 30, "doc_stride": 20, "top_k": 3}
    texts = [LONG, "x", LONG[50:]]
    expected = tags.ner(texts, stride=9), answers.answer(["who?"] * 3, texts, **options)
    monkeypatch.setattr(context, "WINDOW_TOKENS", most)
    assert (tags.ner(texts, stride=9), answers.answer(["who?"] * 3, texts, **options)) == expected


@pytest.mark.parametrize("most", [1, 200])
def test_chunks_do_not_depend_on_how_many_windows_are_made(tmp_path, monkeypatch, most):
    tiny_bert.write_checkpoint(tmp_path)
    model, document = fbg.load(tmp_path), "the dog saw a fox. " * 60
    expected = model.encode_chunks(document, [(0, 9), (300, 400)], stride=17)
    monkeypatch.setattr(chunks, "WINDOW_TOKENS", most)
    found = model.encode_chunks(document, [(0, 9), (300, 400)], stride=17)
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("mark", ["", " ", ". ", "\n", "\n\n"])
def test_long_documents_are_cut_in_pieces(tmp_path, monkeypatch, mark):
    """Pieces end where parts of the text do, and the chunks cover all that is no space."""
    tiny_bert.write_checkpoint(tmp_path)
    model = fbg.load(tmp_path)
    document = mark.join(["the dog"] * 200)
    monkeypatch.setattr(tokenization, "PIECE_CHARACTERS", 100)
    monkeypatch.setattr(tokenization, "CHARACTERS_OF_TOKEN", 1)
    spans = model.chunk_spans(document, 20)
    assert len(spans) > 20
    assert all(a[1] <= b[0] for a, b in pairwise(spans))
    kept = "".join(document[begin:end] for begin, end in spans)
    assert "".join(kept.split()) == "".join(document.split())
    few = chunks.found_spans(model.context, document, 20, 5)
    assert few == spans[: len(few)] and 5 < len(few) < len(spans)
