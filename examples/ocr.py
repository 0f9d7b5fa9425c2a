"""Read the text of a page with PP-OCR's networks, in float32 and in int8.

    pip install '.[onnx,vision]' rapidocr-onnxruntime
    python examples/ocr.py --output page.png

One network finds the lines of text, another reads them. Their files come with the package
rapidocr-onnxruntime, which is not imported, or lie in the directory that --models names. The page
is made here, so that what it says is known; --page names another picture. Where onnxruntime is
installed, it reads the page as well, on as many threads.
"""

from __future__ import annotations

import argparse
import importlib.util
import statistics
import time
from collections.abc import Callable
from dataclasses import replace
from difflib import SequenceMatcher
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import onnx
from PIL import Image, ImageDraw, ImageFont

import fbg
from fbg import vision

Array = npt.NDArray[Any]
Run = Callable[[Array], Array]  # of a network

PAGE = (
    "Fast inference on CPUs",
    "The quick brown fox jumps over the lazy dog.",
    "Invoice 2047-B, due on 31 March 2026: $1,284.50",
    "Pack my box with five dozen liquor jugs.",
    "Scales and zero points are applied in registers.",
    "Call +44 20 7946 0958 or write to desk@example.org",
)
CALIBRATION = (
    ("Sphinx of black quartz, judge my vow.", "Total: 3,917.26 EUR", "How vexingly quick they are"),
    ("Weights are packed once (64 x 32).", "Room 508, 9:45 - 11:30", "Jackdaws love my big sphinx"),
)
DETECTION = vision.ImageInput(channels="BGR", mean=(0.5,), std=(0.5,))
# Lines of one height; what is beside a short one is grey, which becomes 0.
RECOGNITION = replace(DETECTION, size=(48, 320), fit="letterbox", align="top-left", fill=127)
ROUNDS = 5


def render(lines: tuple[str, ...]) -> Array:
    """Return a white page with black lines of text."""
    page = Image.new("RGB", (736, 64 + 64 * len(lines)), "white")
    draw = ImageDraw.Draw(page)
    for n, line in enumerate(lines):
        draw.text((40, 40 + 64 * n), line, fill="black", font=ImageFont.load_default(26))
    return np.array(page)


def find_models(given: Path | None) -> tuple[Path, Path]:
    """Return the files of the detection and of the recognition network."""
    if given is None:
        spec = importlib.util.find_spec("rapidocr_onnxruntime")
        if spec is None or not spec.submodule_search_locations:
            raise SystemExit("pip install rapidocr-onnxruntime, or name a directory with --models")
        given = Path(spec.submodule_search_locations[0]) / "models"
    found = [sorted(given.glob(f"*{kind}*.onnx")) for kind in ("det", "rec")]
    if not all(found):
        raise SystemExit(f"{given}: has no files *det*.onnx and *rec*.onnx")
    return found[0][0], found[1][0]


def read_characters(path: Path) -> list[str]:
    """Return the characters that a file says its network recognizes, and a space."""
    for entry in onnx.load(path).metadata_props:
        if entry.key == "character":
            return [*entry.value.rstrip("\n").split("\n"), " "]
    raise SystemExit(f"{path}: does not say which characters it reads")


def page_input(page: Array) -> vision.ImageBatch:
    """Return the input of the detection network, whose sides are multiples of 32."""
    height, width = (max(32, round(side / 32) * 32) for side in page.shape[:2])
    return replace(DETECTION, size=(height, width)).prepare(page)


def line_inputs(page: Array, found: vision.TextBoxes) -> Array:
    """Return the input of the recognition network: a row for each line."""
    lines = [vision.crop_line(page, corners) for corners in found.corners]
    widest = max(line.shape[1] / line.shape[0] for line in lines)
    size = (48, max(320, int(np.ceil(widest * 48 / 32)) * 32))
    return replace(RECOGNITION, size=size).prepare(lines).array


def find_lines(page: Array, detect: Run) -> vision.TextBoxes:
    """Return the lines of text of a page, in its pixels; ends the program if there are none."""
    batch = page_input(page)
    (found,) = vision.decode_db(detect(batch.array), box_threshold=0.5, unclip=2.0)
    if not len(found.scores):
        raise SystemExit("no text was found on the page")
    return found.in_image(batch.transforms[0])


def load_all(files: tuple[Path, Path]) -> dict[str, tuple[Run, Run]]:
    """Return the two networks, as each contestant runs them."""
    exact = [fbg.load(path) for path in files]
    pages = [render(lines) for lines in CALIBRATION]
    feeds = [
        [page_input(page).array for page in pages],
        [line_inputs(page, find_lines(page, exact[0])) for page in pages],
    ]
    int8 = [
        fbg.load(path, dtype="int8", calibrate=each)
        for path, each in zip(files, feeds, strict=True)
    ]
    found: dict[str, tuple[Run, Run]] = {
        "float32": (exact[0], exact[1]),
        "int8": (int8[0], int8[1]),
    }
    if importlib.util.find_spec("onnxruntime") is not None:
        found["onnxruntime"] = (through_onnxruntime(files[0]), through_onnxruntime(files[1]))
    return found


def through_onnxruntime(path: Path) -> Run:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = fbg.get_num_threads()
    session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
    name = session.get_inputs()[0].name
    return lambda x: np.asarray(session.run(None, {name: x})[0])


def timed(run: Run, x: Array) -> float:
    """Return the median of the seconds that a run takes, after one that is not timed."""
    run(x)
    seconds = []
    for _ in range(ROUNDS):
        start = time.perf_counter()
        run(x)
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds)


def agreement(read: list[vision.ReadText]) -> float:
    """Return how much of the page was read rightly. The networks leave out most spaces."""
    wanted, got = "".join(PAGE), "".join(line.text for line in read)
    pair = (wanted.replace(" ", ""), got.replace(" ", ""))
    return SequenceMatcher(None, *pair, autojunk=False).ratio()


def main() -> None:
    parser = argparse.ArgumentParser(description="Read the text of a page.")
    parser.add_argument("--models", type=Path, help="directory with the two ONNX files")
    parser.add_argument("--page", type=Path, help="a picture to read instead of the one made here")
    parser.add_argument("--output", type=Path, help="picture to write, with the lines")
    arguments = parser.parse_args()
    files = find_models(arguments.models)
    characters = read_characters(files[1])
    page = render(PAGE) if arguments.page is None else vision.read_image(arguments.page)
    for name, (detect, recognize) in load_all(files).items():
        found = find_lines(page, detect)
        lines = line_inputs(page, found)
        read = vision.ctc_greedy(recognize(lines), characters)
        seconds = timed(detect, page_input(page).array) + timed(recognize, lines)
        rate = sum(len(line.text) for line in read) / seconds
        print(f"{name}: {len(read)} lines, {rate:,.0f} characters a second")
        if arguments.page is None:
            print(f"  {100 * agreement(read):.1f} % agreement with the page, spaces left out")
        for line in read:
            print(f"  {line.score:.2f}  {line.text}")
        if name == "int8" and arguments.output is not None:
            drawn = vision.draw_boxes(page, found.corners, [line.text for line in read])
            vision.save_image(drawn, arguments.output)
            print(f"  {arguments.output}: the page with these lines")


if __name__ == "__main__":
    main()
