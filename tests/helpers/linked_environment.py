"""A virtual environment with only those packages that pip would install for what is asked for.

Nothing is downloaded: its packages are links to those of this interpreter. What no requirement
leads to cannot be imported there, as for a user who installs no more than a page tells.
"""

import sys
import venv
from importlib.metadata import distribution
from pathlib import Path, PurePath

from packaging.requirements import Requirement

import fbg

# What stands for a distribution that tests do without, and what that requires.
STAND_INS = {"pyspark": ("pyspark_stand_in", ("pandas", "pyarrow"))}


class LinkedEnvironment:
    """python: its interpreter. It begins with fbg and what that always needs."""

    def __init__(self, path):
        venv.EnvBuilder(symlinks=True).create(path)
        self.python = path / "bin/python"
        version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
        self._packages = path / "lib" / version / "site-packages"
        self._done = set()
        self._link_fbg()
        self.install(Requirement("fbg"))

    def install(self, requirement):
        """Link what pip would install; PackageNotFoundError for what this interpreter lacks."""
        if requirement.name in STAND_INS:
            folder, needed = STAND_INS[requirement.name]
            (self._packages / requirement.name).symlink_to(Path(__file__).with_name(folder))
            for name in needed:
                self.install(Requirement(name))
            return
        for name, extra in _closure(requirement, self._done):
            if not extra and name != "fbg":
                self._link(distribution(name))

    def _link(self, found):
        """Link the distribution's packages; several may share a folder, such as google/."""
        seen = set[PurePath]()
        for file in found.files or ():
            place = PurePath()
            for part in file.parts:
                place /= part
                if place in seen:
                    continue
                source, target = Path(str(found.locate_file(place))), self._packages / place
                if part in ("..", "__pycache__") or target.is_symlink():
                    break
                if not source.is_dir() or (source / "__init__.py").exists():
                    target.symlink_to(source)
                    break
                target.mkdir(exist_ok=True)
                seen.add(place)

    def _link_fbg(self):
        """The package as it is imported here: its modules and the extension may lie apart."""
        folder = self._packages / "fbg"
        folder.mkdir()
        extension = fbg._fbg.__file__
        assert extension is not None and fbg.__file__ is not None
        for source in {*Path(fbg.__file__).parent.iterdir(), Path(extension)}:
            if source.name != "__pycache__" and not (folder / source.name).exists():
                (folder / source.name).symlink_to(source)


def _closure(wanted, done):
    """Names of distributions, each with one of its extras or "", that `done` lacks; adds them."""
    for extra in ("", *sorted(wanted.extras)):
        pair = (wanted.name.lower().replace("_", "-"), extra)
        if pair not in done:
            done.add(pair)
            yield pair
            for text in distribution(wanted.name).requires or ():
                needed = Requirement(text)
                # Without a marker, it is needed for every extra, "" among them.
                applies = needed.marker is None or needed.marker.evaluate({"extra": extra})
                if applies and (extra == "" or needed.marker is not None):
                    yield from _closure(needed, done)
