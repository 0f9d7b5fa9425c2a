"""The settings of pictures: their patches, and how they are prepared."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from fbg.arrays import Floats

HALF = (0.5, 0.5, 0.5)


@dataclass(frozen=True)
class PictureInput:
    """How a picture becomes the input of a tower; the defaults are ViT's.

    resize: height and width, or the short side, or None. resample: the filter. crop: height and
    width of the middle that is kept, or None. A pixel p becomes (p * scale - mean) / std.
    """

    resize: tuple[int, int] | int | None = (224, 224)
    resample: str = "bilinear"
    crop: tuple[int, int] | None = None
    scale: float = 1 / 255
    mean: tuple[float, ...] = HALF
    std: tuple[float, ...] = HALF

    @property
    def size(self) -> tuple[int, int] | None:
        """Height and width of the input; None where they follow from the picture."""
        return self.crop or (self.resize if isinstance(self.resize, tuple) else None)


@dataclass(frozen=True)
class PictureConfig:
    """What a tower reads: patches of pictures of one size, row by row, behind some other tokens.

    channels: of a picture. patch, size: height and width. positions: of the checkpoint's table, in
    rows and columns of patches; antialias: whether they are averaged where it is larger than
    the picture. leading: tokens before the patches that have positions. registers: tokens behind
    those, without. input: how a picture is prepared; None: no file says it.
    """

    channels: int
    patch: tuple[int, int]
    size: tuple[int, int]
    positions: tuple[int, int]
    antialias: bool
    leading: int
    registers: int
    input: PictureInput | None

    @property
    def grid(self) -> tuple[int, int]:
        """Rows and columns of patches."""
        return self.size[0] // self.patch[0], self.size[1] // self.patch[1]

    @property
    def tokens(self) -> int:
        return self.leading + self.registers + self.grid[0] * self.grid[1]

    def rows(self, pixels: Floats) -> Floats:
        """Return the patches of pictures (n, channels, height, width): (n, tokens, columns), with
        zeros for tokens that are no patches. Pixels beyond the last whole patch are left out.
        """
        (high, wide), (height, width) = self.grid, self.patch
        whole = pixels[..., : high * height, : wide * width]
        split = whole.reshape(-1, self.channels, high, height, wide, width)
        rows = np.zeros((len(pixels), self.tokens, self.columns), np.float32)
        patches = split.transpose(0, 2, 4, 1, 3, 5).reshape(len(pixels), high * wide, self.columns)
        rows[:, self.leading + self.registers :] = patches
        return rows

    @property
    def columns(self) -> int:
        """Numbers of a patch."""
        return self.channels * self.patch[0] * self.patch[1]
