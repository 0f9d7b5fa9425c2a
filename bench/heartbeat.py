"""How late an asyncio server is while a thread embeds: the delay of a heartbeat of 10 ms.

    python bench/heartbeat.py path/to/all-MiniLM-L6-v2 --dtype int8 --threads 1

Sentences are the docstrings of the standard library. The delay of a beat is what passes beyond the
10 ms that it asked for; the same loop without any work shows what the machine itself adds.
"""

from __future__ import annotations

import argparse
import ast
import asyncio
import sysconfig
import time
from pathlib import Path

import numpy as np

import fbg

BEAT = 0.010


def docstring_sentences(count: int) -> list[str]:
    """Lines of the docstrings of the standard library: real text of mixed length."""
    sentences: list[str] = []
    for path in sorted(Path(sysconfig.get_path("stdlib")).rglob("*.py")):
        if "site-packages" in path.parts or "test" in path.parts:
            continue
        try:
            tree = ast.parse(path.read_text(encoding="utf-8"))
        except (SyntaxError, ValueError):
            continue
        for node in ast.walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.Module)):
                paragraphs = (ast.get_docstring(node) or "").split("\n\n")
                sentences += [" ".join(p.split()) for p in paragraphs if len(p) > 3]
        if len(sentences) >= count:
            break
    return sentences[:count]


async def heartbeat(work: asyncio.Task[object]) -> list[float]:
    """Return the delay of each beat, in seconds, until the work is done."""
    delays = []
    while not work.done():
        begin = time.perf_counter()
        await asyncio.sleep(BEAT)
        delays.append(time.perf_counter() - begin - BEAT)
    await work
    return delays


async def measure(model: fbg.Model, texts: list[str]) -> list[float]:
    return await heartbeat(asyncio.create_task(asyncio.to_thread(model.encode, texts)))


async def measure_idle(seconds: float) -> list[float]:
    return await heartbeat(asyncio.create_task(asyncio.sleep(seconds)))


def report(name: str, delays: list[float]) -> None:
    ms = 1000 * np.array(delays)
    print(
        f"{name:<8} {ms.size:5} beats   median {np.median(ms):6.2f} ms   "
        f"99 % {np.percentile(ms, 99):6.2f} ms   most {ms.max():6.2f} ms"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure the delay of a heartbeat.")
    parser.add_argument("model")
    parser.add_argument("--dtype", default="int8")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--sentences", type=int, default=2000)
    arguments = parser.parse_args()
    model = fbg.load(arguments.model, arguments.dtype, arguments.threads)
    texts = docstring_sentences(arguments.sentences)
    print(f"{model!r}, {model.num_threads} threads, {len(texts)} sentences")
    begin = time.perf_counter()
    delays = asyncio.run(measure(model, texts))
    report("encode", delays)
    report("idle", asyncio.run(measure_idle(time.perf_counter() - begin)))


if __name__ == "__main__":
    main()
