"""Print what CHANGELOG.md says of a version, which becomes the text of its release.

    python scripts/release_notes.py v0.2.0

Ends with an error unless the sources have that version, and the changelog a dated section of it.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HEADING = re.compile(r"^## \[([^\]]+)\](?: - (\d{4}-\d\d-\d\d))?$", re.MULTILINE)


def source_version(root: Path = ROOT) -> str:
    """Return the version that CMakeLists.txt states, from which the packages take it."""
    found = re.search(r"project\(fbg VERSION ([\d.]+)", (root / "CMakeLists.txt").read_text())
    if not found:
        raise SystemExit("CMakeLists.txt: no version was found")
    return found[1]


def notes(tag: str, root: Path = ROOT) -> str:
    """Return the section of the changelog for the version that a tag such as v0.2.0 names."""
    version = source_version(root)
    if tag != f"v{version}":
        raise SystemExit(f"the tag must be v{version}, the version of the sources; got {tag}")
    text = (root / "CHANGELOG.md").read_text(encoding="utf-8")
    headings = list(HEADING.finditer(text))
    for heading, following in zip(headings, [*headings[1:], None], strict=True):
        if heading[1] == version:
            if not heading[2]:
                raise SystemExit(f"CHANGELOG.md: the section [{version}] needs a date")
            return text[heading.end() : following.start() if following else None].strip()
    raise SystemExit(f"CHANGELOG.md: no section [{version}] was found")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    print(notes(sys.argv[1]))
