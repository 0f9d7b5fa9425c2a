"""Write tests/data/torch_save.bin: a small file of torch.save, as a checkpoint's weights are.

Needs torch, in any environment of its own (tests never need it, they read the file):

    pip install torch==2.13.0
    python scripts/make_torch_file.py

Every kind of number, a parameter, a transposed tensor, two views of one storage, one tensor under
two names, tensors without elements and without dimensions. What they hold is in
tests/models/test_torch_files.py.
"""

from collections import OrderedDict
from pathlib import Path

import torch

TARGET = Path(__file__).parent.parent / "tests" / "data" / "torch_save.bin"


def main() -> None:
    count = torch.arange(12.0)
    tensors = OrderedDict(
        matrix=count.reshape(3, 4) / 8,
        parameter=torch.nn.Parameter(torch.tensor([0.5, -2.0])),
        transposed=count.reshape(3, 4).T,
        middle=count[3:7],
        every_third=count[1::3],
        half=torch.tensor([1.0, -0.25], dtype=torch.float16),
        bfloat=torch.tensor([3.0, -0.5, 1024.0], dtype=torch.bfloat16),
        double=torch.tensor([0.1], dtype=torch.float64),
        position_ids=torch.arange(5)[None],
        short=torch.tensor([-3], dtype=torch.int16),
        flags=torch.tensor([True, False]),
        nothing=torch.empty(0, 4),
        one=torch.tensor(7.0),
    )
    tensors["tied"] = tensors["matrix"]
    tensors._metadata = {"": {"version": 1}}  # type: ignore[attr-defined]
    torch.save(tensors, TARGET)
    print(TARGET, TARGET.stat().st_size, "bytes, torch", torch.__version__)


if __name__ == "__main__":
    main()
