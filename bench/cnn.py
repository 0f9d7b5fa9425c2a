"""Networks from ONNX files at batch 1: fbg in float32 and int8 against the peers, in turn.

    python scripts/export_networks.py nets mobilenet_v2 resnet18     the files; needs torchvision
    python bench/cnn.py nets/*.onnx --threads 1 2

The int8 peers run the file that onnxruntime's quantizer makes (static, QDQ, per channel), and so
does "fbg-qdq"; "openvino-nncf" is what NNCF quantizes, and "fbg-int8" is quantized by fbg, with the
same calibration inputs. cnn_peers.py has the peers; ncnn and MNN take part when they are named with
--contestants, as do "fbg-fp32-anew" and "fbg-int8-anew", which prepare their plan before every run.
float32 results must agree with onnxruntime's to 1e-3 of their range, and the cosine of the int8
logits to those of float32 is printed, the mean over eight inputs. A network with one input and one
output of fixed shapes is expected.
"""

from __future__ import annotations

import functools
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import timing
from cnn_peers import FORWARDS, Case, Feed, Forward

Array = npt.NDArray[Any]
CALIBRATION = TESTED = 8
TOLERANCE = 1e-3
DEFAULT = ("fbg-fp32", "fbg-int8", "fbg-qdq")
OWN = (*DEFAULT, "fbg-fp32-anew", "fbg-int8-anew")
CHOICES = (*DEFAULT, "ort-fp32", "ort-qdq", "openvino-fp32", "openvino-qdq")


def inputs(name: str, shape: tuple[int, ...], count: int, seed: int) -> list[Feed]:
    rng = np.random.default_rng(seed)
    return [{name: rng.standard_normal(shape, dtype=np.float32)} for _ in range(count)]


def fbg_forward(case: Case, threads: int, kind: str) -> Forward:
    import fbg

    path = case.qdq if kind == "qdq" else case.path
    int8 = kind.startswith("int8")
    more: dict[str, Any] = {"dtype": "int8", "calibrate": case.feeds} if int8 else {}
    net = fbg.load(path, num_threads=threads, **more)
    anew = kind.endswith("-anew")

    def run(feed: Feed) -> list[Array]:
        if anew:
            net.prepare(feed)
        return list(net.run(feed).values())

    return run


def contestant(name: str, case: Case, threads: int) -> Forward:
    if name.startswith("fbg-"):
        return fbg_forward(case, threads, name.removeprefix("fbg-"))
    return FORWARDS[name](case, threads)


def verify(ready: dict[str, Forward], tested: list[Feed], expected: list[Array]) -> None:
    for name, forward in ready.items():
        differences, cosines = [], []
        for x, wanted in zip(tested, expected, strict=True):
            y = forward(x)[0].ravel()
            differences.append(np.abs(y - wanted).max() / np.abs(wanted).max())
            cosines.append(y @ wanted / np.linalg.norm(y) / np.linalg.norm(wanted))
        if "fp32" in name and max(differences) > TOLERANCE:
            raise SystemExit(f"cnn.py: {name} differs from onnxruntime by {max(differences):.2e}")
        print(
            f"verified: {name}: largest difference {max(differences):.1e}, "
            f"mean cosine {np.mean(cosines):.5f}"
        )


def show(results: dict[str, timing.Result], title: str) -> None:
    print(f"\n### {title}\n")
    rows = []
    for name, result in results.items():
        precision = "fp32" if "fp32" in name else "int8"
        peers = [
            other
            for peer, other in results.items()
            if not peer.startswith("fbg") and peer.endswith("fp32") == (precision == "fp32")
        ]
        best = min(peers, key=lambda peer: peer.median, default=None)
        ratio = "" if best is None else f"{result.speedup_over(best):.2f}"
        rows.append([name, f"{result.median * 1e3:.2f}", f"{result.best * 1e3:.2f}", ratio])
    headers = ["contestant", "median ms", "best ms", "x best peer"]
    print(timing.markdown(headers, rows), flush=True)


def main() -> None:
    parser = timing.parser(__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", metavar="FILE.onnx")
    parser.add_argument("--contestants", nargs="+", choices=(*OWN, *FORWARDS), metavar="NAME")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()))
    arguments = parser.parse_args()
    timing.use_clock(arguments)
    report = timing.Report("cnn", arguments)
    for path in map(Path, arguments.files):
        import onnxruntime

        first = onnxruntime.InferenceSession(str(path)).get_inputs()[0]
        feeds = inputs(first.name, tuple(first.shape), CALIBRATION, 0)
        tested = inputs(first.name, tuple(first.shape), TESTED, 1)
        case = Case(path, feeds, arguments.cache)
        exact = FORWARDS["ort-fp32"](case, 1)
        expected = [exact(x)[0].ravel() for x in tested]
        for threads in arguments.threads:
            key = {"network": path.stem, "threads": threads}
            if report.rows(key):
                continue
            chosen = arguments.contestants or CHOICES
            ready = {name: contestant(name, case, threads) for name in chosen}
            verify(ready, tested, expected)
            field = [
                timing.Contestant(name, functools.partial(forward, tested[0]))
                for name, forward in ready.items()
            ]
            results = timing.race(field, timing.rounds(arguments), timing.pause(threads))
            show(results, f"{path.stem}, {threads} threads")
            report.add(key, results)


if __name__ == "__main__":
    main()
