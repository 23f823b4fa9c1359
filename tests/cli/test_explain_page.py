"""`mkeyspec explain PAGE`: a page of the documentation, by its name or the last part of it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.plugin.project import Project

DOCS = Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


@pytest.mark.parametrize(
    ("name", "page"),
    [
        ("running", "running.md"),
        ("Running", "running.md"),
        ("howto/editor", "howto/editor.md"),
        ("editor", "howto/editor.md"),
        ("docs/howto/editor.md", "howto/editor.md"),
        ("findings/x-diff-10", "findings/X-DIFF-10.md"),
    ],
)
def test_a_page(project: Project, name: str, page: str) -> None:
    done = project.mkeyspec("explain", name)
    assert (done.code, done.out) == (0, (DOCS / page).read_text("utf-8"))


def test_a_departure_is_itself_not_its_page(project: Project) -> None:
    assert project.mkeyspec("explain", "X-DIFF-10").out.startswith("X-DIFF-10: ")


def test_all_pages_are_listed(project: Project) -> None:
    lines = project.mkeyspec("explain", "--pages").out.splitlines()
    assert [line.split()[0] for line in lines] == sorted(
        path.relative_to(DOCS).with_suffix("").as_posix() for path in DOCS.rglob("*.md")
    )
    [tutorial] = [line for line in lines if line.startswith("tutorial ")]
    assert tutorial.split(maxsplit=1)[1] == "Tutorial"


@pytest.mark.parametrize(
    ("name", "told"),
    [
        ("runing", "did you mean `running`?"),
        ("editors", "did you mean `editor`?"),
        ("howto/editr", "did you mean `howto/editor`?"),
        ("nothing_like_it", "`mkeyspec explain --pages` the pages"),
        ("../README", "`mkeyspec explain --pages` the pages"),
        ("/etc/passwd", "`mkeyspec explain --pages` the pages"),
    ],
)
def test_no_page(project: Project, name: str, told: str) -> None:
    done = project.mkeyspec("explain", name)
    assert done.code == 2
    assert f"error[MKS0907]: nothing is called {name!r}" in done.err
    assert told in done.err
