"""Write random networks of torchvision and torch_networks.py as ONNX files, for bench/networks.py.

    python scripts/export_networks.py DIRECTORY mobilenet_v1 mobilenet_v2 resnet18 …

Weights are random: none that are trained are needed to measure speed. The statistics of BatchNorm
are those of two random batches, so that activations keep a sane range from layer to layer.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import torch
import torch_networks

IMAGE, DETECTED = 224, 320
INCEPTION_IMAGE = 299
REGIONS = 256
CLIP = (2, 3, 8, 112, 112)


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


def given(models: Any, name: str) -> tuple[Any, Any]:
    """Return a network and a batch of inputs."""
    if name == "r2plus1d_18":
        return models.video.r2plus1d_18(), torch.randn(*CLIP)
    if name.startswith("resnext3d_101"):
        grouped = {"groups": 32, "width": 128} if name.endswith("_32x4d") else {}
        return torch_networks.resnext3d(**grouped), torch.randn(*CLIP)
    if name.startswith("faster_rcnn_"):
        fasterrcnn = models.detection.fasterrcnn_resnet50_fpn
        detector = fasterrcnn(weights=None, weights_backbone=None)
        if name == "faster_rcnn_boxes":
            return torch_networks.Boxes(detector), torch.randn(REGIONS, 256, 7, 7)
        return torch_networks.Proposals(detector), torch.randn(2, 3, DETECTED, DETECTED)
    images = torch.randn(4, 3, IMAGE, IMAGE)
    if name == "mobilenet_v1":
        return torch_networks.mobilenet_v1(), images
    if name == "resnext101_32x4d":
        block = models.resnet.Bottleneck
        network = models.ResNet(block, torch_networks.STAGES, groups=32, width_per_group=4)
        return torch_networks.damped(network), images
    if name == "inception_v3":
        images = torch.randn(4, 3, INCEPTION_IMAGE, INCEPTION_IMAGE)
        return models.inception_v3(weights=None, init_weights=True), images
    return getattr(models, name)(weights=None), images


def build(models: Any, name: str) -> tuple[Any, Any]:
    """Return a network in evaluation mode and an input."""
    torch.manual_seed(0)
    network, batch = given(models, name)
    if name.startswith("vit_"):  # whose head is zero at first, and so would be all results
        torch.nn.init.normal_(network.heads.head.weight, std=0.02)
    for module in network.modules():
        if isinstance(module, torch.nn.modules.batchnorm._BatchNorm):
            module.momentum = None  # the mean over all batches
    network.train()
    with torch.no_grad():
        network(batch)
        network(batch)
    return network.eval(), batch if name == "faster_rcnn_boxes" else batch[:1]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("names", nargs="+", help="as in given(), or in torchvision.models")
    arguments = parser.parse_args()
    models = torchvision_models()
    arguments.directory.mkdir(parents=True, exist_ok=True)
    for name in arguments.names:
        network, x = build(models, name)
        path = arguments.directory / f"{name}.onnx"
        outputs = [f"y{n}" for n in range(len(y))] if isinstance(y := network(x), tuple) else ["y"]
        torch.onnx.export(
            network,
            x,
            str(path),
            opset_version=17,
            dynamo=False,
            input_names=["x"],
            output_names=outputs,
        )
        print(path)


if __name__ == "__main__":
    main()
