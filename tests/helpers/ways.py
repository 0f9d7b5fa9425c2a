"""Ways to multiply by weights of bfloat16, one of which tests choose in place of the cheapest."""

import fbg.graph.lower.products as lowered


def rounding(op, lowering):
    """Products round x as well, as they do on CPUs that multiply bfloat16."""
    packed = lowering.packer.get(op.w, op.packed_options())
    return [lowered.Way(packed, "round" if packed.dtype.name == "bfloat16" else "native")]


def widening(op, lowering):
    """Products multiply floats by rounded weights, which are widened beforehand."""
    return [lowered.Way(lowering.packer.get(op.w, {**op.packed_options(), "dtype": "float32"}))]
