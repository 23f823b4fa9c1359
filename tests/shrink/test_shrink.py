"""Rows that fail on a device with a fault, and how small they become."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import count, cycle
from pathlib import Path

import pytest

from mkeyspec.cli.entry import main
from mkeyspec.compiler.compile import compile_file
from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.run.departures import Expectations
from mkeyspec.run.rig import Rig
from mkeyspec.sabotage.model import faulty_model
from mkeyspec.shrink.edits import PASSES, applied, parsed, statements
from mkeyspec.shrink.judge import Judge, Outcome, Player
from mkeyspec.shrink.shrink import shrink
from mkeyspec.shrink.stand_alone import stand_alone

LIBRARY = """\
mks 1
let half(n) = n / 2
let unused = 7
let pattern(n) = random(half(n) * 2, seed=3)
"""
CASE = """\
mks 1
suite "a long case"
use "library.mks"

let sizes = [512, 520, 4096]

case long
    "What it says."
    verifies CRC-03, SIG-07
    allow MKS0602
    covering 2
    for n in sizes
    for crc, seed in (crc32, ones), (crc32c, ones), (crc32c, zeros)
    for how in "plain", "signed"
    let data = pattern(n)                       # half of it twice
    memory m = data, misaligned 3
    memory other = counter(16)
    mkey k { block_signature; if how == "signed" { entries 4 } }
    mkey spare
    configure k { layout list(m); signature { wire crc(seed) every n } }
    if how == "plain" {
        configure spare { layout list(other) }
        transmit spare by send
        expect wire == other
    } else {
        transmit k[0 +: n + 4] by write as t
        expect wire == framed(data, crc(seed) every n)
        expect other == counter(16)
    }
"""


def rig(device: Model) -> Rig:
    return Rig(device, Profile(), Expectations.load([], device.info()), deadline=0.01)


def good() -> Rig:
    return rig(Model(Profile()))


def faulty() -> Rig:
    return rig(faulty_model("crc32c_polynomial", Profile()))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "mkeyspec.toml").touch()
    (tmp_path / "library.mks").write_text(LIBRARY)
    (tmp_path / "long.mks").write_text(CASE)
    (tmp_path / "work").mkdir()
    return tmp_path


@pytest.fixture
def judge(folder: Path) -> Judge:
    return Judge(folder / "work", Player(faulty), Player(good), "MKS2101")


@pytest.fixture
def alone(folder: Path, judge: Judge) -> str:
    compiled = compile_file(folder / "long.mks")
    assert compiled.suite is not None, list(compiled.diagnostics)
    assert compiled.loaded is not None
    (case,) = compiled.suite.cases
    rows = {row.id: row for row in case.rows}
    id = next(id for id in rows if "crc=crc32c" in id and "how=signed" in id)
    texts = stand_alone(compiled.loaded, compiled.loaded.file.cases[0], rows[id])
    return next(text for text in texts if judge.is_row(text, id))


def test_a_row_is_a_file_of_its_own(alone: str, judge: Judge) -> None:
    assert "use " not in alone
    assert "let half(n) = n / 2" in alone
    assert judge.fails(alone)


def test_a_setup_is_written_out(tmp_path: Path) -> None:
    lines = "memory m = counter(n)\n    mkey k\n    if n > 8 { configure k { layout list(m) } } else { retag k to 1 }"
    path = tmp_path / "a.mks"
    path.write_text(
        f"mks 1\nsetup s {{\n    {lines}\n}}\ncase c\n    verifies LAY-05\n    for n in 16, 32\n    setup s\n"
        "    transmit k by send\n    expect wire == m\n",
        encoding="utf-8",
    )
    compiled = compile_file(path, root=tmp_path)
    assert compiled.loaded is not None
    assert compiled.suite is not None
    text = next(stand_alone(compiled.loaded, compiled.loaded.file.cases[0], compiled.suite.cases[0].rows[1]))
    assert f"    for n in 32\n    {lines}\n    transmit k by send" in text
    assert "setup" not in text


def test_what_the_failure_does_not_need_goes(alone: str, judge: Judge) -> None:
    """A mkey, its buffer, a configuration, a transfer, and what it should be: no less shows a wrong CRC32C."""
    found = shrink(alone, judge, 100)
    assert found.whole
    assert found.statements == statements(parsed(found.text)) == 5
    assert judge.fails(found.text)
    for gone in ("spare", "other", "misaligned", "What it says", "for ", "if ", "allow", "covering", "library"):
        assert gone not in found.text
    assert re.search(r"^    verifies\s+\S+$", found.text, re.M)


def test_no_single_edit_makes_the_result_smaller(alone: str, judge: Judge) -> None:
    found = shrink(alone, judge, 100)
    file, row = parsed(found.text), judge.compiled(found.text).suite
    assert row is not None
    for one in PASSES:
        for change in one(file, row.cases[0].rows[0]):
            text = applied(found.text, change)
            assert text == found.text or not judge.fails(text)


TOGETHER = """\
mks 1

case together
    verifies SIG-22
    mkey plain
    mkey k { block_signature }
    memory a = counter(16)
    memory b = counter(100)[0 +: 7] ++ random(300, seed=2)
    memory c = random(512, seed=2)[300 +: 212]
    peer memory far[16]
    peer memory target[516]
    post {
        configure plain { layout list(a) }
        write plain to far
        configure k { layout list(b[7 +: 300], c); signature { wire crc32c(ones) every 512 } }
        write k to target
    }
    expect far == a
    expect target == framed(random(512, seed=2), crc32c(ones) every 512)
"""


def test_what_goes_together_goes_together(folder: Path) -> None:
    """A request and what is expected of its target; the memories of a list, in place of which one has the bytes."""
    judge = Judge(folder / "work", Player(faulty), Player(good), "MKS2102")
    assert judge.fails(TOGETHER)
    found = shrink(TOGETHER, judge, 100)
    assert found.whole
    assert found.statements == 5
    names = set(re.findall(r"^    (?:peer )?(?:mkey|memory) (\w+)", found.text, re.M))
    assert len(names) == 3
    assert names.isdisjoint(["plain", "far", "a", "b", "c"])
    assert "++" not in found.text


def test_a_text_that_the_model_fails_does_not_count(folder: Path, alone: str, judge: Judge) -> None:
    """It would show a mistake of the case. A row that the model fails from the beginning is shrunk without it."""
    wrong = alone.replace("crc(seed) every n)", "crc(zeros) every n)")
    assert not judge.fails(wrong)
    assert Judge(folder / "work", Player(faulty), None, "MKS2101").fails(wrong)


def test_the_time_ends_the_search(alone: str, judge: Judge) -> None:
    """With what was found until then."""
    ticks = count()
    found = shrink(alone, judge, 30, clock=lambda: float(next(ticks)))
    assert not found.whole
    assert judge.tried < 40
    assert judge.fails(found.text)


# The command ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Done:
    code: int
    out: str
    err: str


Run = Callable[..., Done]


@pytest.fixture
def run(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Run:
    monkeypatch.chdir(folder)

    def ran(*arguments: str) -> Done:
        code = main(["shrink", *arguments])
        return Done(code, *capsys.readouterr())

    return ran


def row_of(folder: Path, *words: str) -> str:
    suite = compile_file(folder / "long.mks").suite
    assert suite is not None
    return next(row.id for row in suite.cases[0].rows if all(word in row.id for word in words))


def test_the_command_writes_the_case(folder: Path, run: Run) -> None:
    row = row_of(folder, "crc=crc32c", "how=signed")
    done = run(f"long.mks::long[{row}]", "--fault", "crc32c_polynomial", "--out", "small/case.mks")
    assert done.code == 0, done.err
    written = (folder / "small" / "case.mks").read_text()
    assert written == f"# MKS2101 on model with crc32c_polynomial; shrunk from long.mks::long[{row}]\n{done.out}"
    assert "5 statements that fail with MKS2101" in done.err
    assert main(["check", "small/case.mks"]) == 0


WRONG = {
    "no such file: nothing.mks": ["nothing.mks::a"],
    "notes.txt is no .mks file": ["notes.txt::a"],
    "long.mks has no case 'lung'; did you mean `long`?": ["long.mks::lung"],
    "long.mks has no case ''": ["long.mks"],
    "case long has no row 'n=5'": ["long.mks::long[n=5]"],
    "case long has no row ''": ["long.mks::long"],
    "no fault is called 'crc32c_polynom'": ["long.mks::long[ROW]", "--fault", "crc32c_polynom"],
    "--fault: only the model": ["long.mks::long[ROW]", "--fault", "crc32c_polynomial", "--device", "mlx5_0"],
    "--seconds 0: a search takes more than 0 seconds": ["long.mks::long[ROW]", "--seconds", "0"],
    "broken.mks has errors, see `mkeyspec check broken.mks`": ["broken.mks::long"],
}


@pytest.mark.parametrize("message", WRONG)
def test_wrong_input(folder: Path, run: Run, message: str) -> None:
    (folder / "broken.mks").write_text("mks 1\ncase long\n    memory m\n")
    row = row_of(folder, "crc=crc32c", "how=signed")
    done = run(*[one.replace("ROW", row) for one in WRONG[message]])
    assert done.code == 2
    assert "error[MKS09" in done.err
    assert message in done.err
    assert len(done.err.splitlines()) == 1


def test_a_row_that_passes(folder: Path, run: Run) -> None:
    done = run(f"long.mks::long[{row_of(folder, 'crc=crc32c')}]")
    assert (done.code, done.out) == (1, "")
    assert "error[MKS0933]: not shrunk: it passes on model" in done.err


def test_a_row_that_fails_now_and_then(folder: Path, run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    turns = cycle([Outcome("fail", "MKS2101"), Outcome("pass"), Outcome("fail", "MKS2101")])
    monkeypatch.setattr(Player, "play", lambda *_: next(turns))
    done = run(f"long.mks::long[{row_of(folder, 'crc=crc32c')}]")
    assert done.code == 1
    assert "error[MKS0933]: not shrunk: it fails in 3 of 5 runs, not always in one way" in done.err
    assert not (folder / "reports").exists()


def test_a_file_that_cannot_be_written(folder: Path, run: Run) -> None:
    (folder / "small").touch()
    row = row_of(folder, "crc=crc32c", "how=signed")
    done = run(f"long.mks::long[{row}]", "--fault", "crc32c_polynomial", "--out", "small/case.mks")
    assert done.code == 2
    assert "error[MKS0902]" in done.err
