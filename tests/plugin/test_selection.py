"""A `.mks` file is a test file: what a pytest user knows of selection holds."""

from __future__ import annotations

import pytest

from tests.plugin.project import BROKEN, CASES, LIBRARY, Project

IDS = [
    "cases/a.mks::passes[n=1]", "cases/a.mks::passes[n=2]", "cases/a.mks::passes[n=3]",
    "cases/a.mks::fails[n=1]", "cases/a.mks::fails[n=2]", "cases/a.mks::lacks", "cases/a.mks::setup_module",
]  # fmt: skip


def test_node_ids(suite: Project) -> None:
    done = suite.pytest("--collect-only", "-q")
    assert [line for line in done.out.splitlines() if "::" in line] == IDS
    assert done.code == 0


def test_outcomes(suite: Project) -> None:
    done = suite.pytest()
    assert done.counts == {"passed": 5, "failed": 1, "skipped": 1}
    assert done.code == 1


@pytest.mark.parametrize(
    ("arguments", "counts"),
    [
        (["-k", "passes"], {"passed": 3, "deselected": 4}),
        (["-k", "CRC-02"], {"passed": 3, "deselected": 4}),
        (["-k", "LAY-05 or LAY-02"], {"passed": 4, "deselected": 3}),
        (["-m", "negative"], {"passed": 1, "deselected": 6}),
        (["-m", "positive and not requirement"], {"deselected": 7}),
        (["cases/a.mks::passes[n=2]"], {"passed": 1}),
        (["cases/a.mks::passes"], {"passed": 3}),
        (["cases/a.mks::setup_module"], {"passed": 1}),
        (["-x"], {"passed": 4, "failed": 1}),
        (["generated"], {}),
    ],
)
def test_selection(suite: Project, arguments: list[str], counts: dict[str, int]) -> None:
    if arguments == ["generated"]:
        suite.mkeyspec("compile", "cases")
        counts = {"passed": 5, "failed": 1, "skipped": 1}
    assert suite.pytest(*arguments).counts == counts


def test_last_failed(suite: Project) -> None:
    suite.pytest()
    assert suite.pytest("--lf").counts == {"failed": 1}


def test_the_root_runs_each_case_once(suite: Project) -> None:
    suite.mkeyspec("compile", "cases")
    assert len(suite.pytest(".", "--collect-only", "-q").out.split("::")) == 1 + len(IDS)


def test_fixtures_and_marks_are_pytests_own(suite: Project) -> None:
    suite.put(
        "cases/conftest.py",
        "import pytest\n\n"
        "@pytest.fixture(autouse=True)\ndef seen(request, record_property):\n"
        "    print('seen', request.node.name, request.node.get_closest_marker('requirement').args)\n",
    )
    done = suite.pytest("-s", "cases/a.mks::passes[n=1]")
    assert "seen passes[n=1] ('CRC-02', 'LAY-05')" in done.out


def test_a_failure_is_its_text_alone(suite: Project) -> None:
    done = suite.pytest("-k", "fails")
    assert "Traceback" not in done.out
    assert "generated/" not in done.out
    assert "cases/a.mks:20:5: error[MKS2101]" in done.out
    assert "    expect wire == pick(n == 2, fill(0, 64), counter(64))" in done.out
    summary = next(line for line in done.out.splitlines() if line.startswith("FAILED"))
    assert summary.startswith("FAILED cases/a.mks::fails[n=2] - MKS2101 ")
    assert summary.endswith("(cases/a.mks:20)")


def test_a_skip_gives_every_reason_and_the_place(suite: Project) -> None:
    done = suite.pytest("-rs")
    assert "SKIPPED [1] cases/a.mks:22: needs crypto.wrapped, device.max_wr_memcpy_length < 1" in done.out


def test_an_item_lies_in_the_source(suite: Project) -> None:
    suite.put("cases/conftest.py", "def pytest_itemcollected(item):\n    print(item.location)\n")
    assert "('cases/a.mks', 3, 'passes[n=1]')" in suite.pytest("--collect-only", "-q", "-s").out


def test_a_broken_file_fails_and_hides_nothing(suite: Project) -> None:
    suite.put("cases/b.mks", BROKEN)
    done = suite.pytest()
    assert done.counts == {"passed": 5, "failed": 2, "skipped": 1}
    assert "cases/b.mks:6:24" in done.out
    assert "FAILED cases/b.mks::MKS02" in done.out
    assert "Traceback" not in done.out


@pytest.mark.parametrize("arguments", [["-k", "passes"], ["-m", "negative"]])
def test_a_broken_file_is_not_deselected(suite: Project, arguments: list[str]) -> None:
    suite.put("cases/b.mks", BROKEN)
    assert suite.pytest(*arguments).counts["failed"] == 1


def test_a_case_of_a_broken_file_says_why_it_is_not_there(project: Project) -> None:
    project.put("cases/b.mks", BROKEN)
    done = project.pytest("cases/b.mks::never_run")
    assert done.code != 0
    assert "error[MKS02" in done.out
    assert "Traceback" not in done.out


def test_a_library_has_nothing_to_run(suite: Project) -> None:
    suite.put("cases/library.mks", LIBRARY)
    assert suite.pytest().counts == {"passed": 5, "failed": 1, "skipped": 1}
    assert not suite.module("cases/test_library.py").exists()


@pytest.mark.parametrize("workers", [[], ["-n", "2"]])
def test_a_library_that_is_named_is_an_error(suite: Project, workers: list[str]) -> None:
    suite.put("cases/library.mks", LIBRARY)
    suite.pytest("--collect-only")  # from now on it is known to be one
    done = suite.pytest("cases/library.mks", *workers)
    assert done.counts == {"failed": 1}
    assert "error[MKS0811]" in done.out


def test_a_file_without_a_case_is_an_error(project: Project) -> None:
    project.put("cases/empty.mks", 'mks 1\nsuite "nothing"\n')
    assert project.pytest().counts == {"failed": 1}


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--device", "mlx5_0:none"], "MKS0901"),
        (["--device", "modle"], "MKS0901"),
        (["--deadline", "0"], "MKS0905"),
        (["--device-profile", "missing.toml"], "MKS0903"),
        (["--expectations", "missing.toml"], "MKS0903"),
        (["--device-profile", "pyproject.toml"], "MKS0904"),
        (["--expectations", "pyproject.toml"], "MKS0904"),
    ],
)
def test_wrong_options_are_one_line(suite: Project, arguments: list[str], code: str) -> None:
    done = suite.pytest(*arguments)
    lines = [line for line in (done.out + done.err).splitlines() if "MKS" in line]
    assert len(lines) == 1, done.out + done.err
    assert code in lines[0]
    assert done.code == 4
    assert "Traceback" not in done.out + done.err


def test_an_unwritable_generated_is_told(suite: Project) -> None:
    suite.put("generated", "a file is where the directory should be")
    done = suite.pytest()
    assert done.counts == {"failed": 1}
    assert "error[MKS0902]" in done.out
    assert "Traceback" not in done.out


def test_names_that_are_no_identifiers(project: Project) -> None:
    for name in ("two words.mks", "two_words.mks", "class.mks", "sub/two_words.mks", "é-1.mks"):
        project.put(f"cases/{name}", CASES)
    assert project.pytest("-k", "passes").counts["passed"] == 15
    assert project.pytest("generated", "-k", "passes").counts["passed"] == 15


# Options of pytest that may have a value ------------------------------------------------------


def test_a_path_is_no_value_of_an_option_before_it(suite: Project) -> None:
    before = (suite.path / "cases/a.mks").read_text()
    done = suite.mkeyspec("run", "cases/a.mks", "--debug")
    assert done.counts["passed"] == 5
    assert (suite.path / "cases/a.mks").read_text() == before


@pytest.mark.parametrize("option", ["--debug", "--log-file"])
def test_a_log_of_pytest_is_no_case_file(suite: Project, option: str) -> None:
    before = (suite.path / "cases/a.mks").read_text()
    done = suite.mkeyspec("run", "cases", f"{option}=cases/a.mks")
    assert done.code == 2
    assert "error[MKS0902]: cases/a.mks would be a .mks file, and no log" in done.out + done.err
    assert (suite.path / "cases/a.mks").read_text() == before
