"""Networks in the ONNX format that ask for much: constants that grow, in subgraphs, local functions
and in other files, of all sizes.

They are only loaded, by all back ends. What is checked beside the time: the memory that this takes,
and that no tensor in another file is left for a library to find.
"""

from __future__ import annotations

import os
from random import Random

import numpy as np
import onnx
from onnx import TensorProto, helper, numpy_helper

import fbg
from fuzz.files import file_in
from fuzz.mutations import change_bytes
from fuzz.target import target
from helpers.peak_memory import peak

SIZES = (0, 1, 2, 3, 7, 64, 999, 4096, 2**15, 2**20, 2**26, 2**31, 2**33, 2**62, 2**63 - 1, -1, -2)
FEW = (1, 1, 2, 3, 5, 8)
DEEPEST = 4
OPSETS = [helper.make_opsetid("", 20), helper.make_opsetid("local", 1)]

# Ops by the kinds of their inputs (t: tensor, n: sizes, i: a small integer, s: text, b: a boolean,
# q: bytes, f: a scale, -: none) and attributes, whose values are chosen at random among these.
MODES = {"mode": ("constant", "edge", "reflect", "wrap")}
NEAREST = {"mode": ("nearest", "linear", "cubic")}
OPS = (
    ("Expand", "tn", {}),
    ("Tile", "tn", {}),
    ("ConstantOfShape", "n", {}),
    ("Range", "iii", {}),
    ("Range", "nnn", {}),
    ("Pad", "tn", MODES),
    ("OneHot", "nit", {"axis": (0, -1, 1)}),
    ("Resize", "t--n", NEAREST),
    ("Resize", "t-t", NEAREST),
    ("Reshape", "tn", {}),
    ("Gather", "tn", {"axis": (0, 1)}),
    ("GatherND", "tn", {}),
    ("GatherElements", "tn", {}),
    ("ScatterND", "tnt", {}),
    ("ScatterElements", "tnt", {}),
    ("Slice", "tnn", {}),
    ("Split", "t", {"num_outputs": (1,)}),
    ("Concat", "tttttttt", {"axis": (0, 1, -1)}),
    ("Unsqueeze", "tn", {}),
    ("Transpose", "t", {}),
    ("Add", "tt", {}),
    ("Mul", "tt", {}),
    ("Pow", "tt", {}),
    ("Where", "btt", {}),
    ("Equal", "tt", {}),
    ("Sum", "tttt", {}),
    ("Clip", "ttt", {}),
    ("PRelu", "tt", {}),
    ("Erf", "t", {}),
    ("Cast", "t", {"to": (1, 2, 3, 6, 7, 8, 9, 10, 11, 14, 16, 17)}),
    ("MatMul", "tt", {}),
    ("MatMul", "nn", {}),
    ("Gemm", "ttt", {"transA": (0, 1), "transB": (0, 1)}),
    ("Einsum", "ttt", {"equation": ("i,j,k->ijk", "ij,jk,kl->il", "...i,...j,...->...", "i,i,i")}),
    ("Conv", "tt", {"auto_pad": ("VALID", "SAME_UPPER"), "strides": ((1, 1), (2**31, 1))}),
    ("ConvTranspose", "tt", {"strides": ((1, 1), (2**20, 2**20)), "output_padding": ((9, 9),)}),
    ("MaxPool", "t", {"kernel_shape": ((1, 1), (99, 99), (2**31, 1)), "pads": ((99, 99, 99, 99),)}),
    ("BatchNormalization", "ttttt", {}),
    ("LayerNormalization", "tt", {"axis": (-1, 0)}),
    ("ReduceSum", "tn", {"keepdims": (0, 1)}),
    ("CumSum", "ti", {}),
    ("TopK", "tn", {"axis": (0, -1)}),
    ("NonZero", "t", {}),
    ("Unique", "t", {"sorted": (0, 1)}),
    ("Compress", "tb", {}),
    ("EyeLike", "t", {"k": (0, 2**62)}),
    ("Trilu", "ti", {}),
    ("DepthToSpace", "t", {"blocksize": (1, 2, 2**31)}),
    ("QuantizeLinear", "tfq", {}),
    ("DequantizeLinear", "qfq", {"axis": (0, 1)}),
    ("DequantizeLinear", "qt", {"axis": (0, 1)}),
    ("RegexFullMatch", "s", {"pattern": ("(a+)+$", "(a{1,99}){1,99}b", "(?:a|aa)+$")}),
    ("StringSplit", "s", {"delimiter": ("", "a")}),
    ("StringConcat", "ss", {}),
    ("HannWindow", "i", {}),
    ("MelWeightMatrix", "iiiii", {}),
    ("NonMaxSuppression", "ttnff", {}),
    ("RandomNormal", "", {"shape": ((1,), (2**15, 2**15), (2**62,))}),
    ("RandomUniformLike", "t", {}),
    ("Bernoulli", "t", {}),
    ("AffineGrid", "tn", {}),
    ("GridSample", "tt", {}),
    ("CenterCropPad", "tn", {}),
    ("Col2Im", "tnn", {}),
    ("RoiAlign", "ttn", {"output_height": (1, 2**15), "output_width": (1, 2**15)}),
    ("DFT", "ti", {}),
    ("Det", "t", {}),
    ("SequenceConstruct", "tt", {}),
    ("SplitToSequence", "t", {}),
    ("TfIdfVectorizer", "n", {"mode": ("TF",), "max_gram_length": (1, 2**31)}),
)  # fmt: skip


class _Maker:
    """Makes one file. Its random numbers decide everything."""

    def __init__(self, rng):
        self.rng = rng
        self.constants = []
        self.functions = []
        self.count = 0

    def name(self):
        self.count += 1
        return f"t{self.count}"

    def array(self, kind):
        rng = self.rng
        shape = [rng.choice(FEW) for _ in range(rng.randrange(5))]
        if kind == "t" and rng.random() < 0.2:  # long, along one axis
            shape = [*([1] * rng.randrange(4)), rng.choice((999, 40000)), *([1] * rng.randrange(3))]
        if kind == "n":
            sizes = SIZES if rng.random() < 0.6 else FEW
            return np.array([rng.choice(sizes) for _ in range(rng.choice((1, 1, 2, 2, 3, 4)))])
        if kind == "i":
            return np.array(rng.choice(SIZES if rng.random() < 0.5 else FEW))
        if kind == "s":
            return np.array(["a" * rng.choice((1, 40, 5000)) + "b"] * rng.choice(FEW), object)
        if kind == "b":
            return np.ones(shape, bool)
        if kind == "q":
            return np.ones(shape, np.uint8)
        if kind == "f":
            return np.array(0.5, np.float32)
        return np.ones(shape, np.float32)

    def tensor(self, kind):
        """Return a constant, which may say that it is in another file."""
        rng, array = self.rng, self.array(kind)
        tensor = numpy_helper.from_array(array, self.name())
        if rng.random() < 0.05 and tensor.raw_data:
            where = rng.choice(("e.bin", "../e.bin", "missing", "/etc/passwd", "decoy", ""))
            tensor.data_location = TensorProto.EXTERNAL
            size = len(tensor.raw_data) if rng.random() < 0.8 else rng.choice(SIZES)
            for key, text in (("location", where), ("length", str(size))):
                tensor.external_data.add(key=key, value=text)
            tensor.ClearField("raw_data")
        return tensor

    def node(self, known, depth):
        """Return a node that writes one more tensor, and Constant nodes of what it reads."""
        rng, nodes = self.rng, []
        if depth < DEEPEST and rng.random() < 0.12:
            return self.nested(known, depth)
        op, kinds, choices = rng.choice(OPS)
        inputs = []
        for kind in kinds:
            if kind == "-":
                inputs.append("")
            elif kind == "t" and known and rng.random() < 0.7:
                inputs.append(rng.choice(known[-6:]))
            else:
                tensor = self.tensor(kind)
                if rng.random() < 0.5:
                    nodes.append(helper.make_node("Constant", [], [tensor.name], value=tensor))
                else:
                    self.constants.append(tensor)
                inputs.append(tensor.name)
        attributes = {key: rng.choice(values) for key, values in choices.items()}
        return [*nodes, helper.make_node(op, inputs, [self.name()], **attributes)]

    def nodes(self, known, depth):
        found = []
        known = list(known)
        for _ in range(self.rng.choice((1, 2, 3, 5, 9))):
            found += self.node(known, depth)
            known.append(found[-1].output[0])
        return found

    def nested(self, known, depth):
        """Return a branch, a loop, or a call of a local function."""
        rng, kind = self.rng, self.rng.randrange(3)
        if kind == 2:
            return [self.call(depth)]
        inside = self.nodes(known, depth + 1)
        result = helper.make_value_info(inside[-1].output[0], onnx.TypeProto())
        true = numpy_helper.from_array(np.array(True), self.name())
        self.constants.append(true)
        if kind == 0:
            graph = helper.make_graph(inside, "branch", [], [result], self.own_constants())
            more = {"then_branch": graph, "else_branch": graph}
            return [helper.make_node("If", [true.name], [self.name()], **more)]
        step, going, same = self.name(), self.name(), self.name()
        body = helper.make_graph(
            [*inside, helper.make_node("Identity", [going], [same])],
            "body",
            [
                helper.make_tensor_value_info(step, TensorProto.INT64, []),
                helper.make_tensor_value_info(going, TensorProto.BOOL, []),
            ],
            [helper.make_tensor_value_info(same, TensorProto.BOOL, []), result],
        )
        trips = numpy_helper.from_array(np.array(rng.choice(SIZES), np.int64), self.name())
        self.constants.append(trips)
        return [helper.make_node("Loop", [trips.name, true.name], [self.name()], body=body)]

    def own_constants(self):
        return [self.tensor("t")] if self.rng.random() < 0.3 else []

    def call(self, depth):
        """Return the call of a function that calls others, perhaps itself."""
        rng, name = self.rng, f"F{len(self.functions)}"
        nodes = []
        for _ in range(rng.choice((1, 1, 2, 3))):
            nodes.append(helper.make_node("Constant", [], [self.name()], value=self.tensor("t")))
        again = rng.choice([*(function.name for function in self.functions), "F0", name])
        last = nodes[-1].output[0]
        for _ in range(rng.choice((0, 0, 1, 2, 2, 3))):
            nodes.append(helper.make_node(again, [], [self.name()], domain="local"))
            last = nodes[-1].output[0]
        self.functions.append(helper.make_function("local", name, [], [last], nodes, OPSETS))
        return helper.make_node(name, [], [self.name()], domain="local")

    def model(self):
        nodes = self.nodes([], 0)
        results = [nodes[-1].output[0]]
        if self.rng.random() < 0.5:  # also read what a run brings
            nodes.append(helper.make_node("Add", ["x", results[0]], ["y"]))
            results.append("y")
        graph = helper.make_graph(
            nodes,
            "graph",
            [helper.make_tensor_value_info("x", TensorProto.FLOAT, [1, 4])],
            [helper.make_value_info(name, onnx.TypeProto()) for name in results],
            self.constants,
        )
        for output in graph.output:
            output.type.tensor_type.elem_type = TensorProto.FLOAT
        model = helper.make_model(graph, opset_imports=OPSETS, ir_version=9)
        model.functions.extend(self.functions)
        return model.SerializeToString()


def _seeds():
    return [_Maker(Random(number)).model() for number in range(20)]


def _mutate(data, rng):
    return change_bytes(data, rng) if rng.random() < 0.05 else _Maker(rng).model()


def _run(data):
    path, decoy = file_in("hostile", "m.onnx"), file_in("elsewhere", "decoy")
    path.write_bytes(data)
    (path.parent / "e.bin").write_bytes(bytes(4000))
    decoy.write_bytes(bytes(200_000))
    os.chdir(decoy.parent)
    before = peak(reset=True)
    try:
        _check(fbg.load(path))
    finally:
        os.chdir("/")
        grown = peak() - before
        if grown > (256 << 20) + 4 * len(data):
            raise AssertionError(f"{grown >> 20} MiB for a file of {len(data)} bytes")


def _check(net):
    for node in net.network.nodes:
        if b"location" in node.source.SerializeToString():
            raise AssertionError(f"node {node.title} has external data")


REFUSED = (fbg.ModelError, ValueError, TypeError, MemoryError)
KIND = target("onnx_hostile", _seeds, _mutate, _run, REFUSED)
