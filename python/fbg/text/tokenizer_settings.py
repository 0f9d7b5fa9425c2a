"""Files beside tokenizer.json that say how text is split, applied as transformers apply them.

The classes for BERT's tokenizer build it anew from its vocabulary and from tokenizer_config.json,
so that what this file says wins; special_tokens_map.json wins over it. Other classes take
tokenizer.json as it is.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fbg.checkpoints.settings import Settings

if TYPE_CHECKING:
    from tokenizers import Tokenizer

TOKENIZER_CONFIG = "tokenizer_config.json"
SPECIAL_TOKENS = "special_tokens_map.json"
TOKENIZER_FILES = ("tokenizer.json", TOKENIZER_CONFIG, SPECIAL_TOKENS)
# Classes that take tokenizer.json as it is.
PLAIN = ("PreTrainedTokenizer", "PreTrainedTokenizerFast", "TokenizersBackend")


def apply_settings(tokenizer: Tokenizer, config: Settings, special: Settings) -> None:
    """Change a tokenizer to what the files beside it say; raises ModelError.

    config, special: of tokenizer_config.json and special_tokens_map.json.
    """
    from tokenizers.models import WordPiece
    from tokenizers.normalizers import BertNormalizer

    normalizer, model = tokenizer.normalizer, tokenizer.model
    if config.get("tokenizer_class") in PLAIN or not isinstance(normalizer, BertNormalizer):
        return

    def chosen(key: str, own: bool | None) -> bool | None:
        return own if config.get(key) is None else config.flag(key)

    found = (normalizer.handle_chinese_chars, normalizer.strip_accents, normalizer.lowercase)
    keys = ("tokenize_chinese_chars", "strip_accents", "do_lower_case")
    wanted = tuple(map(chosen, keys, found))
    if wanted != found:
        chinese, accents, lower = wanted
        tokenizer.normalizer = BertNormalizer(
            normalizer.clean_text, bool(chinese), accents, bool(lower)
        )
    names = {}
    for key in ("unk_token", "cls_token", "sep_token"):
        by_map = "added_tokens_decoder" not in config and special.get(key) is not None
        names[key] = _token(tokenizer, special if by_map else config, key)
    unknown, first, last = names.values()
    if isinstance(model, WordPiece) and unknown not in (None, model.unk_token):
        model.unk_token = unknown
        tokenizer.model = model
    if first is not None or last is not None:
        _frame(tokenizer, first or "[CLS]", last or "[SEP]")


def _token(tokenizer: Tokenizer, settings: Settings, key: str) -> str | None:
    """Return the name of a special token, None where the file does not say it."""
    value = settings.get(key)
    name = value.get("content") if isinstance(value, dict) else value
    if name is None:
        return None
    if not isinstance(name, str) or tokenizer.token_to_id(name) is None:
        raise settings.error(key, "a token of the vocabulary")
    return name


def _frame(tokenizer: Tokenizer, first: str, last: str) -> None:
    """Put special tokens around texts, unless the tokenizer does so already."""
    from tokenizers.processors import TemplateProcessing

    names = dict.fromkeys((first, last))
    ids = [tokenizer.token_to_id(name) for name in (first, last)]
    if None in ids or tokenizer.encode("").ids in ([], ids):
        return
    tokenizer.post_processor = TemplateProcessing(
        single=f"{first} $A {last}",
        pair=f"{first} $A {last} $B:1 {last}:1",
        special_tokens=[(name, tokenizer.token_to_id(name)) for name in names],
    )


def in_lower_case(tokenizer: Tokenizer) -> Tokenizer:
    """Return a tokenizer that makes texts lower case first, as sentence-transformers do it.

    Special tokens are found before that, and offsets are those of the text as it was.
    """
    from tokenizers import Tokenizer, normalizers

    own: Any = tokenizer.normalizer
    lower = normalizers.Lowercase()
    if isinstance(own, normalizers.Lowercase):
        return tokenizer
    other = Tokenizer.from_str(tokenizer.to_str())
    other.normalizer = lower if own is None else normalizers.Sequence([lower, own])
    return other
