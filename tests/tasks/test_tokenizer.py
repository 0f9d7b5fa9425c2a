"""The tokenizer of a model: cuts as the tokenizers library does, and no file breaks it."""

import json
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import fbg
from fbg.text.encoded_text import kept_when_cut
from fbg.text.tokenization import TextTokenizer
from helpers import tiny_bert, tiny_tasks
from helpers.tiny_tasks import FAMILIES, write_model

texts = st.text(st.sampled_from("ab c1,"), max_size=40)


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    """Return the path of the tokenizer.json of a family."""

    def path(family):
        result = tmp_path_factory.mktemp("tokenizer") / "tokenizer.json"
        tiny_tasks.tokenizer(family).save(str(result))
        return result

    return path


# --- Cutting ------------------------------------------------------------------------------------


@pytest.mark.parametrize("side", ["right", "left"])
@pytest.mark.parametrize("family", FAMILIES)
def test_texts_and_pairs_are_cut_as_the_library_cuts_them(saved, family, side):
    path = saved(family)
    path.with_name("tokenizer_config.json").write_text(json.dumps({"truncation_side": side}))

    @given(st.lists(texts | st.tuples(texts, texts), max_size=6), st.integers(4, 40))
    def check(batch, length):
        ours = TextTokenizer(path, length).encode(batch, "test: texts")
        library = tiny_tasks.tokenizer(family)
        library.enable_truncation(length, direction=side)
        whole = tiny_tasks.tokenizer(family)
        for text, theirs, uncut in zip(
            ours, library.encode_batch(batch), whole.encode_batch(batch), strict=True
        ):
            assert text.ids.tolist() == theirs.ids
            assert text.types is not None
            assert text.types.tolist() == theirs.type_ids
            assert text.length == len(uncut.ids)

    check()


def test_the_side_of_the_file_holds_unless_its_settings_give_another(saved):
    path = saved("bert")
    library = tiny_tasks.tokenizer("bert")
    library.enable_truncation(4, direction="left")
    library.save(str(path))
    wanted = library.encode("a b c a").ids
    assert TextTokenizer(path, 4)(["a b c a"])[0].tolist() == wanted
    settings = path.with_name("tokenizer_config.json")
    settings.write_text('{"truncation_side": "right"}')
    library.enable_truncation(4)
    assert (
        TextTokenizer(path, 4)(["a b c a"])[0].tolist() == library.encode("a b c a").ids != wanted
    )
    settings.write_text('{"truncation_side": "both"}')
    with pytest.raises(fbg.ModelError, match="truncation_side must be one of left, right"):
        TextTokenizer(path, 4)


def test_a_model_cuts_on_another_side_and_shares_the_weights(tmp_path):
    tiny_bert.write_checkpoint(tmp_path, seed=1)
    model = fbg.load(tmp_path).with_max_length(5)
    left = model.with_truncation_side("left")
    assert left.network is model.network and left.max_length == 5
    text = "a b c d e f g"
    words = text.split()
    np.testing.assert_array_equal(model.encode(text), model.encode(" ".join(words[:3])))
    np.testing.assert_array_equal(left.encode(text), model.encode(" ".join(words[-3:])))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(left)).encode(text), left.encode(text))
    right = left.with_truncation_side("right")
    np.testing.assert_array_equal(right.encode(text), model.encode(text))
    with pytest.raises(ValueError, match="side must be left or right, got 'both'"):
        model.with_truncation_side("both")


@pytest.mark.parametrize("cut_first", [False, True])
@given(first=st.integers(1, 9), second=st.integers(0, 9), length=st.integers(4, 20))
def test_a_cut_from_the_left_mirrors_one_from_the_right(cut_first, first, second, length):
    segments = np.array([0] * first + [1] * second + [-1] * 3, np.int32)
    right = kept_when_cut(segments, length, cut_first)
    left = kept_when_cut(segments, length, cut_first, from_left=True)
    assert (right is None) == (left is None)
    if right is None or left is None:
        return
    begins = {0: 0, 1: first, -1: first + second}
    for segment, size in ((0, first), (1, second), (-1, 3)):
        of = [set((c[segments[c] == segment] - begins[segment]).tolist()) for c in (right, left)]
        assert of[1] == {size - 1 - n for n in of[0]}


@pytest.mark.parametrize("family", ["bert", "roberta", "xlm-roberta"])
def test_windows_are_those_of_the_library(saved, family):
    path = saved(family)

    @given(texts, st.integers(3, 12), st.integers(0, 11))
    def check(text, length, stride):
        stride = min(stride, length - 3)
        tokenizer = TextTokenizer(path, length)
        (encoded,) = tokenizer.encode([text], "test: texts", located=True, cut=False)
        library = tiny_tasks.tokenizer(family)
        library.enable_truncation(length, stride=stride)
        first = library.encode(text)
        theirs = [part.ids for part in (first, *first.overflowing)]
        assert [w.ids.tolist() for w in encoded.windows(0, length - 2, stride)] == theirs

    check()


# --- Damaged files ------------------------------------------------------------------------------


def without_unknown_token(tree):
    del tree["model"]["vocab"]["[UNK]"]
    tree["added_tokens"] = [t for t in tree["added_tokens"] if t["content"] != "[UNK]"]


# What breaks a tokenizer, and whether it shows when the model is loaded or at the first text.
DAMAGES = {
    "panics while it is read": (
        lambda tree: tree.update(normalizer={"type": "Precompiled"}),
        "load",
    ),
    "panics while it is used": (
        lambda tree: tree["post_processor"].update(special_tokens={}),
        "load",
    ),
    "fails for a text": (without_unknown_token, "encode"),
    "is of no known kind": (lambda tree: tree["model"].update(type="Other"), "load"),
    "has no model": (lambda tree: tree.pop("model"), "load"),
}


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_tokenizer_that_fails_is_a_model_error(tmp_path, damage):
    change, when = DAMAGES[damage]
    path = write_model(tmp_path, "bert-ForTokenClassification") / "tokenizer.json"
    tree = json.loads(path.read_text())
    change(tree)
    path.write_text(json.dumps(tree))
    with pytest.raises(fbg.ModelError, match=r"tokenizer\.json: (not a readable|the tokenizer)"):
        model = fbg.load(tmp_path)
        assert when == "encode"
        model.encode("Ω")
    if when == "encode":
        with pytest.raises(fbg.ModelError, match=r"tokenizer\.json: the tokenizer failed: .*UNK"):
            model.ner("Ω")


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, MemoryError])
def test_what_is_not_about_the_file_passes_through(saved, monkeypatch, error):
    tokenizer = TextTokenizer(saved("bert"), 40)

    class Interrupted:
        def encode_batch_fast(self, batch, add_special_tokens):
            raise error

    monkeypatch.setattr(tokenizer, "_of_sentences", Interrupted())
    with pytest.raises(error):
        tokenizer(["a"])


def test_a_text_knows_how_long_it_was(saved):
    encoded = TextTokenizer(saved("bert"), 10).encode(["a " * 30], "test: texts")[0]
    assert (encoded.length, encoded.ids.size) == (32, 10)
