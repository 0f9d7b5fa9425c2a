"""Modules of PyTorch, exported to ONNX files, as PyTorch computes them.

Drawn are the module with its arguments, the shape of its input and the operator set. Where an
export does not compute what the module does, which onnxruntime confirms, fbg follows the file.
"""

from __future__ import annotations

import io
import logging

import numpy as np
import onnx

from fbg.importers.net import Net
from fbg.importers.onnx.read import read_model
from helpers.onnx_models import plain_onnxruntime
from helpers.random_cases import Different, Kind

OPSETS = (11, 12, 13, 14, 15, 16, 17, 18, 19, 20)


class Case:
    """Draws from one source of random numbers. torch: the package, which not everybody has."""

    def __init__(self, random):
        import torch

        self.torch, self.nn, self.random = torch, torch.nn, random
        self.axes = random.choice((1, 2, 2, 2, 3))
        self.channels = random.randint(1, 6)
        torch.manual_seed(random.getrandbits(32))

    def each(self, low, high):
        """Return a number for all spatial axes, or one for each."""
        numbers = tuple(self.random.randint(low, high) for _ in range(self.axes))
        return self.random.choice((numbers, numbers[0]))

    def flag(self):
        return self.random.random() < 0.5

    def layer(self, name, *given, **options):
        return getattr(self.nn, f"{name}{self.axes}d")(*given, **options)

    def image(self, least=3):
        sizes = [self.random.randint(least, 12) for _ in range(self.axes)]
        return self.torch.randn(self.random.randint(1, 2), self.channels, *sizes)

    def function(self, call):
        class Module(self.nn.Module):
            def forward(self, x):
                return call(x)

        return Module()


def pooling(c):
    kernel = c.random.randint(1, 4)
    padding = c.random.randint(0, kernel // 2)
    options = {"stride": c.each(1, 4), "padding": padding, "ceil_mode": c.flag()}
    kind = c.random.choice(("Max", "Max", "Avg", "Lp", "Adaptive"))
    if kind == "Max":
        return c.layer("MaxPool", kernel, dilation=c.random.randint(1, 2), **options)
    if kind == "Avg":
        return c.layer("AvgPool", kernel, count_include_pad=c.flag(), **options)
    if kind == "Lp" and c.axes < 3:
        return c.layer("LPPool", 2, kernel, stride=options["stride"])
    return c.layer(c.random.choice(("AdaptiveAvgPool", "AdaptiveMaxPool")), 1)


def upsampling(c):
    modes = ("nearest", {1: "linear", 2: "bilinear", 3: "trilinear"}[c.axes])
    mode = c.random.choice((*modes, "bicubic") if c.axes == 2 else modes)
    options = {"mode": mode}
    if mode != "nearest":
        options["align_corners"] = c.random.choice((None, False, True))
    if c.random.random() < 0.3:
        return c.nn.Upsample(size=c.each(1, 20), **options)
    factors = tuple(round(c.random.uniform(0.3, 3.2), 2) for _ in range(c.axes))
    simple = c.random.choice((0.5, 1.5, 2.0, 3.0))
    return c.nn.Upsample(scale_factor=c.random.choice((factors, factors[0], simple)), **options)


def convolution(c):
    groups = c.random.choice((1, c.channels))
    outer = groups * c.random.randint(1, 3)
    options = {
        "stride": c.each(1, 3),
        "padding": c.each(0, 2),
        "dilation": c.each(1, 2),
        "groups": groups,
        "bias": c.flag(),
    }
    if c.flag():
        options["padding_mode"] = c.random.choice(("zeros", "reflect", "replicate", "circular"))
    return c.layer("Conv", c.channels, outer, c.each(1, 3), **options)


def transposed(c):
    groups = c.random.choice((1, c.channels))
    stride = c.random.randint(1, 3)
    return c.layer(
        "ConvTranspose",
        c.channels,
        groups * c.random.randint(1, 3),
        c.each(1, 4),
        stride=stride,
        padding=c.each(0, 1),
        output_padding=c.random.randint(0, stride - 1),
        dilation=c.random.randint(1, 2),
        groups=groups,
        bias=c.flag(),
    )


def padding(c):
    mode = c.random.choice(("constant", "constant", "reflect", "replicate", "circular"))
    low = -1 if mode == "constant" else 0
    pads = [c.random.randint(low, 2) for _ in range(2 * c.axes)]
    value = c.random.choice((0.0, 1.5)) if mode == "constant" else None
    return c.function(lambda x: c.nn.functional.pad(x, pads, mode, value))


def norms(c):
    kind = c.random.choice(("BatchNorm", "InstanceNorm", "group", "last"))
    if kind == "group":
        return c.nn.GroupNorm(1, c.channels, affine=c.flag())
    if kind == "last":
        return c.function(lambda x: c.nn.functional.layer_norm(x, x.shape[-1:]))
    return c.layer(kind, c.channels, affine=c.flag())


def activation(c):
    names = "ReLU GELU SiLU Mish ELU CELU SELU Hardswish Hardsigmoid LeakyReLU Softplus ReLU6 PReLU"
    more = "Tanh Sigmoid LogSigmoid Softsign Hardtanh Softshrink Hardshrink Softmax LogSoftmax"
    name = c.random.choice((names + " " + more).split())
    given = {"Softmax": (1,), "LogSoftmax": (-1,)}.get(name, ())
    return getattr(c.nn, name)(*given)


def reduction(c):
    name = c.random.choice(("mean", "sum", "amax", "amin", "var", "logsumexp", "norm"))
    rank = c.axes + 2
    dim = c.random.sample(range(-rank, 0), c.random.randint(1, rank))
    keep = c.flag()
    if name == "norm":
        return c.function(lambda x: c.torch.linalg.vector_norm(x, dim=dim, keepdim=keep))
    return c.function(lambda x: getattr(x, name)(dim=dim, keepdim=keep))


def indexing(c):
    start, stop, step = c.random.randint(-4, 3), c.random.randint(-2, 9), c.random.randint(1, 3)
    dim = c.random.randint(-1, c.axes + 1)
    torch = c.torch
    calls = (
        lambda x: x[..., start:stop:step],
        lambda x: x[:, :, -1],
        lambda x: x[:, :1, start:].flatten(1),
        lambda x: x.flip(dim),
        lambda x: x.roll(step, dim),
        lambda x: x.transpose(0, dim).unsqueeze(dim).squeeze(0),
        lambda x: torch.stack([x, x * 2], dim),
        lambda x: torch.cat([x, x[..., :1]], -1).chunk(2, -1)[0],
        lambda x: x.repeat(*[step] * x.ndim),
        lambda x: x.index_select(-1, torch.tensor([0, 2, 1])),
        lambda x: x.reshape(x.shape[0], -1).cumsum(1),
        lambda x: x.clamp(-0.5, 0.7) + x.mean(),
        lambda x: torch.where(x > 0, x, x * 0.1),
        lambda x: x.unfold(-1, 2, step),
    )
    return c.function(c.random.choice(calls))


MODULES = (
    *(pooling, pooling, upsampling, upsampling, convolution, transposed, padding, norms),
    *(activation, reduction, indexing),
)


def exported(c, module, x, version):
    file = io.BytesIO()
    names = {"input_names": ["x"], "output_names": ["y"]}
    c.torch.onnx.export(module, (x,), file, dynamo=False, opset_version=version, **names)
    return onnx.load_from_string(file.getvalue())


def near(got, wanted):
    scale = float(np.abs(wanted[np.isfinite(wanted)]).max(initial=0)) + 0.1
    alike = got.shape == wanted.shape and got.dtype == wanted.dtype
    return alike and bool(np.allclose(got, wanted, 1e-4, 1e-4 * scale, equal_nan=True))


def run(random):
    """Compare one module."""
    c = Case(random)
    version = random.choice(OPSETS)
    logging.disable(logging.WARNING)
    try:
        module = random.choice(MODULES)(c).eval()
        x = c.image()
        with c.torch.no_grad():
            wanted = module(x).numpy()
            model = exported(c, module, x, version)
    except (RuntimeError, ValueError, TypeError, IndexError):
        return "not exported"  # arguments that do not fit, or what no operator set can say
    finally:
        logging.disable(logging.NOTSET)
    what = f"{module} of {tuple(x.shape)}, opset {version}"
    try:
        got = Net(read_model(model, "export", None), num_threads=1).run({"x": x.numpy()})["y"]
    except Exception as error:
        raise Different(f"{what}: {type(error).__name__}: {error}") from error
    if near(got, wanted):
        return "same"
    (other,) = plain_onnxruntime(model, {"x": x.numpy()})
    if near(got, other):
        return "as the file says"
    results = {"got": got, "PyTorch": wanted, "onnxruntime": other}
    texts = [f"{name} {y.shape} {y.ravel()[:8].tolist()}" for name, y in results.items()]
    raise Different(f"{what}: {'; '.join(texts)}")


KIND = Kind("differential.torch_export", run, cases=15, seconds=60, needs="torch")
