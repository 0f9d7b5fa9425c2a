"""Memory and time of one long text, and of a list with texts of all lengths up to it.

    python bench/long_documents.py                          512 to 32768 tokens, every precision
    python bench/long_documents.py --geometry modernbert --dtype int8 --tokens 8192 --texts 1 64

Every figure is of a process of its own, which loads a random checkpoint of a published geometry
(geometries.py) and embeds a short text. MiB are what its resident memory grows by at most while it
encodes: that is what a text takes beside the weights, which are in a column of their own. Of a
list, the lengths grow by a constant factor from 8 tokens to the longest, and its memory is given
relative to that of the longest text alone.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import checkpoints
import timing

DTYPES = {"fp32": "float32", "bf16": "bfloat16", "int8": "int8"}
LEAST = 8  # tokens
SAMPLE = r"""
import ctypes, gc, json, re, sys, time
import fbg
def memory(name):
    return int(re.search(name + r":\s+(\d+)", open("/proc/self/status").read())[1]) / 1024
path, dtype, threads, lengths = json.loads(sys.argv[1])
model = fbg.load(path, dtype=dtype, num_threads=threads)
model.encode("a")
texts = ["a " * (length - 2) for length in lengths]
assert model.token_counts(texts) == lengths
gc.collect()
ctypes.CDLL(None).malloc_trim(0)  # what is free goes back to the system
before = memory("VmRSS")
open("/proc/self/clear_refs", "w").write("5")  # VmHWM begins again
start = time.perf_counter()
model.encode(texts, truncation=False)
seconds = time.perf_counter() - start
report = model.memory_report()
print(json.dumps([memory("VmHWM") - before, seconds, (report.total - report.arenas) / 2**20]))
"""


def checkpoint(geometry: str, layers: int | None, tokens: int, cache: Path) -> Path:
    """A random checkpoint that takes so many tokens, written if it is not there."""
    folder = cache / f"long-{geometry}-{layers or 'all'}-{tokens}"
    if not (folder / "tokenizer.json").exists():
        model_type, settings = checkpoints.BY_TRANSFORMERS[geometry]
        settings = settings | {"max_position_embeddings": tokens}
        if layers is not None:
            settings |= {"num_hidden_layers": layers}
        checkpoints.write_with_transformers(folder, model_type, settings)
    return folder


def lengths(tokens: int, texts: int) -> list[int]:
    steps = max(texts - 1, 1)
    return [round(tokens * (LEAST / tokens) ** (n / steps)) for n in range(texts)]


def sample(path: Path, dtype: str, threads: int, lengths: list[int]) -> list[float]:
    """MiB of growth, seconds, MiB of weights."""
    asked = json.dumps([str(path), DTYPES[dtype], threads, lengths])
    command = [sys.executable, "-c", SAMPLE, asked]
    found: list[float] = json.loads(
        subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    )
    print(dtype, threads, max(lengths), len(lengths), found, file=sys.stderr)
    return found


def main() -> None:
    parser = timing.parser(__doc__.splitlines()[0])
    names = ("modernbert", "qwen3")
    parser.add_argument("--geometry", nargs="+", choices=checkpoints.BY_TRANSFORMERS, default=names)
    parser.add_argument("--layers", type=int, help="default: all; memory is the same with fewer")
    parser.add_argument("--dtype", nargs="+", choices=DTYPES, default=list(DTYPES))
    parser.add_argument("--tokens", type=int, nargs="+", default=[512, 2048, 8192, 32768])
    parser.add_argument("--texts", type=int, nargs="+", default=[1])
    parser.add_argument("--cache", type=Path, default=checkpoints.default_cache())
    arguments = parser.parse_args()
    rows = []
    for geometry in arguments.geometry:
        path = checkpoint(geometry, arguments.layers, max(arguments.tokens), arguments.cache)
        for dtype in arguments.dtype:
            for threads in arguments.threads:
                for tokens in arguments.tokens:
                    alone, seconds, weights = sample(path, dtype, threads, [tokens])
                    row = [geometry, dtype, threads, round(weights), tokens, round(alone)]
                    row += [round(alone * 1024 / tokens), f"{seconds:.2f}"]
                    for texts in filter(lambda count: count > 1, arguments.texts):
                        mixed = sample(path, dtype, threads, lengths(tokens, texts))
                        row += [f"{mixed[0] / alone:.2f}", f"{mixed[1]:.2f}"]
                    rows.append([str(cell) for cell in row])
    headers = ["geometry", "precision", "threads", "weights, MiB"]
    headers += ["tokens", "MiB", "KiB for each token", "seconds"]
    for texts in filter(lambda count: count > 1, arguments.texts):
        headers += [f"× with {texts} texts", "seconds"]
    print(timing.markdown(headers, rows))


if __name__ == "__main__":
    main()
