"""Which products get another dtype than the rest: by name, and by what each of them loses."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fbg.graph.passes.precision import choose_dtypes, propose, read_patterns

NAMES = ["layers.0.qkv", "layers.0.output", "layers.1.qkv"]


def test_the_last_pattern_that_matches_decides():
    patterns = {"layers.*": "bfloat16", "*.qkv": "float32", "layers.1.*": "float16"}
    assert choose_dtypes(NAMES, patterns, "layer") == {
        "layers.0.qkv": "float32",
        "layers.0.output": "bfloat16",
        "layers.1.qkv": "float16",
    }
    with pytest.raises(ValueError, match=r"'x\*' matches no layer; there are layers.0.qkv, "):
        choose_dtypes(NAMES, {"x*": "float32"}, "layer")


def test_patterns_are_copied_and_get_the_default_dtype():
    assert read_patterns(iter(["a", "b"])) == {"a": "bfloat16", "b": "bfloat16"}
    given = {"a": "float32"}
    read = read_patterns(given)
    given["b"] = "float16"
    assert read == {"a": "float32"}


@given(
    losses=st.lists(st.integers(0, 20), min_size=1, max_size=12, unique=True),
    target=st.integers(0, 120),
)
def test_the_least_number_of_products_that_reach_the_target_is_kept(losses, target):
    alone = {f"n{i}": float(loss) for i, loss in enumerate(losses)}
    ranked = sorted(alone, key=lambda name: -alone[name])
    measured = []

    def all_but(kept):
        return sum(loss for name, loss in alone.items() if name not in kept)

    found = propose(alone, alone.__getitem__, all_but, target, measured.append)
    assert measured == list(alone)
    assert list(found.losses) == ranked
    assert found.loss == sum(losses)
    least = next((n for n in range(len(ranked)) if all_but(ranked[:n]) <= target), len(ranked))
    assert found.kept == tuple(ranked[:least])
    assert found.kept_loss == all_but(found.kept)
