"""Networks from ONNX files at batch 1: fbg in float32 and int8 against the peers, in turn.

    python scripts/export_networks.py nets mobilenet_v2 resnet18     the files; needs torchvision
    python bench/cnn.py nets/*.onnx --threads 1 2

The int8 peers run the file that onnxruntime's quantizer makes (static, QDQ, per channel), and so
does "fbg-qdq"; "fbg-int8" is quantized by fbg with the same calibration inputs. float32 results
must agree with onnxruntime's to 1e-3 of their range, and the cosine of the int8 logits to those of
float32 is printed. A network with one input and one output of fixed shapes is expected.
"""

from __future__ import annotations

import functools
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import timing

Array = npt.NDArray[Any]
Forward = Callable[[], Array]
CALIBRATION = 8
TOLERANCE = 1e-3
CHOICES = (
    *("fbg-fp32", "fbg-int8", "fbg-qdq"),
    *("ort-fp32", "ort-qdq", "openvino-fp32", "openvino-qdq"),
)


def inputs(shape: tuple[int, ...], count: int, seed: int) -> list[Array]:
    rng = np.random.default_rng(seed)
    return [rng.standard_normal(shape, dtype=np.float32) for _ in range(count)]


def quantized(path: Path, name: str, images: list[Array], directory: Path) -> Path:
    """The file as onnxruntime quantizes it; made once."""
    from onnxruntime import quantization

    class Reader(quantization.CalibrationDataReader):  # type: ignore[misc]
        def __init__(self) -> None:
            self.left = iter(images)

        def get_next(self) -> dict[str, Array] | None:
            image = next(self.left, None)
            return None if image is None else {name: image}

    result = directory / f"{path.stem}_qdq.onnx"
    if not result.exists():
        quantization.quantize_static(
            str(path),
            str(result),
            Reader(),
            quant_format=quantization.QuantFormat.QDQ,
            per_channel=True,
            activation_type=quantization.QuantType.QUInt8,
            weight_type=quantization.QuantType.QInt8,
        )
    return result


def onnxruntime_forward(path: Path, x: Array, threads: int) -> Forward:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options)
    feeds = {session.get_inputs()[0].name: x}
    return lambda: np.asarray(session.run(None, feeds)[0])


def openvino_forward(path: Path, x: Array, threads: int) -> Forward:
    import openvino

    settings = {
        "PERFORMANCE_HINT": "LATENCY",
        "INFERENCE_NUM_THREADS": threads,
        "INFERENCE_PRECISION_HINT": "f32",
    }
    compiled = openvino.Core().compile_model(str(path), "CPU", settings)
    request = compiled.create_infer_request()
    return lambda: np.asarray(request.infer([x])[0])


def fbg_forward(path: Path, x: Array, threads: int, images: list[Array] | None) -> Forward:
    import fbg

    more: dict[str, Any] = {} if images is None else {"dtype": "int8", "calibrate": images}
    net = fbg.load(path, num_threads=threads, **more)
    return functools.partial(net, x)


def contestant(name: str, path: Path, qdq: Path, x: Array, threads: int, images: Any) -> Forward:
    engine, kind = name.split("-")
    file = qdq if kind == "qdq" else path
    if engine == "fbg":
        return fbg_forward(file, x, threads, images if kind == "int8" else None)
    return (onnxruntime_forward if engine == "ort" else openvino_forward)(file, x, threads)


def verify(ready: dict[str, Forward], expected: Array) -> None:
    for name, forward in ready.items():
        y = forward().ravel()
        difference = np.abs(y - expected).max() / np.abs(expected).max()
        cosine = y @ expected / np.linalg.norm(y) / np.linalg.norm(expected)
        if name.endswith("fp32") and difference > TOLERANCE:
            raise SystemExit(f"cnn.py: {name} differs from onnxruntime by {difference:.2e}")
        print(f"verified: {name}: largest difference {difference:.1e}, cosine {cosine:.5f}")


def show(results: dict[str, timing.Result], title: str) -> None:
    print(f"\n### {title}\n")
    rows = []
    for name, result in results.items():
        precision = "fp32" if name.endswith("fp32") else "int8"
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
    parser.add_argument("--contestants", nargs="+", choices=CHOICES, metavar="NAME")
    parser.add_argument("--cache", type=Path, default=Path(tempfile.gettempdir()))
    arguments = parser.parse_args()
    timing.use_clock(arguments)
    report = timing.Report("cnn", arguments)
    for path in map(Path, arguments.files):
        import onnxruntime

        first = onnxruntime.InferenceSession(str(path)).get_inputs()[0]
        images = inputs(tuple(first.shape), CALIBRATION, 0)
        x = inputs(tuple(first.shape), 1, 1)[0]
        qdq = quantized(path, first.name, images, arguments.cache)
        expected = onnxruntime_forward(path, x, 1)().ravel()
        for threads in arguments.threads:
            ready = {
                name: contestant(name, path, qdq, x, threads, images)
                for name in arguments.contestants or CHOICES
            }
            verify(ready, expected)
            field = [timing.Contestant(name, forward) for name, forward in ready.items()]
            results = timing.race(field, timing.rounds(arguments), timing.pause(threads))
            show(results, f"{path.stem}, {threads} threads")
            report.add({"network": path.stem, "threads": threads}, results)


if __name__ == "__main__":
    main()
