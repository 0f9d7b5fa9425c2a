"""Embeds queries and documents with the prompts that a model has for them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from fbg.model.model import Model
from fbg.tasks.inputs import require_texts

__all__ = ["DOCUMENT_PROMPTS", "QUERY_PROMPTS", "encode_prompted", "require_model"]

# The first prompt that a model has is used, as in encode_query of sentence-transformers.
QUERY_PROMPTS = ("query",)
DOCUMENT_PROMPTS = ("document", "passage", "corpus")


def require_model(where: str, model: object) -> Model:
    """Return a model; raises TypeError for anything else."""
    if not isinstance(model, Model):
        got = type(model).__name__
        raise TypeError(f"{where}: model must be an fbg.Model, from fbg.load, got {got}")
    return model


def encode_prompted(
    model: Model, texts: Iterable[str], names: Sequence[str], **options: Any
) -> npt.NDArray[np.float32]:
    """Embed texts with the first of the prompts that the model has, or with its default prompt.

    Raises TypeError for what is no iterable of texts, such as a single str, a table or a mapping.
    """
    name = next((name for name in names if name in model.prompts), None)
    found = require_texts("encode: texts", texts, several=True)
    return model.encode(found, prompt_name=name, **options)
