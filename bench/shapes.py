"""Benchmark shapes published with FBGEMM and oneDNN, and in the BERT inference literature.

M, N, K are GEMM dimensions. Facts only, written down from the public benchmark sources, with rows
that the originals repeat removed.
"""

from __future__ import annotations

# fmt: off
# --- GEMM: (M, N, K) -----------------------------------------------------------------------
# float in, float out, dynamic quantization; M is the batch
GEMM_FLOAT_IO = [
    (1, 128, 512), (1, 1024, 256), (1, 2048, 512), (1, 4096, 1024),
    (6, 256, 1024), (6, 256, 2048), (6, 512, 512), (6, 1024, 256), (6, 2048, 256),
    (6, 2048, 512), (6, 4096, 256), (6, 4096, 1024), (6, 4096, 2048),
    (10, 2048, 256), (10, 4096, 1024), (20, 2048, 256), (20, 4096, 1024),
    (102, 1024, 512), (102, 2323, 256), (102, 512, 256),
    (1, 800, 3200), (1, 800, 8000), (16, 256, 1500), (16, 256, 1567),
    (1, 128, 2876), (16, 128, 1567), (1, 128, 2722), (16, 256, 512),
]
# tall and very skinny (im2col of small-channel convolutions)
GEMM_SKINNY = [(156800, 4, 36), (156800, 8, 36), (156800, 16, 36)]
GEMM_SQUARE = [
    (64, 800, 320), (64, 768, 512), (16, 256, 512), (128, 128, 128), (256, 512, 256),
    (1024, 1024, 1024),
]
# 16-bit accumulation, compute bound; the originals use an outlier density of 0.001
GEMM_ACC16 = [
    (64, 68, 17), (60, 128, 64), (25088, 256, 64), (25088, 64, 64), (25088, 64, 576),
    (25088, 64, 256),
    (6272, 512, 256), (6272, 128, 256), (6272, 128, 1152), (6272, 512, 128), (6272, 128, 512),
    (1568, 1024, 512), (1568, 256, 512), (1568, 256, 2304), (1568, 1024, 256), (1568, 256, 1024),
    (392, 2048, 1024), (392, 512, 1024), (392, 512, 4608), (392, 2048, 512), (392, 512, 2048),
]
# fp32 / fp16 weights: every batch size from 1 to 119, so that no M falls off a cliff
GEMM_FP = [(m, 512, 512) for m in range(1, 120)]

# BERT linear layers (K, N) and the batch-1 token counts of the inference literature
BERT_KN = {
    "base": [(768, 768), (768, 3072), (3072, 768)],
    "large": [(1024, 1024), (1024, 4096), (4096, 1024)],
}
BERT_TOKENS = [1, 8, 64, 128, 384]


def _bert(size: str) -> list[tuple[int, int, int]]:
    return [(tokens, n, k) for k, n in BERT_KN[size] for tokens in BERT_TOKENS]


# --- oneDNN's benchdnn (tests/benchdnn/inputs/matmul and ip): rows, and (K, N) of layers -------
# BERT, BERT-large, RNN-T, GoogLeNet; DLRM and NCF; the decoder of a translator and Mask R-CNN's
# heads; Wide & Deep; Inception 3
ONEDNN_NETWORKS = {
    128: [
        (768, 2304), (768, 768), (768, 3072), (3072, 768),
        (1024, 3072), (1024, 1024), (1024, 4096), (4096, 1024),
        (240, 4096), (2048, 4096), (320, 1280), (2048, 1024), (1024, 1000),
    ],
    2048: [
        (13, 512), (512, 256), (256, 128), (479, 1024), (1024, 1024), (1024, 512), (256, 1),
        (256, 256), (128, 64), (128, 1),
    ],
    512: [(1024, 1024), (1024, 4096), (4096, 1024), (12544, 1024), (1024, 324), (1024, 81)],
    40: [(845, 1024), (1024, 512), (512, 256)],
    224: [(2048, 1000)],
}
# Stable Diffusion, without its products of activations
ONEDNN_DIFFUSION = {
    2: [(1280, 1280), (1280, 320), (1280, 640), (320, 1280)],
    77: [(1024, 1024), (1024, 4096), (4096, 1024)],
    154: [(1024, 1280), (1024, 320), (1024, 640)],
    288: [(1280, 10240), (1280, 1280), (5120, 1280)],
    1152: [(1280, 10240), (1280, 1280), (5120, 1280)],
    4608: [(2560, 640), (640, 5120), (640, 640)],
    18432: [(1280, 320), (320, 2560), (320, 320)],
}
# GPT-J with four beams: a token of each, and 32
ONEDNN_DECODER = {m: [(4096, 4096), (4096, 16384), (16384, 4096)] for m in (4, 128)}
# One head's two products of attention: BERT, BERT-large, a translator; tokens, then (K, N)
ONEDNN_HEADS = {m: [(64, m), (m, 64)] for m in (128, 384, 40)}


def _products(layers: dict[int, list[tuple[int, int]]]) -> list[tuple[int, int, int]]:
    return [(m, n, k) for m, sizes in layers.items() for k, n in sizes]


# What bench/gemm.py --set names
SETS = {
    "onednn_networks": _products(ONEDNN_NETWORKS),
    "onednn_diffusion": _products(ONEDNN_DIFFUSION),
    "onednn_decoder": _products(ONEDNN_DECODER),
    "onednn_heads": _products(ONEDNN_HEADS),
    "float_io": GEMM_FLOAT_IO,
    "square": GEMM_SQUARE,
    "skinny": GEMM_SKINNY,
    "acc16": GEMM_ACC16,
    "fp": GEMM_FP,
    "bert_base": _bert("base"),
    "bert_large": _bert("large"),
    "bert_blocks": [(m, n, k) for k, n in BERT_KN["base"] for m in (8, 64, 384, 1024)],
    "roofline": [(m, 768, 768) for m in (1, 2, 4, 6, 8, 16, 32, 64, 128, 256, 384)],
}

# --- Convolution -----------------------------------------------------------------------------
# MB, IC, OC, (H, W), groups, kernel, stride, pad
CONV_IM2COL = [
    (1, 3, 64, (224, 224), 1, 7, 2, 3), (1, 3, 64, (320, 320), 1, 7, 2, 3),
    (1, 3, 64, (320, 320), 1, 3, 2, 1),
] + [(1, c, c, (x, x), 32, 3, s, 1) for c, x, s in [
    (128, 56, 1), (256, 56, 2), (256, 28, 1), (512, 28, 2), (512, 14, 1), (1024, 14, 2),
    (1024, 7, 1)]]
# ResNeXt-101: IC, OC, H=W, groups, kernel, stride, pad
CONV_RESNEXT101 = [
    (3, 64, 224, 1, 7, 2, 3), (64, 128, 56, 1, 1, 1, 0), (128, 128, 56, 32, 3, 1, 1),
    (128, 256, 56, 1, 1, 1, 0),
    (64, 256, 56, 1, 1, 1, 0), (256, 128, 56, 1, 1, 1, 0), (256, 256, 56, 1, 1, 1, 0),
    (256, 256, 56, 32, 3, 2, 1),
    (256, 512, 28, 1, 1, 1, 0), (256, 512, 56, 1, 1, 2, 0), (512, 256, 28, 1, 1, 1, 0),
    (256, 256, 28, 32, 3, 1, 1),
    (512, 512, 28, 1, 1, 1, 0), (512, 512, 28, 32, 3, 2, 1), (512, 1024, 14, 1, 1, 1, 0),
    (512, 1024, 28, 1, 1, 2, 0),
    (1024, 512, 14, 1, 1, 1, 0), (512, 512, 14, 32, 3, 1, 1), (1024, 1024, 14, 1, 1, 1, 0),
    (1024, 1024, 14, 32, 3, 2, 1), (1024, 2048, 7, 1, 1, 1, 0), (1024, 2048, 14, 1, 1, 2, 0),
    (2048, 1024, 7, 1, 1, 1, 0), (1024, 1024, 7, 32, 3, 1, 1),
]
# depthwise: channels, multiplier, stride, kernel, (H, W)
CONV_DEPTHWISE = [
    (272, 1, 1, 3, (47, 125)), (544, 1, 1, 3, (24, 63)), (1088, 1, 1, 3, (7, 7)),
    (544, 1, 2, 3, (14, 14)),
    (248, 1, 2, 3, (93, 250)), (16, 1, 1, 3, (112, 112)), (96, 1, 2, 3, (112, 112)),
    (192, 1, 1, 3, (28, 28)),
    (96, 1, 1, 5, (28, 28)), (144, 1, 2, 5, (56, 56)), (336, 1, 1, 5, (14, 14)),
    (1104, 1, 1, 5, (7, 7)),
    (144, 1, 1, 3, (56, 56)), (576, 1, 1, 3, (50, 50)), (128, 2, 1, 3, (32, 100)),
]
# depthwise 3-D: MB, channels, (T, H, W), stride; 3x3x3
CONV_DEPTHWISE_3D = [(1, c, (t, h, h), s) for c, t, h, s in [
    (64, 32, 56, 1), (128, 16, 28, 1), (256, 8, 14, 1), (512, 4, 7, 1), (128, 32, 56, 2),
    (256, 16, 28, 2)]]
# groupwise: MB, channels, (H, W), stride; 3x3, pad 1, 32 groups
CONV_GROUPWISE = [(1, c, (x, x), s) for c, x, s in [
    (64, 56, 1), (64, 28, 1), (128, 56, 1), (128, 56, 2), (128, 28, 1), (128, 14, 1),
    (256, 28, 1), (256, 28, 2),
    (256, 14, 1), (256, 7, 1), (512, 14, 1), (1024, 14, 2), (1024, 7, 1)]]
# oneDNN's benchdnn, inputs/conv/shapes_perf_basic, one image, without what takes seconds: IC, OC,
# size, groups, kernel, stride, pad. ResNet-50, MobileNet, Stable Diffusion, 3-D U-Net
CONV_ONEDNN = [
    (3, 64, (224, 224), 1, 7, 2, 3), (64, 64, (56, 56), 1, 3, 1, 1),
    (512, 128, (28, 28), 1, 1, 1, 0), (256, 1024, (14, 14), 1, 1, 1, 0),
    (256, 256, (28, 28), 1, 1, 1, 0), (512, 512, (14, 14), 1, 1, 1, 0),
    (128, 128, (56, 56), 128, 3, 1, 1), (512, 512, (14, 14), 512, 3, 1, 1),
    (1920, 1280, (24, 24), 1, 1, 1, 0), (960, 320, (96, 96), 1, 1, 1, 0),
    (128, 128, (28, 30, 30), 1, 3, 1, 0), (256, 512, (10, 11, 11), 1, 3, 1, 0),
]
