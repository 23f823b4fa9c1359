from __future__ import annotations

from pathlib import Path

import pytest

from tests.plugin.project import CASES, Project


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """An empty project."""
    return Project(tmp_path)


@pytest.fixture
def suite(project: Project) -> Project:
    """A project with one suite, cases/a.mks."""
    project.put("cases/a.mks", CASES)
    return project
