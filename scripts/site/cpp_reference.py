"""The C++ reference: a page in Markdown for each public header, from its comments and declarations.

A header is a sequence of chunks, one below the other: a comment in `//`, and the declaration that
it stands above. A declaration is shown as it is written, without the bodies of functions and what
is private; comments within a class stay where they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

TEMPLATE = re.compile(r"^template <.*>\n", re.MULTILINE)
TYPE = re.compile(
    r"^(?:.*\) )?(?:class|struct|enum|concept|using) (?:class )?(?:alignas\(\w+\) )?(\w+)",
    re.MULTILINE,
)
FUNCTION_OR_CONSTANT = re.compile(r"(\w+|operator\S+)(?:<\w+>)?(?:\(| = )")
PRIVATE = re.compile(r"\n*^ private:\n(?:(?!^ public:|^\};).*\n)*", re.MULTILINE)
BODY = re.compile(r" \{\n(?:(?: .*)?\n)*\}")
OPENING = re.compile(r"namespace ([\w:]*)\s*\{")


class Chunk(NamedTuple):
    comment: list[str]
    code: list[str]


def page(header: Path, root: Path) -> str:
    """Return the page of a header; root: the directory that programs include from."""
    name = header.relative_to(root).as_posix()
    lines = header.read_text(encoding="utf-8").split("\n")
    intro, rest = leading_comment(lines)
    parts = [f"# {name}", f'```cpp\n#include "{name}"\n```', prose(intro)]
    for chunk in chunks(namespace_lines(rest)):
        code = interface("\n".join(chunk.code))
        title = name_of(code)
        if title:
            parts.append(f"## `{title}`")
        parts += [prose(chunk.comment), f"```cpp\n{code}\n```"]
    return "\n\n".join(part for part in parts if part) + "\n"


def leading_comment(lines: list[str]) -> tuple[list[str], list[str]]:
    count = next((n for n, line in enumerate(lines) if not line.startswith("//")), len(lines))
    return [line[2:] for line in lines[:count]], lines[count:]


def namespace_lines(lines: list[str]) -> Iterator[str]:
    """Yield the lines inside `namespace fbg`, without those of namespaces within it."""
    inside = 0  # how many namespaces are open
    for line in lines:
        if OPENING.match(line):
            inside += 1
        elif line.startswith("}  // namespace"):
            inside -= 1
        elif inside == 1 and not line.startswith("#"):
            yield line


def chunks(lines: Iterator[str]) -> Iterator[Chunk]:
    """Cut at blank lines between declarations; a comment belongs to what follows it."""
    comment: list[str] = []
    code: list[str] = []
    depth = 0
    for line in lines:
        if depth == 0 and not line.strip():
            if code:
                yield Chunk(comment, code)
            comment, code = [], []
            continue
        if depth == 0 and line.startswith("//"):
            if code:
                yield Chunk(comment, code)
                comment, code = [], []
            comment.append(line[2:])
            continue
        depth += nesting(line)
        code.append(line)
    if code:
        yield Chunk(comment, code)


def nesting(line: str) -> int:
    code = re.sub(r'//.*|"(?:\\.|[^"\\])*"', "", line)
    return sum(map(code.count, "({")) - sum(map(code.count, ")}"))


def interface(code: str) -> str:
    """Leave out what is private in a class, and the bodies of functions outside of classes."""
    return PRIVATE.sub("\n", code) if TYPE.search(code) else BODY.sub(";", code)


def name_of(code: str) -> str:
    """Return what the first declaration of a chunk declares."""
    code = TEMPLATE.sub("", code)
    match = TYPE.search(code) or FUNCTION_OR_CONSTANT.search(code)
    return match[1] if match else ""


def prose(comment: list[str]) -> str:
    """Return a comment as Markdown: what is indented is a diagram, the rest is text."""
    parts: list[tuple[bool, list[str]]] = []
    for line in comment:
        text = line.removeprefix(" ")
        diagram = text.startswith("  ")
        if not text.strip():
            parts.append((False, [""]))
        elif parts and parts[-1][0] == diagram:
            parts[-1][1].append(text)
        else:
            parts.append((diagram, [text]))
    parts = [part for part in parts if part[1] != [""]]
    blocks = [
        "\n".join(["```text", *lines, "```"]) if diagram else "\n".join(map(escaped, lines))
        for diagram, lines in parts
    ]
    return "\n\n".join(blocks).strip()


def escaped(text: str) -> str:
    """Escape what Markdown would read as markup, outside of `code`."""
    parts = text.split("`")
    return "`".join(
        re.sub(r"([*_<\[\]|#])", r"\\\1", part) if n % 2 == 0 else part
        for n, part in enumerate(parts)
    )
