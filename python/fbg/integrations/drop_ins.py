"""Features of classes of sentence-transformers that fbg lacks: devices, training, torch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NoReturn

__all__ = ["DropIn", "require_cpu"]

TRAINING = "models are trained with sentence-transformers, and loaded here afterwards"
TORCH = "there is no torch module; .model is the fbg.Model that computes"
LOADED = "the precision is chosen when a model is loaded: pass dtype="
HUB = "write a directory with save_pretrained, and upload it with huggingface_hub"
# Replacements for methods that programs call.
INSTEAD = {
    **dict.fromkeys(("fit", "train", "old_fit", "smart_batching_collate"), TRAINING),
    **dict.fromkeys(("parameters", "named_parameters", "state_dict", "modules"), TORCH),
    **dict.fromkeys(("children", "requires_grad_", "compile"), TORCH),
    "forward": "call .model.forward(input_ids, attention_mask)",
    **dict.fromkeys(("half", "float", "bfloat16"), LOADED),
    "cuda": "fbg runs on CPUs",
    "push_to_hub": HUB,
    "save_to_hub": HUB,
    "tokenizer": "the tokenizer is .model.tokenizer; tokenize(texts) returns token ids",
}


class DropIn:
    """A base of classes that replace those of sentence-transformers."""

    @property
    def device(self) -> str:
        return "cpu"

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
