"""BERT at batch 1: ours in fp32, bf16 and int8 against the peers, in turn, on random weights.

    python bench/bert.py                                         BERT-base, every peer installed
    python bench/bert.py --tokens 128 --contestants fbg-int8 ort-int8
    python bench/bert.py --contestants ort-fp32 ort-int8         peers alone; fbg is not imported

First fp32 must agree with the first fp32 peer to 1e-3 in every hidden state; then times are taken.
ONNX and OpenVINO files are made once and kept in the directory given by --cache.
"""

from __future__ import annotations

import argparse
import functools
from pathlib import Path

import bert_peers
import numpy as np
import timing
from bert_peers import Array, Forward, RandomBert

OURS = ("fbg-fp32", "fbg-bf16", "fbg-int8")
CHOICES = (*OURS, *bert_peers.BERT_PEERS)
# OpenVINO's rows appear if asked for, or if their int8 model has been made before.
DEFAULT = (*OURS, "torch-fp32", "torch-int8", "ort-fp32", "ort-int8")
TOLERANCE = 1e-3
TARGETS = (  # (ours, theirs): printed as "ours is … × as fast as theirs"
    ("fbg-int8", "fbg-fp32"),
    ("fbg-bf16", "fbg-fp32"),
    ("fbg-fp32", "torch-fp32"),
    ("fbg-fp32", "ort-fp32"),
    ("fbg-fp32", "openvino-fp32"),
    ("fbg-bf16", "openvino-bf16"),
    ("fbg-int8", "torch-int8"),
    ("fbg-int8", "ort-int8"),
    ("fbg-int8", "openvino-int8"),
)


def ours(name: str, model: RandomBert, threads: int) -> Forward:
    import fbg

    dtype = {"fbg-fp32": "float32", "fbg-bf16": "bfloat16", "fbg-int8": "int8"}[name]
    loaded = fbg.load(str(model.checkpoint()), dtype=dtype, num_threads=threads)

    def forward(ids: Array) -> Array:
        result: Array = loaded.forward(ids).last_hidden_state
        return result

    return forward


def prepare(names: list[str], model: RandomBert, threads: int) -> dict[str, Forward]:
    ready: dict[str, Forward] = {}
    for name in names:
        forward = (
            ours(name, model, threads) if name in OURS else bert_peers.bert(name, model, threads)
        )
        if forward is None:
            print(f"{name}: not installed, left out")
        else:
            ready[name] = forward
    return ready


def verify(ready: dict[str, Forward], ids: Array) -> None:
    """fp32 engines agree with each other; int8 ones point the same way."""
    fp32 = [name for name in ready if name.endswith("fp32")]
    if not fp32:
        print("no fp32 contestant: results not verified")
        return
    reference = next((name for name in fp32 if name not in OURS), fp32[0])
    expected = ready[reference](ids).reshape(ids.size, -1)
    for name, forward in ready.items():
        actual = np.asarray(forward(ids)).reshape(ids.size, -1)
        difference = float(np.abs(actual - expected).max())
        norms = np.linalg.norm(actual, axis=1) * np.linalg.norm(expected, axis=1)
        cosine = float(((actual * expected).sum(axis=1) / norms).mean())
        wrong = difference > TOLERANCE if name in fp32 else cosine < 0.98
        if wrong or not np.isfinite(actual).all():
            raise SystemExit(
                f"bert.py: {name} differs from {reference} by {difference:.2e}, cosine {cosine:.5f}"
            )
        if name != reference:
            print(
                f"verified: {name} against {reference}: largest difference {difference:.1e}, "
                f"mean cosine of tokens {cosine:.5f}"
            )


def defaults(model: RandomBert) -> list[str]:
    cached = (model.folder / "openvino-int8.xml").exists()
    return [*DEFAULT, *(("openvino-fp32", "openvino-int8") if cached else ())]


def show(results: dict[str, timing.Result], tokens: int, threads: int) -> None:
    print(f"\n### {tokens} tokens, {threads} thread{'s' * (threads > 1)}\n")
    rows = [
        [name, f"{result.median * 1e3:.2f}", f"{result.best * 1e3:.2f}"]
        for name, result in results.items()
    ]
    print(timing.markdown(["contestant", "median ms", "best ms"], rows))
    for mine, other in TARGETS:
        if mine in results and other in results:
            ratio = results[mine].speedup_over(results[other])
            print(f"{mine} is {ratio:.2f} × as fast as {other}")


def options() -> argparse.Namespace:
    parser = timing.parser(__doc__.splitlines()[0])
    parser.add_argument("--geometry", choices=("base", "minilm", "awkward"), default="base")
    parser.add_argument("--tokens", type=int, nargs="+", default=[8, 32, 64, 128, 384])
    parser.add_argument("--contestants", nargs="+", choices=CHOICES, metavar="NAME")
    parser.add_argument("--cache", type=Path, default=bert_peers.default_cache())
    arguments = parser.parse_args()
    if arguments.quick:
        arguments.tokens = [tokens for tokens in arguments.tokens if tokens <= 128]
    return arguments


def main() -> None:
    arguments = options()
    timing.use_clock(arguments)
    model = RandomBert(arguments.geometry, arguments.cache)
    names = arguments.contestants or defaults(model)
    report = timing.Report("bert", arguments)
    for threads in arguments.threads:
        ready = prepare(names, model, threads)
        verify(ready, model.ids(min(arguments.tokens[-1], 64)))
        for tokens in arguments.tokens:
            ids = model.ids(tokens)
            field = [
                timing.Contestant(name, functools.partial(forward, ids))
                for name, forward in ready.items()
            ]
            results = timing.race(field, timing.rounds(arguments), timing.pause(threads))
            show(results, tokens, threads)
            report.add({"tokens": tokens, "threads": threads}, results)
    report.write()


if __name__ == "__main__":
    main()
