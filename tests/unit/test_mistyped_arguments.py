"""A mistyped argument is a TypeError that names it, also where options are passed on."""

import asyncio
from functools import partial

import numpy as np
import pytest

import fbg
from fbg.integrations.embedder import Embedder
from fbg.integrations.fastembed import TextEmbedding
from helpers import tiny_bert

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
    "load": (lambda model, **options: fbg.load(model.directory, **options), "threads"),
    "load of a file": (lambda model, **options: fbg.load("n.onnx", **options), "shape"),
    "gemm": (lambda model, **options: fbg.prepare(W, rows=1, **options), "thread"),
    "packer": (lambda model, **options: fbg.prepare(W, rows=1, **options), "granularty"),
    "conv": (
        lambda model, **options: fbg.prepare(CONV, shape=(1, 2, 2, 4), **options),
        "num_thread",
    ),
    "Embedder": (lambda model, **options: Embedder("m", **options), "normalize"),
    "embed": (
        lambda model, **options: TextEmbedding(str(model.directory)).embed(["a"], **options),
        "normalise_embeddings",
    ),
    "encode_query": (drop_in("encode_query"), "batchsize"),
    "encode_document": (drop_in("encode_document"), "batchsize"),
    **{
        f"AsyncModel.{name}": (task(name, *given), "batchsize")
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
def test_options_that_are_passed_on_are_named(model, name):
    call, wrong = CALLS[name]
    with pytest.raises(TypeError, match=rf"\b{wrong}\b"):
        call(model, **{wrong: 2})


X = np.eye(32, dtype=np.float32)
BYTES = X.astype(np.uint8)
IMAGE = np.zeros((1, 2, 2, 4), np.float32)
KERNELS = {
    "PackedB": (fbg.PackedB, (X,), "dtyp"),
    "PackedConv": (fbg.PackedConv, (np.zeros((4, 1, 1, 4), np.float32),), "strides"),
    "PackA": (fbg.PackA, (X,), "dtyp"),
    "PackAWithRowOffset": (fbg.PackAWithRowOffset, (BYTES,), "zeropoint"),
    "PackAWithQuantRowOffset": (fbg.PackAWithQuantRowOffset, (X,), "granularty"),
    "PackAWithIm2Col": (fbg.PackAWithIm2Col, (IMAGE, CONV), "scal"),
    "gemm": (fbg.gemm, (fbg.PackA(BYTES), W), "threads"),
    "linear": (fbg.linear, (X, W), "activaton"),
    "conv": (fbg.conv, (IMAGE, CONV), "activaton"),
    "prepare": (partial(fbg.prepare, rows=1), (W,), "row"),
    "PreparedConv": (fbg.PreparedConv, (CONV,), "shapes"),
    "semantic_search": (fbg.semantic_search, (X, X), "topk"),
    "similarity": (fbg.similarity, (X, X), "metrics"),
    "quantize_embeddings": (fbg.quantize_embeddings, (X,), "precison"),
    "maxsim": (fbg.maxsim, ([X], [X]), "query"),
    "quantize": (fbg.quantization.quantize, (X, 1.0), "zeropoint"),
    "Requantize": (fbg.Requantize, (1.0,), "zeropoint"),
    "GELU": (fbg.GELU, (), "approximat"),
}


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_name_what_they_do_not_take(name):
    call, given, wrong = KERNELS[name]
    with pytest.raises(TypeError, match=f"unexpected keyword argument '{wrong}'"):
        call(*given, **{wrong: 2})


def test_arguments_for_files_are_told_apart_from_mistakes(model):
    with pytest.raises(TypeError, match=r"shapes: only files that end in \.onnx"):
        fbg.load(model.directory, shapes={})
