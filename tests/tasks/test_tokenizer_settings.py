"""Files beside tokenizer.json, and sentences in lower case: tokens are those of other packages."""

import tempfile
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tokenizers import Tokenizer
from tokenizers.models import WordPiece
from tokenizers.normalizers import BertNormalizer, Lowercase, Sequence
from tokenizers.pre_tokenizers import BertPreTokenizer
from tokenizers.processors import TemplateProcessing

import fbg
from fbg.text.tokenization import TextTokenizer
from helpers.tiny_bert import change_json, write_json
from helpers.tiny_tasks import write_model

SETTINGS = st.fixed_dictionaries(
    {},
    optional={
        "do_lower_case": st.sampled_from([True, False, None]),
        "strip_accents": st.sampled_from([True, False, None]),
        "tokenize_chinese_chars": st.booleans(),
        "unk_token": st.sampled_from(["[UNK]", "[MASK]", {"content": "a", "special": True}]),
        "cls_token": st.sampled_from(["[CLS]", "[MASK]", "b"]),
        "sep_token": st.sampled_from(["[SEP]", "[PAD]", "c"]),
    },
)
ODD = st.text(st.sampled_from("aBcÀéİΣσς漢字 .[]ß\u0301\ud55c"), max_size=12) | st.lists(
    st.sampled_from(["[MASK]", "[SEP]", "[mask]", "ΟΔΟΣ ", "a", " B ", "É", "İ"]), max_size=6
).map("".join)


@given(config=SETTINGS, special=SETTINGS, texts=st.lists(ODD, min_size=1, max_size=8))
@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_files_beside_the_tokenizer_count_as_in_transformers(config, special, texts):
    """For BERT's tokenizer, which transformers builds anew from these files."""
    config = {"do_lower_case": True, "strip_accents": None, **config}
    names = {key: value for key, value in special.items() if key.endswith("_token")}
    with tempfile.TemporaryDirectory() as folder:
        directory = Path(folder)
        tokenizer = bert_tokenizer()
        tokenizer.save(str(directory / "tokenizer.json"))
        write_json(directory / "tokenizer_config.json", config)
        write_json(directory / "special_tokens_map.json", names)
        theirs = built_anew(tokenizer, {**config, **names})
        ours = TextTokenizer(directory / "tokenizer.json", 1000)
        for text in texts:
            assert ours([text])[0].tolist() == theirs.encode(text).ids, (config, names, text)


def built_anew(read, given):
    """What transformers make of a vocabulary and of the settings beside it."""
    names = {"unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]"}
    for key in names:
        value = given.get(key, names[key])
        names[key] = value["content"] if isinstance(value, dict) else value
    unknown, first, last = names.values()
    tokenizer = Tokenizer(WordPiece(read.get_vocab(), unk_token=unknown))
    tokenizer.normalizer = BertNormalizer(
        handle_chinese_chars=given.get("tokenize_chinese_chars", True),
        strip_accents=given["strip_accents"],
        lowercase=given["do_lower_case"] is not False,
    )
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    tokenizer.post_processor = TemplateProcessing(
        single=f"{first} $A {last}",
        pair=f"{first} $A {last} $B:1 {last}:1",
        special_tokens=[(name, read.token_to_id(name)) for name in dict.fromkeys((first, last))],
    )
    return tokenizer


def bert_tokenizer():
    """A WordPiece of single characters, framed and normalized like BERT's."""
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    letters = [*"abcàéiσς漢字.[]ßsmkep", "i\u0307", "\u0301", "\u0307", "à", "B", "É", "Σ", "ΟΔΟΣ"]
    pieces = [*special, *dict.fromkeys([*letters, *(f"##{letter}" for letter in letters)])]
    vocabulary = {piece: n for n, piece in enumerate(pieces)}
    tokenizer = Tokenizer(WordPiece(vocabulary, unk_token="[UNK]"))
    tokenizer.normalizer = BertNormalizer()
    tokenizer.pre_tokenizer = BertPreTokenizer()
    tokenizer.add_special_tokens(special)
    tokenizer.post_processor = TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[("[CLS]", 2), ("[SEP]", 3)],
    )
    return tokenizer


@given(texts=st.lists(ODD, min_size=1, max_size=8), lower=st.booleans())
@settings(max_examples=60, deadline=None)
def test_sentences_in_lower_case_are_those_of_the_normalizer(texts, lower):
    """Special tokens stay, and no rule of Python for letters at the end of a word applies."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "tokenizer.json")
        tokenizer = bert_tokenizer()
        tokenizer.normalizer = BertNormalizer(lowercase=False) if lower else None
        tokenizer.save(str(path))
        ours = TextTokenizer(path, 1000, lowercase=True)
        own = [] if tokenizer.normalizer is None else [tokenizer.normalizer]
        tokenizer.normalizer = Sequence([Lowercase(), *own])
        for text in texts:
            expected = tokenizer.encode(text)
            assert ours([text])[0].tolist() == expected.ids
            (located,) = ours.encode(
                [text], "x", located=True, cut=False, sentences=True, types=False
            )
            assert located.offsets is not None
            assert located.offsets.tolist() == [list(pair) for pair in expected.offsets]
            assert ours.encode([text], "x")[0].ids.tolist() == (
                TextTokenizer(path, 1000)([text])[0].tolist()
            )
            pair = tokenizer.encode(text, texts[0])
            (found,) = ours.encode([(text, texts[0])], "x", sentences=True)
            assert found.types is not None
            assert (found.ids.tolist(), found.types.tolist()) == (pair.ids, pair.type_ids)


def test_pairs_are_in_lower_case_wherever_sentences_are(tmp_path):
    """Whatever sentence-transformers has a class for reads do_lower_case; pipelines do not."""
    directory = write_model(tmp_path / "pairs", "pairs")
    change_json(directory / "tokenizer.json", normalizer=None)
    as_read = fbg.load(directory)
    write_json(directory / "sentence_bert_config.json", {"do_lower_case": True})
    model = fbg.load(directory)
    capitals, small = ("A QUESTION", "Of WORDS"), ("a question", "of words")
    assert model.predict([capitals]) == as_read.predict([small]) != as_read.predict([capitals])
    ranked = model.rerank(capitals[0], [capitals[1]])
    assert ranked == as_read.rerank(small[0], [small[1]])
    assert model.classify([small[0]]) == as_read.classify([small[0]])
    assert model.classify([capitals[0]]) == as_read.classify([capitals[0]])
    encoder = fbg.SentenceTransformer(str(directory)).encode
    pairs = [encoder([capitals]), encoder([small])]
    assert np.array_equal(*pairs)
