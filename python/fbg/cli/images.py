"""fbg classify-image and fbg detect: what a network from a file sees in a picture."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import click
import numpy as np

from fbg.arrays import Array
from fbg.cli.common import print_report, user_errors
from fbg.cli.options import Integers, json_option, threads_option
from fbg.errors import ModelError
from fbg.files import require_free_file
from fbg.model.load import load
from fbg.model.load_net import is_net
from fbg.reports.measuring import Report, table

if TYPE_CHECKING:
    from fbg.vision import ImageTransform

FORMATS = ("yolo", "yolox", "yolov5")


@dataclass
class ImageClasses(Report):
    """The result of `fbg classify-image`: the best classes, best first."""

    classes: list[dict[str, Any]]

    def __str__(self) -> str:
        rows = [(hit["label"], f"{hit['score']:.4f}") for hit in self.classes]
        return table(("label", "score"), rows)


@dataclass
class ImageObjects(Report):
    """The result of `fbg detect`: objects, best first, with boxes in pixels of the picture."""

    objects: list[dict[str, Any]]

    def __str__(self) -> str:
        rows = [
            (each["label"], f"{each['score']:.4f}", *(f"{side:.1f}" for side in each["box"]))
            for each in self.objects
        ]
        return table(("label", "score", "x0", "y0", "x1", "y1"), rows)


@dataclass(frozen=True)
class _Seen:
    """A picture, and what a network returned for it.

    size: of the input. transform: where the picture lies in it. drawing: the file to write.
    """

    pixels: Array
    size: tuple[int, int]
    transform: ImageTransform
    output: Array
    labels: list[str] | None
    drawing: str | None

    def draw(self, boxes: Array, texts: Sequence[str], classes: Array) -> None:
        """Write the picture with boxes and texts, if that is wanted."""
        if self.drawing is None:
            return
        from fbg.vision import draw_boxes, save_image

        save_image(draw_boxes(self.pixels, boxes, texts, classes), self.drawing)
        click.echo(f"{self.drawing}: {len(texts)} drawn", err=True)


def _see(
    net: str,
    picture: str,
    *,
    labels: str | None,
    preset: str,
    size: tuple[int, ...] | None,
    output: str | None,
    overwrite: bool,
    num_threads: int | None,
) -> _Seen:
    """Run a network on a picture; what can be checked before is checked first."""
    from fbg.vision import PRESETS, read_image, read_labels
    from fbg.vision.drawing import image_format

    if size is not None and len(size) != 2:
        raise click.UsageError(f"--size must be H,W, got {','.join(map(str, size))}")
    if not is_net(net):
        raise ModelError(f"{net}: is not an ONNX file, or a network that was saved from one")
    if output is not None:
        image_format(output, "--output")
        require_free_file(output, overwrite)
    names = None if labels is None else read_labels(labels)
    pixels = read_image(picture)
    loaded = load(net, num_threads=num_threads)
    if len(loaded.inputs) != 1 or len(loaded.outputs) != 1:
        counts = f"{len(loaded.inputs)} and {len(loaded.outputs)}"
        raise ModelError(f"{net}: must have one input and one output, has {counts}")
    ((name, kind),) = loaded.inputs.items()
    chosen = PRESETS[preset]
    if size is not None:
        chosen = replace(chosen, size=(size[0], size[1]))
    chosen = chosen.for_input(kind)
    assert chosen.size is not None
    if size is not None and chosen.size != size:
        raise click.UsageError(f"--size: the network takes {chosen.size[0]},{chosen.size[1]}")
    batch = chosen.prepare(pixels)
    told = f"{preset}, {chosen.size[0]} x {chosen.size[1]}, {chosen.channels}, {chosen.layout}"
    click.echo(f"{picture} becomes {name}: {told}", err=True)
    (transform,) = batch.transforms
    return _Seen(pixels, chosen.size, transform, loaded(batch.array), names, output)


def _image_command(preset: str) -> Callable[[Callable[..., None]], Any]:
    """Add the arguments and options that both commands have; preset: the default."""
    presets = click.Choice(("imagenet", "inception", "yolo", "yolox"))
    options = (
        click.argument("net"),
        click.argument("picture", type=click.Path(dir_okay=False)),
        click.option("--labels", metavar="FILE", help="A label in each line, for each class one."),
        click.option(
            "--preset",
            type=presets,
            default=preset,
            show_default=True,
            help="How the picture is prepared, as in fbg.vision.PRESETS.",
        ),
        click.option(
            "--size",
            type=Integers(),
            metavar="H,W",
            help="Height and width of the input, if the network leaves them open. Default: those "
            "of the preset.",
        ),
        click.option("--output", help="A .png, .jpg or .webp file to write, with what was found."),
        click.option("--overwrite", is_flag=True, help="Replace an existing output file."),
        threads_option(),
        json_option,
    )

    def decorate(command: Callable[..., None]) -> Any:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


@click.command("classify-image")
@_image_command("imagenet")
@click.option("--top-k", type=click.IntRange(min=1), default=5, show_default=True)
@click.option("--softmax", is_flag=True, help="Turn the outputs into probabilities.")
def classify_image(picture: str, top_k: int, softmax: bool, as_json: bool, **given: Any) -> None:
    """Print the classes that a network sees in PICTURE.

    NET is an ONNX file, or a network that was saved from one, with a picture as its only input, and
    with a score for each class as its only output.

    \b
    Example:
      fbg classify-image net.onnx photo.jpg --labels labels.txt --softmax
    """
    with user_errors():
        seen = _see(picture=picture, **given)
        from fbg import vision

        (hits,) = vision.top_k(seen.output, top_k, seen.labels, softmax=softmax)
        height, width = seen.pixels.shape[:2]
        whole = np.array([[0, 0, width - 1, height - 1]])
        seen.draw(whole, [f"{hits[0]['label']} {hits[0]['score']:.2f}"], np.zeros(1, int))
        print_report(ImageClasses([{**hit} for hit in hits]), as_json)


@click.command()
@_image_command("yolo")
@click.option(
    "--format",
    "kind",
    type=click.Choice(FORMATS),
    default=FORMATS[0],
    show_default=True,
    help="What the network returns: (1, 4 + classes, boxes) as YOLOv8, or (1, boxes, 5 + classes) "
    "in cells as YOLOX or in pixels as YOLOv5.",
)
@click.option(
    "--threshold",
    type=click.FloatRange(0, 1),
    default=0.25,
    show_default=True,
    help="The minimum score.",
)
def detect(picture: str, kind: str, threshold: float, as_json: bool, **given: Any) -> None:
    """Print the objects that a network finds in PICTURE.

    NET is an ONNX file, or a network that was saved from one, with a picture as its only input, and
    with boxes as its only output.

    \b
    Example:
      fbg detect net.onnx photo.jpg --labels labels.txt --output found.png
    """
    with user_errors():
        seen = _see(picture=picture, **given)
        from fbg import vision
        from fbg.vision.classes import require_labels

        if kind == "yolo":
            (found,) = vision.decode_yolo(seen.output, threshold=threshold)
            count = seen.output.shape[1] - 4
        else:
            size = seen.size if kind == "yolox" else None
            (found,) = vision.decode_yolox(seen.output, size, threshold=threshold)
            count = seen.output.shape[2] - 5
        names = require_labels(seen.labels, count, "detect")
        found = found.in_image(seen.transform)
        labels = [names[n] for n in found.classes]
        rows = zip(labels, found.scores.tolist(), found.boxes.tolist(), strict=True)
        objects = [{"label": label, "score": score, "box": box} for label, score, box in rows]
        texts = [f"{label} {score:.2f}" for label, score in zip(labels, found.scores, strict=True)]
        seen.draw(found.boxes, texts, found.classes)
        print_report(ImageObjects(objects), as_json)
