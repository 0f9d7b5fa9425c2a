"""The rule of all tasks for texts that are too long: cut them with a warning, or raise an error.

truncation=True     cut the text, and say so in a UserWarning: once for each method of a model
truncation=False    ValueError that names the text and its length
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence

from fbg.text.encoded_text import EncodedText


class CutTexts:
    """Notices texts of one model that were cut, and remembers for which methods it said so.

    max_length: the tokens that the model takes.
    """

    def __init__(self, max_length: int) -> None:
        self._max_length = max_length
        self._said: set[str] = set()

    def with_max_length(self, max_length: int) -> CutTexts:
        """Return this object for another limit of texts; it remembers the same methods."""
        other = CutTexts(max_length)
        other._said = self._said
        return other

    def check(self, texts: Sequence[EncodedText], where: str, first: int, truncation: bool) -> None:
        """Warn about the first text that was cut, or raise ValueError without `truncation`.

        where, first: the name of the texts, such as "encode: sentences", and the number of
            texts[0] among them.
        """
        for n, text in enumerate(texts, first):
            if text.length > text.ids.size:
                self.cut(f"{where}[{n}]", f"{text.length} tokens", self._max_length, truncation)
                return

    def cut(self, text: str, has: str, most: int, truncation: bool) -> None:
        """Do as `check` for a text that is too long.

        text: its name, such as "encode: sentences[3]". has: what it has, such as "40 words".
        most: how many of them the model takes.
        """
        if not truncation:
            raise ValueError(
                f"{text} has {has}, but the model takes at most {most}; truncation=True "
                "truncates it"
            )
        method = text.partition(":")[0]
        if method not in self._said:
            self._said.add(method)
            warnings.warn(
                f"{text} has {has} and was truncated to the {most} that the model takes (this "
                f"warning is given once per model for {method})",
                UserWarning,
                stacklevel=_level_of_caller(),
            )


def _level_of_caller() -> int:
    """Return the stacklevel with which a warning names the line that called this package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").startswith("fbg."):
        level, frame = level + 1, frame.f_back
    return level
