"""Guesses of masked tokens, with the results of the fill-mask pipeline of transformers."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple, overload

import numpy as np
import numpy.typing as npt

from fbg.arrays import Floats
from fbg.errors import ModelError
from fbg.runtime.steps import Steps
from fbg.tasks.context import Block, TaskCall, TaskMethods, task
from fbg.tasks.inputs import require_count, require_texts
from fbg.tasks.results import FilledMask
from fbg.tasks.scores import softmax
from fbg.tasks.scores import top_k as best_first

Places = npt.NDArray[np.intp]
Results = list[FilledMask] | list[list[FilledMask]]


class FillMaskMethods(TaskMethods):
    """The method of `Model` for architectures that end in ForMaskedLM."""

    @overload
    def fill_mask(  # type: ignore[overload-overlap]
        self,
        texts: str,
        top_k: int = ...,
        targets: str | Iterable[str] | None = ...,
        batch_size: int = ...,
        truncation: bool = ...,
    ) -> Results: ...

    @overload
    def fill_mask(
        self,
        texts: Iterable[str],
        top_k: int = ...,
        targets: str | Iterable[str] | None = ...,
        batch_size: int = ...,
        truncation: bool = ...,
    ) -> list[Results]: ...

    @task
    def fill_mask(
        self,
        texts: str | Iterable[str],
        top_k: int = 5,
        targets: str | Iterable[str] | None = None,
        batch_size: int = 32,
        truncation: bool = True,
    ) -> Steps[Results | list[Results]]:
        """Predict the tokens that are masked in texts.

        texts: a str, or an iterable of str, each with at least one mask token of the tokenizer,
            such as [MASK] or <mask>.
        top_k: how many tokens to return for each mask, best first.
        targets: the tokens to choose from; None: the whole vocabulary.
        batch_size: the most texts to compute at a time; limits memory, and never changes a result.
        truncation: True truncates texts to `max_length` tokens, and warns once for each model;
            False raises ValueError for a longer text.

        Returns for a str a list of dicts with the keys "score", "token" (its id), "token_str" and
        "sequence" (the completed text), or a list of such lists if the text has several masks. For
        several texts, returns a list of these results.

        Raises ValueError also for a text without a mask in its first `max_length` tokens, and for a
        target that is not in the vocabulary.

        >>> model.fill_mask("Paris is the [MASK] of France.", top_k=1)  # doctest: +SKIP
        [{'score': 0.99, 'token': 3007, 'token_str': 'capital',
          'sequence': 'paris is the capital of france.'}]
        """
        context = self._context
        call = TaskCall(context, "fill_mask", "texts", batch_size, truncation)
        k = require_count("fill_mask: top_k", top_k)
        if call.tokenizer.mask_id is None:
            raise ModelError("fill_mask: the tokenizer has no mask token such as [MASK] or <mask>")
        filler = _Filler(call, k, _checked_targets(call, targets, context.config.vocab_size))
        results: list[Results] = []
        for block in call.blocks(require_texts(call.where, texts)):
            results += yield from filler.fill(block)
        return results[0] if isinstance(texts, str) else results


def _checked_targets(call: TaskCall, targets: object, vocab_size: int) -> Places:
    """Return the numbers of the tokens to choose from."""
    if targets is None:
        return np.arange(vocab_size)
    numbers = []
    for n, target in enumerate(require_texts("fill_mask: targets", targets)):
        number = call.tokenizer.token_id(target)
        if number is None or number >= vocab_size:
            raise ValueError(
                f"fill_mask: targets[{n}] must be a token of the vocabulary, got {target!r}"
            )
        numbers.append(number)
    if not numbers:
        raise ValueError("fill_mask: targets must name at least one token")
    return np.unique(numbers)


class _Filler(NamedTuple):
    """Fills masks, for one call of `fill_mask`. targets: the tokens to choose from."""

    call: TaskCall
    top_k: int
    targets: Places

    def fill(self, block: Block[str]) -> Steps[list[Results]]:
        places = [self._masks(block, n) for n in range(len(block.encoded))]
        # Only the states of masks are kept, to save memory.
        masked = yield from self.call.run(block.encoded, lambda n, states: states[places[n]])
        logits = self.call.decode(np.concatenate(masked))
        results: list[Results] = []
        for text, masks in zip(block.encoded, places, strict=True):
            alone = masks.size == 1
            rows = [self._filled(text.ids, int(m), next(logits), alone) for m in masks]
            results.append(rows[0] if alone else rows)
        return results

    def _masks(self, block: Block[str], n: int) -> Places:
        tokenizer, text = self.call.tokenizer, block.encoded[n]
        masks = np.flatnonzero(text.ids == tokenizer.mask_id)
        if masks.size == 0:
            raise ValueError(
                f"{self.call.where}[{block.first + n}] must contain the mask token "
                f"{tokenizer.mask_token} within the first {tokenizer.max_length} tokens"
            )
        return masks

    def _filled(
        self, ids: npt.NDArray[np.int32], place: int, logits: Floats, skip_special_tokens: bool
    ) -> list[FilledMask]:
        tokenizer, scores = self.call.tokenizer, softmax(logits)
        padding = tokenizer.padding_id
        results: list[FilledMask] = []
        for best in self.targets[best_first(scores[self.targets], self.top_k)].tolist():
            filled = ids.copy()
            filled[place] = best
            text = filled[filled != padding].tolist()  # padding has no text
            results.append(
                {
                    "score": float(scores[best]),
                    "token": best,
                    "token_str": tokenizer.decode([best], skip_special_tokens=False),
                    "sequence": tokenizer.decode(text, skip_special_tokens),
                }
            )
        return results
