"""A mistyped argument is an error that names it, the function and what may have been meant.

Every public function that passes ``**options`` on is here: the last test finds those that are not.
"""

import ast
import asyncio
from inspect import Parameter, getattr_static, isfunction, signature
from pathlib import Path

import numpy as np
import pytest

import fbg
from fbg.errors import require_known
from fbg.integrations.embedder import Embedder
from fbg.integrations.fastembed import TextEmbedding
from helpers import tiny_bert

PACKAGE = Path(fbg.__file__).parent
W = fbg.PackedB(np.eye(32, dtype=np.float32), dtype="int8")
CONV = fbg.PackedConv(np.zeros((4, 1, 1, 4), np.float32))


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return fbg.load(tiny_bert.write_checkpoint(tmp_path_factory.mktemp("model")))


def task(name, *given):
    async def call(model, **options):
        async with fbg.AsyncModel(model) as runs:
            return await getattr(runs, name)(*given, **options)

    return lambda model, **options: asyncio.run(call(model, **options))


def drop_in(name):
    return lambda model, **options: getattr(fbg.SentenceTransformer(model.directory), name)(
        ["a"], **options
    )


CALLS = {
    "load": (
        lambda model, **options: fbg.load(model.directory, **options),
        "threads",
        "num_threads",
    ),
    "load of a file": (lambda model, **options: fbg.load("n.onnx", **options), "shape", "shapes"),
    "gemm": (lambda model, **options: fbg.prepare(W, rows=1, **options), "thread", "num_threads"),
    "packer": (
        lambda model, **options: fbg.prepare(W, rows=1, **options),
        "granularty",
        "granularity",
    ),
    "strassen": (
        lambda model, **options: fbg.prepare(W, rows=1, algorithm="strassen", **options),
        "threads",
        "num_threads",
    ),
    "conv": (
        lambda model, **options: fbg.prepare(CONV, shape=(1, 2, 2, 4), **options),
        "num_thread",
        "num_threads",
    ),
    "Embedder": (
        lambda model, **options: Embedder("m", **options),
        "normalize",
        "normalize_embeddings",
    ),
    "embed": (
        lambda model, **options: TextEmbedding(str(model.directory)).embed(["a"], **options),
        "normalise_embeddings",
        "normalize_embeddings",
    ),
    "encode_query": (drop_in("encode_query"), "batchsize", "batch_size"),
    "encode_document": (drop_in("encode_document"), "batchsize", "batch_size"),
    **{
        f"AsyncModel.{name}": (task(name, *given), "batchsize", "batch_size")
        for name, *given in (
            ("encode", "a"),
            ("encode_tokens", []),
            ("encode_sparse", "a"),
            ("encode_multi", "a"),
            ("encode_hybrid", "a"),
            ("encode_chunks", "a", [(0, 1)]),
            ("rank", "a", ["b"]),
            ("rerank", "a", ["b"]),
            ("classify", "a"),
            ("predict", ("a", "b")),
            ("ner", "a"),
            ("answer", "a", "b"),
            ("fill_mask", "a"),
            ("zero_shot_classify", "a", ["b"]),
        )
    },
}


@pytest.mark.parametrize("name", CALLS)
def test_it_is_named_with_what_may_be_meant(model, name):
    call, wrong, right = CALLS[name]
    with pytest.raises(
        TypeError, match=f"unknown argument '{wrong}'; did you mean {right}"
    ) as error:
        call(model, **{wrong: 2})
    assert "__init__" not in str(error.value)


X = np.eye(32, dtype=np.float32)
BYTES = X.astype(np.uint8)
IMAGE = np.zeros((1, 2, 2, 4), np.float32)
KERNELS = {
    "PackedB": (fbg.PackedB, (X,), "dtyp", "dtype"),
    "PackedConv": (fbg.PackedConv, (np.zeros((4, 1, 1, 4), np.float32),), "strides", "stride"),
    "PackA": (fbg.PackA, (X,), "dtyp", "dtype"),
    "PackAWithRowOffset": (fbg.PackAWithRowOffset, (BYTES,), "zeropoint", "zero_point"),
    "PackAWithQuantRowOffset": (fbg.PackAWithQuantRowOffset, (X,), "granularty", "granularity"),
    "PackAWithIm2Col": (fbg.PackAWithIm2Col, (IMAGE, CONV), "scal", "scale"),
    "gemm": (fbg.gemm, (fbg.PackA(BYTES), W), "threads", "num_threads"),
    "linear": (fbg.linear, (X, W), "activaton", "activation"),
    "conv": (fbg.conv, (IMAGE, CONV), "activaton", "activation"),
    "prepare": (fbg.prepare, (W,), "row", "rows"),
    "PreparedConv": (fbg.PreparedConv, (CONV,), "shapes", "shape"),
    "semantic_search": (fbg.semantic_search, (X, X), "topk", "top_k"),
    "similarity": (fbg.similarity, (X, X), "metrics", "metric"),
    "quantize_embeddings": (fbg.quantize_embeddings, (X,), "precison", "precision"),
    "maxsim": (fbg.maxsim, ([X], [X]), "query", "queries"),
    "quantize": (fbg.quantization.quantize, (X, 1.0), "zeropoint", "zero_point"),
    "Requantize": (fbg.Requantize, (1.0,), "zeropoint", "zero_point"),
    "GELU": (fbg.GELU, (), "approximat", "approximate"),
}


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_name_what_they_do_not_take(name):
    call, given, wrong, right = KERNELS[name]
    said = f"^{name}: unknown argument '{wrong}'; did you mean {right}\\?$"
    with pytest.raises(TypeError, match=said):
        call(*given, **{wrong: 2})


@pytest.mark.parametrize("name", ["PackedB", "PackedConv", "conv", "prepare", "semantic_search"])
def test_what_is_unknown_is_named_before_what_is_missing(name):
    call, given, wrong, _ = KERNELS[name]
    with pytest.raises(TypeError, match=f"^{name}: unknown argument '{wrong}'"):
        call(*given[:1] if name == "prepare" else (), **{wrong: 2})
    with pytest.raises(TypeError, match=r"^PackedB\(\) missing 1 required .*: 'w'$"):
        fbg.PackedB()


def methods_of(public):
    """The methods of a class that users call."""
    found = {name: getattr(public, name) for name in dir(public) if not name.startswith("_")}
    static = [name for name in found if isinstance(getattr_static(public, name), staticmethod)]
    return {name for name, f in found.items() if isfunction(f) and name not in static}


@pytest.mark.parametrize("public", [fbg.Model, fbg.SentenceTransformer, fbg.CrossEncoder])
def test_methods_name_what_they_do_not_take(public):
    names = methods_of(public)
    assert {"encode", "predict", "to"} & names
    for name in names:
        method = getattr(public, name)
        takes = [p.kind for p in signature(method).parameters.values()]
        if Parameter.VAR_KEYWORD not in takes:
            with pytest.raises(TypeError, match=f"^{name}: unknown argument 'qqq'; "):
                method(object(), qqq=1)
        assert method.__qualname__ == f"{public.__name__}.{name}"


def test_methods_speak_of_the_class_that_users_know(model):
    with pytest.raises(TypeError, match=r"^encode: unknown argument 'batchsize'; did you mean ba"):
        model.encode("a", batchsize=3)
    with pytest.raises(TypeError, match=r"^Model\.encode\(\) missing 1 required .*'sentences'"):
        model.encode()
    with pytest.raises(
        TypeError, match=r"^rerank: unknown argument 'docs'; did you mean documents"
    ):
        model.rerank("a", docs=["b"])
    with pytest.raises(
        TypeError, match=r"^encode_stream: sentences must be an iterable of str, got str: pass a "
    ):
        model.encode_stream("a string")
    assert model.encode(sentences="a", batch_size=1).shape == (model.embedding_dimension,)


def test_arguments_for_files_are_told_apart_from_mistakes(model):
    with pytest.raises(TypeError, match=r"shapes: only files that end in \.onnx"):
        fbg.load(model.directory, shapes={})


def test_names_that_resemble_nothing_get_the_whole_list():
    def pack(x, scale=1, *, zero_point=0):
        return x

    with pytest.raises(TypeError, match="'qqq'; it takes scale, zero_point"):
        require_known("prepare", {"qqq": 1}, pack)
    require_known("prepare", {"scale": 1, "zero_point": 2}, pack)


# Their options are not the user's, or go to a library that checks them itself.
ELSEWHERE = {
    "errors.py": {"checked"},  # which checks them for other methods
    "again.py": {"again"},
    "checkpoints/settings.py": {"replaced"},
    "integrations/drop_ins.py": {"called"},  # which calls what checks them
    "integrations/lancedb.py": {"__init__", "generate_embeddings", "compute_query_embeddings"},
    "integrations/llama_index.py": {"__init__"},  # pydantic's
    "integrations/prompted.py": {"encode_prompted"},
    "integrations/ray_serve.py": {"__call__"},  # those of a task
    "matmul/pipeline.py": {"__init__"},
    "onnx_backend.py": {"run", "prepare", "run_node"},  # the interface of ONNX
    "quantization/affine.py": {"require_broadcast"},
    "reports/timed_network.py": {"linear"},
    "tasks/context.py": {"run"},  # the same as the method that it stands for
}
INTERNAL = ("cli/", "importers/", "networks/", "text/")
CHECKS = {"require_known", "EncodeOptions.of", "self._task"}
CHECKED = {"load", "self.embed", "_packed_by"}  # which check what they are passed


def takes_options(node):
    if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or node.args.kwarg is None:
        return False
    is_overload = any(ast.unparse(d) == "overload" for d in node.decorator_list)
    is_public = not node.name.startswith("_") or node.name in ("__init__", "__call__")
    return is_public and not is_overload


def test_every_public_function_with_options_checks_them():
    unchecked = []
    for path in PACKAGE.rglob("*.py"):
        name = path.relative_to(PACKAGE).as_posix()
        if name.startswith(INTERNAL):
            continue
        for node in filter(takes_options, ast.walk(ast.parse(path.read_text()))):
            called = {ast.unparse(n.func) for n in ast.walk(node) if isinstance(n, ast.Call)}
            if not called & (CHECKS | CHECKED) and node.name not in ELSEWHERE.get(name, ()):
                unchecked.append(f"{name}: {node.name}")
    assert unchecked == []
