"""Which file a `use` means: one of the suite, or one of an installed package. What can't be read is reported there."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from mkeyspec.diagnostics.diagnostic import Diagnostics, Note
from mkeyspec.diagnostics.suggest import CLOSE
from mkeyspec.files import installed
from mkeyspec.files.suite_root import MARKERS, mode, real
from mkeyspec.syntax import ast

SUFFIX = ".mks"


@dataclass(frozen=True, slots=True)
class Home:
    """What a file's `use`s stay in: the folder `root` of the suite, or of the installed package `package`.

    `names`: where files of the suite are named from.
    """

    root: Path
    names: Path
    package: str = ""

    def name_of(self, path: Path) -> str:
        """`path` as diagnostics name it: `pkg:vendor_suite/common.mks` in a package."""
        if self.package:
            return f"{installed.PREFIX}{self.package}/{source_name(path, self.root)}"
        return source_name(path, self.names)

    @property
    def words(self) -> str:
        return f"the package `{self.package}`" if self.package else "the suite's root"


@dataclass(frozen=True, slots=True)
class UsedFile:
    """`path`: without symlinks; `asked`: the name that led to it, which may be a link."""

    path: Path
    home: Home
    asked: Path

    @property
    def name(self) -> str:
        return self.home.name_of(self.path)

    @property
    def packaged(self) -> str:
        """`asked` by its package; "" of a file of the suite."""
        within = self.asked.relative_to(self.home.root).as_posix() if self.home.package else ""
        return within and f"{installed.PREFIX}{self.home.package}/{within}"


def source_name(path: Path, root: Path) -> str:
    """`path` as diagnostics name it: relative to the root, with `/`; as it is where it is not below the root."""
    try:
        return real(path).relative_to(root).as_posix()
    except ValueError:
        return path.as_posix()


def inside(path: Path, root: Path) -> bool:
    return path == root or root in path.parents


def used_file(use: ast.Text, path: Path, home: Home, diagnostics: Diagnostics) -> UsedFile | None:
    """The file that the `use` of the file at `path` means; None, and reported, if it may not be read."""
    written = use.value
    packaged = written.startswith(installed.PREFIX)
    if not written.endswith(SUFFIX) or "\\" in written or "\0" in written:
        help = f"`use` takes a file name ending in {SUFFIX}, with `/` between directories"
        if packaged:
            help = installed.FORM
        elif "\0" not in written and (path.parent / (written + SUFFIX)).is_file():
            help = f'write `"{written}{SUFFIX}"`'
        what = "a package's" if packaged else "a suite's"
        diagnostics.error("MKS0812", f"`{written}` is not the name of {what} file", use.span, help=help)
        return None
    asked = path.parent / written
    if packaged:
        try:
            package, within = installed.parts(written)
            home = Home(installed.root_of(package), home.names, package)
        except installed.Unusable as error:
            diagnostics.error(error.code, str(error), use.span, help=error.help)
            return None
        asked = home.root / within
    lexical = Path(os.path.normpath(asked))
    if written.startswith("/") or not inside(lexical, home.root):
        _outside(use, f"`use` does not leave {home.words}", home, diagnostics)
        return None
    target = real(asked)
    if not inside(target, home.root):
        _outside(use, f"`{written}` is a link out of {home.words}", home, diagnostics)
        return None
    if not stat.S_ISREG(mode(target)):
        help = _meant(written, lexical, home)
        diagnostics.error("MKS0807", f"there is no file `{written}`", use.span, help=help)
        return None
    return UsedFile(target, home, lexical if real(lexical) == target else target)


def _outside(use: ast.Text, message: str, home: Home, diagnostics: Diagnostics) -> None:
    holds = ", ".join(f"`{m}`" for m in MARKERS)
    if home.package:
        diagnostics.error("MKS0808", message, use.span, help="a library uses files of its own package, or `pkg:` again")
        return
    note = Note(f"the root is the nearest directory upwards with {holds}, or the file's own")
    diagnostics.error("MKS0808", message, use.span, notes=(note,), help="keep shared files inside the suite")


def _meant(written: str, lexical: Path, home: Home) -> str:
    """What to write in place of a name that no file has."""
    names = sorted(_neighbours(lexical.parent))
    close = [n for n in names if n.casefold() == lexical.name.casefold()]
    if close:
        return f"there is `{close[0]}`"
    alike = get_close_matches(lexical.name, [n for n in names if n.endswith(SUFFIX)], 1, CLOSE)
    if alike:
        return f'did you mean `"{written.removesuffix(lexical.name)}{alike[0]}"`?'
    if written.casefold().startswith(installed.PREFIX):
        if home.package and not any(home.root.rglob(f"*{SUFFIX}")):
            return f"the package has no {SUFFIX} files: does its wheel include them?"
        if not home.package:
            return f"a file of an installed package begins with `{installed.PREFIX}`"
    return f"it would be {home.name_of(lexical)}"


def _neighbours(directory: Path) -> Iterator[str]:
    try:
        yield from (p.name for p in directory.iterdir() if p.suffix == SUFFIX)
    except OSError:
        return
