"""Collection: a `.mks` file becomes a module of test functions; one that is broken, a single failing item."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mkeyspec.files.project import SUFFIX, Unreadable, refuse_name
from mkeyspec.plugin.compilation import Outcome, compilation, is_asked_for, merge_warnings, named_paths
from mkeyspec.plugin.nodes import GeneratedModule, MksFile, WrongModule
from mkeyspec.project.source import code_of
from mkeyspec.store import is_generated


def pytest_collect_file(file_path: Path, parent: pytest.Collector) -> pytest.Collector | None:
    if file_path.suffix == SUFFIX:
        try:
            refuse_name(file_path)
        except Unreadable as error:
            pytest.exit(str(error), pytest.ExitCode.USAGE_ERROR)
        file: pytest.Collector = MksFile.from_parent(parent, path=file_path)
        return file
    if file_path.suffix == ".py" and file_path.name.startswith("test_") and _is_passed_by(file_path, parent):
        module: pytest.Module = parent.ihook.pytest_pycollect_makemodule(module_path=file_path, parent=parent)
        return module
    return None


def _is_passed_by(module: Path, parent: pytest.Collector) -> bool:
    """Whether it is a generated module that `python_files` does not name, so that pytest does not collect it."""
    named = parent.session.isinitpath(module) or any(map(module.match, parent.config.getini("python_files")))
    return not named and is_generated(module)


@pytest.hookimpl(tryfirst=True)
def pytest_pycollect_makemodule(module_path: Path, parent: pytest.Collector) -> pytest.Module | None:
    """A generated module that was edited, is out of date or has a denied warning is an error, wherever it is."""
    store = compilation(parent.config).store
    fault = store.fault_of(module_path)
    shown, denied = store.warnings_in(module_path)
    if fault is not None:
        outcome = Outcome(code=fault[0], text=f"error[{fault[0]}]: {fault[1]}")
    elif denied:
        text = "\n".join(line.replace("warning[", "error[", 1) for line in denied)
        outcome = Outcome(code=code_of(denied[0]), text=text)
    else:
        merge_warnings(parent.config, shown)
        if not is_generated(module_path):
            return None
        good: pytest.Module = GeneratedModule.from_parent(parent, path=module_path)
        return good
    module: pytest.Module = WrongModule.from_parent(parent, path=module_path, outcome=outcome)
    return module


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """A source without an item of the profile is not compiled. A module is its source once more: beside the source it
    is passed by, unless it or its folder was named.
    """
    if collection_path.suffix == SUFFIX and not is_asked_for(config, collection_path):
        return True
    if collection_path.suffix != ".py" or not collection_path.name.startswith("test_"):
        return None
    store = compilation(config).store.owner_of(collection_path)
    if store is None:
        return None
    if any(Path(os.path.abspath(path)).is_relative_to(store.generated) for path in named_paths(config)):
        return None
    return True if store.has_source(collection_path) else None


def pytest_report_header(config: pytest.Config) -> str:
    from mkeyspec import __version__

    peer = config.getoption("--peer")
    return f"mkeyspec: {__version__}, device {config.getoption('--device')}{f', peer {peer}' if peer else ''}"
