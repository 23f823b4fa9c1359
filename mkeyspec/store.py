"""The generated modules on disk: detects stale ones, writes, replaces and removes them.

A module is fresh if its head has the checksums of the current files and the current compiler, and its own text is
unchanged. If a source does not compile, its last good module is removed, so that it can't run instead.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING, Literal

from mkeyspec import __version__
from mkeyspec.emit.header import Header, digest_of_files, has_header, read_header, with_header
from mkeyspec.emit.module_path import module_name, source_name
from mkeyspec.files import installed
from mkeyspec.files.atomic_write import forget_bytecode, replace
from mkeyspec.files.project import SUFFIX, find_sources
from mkeyspec.files.selection import MOST_STRONGER
from mkeyspec.files.suite_root import MARKERS, real, suite_root
from mkeyspec.files.toml_places import TomlError
from mkeyspec.files.unwritable import Unwritable
from mkeyspec.project.compiler_digest import compiler_digest
from mkeyspec.project.source import at_levels, code_of, compile_source, warnings_of
from mkeyspec.requirements.own import own_ledger

if TYPE_CHECKING:
    from mkeyspec.compiler.compile import Compiled
    from mkeyspec.compiler.used_file import UsedFile
    from mkeyspec.compiler.warning_levels import Levels
    from mkeyspec.diagnostics.diagnostic import Diagnostic

State = Literal["fresh", "written", "library", "broken"]

_NOTE = "A library: nothing in it runs by itself.\n"
_HEAD = "# A package, so that modules of one name in two folders can be collected together. Written by mkeyspec.\n"


MOST_SAVED = 3
"""Times that a file is compiled again because it was saved while it was compiled."""


@dataclass(frozen=True, slots=True)
class Result:
    """The result for one source. `module`: where its module is, None if it has none (a library, or broken).

    `compiled` is None for a fresh one, which was not compiled again. `warnings`: a line each, also of a fresh one.
    """

    path: Path
    source: str
    state: State
    module: Path | None = None
    compiled: Compiled | None = None
    warnings: tuple[str, ...] = ()

    @property
    def diagnostics(self) -> list[Diagnostic]:
        """In the order of their positions."""
        return list(self.compiled.diagnostics) if self.compiled is not None else []


class Store:
    """The modules of one project: `project` is the directory that sources are named from.

    `levels` (`compiler.warning_levels.Levels`): which warnings are errors, and which aren't shown; None: all are shown.
    `stronger`: how much larger the strength of each `covering` is. Those modules are kept beside the others.
    """

    def __init__(
        self, project: Path, generated: Path | None = None, levels: Levels | None = None, stronger: int = 0
    ) -> None:
        self.levels = levels
        self.stronger = stronger
        self.project = Path(os.path.abspath(project))
        self.plain = Path(os.path.abspath(generated or self.project / "generated"))
        """Where modules are kept that are not made with a larger strength."""
        name = f"{self.plain.name}-stronger-{stronger}" if stronger else self.plain.name
        self.generated = self.plain.with_name(name)
        self._sources_here: bool | None = None
        self._others: dict[Path, Store] = {}
        self._searched: dict[PurePosixPath, bool] = {}

    def module_of(self, path: Path) -> Path:
        return self.generated / module_name(source_name(path, self.project))

    def note_of(self, path: Path) -> Path:
        """The note that is stored for a library instead of a module, so that it is not compiled in every run."""
        return self.module_of(path).with_suffix(".library")

    def is_fresh(self, path: Path) -> bool:
        """Whether the module of `path` is what compiling it now would write."""
        return self._current(self.module_of(path), path) is not None

    def is_current(self, path: Path) -> bool:
        """Whether compiling `path` now would write nothing: it is fresh, or a library that was looked at."""
        return self.is_fresh(path) or self._current(self.note_of(path), path) is not None

    def _current(self, file: Path, path: Path) -> Header | None:
        """The head of `file` if it is there, as it was written, by this compiler, from `path` as it is."""
        try:
            text = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return None
        header = read_header(text)
        if header is None or header.compiler != self._compiler(path):
            return None
        if header.source != source_name(path, self.project):
            return None
        return header if header.inputs == self._inputs_digest((header.source, *header.used)) else None

    def _compiler(self, path: Path) -> str:
        """What decides how the source at `path` is compiled, beside what it uses."""
        try:
            own = own_ledger(path.parent).digest
        except TomlError:  # reported when it is compiled
            own = "broken"
        parts = (compiler_digest(), str(self.stronger or ""), own and f"ledger {own}")
        return "+".join(part for part in parts if part)

    def has_source(self, module: Path) -> bool:
        """Whether `module` is one of ours, as it was written, and what it was made from is in the project."""
        header = _header_of(module)
        return header is not None and (self.project / header.source).is_file()

    def owner_of(self, module: Path) -> Store | None:
        """The store that `module` is kept in: this one, or that of a project in another folder; None if in none.

        A module's place follows from its source's name; so the project of one that is not in `generated` is the
        folder around its own generated directory. Unless that has the source, or is the root of a project, a source of
        that name in this project is the one: the module may be an old copy.
        """
        if module.is_relative_to(self.generated):
            return self
        beside = self.plain.parent
        top = module.relative_to(beside).parts[0] if module.is_relative_to(beside) else ""
        for stronger in range(MOST_STRONGER + 1) if top.startswith(self.plain.name) else ():
            other = Store(self.project, self.plain, self.levels, stronger)
            if top == other.generated.name:
                return self._others.setdefault(other.generated, other)
        header = _header_of(module)
        if header is None:
            return None
        place = module_name(header.source).parts
        if module.parts[-len(place) :] != place:
            return None
        generated = Path(*module.parts[: -len(place)])
        around = generated.parent
        own = any((around / name).exists() for name in (header.source, *MARKERS))
        if (around == self.project or not own) and (self.project / header.source).is_file():
            return None
        return self._others.setdefault(generated, Store(generated.parent, generated, self.levels))

    def fault_of(self, module: Path) -> tuple[str, str] | None:
        """Why a generated module must not run: (code, one line); None if it may, or is not a generated module.

        If its sources exist, it must be made from their current content by this compiler. If there are none, for
        example on a machine to which the modules were copied, only its own text and the version of mkeyspec are
        compared.
        """
        try:
            text = module.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            return None  # the import reports it
        ours = module.is_relative_to(self.generated) and module.name.startswith("test_")
        if not has_header(text) and not ours:
            return None
        name = source_name(module, self.project)
        header = read_header(text)
        owner = self.owner_of(module) or self
        if header is None or not has_header(text):
            fix = "compile it again; to run a changed copy, put it elsewhere without its head"
            return "MKS0908", f"{name} is not as it was written; {fix}"
        place = owner.generated / module_name(header.source)
        if owner.keeps(module) and module != place:
            there = source_name(place, self.project)
            return "MKS0908", f"{name} is the module of {header.source}, whose place is {there}; compile both again"
        why = owner._stale(header)
        return ("MKS0909", f"{name} is out of date: {why}; compile it again") if why else None

    def warnings_in(self, module: Path) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """Of a generated module, a line each: the warnings that are shown, and those that are denied."""
        header, levels = _header_of(module), self.levels
        found = () if header is None else header.warnings
        return self._shown(found), tuple(one for one in found if levels is not None and levels.denies(code_of(one)))

    def keeps(self, module: Path) -> bool:
        return module.is_relative_to(self.generated)

    def _stale(self, header: Header) -> str:
        libraries = [name for name in header.used if name.startswith(installed.PREFIX)]
        names = (header.source, *(name for name in header.used if name not in libraries))
        there = [name for name in names if (self.project / name).is_file()]
        if not there and not self._has_sources(PurePosixPath(header.source)):
            if header.version == __version__:
                return ""
            return f"it was compiled by mkeyspec {header.version}, and this is mkeyspec {__version__}"
        for name in names:
            if name not in there:
                return f"{name} is gone"
        for name in libraries:
            if installed.file_of(name) is None:
                return f"{name} is not installed"
        if header.inputs != self._inputs_digest((header.source, *header.used)):
            return f"{' or '.join((header.source, *header.used))} has changed, or the root of the suite"
        same = header.compiler == self._compiler(self.project / header.source)
        return "" if same else "another compiler or another ledger made it"

    def _has_sources(self, source: PurePosixPath) -> bool:
        """Whether this machine has `.mks` files: around `source`, or those of any module that is here."""
        if self._sources_here is None:
            self._sources_here = any(map(self.has_source, self._written()))
        # All of the project's folder that it was in; of a source elsewhere its own folder alone.
        top = source.parent if source.is_absolute() else PurePosixPath(*source.parts[:-1][:1])
        if top not in self._searched:
            place, pattern = self.project / top, f"*{SUFFIX}"
            deep = not source.is_absolute() and place != self.project
            self._searched[top] = any(place.rglob(pattern) if deep else place.glob(pattern))
        return self._sources_here or self._searched[top]

    def compile(self, path: Path, *, force: bool = False) -> Result:
        """Bring the module of one source up to date; its faults are in the result. Raises Unwritable.

        What is saved while it is compiled is compiled again.
        """
        result = self._compile(path, force)
        for _ in range(MOST_SAVED):
            kept = {"written": self.module_of(path), "library": self.note_of(path)}.get(result.state)
            if kept is None or result.compiled is None or self._current(kept, path) is not None:
                break
            result = self._compile(path, True)
        return result

    def _compile(self, path: Path, force: bool) -> Result:
        compiler = self._compiler(path)  # before the compiler is imported: of an update in between it is out of date
        source = source_name(path, self.project)
        module = self.module_of(path)
        for kept in (module, self.note_of(path)) if not force else ():
            header = self._current(kept, path)
            if header is not None and not self._denied(header.warnings):
                if kept == module:
                    return Result(path, source, "fresh", module, None, self._shown(header.warnings))
                return Result(path, source, "library", None, None, self._shown(header.warnings))
        compiled = compile_source(path, self.project, self.stronger)
        warnings = warnings_of(compiled)
        if self.levels is not None:
            compiled = at_levels(compiled, self.levels)
        self.remove(self.note_of(path))
        if compiled.suite is None or compiled.diagnostics.errors:
            self.remove(module)
            return Result(path, source, "broken", None, compiled)
        if not compiled.suite.cases:
            self.remove(module)
            self.write(self.note_of(path), with_header(self._header(path, source, compiled, compiler, warnings), _NOTE))
            return Result(path, source, "library", None, compiled, self._shown(warnings))
        from mkeyspec.emit.writer import write  # and Jinja2: a session of fresh modules does without

        text = write(compiled.suite, self._header(path, source, compiled, compiler, warnings))
        self.write(module, text)
        return Result(path, source, "written", module, compiled, self._shown(warnings))

    def _denied(self, warnings: tuple[str, ...]) -> bool:
        levels = self.levels
        return levels is not None and any(levels.denies(code_of(line)) for line in warnings)

    def _shown(self, warnings: tuple[str, ...]) -> tuple[str, ...]:
        levels = self.levels
        return warnings if levels is None else tuple(one for one in warnings if not levels.allows(code_of(one)))

    def _header(
        self, path: Path, source: str, compiled: Compiled, compiler: str, warnings: tuple[str, ...] = ()
    ) -> Header:
        """Its checksum is of the bytes that were compiled, whatever the files hold by now."""
        loaded, own = compiled.loaded, Path(os.path.abspath(path))
        asked = loaded.asked if loaded is not None else ()
        used = [self._used_name(file) for file in asked if file.asked != own]
        read = {one.path: one.raw for one in loaded.inputs if one.path is not None} if loaded is not None else {}
        inputs = self._inputs_digest((source, *used), read) or ""
        return Header(source, tuple(used), inputs, compiler, __version__, warnings)

    def _used_name(self, file: UsedFile) -> str:
        """A used file in a header: by its package, or as sources are named."""
        name = file.packaged or source_name(file.asked, self.project)
        return f"./{name}" if name.startswith(installed.PREFIX) and not file.packaged else name

    def _inputs_digest(self, names: tuple[str, ...], read: Mapping[Path, bytes] | None = None) -> str | None:
        """The checksum of a source and what it uses: their bytes, the suite's root, where links lead.

        `read`: the bytes that the compiler read, by the files' places; without it, as they are now. None if one
        can't be read, or is not to be (MKS0808).
        """
        root = suite_root(self.project / names[0], self.project)
        within: list[Path] = []
        contents: list[bytes] = []
        for number, name in enumerate(names):
            home = root
            if number and name.startswith(installed.PREFIX):
                found = installed.file_of(name)
                if found is None:
                    return None
                place, home = found
            elif (self.project / name).is_file():
                place = real(self.project / name)
            else:
                return None
            if not place.is_relative_to(home):
                return None
            try:
                contents.append(place.read_bytes() if read is None else read[place])
            except (OSError, KeyError):  # a link that leads elsewhere by now has no bytes
                return None
            within.append(place.relative_to(home))
        beside = [os.path.relpath(root, real(self.project)), *map(str, within)]
        return digest_of_files([*zip(names, contents, strict=True), *((name, b"") for name in beside)])

    def write(self, module: Path, text: str) -> None:
        """Replace `module` by `text` atomically."""
        try:
            self._make_packages(module.parent)
            replace(module, text)
        except OSError as error:
            raise Unwritable(module, error) from None
        forget_bytecode(module)

    def _make_packages(self, folder: Path) -> None:
        if folder.is_dir() and (folder / "__init__.py").exists():
            return
        folder.mkdir(parents=True, exist_ok=True)
        while folder != self.generated.parent and self.generated in (folder, *folder.parents):
            if not (folder / "__init__.py").exists():
                replace(folder / "__init__.py", _HEAD)
            folder = folder.parent

    def remove(self, module: Path) -> None:
        try:
            module.unlink(missing_ok=True)
        except NotADirectoryError:
            return
        except OSError as error:
            raise Unwritable(module, error) from None
        forget_bytecode(module)

    def remove_orphans(self, folder: Path) -> list[Path]:
        """Remove the modules of sources that no longer exist in `folder`; returns them."""
        prefix = source_name(folder, self.project)
        prefix = "" if prefix == "." else prefix + "/"
        removed = []
        for module in self._written():
            with contextlib.suppress(OSError, UnicodeDecodeError):
                header = read_header(module.read_text(encoding="utf-8"))
                if header is None or not header.source.startswith(prefix) or (self.project / header.source).exists():
                    continue
                self.remove(module)
                removed.append(module)
        return removed

    def _written(self) -> list[Path]:
        """All modules and notes, in order."""
        return sorted(file for pattern in ("test_*.py", "test_*.library") for file in self.generated.rglob(pattern))


def _header_of(module: Path) -> Header | None:
    """The head of a module that is as it was written."""
    try:
        return read_header(module.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError):
        return None


def is_generated(module: Path) -> bool:
    """Whether it is a module that mkeyspec wrote, and has its head."""
    return _header_of(module) is not None


def compile_paths(paths: Iterable[Path], store: Store, *, force: bool = False) -> list[Result]:
    """Bring the modules of every source in `paths` (files and folders) up to date."""
    return [store.compile(path, force=force) for path in find_sources(paths)]
