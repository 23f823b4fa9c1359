"""Results of compiling the sources of a session.

Without xdist this process compiles each file when it is collected. With xdist the controller has everything compiled
before a worker starts (`compile_ahead`), and passes the results to the workers.
"""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from mkeyspec.emit.module_path import source_name
from mkeyspec.files.project import Unreadable, find_sources
from mkeyspec.files.selection import stronger
from mkeyspec.files.toml_places import TomlError
from mkeyspec.files.unwritable import Unwritable
from mkeyspec.plugin import settings_defaults
from mkeyspec.plugin.compile_ahead import compile_ahead
from mkeyspec.plugin.option_values import SELECTED, read_levels
from mkeyspec.store import Result, Store

if TYPE_CHECKING:
    from mkeyspec.compiler.warning_levels import Levels

_KEY = "mkeyspec"


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of compiling one source; plain values, so that xdist can pass them to a worker.

    `module` "": there is none, because the file is a library, or because it is broken: then `code`, `line` and
    `text` say why. `warnings`: the compiler's warnings, one line each.
    """

    module: str = ""
    code: str = ""
    line: int = 1
    text: str = ""
    warnings: tuple[str, ...] = ()


class Compilation:
    """The outcomes of a session, by absolute path."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.store = Store(config.rootpath, _generated(config), _levels(config), _stronger(config))
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
        except (Unwritable, TomlError) as error:
            return Outcome(code=error.code, text=str(error))
        except Exception:  # a defect of the compiler must not hide the other files
            text = f"error[MKS0999]: mkeyspec itself failed on this file; please report it\n{traceback.format_exc()}"
            return Outcome(code="MKS0999", text=text)

    def all(self, paths: Iterable[Path], processes: int) -> dict[str, dict[str, Any]]:
        """Compile every source under `paths` that is collected, for the workers, in `processes`."""
        try:
            sources = [path for path in find_sources(paths, self.store.project) if is_asked_for(self.config, path)]
            compile_ahead(self.store, sources, processes)
            return {os.path.abspath(path): asdict(self.of(path)) for path in sources}
        except Unreadable as error:
            pytest.exit(str(error), pytest.ExitCode.USAGE_ERROR)


def _generated(config: pytest.Config) -> Path | None:
    named = config.getoption("--generated")
    return Path(named) if named else None


def _stronger(config: pytest.Config) -> int:
    name = config.getoption("--case-profile")
    return 0 if name is None else stronger(name, config.rootpath)


def _levels(config: pytest.Config) -> Levels | None:
    allow, deny = config.getoption("--allow"), config.getoption("--deny")
    return read_levels(allow, deny) if allow or deny else None


def _outcome(result: Result) -> Outcome:
    if result.module is not None:
        return Outcome(str(result.module), warnings=result.warnings)
    if result.state == "library":
        return Outcome(warnings=result.warnings)
    from mkeyspec.diagnostics import render

    errors = [finding for finding in result.diagnostics if finding.severity == "error"]
    if not errors:
        text = f"error[MKS0999]: {result.source} has neither cases nor errors; please report it"
        return Outcome(code="MKS0999", text=text)
    span = errors[0].span
    return Outcome("", errors[0].code, span.source.location(span.start).line, render.text(result.diagnostics))


_COMPILATION = pytest.StashKey[Compilation]()


def compilation(config: pytest.Config) -> Compilation:
    """The compilation of this session."""
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


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_setupnodes(config: pytest.Config, specs: Sequence[Any]) -> None:
    """xdist is about to start `specs` workers."""
    paths = [path for path in named_paths(config) if path.exists()]
    config.stash[_TOLD] = compilation(config).all(paths, len(specs))


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    """xdist is about to start a worker: tell it what was compiled, and what was settled."""
    settings_defaults.tell(node)
    node.workerinput[_KEY] = node.config.stash.get(_TOLD, {})  # nothing, if a process is forked that has all


_TOLD = pytest.StashKey[dict[str, dict[str, Any]]]()


def named_paths(config: pytest.Config) -> list[Path]:
    """The files and folders that the command line names."""
    return [Path(config.invocation_params.dir, path_of(argument)) for argument in config.args]


def is_asked_for(config: pytest.Config, source: Path) -> bool:
    """Whether a source may have items of the session: without a profile, any may; with one, those that it lists, and
    those that are named by themselves."""
    chosen = config.stash.get(SELECTED, None)
    if chosen is None or source_name(source, config.rootpath) in {id.split("::", 1)[0] for id in chosen}:
        return True
    return os.path.abspath(source) in map(os.path.abspath, named_paths(config))


def path_of(argument: str) -> str:
    """The file or folder that an argument of the command line names."""
    return argument.split("::", 1)[0]
