"""MKEYSPEC_COMPILED: a file is compiled once for all commands, and again whenever that could give something else."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from mkeyspec.cli import main
from mkeyspec.compiler import compile as compiler
from mkeyspec.project import kept
from mkeyspec.project.source import compile_source
from tests.plugin.project import BROKEN, CASES, LIBRARY, Project
from tests.project.test_settings import UNUSED

USER = 'mks 1\nsuite "uses"\nuse "library.mks"\n' + CASES.split("\n", 2)[2].replace("n * 64", "n * size")


class Counted:
    """Which files were compiled since it was asked last."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def __call__(self) -> list[str]:
        names, self.names = self.names, []
        return names


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> Counted:
    counted, compile_file = Counted(), compiler.compile_file

    def counting(path: Path, **options: Any) -> compiler.Compiled:
        counted.names.append(path.name)
        return compile_file(path, **options)

    monkeypatch.setattr(compiler, "compile_file", counting)
    return counted


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv(kept.FOLDER, str(tmp_path / "kept"))
    root = tmp_path / "project"
    project = Project(root)
    project.put("cases/a.mks", CASES)
    project.put("cases/b.mks", USER)
    project.put("cases/library.mks", LIBRARY)
    project.put("cases/other.mks", LIBRARY.replace("64", "32"))
    return root


def test_what_is_kept_is_what_was_compiled(project: Path, counted: Counted) -> None:
    for name in ("a.mks", "b.mks", "library.mks"):
        path = project / "cases" / name
        first, second = compile_source(path, project), compile_source(path, project)
        assert counted() == [name]
        assert second == first or (second.suite, str(second.diagnostics)) == (first.suite, str(first.diagnostics))
        assert second.suite is not None


def edit(name: str, old: str, new: str) -> Callable[[Path, pytest.MonkeyPatch], None]:
    def change(project: Path, _: pytest.MonkeyPatch) -> None:
        path = project / "cases" / name
        path.write_text(path.read_text().replace(old, new))

    return change


def leads_elsewhere(project: Path, _: pytest.MonkeyPatch) -> None:
    (project / "cases/library.mks").unlink()
    (project / "cases/library.mks").symlink_to("other.mks")


def the_same_behind_a_link(project: Path, _: pytest.MonkeyPatch) -> None:
    (project / "cases/library.mks").rename(project / "cases/moved.mks")
    (project / "cases/library.mks").symlink_to("moved.mks")


def is_gone(project: Path, _: pytest.MonkeyPatch) -> None:
    (project / "cases/library.mks").unlink()


def another_compiler(_: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "compiler_digest", lambda: "another")


def a_ledger(project: Path, _: pytest.MonkeyPatch) -> None:
    (project / "mkeyspec.toml").write_text('ledgers = ["own.toml"]\n')
    (project / "own.toml").write_text('page = "a page"\n[ACME-1]\ntitle = "t"\nstatement = "s"\n')


def another_root(project: Path, _: pytest.MonkeyPatch) -> None:
    (project / "cases/mkeyspec.toml").write_text("")


def cut_short(project: Path, _: pytest.MonkeyPatch) -> None:
    for file in (project.parent / "kept").iterdir():
        file.write_bytes(file.read_bytes()[:-5])


def of_another_form(project: Path, _: pytest.MonkeyPatch) -> None:
    for file in (project.parent / "kept").iterdir():
        file.write_bytes(pickle.dumps("nothing"))


CHANGES = [
    edit("b.mks", "counter(64)", "counter(63)"),
    edit("library.mks", "64", "128"),
    leads_elsewhere,
    the_same_behind_a_link,
    is_gone,
    another_compiler,
    a_ledger,
    another_root,
    cut_short,
    of_another_form,
]


@pytest.mark.parametrize("change", CHANGES, ids=lambda change: change.__name__)
def test_it_is_compiled_again(
    change: Callable[[Path, pytest.MonkeyPatch], None], project: Path, counted: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = project / "cases/b.mks"
    compile_source(path, project)
    counted()
    change(project, monkeypatch)
    now = compile_source(path, project)
    assert counted() == ["b.mks"]
    with monkeypatch.context() as nothing:
        nothing.delenv(kept.FOLDER)
        plain = compile_source(path, project)
    assert (now.suite, str(now.diagnostics)) == (plain.suite, str(plain.diagnostics))


def test_another_project_or_strength_is_another_one(project: Path, counted: Counted) -> None:
    path = project / "cases/a.mks"
    compile_source(path, project)
    compile_source(path, project / "cases")
    compile_source(path, project, stronger=1)
    assert len(counted()) == 3
    compile_source(path, project, instead=path.read_bytes())
    assert counted() == ["a.mks"]


def test_an_error_is_not_kept(project: Path, counted: Counted) -> None:
    path = project / "cases/a.mks"
    path.write_text(BROKEN)
    for _ in range(2):
        assert [one.code for one in compile_source(path, project).diagnostics.errors] == ["MKS0202"]
    assert counted() == ["a.mks", "a.mks"]


def test_what_was_saved_meanwhile_is_not_kept(project: Path, counted: Counted, monkeypatch: pytest.MonkeyPatch) -> None:
    path = project / "cases/a.mks"
    compile_file = compiler.compile_file

    def saving(path: Path, **options: Any) -> compiler.Compiled:
        done = compile_file(path, **options)
        path.write_text(path.read_text() + "# more\n")
        return done

    with monkeypatch.context() as during:
        during.setattr(compiler, "compile_file", saving)
        compile_source(path, project)
    counted()
    compile_source(path, project)
    assert counted() == ["a.mks"]


def test_nothing_is_kept_unless_it_is_asked_for(
    project: Path, counted: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(kept.FOLDER)
    for _ in range(2):
        compile_source(project / "cases/a.mks", project)
    assert counted() == ["a.mks", "a.mks"]
    assert not (project.parent / "kept").exists()


def test_a_folder_that_nobody_may_write_to(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(kept.FOLDER, os.devnull)
    assert compile_source(project / "cases/a.mks", project).suite is not None


# The commands ----------------------------------------------------------------------------------


@pytest.mark.parametrize("format", ["text", "json", "github", "sarif"])
def test_check_shows_the_same_warnings_again(project: Path, format: str) -> None:
    commands = Project(project)
    commands.put("cases/a.mks", UNUSED)
    for path in (project / "cases/b.mks", project / "cases/other.mks"):
        path.unlink()
    said = [commands.mkeyspec("check", "cases", "--format", format) for _ in range(2)]
    assert said[0] == said[1]
    assert "MKS0610" in said[0].out
    assert len(list((project.parent / "kept").iterdir())) == 2
    assert [commands.mkeyspec("check", "cases", "--deny", "MKS0610").code for _ in range(2)] == [2, 2]
    assert "MKS0610" not in commands.mkeyspec("check", "cases", "--allow", "MKS0610").out


def test_check_shows_those_that_run_has_found(project: Path) -> None:
    commands = Project(project)
    commands.put("cases/a.mks", UNUSED)
    assert commands.mkeyspec("run", "cases/a.mks").code == 0
    assert "MKS0610" in commands.mkeyspec("check", "cases/a.mks").out
    (project / "generated/cases/test_a.py").unlink()
    assert "MKS0610" in commands.mkeyspec("run", "cases/a.mks").out


def test_coverage_takes_what_check_has_compiled(
    project: Path, counted: Counted, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(project)
    assert main(["check", "cases"]) == 0
    assert sorted(counted()) == ["a.mks", "b.mks", "library.mks", "other.mks"]
    main(["requirements", "coverage", "cases"])
    main(["check", "cases"])
    assert counted() == []
    edit("a.mks", "CRC-02", "CRC-03")(project, monkeypatch)
    main(["requirements", "coverage", "cases"])
    assert counted() == ["a.mks"]
