"""Write a BERT directory as the ONNX file that torch.onnx makes of it, without torch.

    python tests/helpers/exported_bert.py DIRECTORY bert.onnx

The nodes and their order are those of an export of transformers' BertModel: attention, GELU and the
mask are subgraphs of elementary operators. Batch and length are symbolic. The directory needs
config.json and model.safetensors.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import onnx
from onnx import helper, numpy_helper
from safetensors.numpy import load_file

OPSET = 17
MASKED = float(np.finfo(np.float32).min)


class Writer:
    """Appends nodes; each returns the name of its output."""

    def __init__(self, tensors):
        self.tensors = tensors
        self.nodes = []
        self.constants = {}

    def add(self, op, inputs, name, **attributes):
        """Append a node of that name."""
        self.nodes.append(helper.make_node(op, inputs, [f"{name}_output"], name, **attributes))
        return f"{name}_output"

    def number(self, value):
        """Return the name of a float32 scalar."""
        self.constants[f"number_{value}"] = np.array(value, np.float32)
        return f"number_{value}"

    def integers(self, *values):
        """Return the name of a vector of int64."""
        name = "integers_" + "_".join(map(str, values))
        self.constants[name] = np.array(values, np.int64)
        return name

    def parameter(self, name):
        """Return the name of a tensor of the checkpoint."""
        self.constants[name] = self.tensors[name].astype(np.float32)
        return name

    def linear(self, x, name):
        """x W^T + b."""
        weight = f"{name}.transposed"
        w = self.tensors[f"{name}.weight"].astype(np.float32)
        self.constants[weight] = np.ascontiguousarray(w.T)
        product = self.add("MatMul", [x, weight], f"{name}/MatMul")
        return self.add("Add", [self.parameter(f"{name}.bias"), product], f"{name}/Add")

    def layer_norm(self, x, name, eps):
        """LayerNormalization over the last axis."""
        names = [self.parameter(f"{name}.{kind}") for kind in ("weight", "bias")]
        return self.add("LayerNormalization", [x, *names], name, axis=-1, epsilon=eps)

    def gelu(self, x, name):
        """x (1 + erf(x / sqrt 2)) / 2"""
        scaled = self.add("Div", [x, self.number(2**0.5)], f"{name}/Div")
        erf = self.add("Erf", [scaled], f"{name}/Erf")
        shifted = self.add("Add", [erf, self.number(1.0)], f"{name}/Add")
        product = self.add("Mul", [x, shifted], f"{name}/Mul")
        return self.add("Mul", [product, self.number(0.5)], f"{name}/Mul_1")


def embeddings(writer, config):
    """Sums of rows of three tables, normalized; the positions are the first ones."""
    add = writer.add
    table = "embeddings.{}_embeddings.weight"
    word = add("Gather", [writer.parameter(table.format("word")), "input_ids"], "word")
    kind = add("Gather", [writer.parameter(table.format("token_type")), "token_type_ids"], "type")
    both = add("Add", [word, kind], "embeddings/Add")
    length = add("Gather", [add("Shape", ["input_ids"], "Shape"), writer.integers(1)], "length")
    positions = writer.parameter(table.format("position"))
    bounds = [positions, writer.integers(0), length, writer.integers(0)]
    total = add("Add", [both, add("Slice", bounds, "positions")], "embeddings/Add_1")
    return writer.layer_norm(total, "embeddings.LayerNorm", config["layer_norm_eps"])


def mask(writer):
    """0 where a token is seen, the lowest number where it is not: (batch, 1, 1, length)."""
    row = writer.add("Unsqueeze", ["attention_mask", writer.integers(1)], "mask/Unsqueeze")
    wide = writer.add("Unsqueeze", [row, writer.integers(2)], "mask/Unsqueeze_1")
    number = writer.add("Cast", [wide], "mask/Cast", to=onnx.TensorProto.FLOAT)
    inverse = writer.add("Sub", [writer.number(1.0), number], "mask/Sub")
    return writer.add("Mul", [inverse, writer.number(MASKED)], "mask/Mul")


def attention(writer, x, bias, name, heads, depth):
    """softmax(Q K^T / sqrt(depth) + bias) V, heads side by side."""
    parts = []
    for part, perm in (("query", [0, 2, 1, 3]), ("key", [0, 2, 3, 1]), ("value", [0, 2, 1, 3])):
        y = writer.linear(x, f"{name}.{part}")
        split = writer.add("Reshape", [y, writer.integers(0, 0, heads, depth)], f"{name}/{part}")
        parts.append(writer.add("Transpose", [split], f"{name}/{part}/Transpose", perm=perm))
    scores = writer.add("MatMul", parts[:2], f"{name}/MatMul")
    scaled = writer.add("Div", [scores, writer.number(depth**0.5)], f"{name}/Div")
    masked = writer.add("Add", [scaled, bias], f"{name}/Add")
    weights = writer.add("Softmax", [masked], f"{name}/Softmax", axis=-1)
    context = writer.add("MatMul", [weights, parts[2]], f"{name}/MatMul_1")
    joined = writer.add("Transpose", [context], f"{name}/Transpose", perm=[0, 2, 1, 3])
    return writer.add("Reshape", [joined, writer.integers(0, 0, heads * depth)], f"{name}/Reshape")


def layer(writer, x, bias, number, config):
    """One transformer layer, normalized after each half."""
    name, heads = f"encoder.layer.{number}", config["num_attention_heads"]
    depth, eps = config["hidden_size"] // heads, config["layer_norm_eps"]
    context = attention(writer, x, bias, f"{name}.attention.self", heads, depth)
    y = writer.linear(context, f"{name}.attention.output.dense")
    y = writer.add("Add", [y, x], f"{name}.attention.output/Add")
    x = writer.layer_norm(y, f"{name}.attention.output.LayerNorm", eps)
    y = writer.gelu(writer.linear(x, f"{name}.intermediate.dense"), f"{name}.intermediate")
    y = writer.add("Add", [writer.linear(y, f"{name}.output.dense"), x], f"{name}.output/Add")
    return writer.layer_norm(y, f"{name}.output.LayerNorm", eps)


def export_bert(directory, path):
    """Write the encoder of a directory as an ONNX file."""
    config = json.loads((directory / "config.json").read_text())
    tensors = load_file(directory / "model.safetensors")
    writer = Writer({name.removeprefix("bert."): value for name, value in tensors.items()})
    x, bias = embeddings(writer, config), mask(writer)
    for number in range(config["num_hidden_layers"]):
        x = layer(writer, x, bias, number, config)
    writer.nodes[-1].output[0] = "last_hidden_state"
    integer, real = onnx.TensorProto.INT64, onnx.TensorProto.FLOAT
    value = helper.make_tensor_value_info
    graph = helper.make_graph(
        writer.nodes,
        "bert",
        [
            value(name, integer, ["batch", "length"])
            for name in ("input_ids", "attention_mask", "token_type_ids")
        ],
        [value("last_hidden_state", real, ["batch", "length", config["hidden_size"]])],
        [numpy_helper.from_array(array, name) for name, array in writer.constants.items()],
    )
    opsets = [helper.make_opsetid("", OPSET)]
    onnx.save(helper.make_model(graph, opset_imports=opsets, ir_version=8), path)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("output", type=Path)
    arguments = parser.parse_args()
    export_bert(arguments.directory, arguments.output)
