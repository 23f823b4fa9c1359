"""mkeyspec.toml: each key is checked at its place, every command takes it, and an option wins over it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mkeyspec.compiler.warning_levels import Levels
from mkeyspec.files.settings import KEYS, settings_for
from mkeyspec.files.toml_places import Document, TomlError
from tests.plugin.project import CASES, ROOT, Project

GOOD = CASES.replace("pick(n == 2, fill(0, 64), counter(64))", "counter(64)")

UNUSED = """\
mks 1
suite "a warning"
case unused
    verifies LAY-05
    let n = 3
    memory m = counter(64)
    mkey k
    configure k { layout list(m) }
    transmit k by send
    expect wire == counter(64)
"""
"""MKS0610: nothing reads `n`."""


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


def errors(folder: Path, text: str) -> list[str]:
    (folder / "mkeyspec.toml").write_text(text, "utf-8")
    with pytest.raises(TomlError) as caught:
        settings_for(folder)
    return [line.replace(str(folder), "").rpartition("mkeyspec.toml")[2] for line in str(caught.value).splitlines()]


def test_an_error_is_at_its_key(tmp_path: Path) -> None:
    text = '# first\ndevise = "soft"\n  device = 5\n[warnings]\nalow = []\n'
    assert errors(tmp_path, text) == [
        ":2:1: error[MKS0940]: unknown key `devise`; did you mean `device`?",
        ':3:3: error[MKS0940]: `device` is a text: write device = "soft"',
        ":5:1: error[MKS0940]: unknown key `alow` in [warnings]; did you mean `allow`?",
    ]


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("deadline = true", "`deadline` is a number of seconds above 0: write deadline = 2.5"),
        ("deadline = 0", "`deadline` is a number"),
        ("deadline = inf", "`deadline` is a number"),
        ('device = ""', "`device` is a text"),
        ('expectations = "a.toml"', "`expectations` is a list of files"),
        ("require = [1]", "`require` is a list of capabilities"),
        ("warnings = 1", "`warnings` is a table: write [warnings]"),
        ("deny = []", "unknown key `deny`; it belongs in [warnings]"),
        ("[warnings]\ndevice = 'soft'", "unknown key `device` in [warnings]; it belongs above the first table"),
        ("[[device]]", "`device` is a text"),
        ("what = 1", "the keys are: device, "),
        ("generated = []", '`generated` is the name of a folder: write generated = "build/generated"'),
        ('reports = "mkeyspec.toml"', " is a file; name a folder"),
        ('generated = "."', ". holds the suite itself; name a folder for what is made alone"),
        ('reports = ".."', ".. holds the suite itself"),
        ("device = ", "it is not TOML: "),
        ('device = "a\n', "it is not TOML: "),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, line: str, told: str) -> None:
    (only,) = errors(tmp_path, line)
    assert told in only


def test_a_file_that_is_not_there_is_an_error_at_its_element(tmp_path: Path) -> None:
    (tmp_path / "known.toml").touch()
    text = 'expectations = [ # ] "\n    "known.toml",\n    "knwon.toml",\n]\n'
    assert errors(tmp_path, text) == [":3:5: error[MKS0940]: no such file: knwon.toml; did you mean known.toml?"]


def test_a_file_that_is_not_utf8_is_one_line(tmp_path: Path) -> None:
    (tmp_path / "mkeyspec.toml").write_bytes(b"device = '\xff'")
    with pytest.raises(TomlError, match="it is not UTF-8"):
        settings_for(tmp_path)


def test_places_in_every_form_of_toml(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text(
        'a.b = 1\n"q" = """\n[no]\nx = 1\n"""\nc = { d = [1, "]"], e = 2 } # f = 3\n'
        "[t]\nk = 'v'\n[[w]]\nn = 1\n[[w]]\n[w.v]\nn = 2\n",
        "utf-8",
    )
    found = Document(path, "a", "MKS0940")
    assert [found.at(*one) for one in (("a", "b"), ("q",), ("c",), ("c", "d", 1), ("c", "e"))] == [
        "a:1:1", "a:2:1", "a:6:1", "a:6:15", "a:6:21",
    ]  # fmt: skip
    assert [found.at(*one) for one in (("t", "k"), ("w", 0, "n"), ("w", 1), ("w", 1, "v", "n"))] == [
        "a:8:1", "a:10:1", "a:11:1", "a:13:1",
    ]  # fmt: skip


def test_the_file_is_looked_for_as_far_as_the_repository(tmp_path: Path) -> None:
    (tmp_path / "mkeyspec.toml").write_text('device = "soft"\n', "utf-8")
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    assert settings_for(inner).device == "soft"
    (tmp_path / "a" / ".git").mkdir()
    assert settings_for(inner).device is None


def test_every_command_takes_the_same(project: Project) -> None:
    project.put("more/a.mks", UNUSED)
    project.put("mkeyspec.toml", 'cases = ["more"]\n[warnings]\ndeny = ["MKS0610"]\n')
    for command in ("check", "compile", "run"):
        done = project.mkeyspec(command)
        assert done.code == 2, done.out
        assert "MKS0610" in done.out + done.err
    done = project.pytest()
    assert done.code == 1, done.out
    assert "MKS0610" in done.out


def test_an_option_wins(project: Project) -> None:
    project.put("cases/a.mks", UNUSED)
    project.put("mkeyspec.toml", 'device = "model:late"\n[warnings]\ndeny = ["MKS0610"]\n')
    assert project.mkeyspec("check", "--allow", "MKS0610").code == 0
    done = project.mkeyspec("run", "--allow", "MKS0610")
    assert "on model:late in" in done.out
    assert "1 passed" in done.out
    done = project.mkeyspec("run", "--allow", "MKS0610", "--device", "model")
    assert "on model in" in done.out
    assert "device model:late" in project.pytest("--allow", "MKS0610").out
    done = project.pytest("--allow", "MKS0610", "--device", "model", "-n", "1")
    assert "device model\n" in done.out
    assert "1 passed" in done.out


def test_a_wrong_file_ends_every_command_with_its_place(project: Project) -> None:
    project.put("cases/a.mks", GOOD)
    project.put("mkeyspec.toml", 'device = "mdel"\nrequire = ["cryto"]\n[warnings]\nallow = ["MKS0699"]\n')
    for done in (*(project.mkeyspec(command) for command in ("check", "compile", "run")), project.pytest()):
        text = done.out + done.err
        assert done.code == (4 if "ERROR: " in text else 2), text
        assert "mkeyspec.toml:1:1: error[MKS0940]: no device 'mdel'; did you mean model?" in text
        assert "mkeyspec.toml:2:12: error[MKS0940]: " in text
        assert "mkeyspec.toml:4:10: error[MKS0940]: allow MKS0699: no warning is called so" in text
        assert "Traceback" not in text


def test_a_deadline_and_expectations_come_from_the_file(project: Project) -> None:
    project.put("cases/a.mks", GOOD)
    project.put("lab/known.toml", "shows = 1\n")
    project.put("mkeyspec.toml", 'deadline = 0.5\nexpectations = ["lab/known.toml"]\n')
    done = project.mkeyspec("run")
    assert "known.toml: shows is a list of tables" in done.out + done.err
    project.put("lab/known.toml", 'title = "none"\n')
    project.put("lab/other.toml", "shows = 2\n")
    assert project.mkeyspec("run").code == 0
    assert "other.toml: shows" in project.pytest("--expectations", "lab/other.toml").err


def test_every_key_is_documented(tmp_path: Path) -> None:
    """In the table of the page, and in its sample, which is read without a fault."""
    page = (ROOT / "docs/settings.md").read_text("utf-8")
    rows = re.findall(r"^\| `([\w.]+)` \|", page, re.MULTILINE)
    assert sorted(rows) == sorted(".".join(key) for key in KEYS)
    [sample] = [one for one in re.findall(r"```toml\n(.*?)```", page, re.DOTALL) if "[warnings]" in one]
    for name in re.findall(r'"([\w/]+\.toml)"', sample):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    (tmp_path / "cases").mkdir()
    (tmp_path / "lab/more").mkdir()
    (tmp_path / "mkeyspec.toml").write_text(sample, "utf-8")
    found = settings_for(tmp_path)
    assert found.document is not None
    assert {*found.document.values} == {key[0] for key in KEYS}


def test_modules_and_reports_go_where_the_file_says(project: Project, tmp_path: Path) -> None:
    """Into the same folders by every command, and found there again."""
    project.put("cases/a.mks", GOOD)
    project.put("mkeyspec.toml", 'generated = "build/modules"\nreports = "build/results"\n')
    build = tmp_path / "build"
    assert project.mkeyspec("compile").code == 0
    assert [path.name for path in (build / "modules").rglob("test_*.py")] == ["test_a.py"]
    for done in (project.pytest("cases"), project.pytest("cases", "-n", "1"), project.mkeyspec("run")):
        assert done.code == 0, done.out
    assert len([*(build / "results").glob("*/results.ndjson")]) == 3
    assert (build / "results" / "junit.xml").is_file()
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        ".pytest_cache",
        "build",
        "cases",
        "mkeyspec.toml",
        "pyproject.toml",
    ]
    assert "6 passed, 1 skipped" in project.mkeyspec("report", "text").out
    assert '"passed"' in project.mkeyspec("requirements", "coverage", "--format", "json").out
    assert project.mkeyspec("run", "--generated", "other").code == 0
    assert (tmp_path / "other").is_dir()


def test_workers_have_the_settings_too(project: Project) -> None:
    project.put("more/a.mks", GOOD)
    project.put("other/b.mks", GOOD)
    project.put("more/few.toml", "items = []\n")
    project.put("mkeyspec.toml", 'cases = ["more"]\nrequire = ["crypto.none"]\n'.replace("crypto.none", "crypto"))
    done = project.pytest("-n", "1")
    assert "6 passed, 1 skipped" in done.out
    assert "more/a.mks" not in done.err


def test_levels_over_others() -> None:
    base = Levels.of(["MKS0601"], ["MKS0610"])
    assert Levels.of([], ["MKS0601"]).over(base).denies("MKS0601")
    assert Levels.of(["MKS0610"], []).over(base).allows("MKS0610")
    assert Levels().over(base) == base
    assert Levels.of(["warnings"], []).over(base).allows("MKS0610")
    assert Levels.of([], ["warnings"]).over(base).denies("MKS0601")
