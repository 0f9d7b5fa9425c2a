"""Files of pictures, and these in base64 as requests have them."""

import base64
import io

from PIL import Image


def encoded(picture, kind="PNG", **options):
    """The file of an array (height, width, 3) of uint8."""
    file = io.BytesIO()
    Image.fromarray(picture).save(file, kind, **options)
    return file.getvalue()


def text_of(file, head=""):
    return head + base64.b64encode(file).decode()
