"""Pictures for towers that encode them, prepared as preprocessor_config.json says."""

from __future__ import annotations

from fbg.networks.config import PictureInput
from fbg.vision.decode import Pixels, Source, image_of
from fbg.vision.geometry import resized


def fitted(source: Source, how: PictureInput, name: str) -> Pixels:
    """Return a picture, resized and cropped. name: in errors, which are those of `read_image`."""
    pixels, size = image_of(source, name), how.resize
    if isinstance(size, int):
        # Unlike in `resize`, the division is one of floats, as it is in transformers.
        long = int(size * max(pixels.shape[:2]) / min(pixels.shape[:2]))
        size = (size, long) if pixels.shape[0] <= pixels.shape[1] else (long, size)
    if size is not None:
        pixels = resized(pixels, size, how.resample, name)
    height, width = how.crop or pixels.shape[:2]
    top, left = (pixels.shape[0] - height) // 2, (pixels.shape[1] - width) // 2
    return pixels[max(top, 0) :, max(left, 0) :][:height, :width]
