"""Finds the project of a command and its `.mks` files, by pytest's rules."""

from __future__ import annotations

import configparser
import fnmatch
import hashlib
import os
import shlex
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import NoReturn

from mkeyspec.files import resource
from mkeyspec.files.settings import settings_for

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

SUFFIX = ".mks"
_NINTH = int(version("pytest").partition(".")[0]) >= 9
_OPTIONS = (
    *((("pytest.toml", "pytest"), (".pytest.toml", "pytest")) if _NINTH else ()),
    ("pytest.ini", "pytest"), (".pytest.ini", "pytest"), ("pyproject.toml", "tool.pytest"), ("tox.ini", "pytest"),
    ("setup.cfg", "tool:pytest"),
)  # fmt: skip
"""Where this pytest looks for its options, in its order: file and section."""

_MARKERS = ("mkeyspec.toml", *(name for name, _ in _OPTIONS), ".git")
"""What a project's directory holds: a suite's root (`compiler.loader`), or a root directory of pytest."""
_NOT_SEARCHED = ("*.egg", ".*", "_darcs", "build", "CVS", "dist", "node_modules", "venv", "{arch}")
"""pytest's default for `norecursedirs`."""


_OF_IDS = ("[", "::")
"""What separates the parts of the id of a row."""


class Unreadable(Exception):
    """A directory can't be searched, or a source has an invalid name; `str()` is one line with the fix."""

    code = "MKS0801"

    def __init__(self, text: str, code: str = code) -> None:
        super().__init__(f"error[{code}]: {text}")


def refuse_name(source: Path) -> None:
    """Raises Unreadable for a name that ids, reports and modules could not contain, or that nobody could run again.

    pytest takes what follows the first `[` of an argument for the values of a row, and what follows `::` for a case.
    """
    name = os.path.relpath(source)
    try:
        name.encode()
    except UnicodeEncodeError:
        spelt = os.fsencode(name).decode("utf-8", "backslashreplace")
        raise Unreadable(f"the name of {spelt} is not UTF-8; rename the file or its folder") from None
    for part in _OF_IDS:
        if part in name:
            why = f"has `{part}`, so the id of its rows could not be told from those of another file"
            raise Unreadable(f"the name of {name} {why}; rename the file or its folder")
    if not name.isprintable():
        raise Unreadable(f"the name of {name!r} has a control character; rename the file or its folder")


class OtherCheckout(Exception):
    """The project is a checkout of mkeyspec, and another one is running; `str()` is one line with the fix."""

    code = "MKS0924"

    def __init__(self, project: Path) -> None:
        ours = Path(__file__).resolve().parents[1]
        fix = "run that one, as `python -m mkeyspec` or `python -m pytest` in its folder"
        super().__init__(f"error[{self.code}]: {project} has {project / 'mkeyspec'}, and {ours} is running; {fix}")


@dataclass(frozen=True, slots=True)
class Project:
    """`root`: where sources are named from; `made`: where generated/ and reports/ go if mkeyspec.toml says nothing.

    `shipped`: the folder for what is made of the shipped cases of an installation, which may be read-only; None of any
    other project. `settings`: the folder that mkeyspec.toml is looked for from.
    """

    root: Path
    made: Path
    settings: Path
    shipped: Path | None = None

    @property
    def generated(self) -> Path:
        """Where modules go by default. Raises TomlError."""
        own = settings_for(self.settings).generated if self.shipped is None else None
        return own or (self.shipped or self.made) / "generated"

    @property
    def reports(self) -> Path:
        """Where reports go by default. Raises TomlError."""
        return settings_for(self.settings).reports or self.made / "reports"

    @property
    def cache(self) -> Path | None:
        """Where pytest's cache goes, if not into the root."""
        return (self.shipped or self.made) / "cache" if self.made != self.root else None


PACKAGE = "pkg:mkeyspec"
"""Names the shipped cases on a command line: `pkg:mkeyspec/signature`."""


def real_path(word: str) -> str:
    """A path of a command line; that of the shipped cases if it begins with `pkg:mkeyspec`. Raises Unreadable."""
    package, slash, rest = word.partition("/")
    if not package.startswith("pkg:"):
        return word
    if package.partition("::")[0] != PACKAGE:
        raise Unreadable(
            f"{word}: the cases of mkeyspec are the only shipped ones; write {PACKAGE}/signature", "MKS0903"
        )
    return os.path.relpath(resource.directory("cases") / rest if slash else resource.directory("cases"))


def project_of(paths: Sequence[str | Path] = ()) -> Project:
    """The project of what is named on a command line (parts of files too), or of the current directory.

    It is the nearest directory at or above all of it that looks like a project's. If none does, it is the current
    directory if that is above all of it; else what is written goes to the user's cache. Raises
    OtherCheckout.
    """
    here = Path.cwd()
    named = [Path(os.path.abspath(str(path).split("::", 1)[0])) for path in paths]
    start = here
    if named:
        common = Path(os.path.commonpath(named))
        shipped = _shipped()
        if shipped is not None and Path(os.path.realpath(common)).is_relative_to(shipped):
            own = project_of()
            return Project(shipped.parent, own.made, own.root, _cache() / f"shipped-{_digest(shipped)}")
        start = common if common.is_dir() else common.parent
    for folder in (start, *start.parents):
        if any((folder / name).exists() for name in _MARKERS):
            refuse_other_checkout(folder)
            return Project(folder, folder, folder)
    if start.is_relative_to(here):
        return Project(here, here, here)
    return Project(start, _cache() / "runs" / _digest(start), start)


def _shipped() -> Path | None:
    """The shipped cases of an installation; None in a checkout, which is a project of its own."""
    try:
        folder = resource.directory("cases")
    except FileNotFoundError:
        return None
    return folder if folder.parent.name == "_data" else None


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mkeyspec"


def _digest(path: Path) -> str:
    return hashlib.sha256(os.fsencode(path)).hexdigest()[:16]


def refuse_other_checkout(project: Path) -> None:
    """Raises OtherCheckout if `project` has an mkeyspec that is not this one."""
    theirs = project / "mkeyspec"
    if (theirs / "runtime.py").is_file() and theirs.resolve() != Path(__file__).resolve().parents[1]:
        raise OtherCheckout(project)


# Sources -------------------------------------------------------------------------------------


def find_sources(paths: Iterable[Path], root: Path | None = None) -> list[Path]:
    """Every `.mks` file in `paths`, in order, each once; folders are searched as pytest does from the directory `root`.

    Raises Unreadable.
    """
    patterns = passed_by(root if root is not None else Path.cwd())
    found: dict[Path, None] = {}
    for path in paths:
        for source in _walk(path, patterns) if path.is_dir() else (path,):
            refuse_name(source)
            found.setdefault(source)
    return list(found)


def _walk(folder: Path, patterns: Sequence[str]) -> Iterator[Path]:
    seen: set[str] = set()
    for place, folders, files in os.walk(folder, onerror=_refuse, followlinks=True):
        real = os.path.realpath(place)
        if real in seen:  # a link back, or to what was searched
            folders.clear()
            continue
        seen.add(real)
        folders[:] = sorted(name for name in folders if not _is_passed_by(Path(place, name), patterns))
        for name in sorted(files):
            if name.endswith(SUFFIX):
                yield Path(place, name)


def _is_passed_by(folder: Path, patterns: Sequence[str]) -> bool:
    if folder.name == "__pycache__" or (folder / "pyvenv.cfg").is_file() or (folder / "conda-meta/history").is_file():
        return True
    for pattern in patterns:
        if os.sep not in pattern:
            matches = fnmatch.fnmatch(folder.name, pattern)
        else:
            whole = pattern if pattern.startswith(os.sep) else f"*{os.sep}{pattern}"
            matches = fnmatch.fnmatch(os.path.abspath(folder), whole)
        if matches:
            return True
    return False


def passed_by(root: Path) -> Sequence[str]:
    """`norecursedirs` of the first file of pytest's options at `root` or above it, as pytest finds it."""
    return _ini_option(root, "norecursedirs", _NOT_SEARCHED)[1]


def added_options(root: Path) -> tuple[Path, Sequence[str]]:
    """The file of pytest's options at `root` or above it, and its `addopts`."""
    return _ini_option(root, "addopts", ())


def _ini_option(root: Path, option: str, default: Sequence[str]) -> tuple[Path, Sequence[str]]:
    for folder in (root, *root.parents):
        for name, section in _OPTIONS:
            options = _options(folder / name, section)
            if options is not None:
                found = options.get(option, default)
                words = shlex.split(found) if isinstance(found, str) else tuple(str(one) for one in found)
                return folder / name, words
    return root, default


def _options(path: Path, section: str) -> dict[str, str | Sequence[str]] | None:
    """pytest's options in a file; None if it has none, or can't be read, which pytest says better."""
    try:
        text = path.read_text(encoding="utf-8")
        if path.suffix == ".toml":
            found = tomllib.loads(text)
            for part in section.split("."):
                found = found.get(part, {})
            return found.get("ini_options", found or ({} if section == "pytest" else None))
        parser = configparser.RawConfigParser()
        parser.read_string(text)
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError, configparser.Error):
        return None
    if parser.has_section(section):
        return dict(parser.items(section))
    return {} if path.name.endswith("pytest.ini") else None


def _refuse(error: OSError) -> NoReturn:
    where = os.path.relpath(error.filename)
    raise Unreadable(f"can't search {where}: {error.strerror}; make it readable") from None
