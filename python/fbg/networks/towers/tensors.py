"""The tensors of towers for pictures: embeddings of patches, places of patches, pooling.

A patch is a row of pixels, and a linear layer embeds it. What stands before the patches has a row
of zeros instead; its embedding, its place and the bias of the layer are in one table:

    x_t = w p_t + table[t]
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from fbg.arrays import Doubles, Floats
from fbg.checkpoints.checkpoint import Named
from fbg.checkpoints.kernel_tensor import Part, Patches, Scaled
from fbg.graph.linear import Linear
from fbg.networks.config import EncoderConfig
from fbg.networks.names import Names
from fbg.networks.source import Source
from fbg.networks.towers.attention_pool import AttentionPool, Probe
from fbg.networks.transformer import Embeddings


def read_picture_embeddings(source: Source, config: EncoderConfig, names: Names) -> Embeddings:
    """Read the embeddings of a tower without their norm; raises ModelError."""
    picture, width = config.picture, config.hidden_size
    assert picture is not None and names.patches is not None
    kernel = Patches(names.patches, picture.channels, *picture.patch)
    patches = source.linear(
        f"{config.scope}embeddings.patches", [kernel], picture.columns, width, bias=False
    )
    table = f"{config.scope}embeddings.word"
    if source.is_checkpoint:
        return Embeddings(word=_table(source, config, names), patches=patches)
    return Embeddings(word=source.floats(table, "", picture.tokens, width), patches=patches)


def _table(source: Source, config: EncoderConfig, names: Names) -> Floats:
    """Return the table of a checkpoint, (tokens, width)."""
    picture, width = config.picture, config.hidden_size
    assert picture is not None and names.position is not None
    high, wide = picture.positions
    # Tables of an Embedding are matrices, parameters have an axis more.
    shape: tuple[int, ...] = (picture.leading + high * wide, width)
    if not names.position.endswith(".weight"):
        shape = (1, *shape)
    stored = source.floats("", names.position, *shape).reshape(-1, width)
    places = resized_places(
        stored[picture.leading :].reshape(high, wide, width), picture.grid, picture.antialias
    )
    before = np.zeros((0, width), np.float32)
    if names.leading:
        shapes: list[tuple[int, ...]] = [
            (1, n, width) for n in (picture.leading, picture.registers) if n
        ]
        if names.leading[0].endswith("class_embedding"):
            shapes = [(width,)]
        tokens = [
            source.floats("", name, *shape)
            for name, shape in zip(names.leading, shapes, strict=True)
        ]
        before = np.concatenate([token.reshape(-1, width) for token in tokens])
        before[: picture.leading] += stored[: picture.leading]
    if "patches" in config.biases:
        places = places + source.floats("", f"{names.patches}.bias", width)
    return np.ascontiguousarray(np.concatenate([before, places.reshape(-1, width)]), np.float32)


def resized_places(table: Floats, grid: tuple[int, int], antialias: bool) -> Floats:
    """Return a table of places, (rows, columns, width), for another grid by bicubic interpolation
    as torch.nn.functional.interpolate has it, without aligned corners.
    """
    if table.shape[:2] == grid:
        return table
    down, across = (
        bicubic_weights(old, new, antialias) for old, new in zip(table.shape[:2], grid, strict=True)
    )
    resized: Floats = np.einsum("ai,bj,ijw->abw", down, across, table, optimize=True)
    return resized.astype(np.float32)


def bicubic_weights(old: int, new: int, antialias: bool) -> Doubles:
    """Return (new, old): what each new element takes of the old ones (Keys, 1981,
    doi:10.1109/TASSP.1981.1163711), with the constants of torch.

    antialias: the filter becomes wider where there are fewer new elements.
    """
    scale = old / new
    stretch, a = (max(scale, 1.0), -0.5) if antialias else (1.0, -0.75)
    weights = np.zeros((new, old))
    for n in range(new):
        center = scale * (n + 0.5) - 0.5
        reach = int(np.ceil(2 * stretch)) + 1
        places = np.arange(int(np.floor(center)) - reach, int(np.floor(center)) + reach + 1)
        x = np.abs(places - center) / stretch
        near = ((a + 2) * x - (a + 3)) * x * x + 1
        far = ((x - 5) * x + 8) * x * a - 4 * a
        values = np.where(x <= 1, near, np.where(x < 2, far, 0))
        inside = (places >= 0) & (places < old)
        if antialias:  # what is beyond the border does not count
            places, values = places[inside], values[inside] / values[inside].sum()
        np.add.at(weights[n], np.clip(places, 0, old - 1), values)
    return weights


def read_attention_pool(source: Source, config: EncoderConfig, name: str) -> AttentionPool:
    """Read the pooling of SigLIP; raises ModelError."""
    width, wide, field = (
        config.hidden_size,
        config.intermediate_size,
        f"{config.scope}attention_pool",
    )
    projection = f"{name}.attention.in_proj"
    # Nothing of a token is in the query.
    parts: list[Named] = [
        Scaled(Part(projection, 0, 3), 0.0),
        *(Part(projection, n, 3) for n in (1, 2)),
    ]
    qkv = source.linear(f"{field}.probe.qkv", parts, width, [width] * 3, bias=False)
    if source.is_checkpoint:
        probe = source.floats("", f"{name}.probe", 1, 1, width).reshape(width)
        bias = source.floats("", f"{projection}.bias", 3 * width)
        matrix = source.floats("", f"{projection}.weight", 3 * width, width)[:width]
        bias[:width] += matrix @ probe
    else:
        bias = source.floats(f"{qkv.name}.bias", "", 3 * width)

    def linear(part: str, layer: str, inputs: int, outputs: int) -> Linear:
        return source.linear(
            f"{field}.{part}", [f"{name}.{layer}"], inputs, outputs, dtype="float32"
        )

    return AttentionPool(
        Probe(replace(qkv, bias=bias)),
        linear("output", "attention.out_proj", width, width),
        source.norm(f"{field}.norm", f"{name}.layernorm", width, config.norm_eps),
        linear("intermediate", "mlp.fc1", width, wide),
        linear("last", "mlp.fc2", wide, width),
        config.activation,
    )


def read_logits(source: Source) -> Floats:
    """Return what turns cosines of texts and pictures into logits: the logarithm of a factor, and
    what is added, which is 0 if the model has no such tensor.
    """
    if not source.is_checkpoint:
        return source.floats("logits", "", 2)
    numbers = np.zeros(2, np.float32)
    for n, name in enumerate(("logit_scale", "logit_bias")):
        # A number, or an array that holds one.
        if n == 0 or source.rows("", name) is not None:
            shape = () if source.rows("", name) is None else (1,)
            numbers[n] = source.floats("", name, *shape).reshape(())
    return numbers
