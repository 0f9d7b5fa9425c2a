"""What each step from fixed kernels to a tuned plan brings, in a whole encoder and in its layers.

    python bench/tuning.py --geometry base distilbert --threads 1 2 --json OUT --resume
    python bench/tuning.py layers --dtype int8 --tokens 8 128        the shapes of BERT-base alone

    base          every linear layer is a call of its own from Python: it is checked, its prepared
                  product is looked up, and it runs with tiles of 12 rows x 32 columns, threads side
                  by side along the columns
    + adaptive    the same with the tile that won for the shape and the number of tokens
    + dispatch    the whole network as one prepared plan, entered once: nothing is checked, looked
                  up or allocated between its ops, and sums of residuals are part of the products
    + partition   with the blocks of A and the grid of threads that won, too

In the first two steps, what is not a linear layer counts with the time that it takes in the plan,
in the same round. Tiles and blocks are timed once for each (K, N) and number of tokens, with
weights from memory: copies of them, more than the last cache holds. "layers" runs one layer for
every copy, and names the variant and what it reaches of the best one of a second timing of them
all. Last, a plan that is kept is timed beside one that is made for every run.
"""

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import comparison
import material
import numpy as np
import timing

import fbg
from fbg import _fbg
from fbg.networks.transformer import linears
from fbg.runtime.engine import pack_padded
from fbg.tuning.store import Blocking, Kind

MODELS = ("base", "large", "roberta-base", "distilbert")
SHAPES = ((768, 2304), (768, 768), (768, 3072), (3072, 768))  # of BERT-base
PACK: dict[str, Callable[[Any], Any]] = {
    "int8": partial(_fbg.pack_b_quantize, per_column=True, symmetric=True),
    "float32": partial(_fbg.pack_b_convert, dtype="float32"),
}
FIXED = Blocking(rows=12, panels=1, a_kib=256, row_parts=1)
STEPS = ("base", "+ adaptive", "+ dispatch", "+ partition")
BUDGET = 0.25  # seconds for all variants of a shape
ANY_NUMBER = 1 << 40
LONG, LONG_ROUNDS = 384, 3


class Shape:
    """The copies of the weights of a shape, and a graph that reads them one after the other."""

    def __init__(self, dtype: str, k: int, n: int, threads: int) -> None:
        self.kind: Kind = (dtype, k, n)
        w = np.random.default_rng(0).standard_normal((k, n)).astype(np.float32) / math.sqrt(k)
        first = PACK[dtype](w)
        copies = 2 * _fbg.cpu_info()["l3_bytes"] // first.nbytes + 1
        self.weights = [first] + [PACK[dtype](w) for _ in range(min(copies, 256))]
        self.graph = _fbg.Graph()
        table, bias = np.ones((1, k), np.float32), np.zeros(n, np.float32)
        x = self.graph.append("embed", table, table)
        for weight in self.weights:
            last = self.graph.append("linear", x, weight, bias)
        self.graph.output(last)
        self.threads, self.tuner = threads, _fbg.Tuner(self.graph, self.kind, threads)

    def seconds(self, tokens: int, variants: Sequence[Blocking]) -> dict[Blocking, float]:
        times = self.tuner.seconds(tokens, variants, BUDGET)
        return dict(zip(variants, times, strict=True))

    def winners(self, tokens: int) -> tuple[Blocking, Blocking]:
        """The best tile, and the best of all variants."""
        variants = self.variants(tokens)
        tiles = list(dict.fromkeys(v._replace(a_kib=256, row_parts=1) for v in variants))
        return self.winner(tokens, tiles), self.winner(tokens, variants)

    def winner(self, tokens: int, variants: Sequence[Blocking]) -> Blocking:
        """As fbg.tune chooses: the first one, unless another is faster by 2 %, twice."""
        times = self.seconds(tokens, variants)
        best = min(times, key=times.__getitem__)
        if times[best] * 1.02 < times[variants[0]]:
            again = self.seconds(tokens, [variants[0], best])
            if again[best] * 1.02 < again[variants[0]]:
                return best
        return variants[0]

    def variants(self, tokens: int) -> list[Blocking]:
        return [Blocking(*members) for members in self.tuner.candidates(tokens)]

    def contestants(self, tokens: int) -> Iterator[timing.Contestant]:
        _, k, n = self.kind
        tile, best = self.winners(tokens)
        x = np.random.default_rng(1).standard_normal((tokens, k)).astype(np.float32)
        bias = np.zeros(n, np.float32)

        def layer_by_layer(blocking: Blocking) -> None:
            for w in self.weights:
                w.linear(x, bias, "", self.threads, False, blocking=blocking)

        calls = [partial(layer_by_layer, FIXED), partial(layer_by_layer, tile)]
        calls += [self.plan(tokens, tile), self.plan(tokens, best)]
        again = self.seconds(tokens, self.variants(tokens))
        figures = {"variant": str(tuple(best)), "of the best": min(again.values()) / again[best]}
        for name, call in zip(STEPS, calls, strict=True):
            more = figures if name == STEPS[-1] else {}
            yield timing.Contestant(name, call, figures=dict(more))

    def plan(self, tokens: int, blocking: Blocking) -> Any:
        tuned = [(self.kind, 1, ANY_NUMBER, blocking)]
        plan = _fbg.Plan(self.graph, tokens, 1, tokens, self.threads, tuned)
        zeros, ends = np.zeros(tokens, np.int32), np.array([0, tokens], np.int32)
        out = [np.empty((tokens, self.kind[2]), np.float32)]
        places = np.arange(tokens, dtype=np.int32)
        return partial(plan.run, zeros, zeros, zeros, places, ends, out, self.threads)


class Winners:
    """The best tile and the best blocking of each shape, timed when they are first asked for."""

    def __init__(self, dtype: str, threads: int) -> None:
        self._dtype, self._threads = dtype, threads

    @functools.cache  # noqa: B019 - as long as the run of a benchmark
    def find(self, k: int, n: int, tokens: int) -> tuple[Blocking, Blocking]:
        return self._shape(k, n).winners(tokens)

    @functools.lru_cache(maxsize=1)  # noqa: B019 - the copies of the weights take much memory
    def _shape(self, k: int, n: int) -> Shape:
        return Shape(self._dtype, k, n, self._threads)


class Ablation:
    """An encoder that runs in each of the STEPS."""

    def __init__(self, geometry: str, dtype: str, threads: int, cache: Path) -> None:
        exports = material.random_exports(geometry, cache)
        self.model = fbg.load(exports.checkpoint, dtype=dtype, num_threads=threads)
        self.dtype, self.threads = dtype, threads
        self._layers = list(linears(self.model.network).values())
        self.shapes = sorted({layer.packed.shape for layer in self._layers})

    def contestants(self, tokens: int, winners: Winners) -> Iterator[timing.Contestant]:
        found = {shape: winners.find(*shape, tokens) for shape in self.shapes}
        tiles, best = ({shape: pair[n] for shape, pair in found.items()} for n in (0, 1))
        plans = [self._plan(tokens, blockings) for blockings in (tiles, best)]
        fixed = dict.fromkeys(self.shapes, FIXED)
        samples = [self._layer_by_layer(tokens, each, plans[0]) for each in (fixed, tiles)]
        samples += [partial(mean_seconds, self._run(plan, tokens)) for plan in plans]
        for name, sample in zip(STEPS, samples, strict=True):
            yield timing.Contestant(name, sample=sample)

    def preparation(self, tokens: int) -> Iterator[timing.Contestant]:
        kept = self._run(self._plan(tokens, {}), tokens)
        yield timing.Contestant("+ kept plan", kept)
        yield timing.Contestant("made anew", lambda: self._run(self._plan(tokens, {}), tokens)())

    def _layer_by_layer(
        self, tokens: int, blockings: dict[tuple[int, int], Blocking], plan: _fbg.Plan
    ) -> Any:
        """Return a sample: the linear layers one by one, and the time of all else in the plan."""
        rng = np.random.default_rng(0)
        inputs = {k: rng.standard_normal((tokens, k)).astype(np.float32) for k, _ in self.shapes}
        calls = []
        for layer in self._layers:
            weight: Any = layer.packed
            active = layer.name.endswith(".intermediate")
            activation = self.model.config.activation if active else ""
            arguments = (inputs[weight.shape[0]], layer.bias, activation, self.threads, False)
            calls.append(partial(weight.linear, *arguments, blocking=blockings[weight.shape]))

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
        ids = material.random_ids(self.model.config.vocab_size, tokens).astype(np.int32)
        packed = pack_padded(ids, None, None, self.model.config.pad_token_id)
        rows = [tokens] if self.model.network.pooler is None else [tokens, 1]
        outputs = [np.empty((m, self.model.config.hidden_size), np.float32) for m in rows]
        places = packed.sequence_positions
        arrays = packed.ids, packed.position_ids, packed.types, places, packed.offsets
        return lambda: plan.run(*arrays, outputs, self.threads, times)


def mean_seconds(call: Any) -> float:
    """Mean seconds of calls that last as long as a sample does, after one that is not timed."""
    call()
    first = timing.elapsed(call)
    more = math.ceil(timing.SAMPLE_SECONDS / max(first, 1e-9)) - 1
    return (first + timing.elapsed(call, more)) / (1 + more) if more else first


def cases(arguments: Any) -> Iterator[timing.Case]:
    for dtype, threads in itertools.product(arguments.dtype, arguments.threads):
        key: dict[str, Any] = {"dtype": dtype, "threads": threads}
        for k, n in SHAPES if arguments.question == "layers" else ():
            shape = Later(Shape, dtype, k, n, threads)
            for tokens in arguments.tokens:
                yield timing.Case(
                    key | {"k": k, "n": n, "tokens": tokens},
                    partial(shape.call, "contestants", tokens),
                )
        winners = Winners(dtype, threads)
        for geometry in arguments.geometry:
            model = Later(Ablation, geometry, dtype, threads, arguments.cache)
            for tokens in arguments.tokens:
                case = {"geometry": geometry} | key | {"tokens": tokens}
                if arguments.question == "layers":
                    race = partial(model.call, "preparation", tokens)
                else:
                    race = partial(model.call, "contestants", tokens, winners)
                yield timing.Case(case, race)


class Later:
    """What the first case that needs it makes."""

    def __init__(self, kind: Any, *arguments: Any) -> None:
        self._make = functools.cache(partial(kind, *arguments))

    def call(self, method: str, *arguments: Any) -> Any:
        return getattr(self._make(), method)(*arguments)


def main() -> None:
    parser = timing.parser(__doc__)
    parser.add_argument("question", nargs="?", choices=("model", "layers"), default="model")
    parser.add_argument("--geometry", nargs="+", choices=material.GEOMETRIES, metavar="NAME")
    parser.add_argument("--dtype", nargs="+", choices=PACK, default=list(PACK))
    parser.add_argument("--tokens", type=int, nargs="+", default=[8, 64, 384])
    arguments = parser.parse_args()
    models = MODELS if arguments.question == "model" else MODELS[:1]
    arguments.geometry = arguments.geometry or models
    report = timing.begin("tuning", arguments)
    count = timing.rounds(arguments)
    for long in (False, True):
        own = (c for c in cases(arguments) if (c.names["tokens"] >= LONG) == long)
        comparison.run(report, own, min(count, LONG_ROUNDS) if long else count, ("+ ",))


if __name__ == "__main__":
    main()
