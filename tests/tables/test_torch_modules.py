"""Tables of PyTorch's embedding bags, from stand-ins that have what is read of the modules.

The integers, scales and zero points are those that torch.ao.nn.quantized.EmbeddingBag returns.
"""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

import fbg
from helpers.embedding_bags import F32, look_up

TABLE = np.random.default_rng(0).standard_normal((9, 6)).astype(F32)
INDICES = np.array([[0, 8, 3], [8, 8, 1]])


class Tensor:
    """What is used of a tensor."""

    def __init__(self, array, dtype="torch.float32"):
        self.array, self.dtype = array, dtype

    def detach(self):
        return self

    def cpu(self):
        return self

    def numpy(self):
        return self.array


def module(**fields):
    settings = {
        "embedding_dim": 6,
        "num_embeddings": 9,
        "mode": "mean",
        "include_last_offset": False,
    }
    plain = {"weight": Tensor(TABLE), "max_norm": None, "padding_idx": None}
    return SimpleNamespace(**{**settings, **plain, **fields})


def quantized(data, dtype, **fields):
    scale, points = np.linspace(0.1, 0.9, 9), np.linspace(-3, 100, 9).astype(F32)
    weight = SimpleNamespace(
        dtype=dtype,
        q_per_channel_scales=lambda: Tensor(scale.astype(F32)),
        q_per_channel_zero_points=lambda: Tensor(points),
        int_repr=lambda: Tensor(data),
    )
    return module(weight=lambda: weight, _packed_params=None, mode="sum", **fields)


def test_floats_and_settings_are_taken_over():
    bag = fbg.EmbeddingBag.from_torch(module(padding_idx=8))
    assert (bag.mode, bag.padding_idx, bag.include_last_offset) == ("mean", 8, False)
    expected = look_up(TABLE, INDICES.tolist(), "mean", padding=8)
    assert bag(INDICES).tobytes() == expected.tobytes()
    assert fbg.EmbeddingBag.from_torch(module(include_last_offset=True)).include_last_offset
    assert fbg.EmbeddingBag.from_torch(module(), "int4").dtype == "int4"


@pytest.mark.parametrize(("dtype", "bits"), [("torch.quint8", 8), ("torch.quint4x2", 4)])
def test_quantized_modules_keep_their_integers(dtype, bits):
    q = np.random.default_rng(bits).integers(0, 2**bits, (9, 6)).astype(np.uint8)
    data = q if bits == 8 else (q[:, ::2] | q[:, 1::2] << 4).reshape(-1)
    bag = fbg.EmbeddingBag.from_torch(quantized(data, dtype))
    assert (bag.dtype, bag.mode, bag.shape) == (f"int{bits}", "sum", (9, 6))
    scale_dtype = F32 if bits == 8 else np.float16
    scale = np.linspace(0.1, 0.9, 9).astype(F32)
    bias = np.linspace(-3, 100, 9).astype(F32) * scale * F32(-1)
    held = (q.astype(F32), *(v.astype(scale_dtype).astype(F32) for v in (scale, bias)))
    assert bag(INDICES).tobytes() == look_up(held, INDICES.tolist()).tobytes()


def test_an_embedding_looks_up_its_padding_too():
    embedding = module(padding_idx=8)
    del embedding.mode, embedding.include_last_offset
    bag = fbg.EmbeddingBag.from_torch(embedding)
    assert (bag.mode, bag.padding_idx) == ("sum", None)
    assert bag(INDICES.reshape(-1, 1)).tobytes() == TABLE[INDICES.reshape(-1)].tobytes()


def test_what_is_refused():
    with pytest.raises(
        TypeError, match="from_torch: module must be an EmbeddingBag or an Embedding, got"
    ):
        fbg.EmbeddingBag.from_torch(TABLE)
    with pytest.raises(ValueError, match=r"from_torch: module must have no max_norm, got 1\.0"):
        fbg.EmbeddingBag.from_torch(module(max_norm=1.0))
    pruned = quantized(TABLE, "torch.quint8", pruned_weights=True)
    with pytest.raises(ValueError, match="from_torch: module must not be pruned"):
        fbg.EmbeddingBag.from_torch(pruned)
