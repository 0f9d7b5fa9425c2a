"""Files, nodes and subgraphs that are made to crash, to hang or to take memory."""

import os
import resource
import time
import tracemalloc
import warnings
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper, numpy_helper

import fbg
from fbg import saved_file
from fbg.saved_file import WEIGHTS
from helpers.onnx_models import make_net
from helpers.peak_memory import peak

# Small files that ask for much: more work, memory or files than they are entitled to. Each is
# either refused by name or loaded, within a second and a few megabytes, and nothing outside of the
# directory of the file is read.

REFUSED = (fbg.ModelError, ValueError, TypeError, MemoryError)
SECRET = b"not for the output of a model..."  # 32 bytes
OPSETS = [helper.make_opsetid("", 20), helper.make_opsetid("local", 1)]


def value(name, shape=(1, 4), kind=TensorProto.FLOAT):
    return helper.make_tensor_value_info(name, kind, shape)


def write(path, nodes, constants=(), functions=(), outputs=()):
    """Write a file of these nodes beside a Relu of its input, of which it returns all results."""
    relu = helper.make_node("Relu", ["x"], ["y"])
    graph = helper.make_graph(
        [*nodes, relu], "graph", [value("x")], [value("y"), *outputs], list(constants)
    )
    model = helper.make_model(graph, opset_imports=OPSETS, ir_version=9, functions=list(functions))
    path.write_bytes(model.SerializeToString())
    return path


def load(path, **options):
    """Load a file. Return the network, or None if it was refused; fail if that takes long."""
    begin = time.process_time()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return fbg.load(path, **options)
    except REFUSED:
        return None
    finally:
        assert time.process_time() - begin < 2 + path.stat().st_size / 1e6
        grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        assert grown << 10 < (256 << 20) + 4 * path.stat().st_size


@pytest.fixture(autouse=True)
def warm(tmp_path):
    load(write(tmp_path / "warm.onnx", []))  # imports whatever it needs


def integers(name, values, shape=None):
    array = np.array(values, np.int64)
    return numpy_helper.from_array(array if shape is None else array.reshape(shape), name)


# External data ----------------------------------------------------------------------------------


def external(name, location, size=32):
    tensor = TensorProto(name=name, data_type=TensorProto.UINT8, dims=[size])
    tensor.data_location = TensorProto.EXTERNAL
    for key, text in (("location", location), ("offset", "0"), ("length", str(size))):
        tensor.external_data.add(key=key, value=text)
    return tensor


def constant(tensor, output="z"):
    return helper.make_node("Constant", [], [output], value=tensor)


def branch(nodes, constants=(), output="z"):
    kind = value(output, None, TensorProto.UINT8)
    return helper.make_graph(nodes, "branch", [], [kind], list(constants))


def choice(inside, output="z"):
    other = branch([constant(numpy_helper.from_array(np.zeros(len(SECRET), np.uint8)))])
    return helper.make_node("If", ["true"], [output], then_branch=inside, else_branch=other)


def in_initializer(tensor):
    return [helper.make_node("Identity", ["e"], ["z"])], [tensor], []


def in_attribute(tensor):
    return [constant(tensor)], [], []


def in_initializer_of_subgraph(tensor):
    return [choice(branch([helper.make_node("Identity", ["e"], ["z"])], [tensor]))], [], []


def in_attribute_of_subgraph(tensor):
    return [choice(branch([constant(tensor)]))], [], []


def in_subgraph_of_subgraph(tensor):
    return [choice(branch([choice(branch([constant(tensor)]))]))], [], []


def in_function(tensor):
    function = helper.make_function("local", "F", [], ["z"], [constant(tensor)], OPSETS)
    return [helper.make_node("F", [], ["z"], domain="local")], [], [function]


def in_subgraph_of_function(tensor):
    node = choice(branch([constant(tensor)]))
    function = helper.make_function("local", "F", ["true"], ["z"], [node], OPSETS)
    return [helper.make_node("F", ["true"], ["z"], domain="local")], [], [function]


PLACES = (
    in_initializer,
    in_attribute,
    in_initializer_of_subgraph,
    in_attribute_of_subgraph,
    in_subgraph_of_subgraph,
    in_function,
    in_subgraph_of_function,
)


def with_external(path, place, location):
    nodes, constants, functions = place(external("e", location))
    true = numpy_helper.from_array(np.array(True), "true")
    output = value("z", None, TensorProto.UINT8)
    return write(path, nodes, [*constants, true], functions, [output])


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("backends", [None, ("fbg", "reference")])
def test_external_data_anywhere_comes_from_beside_the_file(tmp_path, monkeypatch, place, backends):
    inside = tmp_path / "inside"
    elsewhere = tmp_path / "elsewhere"
    for folder in (inside, elsewhere):
        folder.mkdir()
    (elsewhere / "e.bin").write_bytes(SECRET)
    monkeypatch.chdir(elsewhere)
    path = with_external(inside / "m.onnx", place, "e.bin")
    with pytest.raises(fbg.ModelError, match=r"no external data 'e\.bin'"):
        fbg.load(path, backends=backends)
    right = bytes(range(len(SECRET)))
    (inside / "e.bin").write_bytes(right)
    net = load(path, backends=backends)
    x = np.ones((1, 4), np.float32)
    assert net.run({"x": x})["z"].tobytes() == right


@pytest.mark.parametrize("place", PLACES)
def test_external_data_never_leads_out_of_the_directory(tmp_path, place):
    secret = tmp_path / "secret"
    secret.write_bytes(SECRET)
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "link").symlink_to(secret)
    (inside / "folder").symlink_to(tmp_path)
    os.mkfifo(inside / "pipe")
    for location in (str(secret), "../secret", "link", "folder/secret", "pipe", ".", "", "x\0y"):
        with pytest.raises(fbg.ModelError, match="external data"):
            fbg.load(with_external(inside / "m.onnx", place, location))


def test_many_tensors_that_are_the_same_part_of_a_file_are_refused(tmp_path):
    size = 1 << 20
    (tmp_path / "e.bin").write_bytes(bytes(size))
    tensors = [external(f"e{i}", "e.bin", size) for i in range(200)]
    nodes = [constant(tensor, f"z{i}") for i, tensor in enumerate(tensors)]
    with pytest.raises(fbg.ModelError, match="too large for the size of the file"):
        fbg.load(write(tmp_path / "m.onnx", nodes))


# Work and memory --------------------------------------------------------------------------------


def loop(count):
    body = helper.make_graph(
        [helper.make_node("Identity", ["c"], ["d"]), helper.make_node("Identity", ["v"], ["w"])],
        "body",
        [value("i", [], 7), value("c", [], 9), value("v", [1])],
        [value("d", [], 9), value("w", [1])],
    )
    node = helper.make_node("Loop", ["trips", "true", "start"], ["z"], body=body)
    true = numpy_helper.from_array(np.array(True), "true")
    start = numpy_helper.from_array(np.ones(1, np.float32), "start")
    return [node], [integers("trips", count), true, start]


def regex():
    text = helper.make_tensor("s", TensorProto.STRING, [1], [b"a" * 40 + b"b"])
    return [helper.make_node("RegexFullMatch", ["s"], ["z"], pattern="(a+)+$")], [text]


def made(op, *inputs, **attributes):
    constants = [array for array in inputs if array is not None]
    names = [array.name if array is not None else "" for array in inputs]
    return [helper.make_node(op, names, ["z"], **attributes)], constants


# A graph has no output whose type is not declared, so whatever `z` is becomes one that is.
AS_FLOATS = helper.make_node("Cast", ["z"], ["floats"], to=TensorProto.FLOAT)


def floats(name, shape):
    return numpy_helper.from_array(np.ones(shape, np.float32), name)


def texts(name, values):
    return TensorProto(
        name=name, data_type=TensorProto.STRING, dims=[len(values)], string_data=values
    )


LARGE = {
    "a loop of 2**62": loop(2**62),
    "a regular expression that backtracks": regex(),
    "Expand": made("Expand", floats("a", (1,)), integers("n", [2**15, 2**15])),
    "Expand to 2**66": made("Expand", floats("a", (1,)), integers("n", [2**33, 2**33])),
    "Tile": made("Tile", floats("a", (1, 1)), integers("n", [2**15, 2**15])),
    "ConstantOfShape": made("ConstantOfShape", integers("n", [2**15, 2**15])),
    "Range": made("Range", *(integers(n, i) for n, i in zip("abc", (0, 2**30, 1), strict=True))),
    "Pad": made("Pad", floats("a", (1, 1)), integers("n", [0, 0, 2**15, 2**15])),
    "Pad that reflects": made("Pad", floats("a", (2,)), integers("n", [0, 2**23]), mode="reflect"),
    "OneHot": made("OneHot", integers("a", range(64)), integers("n", 2**26), floats("v", (2,))),
    "a product": made("MatMul", floats("a", (2**15, 1)), floats("b", (1, 2**15))),
    "integers": made("MatMul", *(integers(n, range(2**20), (2**10, -1)) for n in "ab")),
    "a sum over all": made("Einsum", *(floats(n, (999,)) for n in "abc"), equation="i,j,k->"),
    "a summand that is broadcast": made(
        "Gemm", floats("a", (999, 1)), floats("b", (1, 999)), floats("c", (999, 1, 1))
    ),
    "limits that are broadcast": made("Clip", floats("a", (1, 40000)), floats("b", (40000, 1))),
    "a batch of points": made("GatherND", floats("a", (2,)), integers("n", [0] * 10**6, (-1, 1))),
    "a choice among many": made(
        "GatherElements", floats("a", (40000,)), integers("n", [0] * 40000), axis=0
    ),
    "a window": made("HannWindow", integers("n", 2**31)),
    "a convolution": made("Conv", floats("a", (1, 1, 999, 999)), floats("b", (1, 1, 500, 500))),
    "a resized image": made(
        "Resize", floats("a", (1, 1, 9, 9)), None, None, integers("n", [1, 1, 9000, 9000])
    ),
    "texts": [
        [helper.make_node("Identity", ["a"], ["z"])],
        [texts("a", [b"x" * 10**6] + [b""] * 99999)],
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", LARGE)
def test_constants_that_are_much_work_are_loaded_or_refused_soon(tmp_path, name):
    nodes, constants = LARGE[name]
    load(
        write(tmp_path / "m.onnx", [*nodes, AS_FLOATS], constants, outputs=[value("floats", None)])
    )


def test_what_is_not_computed_beforehand_runs(tmp_path):
    nodes, constants = loop(3)
    net = load(write(tmp_path / "m.onnx", nodes, constants, outputs=[value("z", None)]))
    assert net.run({"x": np.ones((1, 4), np.float32)})["z"] == [1]


def test_many_nodes_that_make_a_tensor_larger_share_one_budget(tmp_path):
    nodes = [helper.make_node("Expand", ["a", "n"], [f"z{i}"]) for i in range(100)]
    constants = [floats("a", (1,)), integers("n", [1 << 20])]
    outputs = [value(f"z{i}", None) for i in range(100)]
    net = load(write(tmp_path / "m.onnx", nodes, constants, outputs=outputs))
    assert net.run({"x": np.ones((1, 4), np.float32)})["z99"].shape == (1 << 20,)


def test_weights_that_are_dequantized_again_and_again_share_it(tmp_path):
    q = numpy_helper.from_array(np.ones(1 << 20, np.int8), "q")
    nodes = [helper.make_node("DequantizeLinear", ["q", "s"], [f"z{i}"]) for i in range(500)]
    outputs = [value(f"z{i}", None) for i in range(500)]
    scale = numpy_helper.from_array(np.float32(2), "s")
    load(write(tmp_path / "m.onnx", nodes, [q, scale], outputs=outputs))


def test_batch_norm_of_other_shapes_than_the_weights_is_not_folded(tmp_path):
    nodes = [
        helper.make_node("Conv", ["a", "w"], ["b"]),
        helper.make_node("BatchNormalization", ["b", "s", "s", "s", "s"], ["z"]),
    ]
    constants = [
        floats("a", (1, 30000, 1, 1)),
        floats("w", (1, 30000, 1, 1)),
        floats("s", (30000,)),
    ]
    load(write(tmp_path / "m.onnx", nodes, constants, outputs=[value("z", None)]))


# Local functions --------------------------------------------------------------------------------


def call(name, inputs, outputs, **attributes):
    return helper.make_node(name, inputs, outputs, domain="local", **attributes)


def function(name, nodes, **more):
    return helper.make_function("local", name, ["a"], ["b"], nodes, OPSETS, **more)


def doubled(count, last, step):
    """Functions that call the one before twice, by `step(name)`."""
    functions = [function("F0", last)]
    for i in range(1, count):
        functions.append(function(f"F{i}", step(f"F{i - 1}")))
    return functions


def twice(name):
    return [call(name, ["a"], ["c"]), call(name, ["c"], ["b"])]


def twice_inside(name):
    inside = helper.make_graph(twice(name), "inside", [], [value("b", None)])
    return [
        helper.make_node("Constant", [], ["t"], value=numpy_helper.from_array(np.array(True))),
        helper.make_node("If", ["t"], ["b"], then_branch=inside, else_branch=inside),
    ]


RELU = helper.make_node("Relu", ["a"], ["b"])
LARGE_CONSTANT = [constant(numpy_helper.from_array(np.ones(10**5, np.float32)), "b")]


@pytest.mark.parametrize(
    ("count", "last", "step"),
    [
        (20, [RELU], twice),
        (60, [RELU], twice),
        (20, [RELU], twice_inside),
        (12, LARGE_CONSTANT, twice),
        (40, [RELU], lambda name: [call(name, ["a"], ["c" * 9]), call(name, ["c" * 9], ["b"])]),
        (5000, [RELU], lambda name: [call(name, ["a"], ["b"])]),
        (2, [RELU], lambda name: [call("F1", ["a"], ["b"])]),
        (2, [call("F1", ["a"], ["b"])], lambda name: [call(name, ["a"], ["b"])]),
    ],
    ids=("twice", "2**60", "in subgraphs", "bytes", "names", "deep", "itself", "each other"),
)
def test_functions_that_become_too_much_are_refused(tmp_path, count, last, step):
    functions = doubled(count, last, step)
    path = write(
        tmp_path / "m.onnx",
        [call(f"F{count - 1}", ["x"], ["z"])],
        functions=functions,
        outputs=[value("z", None)],
    )
    assert load(path) is None
    with pytest.raises(fbg.ModelError, match="function"):
        fbg.load(path)


def test_an_attribute_that_functions_copy_again_and_again_is_counted(tmp_path):
    tensor = numpy_helper.from_array(np.ones(10**5, np.float32))
    last = helper.make_node("Constant", [], ["b"])
    last.attribute.add(name="value", ref_attr_name="value", type=onnx.AttributeProto.TENSOR)

    def pass_on(name):
        nodes = twice(name)
        for node in nodes:
            node.attribute.add(name="value", ref_attr_name="value", type=onnx.AttributeProto.TENSOR)
        return nodes

    functions = doubled(12, [last], pass_on)
    for one in functions:
        one.attribute.append("value")
    nodes = [call("F11", ["x"], ["z"], value=tensor)]
    path = write(tmp_path / "m.onnx", nodes, functions=functions, outputs=[value("z", None)])
    assert load(path) is None


def test_functions_are_inlined_where_they_are_few(tmp_path):
    path = write(
        tmp_path / "m.onnx",
        [call("F7", ["x"], ["z"])],
        functions=doubled(8, [helper.make_node("Neg", ["a"], ["b"])], twice),
        outputs=[value("z")],
    )
    x = np.arange(4, dtype=np.float32)[None]
    np.testing.assert_array_equal(load(path).run({"x": x})["z"], x)


# Files and nodes --------------------------------------------------------------------------------


def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "m.onnx")
    with pytest.raises(fbg.ModelError, match="named pipe"):
        fbg.load(tmp_path / "m.onnx")


def test_nodes_of_subgraphs_are_checked_like_all_others(tmp_path):
    wrong = helper.make_node("LayerNormalization", ["x", "x"], ["z"], axis=2**63 - 1)
    true = numpy_helper.from_array(np.array(True), "true")
    path = write(tmp_path / "m.onnx", [choice(branch([choice(branch([wrong]))]))], [true])
    with pytest.raises(fbg.ModelError, match=r"inside, LayerNormalization.*axis"):
        fbg.load(path)


def test_the_time_of_many_small_nodes_grows_with_their_number(tmp_path):
    nodes = []
    for i in range(2000):  # of two back ends in turn, so that each is a part of its own
        before = f"t{i - 1}" if i else "x"
        inputs, op = ([before, "axis"], "CumSum") if i % 2 else ([before], "Relu")
        nodes.append(helper.make_node(op, inputs, [f"t{i}"]))
    axis = [integers("axis", 1)]
    path = write(tmp_path / "m.onnx", nodes, axis, outputs=[value("t1999")])
    assert load(path, backends=("fbg", "reference")) is not None


def test_many_nodes_that_are_refused_late_are_not_planned_again_for_each(tmp_path):
    double = TensorProto.DOUBLE
    nodes = [helper.make_node("Cast", ["x"], [f"t{i}"], to=double) for i in range(400)]
    nodes += [helper.make_node("Relu", ["x"], [f"r{i}"]) for i in range(400)]
    outputs = [value(f"t{i}", kind=double) for i in range(400)]
    outputs += [value(f"r{i}") for i in range(400)]
    path = write(tmp_path / "m.onnx", nodes, outputs=outputs)
    assert load(path, backends=("fbg", "reference")) is not None


@pytest.mark.parametrize(("op", "repeats"), [("Pad", (0, 0, 0, 2**28)), ("Tile", (1, 2**28))])
def test_axes_that_are_very_long_are_not_listed_element_by_element(tmp_path, op, repeats):
    more = {"mode": "wrap"} if op == "Pad" else {}
    nodes = [helper.make_node(op, ["x", "n"], ["z"], **more)]
    load(write(tmp_path / "m.onnx", nodes, [integers("n", repeats)], outputs=[value("z", None)]))


@pytest.mark.parametrize("length", [2**20, 2**28])
@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_axes_are_resized_without_a_python_object_for_each_element(tmp_path, mode, length):
    nodes = [helper.make_node("Resize", ["x", "", "", "n"], ["z"], mode=mode)]
    sizes = [integers("n", (1, length))]
    load(write(tmp_path / "m.onnx", nodes, sizes, outputs=[value("z", None)]))


# Nodes whose attributes or sizes make libraries that compute with them end or take memory.


def write_node(path, node, **constants):
    """Write a file of a node with the output z beside a Relu of its input x."""
    kinds = [helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in "xyz"]
    kinds[0] = helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4])
    nodes = [node, helper.make_node("Relu", ["x"], ["y"])]
    tensors = [numpy_helper.from_array(np.array(c), name) for name, c in constants.items()]
    graph = helper.make_graph(nodes, "graph", kinds[:1], kinds[1:], tensors)
    opset = helper.make_opsetid("", 17)
    onnx.save(helper.make_model(graph, opset_imports=[opset], ir_version=8), path)
    return path


@pytest.mark.parametrize("batch_dims", [-1, -2, -64, 65])
def test_a_number_of_axes_is_not_negative(tmp_path, batch_dims):
    """ONNX's inference would read before the shape of the data."""
    node = helper.make_node("GatherND", ["x", "n"], ["z"], batch_dims=batch_dims)
    path = write_node(tmp_path / "m.onnx", node, n=[0])
    with pytest.raises(fbg.ModelError, match=f"attribute batch_dims is {batch_dims}"):
        fbg.load(path)


def test_a_result_without_elements_takes_no_memory_on_its_way(tmp_path):
    node = helper.make_node("Tile", ["c", "n"], ["z"])
    path = write_node(
        tmp_path / "m.onnx", node, c=np.ones((1, 5, 1), np.float32), n=[4096, 4096, 0]
    )
    tracemalloc.start()
    try:
        found = fbg.load(path).run({"x": np.zeros((1, 4), np.float32)})
        assert tracemalloc.get_traced_memory()[1] < 64 << 20
    finally:
        tracemalloc.stop()
    assert found["z"].shape == (4096, 20480, 0)


# Files of nothing but tiny fields, each of which would become an object of 200 bytes.


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
    with saved_file.SavedFile(file, saved_file.NET) as saved:
        data = saved.array("network").tobytes() + field(7, field(13, b"") * many)
        metadata = {key: saved.metadata(key) for key in ("fbg", "dtype", "versions")}
    file.unlink()
    stored = {"network": np.frombuffer(data, np.uint8)}
    saved_file.write(file, stored, metadata, saved_file.NET)
    Path("/proc/self/clear_refs").write_text("5")
    before = peak()
    with pytest.raises(fbg.ModelError, match=r"tensor network: more than \d+ fields in \d+ bytes"):
        fbg.load(tmp_path / "net")
    assert peak() - before < (256 << 20) + 4 * len(data)


# Nodes inside of If, Loop and Scan that do not fit each other never reach onnxruntime. Its
# inference ends the process where ellipses of an Einsum stand for different axes.


def inside_if(nodes, output="z"):
    body = helper.make_graph(nodes, "body", [], [value("r", None)])
    return helper.make_node("If", ["true"], [output], then_branch=body, else_branch=body)


def inside_loop(nodes):
    count, go = value("count", (), TensorProto.INT64), value("go", (), TensorProto.BOOL)
    on = helper.make_node("Identity", ["go"], ["on"])
    outputs = [value("on", (), TensorProto.BOOL), value("r", None)]
    body = helper.make_graph([on, *nodes], "body", [count, go], outputs)
    return helper.make_node("Loop", ["two", "true"], ["z"], body=body)


def inside_scan(nodes):
    body = helper.make_graph(nodes, "body", [value("row", None)], [value("r", None)])
    return helper.make_node("Scan", ["x"], ["z"], body=body, num_scan_inputs=1)


def einsum(*operands):
    return helper.make_node("Einsum", operands, ["r"], equation="...i,...j->...")


def load_graph(path, *nodes):
    arrays = {
        "true": np.array(True),
        "two": np.array(2),
        "vector": np.ones(1, np.float32),
        "tensor": np.ones((1, 5, 1, 2), np.float32),
    }
    constants = [numpy_helper.from_array(array, name) for name, array in arrays.items()]
    graph = helper.make_graph(nodes, "g", [value("x", (1, 4))], [value("z", None)], constants)
    opsets = [helper.make_opsetid("", 20)]
    model = helper.make_model(graph, opset_imports=opsets, ir_version=9)
    path.write_bytes(model.SerializeToString())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return fbg.load(path)


@pytest.mark.parametrize("inside", [inside_loop, inside_scan])
@pytest.mark.parametrize("deep", [False, True])
def test_nodes_that_do_not_fit_their_inputs_run_elsewhere(tmp_path, inside, deep):
    wrong = einsum("vector", "tensor")
    net = load_graph(tmp_path / "m.onnx", inside([inside_if([wrong], "r") if deep else wrong]))
    assert "onnxruntime" not in str(net.plan())


@pytest.mark.parametrize("deep", [False, True])
def test_branches_that_are_taken_and_do_not_fit_are_refused(tmp_path, deep):
    wrong = einsum("vector", "tensor")
    with pytest.raises(fbg.ModelError, match=r"node Einsum .* does not fit its inputs"):
        load_graph(tmp_path / "m.onnx", inside_if([inside_if([wrong], "r") if deep else wrong]))


def test_branches_that_run_may_take_and_do_not_fit_never_reach_onnxruntime(tmp_path):
    body = helper.make_graph([einsum("vector", "tensor")], "body", [], [value("r", None)])
    nodes = [
        helper.make_node("ReduceMax", ["x"], ["top"], keepdims=0),
        helper.make_node("Cast", ["top"], ["flag"], to=TensorProto.BOOL),
        helper.make_node("If", ["flag"], ["z"], "choice", then_branch=body, else_branch=body),
    ]
    with pytest.raises(fbg.ModelError, match=r"node Einsum .* does not fit its inputs"):
        load_graph(tmp_path / "m.onnx", *nodes)


@pytest.mark.parametrize("inside", [inside_if, inside_loop, inside_scan])
def test_nodes_that_fit_run_on_onnxruntime(tmp_path, inside):
    net = load_graph(tmp_path / "m.onnx", inside([einsum("tensor", "tensor")]))
    backends = {step.backend for step in net.plan().steps}
    assert backends == (set() if inside is inside_if else {"onnxruntime"})  # it is folded
    (found,) = net.run({"x": np.ones((1, 4), np.float32)}).values()
    assert (found == 4).all()
