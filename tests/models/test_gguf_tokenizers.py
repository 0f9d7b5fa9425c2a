"""The tokenizers of GGUF files make the tokens of the tokenizer.json of the same vocabulary."""

import numpy as np
import pytest
from tokenizers import AddedToken, Regex, Tokenizer, normalizers, pre_tokenizers
from tokenizers.models import BPE, Unigram
from tokenizers.processors import TemplateProcessing

import fbg
from helpers.gguf_files import write_gguf
from helpers.minilm import minilm_directory, sentences
from helpers.tiny_gguf import metadata_of, renamed, settings_of

TEXTS = [
    "Hello, world!",
    "unaffable ÉTÉ  naïve café",
    " leading and trailing \n new\tline ",
    "don't   split 12345 <mask> things",
    "漢字 и кириллица ▁ under",
    "",
]


def with_tokenizer(path, **metadata):
    config, tensors = settings_of("bert")
    own = {f"tokenizer.ggml.{key}": value for key, value in metadata.items()}
    pooling = {"bert.pooling_type": 1}
    values = {**metadata_of("bert", config), **own, **pooling}
    return fbg.load(write_gguf(path / "m.gguf", values, renamed("bert", tensors)))


def ids_of(model, texts):
    model.tokenizer.max_length = 1000  # the tiny model has few positions
    return [ids.tolist() for ids in model.tokenizer(texts)]


def pair_of(model):
    encoded = model.tokenizer.encode([("Hello", "world")], "pair", cut=False)[0]
    return encoded.ids.tolist()


def spelled(tokenizer):
    return [word for word, _ in sorted(tokenizer.get_vocab().items(), key=lambda item: item[1])]


def test_wordpiece_makes_the_same_tokens(tmp_path):
    own = Tokenizer.from_file(str(minilm_directory() / "tokenizer.json"))
    own.no_padding()
    own.no_truncation()
    special = {token.content for token in own.get_added_tokens_decoder().values()}
    words = spelled(own)
    model = with_tokenizer(
        tmp_path,
        model="bert",
        tokens=[
            word if word in special else word.removeprefix("##") if "##" in word else f"▁{word}"
            for word in words
        ],
        token_type=np.array([3 if word in special else 1 for word in words], np.int32),
        cls_token_id=101,
        seperator_token_id=102,
        unknown_token_id=100,
    )
    texts = [*TEXTS, *sentences()]
    assert ids_of(model, texts) == [own.encode(text).ids for text in texts]
    encoded = model.tokenizer.encode([("Hello", "world")], "pair")[0]
    assert encoded.ids.tolist() == own.encode("Hello", "world").ids
    assert encoded.types.tolist() == own.encode("Hello", "world").type_ids


def test_a_cased_vocabulary_keeps_case(tmp_path):
    words = ["[UNK]", "[CLS]", "[SEP]", "▁Hello", "▁hello"]
    kinds = np.array([2, 3, 3, 1, 1], np.int32)
    model = with_tokenizer(
        tmp_path,
        **{"model": "bert", "tokens": words, "token_type": kinds},
        **{"cls_token_id": 1, "seperator_token_id": 2},
    )
    assert ids_of(model, ["Hello hello HELLO"]) == [[1, 3, 4, 0, 2]]


def unigram():
    words = ["<s>", "<pad>", "</s>", "<unk>", "▁", "▁Hello", "▁world", ",", "!", "▁new", "line"]
    words += [*"abcdefghijklmnopqrstuvwxyz", "▁un", "aff", "able", "<mask>"]
    return words, np.array([0.0] * 4 + [-2.0 - n / 8 for n in range(len(words) - 4)], np.float32)


def test_unigram_makes_the_tokens_of_roberta(tmp_path):
    words, scores = unigram()
    own = Tokenizer(Unigram(list(zip(words, scores.tolist(), strict=True)), unk_id=3))
    own.normalizer = normalizers.Replace(Regex(" {2,}"), " ")
    own.pre_tokenizer = pre_tokenizers.Sequence(
        [pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()]
    )
    own.add_special_tokens([*words[:4], AddedToken("<mask>", lstrip=True, normalized=False)])
    own.post_processor = TemplateProcessing(
        single="<s> $A </s>",
        pair="<s> $A </s> </s> $B </s>",
        special_tokens=[("<s>", 0), ("</s>", 2)],
    )
    kinds = np.ones(len(words), np.int32)
    kinds[:4] = kinds[-1] = 3
    kinds[3] = 2
    model = with_tokenizer(
        tmp_path,
        **{"model": "t5", "tokens": words, "scores": scores, "token_type": kinds},
        **{"bos_token_id": 0, "eos_token_id": 2, "unknown_token_id": 3},
        **{"add_bos_token": True, "add_eos_token": True},
    )
    texts = [text.replace("\n", " ").replace("\t", " ") for text in TEXTS]
    assert ids_of(model, texts) == [own.encode(text).ids for text in texts]
    assert pair_of(model) == own.encode("Hello", "world").ids


def merged(text, words, scores):
    """What SentencePiece's BPE does: the pair that makes the best token is merged first."""
    worth = dict(zip(words, scores.tolist(), strict=True))
    parts = list(text)
    while pairs := [n for n in range(len(parts) - 1) if parts[n] + parts[n + 1] in worth]:
        n = max(pairs, key=lambda n: (worth[parts[n] + parts[n + 1]], -n))
        parts[n : n + 2] = [parts[n] + parts[n + 1]]
    known = [[p] if p in worth else [f"<0x{octet:02X}>" for octet in p.encode()] for p in parts]
    return [words.index(part) for each in known for part in each]


@pytest.mark.parametrize("prefix", [True, False])
def test_pieces_merge_by_their_scores(tmp_path, prefix):
    words = ["<unk>", "<s>", "</s>", *(f"<0x{octet:02X}>" for octet in range(256))]
    special = len(words)
    words += ["he", "▁t", "in", "er", "an", "▁the", "▁▁", "ing", "▁th", "th", "nd", "▁and", "the"]
    words += ["▁", *"abcdefghijklmnopqrstuvwxyz"]
    scores = np.zeros(len(words), np.float32)
    scores[special:] = -np.arange(len(words) - special)
    kinds = np.array([2, 3, 3] + [6] * 256 + [1] * (len(words) - special), np.int32)
    model = with_tokenizer(
        tmp_path,
        **{"model": "llama", "tokens": words, "scores": scores, "token_type": kinds},
        **{"bos_token_id": 1, "eos_token_id": 2, "unknown_token_id": 0},
        **({} if prefix else {"add_space_prefix": False}),
    )
    texts = ["the thing  and the other", " in  the\nmorning", "naïve and 漢字", "<s>hand</s>"]
    for text in texts[:3]:
        own = text.replace(" ", "▁")
        assert ids_of(model, [text]) == [[1, *merged("▁" * prefix + own, words, scores)]]
        assert model.tokenizer.decode(ids_of(model, [text])[0]) == text
    inner = merged("▁" * prefix + "hand", words, scores)
    assert ids_of(model, texts[3:]) == [[1, 1, *inner, 2]]


@pytest.mark.parametrize("pre", ["gpt-2", "qwen2", "llama-bpe"])
def test_byte_pairs_make_the_same_tokens(tmp_path, pre):
    words = ["<|end|>", *sorted(pre_tokenizers.ByteLevel.alphabet())]
    merges = [
        ("H", "e"),
        ("l", "l"),
        ("He", "ll"),
        ("Hell", "o"),
        ("Ġ", "w"),
        ("1", "2"),
        ("Ġ", "Ġ"),
    ]
    words += [one + other for one, other in merges]
    own = Tokenizer(BPE({word: n for n, word in enumerate(words)}, merges))
    split = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=pre == "gpt-2")
    own.pre_tokenizer = split
    if pre != "gpt-2":
        digits = r"\p{N}" + ("{1,3}" if pre == "llama-bpe" else "")
        pattern = (
            r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|" + digits + "| "
            r"?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
        )
        own.pre_tokenizer = pre_tokenizers.Sequence(
            [pre_tokenizers.Split(Regex(pattern), "isolated"), split]
        )
    if pre == "qwen2":
        own.normalizer = normalizers.NFC()
    own.add_special_tokens(["<|end|>"])
    own.post_processor = TemplateProcessing(
        single="$A <|end|>", pair="$A <|end|> $B <|end|>", special_tokens=[("<|end|>", 0)]
    )
    model = with_tokenizer(
        tmp_path,
        **{"model": "gpt2", "pre": pre, "tokens": words, "merges": [" ".join(m) for m in merges]},
        **{"token_type": np.array([3] + [1] * (len(words) - 1), np.int32)},
        **{"eos_token_id": 0, "add_eos_token": True},
    )
    assert ids_of(model, TEXTS) == [own.encode(text).ids for text in TEXTS]
    assert model.tokenizer.decode(own.encode("Hello wide").ids) == "Hello wide"
