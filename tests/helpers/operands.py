"""Random operands, and the shapes around every edge of the kernels."""

import numpy as np

from helpers.formulas import Array

# Around every tile height, tile width, k-group and unrolled loop.
ROWS = (*range(1, 15), 24, 25)
COLUMNS = (1, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129)
DEPTHS = (*range(1, 10), 31, 32, 33, 63, 64, 65, 255, 256, 257)


def random_u8(rng: np.random.Generator, *shape: int) -> Array:
    return rng.integers(0, 256, shape, dtype=np.uint8)


def random_s8(rng: np.random.Generator, *shape: int) -> Array:
    return rng.integers(-128, 128, shape, dtype=np.int8)


def random_f32(rng: np.random.Generator, *shape: int) -> Array:
    return rng.standard_normal(shape, dtype=np.float32)


def read_only(a: Array) -> Array:
    a = a.copy()
    a.flags.writeable = False
    return a
