"""Random small quantized graphs against onnxruntime with its optimizations off.

Half of the cases are several layers deep. Their scales are powers of two and their sums short, so
that every product, sum and quotient is exact in float32 and one result is right: the bits are
compared. The others are one layer with any scales: integers may differ by one step where a real
number was rounded, and not at all where both compute on integers. Fields are drawn independently of
each other: types, scales, zero points with their ends, geometry, pads of all modes, fills that no
integer stands for, bounds, operator sets.
"""

from __future__ import annotations

import numpy as np
from onnx import helper

import fbg
from fbg.errors import ModelError
from fbg.importers.net import Net
from fbg.importers.onnx.read import read_model
from helpers.onnx_models import plain_onnxruntime
from helpers.poison import unwritten
from helpers.quantized_graphs import Graph
from helpers.random_cases import Different, Kind


def compare(output, y, wanted, exact):
    """Whether an output is what onnxruntime returns, as far as one result is right."""
    if y.dtype != wanted.dtype or y.shape != wanted.shape:
        return False
    if exact or (output is not None and not output.rounded):
        return bool(np.array_equal(y, wanted, equal_nan=y.dtype.kind == "f"))
    if y.dtype.kind == "f":
        finite = np.abs(wanted[np.isfinite(wanted)]).max(initial=0)
        return bool(np.allclose(y, wanted, 1e-5, 1e-5 * finite, equal_nan=True))
    return bool(np.abs(y.astype(int) - wanted.astype(int)).max(initial=0) <= 1)


def run(random):
    """Compare one graph."""
    graph = Graph(random)
    model, feed = graph.draw()
    isa, threads = random.choice(fbg.isa.supported()), random.randint(1, 2)
    try:
        wanted = plain_onnxruntime(model, feed)
    except Exception:  # it has a type of its own for each kind of failure
        wanted = None
    with fbg.isa.limit(isa):
        try:
            net = Net(read_model(model, "random", None), num_threads=threads)
            found = unwritten(lambda: list(net.run(feed).values()), f"{isa}: {printed(model)}")
        except (ModelError, ValueError) as error:
            if wanted is None:
                return "refused by both"
            raise Different(f"refused: {error}\n{printed(model)}") from error
    if wanted is None:
        return "refused by onnxruntime"
    names = [output.name for output in model.graph.output]
    known = {tensor.name: tensor for tensor in graph.tensors}
    for name, y, other in zip(names, found, wanted, strict=True):
        if not compare(known.get(name), y, other, graph.exact and name not in graph.loose):
            raise Different(f"{isa}: {name}\n{y}\n{other}\n{printed(model)}")
    return "exact" if graph.exact else "within a step"


def results(random):
    """Draw a graph for fingerprints."""
    model, feed = Graph(random).draw()

    def compute(threads):
        try:
            net = Net(read_model(model, "random", None), num_threads=threads)
            yield "outputs", net.run(feed)
        except (ModelError, ValueError) as error:
            yield "refused", str(error)

    return compute


def printed(model):
    return f"operator set {model.opset_import[0].version}: {helper.printable_graph(model.graph)}"


KIND = Kind("differential.onnx_quantized", run, cases=250, needs="onnxruntime", results=results)
