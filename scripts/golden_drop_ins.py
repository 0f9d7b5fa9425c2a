"""What sentence-transformers answers to calls that ours must answer alike. For make_golden.py.

The calls are those of tests/helpers/drop_in_calls.py. `outcomes` describes their results as JSON,
by class and call, `signatures` has the arguments of all public methods, and an array for each call
has the numbers of its result.
"""

from __future__ import annotations

import inspect
import json
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from sentence_transformers import CrossEncoder, SentenceTransformer
from sentence_transformers.util.similarity import SimilarityFunction

from helpers import drop_in_calls
from helpers.drop_in_calls import CALLS, numbers, outcome
from helpers.drop_ins import write_prompted
from helpers.tiny_tasks import write_model


def outcome_arrays() -> dict[str, np.ndarray]:
    drop_in_calls.Distance = SimilarityFunction
    arrays: dict[str, np.ndarray] = {}
    outcomes: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as name:
        models = {
            "SentenceTransformer": SentenceTransformer(
                str(write_prompted(Path(name) / "tiny")), device="cpu"
            ),
            "CrossEncoder": CrossEncoder(
                str(write_model(Path(name) / "pairs", "pairs")), device="cpu"
            ),
        }
        for kind, model in models.items():
            outcomes[kind] = {}
            for call, function in CALLS[kind].items():
                outcomes[kind][call] = outcome(function, model)
                if outcomes[kind][call] != "refused":
                    arrays[f"{kind}/{call}"] = numbers(function(model)).astype(np.float32)
        signatures = {kind: _signatures(type(model)) for kind, model in models.items()}
    arrays["outcomes"] = np.array(json.dumps(outcomes))
    arrays["signatures"] = np.array(json.dumps(signatures))
    return arrays


def _signatures(kind: type) -> dict[str, list[str] | None]:
    """The arguments of the public methods of a class that torch does not define.

    None: it is not a method.
    """
    own = [base for base in kind.__mro__ if base.__module__.startswith("sentence_transformers")]
    names = {name for base in own for name in vars(base) if not name.startswith("_")}
    return {
        name: [n for n in inspect.signature(getattr(kind, name)).parameters if n != "self"]
        if inspect.isroutine(getattr(kind, name))
        else None
        for name in sorted({"__init__", *names})
    }
