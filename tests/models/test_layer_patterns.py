"""Names of layers in the settings of quantized checkpoints, and how long matching them takes."""

import re
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import fbg
from fbg.checkpoints.quantized.patterns import MOST_NAMES, read_patterns
from fbg.checkpoints.settings import Settings


def patterns(*names):
    return read_patterns(Settings(Path("config.json"), {"ignore": list(names)}), "ignore")


ATOM = st.sampled_from(
    [*"ab.01_", r"\.", r"\d", r"\w", r"\W", r"\S", "[ab]", "[^a.]", "[0-9_]", "."]
)
REPEAT = st.sampled_from(["", "", "*", "+", "?", "*?", "{2}", "{1,3}", "{0,2}", "+?"])
SINGLE = st.tuples(ATOM, REPEAT).map("".join)


def joined(parts):
    sequence = st.lists(parts, max_size=4).map("".join)
    either = st.lists(sequence, min_size=1, max_size=3).map("|".join)
    return (
        st.tuples(
            st.sampled_from(["(", "(?:", "(?=", "(?!"]), either, st.sampled_from([")", ")", ")?"])
        )
        .filter(lambda group: group[0] in ("(", "(?:") or group[2] == ")")
        .map("".join)
    )


EXPRESSION = st.lists(
    st.one_of(SINGLE, st.recursive(SINGLE, joined, max_leaves=6), st.sampled_from(["^", "$"])),
    max_size=6,
).map("".join)


@given(EXPRESSION, st.text("ab.01_", max_size=12), st.booleans())
@settings(max_examples=400, deadline=None)
def test_an_expression_matches_as_in_python(expression, name, verbose):
    whole = f"(?x) {expression} " if verbose else expression
    assert patterns(f"re:{whole}").match(name) == (re.match(whole, name) is not None)


@pytest.mark.parametrize(
    ("names", "module", "found"),
    [
        (["lm_head"], "model.lm_head", True),
        (["head"], "model.lm_head", False),
        (["model.layers.1"], "model.layers.1.mlp.up_proj", True),
        (["model.layers.1"], "model.layers.11.mlp.up_proj", False),
        (["re:.*self_attn.*"], "model.layers.0.self_attn.q_proj", True),
        (["re:^(?!.*(?:q_proj|k_proj)).*$"], "model.layers.0.self_attn.q_proj", False),
        (["re:^(?!.*(?:q_proj|k_proj)).*$"], "model.layers.0.self_attn.v_proj", True),
        ([r"re:model\.layers\.(0|1|2)\..*down_proj"], "model.layers.2.mlp.down_proj", True),
    ],
)
def test_layers_are_named(names, module, found):
    assert patterns(*names).match(module) == found


@pytest.mark.parametrize(
    "expression",
    [
        *("(?x)(.+) +!", "(a+)+b", "(a|a)*b", "(?:(?:a*)*)*b", "((a)|a)+!", r"(a)\1", "(?i)a"),
        *("(?P<x>.+){1,9}!", "(?:.+)(?x:) +", "(?>a+)+b" if hasattr(re, "NOFLAG") else "(a+)+b"),
        *("[", "a" * 5000, r"\bword", "(?<=a)b", "(" * 200 + "a+" + ")+" * 200),
    ],
)
def test_an_expression_that_repeats_groups_is_refused(expression):
    with pytest.raises(fbg.ModelError, match="ignore must be a list of names and simple regular"):
        patterns(f"re:{expression}")


@pytest.mark.parametrize("expression", [".*" * 20 + "!", "a*" * 200 + "b", "(a?)" * 50 + "a" * 50])
def test_the_worst_expressions_take_little_time(expression):
    found, name = patterns(f"re:{expression}"), "a" * 1000
    begin = time.thread_time()
    found.match(name)
    assert time.thread_time() - begin < 1


def test_lists_are_measured_before_they_are_read():
    with pytest.raises(fbg.ModelError, match=f"at most {MOST_NAMES} names"):
        patterns(*["a"] * (MOST_NAMES + 1))
    with pytest.raises(fbg.ModelError, match="simple regular expressions"):
        patterns(*["re:" + "a" * 100] * 100)
