"""The documentation is true: samples compile and run, commands work as printed, tables are fresh, links lead on."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from docs import make_tables
from mkeyspec.cli.entry import _parser
from mkeyspec.compiler.compile import compile_file
from mkeyspec.compiler.statements.check_shapes import check_sentences
from mkeyspec.compiler.statements.registry import PLACES
from mkeyspec.device.profile.profile import Profile, parse
from mkeyspec.diagnostics.codes import CODES
from mkeyspec.diagnostics.diagnostic import Diagnostics
from mkeyspec.diagnostics.source import Source
from mkeyspec.plugin.options import pytest_addoption
from mkeyspec.syntax.parser import parse as parse_text
from tests.device.verbs import soft
from tests.plugin.project import Project

ROOT = Path(__file__).resolve().parents[2]
README = ROOT / "README.md"
PAGES = [
    README,
    *(
        page
        for folder in ("", "design", "explanation", "howto")
        for page in sorted((ROOT / "docs" / folder).glob("*.md"))
    ),
]
RUNNING, SABOTAGE = ROOT / "docs" / "running.md", ROOT / "docs" / "sabotage.md"
ALGORITHMS = {"CRC-16", "CRC-32", "CRC-64"}
"""Names that look like a requirement's id."""
LATER = {"benchmarks.md"}
"""Pages that are linked and may not be there yet."""


def blocks(path: Path, language: str) -> list[tuple[int, str]]:
    """(line, text) of the fenced blocks of one language."""
    text = path.read_text(encoding="utf-8")
    found = re.finditer(rf"^```{language}\n(.*?)^```", text, re.M | re.S)
    return [(text.count("\n", 0, one.start()) + 2, one[1]) for one in found]


def samples() -> list[Any]:
    return [pytest.param(text, id=f"{path.name}:{line}") for path in PAGES for line, text in blocks(path, "mks")]


@pytest.fixture
def project(tmp_path: Path) -> Project:
    return Project(tmp_path)


# Samples -------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", samples())
def test_sample_compiles(text: str, tmp_path: Path) -> None:
    """Without a warning, too. Blocks that are not a whole suite get the edition in front."""
    file = tmp_path / "sample.mks"
    file.write_text(text if text.startswith("mks 1") else f"mks 1\n{text}", encoding="utf-8")
    assert [found.message for found in compile_file(file, root=tmp_path).diagnostics] == []


def test_samples_of_the_language_run(project: Project) -> None:
    """On the model."""
    for line, text in blocks(ROOT / "docs" / "language.md", "mks"):
        project.put(f"cases/line_{line}.mks", text if text.startswith("mks 1") else f"mks 1\n{text}")
    done = project.mkeyspec("run", "cases", "-q")
    last = done.out.rstrip().split("\n")[-1]
    assert done.code == 0, done.out
    assert re.match(r"mkeyspec: [1-9]\d* passed, 0 failed, ", last)


def test_what_a_failure_says(project: Project) -> None:
    """The text of running.md is what the command prints."""
    [(_, suite)] = blocks(RUNNING, "mks")
    [(_, printed)] = [one for one in blocks(RUNNING, "text") if "error[" in one[1]]
    project.put("cases/wrong.mks", suite)
    done = project.mkeyspec("run", "cases/wrong.mks")
    assert done.code == 1
    assert printed in done.out


def test_the_drawing_of_running_is_what_the_command_prints(project: Project) -> None:
    [printed] = [text for _, text in blocks(RUNNING, "text") if text.startswith("cases/examples/signature.mks::")]
    put_readme_case(project)
    done = project.mkeyspec("draw", "cases/examples/signature.mks")
    assert (done.code, done.out) == (0, printed)


def test_the_failure_of_the_readme_is_what_its_command_prints(project: Project) -> None:
    command = next(line for line in commands_of(README) if "--fault" in line and "[" in line)
    printed = next(text for _, text in blocks(README, "text") if "error[" in text)
    shutil.copytree(ROOT / "cases", project.path / "cases", ignore=shutil.ignore_patterns("claims.json"))
    done = project.mkeyspec(*shlex.split(command)[1:])
    assert done.code == 1
    assert printed in done.out


def test_verbs_examples_are_sentences() -> None:
    """Each example of the table of verbs is one that the table allows."""
    around = {
        "case": "{}", "section": "post {{ {} }}", "configure": "configure k {{ {} }}", "mkey": "mkey k {{ {} }}",
        "signature": "configure k {{ signature {{ {} }} }}", "crypto": "configure k {{ crypto {{ {} }} }}",
        "qp": "qp q {{ {} }}", "dek": "dek d {{ {} }}", "dct": "dct t {{ {} }}",
        "login": "login {{ {} }}", "login_object": "login_object o {{ {} }}",
        "completes": "poll q completes {{ {} }}",
    }  # fmt: skip
    wrong = []
    for place, here in PLACES.items():
        for verb in here.shapes.values():
            example = verb.example.replace("…", "00")
            diagnostics = Diagnostics()
            file = parse_text(Source(verb.name, f"mks 1\ncase c\n    {around[place].format(example)}\n"), diagnostics)
            if file is not None and file.cases:
                check_sentences(file.cases[0], diagnostics)
            wrong += [(place, verb.example, found.message) for found in diagnostics]
    assert wrong == []


# Tables --------------------------------------------------------------------------------------


def test_tables_are_fresh() -> None:
    assert [path.name for path in make_tables.stale()] == [], "python docs/make_tables.py"


def test_a_stale_table_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The test above can fail."""
    shutil.copytree(ROOT / "docs", tmp_path / "docs")
    monkeypatch.setattr(make_tables, "HERE", tmp_path / "docs")
    limits = tmp_path / "docs" / "limits.md"
    limits.write_text(limits.read_text(encoding="utf-8").replace("64", "65"), encoding="utf-8")
    assert make_tables.main(["--check"]) == 1
    assert make_tables.main([]) == 0
    assert make_tables.main(["--check"]) == 0


def test_every_code_has_a_family() -> None:
    assert {code[:5] for code in CODES} == set(make_tables.FAMILIES)


def test_profile_of_the_docs_is_one() -> None:
    [(_, text)] = blocks(ROOT / "docs" / "model.md", "toml")
    assert parse(text).departures().keys() == {"name", "without", "err_actual", "errno"}


def test_every_member_of_the_profile_is_told() -> None:
    told = set(re.findall(r"^\| `(\w+)` \|", (ROOT / "docs" / "model.md").read_text(encoding="utf-8"), re.M))
    described = {line[2:].split(" = ")[0] for line in Profile().describe().split("\n")}
    assert told == described


# Options and commands ------------------------------------------------------------------------


class _Options:
    """What `pytest_addoption` is given; keeps the names."""

    def __init__(self) -> None:
        self.names: set[str] = set()

    def getgroup(self, *_: str) -> _Options:
        return self

    def addoption(self, *names: str, **_: object) -> None:
        self.names |= set(names)


def test_every_option_is_told() -> None:
    text = RUNNING.read_text(encoding="utf-8") + SABOTAGE.read_text(encoding="utf-8")
    plugin = _Options()
    pytest_addoption(plugin)  # type: ignore[arg-type]  # the two methods that it calls
    [commands] = [one.choices for one in _parser()._actions if isinstance(one.choices, dict)]
    names = set(plugin.names)
    for command in commands.values():
        names |= {name for action in command._actions for name in action.option_strings}
    names -= {"-h"}
    assert names
    assert [name for name in sorted(names) if not re.search(rf"(?:`|^\$ mkeyspec .*){name}\b", text, re.M)] == []


def commands_of(path: Path) -> list[str]:
    lines = [line for _, text in blocks(path, "sh") for line in text.splitlines()]
    return [line.split("  #")[0].strip() for line in lines]


def put_readme_case(project: Project) -> None:
    """The examples and the README's case. CI checks and runs all cases."""
    shutil.copytree(ROOT / "cases" / "examples", project.path / "cases" / "examples")
    shutil.copyfile(ROOT / "cases" / "common.mks", project.path / "cases" / "common.mks")
    [(_, case)] = blocks(README, "mks")
    project.put("cases/mine.mks", case)


def test_the_readme_works(project: Project) -> None:
    """Its case and each of its commands, on the examples in the place of all cases."""
    put_readme_case(project)
    ran = []
    for line in commands_of(README):
        words = shlex.split(line)
        if {"--device", "--fault"} & {*words} or words[:2] in (["mkeyspec", "doctor"], ["mkeyspec", "softnic"]):
            continue
        if words[0] == "mkeyspec":
            done = project.mkeyspec(*words[1:])
        elif words[0] == "pytest":
            done = project.pytest(*words[1:])
        else:
            assert words[0] in ("make", ".", "sudo")
            continue
        ran.append(words[1])
        assert done.code == 0, (line, done.out, done.err)
        if words[:2] == ["mkeyspec", "run"]:
            rows = 100 if "--generate" in words else 6
            assert f"mkeyspec: {rows} passed, 0 failed, 0 skipped" in done.out
    assert {"run", "check", "list", "explain", "compile"} <= set(ran)


def test_the_readme_works_on_the_software_nic(project: Project) -> None:
    """Its commands of the real driver, on the examples in the place of all cases."""
    soft.need()
    put_readme_case(project)
    [excerpt] = [text for _, text in blocks(README, "text") if text.startswith("wqe")]
    ran = []
    for line in commands_of(README):
        words = shlex.split(line)
        if "--device soft" not in line and words[:2] not in (["mkeyspec", "doctor"], ["mkeyspec", "softnic"]):
            continue
        if words[-1] == "ibv_devinfo" and shutil.which("ibv_devinfo") is None:
            pytest.skip("no ibv_devinfo: Debian and Ubuntu `apt-get install ibverbs-utils`")
        command = words[1:]
        if "mkeyspec" in command:
            inner = command.index("mkeyspec")
            command[inner : inner + 1] = [sys.executable, "-m", "mkeyspec"]
        done = project.mkeyspec(*command) if words[0] == "mkeyspec" else project.pytest(*command)
        assert done.code == 0, (line, done.out, done.err)
        ran.append(" ".join(words[1:3]))
    assert ran == ["run cases", "cases -n", "doctor", "softnic exec", "softnic trace"]
    traced = {told.split()[0] for told in done.err.splitlines() if told}
    assert {told.split()[0] for told in excerpt.splitlines()} <= traced
    [signature] = [told.split("  bfs")[0] for told in excerpt.splitlines() if "signature_mem" in told]
    assert signature in done.err


def test_the_readme_breaks_as_it_says(project: Project) -> None:
    [(_, case)] = blocks(README, "mks")
    project.put("cases/mine.mks", case.replace("counter(n * 512), d", "counter(n * 512 + 1), d"))
    done = project.mkeyspec("check", "cases/mine.mks")
    assert done.code == 2
    assert "513 bytes are not a whole number of blocks" in done.out
    project.put("cases/mine.mks", case.replace("== counter(n * 512)", "== flip(counter(n * 512), 7)"))
    done = project.mkeyspec("run", "cases/mine.mks")
    assert done.code == 1
    assert all(text in done.out for text in ("first at wire[7]", "src[7]", "SIG-07: ", "SIG-08: ", "mine.mks:16:5"))


@pytest.mark.parametrize("line", commands_of(RUNNING))
def test_commands_of_running_are_known(line: str) -> None:
    """Every option and path that running.md writes is one."""
    words = shlex.split(line)
    if words[0] == "mkeyspec":
        options, _ = _parser().parse_known_args(words[1:])
        for path in getattr(options, "paths", ()):
            assert path == "cases/wrong.mks" or (ROOT / path.split("::")[0]).exists()
    else:
        assert words[0] in ("pytest", "rsync", "ssh")


def test_make_tables_is_a_program() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "make_tables.py"), "--help"],
        cwd=ROOT,
        env={"PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 2
    assert "--check" in done.stderr


# Links ---------------------------------------------------------------------------------------


def anchors(path: Path) -> set[str]:
    """As GitHub makes them."""
    text = re.sub(r"^```.*?^```", "", path.read_text(encoding="utf-8"), flags=re.M | re.S)
    heads = re.findall(r"^#+ (.*)$", text, re.M)
    return {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_links_lead_somewhere(page: Path) -> None:
    dead = []
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.M | re.S)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if target.startswith("https://"):
            continue
        name, _, anchor = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        if not path.exists():
            if path.name not in LATER:
                dead.append(target)
        elif anchor and anchor not in anchors(path):
            dead.append(target)
    assert dead == []


@pytest.mark.parametrize("page", PAGES, ids=lambda path: path.name)
def test_codes_and_ids_exist(page: Path) -> None:
    from mkeyspec.requirements.ledger import departures, requirements

    text = page.read_text(encoding="utf-8")
    assert set(re.findall(r"\bMKS\d{4}\b", text)) <= {*CODES, "MKS2000"}
    known = requirements().keys() | departures().keys()
    named = set(re.findall(r"\b(?:CFG|SIG|CRC|DIF|MSK|LST|INT|LAY|ACC|MKY|WRP|X[A-Z]*(?:-[A-Z]+)?)-\d+\b", text))
    assert named - ALGORITHMS <= known


def test_architecture_is_true() -> None:
    """Every path of the package that the page names is there, and every contract is named."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    flat = " ".join(page.split()).lower()
    contracts = re.findall(r'^name = "(The [^"]+|A [^"]+)"$', (ROOT / "pyproject.toml").read_text("utf-8"), re.M)
    assert len(contracts) >= 5
    assert [name for name in contracts if f"*{name.lower()}*" not in flat] == []
    named = re.findall(r"`((?:\w+/)+\w*(?:\.py)?)`", page)
    package = ROOT / "mkeyspec"
    assert named
    assert [one for one in named if not any((place / one).exists() for place in (package, ROOT))] == []


def test_dependencies_are_told() -> None:
    page = (ROOT / "docs" / "dependencies.md").read_text(encoding="utf-8")
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    named = set(re.findall(r'^    "([a-z][\w-]*)>=', project, re.M))
    assert {"lark", "numpy", "mypy"} <= named
    assert [name for name in sorted(named) if name not in page] == []
