"""What a page in Markdown shows as code: its blocks, and the commands within its sentences."""

import re
import shlex
from dataclasses import dataclass
from textwrap import dedent

FENCE = re.compile(r" *```(.*)")
INLINE = re.compile(r"(?<!`)`([^`]+)`(?!`)")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)
LINK = re.compile(r"\]\(([^)\s]+)\)")


@dataclass(frozen=True)
class Block:
    kind: str  # what follows ``` ("" if nothing does), or "indented"
    text: str
    line: int  # of the page, of its first line of code, from 1


def blocks(page):
    """The blocks of code in their order: fenced, or indented by four spaces after an empty line."""
    kind, start, code, before = None, 0, list[str](), ""
    for number, line in enumerate([*page.splitlines(), ""], start=1):
        fence = FENCE.fullmatch(line)
        if kind == "indented" and line.strip() and not line.startswith("    "):
            yield Block(kind, dedent("\n".join(code)).rstrip() + "\n", start)
            kind = None
        if kind is None and (fence or (line.startswith("    ") and not before.strip())):
            kind, start = (fence[1], number + 1) if fence else ("indented", number)
            code = [] if fence else [line]
        elif kind is not None and kind != "indented" and fence:
            yield Block(kind, dedent("\n".join(code)) + "\n", start)
            kind = None
        elif kind is not None:
            code.append(line)
        before = line
    if kind == "indented":
        yield Block(kind, dedent("\n".join(code)).rstrip() + "\n", start)
    elif kind is not None:
        raise ValueError(f"line {start - 1}: a block that does not end")


def prose(page):
    """The page without its blocks."""
    lines = page.splitlines()
    for block in blocks(page):
        for number in range(block.line - 1, block.line - 1 + block.text.count("\n")):
            lines[number] = ""
    return "\n".join(line for line in lines if not FENCE.fullmatch(line))


def inline_code(page):
    """What stands between backticks in sentences and tables, each on one line."""
    return [" ".join(code.split()) for code in INLINE.findall(prose(page))]


def commands(text):
    """The words of each command of a shell, without comments and variables before it."""
    for line in text.splitlines():
        for command in line.split(" && "):
            words = shlex.split(command, comments=True)
            while words and re.fullmatch(r"[A-Z_]+=\S*", words[0]):
                del words[0]
            if words:
                yield words


def links(page):
    return LINK.findall(prose(page))


def anchors(path):
    """The names of a page's headings in links, as GitHub makes them."""
    headings = HEADING.findall(prose(path.read_text(encoding="utf-8")))
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in headings}
