"""The tokenizer of a GGUF file as tokenizer.json.

tokenizer.ggml.model says which kind it is: "bert" is WordPiece, whose tokens begin with "▁" where a
word begins; "t5" and "llama" are SentencePiece's unigram model and its BPE; "gpt2" is BPE of bytes,
and tokenizer.ggml.pre names the rule that splits texts before.
"""

from __future__ import annotations

import base64
from collections.abc import Sequence
from typing import Any

import numpy as np

from fbg.checkpoints.gguf.header import Header
from fbg.checkpoints.settings import Settings
from fbg.errors import ModelError

NORMAL, UNKNOWN, CONTROL, USER_DEFINED = 1, 2, 3, 4  # kinds of tokens in the file
SPACE, BYTE = "▁", "<0x00>"
LONGEST_PIECE = 128  # characters of a token that merges may make

# How texts are split before BPE of bytes; "": as GPT-2 does, whose expression the library has.
QWEN = (
    r"(?i:'s|'t|'re|'ve|'m|'ll|'d)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}"
    r"| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+"
)
LLAMA = QWEN.replace(r"\p{N}| ?", r"\p{N}{1,3}| ?")
SPLITS = {
    **dict.fromkeys(("default", "gpt-2", "roberta-bpe", "modern-bert"), ""),
    **dict.fromkeys(("jina-v2-es", "jina-v2-de", "jina-v2-code"), ""),
    **dict.fromkeys(("qwen2", "deepseek-r1-qwen"), QWEN),
    **dict.fromkeys(("llama-bpe", "llama3", "llama-v3"), LLAMA),
}

Json = dict[str, Any]


def make_tokenizer(header: Header) -> Json | None:
    """Return what tokenizer.json holds, None for a file without a tokenizer; raises ModelError."""
    prefix = "tokenizer.ggml."
    own = {
        key.removeprefix(prefix): value
        for key, value in header.metadata.items()
        if key.startswith(prefix)
    }
    if own.get("model", "none") in ("none", "no_vocab"):
        return None
    reader = _Reader(Settings(header.path, own, prefix))
    return reader.tokenizer()


class _Reader:
    """Reads the metadata of a tokenizer, all of whose lists have an element for each token."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.kind = settings.choice("model", ("bert", "t5", "gpt2", "llama"))
        self.words: list[str] = self._strings("tokens")
        self.kinds = self._numbers("token_type", NORMAL, (np.int32, np.uint32))

    def tokenizer(self) -> Json:
        makers = {"bert": self._wordpiece, "t5": self._unigram, "gpt2": self._bytes}
        parts = {**makers, "llama": self._pieces}[self.kind]()
        special = np.flatnonzero((self.kinds >= UNKNOWN) & (self.kinds <= USER_DEFINED))
        added = [self._added(number) for number in special.tolist() if self.words[number]]
        nothing = dict.fromkeys(("truncation", "padding", "decoder", "normalizer", "pre_tokenizer"))
        frame = {"post_processor": self._frame(), "added_tokens": added}
        return {"version": "1.0", **nothing, **parts, **frame}

    def _added(self, number: int) -> Json:
        word = self.words[number]
        return {
            **{"id": number, "content": word, "special": bool(self.kinds[number] != USER_DEFINED)},
            **dict.fromkeys(("single_word", "rstrip", "normalized"), False),
            "lstrip": word == "<mask>",  # it takes the space before it
        }

    def _wordpiece(self) -> Json:
        capitals = False
        for number, (word, kind) in enumerate(zip(self.words, self.kinds, strict=True)):
            if kind not in (CONTROL, UNKNOWN):
                begins = word.startswith(SPACE)
                capitals |= begins and word[1:] != word[1:].lower() and word[1:2] != "["
                self.words[number] = word[1:] if begins else f"##{word}"
        normalizer = {
            "type": "BertNormalizer",
            **{"clean_text": True, "handle_chinese_chars": True, "strip_accents": None},
            "lowercase": not capitals,  # files do not say it
        }
        model = {
            **{"type": "WordPiece", "unk_token": self._unknown("[UNK]")},
            **{"continuing_subword_prefix": "##", "max_input_chars_per_word": 100},
            "vocab": self._vocabulary(),
        }
        decoder = {"type": "WordPiece", "prefix": "##", "cleanup": True}
        split = {"type": "BertPreTokenizer"}
        return {
            "normalizer": normalizer,
            "pre_tokenizer": split,
            "model": model,
            "decoder": decoder,
        }

    def _unigram(self) -> Json:
        scores = self._scores()
        charsmap = self.settings.get("precompiled_charsmap")
        normalizer = None
        if charsmap is not None:
            if not (isinstance(charsmap, np.ndarray) and charsmap.dtype.itemsize == 1):
                raise self.settings.error("precompiled_charsmap", "an array of bytes")
            encoded = base64.b64encode(charsmap.tobytes()).decode()
            normalizer = {"type": "Precompiled", "precompiled_charsmap": encoded}
        space = before = self._space()
        if self.settings.flag("remove_extra_whitespaces", default=True):
            before = {"type": "Sequence", "pretokenizers": [{"type": "WhitespaceSplit"}, space]}
        model = {
            **{"type": "Unigram", "unk_id": self.settings.size("unknown_token_id", 2, at_least=0)},
            "vocab": [[word, float(s)] for word, s in zip(self.words, scores, strict=True)],
            "byte_fallback": BYTE in self.words,
        }
        parts = {"normalizer": normalizer, "pre_tokenizer": before}
        return {**parts, "model": model, "decoder": space}

    def _bytes(self) -> Json:
        name = self.settings.choice("pre", tuple(SPLITS), default="default")
        split = {"type": "ByteLevel", "add_prefix_space": False, "trim_offsets": True}
        if SPLITS[name]:
            first = {
                **{"type": "Split", "pattern": {"Regex": SPLITS[name]}},
                **{"behavior": "Isolated", "invert": False},
            }
            both = [first, {**split, "use_regex": False}]
            before: Json = {"type": "Sequence", "pretokenizers": both}
        else:
            before = {**split, "use_regex": True}
        merges = []
        for merge in self._strings("merges", own_length=True):
            one, space, other = merge.partition(" ")
            if not (one and space and other) or " " in other:
                raise self.settings.error("merges", "pairs of tokens with a space between them")
            merges.append([one, other])
        nfc = {"type": "NFC"} if SPLITS[name] == QWEN or name == "modern-bert" else None
        model = self._bpe(merges, ignore_merges=SPLITS[name] == LLAMA)
        decoder = {**split, "use_regex": True}
        return {"normalizer": nfc, "pre_tokenizer": before, "model": model, "decoder": decoder}

    def _pieces(self) -> Json:
        """Return BPE whose merges follow from scores: the next one makes the best token."""
        vocabulary, found = self._vocabulary(), []
        for word, score, kind in zip(self.words, self._scores(), self.kinds, strict=True):
            if kind == NORMAL and len(word) <= LONGEST_PIECE:
                for at in range(1, len(word)):
                    one, other = word[:at], word[at:]
                    if one in vocabulary and other in vocabulary:
                        order = -score, vocabulary[one], vocabulary[other]
                        found.append((order, [one, other]))
        space = {"type": "Replace", "pattern": {"String": " "}, "content": SPACE}
        back = {"type": "Replace", "pattern": {"String": SPACE}, "content": " "}
        normalizers, decoders = [space], [back, {"type": "ByteFallback"}, {"type": "Fuse"}]
        if self.settings.flag("add_space_prefix", default=True):
            normalizers.insert(0, {"type": "Prepend", "prepend": SPACE})
            decoders.append({"type": "Strip", "content": " ", "start": 1, "stop": 0})
        return {
            "normalizer": {"type": "Sequence", "normalizers": normalizers},
            "model": {
                **self._bpe([merge for _, merge in sorted(found)], ignore_merges=False),
                **{"unk_token": self._unknown(None), "fuse_unk": True},
                "byte_fallback": BYTE in vocabulary,
            },
            "decoder": {"type": "Sequence", "decoders": decoders},
        }

    def _bpe(self, merges: list[list[str]], ignore_merges: bool) -> Json:
        nothing = dict.fromkeys(
            ("dropout", "unk_token", "continuing_subword_prefix", "end_of_word_suffix")
        )
        options = {"fuse_unk": False, "byte_fallback": False, "ignore_merges": ignore_merges}
        vocabulary = self._vocabulary()
        return {"type": "BPE", **nothing, **options, "vocab": vocabulary, "merges": merges}

    def _space(self) -> Json:
        first = self.settings.flag("add_space_prefix", default=True)
        scheme = "always" if first else "never"
        return {"type": "Metaspace", "replacement": SPACE, "prepend_scheme": scheme, "split": True}

    def _frame(self) -> Json | None:
        """Return the special tokens around a text, and around a pair."""
        bert, kind = self.kind == "bert", self.kind
        firsts, lasts = ("bos_token_id", "cls_token_id"), ("eos_token_id", "seperator_token_id")
        first, last = (self._token(*keys[:: -1 if bert else 1]) for keys in (firsts, lasts))
        rule = SPLITS[self.settings.get("pre") or "default"] if kind == "gpt2" else ""
        llama = kind == "llama" or rule == LLAMA
        if not self.settings.flag("add_bos_token", default=bert or llama):
            first = None
        if not self.settings.flag("add_eos_token", default=kind in ("bert", "t5")):
            last = None
        if first is None and last is None:
            return None

        def item(kind: str, name: object, segment: int) -> Json:
            return {kind: {"id": name, "type_id": segment}}

        special = {
            name: [item("SpecialToken", self.words[name], 0)] if name is not None else []
            for name in (first, last)
        }
        single = [*special[first], item("Sequence", "A", 0), *special[last]]
        end = [item("SpecialToken", self.words[last], 1)] if last is not None else []
        # RoBERTa's vocabularies, unlike BERT's, have two ends between texts.
        between = special[last] if kind == "t5" and first is not None else []
        segment = 1 if bert else 0
        second = [item("Sequence", "B", segment), *(end if bert else special[last])]
        pair = [*single, *between, *second]
        tokens = {
            self.words[name]: {"id": self.words[name], "ids": [name], "tokens": [self.words[name]]}
            for name in (first, last)
            if name is not None
        }
        return {
            "type": "TemplateProcessing",
            **{"single": single, "pair": pair, "special_tokens": tokens},
        }

    def _token(self, *keys: str) -> int | None:
        """Return the token under the first of the keys that is there; raises ModelError."""
        for key in keys:
            if key in self.settings:
                number = self.settings.size(key, at_least=0)
                if number >= len(self.words):
                    raise self.settings.error(key, f"one of {len(self.words)} tokens")
                return number
        return None

    def _unknown(self, default: str | None) -> str | None:
        number = self._token("unknown_token_id")
        return default if number is None else self.words[number]

    def _vocabulary(self) -> dict[str, int]:
        vocabulary = {word: number for number, word in enumerate(self.words)}
        if len(vocabulary) != len(self.words):
            raise ModelError(
                f"{self.settings.path}: tokenizer.ggml.tokens must be distinct, got "
                f"{len(self.words)} of which {len(vocabulary)} are"
            )
        return vocabulary

    def _scores(self) -> Sequence[float]:
        scores = self._numbers("scores", 0.0, (np.float32,))
        if not np.isfinite(scores).all():
            raise self.settings.error("scores", "finite numbers")
        return [float(score) for score in scores]

    def _strings(self, key: str, *, own_length: bool = False) -> list[str]:
        values = self.settings.get(key)
        texts = isinstance(values, list)  # arrays of numbers are NumPy's
        if values is None and own_length:
            return []
        if not texts or not (values or own_length):
            raise ModelError(f"{self.settings.path}: tokenizer.ggml.{key} must be strings")
        return list(values)

    def _numbers(self, key: str, default: float, types: Sequence[type]) -> Any:
        values = self.settings.get(key)
        if values is None:
            return np.full(len(self.words), default)
        if not (isinstance(values, np.ndarray) and values.dtype in types):
            raise ModelError(f"{self.settings.path}: tokenizer.ggml.{key} must be numbers")
        if values.shape != (len(self.words),):
            raise ModelError(
                f"{self.settings.path}: tokenizer.ggml.{key} must have a number for each of "
                f"{len(self.words)} tokens, got {values.size}"
            )
        return values
