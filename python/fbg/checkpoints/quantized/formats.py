"""The formats of quantized checkpoints, by the quant_method of config.json."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase

from fbg.checkpoints.mapped_file import FLOATS, StoredTensor
from fbg.checkpoints.quantized import bitsandbytes, compressed, fp8, gguf, gptq, torchao
from fbg.checkpoints.quantized.patterns import Patterns, read_patterns
from fbg.checkpoints.quantized.tensor import Module, QuantizedTensor
from fbg.checkpoints.settings import Settings

Tensors = dict[str, StoredTensor]
Decode = Callable[[Module], QuantizedTensor]

# Keys under which config.json describes it, and names layers that stay as they are.
SECTIONS = ("quantization_config", "compression_config")
EXCEPTIONS = ("ignore", "modules_to_not_convert", "ignored_layers", "llm_int8_skip_modules")


@dataclass(frozen=True)
class Format:
    """parts: names of the tensors of a layer. irrelevant: patterns of settings that change nothing.
    read: checks the settings, and returns what makes a weight of the tensors.
    """

    parts: Sequence[str]
    irrelevant: str
    read: Callable[[Settings], Decode]


FORMATS = {
    "compressed-tensors": Format(compressed.PARTS, compressed.IRRELEVANT, compressed.read),
    "gptq": Format(gptq.PARTS, gptq.IRRELEVANT, gptq.read),
    "awq": Format(gptq.AWQ_PARTS, gptq.AWQ_IRRELEVANT, gptq.read_awq),
    "fp8": Format(fp8.PARTS, fp8.IRRELEVANT, fp8.read),
    "fbgemm_fp8": Format(fp8.PARTS, fp8.IRRELEVANT, fp8.read_fbgemm),
    "bitsandbytes": Format(bitsandbytes.PARTS, bitsandbytes.IRRELEVANT, bitsandbytes.read),
    "gguf": Format(gguf.PARTS, gguf.IRRELEVANT, gguf.read),
    "torchao": Format(torchao.PARTS, torchao.IRRELEVANT, torchao.read),
}


@dataclass(frozen=True, eq=False)
class Quantization:
    """How the weights of a checkpoint are quantized. exceptions: layers that are not."""

    method: str
    decode: Decode
    exceptions: tuple[Patterns, ...]

    def decoded(self, tensors: Tensors) -> Tensors:
        """Return tensors with one for the weight of each layer in place of those that it is made
        of; raises ModelError.
        """
        parts = FORMATS[self.method].parts
        modules: dict[str, dict[str, str]] = {}
        for name in tensors:
            part = max((p for p in parts if name.endswith(f".{p}")), key=len, default=None)
            if part is not None:
                modules.setdefault(name.removesuffix(f".{part}"), {})[part] = name
        decoded = dict(tensors)
        for module, names in modules.items():
            floats = list(names) == ["weight"] and tensors[names["weight"]].dtype in FLOATS
            if floats or any(e.match(module) for e in self.exceptions):
                continue
            weight = self.decode(Module(module, {p: decoded.pop(n) for p, n in names.items()}))
            decoded[f"{module}.weight"] = weight
        return decoded


def read_quantization(settings: Settings) -> Quantization | None:
    """Return what config.json says of quantized weights, None if nothing; raises ModelError."""
    given = [key for key in SECTIONS if settings.get(key) is not None]
    if not given:
        return None
    section = settings.section(given[0])
    method = section.choice("quant_method", tuple(FORMATS), default=_default(section))
    form = FORMATS[method]
    decode = form.read(section)
    for key in section.values():
        if any(fnmatchcase(key, pattern) for pattern in form.irrelevant.split()):
            section.get(key)
    exceptions = tuple(read_patterns(section, key) for key in EXCEPTIONS)
    return Quantization(method, decode, exceptions)


def _default(settings: Settings) -> str | None:
    """Return the method of settings that do not name it, as those of older releases."""
    loads = settings.get("load_in_8bit") or settings.get("load_in_4bit")
    return "bitsandbytes" if loads else None
