"""Collection: a `.mks` file becomes a module of test functions; one that is broken, a single failing item."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from mkeyspec.plugin.compilation import Outcome, compilation, path_of
from mkeyspec.plugin.nodes import MksFile, WrongModule
from mkeyspec.project import SUFFIX


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
    if collection_path.suffix != ".py" or not collection_path.name.startswith("test_"):
        return None
    store = compilation(config).store.owner_of(collection_path)
    if store is None:
        return None
    named = (Path(config.invocation_params.dir, path_of(argument)) for argument in config.args)
    if any(Path(os.path.abspath(path)).is_relative_to(store.generated) for path in named):
        return None
    return True if store.has_source(collection_path) else None


def pytest_report_header(config: pytest.Config) -> str:
    from mkeyspec import __version__

    return f"mkeyspec: {__version__}, device {config.getoption('--device')}"
