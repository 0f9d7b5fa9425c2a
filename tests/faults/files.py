"""Lets every operation on files fail, one after the other, in what fbg writes.

    python -m faults.files [--step N]     (preloaded: faults.injection.run_with_faults)

Each write, truncation, fsync, rename, close or new directory fails once with ENOSPC, EIO or EINTR,
and each write once writes a part of its bytes only. What was there before must still be there,
whole, or what is new, whole; nothing else may be left; and the same call must succeed afterwards.
"""

from __future__ import annotations

import argparse
import errno
import os
import sys
import tempfile
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import onnx

import fbg
from faults.injection import FILES, SHORT_WRITES, Faults, report
from fbg.integrations.shards import ShardEncoder, ShardJob
from fbg.reports import plots
from fbg.reports.page import Page, write_page
from fbg.text.embedding_files import EmbeddingFile
from fbg.tuning import file as tuning_file
from helpers import tiny_bert
from helpers.onnx_models import make_model, node

ERRORS = (errno.ENOSPC, errno.EIO, errno.EINTR)
W = np.random.default_rng(3).standard_normal((37, 70), dtype=np.float32)
ROWS = np.arange(40, dtype=np.float32).reshape(10, 4)


@dataclass(frozen=True)
class Use:
    """write: makes something in a folder, where `old` has made the same before if it is given.

    resumes: files of a job that can go on may be left. tells: a warning stands for the error.
    one_by_one: of several files, those that came first may be there, whole.
    """

    write: Callable[[Path], object]
    old: Callable[[Path], object] | None = None
    resumes: bool = False
    tells: bool = False
    one_by_one: bool = False


def write_net(folder, width):
    """Write a network of one product."""
    path = folder / f"net{width}.onnx"
    constants = {"w": np.ones((4, width), np.float32)}
    product = node("MatMul", ["x", "w"], "y")
    onnx.save(make_model([product], {"x": (np.float32, (2, 4))}, ["y"], constants), path)
    return path


def content(folder):
    """Return every file below a folder."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def uses(checkpoint):
    model = fbg.load(checkpoint, dtype="int8")
    other = fbg.load(checkpoint, dtype="float32")
    packed, before = fbg.PackedB(W), fbg.PackedB(W * 2)

    def embeddings(kind, job):
        def write(folder):
            with EmbeddingFile(folder / f"emb.{kind}", 4, job) as file:
                for begin in range(file.rows, len(ROWS), 3):
                    file.append(ROWS[begin : begin + 3])
                file.finish()

        return write

    def tune(name):
        def write(folder):
            os.environ["FBG_TUNING_CACHE"] = str(folder / "tuning.json")
            tuning_file.merge({name: {"algorithm": "im2col", "seconds": 1e-5, "default": 2e-5}})

        return write

    net, wide = (fbg.load(write_net(checkpoint.parent, width)) for width in (3, 5))
    texts = checkpoint.parent / "texts.txt"
    texts.write_text("the dog\nthe fox\n")

    def shards(folder):
        ShardEncoder(ShardJob(str(checkpoint), str(folder / "rows"))).encode(str(texts))

    def plot(title):
        def write(folder):
            figure, (axes,) = plots._figure(1)
            axes.set(title=title)
            plots._save(figure, folder / "plot.png")

        return write

    def page(title):
        return lambda folder: write_page(Page(title, {}, [], []), folder / "report.html")

    return {
        "save a network": Use(lambda f: net.save(f / "n", overwrite=True)),
        "save a network over another": Use(
            lambda f: net.save(f / "n", overwrite=True), lambda f: wide.save(f / "n")
        ),
        "shards": Use(shards, one_by_one=True),
        "a plot": Use(plot("new"), plot("old")),
        "a page": Use(page("new"), page("old")),
        "save packed weights": Use(
            lambda f: packed.save(f / "w", overwrite=True), lambda f: before.save(f / "w")
        ),
        "save a model": Use(lambda f: model.save(f / "m", overwrite=True)),
        "save a model over another": Use(
            lambda f: model.save(f / "m", overwrite=True), lambda f: other.save(f / "m")
        ),
        "embeddings, npy": Use(embeddings("npy", {"model": "m"}), resumes=True),
        "embeddings that cannot be resumed": Use(embeddings("npy", None)),
        "embeddings, parquet": Use(embeddings("parquet", {"model": "m"}), resumes=True),
        "tuning": Use(tune("conv a"), tune("conv b"), tells=True),
    }


def try_point(faults, use, kind, number, error):
    """Let operation `number` fail; return how many there were, and what is wrong afterwards."""
    with tempfile.TemporaryDirectory(prefix="fbg-faults-") as name:
        folder = Path(name)
        if use.old is not None:
            use.old(folder)
        before = content(folder)
        after = _expected(use)
        failed = None
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                with faults.failing(kind, number, error):
                    use.write(folder)
            except OSError as raised:
                failed = raised
            except BaseException as raised:
                return faults.calls, f"{type(raised).__name__}: {raised}"
        if use.tells and any(w.category is RuntimeWarning for w in told):
            failed = failed or OSError()
        problem = _check_left(use, content(folder), before, after, failed)
        if problem is None:
            use.write(folder)
            again = content(folder)
            if again != after:
                problem = f"the call afterwards leaves {sorted(again)}"
        return faults.calls, problem


_known = {}


def _expected(use):
    if id(use) not in _known:
        with tempfile.TemporaryDirectory(prefix="fbg-faults-") as name:
            if use.old is not None:
                use.old(Path(name))
            use.write(Path(name))
            _known[id(use)] = content(Path(name))
    return _known[id(use)]


def _check_left(use, left, before, after, failed):
    if use.resumes and failed is not None:
        left = {name: data for name, data in left.items() if ".partial" not in name}
    if left == after or (failed is not None and left == before):
        return None
    if use.one_by_one and failed is not None and left.items() <= after.items():
        return None
    locks = {name for name in left if name.endswith(".lock")}  # that of the tuning file stays
    if failed is not None and {name: left[name] for name in left.keys() - locks} == before:
        return None
    if failed is None:
        return f"no error, but {sorted(left)} is not all that should be there"
    changed = [n for n in left if left[n] != before.get(n) and left[n] != after.get(n)]
    return f"after {failed!r}: {sorted(left)} are left, of which {changed} are damaged"


def sweep(faults, use, step):
    """Let each operation fail in each way; return how many points were tried, and the problems."""
    points, problems = 0, []
    ways = [(FILES, error) for error in ERRORS] + [(SHORT_WRITES, 0)]
    for kind, error in ways:
        number = 1
        while True:
            calls, problem = try_point(faults, use, kind, number, error)
            if calls < number:
                break
            points += 1
            if problem is not None:
                way = errno.errorcode.get(error, "short write")
                problems.append(f"operation {number}, {way}: {problem}")
            number += step
    return points, problems


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--step", type=int, default=1)
    given = parser.parse_args()
    faults = Faults()
    with tempfile.TemporaryDirectory(prefix="fbg-faults-") as name:
        checkpoint = tiny_bert.write_checkpoint(name)
        return report(
            (use_name, *sweep(faults, use, given.step))
            for use_name, use in uses(checkpoint).items()
        )


if __name__ == "__main__":
    sys.exit(main())
