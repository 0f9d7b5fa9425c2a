"""Recurrent layers, whose states forget what rounding does to them.

onnxruntime ends the process for some that are empty or do not fit.
"""

from __future__ import annotations

import numpy as np

from differential.onnx_cases.draw import draws

GATES = {"RNN": 1, "GRU": 3, "LSTM": 4}


@draws(*GATES)
def recurrent(d, op, version):
    direction = d.one((None, "forward", "reverse", "bidirectional"))
    directions, gates = 2 if direction == "bidirectional" else 1, GATES[op]
    steps, batch, columns, hidden = (max(d.size(), 1) for _ in range(4))
    state = (directions, batch, hidden)
    lengths = np.asarray(d.rng.integers(0, steps, batch, endpoint=True), np.int32)
    inputs = [
        d.floats(steps, batch, columns),
        d.floats(directions, gates * hidden, columns),
        d.floats(directions, gates * hidden, hidden) / np.float32(8 * np.sqrt(hidden)),
        d.maybe(d.floats(directions, 2 * gates * hidden)),
        d.maybe(np.maximum(lengths, 1), 0.3),
        d.maybe(d.floats(*state)),
    ]
    if op == "LSTM":
        inputs += [d.maybe(d.floats(*state)), d.maybe(d.floats(directions, 3 * hidden), 0.3)]
    return inputs, {
        "": d.random.randint(1, 3 if op == "LSTM" else 2),
        "direction": direction,
        "hidden_size": hidden,
        "clip": d.maybe(d.one((0.2, 1.0)), 0.3),
        "linear_before_reset": d.flag(),
        "input_forget": d.flag(),
        "output_sequence": None,
        "layout": None,  # onnxruntime has 0 only
        "activations": None,
        "activation_alpha": None,
        "activation_beta": None,
    }
