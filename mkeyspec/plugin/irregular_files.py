"""`.mks` files that are not regular files, such as a dangling link. pytest ignores them and their cases.

Each is a failing item, like a file that does not compile.
"""

from __future__ import annotations

from collections.abc import Generator, Iterator

import pytest

from mkeyspec.emit.module_path import source_name
from mkeyspec.files.project import SUFFIX
from mkeyspec.plugin.compilation import compilation
from mkeyspec.plugin.nodes import BrokenFile


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    if isinstance(collector, pytest.Directory) and report.passed:
        report.result += _items(collector)
    return report


def _items(folder: pytest.Directory) -> Iterator[BrokenFile]:
    ignored = folder.ihook.pytest_ignore_collect
    for path in sorted(folder.path.iterdir()):
        if not path.name.endswith(SUFFIX) or path.is_file() or path.is_dir():
            continue
        if ignored(collection_path=path, config=folder.config):
            continue
        outcome = compilation(folder.config).of(path)
        if outcome.code:
            id = f"{source_name(path, folder.config.rootpath)}::{outcome.code}"
            yield BrokenFile.from_parent(folder, name=outcome.code, nodeid=id, path=path, outcome=outcome)
