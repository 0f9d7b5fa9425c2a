"""The methods of Model for pictures: vectors, states, labels, and labels given in words.

Pictures are prepared as preprocessor_config.json says, and computed some at a time.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from fbg.arrays import Floats, as_array, require_flag
from fbg.errors import ModelError
from fbg.model.forward import HiddenStates, ModelOutput
from fbg.networks.config import EncoderConfig, PictureConfig
from fbg.networks.towers import PREPROCESSOR
from fbg.runtime.steps import Request, Steps, copied
from fbg.tasks.classify import TopK, label_scores
from fbg.tasks.context import TaskMethods, task
from fbg.tasks.encode import EncodeOptions, Encoder
from fbg.tasks.engines import require_head
from fbg.tasks.inputs import require_count
from fbg.tasks.results import ImageZeroShotResult, LabelScore
from fbg.tasks.scores import sigmoid, softmax
from fbg.tasks.scores import top_k as best_first
from fbg.tasks.search import unit_rows
from fbg.tasks.zero_shot import candidate_list, checked_template

if TYPE_CHECKING:
    from fbg.vision.decode import Source

TEMPLATE = "This is a photo of {}."


class PictureMethods(TaskMethods):
    """The methods of `Model` for towers that read pictures; other models raise ModelError.

    A picture is what `fbg.vision.read_image` takes; several are a list, a tuple, an iterator, or an
    array of uint8 with one axis more. The errors are those of `read_image`, and name the picture.
    """

    _image_states: HiddenStates

    @task
    def encode_image(
        self,
        images: Source | Iterable[Source],
        batch_size: int = 32,
        normalize_embeddings: bool = False,
    ) -> Steps[Floats]:
        """Return the vectors of pictures, float32: (dimension,), or (n, dimension) for several.

        images: a path, the bytes of a file, a Pillow image, an array of uint8, or several of them.
        batch_size: the most pictures to prepare at a time; limits memory, and never changes a
            result.
        normalize_embeddings: whether to scale vectors to length 1.

        The vectors of CLIP and SigLIP are in the space of those of `encode`; for ViT and DINOv2, a
        vector is the last state of the first token.

        >>> clip.encode_image([np.zeros((40, 60, 3), np.uint8)]).shape
        (1, 20)
        """
        normalize = require_flag(normalize_embeddings, "encode_image: normalize_embeddings")
        rows, several = yield from self._rows("encode_image", images, batch_size)
        vectors = unit_rows(rows) if normalize else rows
        return vectors if several else vectors[0]

    def forward_image(self, pixel_values: npt.ArrayLike) -> ModelOutput:
        """Run the tower on prepared pictures; return its last states and its pooler's output.

        pixel_values: (batch, 3, height, width) floats, of the size that `image_size` names.

        >>> states = clip.forward_image(np.zeros((2, 3, *clip.image_size)))
        >>> states.last_hidden_state.shape
        (2, 5, 24)
        """
        picture = self._picture("forward_image")
        values = as_array(pixel_values, "forward_image: pixel_values")
        wanted = (picture.channels, *picture.size)
        if values.dtype.kind != "f":
            raise TypeError(f"forward_image: pixel_values must be floats, got {values.dtype}")
        if values.ndim != 4 or values.shape[1:] != wanted:
            shape = ", ".join(map(str, wanted))
            raise ValueError(
                f"forward_image: pixel_values must be (batch, {shape}), got {values.shape}"
            )
        rows = picture.rows(values.astype(np.float32))
        return self._image_states.run_rows(rows, self._context.num_threads)

    @property
    def image_size(self) -> tuple[int, int]:
        """Height and width of the pictures that the network reads."""
        return self._picture("image_size").size

    @task
    def classify_image(
        self, images: Source | Iterable[Source], top_k: TopK = "best", batch_size: int = 32
    ) -> Steps[list[LabelScore] | list[list[LabelScore]]]:
        """Classify pictures: return labels of config.json with their probabilities.

        images, batch_size: as in `encode_image`. top_k: as in `classify`.

        Returns dicts {"label": str, "score": float}, nested as by `classify`.

        Raises ModelError if the architecture in config.json does not end in ForImageClassification.

        >>> model.classify_image("cat.jpg", 1)  # doctest: +SKIP
        [{'label': 'tabby, tabby cat', 'score': 0.94}]
        """
        context, name = self._context, "classify_image"
        head = require_head(context.transformer, context.directory, name)
        most = 1 if top_k == "best" else top_k
        most = None if most is None else require_count(f"{name}: top_k", most)
        rows, several = yield from self._rows(name, images, batch_size, with_head=True)
        score = softmax if len(head.labels) > 1 else sigmoid
        results = [label_scores(score(row), head.labels, most) for row in rows]
        if not several:
            return results[0]
        return [result[0] for result in results] if top_k == "best" else results

    @task
    def zero_shot_classify_image(
        self,
        images: Source | Iterable[Source],
        candidate_labels: str | Iterable[str],
        hypothesis_template: str = TEMPLATE,
        batch_size: int = 32,
    ) -> Steps[ImageZeroShotResult | list[ImageZeroShotResult]]:
        """Classify pictures by labels that are given in words.

        images, batch_size: as in `encode_image`. candidate_labels, hypothesis_template: as in
        `zero_shot_classify`.

        Returns a dict {"labels": best first, "scores": in the same order} for each picture. Scores
        of CLIP add up to 1; SigLIP scores each label by itself.

        Raises ModelError if the model has no tower for texts.

        >>> found = clip.zero_shot_classify_image(np.zeros((9, 9), np.uint8), ["a cat", "a dog"])
        >>> sorted(found["labels"])
        ['a cat', 'a dog']
        """
        name, context = "zero_shot_classify_image", self._context
        logits = context.transformer.logits
        if logits is None:
            self._picture(name)
            raise ModelError(f"{name}: a model of type {context.config.model_type} has no texts")
        labels = candidate_list(name, candidate_labels)
        template = checked_template(name, hypothesis_template)
        encoder = Encoder(context, EncodeOptions(normalize_embeddings=True))
        texts = [template.replace("{}", label) for label in labels]
        words = (yield from encoder.embed(texts)).astype(np.float64)
        rows, several = yield from self._rows(name, images, batch_size)
        factor, added = np.exp(np.float64(logits[0])), float(logits[1])
        is_sigmoid = context.config.model_type == "siglip"
        results: list[ImageZeroShotResult] = []
        for row in unit_rows(rows).astype(np.float64):
            values = words @ row * factor + added
            scores = sigmoid(values) if is_sigmoid else softmax(values)
            order = best_first(scores, None)
            best = [labels[n] for n in order]
            results.append({"labels": best, "scores": scores[order].tolist()})
        return results if several else results[0]

    def _picture(self, method: str) -> PictureConfig:
        config: EncoderConfig = self._context.config
        picture = (config.image or config).picture
        if picture is None:
            raise ModelError(
                f"{method}: a model of type {config.model_type} has no tower for pictures"
            )
        return picture

    def _rows(
        self, method: str, images: object, batch_size: object, *, with_head: bool = False
    ) -> Steps[tuple[Floats, bool]]:
        """Ask for the vectors of pictures, or for what the head gives; return them, and whether
        there are several.
        """
        picture, engines = self._picture(method), self._context.engines
        most = require_count(f"{method}: batch_size", batch_size)
        engine = engines.head if with_head else engines.picture
        pictures, several = _several(images)
        from fbg.vision.inputs import ImageInput  # here, as they need Pillow
        from fbg.vision.processing import fitted

        how, found, number = picture.input, [], 0
        if how is None:
            path = self._context.directory / PREPROCESSOR
            raise ModelError(f"{path}: no such file; it says how pictures are prepared")
        table = ImageInput(mean=how.mean, std=how.std, scale=how.scale)
        while block := list(islice(pictures, most)):
            prepared = []
            for source in block:
                name = f"{method}: images[{number}]" if several else f"{method}: images"
                pixels, number = fitted(source, how, name), number + 1
                if pixels.shape[:2] != picture.size:
                    got, size = (" x ".join(map(str, s)) for s in (pixels.shape[:2], picture.size))
                    raise ValueError(f"{name} must have {size} pixels, got {got}")
                prepared.append(pixels)
            batch = table.prepare(prepared).array.astype(np.float32)
            rows = list(picture.rows(batch))
            places = [np.arange(len(each), dtype=np.int32) for each in rows]
            found += yield Request(engine, places, method, copied, most, types=rows)
        whole = np.concatenate(found) if found else np.zeros((0, engine.columns), np.float32)
        return whole, several


def _several(images: Any) -> tuple[Iterator[object], bool]:
    """Return pictures one by one, and whether they were given as several."""
    if isinstance(images, np.ndarray):
        several = images.ndim == 4
    else:
        several = isinstance(images, (list, tuple, Iterator))
    return iter(images if several else [images]), several
