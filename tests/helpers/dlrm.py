"""DLRM as an ONNX file: the network of examples/recommender.py, for any number of samples."""

import numpy as np
from onnx import TensorProto, helper, numpy_helper, save


def write_dlrm(state, feed, path):
    """Write the model; its inputs are those of the feed, `dense` and the indices of each table."""
    nodes = []
    constants = {}

    def add(kind, inputs, output, **attributes):
        nodes.append(helper.make_node(kind, inputs, [output], output, **attributes))
        return output

    def mlp(part, x):
        names = (f"{part}.{2 * i}" for i in range(len(state)))
        for i, layer in enumerate(each for each in names if f"{each}.weight" in state):
            name, bias = f"{part}{i}", state[f"{layer}.bias"]
            constants[f"{name}w"] = np.ascontiguousarray(state[f"{layer}.weight"].T)
            constants[f"{name}b"] = bias
            x = add("Gemm", [x, f"{name}w", f"{name}b"], name)
            x = add("Relu" if len(bias) > 1 else "Sigmoid", [x], f"{name}r")
        return x

    count = len(feed)
    x = mlp("bot_l", "dense")
    constants["one"] = np.array([1])
    vectors = [add("Unsqueeze", [x, "one"], "v")]
    for t in range(count - 1):
        constants[f"t{t}"] = state[f"emb_l.{t}.weight"]
        rows = add("Gather", [f"t{t}", f"i{t}"], f"rows{t}")
        vectors.append(add("ReduceSum", [rows, "one"], f"v{t}", keepdims=1))
    stack = add("Concat", vectors, "stack", axis=1)
    products = add("MatMul", [stack, add("Transpose", [stack], "t", perm=[0, 2, 1])], "products")
    constants["flat"] = np.array([0, count**2])
    constants["pairs"] = np.ravel_multi_index(np.tril_indices(count, -1), (count, count))
    flat = add("Reshape", [products, "flat"], "all")
    pairs = add("Gather", [flat, "pairs"], "chosen", axis=1)
    clicks = mlp("top_l", add("Concat", [x, pairs], "top", axis=1))
    types = {"dense": TensorProto.FLOAT}
    graph = helper.make_graph(
        nodes,
        "dlrm",
        [
            helper.make_tensor_value_info(
                name, types.get(name, TensorProto.INT64), ("samples", *value.shape[1:])
            )
            for name, value in feed.items()
        ],
        [helper.make_tensor_value_info(clicks, TensorProto.FLOAT, None)],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    opsets = [helper.make_opsetid("", 17)]
    save(helper.make_model(graph, opset_imports=opsets, ir_version=8), str(path))
