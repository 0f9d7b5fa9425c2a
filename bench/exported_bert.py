"""An exported BERT against its directory: the ONNX file on fbg, `fbg.load(dir)` and onnxruntime.

    python tests/helpers/exported_bert.py DIRECTORY bert.onnx
    python bench/exported_bert.py DIRECTORY bert.onnx --threads 1 2

Sentences of a batch have the same length, so that nobody computes padding. The embeddings (means
over tokens, of length 1) of the file must agree with those of the directory to 1e-4.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import timing

import fbg

Array = npt.NDArray[Any]
BATCHES = ((1, 16), (1, 128), (8, 64))
TOLERANCE = 1e-4


def embeddings(hidden: Array) -> Array:
    """Return the mean over tokens, divided by its length."""
    mean = hidden.mean(axis=1)
    result: Array = mean / np.linalg.norm(mean, axis=-1, keepdims=True)
    return result


def contestants(directory: Path, file: Path, feeds: dict[str, Array], threads: int) -> Any:
    """Return what computes the hidden states, by name."""
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    session = onnxruntime.InferenceSession(str(file), options)
    net = fbg.load(file, backends=("fbg",), num_threads=threads)
    model = fbg.load(str(directory), num_threads=threads)
    return {
        "fbg-onnx": lambda: net.run(feeds)["last_hidden_state"],
        "fbg-directory": lambda: model.forward(**feeds).last_hidden_state,
        "onnxruntime": lambda: session.run(None, feeds)[0],
    }


def main() -> None:
    parser = timing.parser(__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("file", type=Path)
    arguments = parser.parse_args()
    timing.use_clock(arguments)
    rng = np.random.default_rng(0)
    rows = []
    for threads in arguments.threads:
        for batch, length in BATCHES:
            ids = rng.integers(1000, 20000, (batch, length))
            feeds = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
            feeds["token_type_ids"] = np.zeros_like(ids)
            ready = contestants(arguments.directory, arguments.file, feeds, threads)
            results = {name: embeddings(forward()) for name, forward in ready.items()}
            error = np.abs(results["fbg-onnx"] - results["fbg-directory"]).max()
            if error > TOLERANCE:
                raise SystemExit(f"exported_bert.py: embeddings differ by {error:.1e}")
            field = [timing.Contestant(name, forward) for name, forward in ready.items()]
            times = timing.race(field, timing.rounds(arguments), timing.pause(threads))
            row = [f"{batch} x {length}", str(threads), f"{error:.0e}"]
            row += [f"{times[name].median * 1e3:.2f}" for name in ready]
            own = times["fbg-onnx"]
            row += [f"{own.speedup_over(times[name]):.2f}" for name in list(ready)[1:]]
            rows.append(row)
    headers = ["batch x length", "threads", "error", "fbg-onnx ms", "directory ms", "ort ms"]
    print(timing.markdown([*headers, "x directory", "x ort"], rows))


if __name__ == "__main__":
    main()
