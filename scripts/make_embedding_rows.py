"""Write tests/data/embedding_rows.npz: rows and sums of PyTorch's quantized embedding bags, and
tests/data/pruned_embedding_rows.npz: sums of the same rows, of which a mapping prunes some.

python scripts/make_embedding_rows.py                       (needs torch; 2.13.0 made the file)
"""

from pathlib import Path

import numpy as np
import torch

DATA = Path(__file__).parents[1] / "tests" / "data"
NAMES = {"int8": "byte", "int4": "4bit", "int2": "2bit"}


def main() -> None:
    """Draw a table and bags, and keep what torch makes of them."""
    random = torch.Generator().manual_seed(0)
    table = torch.randn(40, 76, generator=random) * 3
    table[0], table[1, :40], table[2] = 2.5, 0, table[2] * 1e-6
    indices = torch.randint(0, 40, (300,), generator=random)
    offsets = torch.tensor([0, 0, 1, 60, 61, 61, 200])
    weights = torch.randn(300, generator=random)
    arrays = {"table": table, "indices": indices, "offsets": offsets, "weights": weights}
    for dtype, name in NAMES.items():
        rows = getattr(torch.ops.quantized, f"embedding_bag_{name}_prepack")(table)
        look_up = getattr(torch.ops.quantized, f"embedding_bag_{name}_rowwise_offsets")
        arrays[f"{dtype}_rows"] = rows
        unpack = getattr(torch.ops.quantized, f"embedding_bag_{name}_unpack")
        arrays[f"{dtype}_floats"] = unpack(rows)
        for key, factors in (("sums", None), ("weighted", weights)):
            result = look_up(rows, indices, offsets, False, 0, False, factors, None, False)
            arrays[f"{dtype}_{key}"] = result
    mapping = torch.randperm(40, generator=random).int()
    mapping[mapping % 3 == 0] = -1
    pruned = {"mapping": mapping}
    for dtype, name in NAMES.items():
        look_up = getattr(torch.ops.quantized, f"embedding_bag_{name}_rowwise_offsets")
        for key, factors in (("sums", None), ("weighted", weights)):
            given = (False, 0, True, factors, mapping, False)
            pruned[f"{dtype}_{key}"] = look_up(arrays[f"{dtype}_rows"], indices, offsets, *given)
    for file, kept in (("embedding_rows", arrays), ("pruned_embedding_rows", pruned)):
        np.savez_compressed(DATA / file, **{key: value.numpy() for key, value in kept.items()})


if __name__ == "__main__":
    main()
