"""Steps on onnxruntime: one team of threads owns the CPUs at a time. No test depends on time."""

import numpy as np
import pytest
from onnx import helper

from fbg import _fbg
from helpers.onnx_models import make_net

LONG, SHORT = 2**19, 2**8  # elements of a step that is and is not worth more than one thread


def alternating(size, count, num_threads):
    """A network whose steps are on fbg and on onnxruntime in turn."""
    nodes, name = [], "x"
    for i in range(count):
        nodes.append(helper.make_node("Relu", [name], [f"r{i}"], f"r{i}"))
        nodes.append(helper.make_node("Atan", [f"r{i}"], [f"a{i}"], f"a{i}"))
        name = f"a{i}"
    feed = {"x": np.linspace(-2, 2, size, dtype=np.float32)}
    foreign = {f"a{i}": "onnxruntime" for i in range(count)}
    net = make_net(nodes, feed, [name], num_threads=num_threads, placement=foreign)
    return net, feed, nodes


def sessions(net):
    """The inner sessions of a network."""
    (session,) = net._sessions.plans
    parts = [placed.prepared for placed in session._parts if placed.backend.name == "onnxruntime"]
    return [part._session.get_session_options() for part in parts]


@pytest.mark.parametrize(("size", "threads"), [(LONG, 2), (LONG, 1), (SHORT, 2)])
def test_sessions_do_not_spin_and_short_ones_have_no_threads(size, threads):
    net, _, _ = alternating(size, 2, threads)
    options = sessions(net)
    assert len(options) == 2
    for own in options:
        assert own.intra_op_num_threads == (threads if size == LONG else 1)
        assert own.inter_op_num_threads == 1
        assert own.get_session_config_entry("session.intra_op.allow_spinning") == "0"


@pytest.mark.parametrize(("size", "rests"), [(LONG, 3), (SHORT, 0)])
def test_the_team_of_fbg_rests_before_threads_of_a_session_begin(size, rests, monkeypatch):
    net, feed, nodes = alternating(size, 3, 2)
    calls = []
    monkeypatch.setattr(_fbg, "rest_team", lambda: calls.append(1))
    net.run(feed)
    assert len(calls) == rests
    assert len(net.plan().steps) == len(nodes)
