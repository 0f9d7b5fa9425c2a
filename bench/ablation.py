"""What each step from fixed kernels to a tuned plan brings in a whole encoder, at batch 1.

    python bench/ablation.py --geometry base distilbert --threads 1 2 --json OUT --resume

    base          every linear layer is a call of its own from Python: it is checked, its prepared
                  product is looked up, and it runs with tiles of 12 rows x 32 columns, threads side
                  by side along the columns
    + adaptive    the same with the tile that won for the shape and the number of tokens
    + dispatch    the whole network as one prepared plan, entered once: nothing is checked, looked
                  up or allocated between its ops, and sums of residuals are part of the products
    + partition   with the blocks of A and the grid of threads that won, too

In the first two steps, what is not a linear layer counts with the time that it takes in the plan,
in the same round. Tiles and blocks are timed once for each (K, N) and number of tokens, with
weights from memory (adaptive.py).
"""

from __future__ import annotations

import argparse
import functools
import itertools
import math
from pathlib import Path
from typing import Any

import checkpoints
import comparison
import numpy as np
import timing
from adaptive import ANY_NUMBER, FIXED, STEPS, Shape

import fbg
from fbg import _fbg
from fbg.networks.transformer import linears
from fbg.runtime.batches import pack_padded
from fbg.tuning.store import Blocking, Kind

MODELS = ("base", "large", "roberta-base", "distilbert")
TOKENS = (8, 64, 384)
DTYPES = ("int8", "float32")
LONG, LONG_ROUNDS = 384, 3


class Winners:
    """The best tile and the best blocking of each shape, timed when they are first asked for."""

    def __init__(self, dtype: str, threads: int) -> None:
        self._dtype, self._threads = dtype, threads

    @functools.cache  # noqa: B019 - as long as the run of a benchmark
    def find(self, k: int, n: int, tokens: int) -> tuple[Blocking, Blocking]:
        cell = self._shape(k, n).cell(tokens)
        return cell.tile, cell.best

    @functools.lru_cache(maxsize=1)  # noqa: B019 - the copies of the weights take much memory
    def _shape(self, k: int, n: int) -> Shape:
        return Shape(self._dtype, k, n, self._threads)


class Ablation:
    """An encoder that runs in each of the STEPS."""

    def __init__(self, geometry: str, dtype: str, threads: int, cache: Path) -> None:
        exports = checkpoints.random_exports(geometry, cache)
        self.model = fbg.load(exports.checkpoint, dtype=dtype, num_threads=threads)
        self.dtype, self.threads = dtype, threads
        self._layers = list(linears(self.model.network).values())
        self.shapes = sorted({layer.packed.shape for layer in self._layers})

    def race(self, tokens: int, winners: Winners, rounds: int) -> dict[str, timing.Result]:
        found = {shape: winners.find(*shape, tokens) for shape in self.shapes}
        tiles = {shape: tile for shape, (tile, _) in found.items()}
        best = {shape: blocking for shape, (_, blocking) in found.items()}
        plans = [self._plan(tokens, blockings) for blockings in (tiles, best)]
        samples = [
            self._layer_by_layer(tokens, dict.fromkeys(self.shapes, FIXED), plans[0]),
            self._layer_by_layer(tokens, tiles, plans[0]),
            *(functools.partial(mean_seconds, self._run(plan, tokens)) for plan in plans),
        ]
        field = [
            timing.Contestant(name, sample=sample)
            for name, sample in zip(STEPS, samples, strict=True)
        ]
        return timing.race(field, rounds, timing.pause(self.threads))

    def _layer_by_layer(
        self, tokens: int, blockings: dict[tuple[int, int], Blocking], plan: _fbg.Plan
    ) -> Any:
        """Return a sample: the linear layers one by one, and the time of all else in the plan."""
        generator = np.random.default_rng(0)
        inputs = {
            k: generator.standard_normal((tokens, k)).astype(np.float32)
            for k in {k for k, _ in self.shapes}
        }
        calls = []
        for layer in self._layers:
            weight: Any = layer.packed
            active = layer.name.endswith(".intermediate")
            activation = self.model.config.activation if active else ""
            arguments = (inputs[weight.shape[0]], layer.bias, activation, self.threads, False)
            calls.append(functools.partial(weight.linear, *arguments, blockings[weight.shape]))

        def layers() -> None:
            for call in calls:
                call()

        times = np.zeros(len(plan.ops))
        own = [n for n, op in enumerate(plan.ops) if op[0].startswith("linear ")]
        own = own[: len(self._layers)]  # a pooler follows them
        run = self._run(plan, tokens, times)

        def sample() -> float:
            run()
            run()
            return mean_seconds(layers) + float(times.sum() - times[own].sum())

        return sample

    def _plan(self, tokens: int, blockings: dict[tuple[int, int], Blocking]) -> _fbg.Plan:
        tuned: list[tuple[Kind, int, int, Blocking]] = [
            ((self.dtype, *shape), 1, ANY_NUMBER, blocking) for shape, blocking in blockings.items()
        ]
        return _fbg.Plan(self.model.lowered, tokens, 1, tokens, self.threads, tuned)

    def _run(self, plan: _fbg.Plan, tokens: int, times: Any = None) -> Any:
        ids = checkpoints.random_ids(self.model.config.vocab_size, tokens).astype(np.int32)
        packed = pack_padded(ids, None, None, self.model.config.pad_token_id)
        rows = [tokens] if self.model.network.pooler is None else [tokens, 1]
        outputs = [np.empty((m, self.model.config.hidden_size), np.float32) for m in rows]
        return lambda: plan.run(*packed.arrays, outputs, self.threads, times)


def mean_seconds(call: Any) -> float:
    """Mean seconds of calls that last as long as a sample does, after one that is not timed."""
    call()
    first = timing.elapsed(call)
    more = math.ceil(timing.SAMPLE_SECONDS / max(first, 1e-9)) - 1
    return (first + timing.elapsed(call, more)) / (1 + more) if more else first


def parser(description: str, dtypes: tuple[str, ...] = DTYPES) -> argparse.ArgumentParser:
    """The options of scripts that take models apart, by default in all of these dtypes."""
    result = timing.parser(description)
    result.add_argument("--geometry", nargs="+", choices=checkpoints.GEOMETRIES, default=MODELS)
    result.add_argument("--dtype", nargs="+", choices=dtypes, default=dtypes)
    result.add_argument("--tokens", type=int, nargs="+", default=TOKENS)
    result.add_argument("--cache", type=Path, default=checkpoints.default_cache())
    return result


def main() -> None:
    arguments = parser(__doc__.splitlines()[0]).parse_args()
    report = timing.Report("ablation", arguments)
    for dtype, threads in itertools.product(arguments.dtype, arguments.threads):
        winners = Winners(dtype, threads)
        for geometry in arguments.geometry:
            model = None
            for tokens in arguments.tokens:
                case = {"geometry": geometry, "dtype": dtype, "threads": threads, "tokens": tokens}
                if report.rows(case):
                    continue
                model = model or Ablation(geometry, dtype, threads, arguments.cache)
                rounds = timing.rounds(arguments)
                rounds = min(rounds, LONG_ROUNDS) if tokens >= LONG else rounds
                report.add(case, model.race(tokens, winners, rounds))
                print(comparison.text(report.rows(case), ("+ ",)), flush=True)


if __name__ == "__main__":
    main()
