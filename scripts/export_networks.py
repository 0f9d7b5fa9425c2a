"""Write random networks of torchvision, and MobileNet-V1, as ONNX files, for bench/cnn.py.

    python scripts/export_networks.py DIRECTORY mobilenet_v1 mobilenet_v2 resnet18 …

Weights are random: none that are trained are needed to measure speed. The statistics of BatchNorm
are those of two random batches, so that activations keep a sane range from layer to layer.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import torch

IMAGE = 224
INCEPTION_IMAGE = 299
# Output channels and stride of each pair of a depthwise and a pointwise convolution.
MOBILENET_V1_BLOCKS = (
    *((64, 1), (128, 2), (128, 1), (256, 2), (256, 1), (512, 2)),
    *((512, 1),) * 5,
    *((1024, 2), (1024, 1)),
)


def torchvision_models() -> Any:
    """Import torchvision.models; its operators may not fit a torch built for CPUs alone."""
    register = torch.library.register_fake

    def tolerant(op: Any, *arguments: Any, **options: Any) -> Any:
        if isinstance(op, str) and op.startswith("torchvision::"):
            return lambda function: function
        return register(op, *arguments, **options)

    torch.library.register_fake = tolerant
    try:
        import torchvision.models
    finally:
        torch.library.register_fake = register
    return torchvision.models


def mobilenet_v1() -> torch.nn.Module:
    """Return MobileNet-V1 of width 1 (arXiv:1704.04861, table 1), which torchvision lacks."""
    nn = torch.nn

    def block(inputs: int, outputs: int, kernel: int, stride: int, groups: int) -> list[Any]:
        conv = nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False)
        return [conv, nn.BatchNorm2d(outputs), nn.ReLU6()]

    layers = block(3, 32, 3, 2, 1)
    inputs = 32
    for outputs, stride in MOBILENET_V1_BLOCKS:
        layers += block(inputs, inputs, 3, stride, inputs) + block(inputs, outputs, 1, 1, 1)
        inputs = outputs
    head = [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, 1000)]
    return nn.Sequential(*layers, *head)


def build(models: Any, name: str) -> tuple[Any, Any]:
    """Return a network in evaluation mode and an input."""
    torch.manual_seed(0)
    if name == "r2plus1d_18":
        network, batch = models.video.r2plus1d_18(), torch.randn(2, 3, 8, 112, 112)
    elif name == "mobilenet_v1":
        network, batch = mobilenet_v1(), torch.randn(4, 3, IMAGE, IMAGE)
    elif name == "inception_v3":
        network = models.inception_v3(weights=None, init_weights=True)
        batch = torch.randn(4, 3, INCEPTION_IMAGE, INCEPTION_IMAGE)
    else:
        network, batch = getattr(models, name)(weights=None), torch.randn(4, 3, IMAGE, IMAGE)
    if name.startswith("vit_"):  # whose head is zero at first, and so would be all results
        torch.nn.init.normal_(network.heads.head.weight, std=0.02)
    for module in network.modules():
        if isinstance(module, torch.nn.modules.batchnorm._BatchNorm):
            module.momentum = None  # the mean over all batches
    network.train()
    with torch.no_grad():
        network(batch)
        network(batch)
    return network.eval(), batch[:1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("names", nargs="+", help="mobilenet_v1, or functions of torchvision.models")
    arguments = parser.parse_args()
    models = torchvision_models()
    arguments.directory.mkdir(parents=True, exist_ok=True)
    for name in arguments.names:
        network, x = build(models, name)
        path = arguments.directory / f"{name}.onnx"
        torch.onnx.export(
            network,
            x,
            str(path),
            opset_version=17,
            dynamo=False,
            input_names=["x"],
            output_names=["y"],
        )
        print(path)


if __name__ == "__main__":
    main()
