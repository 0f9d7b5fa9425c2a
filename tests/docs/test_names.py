"""What pages name is there: functions and classes of fbg, arguments, options, files, commits.

Blocks that run check themselves (test_docs.py). This is for sentences, tables and quotations.
"""

import ast
import importlib.util
import inspect
import re
import subprocess
from functools import cache

import pytest

import fbg
from docs.test_docs import PAGES, ROOT, options_of, read
from fbg.cli import main
from fbg.importers.net import Net
from helpers.markdown_blocks import anchors, blocks, inline_code, prose

# The changelog also names what is gone.
TODAY = [page for page in PAGES if page != "CHANGELOG.md"]
FOLDERS = (
    *(".github", "bench", "cmake", "docs", "examples", "include", "packaging", "python", "scripts"),
    *("src", "tests"),
)

NAME = re.compile(r"(?<![\w./-])fbg(?:\.[A-Za-z_]\w*)+")
OPTION = re.compile(r"(?<![\w-])--[a-z][\w-]*")
FILE = re.compile(r"(?:[\w.-]+/)*[\w-]+\.(?:py|pyi|cc|h|sh|cmake|template|toml|yml)")
COMMIT = re.compile(r"`[0-9a-f]{7}`")

# What pages call an object, and the classes of which it may be.
OBJECTS = {
    "model": (fbg.Model, fbg.SentenceTransformer, fbg.CrossEncoder),
    "reranker": (fbg.Model,),
    "tagger": (fbg.Model,),
    "net": (Net,),
}
# Names of other programs, or for the reader to write.
ELSEWHERE = {"--gc-sections", "pyconfig.h", "src/conv/plain.cc"}


@cache
def files():
    """The text of every file of the repository that people have written, by its path."""
    found = [p for folder in FOLDERS for p in (ROOT / folder).rglob("*") if p.is_file()]
    found += [p for p in ROOT.iterdir() if p.is_file()]
    texts = (".py", ".pyi", ".cc", ".h", ".sh", ".cmake", ".txt", ".template", ".toml", ".yml", "")
    return {
        str(path.relative_to(ROOT)): path.read_text("utf-8", "replace")
        if path.suffix in texts
        else ""
        for path in found
    }


def in_programs(word):
    """Whether a program or a source has this word."""
    return any(word in text for path, text in files().items() if not path.startswith("tests/"))


def quoted(page):
    """Inline code, and the blocks that do not run."""
    return inline_code(page) + [block.text for block in blocks(page) if block.kind == "text"]


def find(dotted):
    """The attribute or module of that name; AttributeError if there is none.

    A module at the end is not imported: those of integrations take long.
    """
    value = fbg
    path = "fbg"
    for part in dotted.split(".")[1:]:
        path += f".{part}"
        if not hasattr(value, part) and inspect.ismodule(value) and importlib.util.find_spec(path):
            value = importlib.import_module(path) if path != dotted else path
        else:
            value = getattr(value, part)
    return value


def calls(code):
    """The calls in code that is, or nearly is, Python; others have none."""
    for piece in [code, *code.splitlines()]:
        try:
            tree = ast.parse(piece.strip().replace("…", "..."))
        except SyntaxError:
            continue
        yield from (node for node in ast.walk(tree) if isinstance(node, ast.Call))
        return


def functions(call):
    """What a call may be of: something of fbg, or a method of one of OBJECTS; else nothing."""
    words = ast.unparse(call.func).split(".")
    if words[0] == "fbg" and all(word.isidentifier() for word in words):
        return [find(".".join(words))]
    if len(words) == 2 and words[0] in OBJECTS:
        found = [getattr(kind, words[1], None) for kind in OBJECTS[words[0]]]
        return [method for method in found if method is not None]
    return []


def takes(function, keyword):
    assert callable(function)
    parameters = inspect.signature(function).parameters
    kinds = {parameter.kind for parameter in parameters.values()}
    return keyword is None or keyword in parameters or inspect.Parameter.VAR_KEYWORD in kinds


@pytest.mark.parametrize("page", TODAY)
def test_names_of_fbg_in(page):
    for name in NAME.findall(read(page)):
        try:
            find(name)
        except AttributeError:
            assert in_programs(name), (
                f"{page}: there is no {name}"
            )  # a file, such as fbg.safetensors


@pytest.mark.parametrize("page", TODAY)
def test_methods_in(page):
    for code in quoted(read(page)):
        for variable, name in re.findall(r"(?<![\w.])(\w+)\.([a-z_]\w*)", code):
            if variable in OBJECTS and name not in ("py", "onnx", "safetensors", "gguf"):
                assert any(has(kind, name) for kind in OBJECTS[variable]), (
                    f"{page}: {variable}.{name} in {code!r}"
                )


def has(kind, name):
    """Whether objects of a class have an attribute, also one that its methods set."""
    sources = [
        inspect.getsource(base) for base in kind.__mro__ if base.__module__.startswith("fbg")
    ]
    return hasattr(kind, name) or any(f"self.{name}" in source for source in sources)


@pytest.mark.parametrize("page", TODAY)
def test_arguments_in(page):
    for code in quoted(read(page)):
        for call in calls(code):
            for function in (found := functions(call)):
                assert callable(function), f"{page}: {ast.unparse(call)}"
            for keyword in call.keywords:
                assert not found or any(takes(function, keyword.arg) for function in found), (
                    f"{page}: {keyword.arg}= in {ast.unparse(call)}"
                )


@pytest.mark.parametrize("page", TODAY)
def test_options_in(page):
    """Those that stand alone; test_docs.py looks at whole commands."""
    of_fbg = set[str]().union(*map(options_of, main.commands))
    for code in inline_code(read(page)):
        if code.startswith("--"):
            for option in set(OPTION.findall(code)) - of_fbg - ELSEWHERE:
                assert in_programs(f'"{option}"'), f"{page}: no program takes {option}"


@pytest.mark.parametrize("page", TODAY)
def test_files_in(page):
    for code in quoted(read(page)):
        for name in code.split():
            name = name.strip("(),;:'\"")
            if name in ELSEWHERE:
                continue
            if FILE.fullmatch(name):
                here = [path for path in files() if path == name or path.endswith(f"/{name}")]
                assert here, f"{page}: there is no file {name}"
            elif name.split("/")[0] in FOLDERS and re.fullmatch(r"[\w./-]+/[\w./-]*", name):
                assert (ROOT / name).exists(), f"{page}: there is no {name}"


@pytest.mark.parametrize("page", TODAY)
def test_environment_variables_in(page):
    for name in set(re.findall(r"\bFBG_[A-Z_]+", read(page))):
        assert in_programs(name), f"{page}: nothing reads {name}"


def test_routes_of_the_server():
    """The table of routes names those that there are, and all of them."""
    pytest.importorskip("starlette")
    from fbg.server.app import PAGES, POST_ROUTES

    rows = re.findall(
        r"^\| ((?:, |`[A-Z]* ?/[\w/{}.]*`)+) \|", read("docs/serving.md"), re.MULTILINE
    )
    named = set(re.findall(r"/[\w/{}.]+", "".join(rows)))
    paths = {route.path for route in POST_ROUTES} | {page.path for page in PAGES}
    assert named == {path.replace(":path", "") for path in paths} - {"/"}  # that is the page


def test_every_figure_of_performance_names_its_machine_and_commit():
    """Each section with a table of figures is in the table at the top of the page."""
    page = read("docs/performance.md")
    rows = re.findall(r"^\| \[.*\]\(#([\w-]+)\) \| (.+?) \| (.*) \|$", page, re.MULTILINE)
    listed = {anchor for anchor, _, commits in rows if COMMIT.search(commits)}
    measured = set()
    for section in re.split(r"^#{2,3} ", prose(page), flags=re.MULTILINE)[1:]:
        title = section.split("\n")[0]
        if re.search(r"^\|.*\d", section, re.MULTILINE):
            measured.add(re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-"))
    assert measured == listed
    assert listed <= anchors(ROOT / "docs/performance.md")


# Pages with measurements.
MEASURED = {
    "README.md",
    *(f"docs/{n}.md" for n in ("accuracy", "convolution", "engineering-log", "models")),
    *(f"docs/{n}.md" for n in ("performance", "reliability", "serving", "tables")),
}


@pytest.mark.parametrize("page", TODAY)
def test_commits_exist_that_are_named_in(page):
    commits = [commit.strip("`") for commit in COMMIT.findall(read(page))]
    assert commits or page not in MEASURED
    if not (ROOT / ".git").exists() or git("rev-parse", "--is-shallow-repository") != "false":
        pytest.skip("the history is not here")
    for commit in commits:
        assert git("cat-file", "-t", commit) == "commit", commit


def git(*words):
    """What git prints; nothing if it fails."""
    done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=False)
    return done.stdout.strip()
