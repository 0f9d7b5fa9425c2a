"""fbg.load: from a model directory, or the name of one on the Hugging Face hub, to a Model."""

from __future__ import annotations

import functools
import operator
import os
from collections.abc import Collection, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.checkpoints.checkpoint import Checkpoint
from fbg.checkpoints.saved_file import SavedFile
from fbg.compression.precision import HigherPrecision, choose_layers, read_patterns, repack
from fbg.compression.smoothing import observe_inputs, quantize_smoothly, random_sequences
from fbg.errors import ModelError
from fbg.model import save as saved
from fbg.model.directory import find_directory
from fbg.model.model import Model
from fbg.networks.config import EncoderConfig, read_config
from fbg.networks.heads import read_head
from fbg.networks.registry import CheckpointSource, read_transformer
from fbg.networks.transformer import WEIGHT_LIMITS, Transformer
from fbg.tasks.inputs import require_texts
from fbg.text.sentence import read_sentence_config
from fbg.text.tokenization import TextTokenizer

__all__ = ["load"]

DTYPES = tuple(WEIGHT_LIMITS)
METHODS = {
    "int8": "weights: symmetric, max|w| / 127, one scale per output column; "
    "activations: one scale and zero point per token, as it is packed",
}
SMOOTHED = "; channels smoothed by random token ids (SmoothQuant)"
CALIBRATED = "; channels smoothed by texts, weights rounded by their Gram matrices (GPTQ)"


def load(
    model: str | os.PathLike[str],
    dtype: str | None = None,
    num_threads: int | None = None,
    *,
    smooth: bool = True,
    calibrate: Sequence[str] | None = None,
    higher_precision: HigherPrecision = (),
) -> Model:
    """Load a transformer encoder with its tokenizer and pooling.

    model: a directory as Hugging Face writes it (config.json, model.safetensors or
        pytorch_model.bin in one file or in shards, tokenizer.json, and modules.json of
        sentence-transformers if there), or a hub id;
        the local cache is asked before the network. The model_type in config.json must be bert,
        roberta, xlm-roberta, camembert, distilbert, electra, albert, mpnet or modernbert; any size
        will do. Or a directory that `Model.save` wrote: its weights are mapped, and neither
        quantized nor copied. A head that config.json names is read too: classify,
        predict, rerank, ner, answer, fill_mask.
    dtype: what the encoder's linear layers compute in; every sum is float32 or exact. With
        "bfloat16" and "int8", attention too multiplies bfloat16 on CPUs with AVX512-BF16.
        None: what a saved model was saved with, and float32 for any other.
        "float32".
        "bfloat16": weights and activations rounded to bfloat16, half the memory; about twice as
            fast as "float32" on CPUs with AVX512-BF16, no faster on others but for short texts.
        "float16": weights kept in float16, computed with in float32: half the memory, and the
            accuracy of float32.
        "int8": weights quantized with one scale per output column, activations per token while
            they are packed; fastest and smallest.
    num_threads: threads of every call; None follows `fbg.set_num_threads`.
    smooth: with "int8", divide the input channels of linear layers by factors that make them about
        equally large and multiply the weights by them (SmoothQuant, arXiv:2211.10438): it costs no
        time later, and embeddings are closer to the float32 ones. How large they are shows in a
        float32 run on random token ids, always the same. False rounds the weights as they are.
    calibrate: with "int8", texts like those that the model will see, 100 of them or so: channels
        are measured on them instead, and weights rounded so that their errors cancel on them (GPTQ,
        arXiv:2210.17323). Closer still; takes seconds.
    higher_precision: linear layers that compute in "bfloat16" instead, as patterns of their names:
        ["layers.0.*", "*.output"]; or patterns with "bfloat16", "float16" or "float32" for each:
        {"layers.11.output": "float32"}. A layer of BERT has "qkv", "attention_output",
        "intermediate" and "output". `fbg compare --sensitivity` proposes which.

    Raises ModelError naming the file (and tensor or key) that is missing, damaged or unsupported;
    TypeError or ValueError for the arguments themselves, such as a dtype that is not that of a
    saved model.

    Pickling a model keeps these arguments, not the weights: unpickling loads it again.

    >>> model = load("sentence-transformers/all-MiniLM-L6-v2", dtype="int8")  # doctest: +SKIP
    >>> model.encode("a sentence").shape  # doctest: +SKIP
    (384,)
    """
    if not isinstance(model, (str, os.PathLike)):
        raise TypeError(f"load: model must be a path or a hub id, got {type(model).__name__}")
    if dtype is not None and dtype not in DTYPES:
        raise ValueError(f"load: dtype must be one of {', '.join(DTYPES)} or None, got {dtype!r}")
    if num_threads is not None:
        num_threads = _checked_threads(num_threads)
    texts = None if calibrate is None else _checked_texts(calibrate, dtype, smooth)
    patterns = read_patterns(higher_precision)

    directory = find_directory(os.fspath(model))
    config = read_config(directory / "config.json")
    sentence = read_sentence_config(directory, config)
    tokenizer = TextTokenizer(directory / "tokenizer.json", sentence.max_length, sentence.lowercase)
    if (directory / saved.WEIGHTS).is_file():
        if texts is not None:
            raise ValueError(
                f"load: calibrate has no use: {directory} is saved as it was quantized"
            )
        if patterns:
            raise ValueError(
                f"load: higher_precision has no use: {directory} is saved as it was packed"
            )
        transformer, dtype, method = _map_saved(directory, config, dtype)
        origin = saved.Origin(directory, method, mapped=True)
    else:
        dtype = dtype or "float32"
        smoothed = dtype == "int8" and smooth
        method = METHODS.get(dtype, f"weights: rounded to {dtype}")
        if smoothed:
            method += SMOOTHED if texts is None else CALIBRATED
        origin = saved.Origin(directory, method, mapped=False)
        anchor = f"{config.architecture.word}.weight"
        with Checkpoint(directory, anchor) as checkpoint:
            exact = smoothed or bool(patterns)
            transformer = read_transformer(checkpoint, config, "float32" if exact else dtype)
            source = CheckpointSource(checkpoint.without_prefix(), "float32")
            transformer = replace(transformer, head=read_head(source, config))
        chosen = choose_layers(transformer, patterns)
        if smoothed:
            sequences = None if texts is None else tokenizer(texts)
            frame = tokenizer.frame
            threads = num_threads or _fbg.num_threads()
            transformer = _quantized(transformer, frame, sequences, threads, chosen)
        if chosen:
            transformer = repack(transformer, dtype, chosen)
            origin = replace(origin, method=f"{method}; higher precision: {chosen}")
    loaded = Model(str(model), origin, transformer, sentence, tokenizer, dtype, num_threads)
    # What pickle keeps of a model: how to load it again, from any working directory.
    path = os.fspath(model)
    loaded.reload = functools.partial(
        load,
        os.path.abspath(path) if os.path.isdir(path) else path,
        dtype,
        num_threads,
        smooth=smooth,
        calibrate=texts,
        higher_precision=patterns,
    )
    return loaded


def _map_saved(
    directory: Path, config: EncoderConfig, dtype: str | None
) -> tuple[Transformer, str, str]:
    """Return the weights, their dtype and how they were quantized."""
    with SavedFile(directory / saved.WEIGHTS) as file:
        stored, method = file.metadata("dtype"), file.metadata("method")
        if stored not in DTYPES:
            raise ModelError(f"{file.path}: saved with dtype {stored!r}, which this fbg has not")
        if dtype not in (None, stored):
            raise ValueError(
                f"load: dtype must be {stored!r}, with which {directory} was saved, or None, "
                f"got {dtype!r}"
            )
        return saved.read(file, config, stored), stored, method


def _quantized(
    transformer: Transformer,
    frame: npt.NDArray[np.int32],
    texts: Sequence[npt.NDArray[np.int32]] | None,
    num_threads: int,
    kept: Collection[str],
) -> Transformer:
    """Return it in int8, but for the layers in `kept`.

    frame: the tokens of an empty text; texts: to calibrate on.
    """
    config = transformer.config
    if texts is None:
        sequences = random_sequences(config, frame)
    else:
        sequences = [tokens for tokens in texts if tokens.size > 0]
        if not sequences or max(tokens.max() for tokens in sequences) >= config.vocab_size:
            raise ValueError("load: calibrate has no tokens, or one outside the vocabulary")
    inputs = observe_inputs(transformer, sequences, num_threads, grams=texts is not None)
    return quantize_smoothly(transformer, inputs, kept)


def _checked_texts(calibrate: object, dtype: str | None, smooth: bool) -> list[str]:
    if dtype != "int8" or not smooth:
        raise ValueError("load: calibrate goes with dtype='int8' and smooth=True")
    texts = require_texts("load: calibrate", calibrate, several=True)
    if not any(text.strip() for text in texts):
        raise ValueError("load: calibrate must hold at least one text that is not empty")
    return texts


def _checked_threads(num_threads: int) -> int:
    try:
        number = operator.index(num_threads)
    except TypeError:
        got = type(num_threads).__name__
        raise TypeError(f"load: num_threads must be an integer or None, got {got}") from None
    if not 1 <= number <= _fbg.MAX_THREADS:
        raise ValueError(f"load: num_threads must be in [1, {_fbg.MAX_THREADS}], got {number}")
    return number
