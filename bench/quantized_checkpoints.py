"""Quantized checkpoints that keep their integers: the time to load them, and their speed.

    python bench/quantized_checkpoints.py                  BERT-base: W8A8, GPTQ and AWQ
    python bench/quantized_checkpoints.py --kind gptq --tokens 8 64 384

Weights are random. Loading is compared with reading the file, which the kernel has in memory; speed
with a model of the same geometry that fbg quantized itself, in the dtype that the file has.
"""

from __future__ import annotations

import functools
import json
from pathlib import Path
from typing import Any

import checkpoints
import numpy as np
import timing
from safetensors.numpy import load_file, save_file

import fbg
from fbg.networks.transformer import linears

Array = np.ndarray[Any, Any]
Tensors = dict[str, Array]
GROUP = 128


def pack(codes: Array) -> Array:
    """(rows, columns / 8) int32 of 4-bit codes (rows, columns), the lowest bits first."""
    pairs = codes.astype(np.uint8).reshape(len(codes), -1, 2)
    return np.ascontiguousarray(pairs[..., 0] | pairs[..., 1] << 4).view("<i4")


def affine(weight: Array) -> tuple[Array, Array, Array]:
    """Codes (N, K) of 4 bits, scales and zero points (N, K / GROUP)."""
    groups = weight.reshape(len(weight), -1, GROUP)
    low, high = groups.min(axis=-1), groups.max(axis=-1)
    scale = ((high - low) / 15).astype(np.float16)
    point = np.rint(-low / scale.astype(np.float32)).clip(0, 15)
    codes = np.rint(groups / scale[..., None].astype(np.float32)) + point[..., None]
    return codes.clip(0, 15).reshape(weight.shape), scale, point


def w8a8(name: str, weight: Array) -> Tensors:
    scale = np.abs(weight).max(axis=1, keepdims=True) / np.float32(127)
    codes = np.rint(weight / scale).astype(np.int8)
    return {f"{name}.weight": codes, f"{name}.weight_scale": scale}


def gptq(name: str, weight: Array, order: Array | None = None) -> Tensors:
    inputs = np.arange(weight.shape[1])
    order = inputs if order is None else order
    places = np.argsort(order)
    codes, scale, point = affine(weight[:, order])
    return {
        f"{name}.qweight": np.ascontiguousarray(pack(codes[:, places]).T),
        f"{name}.qzeros": pack((point.T - 1) % 16),
        f"{name}.scales": np.ascontiguousarray(scale.T),
        f"{name}.g_idx": (places // GROUP).astype(np.int32),
    }


def gptq_order(name: str, weight: Array) -> Tensors:
    return gptq(name, weight, np.random.default_rng(0).permutation(weight.shape[1]))


def awq(name: str, weight: Array) -> Tensors:
    codes, scale, point = affine(weight)
    order = [0, 2, 4, 6, 1, 3, 5, 7]

    def ordered(values: Array) -> Array:
        return pack(values.reshape(len(values), -1, 8)[..., order].reshape(values.shape))

    return {
        f"{name}.qweight": ordered(codes.T),
        f"{name}.qzeros": ordered(point.T),
        f"{name}.scales": np.ascontiguousarray(scale.T),
    }


CHANNELS = {"targets": ["Linear"], "weights": {"num_bits": 8, "strategy": "channel"}}
GROUPS = {"bits": 4, "group_size": GROUP}
KINDS: dict[str, tuple[Any, dict[str, Any]]] = {
    "w8a8": (
        w8a8,
        {
            "quant_method": "compressed-tensors",
            "format": "int-quantized",
            "config_groups": {"group_0": CHANNELS},
        },
    ),
    "gptq": (gptq, {"quant_method": "gptq", **GROUPS, "desc_act": False}),
    "gptq-order": (gptq_order, {"quant_method": "gptq", **GROUPS, "desc_act": True}),
    "awq": (awq, {"quant_method": "awq", **GROUPS, "version": "gemm"}),
}


def write(kind: str, source: Path, directory: Path) -> Path:
    """Write the checkpoint with the weights of linear layers quantized and all others float16."""
    if (directory / "config.json").exists():
        return directory
    directory.mkdir(parents=True, exist_ok=True)
    make, settings = KINDS[kind]
    stored: Tensors = {}
    for key, value in load_file(source / "model.safetensors").items():
        name = key.removesuffix(".weight")
        if value.ndim == 2 and "embeddings" not in key and "pooler" not in key:
            stored |= make(name, value.astype(np.float32))
        else:
            stored[key] = value.astype(np.float16)
    save_file(stored, directory / "model.safetensors", metadata={"format": "pt"})
    (directory / "tokenizer.json").write_bytes((source / "tokenizer.json").read_bytes())
    config = json.loads((source / "config.json").read_text())
    exceptions = {"ignore" if kind == "w8a8" else "modules_to_not_convert": ["pooler"]}
    config["quantization_config"] = {**settings, **exceptions}
    (directory / "config.json").write_text(json.dumps(config))
    return directory


def main() -> None:
    parser = timing.parser(__doc__.partition("\n")[0])
    parser.add_argument("--kind", nargs="+", choices=KINDS, default=["w8a8", "gptq", "awq"])
    parser.add_argument("--geometry", choices=checkpoints.BERT_GEOMETRIES, default="base")
    parser.add_argument("--tokens", type=int, nargs="*", default=[8, 64, 384])
    parser.add_argument("--cache", type=Path, default=checkpoints.default_cache())
    arguments = parser.parse_args()
    timing.use_clock(arguments)
    report = timing.Report("quantized_checkpoints", arguments)
    rounds, threads = timing.rounds(arguments), arguments.threads[0]
    source = checkpoints.random_exports(arguments.geometry, arguments.cache).checkpoint
    for kind in arguments.kind:
        directory = write(kind, source, arguments.cache / f"bert-{arguments.geometry}-{kind}")
        load = functools.partial(fbg.load, directory, num_threads=threads)
        file = directory / "model.safetensors"
        case = {"kind": kind, "threads": threads, "what": "load"}
        field = [timing.Contestant("load", load), timing.Contestant("read", file.read_bytes)]
        found = report.race(case, functools.partial(list, field), rounds)
        print(
            f"{kind:10} {load().dtype}: load {found['load'].median * 1e3:.1f} ms, read "
            f"{found['read'].median * 1e3:.1f} ms ({file.stat().st_size / 1e6:.0f} MB): "
            f"{found['read'].speedup_over(found['load']):.2f} x",
            flush=True,
        )
        if not arguments.tokens:
            continue
        stored = load()
        # Layers that are floats in the file are so in both.
        layers = linears(stored.network).items()
        floats = {key: each.dtype for key, each in layers if each.dtype != stored.dtype}
        own = fbg.load(
            source,
            dtype=stored.dtype,
            smooth=False,
            higher_precision=floats,
            num_threads=threads,
        )
        for tokens in arguments.tokens:
            ids = checkpoints.random_ids(30000, tokens)
            field = [
                timing.Contestant(name, functools.partial(model.forward, ids))
                for name, model in (("stored", stored), ("own", own))
            ]
            case = {"kind": kind, "threads": threads, "tokens": tokens}
            found = report.race(case, functools.partial(list, field), rounds)
            print(
                f"{kind:10} {tokens:4} tokens: {found['stored'].median * 1e3:8.2f} ms, own "
                f"{found['own'].median * 1e3:8.2f} ms: "
                f"{found['stored'].speedup_over(found['own']):.3f} x",
                flush=True,
            )


if __name__ == "__main__":
    main()
