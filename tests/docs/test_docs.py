"""Every page does what it says: its blocks of Python and its commands run, in their order.

All blocks of a page share one directory, one namespace and one environment, as in a reader's
session. The environment has no more packages than the page has told to install until then. The kind
of every block must be one that run_block knows; commands that may take long or belong to another
program are checked as PROGRAMS says.
"""

import argparse
import re
import runpy
import sys
from dataclasses import replace
from functools import cache
from importlib.metadata import PackageNotFoundError
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import fbg
from fbg.cli import main
from helpers import small_detectors, tiny_bert, tiny_gliner, tiny_multi, tiny_sparse, tiny_tasks
from helpers.markdown_blocks import Block, anchors, blocks, commands, inline_code, links
from helpers.reader import Reader
from helpers.tiny_towers import write_tiny_tower

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    str(path.relative_to(ROOT))
    for pattern in ("*.md", "docs/*.md", "bench/*.md")
    for path in ROOT.glob(pattern)
)

# What pages call models, and the tiny ones that stand for them: BERT, or a name of tiny_tasks.
ENCODERS = (
    "models/all-MiniLM-L6-v2",
    "path/to/all-MiniLM-L6-v2",
    "path/to/bert-base",
    "path/to/model",
)
HEADS = {
    "distilbert/distilbert-base-uncased-finetuned-sst-2-english": (
        "distilbert-ForSequenceClassification"
    ),
    "MoritzLaurer/DeBERTa-v3-base-mnli-fever-anli": "nli-first",
    "cross-encoder/ms-marco-MiniLM-L6-v2": "pairs",
    "dslim/bert-base-NER": "bert-ForTokenClassification",
    "deepset/roberta-base-squad2": "roberta-ForQuestionAnswering",
    "google-bert/bert-base-uncased": "bert-ForMaskedLM",
}
TEXTS = ("a line of text", "and another", "a third")


@pytest.fixture
def readers_directory(tmp_path):
    """Where what the pages name is there."""
    geometry = replace(tiny_bert.AWKWARD, max_position_embeddings=512)
    for name in ENCODERS:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        tiny_bert.write_checkpoint(path, geometry, spread=0.25)
    for name, stand_in in HEADS.items():
        tiny_tasks.write_model(tmp_path / name, stand_in)
    tiny_gliner.write_model(tmp_path / "urchade/gliner_small-v2.1", "published")
    tiny_multi.write_multi(tmp_path / "lightonai/GTE-ModernColBERT-v1", "hidden")
    write_tiny_tower(tmp_path / "openai/clip-vit-base-patch32", "clip")
    sparse = "opensearch-project/opensearch-neural-sparse-encoding-doc-v3-distill"
    tiny_sparse.write_routed(tmp_path / sparse, "saved")
    # Words that pages ask for, instead of two that nothing uses.
    tokenizer = tmp_path / "google-bert/bert-base-uncased/tokenizer.json"
    words = tokenizer.read_text(encoding="utf-8")
    tokenizer.write_text(words.replace('"word0"', '"capital"').replace('"word1"', '"heart"'))
    for name in ("mine.txt", "lines.txt"):
        (tmp_path / name).write_text("".join(f"{text}\n" for text in TEXTS))
    pairs = [f"{n}\t{text}\t{TEXTS[0]}\n" for n, text in enumerate([*TEXTS, "one more", "two"])]
    (tmp_path / "pairs.tsv").write_text("".join(pairs))
    small_detectors.write_example(tmp_path)
    (tmp_path / "texts").mkdir()
    pq.write_table(pa.table({"text": TEXTS}), tmp_path / "texts/some.parquet")
    pq.write_table(pa.table({"body": TEXTS}), tmp_path / "corpus.parquet")
    return tmp_path


def read(page):
    return (ROOT / page).read_text(encoding="utf-8")


# --- Programs: what is done with the words of a command -----------------------------------------


def check_fbg(words):
    """There are such a command and such options; in sentences, arguments are left out."""
    if words[1] == "COMMAND":
        return
    named = {word.split("=")[0] for word in words if word.startswith("--")}
    assert named <= options_of(words[1]) | {"--help"}


def options_of(name):
    """The options of a command of fbg, those that say no included."""
    parameters = main.commands[name].load().params
    return {opt for parameter in parameters for opt in (*parameter.opts, *parameter.secondary_opts)}


class OptionsRead(Exception):
    pass


def check_python(words):
    """A script exists and takes these arguments, code compiles; neither goes on from there."""
    if words[1] == "-c":
        compile(words[2], "-c", "exec")
    elif words[1] == "-m":
        if words[2] == "helpers.random_cases":
            check_python(["python", "tests/helpers/random_cases.py", *words[3:]])
        else:
            assert words[2:] in (["fbg"], ["build", "--sdist"])
    elif words[1].startswith("bench/"):
        read_options(ROOT / words[1], words[2:])
    else:  # needs what the tests do without: its source has the options
        source = read(words[1])
        assert all(f'"{word}"' in source for word in words[2:] if word.startswith("--"))


def read_options(script, arguments):
    """Run a script until its own parser has taken the arguments."""
    parse = argparse.ArgumentParser.parse_args

    def parse_only(parser):
        parse(parser)
        raise OptionsRead

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(argparse.ArgumentParser, "parse_args", parse_only)
        patch.setattr(sys, "argv", [str(script), *arguments])
        patch.setattr(sys, "path", [str(script.parent), *sys.path])
        with pytest.raises(OptionsRead):
            runpy.run_path(str(script), run_name="__main__")


def check_make(words):
    """Targets, and variables that the Makefile reads."""
    for word in words[1:]:
        name = word.split("=")[0]
        pattern = rf"\$\({name}\)" if "=" in word else rf"^{name}:"
        assert re.search(pattern, read("Makefile"), re.MULTILINE), word


def check_pip(words):
    """Extras of the package, and settings of its build."""
    assert words[1] == "install"
    for extra in ",".join(re.findall(r"(?:^| )(?:fbg|\.)\[(.+?)]", " ".join(words))).split(","):
        assert not extra or re.search(rf"^{extra} = \[", read("pyproject.toml"), re.MULTILINE), (
            extra
        )
    for setting in re.findall(r"cmake\.define\.(\w+)=", " ".join(words)):
        assert setting in read("CMakeLists.txt")


def check_apt(words):
    assert words[1] == "install"
    assert all(package in read("scripts/system_packages.sh") for package in words[2:])


def check_cmake(words):
    """Sources and components; ctest builds the example in this very way."""
    for option, value in pairwise(words):
        if option == "-S":
            assert (ROOT / value / "CMakeLists.txt").is_file()
        if option == "--component":
            assert f"COMPONENT {value}" in read("cmake/Install.cmake") + read("cmake/Sbom.cmake")


def check_pytest(words):
    assert all((ROOT / word).is_file() for word in words if word.endswith(".py"))


def check_pre_commit(words):
    assert words[1:] == ["install"] and (ROOT / ".pre-commit-config.yaml").is_file()


def check_test_program(words):
    assert any((ROOT / "tests").rglob(f"{Path(words[0]).name}.cc"))


def check_example(words):
    assert f"add_executable({Path(words[0]).name}" in read("examples/cpp/CMakeLists.txt")


def check_activation(words):
    """What the demo and the lines before it make."""
    assert words[1:] == [".venv/bin/activate"]


def check_git(words):
    """The tag of a release is that of the version in the sources."""
    tags = [word for word in words if re.fullmatch(r"v[\d.]+", word)]
    assert words[1] in ("tag", "push")
    assert all(f"project(fbg VERSION {tag[1:]} " in read("CMakeLists.txt") for tag in tags)


def check_environment(words):
    assert words[1:] == ["-m", "venv", ".venv"]


PROGRAMS = {
    "fbg": check_fbg,
    "python": check_python,
    "python3": check_environment,
    ".": check_activation,
    "git": check_git,
    "make": check_make,
    "pip": check_pip,
    "apt": check_apt,
    "cmake": check_cmake,
    "pytest": check_pytest,
    ".venv/bin/pytest": check_pytest,
    ".venv/bin/pre-commit": check_pre_commit,
    "build/tests/test_threads": check_test_program,
    "build/tests/test_conv": check_test_program,
    "build-example/project_embeddings": check_example,
}


# --- Blocks -------------------------------------------------------------------------------------


@cache
def sources():
    """Every file of C++ that the build or ctest compiles, in the form that `quotation` gives."""
    folders = [ROOT / name for name in ("include", "src", "examples")]
    files = (p for f in folders for kind in ("*.cc", "*.h") for p in f.rglob(kind))
    return [quotation(path.read_text(encoding="utf-8")) for path in files]


def quotation(code):
    """Without what layout and comments add."""
    return " ".join(re.sub(r"//.*", "", code).split())


def run_python(block, page, reader):
    limits = re.findall(r'isa\.limit\("(\w+)"', block.text)
    if all(isa in fbg.isa.supported() for isa in limits):  # an error elsewhere, as the page says
        reader.python(block.text, str(ROOT / page), block.line)


def run_commands(block, reader):
    for words in commands(block.text):
        if words[0] == "fbg":
            measures = words[1] in ("bench", "profile", "report")
            reader.fbg([*words, "--rounds", "1"] if measures else words)
        elif words[0] == "curl":
            reader.curl(words)
        elif words[0] == "echo":
            reader.echo(words)
        else:
            assert words[0] in PROGRAMS, f"line {block.line}: no check of {words[0]!r}"
            PROGRAMS[words[0]](words)


def installing(text):
    """The text, in which the demo says what it installs."""
    extras = re.search(r"^DEMO_EXTRAS := (\S+)$", read("Makefile"), re.MULTILINE)
    assert extras is not None
    return text.replace("make demo", f"make demo\npip install '.[{extras[1]}]'\n")


def check_cpp(block):
    """C++ is quoted: what an empty line separates is, word for word, in a file that is compiled."""
    for paragraph in filter(None, map(quotation, block.text.split("\n\n"))):
        assert any(paragraph in source for source in sources()), f"not in a source: {paragraph}"


def check_text(block):
    """Formulas, drawings and output: no commands among them."""
    for line in block.text.splitlines():
        assert line.split(" ")[0] not in PROGRAMS, line


def parts(page):
    """What is read in one go, from a line to a line: each section that says what to install.

    If a section with blocks that run does not say it, the page is read as a whole.
    """
    lines = read(page).splitlines()
    starts = [block.line for block in blocks(read(page)) if block.kind in ("python", "indented")]
    cuts = [0, *(n for n, line in enumerate(lines) if re.match("##+ ", line)), len(lines)]
    sections = [(page, a, b) for a, b in pairwise(cuts) if any(a < line <= b for line in starts)]
    alone = all("pip install" in "\n".join(lines[a:b]) for _, a, b in sections)
    return sections if alone and sections[1:] else [(page, 0, len(lines))]


@pytest.mark.parametrize(("page", "start", "end"), [part for page in PAGES for part in parts(page)])
def test_blocks_of(page, start, end, readers_directory):
    with Reader(readers_directory) as reader:
        run_blocks(page, start, end, reader)


def run_blocks(page, start, end, reader):
    lines = read(page).splitlines()
    for block in blocks(read(page)):
        if not start < block.line <= end:
            continue
        start, told = block.line - 1 + block.text.count("\n"), lines[start : block.line - 1]
        reader.read(installing("\n".join([*told, block.text])))
        try:
            run_block(block, page, reader)
            if page == "README.md" and block.kind == "python":  # which readers try several times
                run_block(block, page, reader)
        except PackageNotFoundError as error:
            pytest.skip(f"{page} installs {error.name}, which the tests do without")
        except AssertionError as error:
            raise AssertionError(f"{page}:{block.line}: {error}") from error


def run_block(block, page, reader):
    match block.kind:
        case "python":
            run_python(block, page, reader)
        case "indented":
            run_commands(block, reader)
        case "cpp":
            check_cpp(block)
        case "text":
            check_text(block)
        case kind:
            raise AssertionError(f"a block of unknown kind {kind!r}")


@pytest.mark.parametrize("page", PAGES)
def test_commands_in_sentences_of(page):
    for code in inline_code(read(page)):
        # "python → bindings" is none.
        if code.split(" ")[0] in PROGRAMS and re.match(r"\S+ [\w.'-]", code):
            for words in commands(code):
                PROGRAMS[words[0]](words)


@pytest.mark.parametrize("page", PAGES)
def test_links_of(page):
    for link in links(read(page)):
        if not link.startswith("https://"):
            name, _, anchor = link.partition("#")
            target = (ROOT / page).parent / name if name else ROOT / page
            assert target.exists(), link
            assert not anchor or anchor in anchors(target), link


def test_every_command_of_fbg_is_shown():
    lines = [
        words
        for block in blocks(read("docs/command-line.md"))
        if block.kind == "indented"
        for words in commands(block.text)
    ]
    assert {words[1] for words in lines} >= set(main.commands)


@pytest.mark.parametrize(
    ("page", "found"),
    [
        ("a\n\n    fbg info\n\n    fbg x\nb", [("indented", "fbg info\n\nfbg x\n", 3)]),
        ("```python\nx = 1\n```\n", [("python", "x = 1\n", 2)]),
        ("1. a\n\n   ```cpp\n   int x;\n   ```\n```\n```", [("cpp", "int x;\n", 4), ("", "\n", 7)]),
        ("a list\n    goes on", []),
    ],
)
def test_blocks_are_found(page, found):
    assert list(blocks(page)) == [Block(*block) for block in found]


def test_an_open_block_is_an_error():
    with pytest.raises(ValueError, match="line 2: a block that does not end"):
        list(blocks("a\n```python\nx"))
