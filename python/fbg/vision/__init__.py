"""Pictures for networks: from a file to an input, and from an output to labels, boxes and text.

Reading order: ``decode``, ``geometry``, ``inputs``; then what decodes outputs (``classes``,
``boxes``, ``text``) and ``drawing``. Everything needs Pillow, which the extra ``vision`` brings.
"""

from fbg.errors import needed

with needed("pictures"):
    import PIL as _  # noqa: F401

from fbg.vision.decode import read_image
from fbg.vision.geometry import ImageTransform, center_crop, letterbox, resize
from fbg.vision.inputs import PRESETS, ImageBatch, ImageInput
from fbg.vision.pixels import clip_outliers, round_to, standardize, widen_range

__all__ = [
    "PRESETS",
    "ImageBatch",
    "ImageInput",
    "ImageTransform",
    "center_crop",
    "clip_outliers",
    "letterbox",
    "read_image",
    "resize",
    "round_to",
    "standardize",
    "widen_range",
]
