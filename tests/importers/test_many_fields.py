"""Files of nothing but tiny fields, each of which would become an object of 200 bytes."""

from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import helper

import fbg
from fbg.checkpoints import saved_file
from fbg.checkpoints.saved_directory import WEIGHTS
from helpers.onnx_models import make_net
from helpers.peak_memory import peak


def field(number, content):
    """Return a field of protobuf that holds bytes."""
    size, length = len(content), b""
    while size > 127:
        size, length = size >> 7, length + bytes([size & 127 | 128])
    return bytes([number << 3 & 127 | 2 | (number > 15) << 7, *[number >> 4] * (number > 15)]) + (
        length + bytes([size]) + content
    )


@pytest.mark.parametrize(
    "place", ["metadata", "nodes", "constants", "inputs", "attributes", "names"]
)
def test_files_of_nothing_but_tiny_fields_are_refused_before_they_are_parsed(tmp_path, place):
    many = 4_000_000
    data = {
        "metadata": lambda: field(14, b"") * many,
        "nodes": lambda: field(7, field(1, b"") * many),
        "constants": lambda: field(7, field(5, b"") * many),
        "inputs": lambda: field(7, field(11, b"") * many),
        "attributes": lambda: field(7, field(1, field(5, b"") * many)),
        "names": lambda: field(7, field(1, field(1, b"") * many)),
    }[place]()
    path = tmp_path / "m.onnx"
    path.write_bytes(data)
    with pytest.raises(fbg.ModelError, match=r"m\.onnx: more than \d+ fields in \d+ bytes"):
        fbg.load(path)
    Path("/proc/self/clear_refs").write_text("5")
    before = peak()
    with pytest.raises(fbg.ModelError):
        fbg.load(path)
    assert peak() - before < (256 << 20) + 4 * len(data)


def test_files_whose_fields_hold_something_have_as_many_as_they_like(tmp_path):
    nodes = [helper.make_node("Relu", [f"x{i}"], [f"x{i + 1}"]) for i in range(1000)]
    kind = onnx.TensorProto.FLOAT
    inputs, outputs = ([helper.make_tensor_value_info(f"x{i}", kind, [2])] for i in (0, 1000))
    model = helper.make_model(helper.make_graph(nodes, "graph", inputs, outputs))
    for i in range(200_000):
        model.metadata_props.add(key=f"{i}", value="v" * 100)
    path = tmp_path / "m.onnx"
    path.write_bytes(model.SerializeToString())
    assert list(fbg.load(path).outputs) == ["x1000"]


def test_groups_of_fields_are_no_way_around_the_count(tmp_path):
    path = tmp_path / "m.onnx"
    path.write_bytes(b"\x0b" + b"\x72\x00" * 1000)
    with pytest.raises(fbg.ModelError, match="groups of fields"):
        fbg.load(path)


def test_a_saved_network_is_counted_like_a_file(tmp_path):
    """Its nodes are a file in a tensor."""
    net = make_net([helper.make_node("Relu", ["x"], ["y"])], {"x": (np.float32, (1, 4))}, ["y"])
    net.save(tmp_path / "net")
    file = tmp_path / "net" / WEIGHTS
    many = 4_000_000
    with saved_file.SavedFile(file, saved_file.NET_FORMAT) as saved:
        data = saved.array("network").tobytes() + field(7, field(13, b"") * many)
        metadata = {key: saved.metadata(key) for key in ("fbg", "dtype", "versions")}
    file.unlink()
    stored = {"network": np.frombuffer(data, np.uint8)}
    saved_file.write(file, stored, metadata, saved_file.NET_FORMAT)
    Path("/proc/self/clear_refs").write_text("5")
    before = peak()
    with pytest.raises(fbg.ModelError, match=r"tensor network: more than \d+ fields in \d+ bytes"):
        fbg.load(tmp_path / "net")
    assert peak() - before < (256 << 20) + 4 * len(data)
