"""The table of families in docs/models.md has a row for each, and says what the code does."""

import re
from pathlib import Path

import pytest
import yaml

from fbg.networks.registry import BORROWED, FAMILIES, RENAMED, read_config
from helpers.minilm import DATA
from helpers.tiny_bert import write_json
from helpers.tiny_towers import CONFIGS as TOWERS

PAGE = Path(__file__).parents[2] / "docs/models.md"
HUB = yaml.safe_load((DATA / "hub_settings.yaml").read_text(encoding="utf-8"))
# Models with settings of their own, and what computes them.
OTHERS = {"gliner": "gliner", "model2vec": "model2vec", "StaticEmbedding": "sentence-transformers"}
HEADS = {
    "texts": "ForSequenceClassification",
    "tokens": "ForTokenClassification",
    "questions": "ForQuestionAnswering",
    "masks": "ForMaskedLM",
    "pairs": "ForCausalLM",
    "lists": "JinaForRanking",
    "pictures": "ForImageClassification",
}
COLUMNS = ["`model_type`", "examples on the hub", "tokens", "dtypes", "heads", "tested against"]


def cells(line):
    return [cell.strip() for cell in line.strip("| ").split(" | ")]


def rows():
    """The rows by family, of which the first cell names one before anything else."""
    lines = PAGE.read_text(encoding="utf-8").splitlines()
    first = next(n for n, line in enumerate(lines) if cells(line) == COLUMNS)
    found = {}
    for line in lines[first + 2 :]:
        if not line.startswith("|"):
            return found
        name = cells(line)[0].split("`")[1]
        assert name not in found
        found[name] = cells(line)
    raise AssertionError("the page ends in its table")


ROWS = rows()


def test_each_family_has_a_row_and_no_row_names_an_unknown_one():
    assert ROWS.keys() == FAMILIES.keys() | RENAMED.keys() | OTHERS.keys()


def test_names_on_the_hub_are_said():
    for name, borrowed in BORROWED.items():
        assert f"on the hub `{name}`" in ROWS[borrowed.family][0]


@pytest.mark.parametrize("name", FAMILIES)
def test_heads_are_those_of_the_family(name):
    said = ROWS[name][4].replace("–", "")
    assert {HEADS[word] for word in re.findall(r"\w+", said)} == FAMILIES[name].heads.keys()


def test_examples_belong_to_the_family_and_take_so_many_tokens(tmp_path):
    for name, (_, examples, tokens, *_) in ROWS.items():
        known = [key for each in examples.split(", ") if (key := each.rpartition("/")[2]) in HUB]
        found = set()
        for example in known:
            write_json(tmp_path / "config.json", HUB[example])
            config = read_config(tmp_path / "config.json")
            assert config.model_type == RENAMED.get(name, {}).get("model_type", name)
            found.add("–" if config.picture is not None else str(config.max_length))
        if known:
            assert found == set(tokens.split("; "))
        else:
            assert name in (*OTHERS, "llama", "jina_embeddings_v3")


def test_every_family_is_compared_with_what_the_row_says():
    golden = {path.stem.removeprefix("tiny_") for path in DATA.glob("tiny_*.npz")}
    golden |= {str(config["model_type"]) for config in TOWERS.values()}
    for name, row in ROWS.items():
        if name in OTHERS:
            assert row[-1] == OTHERS[name]
        elif name not in RENAMED:
            assert name in golden
            assert row[-1].startswith(("transformers", "a reference in float64"))
