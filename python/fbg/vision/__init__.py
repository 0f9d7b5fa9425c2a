"""Pictures for networks: from a file to an input, and from an output to labels, boxes and text.

Reading order: ``decode``, ``geometry``, ``inputs``; then what decodes outputs (``classes``,
``boxes``, ``text``) and ``drawing``. Everything needs Pillow, which the extra ``vision`` brings.
"""

from fbg.errors import needed

with needed("pictures"):
    import PIL as _  # noqa: F401

from fbg.vision.boxes import Detections, decode_yolo, decode_yolox, nms
from fbg.vision.classes import read_labels, top_k
from fbg.vision.decode import read_image
from fbg.vision.drawing import draw_boxes, save_image
from fbg.vision.geometry import ImageTransform, center_crop, letterbox, resize
from fbg.vision.inputs import PRESETS, ImageBatch, ImageInput
from fbg.vision.pixels import clip_outliers, round_to, standardize, widen_range
from fbg.vision.text import ReadText, TextBoxes, crop_line, ctc_greedy, decode_db

__all__ = [
    "PRESETS",
    "Detections",
    "ImageBatch",
    "ImageInput",
    "ImageTransform",
    "ReadText",
    "TextBoxes",
    "center_crop",
    "clip_outliers",
    "crop_line",
    "ctc_greedy",
    "decode_db",
    "decode_yolo",
    "decode_yolox",
    "draw_boxes",
    "letterbox",
    "nms",
    "read_image",
    "read_labels",
    "resize",
    "round_to",
    "save_image",
    "standardize",
    "top_k",
    "widen_range",
]
