"""Write torchvision's networks with random weights as ONNX files, for bench/cnn.py.

    python scripts/export_networks.py DIRECTORY mobilenet_v2 resnet18 …

No trained weights are needed to measure speed. The statistics of BatchNorm are those of two random
batches, so that activations keep a sane range from layer to layer.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import torch

IMAGE = 224
INCEPTION_IMAGE = 299


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


def build(models: Any, name: str) -> tuple[Any, Any]:
    """Return a network in evaluation mode and an input."""
    torch.manual_seed(0)
    if name == "r2plus1d_18":
        network, batch = models.video.r2plus1d_18(), torch.randn(2, 3, 8, 112, 112)
    elif name == "inception_v3":
        network = models.inception_v3(weights=None, init_weights=True)
        batch = torch.randn(4, 3, INCEPTION_IMAGE, INCEPTION_IMAGE)
    else:
        network, batch = getattr(models, name)(weights=None), torch.randn(4, 3, IMAGE, IMAGE)
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
    parser.add_argument("names", nargs="+", help="as functions of torchvision.models")
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
