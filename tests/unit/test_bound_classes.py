"""No object of a native class reaches native code before its constructor ran."""

import numpy as np
import pytest

import fbg
from fbg import _fbg

CLASSES = [value for value in vars(_fbg).values() if isinstance(value, type)]


def instances(cls):
    """Every instance that Python can make without calling `__init__`."""
    made = []
    for new in (lambda: cls.__new__(cls), lambda: object.__new__(cls)):
        try:
            made.append(new())
        except TypeError:
            continue
    return made


def test_every_class_is_looked_at():
    names = {cls.__name__ for cls in CLASSES}
    assert {"PackedB", "Graph", "Plan", "AOperand", "Stage", "PreparedCall"} <= names


@pytest.mark.parametrize("cls", CLASSES)
def test_members_of_an_uninitialized_instance_are_type_errors(cls):
    members = {name: value for name, value in vars(cls).items() if not name.startswith("_")}
    for instance in instances(cls):
        for name, value in members.items():
            with pytest.raises(TypeError, match=r"was not initialized|incompatible"):
                getattr(instance, name) if isinstance(value, property) else value(instance)


@pytest.mark.parametrize("cls", CLASSES)
def test_an_uninitialized_instance_is_no_argument(cls):
    w = fbg.PackedB(np.eye(4, dtype=np.float32))._native
    a = _fbg.AOperand.quantized(np.eye(4, dtype=np.float32))
    for instance in instances(cls):
        with pytest.raises(TypeError):
            w.gemm(instance, [], None, 1)
        with pytest.raises(TypeError):
            w.gemm(a, [instance], None, 1)
        with pytest.raises(TypeError):
            _fbg.Graph().append("linear", 0, instance)
        with pytest.raises(TypeError):
            _fbg.pack_b_split(instance, 1)
