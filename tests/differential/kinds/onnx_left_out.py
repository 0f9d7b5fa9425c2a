"""Single operators of ONNX files without attributes that may be left out, as onnxruntime has them.

What an operator does without an attribute is known from its schema, from ONNX's inference and from
each back end, which may each take another default. Cases are those of the kind `onnx_ops`.
"""

from __future__ import annotations

import onnx

from differential.kinds.onnx_ops import compared, drawn
from differential.onnx_cases.draw import Draw
from helpers.random_cases import Kind


def run(random):
    d = Draw(random)
    case = drawn(d)
    known = onnx.defs.get_schema(case.op, case.version).attributes
    optional = [name for name in case.attributes if not known[name].required]
    left = set(d.random.sample(optional, d.random.randint(min(1, len(optional)), len(optional))))
    case.attributes = {n: value for n, value in case.attributes.items() if n not in left}
    return compared(d, case)


KIND = Kind("differential.onnx_left_out", run, cases=300, seconds=20)
