"""Safetensors files as bytes: where the data begins, and headers that a test changes."""

import json


def offset_of_data(path):
    return 8 + int.from_bytes(path.read_bytes()[:8], "little")


def read_header(path):
    return json.loads(path.read_bytes()[8 : offset_of_data(path)])


def change_header(path, change, aligned=True):
    """Rewrite the header after `change`; padded, so that the data stays aligned to 64 bytes."""
    content, begin, header = path.read_bytes(), offset_of_data(path), read_header(path)
    change(header)
    text = json.dumps(header).encode()
    if aligned:
        text += b" " * (-(8 + len(text)) % 64)
    path.write_bytes(len(text).to_bytes(8, "little") + text + content[begin:])
