"""Files of installed Python packages: `pkg:vendor_suite/common.mks` is `common.mks` in the folder of `vendor_suite`.

A package is found where Python would import it from, and is not imported: finding a library runs no code of it. A name
is that of a top package, since Python imports the packages around any other.
"""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from difflib import get_close_matches
from pathlib import Path

from mkeyspec.files import resource
from mkeyspec.files.suite_root import real

PREFIX = "pkg:"
OURS = "mkeyspec"
"""The package of the shipped cases, as on a command line: `pkg:mkeyspec/signature`."""

RECORDED = "mkeyspec-recorded-packages"
"""A folder of this name in `sys.path` comes before what is installed: it has the libraries that a bundle kept. It
reaches child processes as the rest of `sys.path` does. Its packages have no `__init__.py`, so they hide no module."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
FORM = 'write `"pkg:PACKAGE/FILE.mks"`, with the name by which Python imports the package'
_INSTALL = "install it with pip, into the Python that runs mkeyspec"


class Unusable(Exception):
    """A name in a package that means no file; `str()` says why, `help` what to do."""

    def __init__(self, code: str, text: str, help: str) -> None:
        super().__init__(text)
        self.code = code
        self.help = help


def parts(name: str) -> tuple[str, str]:
    """The package and the path in it, without `.` and `..`, of a name with its prefix. Raises Unusable."""
    package, slash, path = name.removeprefix(PREFIX).partition("/")
    if not _NAME.fullmatch(package) or not slash:
        help, meant = FORM, package.strip().replace("-", "_")
        if "." in package.strip(".") and slash:
            help = f'the top package is named: write `"{PREFIX}{package.replace(".", "/")}/{path}"`'
        elif slash and meant != package and _NAME.fullmatch(meant):
            help = f'Python imports it by another name: write `"{PREFIX}{meant}/{path}"`'
        what = f"`{package}` is not the name of a package" if package else f"there is no package after `{PREFIX}`"
        raise Unusable("MKS0812", what if slash or not package else f"`{name}` names no file of a package", help)
    within = os.path.normpath(path)
    if path.startswith("/") or within == ".." or within.startswith("../"):
        raise Unusable("MKS0808", f"`use` does not leave the package `{package}`", "name a file inside of it")
    return package, within


def root_of(package: str) -> Path:
    """The folder of an installed package, without symlinks. Raises Unusable."""
    if package == OURS:
        return real(resource.directory("cases"))
    for folder in map(Path, sys.path):
        if folder.name == RECORDED and (folder / package).is_dir():
            return real(folder / package)
    spec = None
    for finder in sys.meta_path:
        try:
            spec = finder.find_spec(package, None)
        except Exception as error:  # of whoever installed the finder
            what = f"the package `{package}` can't be found: {type(error).__name__}: {error}"
            raise Unusable("MKS0814", what, "install it again with pip") from None
        if spec is not None:
            break
    if spec is None:
        close = get_close_matches(package, sorted(_installed()), 1, 0.75)
        help = f"did you mean `{close[0]}`? If not, {_INSTALL}" if close else _INSTALL
        raise Unusable("MKS0813", f"no package `{package}` is installed", help)
    folders = [Path(folder) for folder in spec.submodule_search_locations or ()]
    if not folders:
        raise Unusable("MKS0814", f"`{package}` is a module without a folder, so it has no files", FORM)
    if spec.origin is None:
        what = f"the folder `{package}` has no `__init__.py`, so several folders may be this package"
        raise Unusable("MKS0814", what, "add an empty `__init__.py` to the package")
    if not folders[0].is_dir():
        what = f"the package `{package}` is not a folder: {folders[0].parent.name} holds it"
        raise Unusable("MKS0814", what, "install it with pip, which unpacks it")
    return real(folders[0])


def _installed() -> set[str]:
    """The names of all packages in the folders that Python looks in."""
    found: set[str] = set()
    for folder in map(Path, sys.path):
        with suppress(OSError):
            names = [one.name for one in folder.iterdir() if _NAME.fullmatch(one.name)]
            found |= {name for name in names if (folder / name / "__init__.py").is_file()}
    return found


def file_of(name: str) -> tuple[Path, Path] | None:
    """The file that a name with its prefix means, without symlinks, and the folder of its package; None if there is
    none, or it is not to be read."""
    try:
        package, within = parts(name)
        root = root_of(package)
    except Unusable:
        return None
    file = real(root / within)
    return (file, root) if file.is_relative_to(root) and file.is_file() else None
