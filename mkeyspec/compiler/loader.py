"""Reads the files of a suite: which may be read, how, and what a file imports.

Nothing outside the suite's root (`files.suite_root`) is ever read, but libraries that are installed as Python packages
(`files.installed`). `use "common.mks"` is relative to the directory of its file and may go up as far as the root, in a
package as far as the package. It imports the used file's `let`s, and those that it uses itself, but not its cases.

A file without a case but with a `let` is a *library*: other files can use it, and it has nothing to run. A file with
neither is an error.
"""

from __future__ import annotations

import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType

from mkeyspec.compiler.used_file import Home, UsedFile, inside, source_name, used_file
from mkeyspec.diagnostics import limits
from mkeyspec.diagnostics.diagnostic import Diagnostics, Note
from mkeyspec.diagnostics.source import Source, Span
from mkeyspec.files.suite_root import find_root, mode, real
from mkeyspec.syntax import ast
from mkeyspec.syntax.parser import parse

NOTHING_UNSAVED: Mapping[Path, bytes] = MappingProxyType({})

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]|\r(?!\n)")
_HIDDEN = re.compile(
    "[\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e007f]"
)
"""Characters that reorder what is shown or are not shown at all: bidi controls, zero-width ones, tags."""


@dataclass(frozen=True, slots=True)
class Loaded:
    """A file and what it uses. `library`: lets of the used files in order, then its own; `inputs`: all files read;
    `asked`: the used files, with the names that led to them."""

    file: ast.File
    library: tuple[ast.Let, ...]
    inputs: tuple[Source, ...]
    asked: tuple[UsedFile, ...] = ()


def read(path: Path, name: str, diagnostics: Diagnostics, instead: bytes | None = None) -> Source | None:
    """The text of the file; None if it cannot be read or is not clean text. `instead`: what is read in its place.

    A byte order mark at the start is dropped, `\\r\\n` is kept. Invalid text is reported with its position: bytes
    that are not UTF-8, control characters, characters that hide or reorder.
    """
    try:
        kind = mode(path) if instead is None else 0
        if stat.S_ISDIR(kind):
            _refuse(diagnostics, "MKS0801", "this is a directory, not a file", name)
            return None
        if kind and not stat.S_ISREG(kind):  # a pipe would wait for ever
            _refuse(diagnostics, "MKS0801", "this is not a regular file", name)
            return None
        raw = _bytes(path) if instead is None else instead
    except FileNotFoundError:
        _refuse(diagnostics, "MKS0801", "there is no such file", name)
        return None
    except (OSError, ValueError) as error:
        reason = (error.strerror or str(error)) if isinstance(error, OSError) else str(error)
        _refuse(diagnostics, "MKS0801", f"cannot read this file: {reason.lower()}", name)
        return None
    if len(raw) > limits.FILE_BYTES.most:
        _refuse(diagnostics, limits.FILE_BYTES.code, f"this file is too large: {limits.FILE_BYTES.broken()}", name)
        return None
    whole, raw = raw, raw.removeprefix(b"\xef\xbb\xbf")
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        source = Source(name, raw.decode("utf-8", "replace"), path)
        at = len(raw[: error.start].decode("utf-8", "replace"))
        encoding = "; it looks like UTF-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else ""
        message = f"byte 0x{raw[error.start]:02x} is not UTF-8{encoding}"
        diagnostics.error("MKS0802", message, Span(source, at, at + 1), help="save the file as UTF-8")
        return None
    source = Source(name, text, path, whole)
    return source if _clean(source, diagnostics) else None


def _bytes(path: Path) -> bytes:
    with path.open("rb") as stream:
        return stream.read(limits.FILE_BYTES.most + 1)


def _refuse(diagnostics: Diagnostics, code: str, message: str, name: str) -> None:
    diagnostics.error(code, message, Span(Source(name, ""), 0, 0))


def _clean(source: Source, diagnostics: Diagnostics) -> bool:
    text = source.text
    if text.isascii() and _CONTROL.search(text) is None:
        return True
    found = 0
    for match in _CONTROL.finditer(text):
        found += 1
        if found > 10:
            return False
        character = match.group()
        if character == "\0":
            message, help = "a NUL byte", "is this a text file?"
        elif character == "\r":
            message, help = "a carriage return without a line feed", "end lines with \\n or \\r\\n"
        else:
            message, help = f"a control character, U+{ord(character):04X}", 'remove it; inside bytes write hex"…"'
        diagnostics.error("MKS0803", message, Span(source, match.start(), match.end()), help=help)
    for match in _HIDDEN.finditer(text):
        found += 1
        if found > 10:
            return False
        message = f"a character that is not shown or reorders the line, U+{ord(match.group()):04X}"
        diagnostics.error("MKS0804", message, Span(source, match.start(), match.end()), help="remove it")
    return not found


def load(
    path: Path,
    diagnostics: Diagnostics,
    root: Path | None = None,
    base: Path | None = None,
    instead: bytes | None = None,
    unsaved: Mapping[Path, bytes] = NOTHING_UNSAVED,
    broken: bool = False,
) -> Loaded | None:
    """The file at `path`, parsed, with the lets it uses; None if nothing of it is usable.

    `instead`: bytes that are read in place of those of the file; `unsaved`: the same of files that it uses, by their
    real paths. `broken`: cases with mistakes are in the tree too, as far as they can be read.

    Files are named from `base` if they are below it, else from the root.

    A file without a case is a library: nothing to collect, or, when it was named to be run,
    `report_nothing_to_run`. Every problem is in `diagnostics`.
    """
    home = real(root or find_root(path))
    place = real(path)
    names = home if base is None or not inside(place, real(base)) else real(base)
    name = source_name(path, names)
    if root is not None and not inside(place, home):
        _refuse(diagnostics, "MKS0808", f"this file is not below the suite's root, {home}", name)
        return None
    loading = _Loading(diagnostics, unsaved)
    source = read(place, name, diagnostics, instead)
    if source is None:
        return None
    file = loading.parsed(source, place, broken)
    if file is None:
        return None
    lets = loading.lets(file, place, Home(home, names))
    if not file.cases and not file.lets and not _wrong(diagnostics, source):
        _nothing(source, diagnostics)
        return None
    return Loaded(file, tuple(lets), tuple(loading.inputs), tuple(loading.asked))


def _wrong(diagnostics: Diagnostics, source: Source) -> bool:
    return any(d.span.source is source for d in diagnostics.errors)


def _nothing(source: Source, diagnostics: Diagnostics) -> None:
    if not source.text.strip():
        _refuse(diagnostics, "MKS0805", "this file is empty", source.name)
        return
    diagnostics.error(
        "MKS0806",
        "there is no case in this file",
        Span(source, 0, _first_line_end(source)),
        help="a case begins with `case NAME`",
    )


def _first_line_end(source: Source) -> int:
    return max(1, len(source.line(1)))


def report_nothing_to_run(source: Source, diagnostics: Diagnostics) -> None:
    """The error for a library that was named to be run."""
    diagnostics.error(
        "MKS0811",
        "nothing to run in this file: it has `let`s but no case",
        Span(source, 0, _first_line_end(source)),
        help="files that `use` it are run; name one of those",
    )


class _Loading:
    """One `load`: the files read, and the files being loaded."""

    def __init__(self, diagnostics: Diagnostics, unsaved: Mapping[Path, bytes]) -> None:
        self.unsaved = unsaved
        self.diagnostics = diagnostics
        self.inputs: list[Source] = []
        self.asked: dict[UsedFile, None] = {}
        self.files: dict[Path, ast.File | None] = {}
        self.names: dict[Path, str] = {}
        self.seen: dict[tuple[Path, Home], list[ast.Let]] = {}
        """What files see that are loaded completely. A file of a package may be one of the suite as well."""
        self.on_the_way: list[Path] = []
        """The files whose `use` leads to the one being read."""

    def parsed(self, source: Source, path: Path, broken: bool = False) -> ast.File | None:
        self.inputs.append(source)
        file = parse(source, self.diagnostics, broken) if source.text.strip() else None
        if file is None and not source.text.strip():
            _nothing(source, self.diagnostics)
        self.files[path] = file
        self.names[path] = source.name
        return file

    def lets(self, file: ast.File, path: Path, home: Home) -> list[ast.Let]:
        """The lets that `file` sees, those of used files first; two of one name are reported at the `use`."""
        seen: dict[str, tuple[ast.Let, ast.Text]] = {}
        result: list[ast.Let] = []
        for use in file.uses:
            for let in self.used(use, path, home):
                other = seen.get(let.name.text)
                if other is None:
                    seen[let.name.text] = (let, use)
                    result.append(let)
                elif other[0] is not let:
                    self._clash(let, other[0], use)
        own: dict[str, ast.Let] = {}
        for let in file.lets:
            if let.name.text in seen:
                brought, use = seen[let.name.text]
                self._clash(brought, let, use)
            elif let.name.text not in own:  # twice in one file is reported where names are resolved
                own[let.name.text] = let
            result.append(let)
        return result

    def _clash(self, let: ast.Let, other: ast.Let, use: ast.Text) -> None:
        notes = (Note("brought in from here", let.name.span), Note("and there is this one", other.name.span))
        self.diagnostics.error(
            "MKS0810",
            f"this brings in `{let.name.text}`, which is there already",
            use.span,
            notes=notes,
            help="rename one of them; lets of used files are not hidden",
        )

    def used(self, use: ast.Text, path: Path, home: Home) -> list[ast.Let]:
        """What `use` brings in."""
        found = used_file(use, path, home, self.diagnostics)
        if found is None:
            return []
        self.asked[found] = None
        target = found.path
        chain = [*self.on_the_way, path]
        if target in chain:
            ring = [*chain[chain.index(target) :], target]
            names = " -> ".join(self.names[one] for one in ring)
            self.diagnostics.error("MKS0809", "files use each other in a circle", use.span, notes=(Note(names),))
            return []
        if target not in self.files:
            if len(self.files) > limits.USE_FILES.most:
                self.diagnostics.error(limits.USE_FILES.code, limits.USE_FILES.broken(), use.span)
                return []
            self.files[target] = None
            source = read(target, found.name, self.diagnostics, self.unsaved.get(target))
            if source is not None:
                self.parsed(source, target)
        file = self.files[target]
        if file is None:
            return []
        key = (target, found.home)
        if key not in self.seen:
            self.on_the_way.append(path)
            self.seen[key] = self.lets(file, target, found.home)
            self.on_the_way.pop()
        return self.seen[key]
