"""A hook of mkdocs: pages that do not lie in docs/, and links between all of them.

    README.md, CONTRIBUTING.md, …   pages of the site as they are
    include/fbg/**.h                pages of the C++ reference (cpp_reference.py)
    the server's routes             a page of the HTTP reference (http_reference.py)
    any other file that is linked   a page that shows its source

Markdown files link to each other by their places in the repository, so that they read well there.
Here each link is rewritten to where the site has its target; one without a target fails the build.
"""

from __future__ import annotations

import posixpath
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

sys.path.insert(0, str(Path(__file__).parent))

import cpp_reference
import http_reference

ROOT = Path(__file__).parents[2]
INCLUDE = ROOT / "include"
PAGES = {"README.md": "index.md"} | {
    name: name for name in ("CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "bench/README.md")
}
LINK = re.compile(r"(?<=\]\()(?!https?:|mailto:|#)([^)#\s]+)")
LANGUAGES = {".py": "python", ".cc": "cpp", ".h": "cpp", ".txt": "cmake", ".md": "markdown"}


def headers() -> list[Path]:
    found = INCLUDE.rglob("*.h")
    return sorted(path for path in found if "detail" not in path.parts)


def site_place(path: str) -> str:
    """Return where the site has what lies at `path` in the repository."""
    if path in PAGES:
        return PAGES[path]
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if path.startswith("include/") and path.endswith(".h"):
        return f"reference/cpp/{path.removeprefix('include/fbg/')}.md"
    return f"source/{path}.md"


def repository_place(uri: str) -> str:
    """Return where a page comes from; pages that are made here link to nothing."""
    return next((path for path, place in PAGES.items() if place == uri), f"docs/{uri}")


def links(markdown: str, path: str) -> Iterator[str]:
    """Yield what a file of the repository links to, as places in the repository."""
    for target in LINK.findall(markdown):
        yield posixpath.normpath(posixpath.join(posixpath.dirname(path), target))


def on_config(config: Any) -> Any:
    pages = [
        {path.relative_to(INCLUDE).as_posix(): site_place(path.relative_to(ROOT).as_posix())}
        for path in headers()
    ]
    config.nav = [*config.nav, {"C++ reference": pages}]
    return config


def on_files(files: Files, config: Any) -> Files:
    texts = {path: (ROOT / path).read_text(encoding="utf-8") for path in PAGES}
    made = {PAGES[path]: text for path, text in texts.items()}
    made["reference/http.md"] = http_reference.page()
    for path in headers():
        made[site_place(path.relative_to(ROOT).as_posix())] = cpp_reference.page(path, INCLUDE)
    for file in files.documentation_pages():
        texts[f"docs/{file.src_uri}"] = file.content_string
    for path, text in texts.items():
        for target in links(text, path):
            place = site_place(target)
            if place.startswith("source/") and (ROOT / target).exists():
                made[place] = source_page(ROOT / target)
    for place, text in made.items():
        files.append(File.generated(config, place, content=text))
    return files


def source_page(path: Path) -> str:
    """Return a page with a file, or with all files of a directory."""
    name = path.relative_to(ROOT).as_posix()
    shown = [path] if path.is_file() else sorted(p for p in path.iterdir() if p.is_file())
    parts = [f"# {name}"]
    for file in shown:
        parts += [] if file == path else [f"## {file.name}"]
        language = LANGUAGES.get(file.suffix, "text")
        parts.append(f"````{language}\n{file.read_text(encoding='utf-8')}\n````")
    return "\n\n".join(parts)


def on_page_markdown(markdown: str, page: Page, **_: Any) -> str:
    here = page.file.src_uri
    if here.startswith(("source/", "reference/cpp/")):
        return markdown
    path = repository_place(here)

    def moved(match: re.Match[str]) -> str:
        target = posixpath.normpath(posixpath.join(posixpath.dirname(path), match[1]))
        return posixpath.relpath(site_place(target), posixpath.dirname(here))

    return LINK.sub(moved, markdown)
