"""`-n N` compiles in N processes; a profile compiles the files that it lists."""

from __future__ import annotations

from pathlib import Path

import pytest

from mkeyspec.plugin import compile_ahead as ahead
from mkeyspec.store import Store
from tests.plugin.project import Project

CASE = """\
mks 1

case reads_{n}
    verifies LAY-05
    memory m = counter({n})
    mkey k
    configure k {{ layout list(m) }}
    transmit k by send
    expect wire == m
"""
BROKEN = CASE.format(n=1).replace("wire == m", "wire == nothing")
LIBRARY = "mks 1\n\nlet a = 1\n"


@pytest.fixture
def many(project: Project) -> Project:
    for n in range(1, 7):
        project.put(f"cases/c{n}.mks", CASE.format(n=n))
    return project


def modules(project: Project) -> dict[str, str]:
    files = [*project.path.rglob("generated/**/test_*.py"), *project.path.rglob("generated/**/test_*.library")]
    return {str(file.relative_to(project.path)): file.read_text() for file in files}


def store(project: Project) -> Store:
    return Store(project.path, project.path / "generated")


def sources(project: Project) -> list[Path]:
    return sorted(project.path.glob("cases/*.mks"))


def test_the_modules_are_those_of_one_process(many: Project) -> None:
    many.put("cases/library.mks", LIBRARY)
    one = store(many)
    for path in sources(many):
        one.compile(path)
    expected = modules(many)
    assert len(expected) == 7
    for name in expected:
        (many.path / name).unlink()
    ahead.compile_ahead(store(many), sources(many), 2)
    assert modules(many) == expected


def test_what_is_fresh_is_left_alone(many: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    ahead.compile_ahead(store(many), sources(many), 2)
    assert len(modules(many)) == 6
    monkeypatch.setattr(ahead, "_feed", None)
    ahead.compile_ahead(store(many), sources(many), 2)


def test_a_broken_file_is_told_by_the_session(many: Project) -> None:
    many.put("cases/c3.mks", BROKEN)
    done = many.pytest("cases", "-n", "2")
    assert done.counts == {"passed": 5, "failed": 1}
    assert "`nothing`" in done.out


@pytest.mark.parametrize("start", ["raise SystemExit(3)", "import time; input(); raise SystemExit(3)", "nonsense("])
def test_a_process_that_ends_costs_nothing_but_time(many: Project, monkeypatch: pytest.MonkeyPatch, start: str) -> None:
    """The session compiles what is left."""
    monkeypatch.setattr(ahead, "_START", start)
    ahead.compile_ahead(store(many), sources(many), 2)
    assert modules(many) == {}


def test_nothing_of_the_current_directory_is_imported(many: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("lark.py", "json.py"):
        many.put(name, "raise SystemExit('the wrong one')\n")
    monkeypatch.chdir(many.path)
    ahead.compile_ahead(store(many), sources(many), 2)
    assert len(modules(many)) == 6


def test_a_profile_compiles_its_own_files(many: Project) -> None:
    many.put("cases/few.toml", 'items = ["cases/c2.mks::reads_2"]\n')
    many.put("cases/c3.mks", BROKEN)
    for workers in ([], ["-n", "2"]):
        done = many.mkeyspec("run", "cases", "--profile", "few", *workers)
        assert done.code == 0
        assert sorted(Path(name).name for name in modules(many)) == ["test_c2.py"]
    # A file that is named is compiled, whatever the profile lists.
    assert many.mkeyspec("run", "cases/c2.mks", "cases/c3.mks", "--profile", "few").code == 2
