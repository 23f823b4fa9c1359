"""A module is written when it must be, by one process, and never used when its source is broken."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from importlib import metadata
from pathlib import Path
from typing import Any, ClassVar

import pytest

from mkeyspec import store
from mkeyspec.plugin.compilation import Compilation
from mkeyspec.project.compiler_digest import compiler_digest
from mkeyspec.project.source import compile_source
from tests.plugin.project import BROKEN, CASES, LIBRARY, Project

USER = 'mks 1\nsuite "uses"\nuse "library.mks"\n' + CASES.split("\n", 2)[2].replace("n * 64", "n * size")


def test_a_fresh_module_is_left_alone(suite: Project) -> None:
    suite.pytest("-k", "passes")
    first = suite.module().stat()
    suite.pytest("-k", "passes")
    assert suite.module().stat().st_mtime_ns == first.st_mtime_ns


def test_a_changed_byte_is_seen_at_once(suite: Project) -> None:
    assert suite.pytest("-k", "passes").counts["passed"] == 3
    suite.put("cases/a.mks", CASES.replace("expect wire == counter(n * 64)", "expect wire == fill(17, n * 64)"))
    assert suite.pytest("-k", "passes").counts["failed"] == 3


def test_stale_bytecode_is_not_used(suite: Project) -> None:
    """A module of the same size and time (in seconds) as before, and other content."""
    suite.put("cases/a.mks", CASES.replace("fill(0, 64)", "fill(1, 64)"))
    assert re.search(r"expected +01 01 01", suite.pytest("-k", "fails").out)
    stamp = suite.module().stat().st_mtime
    wrong = CASES.replace("fill(0, 64)", "fill(2, 64)")
    suite.put("cases/a.mks", wrong)
    suite.mkeyspec("compile")
    os.utime(suite.module(), (stamp, stamp))
    out = suite.pytest("-k", "fails").out
    assert re.search(r"expected +02 02 02", out), out


def test_a_changed_library_makes_its_users_stale(project: Project) -> None:
    project.put("cases/library.mks", LIBRARY)
    project.put("cases/a.mks", USER)
    assert project.pytest("-k", "passes").counts["passed"] == 3
    before = project.module().read_text()
    project.put("cases/library.mks", LIBRARY.replace("64", "32"))
    assert project.pytest("-k", "passes").counts["passed"] == 3
    assert project.module().read_text() != before


def test_an_edited_module_is_written_again(suite: Project) -> None:
    suite.pytest("-k", "passes")
    good = suite.module().read_text()
    suite.module().write_text(good.replace("rig.finish()", "pass"))
    assert suite.pytest("-k", "fails").counts["failed"] == 1
    assert suite.module().read_text() == good


def test_a_broken_source_loses_its_module(suite: Project) -> None:
    suite.pytest("-k", "passes")
    assert suite.module().exists()
    suite.put("cases/a.mks", BROKEN)
    assert suite.pytest().counts == {"failed": 1}
    assert not suite.module().exists()
    assert suite.pytest("generated").code == 5


def test_two_compilations_are_the_same_to_the_byte(suite: Project) -> None:
    suite.mkeyspec("compile", "cases")
    first = suite.module().read_bytes()
    suite.mkeyspec("compile", "cases", "--force")
    assert suite.module().read_bytes() == first


def test_orphans_are_removed(suite: Project) -> None:
    extra = suite.put("cases/sub/b.mks", CASES)
    suite.mkeyspec("compile", "cases")
    assert suite.module("cases/sub/test_b.py").exists()
    extra.unlink()
    suite.mkeyspec("compile", "cases")
    assert not suite.module("cases/sub/test_b.py").exists()
    assert suite.module().exists()


def test_nothing_is_left_beside_the_modules(suite: Project) -> None:
    suite.pytest()
    names = {path.name for path in (suite.path / "generated").rglob("*") if path.is_file() and path.suffix != ".pyc"}
    assert names == {"__init__.py", "test_a.py"}


# With xdist ----------------------------------------------------------------------------------

COUNTER = """\
import os
from mkeyspec import store

compile = store.compile_source

def counted(path, *options):
    with open("compiled.log", "a") as log:
        log.write(f"{os.environ.get('PYTEST_XDIST_WORKER', 'controller')} {path.name}\\n")
    return compile(path, *options)

store.compile_source = counted
"""


def test_only_the_controller_compiles(suite: Project) -> None:
    suite.put("conftest.py", COUNTER)
    suite.put("cases/b.mks", BROKEN)
    suite.put("cases/library.mks", LIBRARY)
    done = suite.pytest("-n", "2")
    assert done.counts == {"passed": 5, "failed": 2, "skipped": 1}
    log = sorted((suite.path / "compiled.log").read_text().split("\n"))
    assert log == ["", "controller a.mks", "controller b.mks", "controller library.mks"]


def test_without_xdist_each_is_compiled_once(suite: Project) -> None:
    suite.put("conftest.py", COUNTER)
    suite.put("cases/b.mks", BROKEN)
    suite.pytest()
    log = sorted((suite.path / "compiled.log").read_text().split("\n"))
    assert log == ["", "controller a.mks", "controller b.mks"]


@pytest.mark.parametrize("arguments", [["cases/a.mks::passes"], ["-k", "passes"], ["cases", "-k", "CRC-02"]])
def test_selection_under_xdist(suite: Project, arguments: list[str]) -> None:
    assert suite.pytest("-n", "2", *arguments).counts == {"passed": 3}


def test_failures_keep_their_text_under_xdist(suite: Project) -> None:
    done = suite.pytest("-n", "2")
    assert "Traceback" not in done.out
    assert "cases/a.mks:20:5: error[MKS2101]" in done.out
    assert "FAILED cases/a.mks::fails[n=2] - MKS2101 " in done.out


def test_a_library_is_compiled_when_it_changed(suite: Project) -> None:
    suite.put("conftest.py", COUNTER)
    suite.put("cases/library.mks", LIBRARY)
    log = suite.path / "compiled.log"
    for text, compiled in ((LIBRARY, True), (LIBRARY, False), (LIBRARY + "let more = 1\n", True)):
        suite.put("cases/library.mks", text)
        log.write_text("")
        suite.pytest("-k", "passes")
        assert ("library.mks" in log.read_text()) == compiled


def test_a_library_that_broke_is_told(suite: Project) -> None:
    suite.put("cases/library.mks", LIBRARY)
    suite.pytest("-k", "passes")
    suite.put("cases/library.mks", LIBRARY + "let broken = nowhere\n")
    for _ in range(2):
        assert "nowhere" in suite.pytest("-k", "passes").out


def test_what_was_kept_of_a_library_goes_with_it(suite: Project) -> None:
    suite.put("cases/library.mks", LIBRARY)
    suite.mkeyspec("compile")
    assert list(suite.path.rglob("*.library"))
    (suite.path / "cases/library.mks").unlink()
    suite.mkeyspec("compile")
    assert not list(suite.path.rglob("*.library"))


def test_a_worker_compiles_nothing(project: Project) -> None:
    class Config:
        """Of a worker that was told of no file."""

        rootpath = project.path
        workerinput: ClassVar[dict[str, object]] = {"mkeyspec": {}}

        def getoption(self, _: str) -> None:
            return None

    project.put("cases/b.mks", CASES)
    worker: Any = Config()
    outcome = Compilation(worker).of(project.path / "cases" / "b.mks")
    assert outcome.code == "MKS0906"
    assert not project.module("cases/test_b.py").exists()


@pytest.mark.parametrize("library", ["lark", "jinja2"])
def test_another_release_of_a_library_is_another_compiler(library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    before = compiler_digest.__wrapped__()
    real = metadata.version
    monkeypatch.setattr(metadata, "version", lambda name: "0.0.0" if name == library else real(name))
    assert compiler_digest.__wrapped__() != before


# What decides besides the text ----------------------------------------------------------------


def _inner(project: Project) -> None:
    """A suite of `cases/sub` that uses what is above it."""
    project.put("cases/library.mks", LIBRARY)
    project.put("cases/sub/a.mks", USER.replace('"library.mks"', '"../library.mks"'))


def _gives_a_root(project: Project) -> None:
    project.put("cases/sub/mkeyspec.toml", "")


def _becomes_a_link(project: Project) -> None:
    """The same text, from outside of the project."""
    outside = project.path.parent / f"{project.path.name}.outside.mks"
    (project.path / "cases/sub/a.mks").rename(outside)
    (project.path / "cases/sub/a.mks").symlink_to(outside)


def _links_the_library(project: Project) -> None:
    outside = project.path.parent / f"{project.path.name}.library.mks"
    (project.path / "cases/library.mks").rename(outside)
    (project.path / "cases/library.mks").symlink_to(outside)


@pytest.mark.parametrize("change", [_gives_a_root, _becomes_a_link, _links_the_library])
def test_what_check_refuses_does_not_run(project: Project, change: Callable[[Project], None]) -> None:
    _inner(project)
    assert project.mkeyspec("run", "cases", "-k", "passes").code == 0
    change(project)
    assert "MKS0808" in project.mkeyspec("check", "cases").out
    assert project.pytest("generated", "-k", "passes").counts.get("passed") is None
    done = project.mkeyspec("run", "cases", "-k", "passes")
    assert (done.code, "MKS0808" in done.out) == (2, True)
    assert not project.module("cases/sub/test_a.py").exists()


def test_a_link_to_another_library_is_a_change(project: Project) -> None:
    """`use` names a link, and the file that it led to is as it was."""
    one, other = project.put("cases/one.mks", LIBRARY), project.put("cases/other.mks", LIBRARY.replace("64", "32"))
    link = project.path / "cases/library.mks"
    link.symlink_to(one)
    project.put("cases/a.mks", USER)
    assert project.pytest("-k", "passes").counts["passed"] == 3
    before = project.module().read_text()
    link.unlink()
    link.symlink_to(other)
    assert project.pytest("generated", "-k", "passes").counts.get("passed") is None
    assert project.pytest("-k", "passes").counts["passed"] == 3
    assert project.module().read_text() != before


@pytest.mark.parametrize("where", [".", "lab"])
def test_a_module_of_a_project_inside_another_is_of_its_own_source(project: Project, where: str) -> None:
    """Both have a source of that name."""
    wrong = CASES.split("case fails")[0].replace("expect wire == counter", "expect wire == fill(9, 1) ++ counter")
    project.put("mkeyspec.toml", "")
    project.put("cases/a.mks", CASES.split("case fails")[0])
    project.put("lab/mkeyspec.toml", "")
    project.put("lab/cases/a.mks", CASES.split("case fails")[0])
    inner = Project(project.path / "lab")
    (inner.path / "pyproject.toml").unlink()  # pytest's root directory is that of the outer one
    assert inner.mkeyspec("compile", "cases").code == 0
    outer = project if where == "." else inner
    generated = str((inner.path / "generated").relative_to(outer.path))
    assert outer.pytest(generated).counts == {"passed": 3}
    inner.put("cases/a.mks", wrong)
    done = outer.pytest(generated)
    assert done.code == 1
    assert done.counts == {"failed": 1}
    assert "MKS0909" in done.out
    inner.put("cases/a.mks", CASES.split("case fails")[0])
    project.put("cases/a.mks", wrong)
    assert outer.pytest(generated).counts == {"passed": 3}


@pytest.mark.parametrize("settings", [True, False])
def test_copied_modules_below_a_source_of_that_name(project: Project, settings: bool) -> None:
    """They are of a project of their own if it has a settings file; else they may be a stale copy."""
    project.put("mkeyspec.toml", "")
    project.put("cases/a.mks", CASES.split("case fails")[0])
    assert project.mkeyspec("compile", "cases").code == 0
    (project.path / "lab").mkdir()
    (project.path / "generated").rename(project.path / "lab/generated")
    project.put("cases/a.mks", CASES)
    if settings:
        project.put("lab/mkeyspec.toml", "")
    assert ("MKS0909" in project.pytest("lab/generated").out) != settings


@pytest.mark.parametrize("saved", ["a.mks", "library.mks"])
def test_what_is_saved_while_it_is_compiled_is_compiled_again(
    saved: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "library.mks").write_text(LIBRARY)
    source = tmp_path / "a.mks"
    source.write_text(USER)
    compiled: list[Path] = []

    def slow(path: Path, *arguments: Any) -> Any:
        result = compile_source(path, *arguments)
        if not compiled:
            text = (tmp_path / saved).read_text()
            (tmp_path / saved).write_text(text.replace("64", "32"))
        compiled.append(path)
        return result

    monkeypatch.setattr(store, "compile_source", slow)
    kept = store.Store(tmp_path)
    assert kept.compile(source).state == "written"
    assert len(compiled) == 2
    text = kept.module_of(source).read_text()
    assert kept.compile(source).state == "fresh"
    assert kept.compile(source, force=True).state == "written"
    assert kept.module_of(source).read_text() == text


def test_a_file_that_never_rests_leaves_a_module_that_is_out_of_date(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "a.mks"
    source.write_text(CASES)

    def saving(path: Path, *arguments: Any) -> Any:
        result = compile_source(path, *arguments)
        source.write_text(source.read_text() + "# one more\n")
        return result

    monkeypatch.setattr(store, "compile_source", saving)
    kept = store.Store(tmp_path)
    kept.compile(source)
    assert not kept.is_fresh(source)
    assert kept.fault_of(kept.module_of(source)) is not None
