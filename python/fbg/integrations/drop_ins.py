"""What the classes that replace those of sentence-transformers share: arguments, prompts, pools.

Every argument, property and method of the originals is either taken with its meaning, or refused
with an error that names it.
"""

from __future__ import annotations

import functools
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TypeVar

import numpy as np

from fbg import _fbg
from fbg.checkpoints.files import read_optional
from fbg.integrations.model_arguments import ModelArguments
from fbg.integrations.vectors import tensor_or_array
from fbg.model import save as saved
from fbg.model.load import load_encoder
from fbg.model.model import Model
from fbg.tasks.embedding_precision import PRECISIONS
from fbg.tasks.encode import prompt_tokens
from fbg.tasks.inputs import require_choice, require_count, require_texts_or_pairs
from fbg.text.saved_settings import files_with_settings
from fbg.text.sentence import PROMPTS
from fbg.text.tokenization import Text
from fbg.threads import get_num_threads

__all__ = [
    "DropIn",
    "ModelCardData",
    "prompted",
    "require_choices",
    "require_cpu",
    "takes_old_names",
    "texts_of",
]

log = logging.getLogger("fbg.integrations")
DropInClass = TypeVar("DropInClass", bound=type)

TRAINING = "models are trained with sentence-transformers, and loaded here afterwards"
TORCH = "there is no torch module; .model is the fbg.Model that computes"
LOADED = "the precision is chosen when a model is loaded: pass dtype="
HUB = "write a directory with save_pretrained, and upload it with huggingface_hub"
ADAPTERS = "adapters are chosen when a model is loaded: fbg.load(path, adapter=…) of PEFT's folder"
TOKENIZER = "the tokenizer is .model.tokenizer; tokenize(texts) returns token ids"
# Replacements for methods that programs call.
INSTEAD = {
    **dict.fromkeys(("fit", "train", "old_fit", "smart_batching_collate"), TRAINING),
    **dict.fromkeys(
        ("smart_batching_collate_text_only", "gradient_checkpointing_enable"), TRAINING
    ),
    **dict.fromkeys(("parameters", "named_parameters", "state_dict", "modules"), TORCH),
    **dict.fromkeys(("children", "requires_grad_", "compile", "transformers_model"), TORCH),
    **dict.fromkeys(("set_keep_in_fp32_modules", "clear_placement_cache", "merge"), TORCH),
    **dict.fromkeys(("get_sentence_features", "set_pooling_include_prompt"), TORCH),
    **dict.fromkeys(("active_adapter", "active_adapters", "add_adapter", "load_adapter"), ADAPTERS),
    **dict.fromkeys(("delete_adapter", "disable_adapters", "enable_adapters"), ADAPTERS),
    **dict.fromkeys(("set_adapter", "get_adapter_state_dict"), ADAPTERS),
    **dict.fromkeys(("check_peft_compatible_model", "has_peft_compatible_model"), ADAPTERS),
    "dtype": "the precision of linear layers is .model.dtype, and results are float32",
    "forward": "call .model.forward(input_ids, attention_mask)",
    **dict.fromkeys(("half", "float", "bfloat16"), LOADED),
    "cuda": "fbg runs on CPUs",
    "push_to_hub": HUB,
    "save_to_hub": HUB,
    **dict.fromkeys(("tokenizer", "processor"), TOKENIZER),
}


class ModelCardData:
    """What evaluators write down of a model. Programs may set what they like; no card is written.

    eval_results_dict: the metrics of each evaluator. The other fields are those of the original.
    """

    def __init__(self) -> None:
        self.eval_results_dict: dict[Any, dict[str, Any]] = {}
        self.model_name: str | None = None
        self.model_id: str | None = None
        self.base_model: str | None = None
        self.base_model_revision: str | None = None
        self.task_name: str | None = None
        self.license: str | None = None
        self.language: list[str] = []
        self.tags: list[str] = []
        self.train_datasets: list[dict[str, str]] = []
        self.eval_datasets: list[dict[str, str]] = []
        self.generate_widget_examples = True

    def set_evaluation_metrics(
        self, evaluator: Any, metrics: Mapping[str, Any], epoch: int = 0, step: int = 0
    ) -> None:
        """Keep the metrics of an evaluator."""
        self.eval_results_dict[evaluator] = dict(metrics)


class Cpu(str):
    """The device of models: "cpu", which is also equal to torch.device("cpu") and has its type."""

    type = "cpu"

    def __new__(cls) -> Cpu:
        return super().__new__(cls, "cpu")

    def __eq__(self, other: object) -> bool:
        return str.__eq__(self, str(other))

    def __ne__(self, other: object) -> bool:
        return not self == other

    __hash__ = str.__hash__


class DropIn:
    """A base of classes that replace those of sentence-transformers."""

    model_type = "SentenceTransformer"
    model_card_data_class = ModelCardData
    _USUAL: Mapping[str, str | None] = {}  # the prompts that every model has; None: as it says

    def _open(self, given: ModelArguments) -> None:
        """Load the model that the arguments of a constructor name, and set what all classes have.

        Raises ModelError for the model, TypeError and ValueError for an argument.
        """
        where = type(self).__name__
        require_cpu(where, given.device)
        directory, dtype = given.find(where), given.precision(where)
        self._name = os.fspath(given.model_name_or_path)
        self._arguments = (str(directory.absolute()), dtype)
        self.model: Model = given.changed(load_encoder(directory, dtype, given.num_threads), where)
        self.model_card_data = given.model_card_data or ModelCardData()
        if not os.path.exists(self._name):
            self.model_card_data.base_model = self._name
        self._saved_settings = read_optional(directory / PROMPTS)
        sentence = self.model.sentence
        prompts: dict[str, str | None] = {**self._USUAL, **(given.prompts or {})}
        for name, text in sentence.prompts.items():
            if prompts.get(name) is None:
                prompts[name] = text
        self.prompts = {name: text or "" for name, text in prompts.items()}
        default = given.default_prompt_name
        self.default_prompt_name = sentence.default_prompt_name if default is None else default
        if self.default_prompt_name not in (None, *self.prompts):
            raise ValueError(
                f"Default prompt name {self.default_prompt_name!r} not found in the configured "
                f"prompts dictionary with keys {[*self.prompts]}. {where}: default_prompt_name "
                "must be one of them"
            )

    # --- What a model is ------------------------------------------------------------------------

    @property
    def device(self) -> str:
        """The CPU."""
        return Cpu()

    @property
    def config(self) -> Any:
        """The settings of config.json, as fbg reads them."""
        return self.model.config

    @property
    def max_seq_length(self) -> int:
        """The tokens at which texts and pairs are cut; can be set."""
        return self.model.max_length

    @max_seq_length.setter
    def max_seq_length(self, value: int) -> None:
        self.model = self.model.with_max_length(value)

    def get_max_seq_length(self) -> int:
        """Return the tokens at which texts and pairs are cut."""
        return self.model.max_length

    @property
    def modalities(self) -> list[str]:
        """What the model reads."""
        return ["text"]

    def supports(self, modality: str | tuple[str, ...]) -> bool:
        """Whether the model reads something, which may be several things in one input."""
        known = self.modalities
        if modality in known:
            return True
        return isinstance(modality, tuple) and "message" in known and {*modality} <= {*known}

    def get_backend(self) -> str:
        """Return "torch", as a model that was loaded without a choice of a backend says."""
        return "torch"

    def get_model_kwargs(self) -> list[str]:
        """Return the names of further arguments that the model takes: none."""
        return []

    def to(self, device: Any) -> Any:
        """Return the model itself; raises ValueError for another device than a CPU."""
        require_cpu(f"{type(self).__name__}.to", device)
        return self

    def cpu(self) -> Any:
        """Return the model itself."""
        return self

    def eval(self) -> Any:
        """Return the model itself, which never trains."""
        return self

    def evaluate(self, evaluator: Any, output_path: str | None = None) -> Any:
        """Return what an evaluator of sentence-transformers says of the model.

        output_path: a directory for its files, which is created.
        """
        if output_path is not None:
            os.makedirs(output_path, exist_ok=True)
        return evaluator(self, output_path)

    # --- Texts ----------------------------------------------------------------------------------

    def _prompt(self, prompt: str | None, name: str | None) -> str | None:
        """Return the prompt that is given, or has a name, or that of the model; None: none."""
        if prompt is not None:
            if not isinstance(prompt, str):
                raise TypeError(f"prompt must be a str or None, got {type(prompt).__name__}")
            if name is not None:
                log.warning(
                    "Provide either a `prompt`, a `prompt_name`, or neither, but not both. "
                    "Ignoring the `prompt_name` in favor of `prompt`."
                )
            return prompt
        if name is None:
            return self.prompts.get(self.default_prompt_name or "")
        if name not in self.prompts:
            raise ValueError(
                f"prompt_name must be one of {', '.join(map(repr, self.prompts))}, got {name!r}"
            )
        return self.prompts[name]

    def _cutting(self, method: str, processing_kwargs: Mapping[str, Any] | None) -> Model:
        """Return the model that cuts texts as a single call asks; raises ValueError."""
        if processing_kwargs is None:
            return self.model
        given = dict(processing_kwargs)
        options = {**given.pop("text", {}), **given}
        options.pop("padding", None)
        cuts, length = options.pop("truncation", True), options.pop("max_length", None)
        if options or cuts not in (True, "longest_first"):
            wanted = {**options, **({} if cuts else {"truncation": cuts})}
            raise ValueError(
                f"{method}: processing_kwargs takes max_length of text, got {wanted or cuts}"
            )
        return self.model if length is None else self.model.with_max_length(length)

    def preprocess(
        self,
        inputs: Sequence[Text],
        prompt: str | None = None,
        *,
        task: str | None = None,
        processing_kwargs: Mapping[str, Any] | None = None,
    ) -> dict[str, Any]:
        """Return the `input_ids`, the `attention_mask` and more of texts or pairs.

        They are tensors (texts, tokens) where torch is installed, and otherwise arrays; nothing for
        no texts. prompt: put before each. task, processing_kwargs: as in `encode`.
        """
        model = self._cutting("preprocess", processing_kwargs)
        texts = texts_of("preprocess: inputs", inputs)
        return self._preprocessed(model, texts, prompt) if texts else {}

    def _preprocessed(
        self, model: Model, inputs: Sequence[Text], prompt: str | None
    ) -> dict[str, Any]:
        texts = prompted(prompt, inputs)
        single = [text for text in texts if isinstance(text, str)]
        tokenizer, where = model.tokenizer, "preprocess: inputs"
        if len(single) == len(texts):
            encoded = tokenizer.encode(single, where, sentences=True, types=False)
        else:
            encoded = tokenizer.encode(texts, where)
        shape = (len(encoded), max(text.ids.size for text in encoded))
        ids = np.full(shape, tokenizer.padding_id or 0, np.int64)
        types, mask = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        for n, text in enumerate(encoded):
            size = text.ids.size
            ids[n, :size], mask[n, :size] = text.ids, 1
            types[n, :size] = 0 if text.types is None else text.types
        values = {"input_ids": ids, "token_type_ids": types, "attention_mask": mask}
        if model.config.num_token_types < 2:
            del values["token_type_ids"]
        result: dict[str, Any] = {name: tensor_or_array(value) for name, value in values.items()}
        result["modality"] = "text"
        if prompt:
            result["prompt_length"] = prompt_tokens(model.context, prompt, "preprocess")
        return result

    # --- Files ----------------------------------------------------------------------------------

    def _settings(self) -> dict[str, Any]:
        """Return what config_sentence_transformers.json says of the model as it is now."""
        return {
            "model_type": self.model_type,
            "__version__": {"fbg": _fbg.__version__},
            "prompts": self.prompts,
            "default_prompt_name": self.default_prompt_name,
        }

    def save_pretrained(
        self,
        path: str | os.PathLike[str] | None,
        model_name: str | None = None,
        create_model_card: bool = True,
        train_datasets: Sequence[str] | None = None,
        safe_serialization: bool = True,
    ) -> None:
        """Write a directory that this class and `fbg.load` read; its weights are packed.

        It has the prompts, the length at which texts are cut and the other settings of this moment.

        path: created with the directories above it; a saved model there is replaced. None: nothing
        is written. The other arguments are about model cards and formats, and have no effect.
        """
        if path is None:
            return
        target = Path(path).absolute()
        target.parent.mkdir(parents=True, exist_ok=True)
        origin = self.model.origin
        files = files_with_settings(origin.files, self._settings())
        saved.write(target, replace(origin, files=files), self.model.network, overwrite=True)

    save = save_pretrained

    # --- Several processes ----------------------------------------------------------------------

    def start_multi_process_pool(
        self, target_devices: Sequence[str] | None = None
    ) -> ProcessPoolExecutor:
        """Return a pool for `encode` or `predict`: a process for each device; None: for each CPU.

        Its processes cut texts at the `max_seq_length` of this moment.

        One process with threads is as fast on most machines, and takes less memory.
        """
        require_cpu("start_multi_process_pool", target_devices)
        cpus = get_num_threads()
        count = cpus if target_devices is None else len(target_devices)
        threads = max(1, cpus // max(1, count))
        cuts = self.max_seq_length, self.model.tokenizer.truncation_side
        return ProcessPoolExecutor(
            count, get_context("spawn"), _load_in_process, (*self._arguments, threads, *cuts)
        )

    @staticmethod
    def stop_multi_process_pool(pool: ProcessPoolExecutor) -> None:
        """End the processes of a pool."""
        pool.shutdown()

    def _in_pool(
        self,
        pool: ProcessPoolExecutor,
        method: str,
        inputs: Sequence[Any],
        chunk_size: int | None,
        options: dict[str, Any],
    ) -> Any:
        """Return the rows of a method of Model for inputs, computed by a pool."""
        size = require_count(f"{method}: chunk_size", 512 if chunk_size is None else chunk_size)
        futures = [
            pool.submit(_run_in_process, method, inputs[begin : begin + size], options)
            for begin in range(0, len(inputs), size)
        ]
        if not futures:
            return getattr(self.model, method)([], **options)
        return np.concatenate([future.result() for future in futures])

    if not TYPE_CHECKING:  # knows the attributes

        def __getattr__(self, name: str) -> NoReturn:
            what, instead = f"{type(self).__name__!r} object has no attribute {name!r}", ""
            if name in INSTEAD:
                instead = f": {INSTEAD[name]}"
            raise AttributeError(what + instead, name=name, obj=self)


def require_cpu(where: str, devices: object) -> None:
    """Raise ValueError unless a device, or each of several, is None, "cpu" or the CPU of torch."""
    several = isinstance(devices, Sequence) and not isinstance(devices, str)
    for device in devices if several else (devices,):  # type: ignore[attr-defined]
        if device is not None and str(device).partition(":")[0] != "cpu":
            raise ValueError(
                f"{where}: device must be 'cpu' or None, got {str(device)!r}: fbg runs on CPUs"
            )


def texts_of(where: str, inputs: object) -> list[Text]:
    """Return a text, or an iterable of texts and of pairs of texts, as a list.

    A text may be {"text": …}, as models of several modalities have it. Raises TypeError for
    anything else, such as a table or another mapping.
    """
    if _is_text(inputs):
        inputs = [inputs]
    if isinstance(inputs, (list, tuple)):
        inputs = [item["text"] if _is_text(item) else item for item in inputs]
    return require_texts_or_pairs(where, inputs)


def _is_text(item: object) -> bool:
    """Whether this is {"text": …}."""
    return isinstance(item, Mapping) and [*item] == ["text"] and isinstance(item["text"], str)


def prompted(prompt: str | None, texts: Sequence[Text]) -> list[Text]:
    """Return texts, and the first ones of pairs, with a prompt before them."""
    if not prompt:
        return list(texts)
    return [
        prompt + text if isinstance(text, str) else (prompt + text[0], text[1]) for text in texts
    ]


def require_choices(output_value: object, precision: object, task: object) -> None:
    """Raise ValueError for an output, a precision or a task that there is not."""
    outputs = ("sentence_embedding", "token_embeddings")
    if output_value is not None:
        require_choice("encode: output_value", output_value, outputs)
    if precision is not None and precision not in PRECISIONS:
        raise ValueError(
            f"Precision {precision!r} is not supported: precision must be one of "
            f"{', '.join(PRECISIONS)}"
        )
    if task is not None:
        require_choice("encode: task", task, ("query", "document"))


def takes_old_names(
    old: Mapping[str, Mapping[str, str | None]],
) -> Callable[[DropInClass], DropInClass]:
    """Let methods of a class take arguments by names that they had once. A decorator.

    old: by the name of a method, the names of today by the old ones; None: it has no effect now.
    """

    def changed(target: DropInClass) -> DropInClass:
        for name, names in old.items():
            setattr(target, name, _taking(getattr(target, name), names))
        return target

    return changed


def _taking(method: Callable[..., Any], names: Mapping[str, str | None]) -> Callable[..., Any]:
    @functools.wraps(method)
    def called(*given: Any, **options: Any) -> Any:
        for old in names.keys() & options.keys():
            value, new = options.pop(old), names[old]
            if new is not None:
                options.setdefault(new, value)
        return method(*given, **options)

    return called


_model_of_process: list[Model] = []


def _load_in_process(
    path: str, dtype: str | None, num_threads: int, max_length: int, side: str
) -> None:
    model = load_encoder(path, dtype, num_threads)
    _model_of_process[:] = [model.with_max_length(max_length).with_truncation_side(side)]


def _run_in_process(method: str, inputs: Sequence[Any], options: dict[str, Any]) -> Any:
    return getattr(_model_of_process[0], method)(inputs, **options)
