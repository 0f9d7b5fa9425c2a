"""A network that was trained on real images keeps its accuracy on integers."""

import runpy
from pathlib import Path

EXAMPLE = Path(__file__).parents[2] / "examples" / "digits.py"


def test_int8_loses_at_most_three_tenths_of_a_point_on_digits():
    digits = runpy.run_path(str(EXAMPLE))
    images, labels = digits["load_digits"]()
    count = digits["TEST_IMAGES"]
    trained = digits["train"](images[count:], labels[count:])
    nets = digits["load_both"](trained, images[count:])
    right = {
        name: digits["accuracy"](net, images[:count], labels[:count]) for name, net in nets.items()
    }
    assert right["float32"] > 0.95
    assert right["int8"] >= right["float32"] - 0.003
    kinds = [step.algorithm for step in nets["int8"].plan().steps if "conv" in step.algorithm]
    assert len(kinds) == 3
    assert all("int32_u8_s8" in kind for kind in kinds)
