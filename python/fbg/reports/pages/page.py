"""A report as one page of HTML: the parts of a page, and the file to which it is written.

A page needs no other file: no script, no file beside it, nothing from a network. All text is
escaped by the template, since names of models, layers and nodes come from files of other people;
figures are markup that matplotlib wrote, in which it has escaped the names.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import TYPE_CHECKING

from fbg.errors import needed
from fbg.files import replace_file

if TYPE_CHECKING:
    from jinja2 import Template

MIB = 2**20


@dataclass(frozen=True)
class Table:
    """Rows of text under a head; numeric: the first column that holds numbers.

    folded: shown only on a click.
    """

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[str]]
    numeric: int = 1
    folded: bool = False


@dataclass(frozen=True)
class Figure:
    """An inline picture; caption: text that also describes it to readers who cannot see it."""

    caption: str
    svg: str


@dataclass(frozen=True)
class Section:
    """A heading with its text, figures and tables. name: the target of links."""

    name: str
    title: str
    text: Sequence[str]
    figures: Sequence[Figure] = ()
    tables: Sequence[Table] = ()


@dataclass(frozen=True)
class Page:
    """A title, its subject (text by name), highlights, and sections.

    highlights: a number with its unit, and its meaning.
    """

    title: str
    facts: dict[str, str]
    highlights: Sequence[tuple[str, str]]
    sections: Sequence[Section]
    notes: Sequence[str] = field(default=())

    def html(self) -> str:
        """Return the page."""
        return _template().render(page=self, Table=Table)


def write_page(page: Page, path: str | os.PathLike[str]) -> None:
    """Write a page to a file, whole or not at all; raises OSError."""
    content = page.html().encode("utf-8")
    with replace_file(path) as file:
        file.write(content)


def printable(text: object) -> str:
    """Return the text with every character replaced that cannot be seen, or stored in a file.

    Control characters are errors in markup, and those that turn the direction of writing around
    can make a name look like another one.
    """
    return "".join(c if c.isprintable() else "�" for c in str(text))


@cache
def _template() -> Template:
    with needed("pages"):
        from jinja2 import Environment, StrictUndefined
        from markupsafe import Markup
    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.finalize = lambda value: value if isinstance(value, Markup) else printable(value)
    environment.filters["markup"] = Markup
    source = resources.files("fbg.reports.pages").joinpath("page.html").read_text(encoding="utf-8")
    return environment.from_string(source)
