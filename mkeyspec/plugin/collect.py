"""Collection: a `.mks` file becomes a module of test functions; one that is broken, a single failing item.

Compiling is the business of one process. Without xdist that is this one, file by file as they are
collected; with it the controller compiles everything before a worker starts, and tells the workers.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import traceback
import types
from collections.abc import Callable, Generator, Iterable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mkeyspec.emit.place import source_name
from mkeyspec.plugin.opening import read_levels
from mkeyspec.plugin.option import SELECTED
from mkeyspec.plugin.outcome import case_report
from mkeyspec.project import SUFFIX, Unreadable, find_sources
from mkeyspec.run.mark import CaseMark, case_of, row_count
from mkeyspec.selection import file_of
from mkeyspec.store import Result, Store, Unwritable

if TYPE_CHECKING:
    from mkeyspec.lang.severity import Levels

_KEY = "mkeyspec"


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the compiling process says of one source; plain values, so that xdist can carry them to a worker.

    `module` "": there is none, because the file is a library, or because it is broken: then `code`, `line` and
    `text` say why. `warnings`: what the compiler thinks is hardly meant, a line each.
    """

    module: str = ""
    code: str = ""
    line: int = 1
    text: str = ""
    warnings: tuple[str, ...] = ()


class Compilation:
    """The outcomes of a session, by absolute path."""

    def __init__(self, config: pytest.Config) -> None:
        self.store = Store(config.rootpath, _generated(config), _levels(config))
        self._told: dict[str, dict[str, Any]] | None = getattr(config, "workerinput", {}).get(_KEY)
        self._outcomes: dict[str, Outcome] = {}
        self.warnings: dict[str, None] = {}
        """Of the files that were collected, here or in a worker: a folder may have others that are ignored."""

    def of(self, path: Path) -> Outcome:
        key = os.path.abspath(path)
        outcome = self._outcomes.get(key)
        if outcome is None:
            if self._told is None:
                outcome = self._compile(path)
            elif key in self._told:
                outcome = Outcome(**self._told[key])
            elif self.store.is_fresh(path):
                outcome = Outcome(str(self.store.module_of(path)))
            else:
                text = f"error[MKS0906]: the controller did not compile {path.name}; name its folder, or run without -n"
                outcome = Outcome(code="MKS0906", text=text)
            self._outcomes[key] = outcome
        return outcome

    def _compile(self, path: Path) -> Outcome:
        try:
            return _outcome(self.store.compile(path))
        except Unwritable as error:
            return Outcome(code=error.code, text=str(error))
        except Exception:  # a defect of the compiler must not hide the other files
            text = f"error[MKS0999]: mkeyspec itself failed on this file; please report it\n{traceback.format_exc()}"
            return Outcome(code="MKS0999", text=text)

    def all(self, paths: Iterable[Path]) -> dict[str, dict[str, Any]]:
        """Compile every source under `paths`, for the workers."""
        try:
            return {os.path.abspath(path): asdict(self.of(path)) for path in find_sources(paths, self.store.project)}
        except Unreadable as error:
            pytest.exit(str(error), pytest.ExitCode.USAGE_ERROR)


def _generated(config: pytest.Config) -> Path | None:
    named = config.getoption("--generated")
    return Path(named) if named else None


def _levels(config: pytest.Config) -> Levels | None:
    allow, deny = config.getoption("--allow"), config.getoption("--deny")
    return read_levels(allow, deny) if allow or deny else None


def _outcome(result: Result) -> Outcome:
    if result.module is not None:
        return Outcome(str(result.module), warnings=result.warnings)
    if result.state == "library":
        return Outcome(warnings=result.warnings)
    from mkeyspec.lang import render

    errors = [finding for finding in result.diagnostics if finding.severity == "error"]
    if not errors:
        text = f"error[MKS0999]: {result.source} has neither cases nor errors; please report it"
        return Outcome(code="MKS0999", text=text)
    span = errors[0].span
    return Outcome("", errors[0].code, span.source.location(span.start).line, render.text(result.diagnostics))


def _nothing_to_run(path: Path, name: str) -> Outcome:
    """What is wrong with a library where it was named."""
    from mkeyspec.lang import render
    from mkeyspec.lang.diagnostic import Diagnostics
    from mkeyspec.lang.source import Source
    from mkeyspec.lang.suite import report_nothing_to_run

    diagnostics = Diagnostics()
    report_nothing_to_run(Source(name, path.read_text(encoding="utf-8"), path), diagnostics)
    return Outcome("", "MKS0811", 1, render.text(list(diagnostics)))


_COMPILATION = pytest.StashKey[Compilation]()


def compilation(config: pytest.Config) -> Compilation:
    found = config.stash.get(_COMPILATION, None)
    if found is None:
        found = config.stash[_COMPILATION] = Compilation(config)
    return found


def warnings(config: pytest.Config) -> list[str]:
    """The compiler's warnings about the files of this session, in order."""
    found = config.stash.get(_COMPILATION, None)
    return [] if found is None else list(found.warnings)


def merge_warnings(config: pytest.Config, lines: Iterable[str]) -> None:
    """Add those that a worker has collected."""
    compilation(config).warnings.update(dict.fromkeys(lines))


# Hooks ---------------------------------------------------------------------------------------


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """xdist is about to start a worker: tell it what was compiled."""
    config = node.config
    told = config.stash.get(_TOLD, None)
    if told is None:
        paths = [Path(config.invocation_params.dir, _path_of(argument)) for argument in config.args]
        told = config.stash[_TOLD] = compilation(config).all(path for path in paths if path.exists())
    node.workerinput[_KEY] = told


_TOLD = pytest.StashKey[dict[str, dict[str, Any]]]()


def _path_of(argument: str) -> str:
    return argument.split("::", 1)[0]


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.suffix == SUFFIX:
        file: pytest.Collector = MksFile.from_parent(parent, path=file_path)
        return file
    return None


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    """A generated module that was edited or is out of date is an error, wherever it is collected."""
    fault = compilation(parent.config).store.fault_of(module_path)
    if fault is None:
        return None
    code, text = fault
    module: pytest.Module = WrongModule.from_parent(
        parent, path=module_path, outcome=Outcome(code=code, text=f"error[{code}]: {text}")
    )
    return module


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A module is its source once more: beside the source it is passed by, unless it or its folder was named."""
    store = compilation(config).store
    if collection_path.suffix != ".py" or not collection_path.is_relative_to(store.generated):
        return None
    named = (Path(config.invocation_params.dir, _path_of(argument)) for argument in config.args)
    if any(Path(os.path.abspath(path)).is_relative_to(store.generated) for path in named):
        return None
    return True if store.has_source(collection_path) else None


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> Generator[None]:
    """A broken file can't say whether it has what -k, -m or --lf ask for: its item always stays."""
    broken = [item for item in items if isinstance(item, BrokenFile)]
    chosen = config.stash.get(SELECTED, None)
    if chosen is not None:
        left = [item for item in items if _id(item) not in chosen and not isinstance(item, BrokenFile)]
        items[:] = [item for item in items if _id(item) in chosen or isinstance(item, BrokenFile)]
        config.hook.pytest_deselected(items=left)
        broken += _gone(session, items, left, chosen)
    yield
    kept = {id(item) for item in items}
    items[:0] = [item for item in broken if id(item) not in kept]


def _gone(
    session: pytest.Session, items: list[pytest.Item], left: list[pytest.Item], chosen: frozenset[str]
) -> list[BrokenFile]:
    """One failing item if the profile lists what is not there, in files that were to be collected whole."""
    config = session.config
    there = {_id(item) for item in items}
    # Of a broken file nothing is known but that it is broken.
    broken = {source_name(item.path, config.rootpath) for item in items if isinstance(item, BrokenFile)}
    # --lf does not collect the files in which nothing failed.
    collected = {_file_of(_id(item)) for item in (*items, *left)} if config.getoption("lf", False) else None
    gone = sorted(
        id for id in chosen - there
        if (file := _file_of(id)) not in broken and _whole(config, file) and (collected is None or file in collected)
    )  # fmt: skip
    if not gone:
        return []
    path = file_of(config.getoption("--case-profile"), config.rootpath)
    name = source_name(path, config.rootpath)
    what = "1 item that is not there" if len(gone) == 1 else f"{len(gone)} items that are not there"
    more = f" and {len(gone) - _TOLD_GONE} more" if len(gone) > _TOLD_GONE else ""
    text = f"error[MKS0922]: {name} lists {what}: {', '.join(gone[:_TOLD_GONE])}{more}; choose the profile again"
    outcome = Outcome(code="MKS0922", text=text)
    made: BrokenFile = BrokenFile.from_parent(
        session, name="MKS0922", nodeid=f"{name}::MKS0922", path=path, outcome=outcome
    )
    return [made]


_TOLD_GONE = 5
"""So many ids are written out."""


def _whole(config: pytest.Config, file: str) -> bool:
    """Whether a file of the project, or its module, lies in what the session was asked to collect whole."""
    source = config.rootpath / file
    places = (source, compilation(config).store.module_of(source))
    ignored = [Path(config.invocation_params.dir, one) for one in config.getoption("ignore") or ()]
    named = [Path(config.invocation_params.dir, one) for one in config.args if "::" not in one]
    return any(_below(place, named) and not _below(place, ignored) for place in places)


def _below(place: Path, folders: Iterable[Path]) -> bool:
    return any(
        Path(os.path.abspath(place)).is_relative_to(os.path.abspath(folder))
        or place.resolve().is_relative_to(folder.resolve())
        for folder in folders
    )


def _file_of(id: str) -> str:
    return id.split("::", 1)[0]


def _id(item: pytest.Item) -> str:
    """`cases/crc.mks::published_values[crc=crc32]`, whatever module it was collected from."""
    mark = case_of(getattr(item, "obj", None))
    if mark is None or not isinstance(item, pytest.Function):
        return item.nodeid
    return f"{mark.suite.source}::{mark.name}{item.name.removeprefix(item.originalname)}"


def pytest_report_header(config: pytest.Config) -> str:
    from mkeyspec import __version__

    return f"mkeyspec: {__version__}, device {config.getoption('--device')}"


# Nodes ---------------------------------------------------------------------------------------


class MksFile(pytest.Module):
    """A `.mks` file. `obj` is a module object that holds its cases under their own names."""

    def _getobj(self) -> types.ModuleType:
        outcome = compilation(self.config).of(self.path)
        merge_warnings(self.config, outcome.warnings)
        cases = types.ModuleType(self.path.stem)
        if outcome.module:
            for name, value in vars(_load(Path(outcome.module))).items():
                mark = case_of(value) if name.startswith("test_") else None
                if mark is not None:
                    value.place_as = _placed(str(self.path), mark.at.line)
                    setattr(cases, mark.name, value)
        return cases

    def funcnamefilter(self, name: str) -> bool:
        """All functions of `obj` are cases, whatever they are called."""
        return True

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        outcome = compilation(self.config).of(self.path)
        named = [argument for argument in self.config.args if _names(argument, self)]
        if named and not outcome.module and not outcome.code:
            outcome = _nothing_to_run(self.path, source_name(self.path, self.config.rootpath))
        if outcome.code:
            if any("::" in argument for argument in named):
                raise self.CollectError(outcome.text)  # `pytest x.mks::case`: the case is not there to be found
            item: pytest.Item = BrokenFile.from_parent(self, name=outcome.code, outcome=outcome)
            return [item]
        # Not Module's own collect, which looks for setup_module and fixtures first, passes names by, and leaves out
        # what was not defined in this module: a case may well be called setup_module.
        return [
            item for name, value in list(vars(self.obj).items()) if case_of(value) for item in self._rows(name, value)
        ]

    def _rows(self, name: str, function: Any) -> list[pytest.Item | pytest.Collector]:
        """The items of one case, by pytest's own hook."""
        made = self.ihook.pytest_pycollect_makeitem(collector=self, name=name, obj=function)
        items = made if isinstance(made, list) else [made] if made is not None else []
        rows = row_count(function)
        if len(items) < rows:
            text = f"pytest made {len(items)} of the {rows} rows of case `{name}`; another plugin keeps it from them"
            raise self.CollectError(f"error[MKS0906]: {text}")
        return items


class WrongModule(pytest.Module):
    """A generated module that must not run: not imported, one failing item in its place."""

    def __init__(self, *, outcome: Outcome, **rest: Any) -> None:
        super().__init__(**rest)
        self.outcome = outcome

    def _getobj(self) -> types.ModuleType:
        return types.ModuleType(self.path.stem)

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
        if any("::" in argument for argument in self.config.args if _names(argument, self)):
            raise self.CollectError(self.outcome.text)
        item: pytest.Item = BrokenFile.from_parent(self, name=self.outcome.code, outcome=self.outcome)
        return [item]


class BrokenFile(pytest.Item):
    """Stands for a file that does not compile, or must not run; fails with what is wrong."""

    def __init__(self, *, outcome: Outcome, **rest: Any) -> None:
        super().__init__(**rest)
        self.outcome = outcome

    def runtest(self) -> None:
        raise Broken(self.outcome.text)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.outcome.line - 1, self.name

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *_: Any, **__: Any) -> Any:
        if not isinstance(excinfo.value, Broken):
            return super().repr_failure(excinfo)
        lines = self.outcome.text.split("\n")
        error = next((line for line in lines if line.startswith("error[")), lines[0])  # warnings may stand before it
        return case_report(excinfo, self.path, self.outcome.line, error)


class Broken(Exception):
    """Carries the diagnostics of a broken file."""


def mark_of(config: pytest.Config, nodeid: str) -> CaseMark | None:
    """The case of an id as `cases/crc.mks::published_values[crc=crc32]`, by what it was compiled to."""
    file, _, name = nodeid.partition("::")
    path = config.rootpath / file
    module = compilation(config).of(path).module if path.suffix == SUFFIX else str(path)
    name = name.partition("[")[0]
    for value in vars(_load(Path(module))).values():
        mark = case_of(value)
        if mark is not None and name in (mark.name, value.__name__):
            return mark
    return None


def _names(argument: str, file: pytest.Module) -> bool:
    """Whether an argument of the command line is this file, or something in it."""
    return Path(file.config.invocation_params.dir, _path_of(argument)).resolve() == file.path.resolve()


def _load(path: Path) -> types.ModuleType:
    """The generated module, executed. It is nobody's to import by name, so it stays out of sys.modules."""
    name = f"mkeyspec_generated.{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _placed(path: str, line: int) -> Callable[[], None]:
    """A function that lies in the `.mks` file, for pytest's `place_as`: where an item is, is where its code is."""

    def place() -> None:
        """Never called."""

    place.__code__ = place.__code__.replace(co_filename=path, co_firstlineno=line)
    return place
