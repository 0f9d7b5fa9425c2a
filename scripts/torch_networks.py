"""Networks that export_networks.py builds and torchvision lacks, as modules of torch."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

# Output channels and stride of each pair of a depthwise and a pointwise convolution.
MOBILENET_V1_BLOCKS = (
    *((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)),
    *((512, 1),) * 5,
    *((1024, 2), (1024, 1)),
)
# Factor of the last norm of a residual branch. Where random branches add as much as what they are
# added to, a hundred layers amplify errors of rounding as no trained network does.
DAMPING = 0.1
STAGES = (3, 4, 23, 3)  # blocks of ResNeXt-101, of 256, 512, 1024 and 2048 channels


def mobilenet_v1() -> nn.Module:
    """Return MobileNet-V1 of width 1 (arXiv:1704.04861, table 1)."""

    def block(inputs: int, outputs: int, kernel: int, stride: int, groups: int) -> list[nn.Module]:
        conv = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)
        return [conv, nn.BatchNorm2d(outputs), nn.ReLU6()]

    layers = block(3, 32, 3, 2, 1)
    inputs = 32
    for outputs, stride in MOBILENET_V1_BLOCKS:
        layers += block(inputs, inputs, 3, stride, inputs) + block(inputs, outputs, 1, 1, 1)
        inputs = outputs
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 1000)]
    return nn.Sequential(*layers, *head)


def _conv3d(
    inputs: int,
    outputs: int,
    kernel: tuple[int, ...],
    stride: tuple[int, ...] = (1, 1, 1),
    groups: int = 1,
) -> nn.Sequential:
    padding = tuple(size // 2 for size in kernel)
    conv = nn.Conv3d(inputs, outputs, kernel, stride, padding, groups=groups, bias=False)
    return nn.Sequential(conv, nn.BatchNorm3d(outputs))


class Block3d(nn.Module):
    """A bottleneck of three convolutions, the middle one of 3x3x3 in groups."""

    def __init__(self, inputs: int, inner: int, outputs: int, stride: int, groups: int) -> None:
        super().__init__()
        strides = (stride,) * 3
        self.branch = nn.Sequential(
            *(_conv3d(inputs, inner, (1, 1, 1)), nn.ReLU()),
            *(_conv3d(inner, inner, (3, 3, 3), strides, groups), nn.ReLU()),
            last := _conv3d(inner, outputs, (1, 1, 1)),
        )
        nn.init.constant_(last[1].weight, DAMPING)
        same = inputs == outputs and stride == 1
        self.skip = nn.Identity() if same else _conv3d(inputs, outputs, (1, 1, 1), strides)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.relu(self.branch(x) + self.skip(x))


def resnext3d(groups: int | None = None, width: int = 64, stages: Any = STAGES) -> nn.Module:
    """Return ResNeXt3D-101, for clips of 3 channels.

    groups: of the 3x3x3 convolutions; None: of one channel each, as in the shapes that are
    published with FBGEMM. width: channels of those of the first stage.
    """
    layers = [
        *(_conv3d(3, 64, (3, 7, 7), (1, 2, 2)), nn.ReLU()),
        nn.MaxPool3d((1, 3, 3), (1, 2, 2), (0, 1, 1)),
    ]
    inputs = 64
    for stage, blocks in enumerate(stages):
        inner, outputs = width << stage, 256 << stage
        for n in range(blocks):
            stride = 2 if stage and not n else 1
            layers.append(Block3d(inputs, inner, outputs, stride, groups or inner))
            inputs = outputs
    head = [nn.AdaptiveAvgPool3d(1), nn.Flatten(), nn.Linear(inputs, 400)]
    return nn.Sequential(*layers, *head)


def damped(network: nn.Module) -> nn.Module:
    """Return a network whose blocks are those of torchvision's ResNet, after damping them."""
    for module in network.modules():
        if hasattr(module, "bn3"):
            nn.init.constant_(module.bn3.weight, DAMPING)
    return network


class Proposals(nn.Module):
    """What Faster-RCNN computes of a picture before it selects regions: the features of each level
    of its pyramid, scores of objects, and corrections of anchors.
    """

    def __init__(self, detector: Any) -> None:
        super().__init__()
        self.backbone, self.head = damped(detector.backbone), detector.rpn.head

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        features = list(self.backbone(x).values())
        scores, corrections = self.head(features)
        return (*features, *scores, *corrections)


class Boxes(nn.Module):
    """What Faster-RCNN computes of the features of regions: scores of classes, and boxes."""

    def __init__(self, detector: Any) -> None:
        super().__init__()
        self.head, self.predictor = detector.roi_heads.box_head, detector.roi_heads.box_predictor

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(self.predictor(self.head(x)))
