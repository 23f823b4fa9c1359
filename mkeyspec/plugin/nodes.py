"""The pytest nodes of `.mks` files: a module of test functions, or a single failing item."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import types
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

from mkeyspec.emit.module_path import source_name
from mkeyspec.files.project import SUFFIX
from mkeyspec.plugin.case_report import case_report
from mkeyspec.plugin.compilation import Outcome, compilation, merge_warnings, path_of
from mkeyspec.run.marks import CaseMark, case_of, row_count


class GeneratedModule(pytest.Module):
    """A generated module: its cases are collected, whatever pytest's options say that a test is called."""

    def funcnamefilter(self, name: str) -> bool:
        """All functions that are looked at are cases."""
        return True

    def collect(self) -> Iterable[pytest.Item | pytest.Collector]:
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


class MksFile(GeneratedModule):
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
        return super().collect()


class WrongModule(pytest.Module):
    """A generated module that must not run: not imported, one failing item instead."""

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
    """The item of a file that does not compile, or must not run; it fails with the reason."""

    def __init__(self, *, outcome: Outcome, **rest: Any) -> None:
        super().__init__(**rest)
        self.outcome = outcome

    def runtest(self) -> None:
        raise BrokenSource(self.outcome.text)

    def reportinfo(self) -> tuple[Path, int, str]:
        return self.path, self.outcome.line - 1, self.name

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], *_: Any, **__: Any) -> Any:
        if not isinstance(excinfo.value, BrokenSource):
            return super().repr_failure(excinfo)
        lines = self.outcome.text.split("\n")
        error = next((line for line in lines if line.startswith("error[")), lines[0])  # warnings may come before it
        return case_report(excinfo, self.path, self.outcome.line, error)


class BrokenSource(Exception):
    """Carries the diagnostics of a broken file."""


def _nothing_to_run(path: Path, name: str) -> Outcome:
    """The error of a library that was named on the command line."""
    from mkeyspec.compiler.loader import report_nothing_to_run
    from mkeyspec.diagnostics import render
    from mkeyspec.diagnostics.diagnostic import Diagnostics
    from mkeyspec.diagnostics.source import Source

    diagnostics = Diagnostics()
    report_nothing_to_run(Source(name, path.read_text(encoding="utf-8"), path), diagnostics)
    return Outcome("", "MKS0811", 1, render.text(list(diagnostics)))


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
    return Path(file.config.invocation_params.dir, path_of(argument)).resolve() == file.path.resolve()


def _load(path: Path) -> types.ModuleType:
    """The generated module, executed. It is not imported by name, so it is not in sys.modules."""
    name = f"mkeyspec_generated.{path.stem}"
    spec = importlib.util.spec_from_file_location(name, path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _placed(path: str, line: int) -> Callable[[], None]:
    """A function whose code is in the `.mks` file, for pytest's `place_as`: pytest locates an item by its code."""

    def place() -> None:
        """Never called."""

    place.__code__ = place.__code__.replace(co_filename=path, co_firstlineno=line)
    return place
