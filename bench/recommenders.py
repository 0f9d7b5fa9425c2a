"""A whole recommender, DLRM in MLPerf's shapes, against torch and onnxruntime.

    python bench/recommenders.py --threads 1 2
    python bench/recommenders.py --threads 1 --rows 1000000 --samples 128 2048
    python bench/recommenders.py --rows 50000 --onnx dlrm.onnx

The last line writes the model, and 16 runs of 128 samples into dlrm.npz, and measures nothing.
The model, its random weights and its indices (Zipf's law) are those of examples/recommender.py.
Contestants compute the probabilities of clicks of the same samples; the largest change of a
probability is that against fbg in float32. MLPs and tables have the precision of the name, unless
it says another one for the tables:

    fbg      in float32; int8 MLPs and int8 or int4 tables
    torch    in float32; dynamically quantized linear layers and quantized embedding bags
    ort      onnxruntime in float32, tables by Gather and ReduceSum; its dynamic quantization
"""

from __future__ import annotations

import argparse
import functools
import runpy
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import comparison
import numpy as np
import peers
import timing

import fbg

Array = np.ndarray[Any, np.dtype[Any]]
Forward = Callable[[], Array]
EXAMPLE = runpy.run_path(str(Path(__file__).parents[1] / "examples" / "recommender.py"))
MLPS = ("bot_l", "top_l")
OPSET = 17
MOST_BYTES = 1_900_000_000  # of tables inside of an ONNX file


class Case:
    """Weights, and samples whose clicks are to be predicted."""

    def __init__(self, state: dict[str, Array], dense: Array, indices: list[Array]) -> None:
        self.state, self.dense, self.indices = state, dense, indices
        self.tables = [state[f"emb_l.{t}.weight"] for t in range(len(indices))]
        self.pairs = np.tril_indices(len(indices) + 1, -1)

    def feed(self) -> dict[str, Array]:
        """Return the inputs of the ONNX file."""
        return {"dense": self.dense} | {f"i{t}": one for t, one in enumerate(self.indices)}

    @property
    def exceeds_file(self) -> bool:
        """Whether the tables are too large for an ONNX file."""
        return sum(table.nbytes for table in self.tables) > MOST_BYTES

    def layers(self, part: str) -> list[tuple[Array, Array]]:
        """Return weights (outputs, inputs) and biases of an MLP."""
        names = (f"{part}.{2 * i}" for i in range(len(self.state)))
        present = (name for name in names if f"{name}.weight" in self.state)
        return [(self.state[f"{name}.weight"], self.state[f"{name}.bias"]) for name in present]


def with_fbg(case: Case, mlp: str, tables: str) -> Forward:
    model = EXAMPLE["Recommender"](case.state, mlp, tables)
    return functools.partial(model, case.dense, case.indices)


def with_torch(case: Case, tables: str) -> Forward:
    """Return the model of torch; tables in int8 or int4 go with quantized layers."""
    import torch

    def mlp(part: str) -> Any:
        steps: list[Any] = []
        for weight, bias in case.layers(part):
            layer = torch.nn.Linear(*weight.shape[::-1])
            layer.weight.data, layer.bias.data = torch.from_numpy(weight), torch.from_numpy(bias)
            steps += [layer, torch.nn.ReLU() if len(bias) > 1 else torch.nn.Sigmoid()]
        whole = torch.nn.Sequential(*steps)
        if tables == "float32":
            return whole
        return torch.ao.quantization.quantize_dynamic(whole, {torch.nn.Linear}, torch.qint8)

    bottom, top = map(mlp, MLPS)
    held = [torch.from_numpy(table) for table in case.tables]
    indices = [torch.from_numpy(one) for one in case.indices]
    offsets = [torch.arange(0, one.numel(), one.shape[1]) for one in indices]
    if tables == "float32":
        bag = torch.nn.functional.embedding_bag

        def look_up(t: int) -> Any:
            return bag(indices[t], held[t], mode="sum")

    else:
        name = {"int8": "byte", "int4": "4bit"}[tables]
        held = [getattr(torch.ops.quantized, f"embedding_bag_{name}_prepack")(t) for t in held]
        quantized = getattr(torch.ops.quantized, f"embedding_bag_{name}_rowwise_offsets")

        def look_up(t: int) -> Any:
            flat = indices[t].reshape(-1)
            return quantized(held[t], flat, offsets[t], False, 0, False, None, None, False)

    first, second = map(torch.from_numpy, case.pairs)
    dense = torch.from_numpy(case.dense)

    def forward() -> Array:
        with torch.inference_mode():
            x = bottom(dense)
            vectors = torch.stack([x, *map(look_up, range(len(held)))], dim=1)
            products = torch.bmm(vectors, vectors.transpose(1, 2))[:, first, second]
            clicks: Array = top(torch.cat([x, products], dim=1))[:, 0].numpy()
            return clicks

    return forward


def write_onnx(case: Case, path: Path, samples: int | str) -> None:
    """Write the model as an ONNX file whose inputs are `dense` and the indices of each table.

    samples: their number, or its name if it may be any. Tables of more than 2 GB, which no such
    file can hold, are in a file beside it.
    """
    from onnx import TensorProto, helper, numpy_helper, save

    nodes, constants = [], {}

    def add(kind: str, inputs: list[str], output: str, **attributes: Any) -> str:
        nodes.append(helper.make_node(kind, inputs, [output], output, **attributes))
        return output

    def mlp(part: str, x: str) -> str:
        for i, (weight, bias) in enumerate(case.layers(part)):
            name = f"{part}{i}"
            constants[f"{name}w"], constants[f"{name}b"] = np.ascontiguousarray(weight.T), bias
            x = add("Gemm", [x, f"{name}w", f"{name}b"], name)
            x = add("Relu" if len(bias) > 1 else "Sigmoid", [x], f"{name}r")
        return x

    x, count = mlp("bot_l", "dense"), len(case.tables)
    constants["one"] = np.array([1])
    vectors = [add("Unsqueeze", [x, "one"], "v")]
    for t, table in enumerate(case.tables):
        if not case.exceeds_file:
            constants[f"t{t}"] = table
        rows = add("Gather", [f"t{t}", f"i{t}"], f"rows{t}")
        vectors.append(add("ReduceSum", [rows, "one"], f"v{t}", keepdims=1))
    stack = add("Concat", vectors, "stack", axis=1)
    products = add("MatMul", [stack, add("Transpose", [stack], "t", perm=[0, 2, 1])], "products")
    constants["flat"] = np.array([0, (count + 1) ** 2])
    constants["pairs"] = np.ravel_multi_index(case.pairs, (count + 1, count + 1))
    flat = add("Reshape", [products, "flat"], "all")
    pairs = add("Gather", [flat, "pairs"], "chosen", axis=1)
    mlp("top_l", add("Concat", [x, pairs], "top", axis=1))
    graph = helper.make_graph(
        nodes,
        "dlrm",
        [
            helper.make_tensor_value_info(
                name,
                TensorProto.FLOAT if name == "dense" else TensorProto.INT64,
                (samples, *value.shape[1:]),
            )
            for name, value in case.feed().items()
        ],
        [helper.make_tensor_value_info(nodes[-1].output[0], TensorProto.FLOAT, None)],
        [numpy_helper.from_array(value, name) for name, value in constants.items()],
    )
    opsets = [helper.make_opsetid("", OPSET)]
    if case.exceeds_file:
        write_beside(graph, case, path)
    save(helper.make_model(graph, opset_imports=opsets, ir_version=8), str(path))


def write_beside(graph: Any, case: Case, path: Path) -> None:
    """Write the tables into a file beside that of the graph, without a copy in memory."""
    from onnx import TensorProto

    with Path(f"{path}.data").open("wb") as file:
        for t, table in enumerate(case.tables):
            tensor = graph.initializer.add(name=f"t{t}", dims=table.shape)
            tensor.data_type, tensor.data_location = TensorProto.FLOAT, TensorProto.EXTERNAL
            place = {"location": f"{path.name}.data", "offset": file.tell(), "length": table.nbytes}
            for key, value in place.items():
                tensor.external_data.add(key=key, value=str(value))
            table.tofile(file)


def with_ort(case: Case, threads: int, quantized: bool) -> Forward:
    import onnxruntime

    feed = case.feed()
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads
    with tempfile.TemporaryDirectory() as directory:
        path = Path(directory) / "dlrm.onnx"
        write_onnx(case, path, len(case.dense))
        if quantized:
            from onnxruntime.quantization import quantize_dynamic

            whole, path = path, path.with_name("int8.onnx")
            quantize_dynamic(
                whole,
                path,
                op_types_to_quantize=["MatMul", "Gemm"],
                use_external_data_format=case.exceeds_file,
            )
        session = onnxruntime.InferenceSession(path, options, ["CPUExecutionProvider"])

    def forward() -> Array:
        clicks: Array = session.run(None, feed)[0][:, 0]
        return clicks

    return forward


def contestants(case: Case, threads: int, with_onnx: bool) -> dict[str, Forward]:
    found = {
        "fbg-fp32": with_fbg(case, "float32", "float32"),
        "fbg-int8": with_fbg(case, "int8", "int8"),
        "fbg-int8 int4 tables": with_fbg(case, "int8", "int4"),
    }
    if peers.installed("torch"):
        found["torch-fp32"] = with_torch(case, "float32")
        found["torch-int8"] = with_torch(case, "int8")
        found["torch-int8 int4 tables"] = with_torch(case, "int4")
    if with_onnx and peers.installed("onnxruntime", "onnx"):
        found["ort-fp32"] = with_ort(case, threads, False)
        found["ort-int8 float32 tables"] = with_ort(case, threads, True)
    return found


def race(case: Case, key: dict[str, int], arguments: Any, report: timing.Report) -> None:
    """Measure a case, after a look at what the contestants return."""
    threads = key["threads"]
    entrants = contestants(case, threads, not arguments.without_ort)
    wanted = entrants["fbg-fp32"]()
    changes = {name: float(np.abs(call() - wanted).max()) for name, call in entrants.items()}
    for name in ("torch-fp32", "ort-fp32"):
        if changes.get(name, 0) > 1e-4:
            raise SystemExit(f"recommenders.py: {name} predicts other clicks than fbg")
    field = [timing.Contestant(name, call) for name, call in entrants.items()]
    results = timing.race(field, timing.rounds(arguments), timing.pause(threads))
    figures = {name: {"largest change": change} for name, change in changes.items()}
    report.add(key, results, figures)


def main() -> None:
    parser: argparse.ArgumentParser = timing.parser(__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=200_000, help="of a table, at most")
    parser.add_argument("--samples", type=int, nargs="+", default=[2048])
    parser.add_argument("--without-ort", action="store_true")
    parser.add_argument("--onnx", type=Path, help="write the model there, measure nothing")
    arguments = parser.parse_args()
    timing.use_clock(arguments)
    report = timing.Report("recommenders", arguments)
    rng = np.random.default_rng(0)
    rows = [min(count, arguments.rows) for count in EXAMPLE["ROWS"]]
    state = EXAMPLE["draw_state"](rows, rng)
    if arguments.onnx is not None:
        case = Case(state, *EXAMPLE["draw_batch"](rows, 16 * 128, rng))
        write_onnx(case, arguments.onnx, "samples")
        runs: dict[str, Any] = {
            name: value.reshape(16, 128, -1) for name, value in case.feed().items()
        }
        np.savez(arguments.onnx.with_suffix(".npz"), **runs)
        return
    for samples in arguments.samples:
        case = Case(state, *EXAMPLE["draw_batch"](rows, samples, rng))
        for threads in arguments.threads:
            key = {"rows": sum(rows), "samples": samples, "threads": threads}
            if not report.rows(key):
                fbg.set_num_threads(threads)
                if peers.installed("torch"):
                    import torch

                    torch.set_num_threads(threads)
                race(case, key, arguments, report)
    print(f"\n### DLRM, {fbg.isa.active()}\n\n{comparison.text(report.rows({}))}")


if __name__ == "__main__":
    main()
