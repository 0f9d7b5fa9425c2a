"""fbg.load: makes a Model from a model directory, or from its name on the Hugging Face hub."""

from __future__ import annotations

import functools
import os
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

from fbg import _fbg
from fbg.arrays import require_flag, require_integer
from fbg.checkpoints.adapters import Adapter, find_adapter
from fbg.checkpoints.files import read_model_file
from fbg.errors import BusyError, ModelError, install_line
from fbg.graph.linear import Linear
from fbg.graph.passes.precision import HigherPrecision, choose_dtypes, read_patterns
from fbg.matmul.weights import INT4_DTYPES, QUANTIZED, WEIGHT_LIMITS
from fbg.model import save as saved
from fbg.model.adapted import Adapters, Base, checked_adapters, find_adapters
from fbg.model.directory import find_directory
from fbg.model.load_net import is_net, load_net, require_encoder
from fbg.model.model import Model
from fbg.model.observe import observe, random_sequences
from fbg.model.quantize import (
    FEWEST_SEQUENCES,
    choose_stored,
    is_sequential,
    quantize,
    quantize_in_turn,
    sequences_within_budget,
    stored_dtypes,
)
from fbg.model.settings import read_model_settings
from fbg.model.synthetic import picture_rows, typical_sequences
from fbg.model.tuning import tune as measure
from fbg.networks.config import EncoderConfig
from fbg.networks.registry import open_checkpoint, read_opened, read_saved
from fbg.networks.transformer import Transformer, linears, towers, vocabulary
from fbg.progress import Progress, active_progress, told_to
from fbg.reading import ReadFiles, recorded_reads
from fbg.saved_file import WEIGHTS, SavedFile
from fbg.tasks.inputs import require_texts
from fbg.text.sentence import sentence_files
from fbg.text.tokenization import TextTokenizer

DTYPES = tuple(WEIGHT_LIMITS)
SYNTHETIC = "synthetic"
ACTIVATIONS = "activations: one scale and zero point per token, as it is packed"
METHODS = {
    "int8": f"weights: symmetric, max|w| / 127, one scale per output column; {ACTIVATIONS}",
    **{
        name: "weights: 4 bits, least squared error, one scale"
        f"{'' if symmetric else ' and offset'} per {group} inputs and output column; {ACTIVATIONS}"
        for name, (group, symmetric) in INT4_DTYPES.items()
    },
}
SMOOTHED = "; channels smoothed by {} (SmoothQuant)"
CALIBRATED = "; channels smoothed by {}, weights rounded by their Gram matrices (GPTQ)"
SEQUENTIAL = "; layers rounded in turn by {}, each making up for earlier errors (GPTQ)"


def load(
    model: str | os.PathLike[str],
    dtype: str | None = None,
    num_threads: int | None = None,
    *,
    smooth: bool = True,
    calibrate: Sequence[Any] | Literal["synthetic"] | None = None,
    higher_precision: HigherPrecision = (),
    adapter: str | os.PathLike[str] | None = None,
    adapters: Adapters = (),
    tune: bool = False,
    progress: Progress | None = None,
    **net_options: Any,
) -> Any:
    """Load a `Model`: a transformer encoder with its tokenizer, its pooling and its head.

    model: a directory in the layout of Hugging Face (docs/models.md); a GGUF file; a hub id, looked
        up in the local cache first; a directory of `Model.save`, whose weights are mapped; or a
        file that ends in ".onnx", or of `Net.save`: a `Net`, with `net_options` (docs/onnx.md).
    dtype: the precision of the encoder's linear layers. "float32"; "bfloat16": weights and
        activations in bfloat16; "float16": weights in float16, products in float32;
        "float16_accum": products in float16, too, on CPUs with AVX512-FP16; "int8": weights with
        one scale per output column, activations quantized per token; "int4": weights of 4 bits in
        groups of 32 inputs, each with a scale per output column, or of 64 or 128 inputs
        ("int4_g64", ...), and with an offset ("int4_offset", ...). With "bfloat16" and integers,
        attention multiplies in bfloat16 on AVX512-BF16. None: as it was quantized, or "float32".
    num_threads: for every call; None follows `fbg.set_num_threads`.
    smooth: whether "int8" and "int4" equalize input channels (SmoothQuant, arXiv:2211.10438), as
        observed on fixed token ids, and layers of "int4" make up for the errors of those before.
    calibrate: about 100 texts similar to those that the model will process, with "int8" or "int4".
        Channels are observed on them, and weights are rounded so that their errors cancel (GPTQ,
        arXiv:2210.17323), which takes seconds. "synthetic" uses tokens that resemble text.
    higher_precision: patterns of names of linear layers that compute in "bfloat16", such as
        ["layers.0.*"], or a dtype for each pattern, such as {"layers.11.output": "float32"}.
        "embeddings.word" keeps in float32 the vocabulary, which integer models hold in 8 bits.
        `fbg compare --sensitivity` proposes some. For an ONNX file: nodes that compute in float32.
    adapter: a low-rank adapter (LoRA) to merge into the weights: a task of the model, such as
        "retrieval.query" of jina-embeddings-v3, or a folder that PEFT wrote. None merges none.
    adapters: several to keep beside the weights (`Model.with_adapter`): tasks, or paths by name.
    tune: whether to time how each layer runs fastest (`fbg.tune`), which takes seconds.
    progress: called as progress(stage, done, total), with a stage such as "packing".

    Raises ModelError, which names the file and the tensor or key that is wrong, and TypeError or
    ValueError for the arguments. Pickling a model stores these, and not the weights.

    >>> model = load("sentence-transformers/all-MiniLM-L6-v2", dtype="int8")  # doctest: +SKIP
    >>> model.encode("a sentence").shape
    (384,)
    """
    path = _checked_path(model, adapters or adapter, tune, net_options)
    with told_to(progress or active_progress()):
        if is_net(path):
            net_options["higher_precision"] = higher_precision
            loaded: Any = load_net(path, dtype, num_threads, calibrate, smooth, **net_options)
        else:
            more = higher_precision, adapter, adapters
            options = _checked_options(dtype, num_threads, smooth, calibrate, *more)
            loaded = _load_directory(str(model), path, options)
        return _tuned(loaded) if tune else loaded


def _checked_path(model: object, adapter: object, tune: object, net_options: dict[str, Any]) -> str:
    """Return the path of a model; raises TypeError or ValueError for what does not go with it."""
    if not isinstance(model, (str, os.PathLike)):
        got = type(model).__name__
        raise TypeError(f"load: model must be a path or a hub id, got {got}{_saving(model)}")
    require_flag(tune, "load: tune")
    path: str = os.fspath(model)
    if is_net(path) and adapter is not None:
        raise ValueError("load: adapter cannot be used with ONNX files")
    if (names := ", ".join(net_options)) and not is_net(path):
        raise TypeError(f"load: {names}: only files that end in .onnx and saved networks take that")
    return path


def _saving(model: object) -> str:
    """Return how an object of another library becomes a file that fbg loads."""
    if hasattr(model, "save_pretrained"):
        return "; save it with save_pretrained, and load the directory"
    if hasattr(model, "state_dict"):
        return "; export it with torch.onnx.export, and load the ONNX file"
    if hasattr(model, "SerializeToString"):
        return "; save it with onnx.save, and load the file"
    return ""


def _tuned(loaded: Any) -> Any:
    """Measure what runs fastest. If others keep the threads, what was not measured stays as the
    cost model chose it, which is no reason not to have the model.
    """
    try:
        measure(loaded, show_progress_bar=False)
    except BusyError as error:
        warnings.warn(
            f"load: tune: {error}; what was not measured runs as the cost model says, and fbg.tune "
            "measures it later",
            UserWarning,
            stacklevel=3,
        )
    return loaded


def load_encoder(
    model: str | os.PathLike[str],
    dtype: str | None = None,
    num_threads: int | None = None,
    **options: Any,
) -> Model:
    """Do as `load` for callers that need a `Model`; raises ModelError if `load` made a `Net`."""
    if isinstance(model, (str, os.PathLike)):
        require_encoder(os.fspath(model))
    loaded: Model = load(model, dtype, num_threads, **options)
    return loaded


@dataclass(frozen=True)
class _Options:
    """Checked arguments of `load`. texts: for calibration; synthetic: or on synthetic tokens.
    patterns: for higher precision. adapter: its name or its path. adapters: paths by name.
    """

    dtype: str | None
    num_threads: int | None
    smooth: bool
    texts: list[str] | None
    synthetic: bool
    patterns: dict[str, str]
    adapter: str | None
    adapters: Mapping[str, str]

    def reload(
        self, path: str, dtype: str, adapter: Adapter | None, adapters: Mapping[str, Adapter]
    ) -> Callable[[], Model]:
        """Return a function that loads the model again from any working directory, for pickle."""
        return functools.partial(
            load,
            os.path.abspath(path) if os.path.isdir(path) else path,
            dtype,
            self.num_threads,
            smooth=self.smooth,
            calibrate=SYNTHETIC if self.synthetic else self.texts,
            higher_precision=self.patterns,
            adapter=None if adapter is None else adapter.lasting_name,
            adapters={name: each.lasting_name for name, each in adapters.items()},
        )


def _checked_options(
    dtype: str | None,
    num_threads: int | None,
    smooth: bool,
    calibrate: Sequence[str] | str | None,
    higher_precision: HigherPrecision,
    adapter: object,
    adapters: object,
) -> _Options:
    if dtype is not None and dtype not in DTYPES:
        raise ValueError(f"load: dtype must be one of {', '.join(DTYPES)} or None, got {dtype!r}")
    if num_threads is not None:
        num_threads = require_integer(num_threads, "load: num_threads", 1, _fbg.MAX_THREADS)
    smooth = require_flag(smooth, "load: smooth")
    synthetic = isinstance(calibrate, str) and calibrate == SYNTHETIC
    if calibrate is not None and (dtype not in QUANTIZED or not smooth):
        raise ValueError("load: calibrate requires dtype='int8' or 'int4' and smooth=True")
    texts = None if calibrate is None or synthetic else _checked_texts(calibrate)
    if adapter is not None and not isinstance(adapter, (str, os.PathLike)):
        got = type(adapter).__name__
        raise TypeError(f"load: adapter must be a name, a path or None, got {got}")
    named = None if adapter is None else str(os.fspath(adapter))
    beside = checked_adapters(adapters)
    if named is not None and beside:
        raise ValueError("load: adapter must be None: adapters are kept beside plain weights")
    patterns = read_patterns(higher_precision)
    return _Options(dtype, num_threads, smooth, texts, synthetic, patterns, named, beside)


def _load_directory(name: str, path: str, options: _Options) -> Model:
    """Find the files of a model and read them; say which extra is missing, if one is."""
    try:
        directory = find_directory(path)
        with recorded_reads() as reads:
            return _assemble(name, path, directory, options, reads)
    except ModuleNotFoundError as error:
        raise ModelError(
            f"load: models need the package {error.name}: {install_line(error.name)}"
        ) from error


def _assemble(
    name: str,
    path: str,
    directory: Path,
    options: _Options,
    reads: ReadFiles,
) -> Model:
    """Read settings, then weights, and put them together. path: as the user gave it."""
    settings = read_model_settings(directory)
    folder, sentence, static = settings.folder, settings.sentence, settings.static
    tokenizer, config = settings.tokenizer, settings.config
    adapter, mapped = None, (directory / WEIGHTS).is_file()
    adapters: dict[str, Adapter] = {}
    adapted: dict[str, Transformer] = {}
    if mapped:
        transformer, method = _map_saved(directory, config, options)
    else:
        if static is not None and (options.adapter is not None or options.adapters):
            raise ValueError("load: adapter must be None: static embeddings have none")
        if options.adapter is not None:
            adapter = find_adapter(directory, folder, options.adapter)
        adapters = find_adapters(directory, folder, options.adapters)
        base, method = _read_and_quantize(folder, config, tokenizer, options, adapter)
        transformer = base.network
        adapted = {name: base.with_adapter(each) for name, each in adapters.items()}
    origin = saved.Origin(directory, _sentence_files(directory), reads.states, method, mapped)
    model = Model(name, origin, transformer, sentence, tokenizer, options.num_threads)
    model.reload = options.reload(path, model.dtype, adapter, adapters)
    model.adapted = adapted
    return model


def dtype_and_method(file: SavedFile) -> tuple[str, str]:
    """Return in which dtype a model was saved, and how it was quantized."""
    dtype, method = file.metadata("dtype"), file.metadata("method")
    if dtype not in DTYPES:
        raise ModelError(
            f"{file.path}: saved with dtype {dtype!r}, which this version of fbg does not support"
        )
    return dtype, method


def _sentence_files(directory: Path) -> dict[str, bytes]:
    """Return all that `Model.save` copies, as this load reads it; raises ModelError."""
    try:
        return {name: read_model_file(directory / name) for name in sentence_files(directory)}
    except OSError as error:
        raise ModelError(str(error)) from None


def _map_saved(
    directory: Path, config: EncoderConfig, options: _Options
) -> tuple[Transformer, str]:
    """Return a saved network, and how it was quantized."""
    require_left_out(
        directory,
        calibrate=options.synthetic or options.texts is not None,
        higher_precision=options.patterns,
        smooth=not options.smooth,
        adapter=options.adapter or options.adapters,
    )
    with SavedFile(directory / WEIGHTS) as file:
        stored, method = dtype_and_method(file)
        if options.dtype not in (None, stored):
            raise ValueError(
                f"load: dtype must be {stored!r}, the dtype of the saved model {directory}, "
                f"or None, got {options.dtype!r}"
            )
        return read_saved(file, config, stored), method


def require_left_out(directory: Path, **given: object) -> None:
    """Raise ValueError if there is something for a saved model that only changes checkpoints."""
    for name, value in given.items():
        if value:
            raise ValueError(
                f"load: {name} must be None: {directory} is a saved model, already packed"
            )


def _read_and_quantize(
    directory: Path,
    config: EncoderConfig,
    tokenizer: TextTokenizer,
    options: _Options,
    adapter: Adapter | None,
) -> tuple[Base, str]:
    """Return the network of a checkpoint, packed, and how it was quantized."""
    threads = options.num_threads or _fbg.num_threads()
    unpacked = read_opened(open_checkpoint(directory, config, adapter), config, threads)
    names = [*linears(unpacked), *vocabulary(unpacked)]
    higher = choose_dtypes(names, options.patterns, "linear layer")
    stored = stored_dtypes(config, unpacked)
    dtype, kept = choose_stored(directory, options.dtype, stored)
    smoothed: dict[str, Linear] = {}

    def base(network: Transformer) -> Base:
        return Base(directory, config, network, smoothed, dtype, higher, threads)

    if kept is not None:
        if options.texts is not None or options.synthetic:
            raise ValueError(
                f"load: calibrate must be None: the weights of {directory} are quantized already"
            )
        changes = _changes(adapter, higher)
        method = f"weights: as in the checkpoint, {stored}; {ACTIVATIONS}{changes}"
        higher = dict.fromkeys(vocabulary(unpacked), "float32") | kept | higher
        return base(quantize(unpacked, dtype, higher, threads, None, smoothed)), method
    method = METHODS.get(dtype, f"weights: rounded to {dtype}")
    if dtype not in QUANTIZED or not options.smooth:
        method += _changes(adapter, higher)
        return base(quantize(unpacked, dtype, higher, threads, None, smoothed)), method
    if options.texts is not None and config.picture is not None:
        raise ValueError("load: calibrate must be None or 'synthetic': the model takes no texts")
    done: list[Transformer] = []
    notes: dict[str, None] = {}
    for tower in towers(unpacked):
        packed, note = _smoothed(tower, dtype, higher, tokenizer, options, smoothed)
        done.append(packed)
        notes[note] = None
    network = replace(done[0], image=done[1]) if len(done) > 1 else done[0]
    return base(network), method + "".join(notes) + _changes(adapter, higher)


def _smoothed(
    tower: Transformer,
    dtype: str,
    higher: Mapping[str, str],
    tokenizer: TextTokenizer,
    options: _Options,
    smoothed: dict[str, Linear],
) -> tuple[Transformer, str]:
    """Return a tower of unpacked weights in integers, smoothed and perhaps rounded by what was
    observed; and how. smoothed: receives its layers before they are rounded.
    """
    threads, config, rows = options.num_threads or _fbg.num_threads(), tower.config, None
    rounds = options.synthetic or options.texts is not None  # round int8 by Gram matrices
    sequential = is_sequential(tower, dtype, rounds)
    if config.picture is not None:
        source, rows = "synthetic pictures", picture_rows(config.picture)
        sequences = [np.arange(len(each), dtype=np.int32) for each in rows]
    elif options.texts is not None:
        source = "texts"
        sequences = _calibration(tokenizer(options.texts), config.vocab_size)
    elif sequential or rounds:
        source = "synthetic tokens"
        count = sequences_within_budget(tower, dtype) if sequential else FEWEST_SEQUENCES
        sequences = typical_sequences(config, tokenizer, tower.embeddings.word, count)
    else:
        source = "random token ids"
        sequences = random_sequences(config, tokenizer.frame)
    note = (SEQUENTIAL if sequential else CALIBRATED if rounds else SMOOTHED).format(source)
    if sequential:
        network = quantize_in_turn(tower, dtype, higher, sequences, threads, rows, smoothed)
        return network, note
    moments = observe(tower, sequences, threads, rounds, rows)
    return quantize(tower, dtype, higher, threads, moments, smoothed), note


def _changes(adapter: Adapter | None, higher: Mapping[str, str]) -> str:
    """Return what the user has changed, as the description of a method goes on."""
    merged = "" if adapter is None else f"; adapter: {adapter.name}"
    return merged + (f"; higher precision: {higher}" if higher else "")


def _calibration(
    texts: Sequence[npt.NDArray[np.int32]], vocab_size: int
) -> list[npt.NDArray[np.int32]]:
    sequences = [tokens for tokens in texts if tokens.size > 0]
    if not sequences or max(tokens.max() for tokens in sequences) >= vocab_size:
        raise ValueError(
            "load: calibrate must have tokens, all of them in the vocabulary of the model"
        )
    return sequences


def _checked_texts(calibrate: object) -> list[str]:
    texts = require_texts("load: calibrate", calibrate, several=True)
    if not any(text.strip() for text in texts):
        raise ValueError("load: calibrate must hold at least one text that is not empty")
    return texts
