"""The golden arrays of PyLate's models: tests/data/tiny_pylate.npz.

Needs, in an environment of its own, PyLate 1.6, which asks for older packages than
golden_multi.py does:

    pip install torch==2.13.0 pylate==1.6.0 ml_dtypes
    python scripts/golden_pylate.py

For each model of tiny_multi.PYLATE: NAME-query and NAME-document, the vectors of all texts end to
end, and NAME-query-tokens and NAME-document-tokens, how many each has.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
from pylate import models

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from helpers import tiny_multi  # noqa: E402


def main() -> None:
    torch.set_num_threads(1)
    arrays: dict[str, Any] = {}
    asked = {"query": tiny_multi.QUERIES, "document": tiny_multi.DOCUMENTS}
    with tempfile.TemporaryDirectory() as directory:
        for name in tiny_multi.PYLATE:
            path = tiny_multi.write_multi(Path(directory) / name, name)
            known = len(tiny_multi.tokenizer(tiny_multi.PYLATE[name].family, True).get_vocab())
            model = models.ColBERT(str(path), device="cpu")
            assert len(model.tokenizer) == known, "PyLate must not have to add prefixes"
            for kind, texts in asked.items():
                # One at a time: of a batch, padding would count in queries that are not filled up.
                rows = [
                    model.encode([text], is_query=kind == "query", show_progress_bar=False)[0]
                    for text in texts
                ]
                arrays[f"{name}-{kind}"] = np.concatenate(rows)
                arrays[f"{name}-{kind}-tokens"] = np.array([len(row) for row in rows])
    path = ROOT / "tests" / "data" / "tiny_pylate.npz"
    np.savez_compressed(path, **arrays)
    print(f"{path.name}: {path.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
