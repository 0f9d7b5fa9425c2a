"""Lowers recurrent layers: a product of each step, and the functions of its cells."""

from __future__ import annotations

from fbg.graph.lower.layout import natural
from fbg.graph.lower.tensors import Stored, TensorLowering, append
from fbg.graph.ops.op import Value
from fbg.graph.ops.recurrent import Recurrent


@append.register
def _(op: Recurrent, lowering: TensorLowering, value: Value) -> Stored:
    packed = [
        lowering.packer.get(each.w, each.packed_options(op.directions)) for each in op.weights
    ]
    lowering.packer.kept += packed
    x = lowering.stored(op.x)
    if x.order not in ((0, 1, 2), (1, 0, 2)):
        x = lowering.in_order(x, natural(3))

    def state(of: Value | None) -> int | None:
        if of is None:
            return None
        stored = lowering.stored(of)
        return lowering.buffer(lowering.in_order(stored, natural(len(stored.shape))))

    step_stride, batch_stride, _ = x.strides
    buffer = lowering.native.append(
        "recur",
        op.cell.lower(),
        (*x.shape[:2], op.directions, op.hidden),
        lowering.buffer(x),
        step_stride,
        batch_stride,
        op.functions,
        packed[0]._native,
        packed[1]._native if len(packed) > 1 else None,
        reversed=op.reversed,
        lengths=state(op.lengths),
        hidden_state=state(op.hidden_state),
        cell_state=state(op.cell_state),
        bias=op.bias,
        peepholes=op.peepholes,
        clip=op.clip,
        couples_forget=op.couples_forget,
    )
    if op.lengths is not None:
        wanted = f"sequence_lens must be between 0 and {x.shape[0]}"
        lowering.limits[buffer] = f"node '{value.owner}': {wanted}"
    return lowering.written(value, (0, 2, 1, 3), buffer)
