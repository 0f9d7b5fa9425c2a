"""Random operands, and the shapes around every edge of the kernels."""

import numpy as np

# Around every tile height, tile width, k-group and unrolled loop.
ROWS = (*range(1, 15), 24, 25)
COLUMNS = (1, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129)
DEPTHS = (*range(1, 10), 31, 32, 33, 63, 64, 65, 255, 256, 257)


def random_array(rng, dtype, *shape):
    """All values of an integer dtype alike; floats of a normal distribution."""
    if np.issubdtype(dtype, np.integer):
        limits = np.iinfo(np.dtype(dtype))
        return rng.integers(limits.min, limits.max, shape, dtype=dtype, endpoint=True)
    return rng.standard_normal(shape, dtype=np.float32).astype(dtype)


def random_u8(rng, *shape):
    return random_array(rng, np.uint8, *shape)


def random_s8(rng, *shape):
    return random_array(rng, np.int8, *shape)


def random_f32(rng, *shape):
    return random_array(rng, np.float32, *shape)


def read_only(a):
    a = a.copy()
    a.flags.writeable = False
    return a
