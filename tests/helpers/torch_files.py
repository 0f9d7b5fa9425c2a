"""Files as torch.save writes them, made without torch: a zip archive of a pickle and of storages.

Functions named after what they pickle return its opcodes (protocol 2), so that tests can also write
what torch never would. `write_torch_file` writes a checkpoint.
"""

import struct
import zipfile

import ml_dtypes
import numpy as np

STORAGES = {
    np.dtype(np.float64): "DoubleStorage",
    np.dtype(np.float32): "FloatStorage",
    np.dtype(np.float16): "HalfStorage",
    np.dtype(ml_dtypes.bfloat16): "BFloat16Storage",
    np.dtype(np.int64): "LongStorage",
}
ALIGNMENT = 64  # of storages


def text(value):
    data = value.encode()
    return b"X" + struct.pack("<I", len(data)) + data


def integer(value):
    if 0 <= value < 256:
        return b"K" + struct.pack("<B", value)
    if -(2**31) <= value < 2**31:
        return b"J" + struct.pack("<i", value)
    data = value.to_bytes(value.bit_length() // 8 + 1, "little", signed=True)
    return b"\x8a" + struct.pack("<B", len(data)) + data


def row(*items):
    """A tuple."""
    return b"(" + b"".join(items) + b"t"


def name(module, attribute):
    return f"c{module}\n{attribute}\n".encode()


def call(function, *arguments):
    return function + row(*arguments) + b"R"


EMPTY = call(name("collections", "OrderedDict"))


def storage(kind, key, count):
    reference = row(text("storage"), name("torch", kind), text(key), text("cpu"), integer(count))
    return reference + b"Q"


def tensor(of, offset, size, stride, *more):
    return call(
        name("torch._utils", "_rebuild_tensor_v2"),
        *(of, integer(offset), row(*map(integer, size)), row(*map(integer, stride))),
        *(b"\x89", EMPTY, *more),  # requires no gradient, has no hooks
    )


def dictionary(items):
    """An OrderedDict with an attribute, as `Module.state_dict` gives it."""
    content = b"".join(text(key) + value for key, value in items.items())
    attribute = b"}" + text("_metadata") + EMPTY + b"s"
    return EMPTY + b"(" + content + b"u" + attribute + b"b"


def pickled(value):
    return b"\x80\x02" + value + b"."


def write_archive(path, records):
    """Write records under the name of the archive, storages aligned as torch does it."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_STORED) as archive:
        for key, data in records.items():
            info = zipfile.ZipInfo(f"{path.stem}/{key}")
            position = archive.start_dir + 30 + len(info.filename) + 4
            padding = -position % ALIGNMENT
            info.extra = struct.pack("<2sH", b"FB", padding) + b"Z" * padding
            archive.writestr(info, data)
    return path


def records_of(tensors, *, parameters=False):
    """The records of a checkpoint. Tensors keep their strides; a view has a storage of its own."""
    items = {}
    stored = {}
    for number, (key, array) in enumerate(tensors.items()):
        order = np.argsort([-step for step in array.strides], kind="stable")
        contiguous = np.array(array.transpose(order), order="C")
        strides = [0] * array.ndim
        for axis, step in zip(order, contiguous.strides, strict=True):
            strides[axis] = step // array.itemsize
        kind = STORAGES[array.dtype]
        value = tensor(storage(kind, str(number), array.size), 0, array.shape, tuple(strides))
        if parameters:
            value = call(name("torch._utils", "_rebuild_parameter"), value, b"\x88", EMPTY)
        items[key] = value
        stored[f"data/{number}"] = contiguous.tobytes()
    return {
        "data.pkl": pickled(dictionary(items)),
        "byteorder": b"little",
        **stored,
        "version": b"3\n",
    }


def write_torch_file(path, tensors, **options):
    return write_archive(path, records_of(tensors, **options))
