"""Reproducers: what they say, that they compile, and that they agree with their cases on the software NIC."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from mkeyspec.compiler.compile import compile_file
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.soft import preload, softnic
from mkeyspec.repro.c.frame import parts
from mkeyspec.repro.names import is_taken
from mkeyspec.repro.program import Subject
from mkeyspec.repro.python import frame as python_frame
from mkeyspec.repro.trace import PERSONALITY, Unsayable
from mkeyspec.repro.writer import Writer
from tests.repro import campaign

HERE = Path(__file__).parent
GOLDEN = HERE / "golden"
SOURCE = "tests/repro/golden/golden.mks"
FILES = (
    "signature/crc",
    "configure/access",
    "posting/dc.mks",
    "mkey/destroy",
    "layout/cuts",
    "crypto/deks",
    "open/transfers",
    "lacking",
)
"""Of the sample that is compiled and run each time. All of them: docs/repro.md."""

needs_gcc = pytest.mark.skipif(
    shutil.which("gcc") is None or not Path("/usr/include/infiniband/mlx5dv.h").exists(),
    reason="gcc and libibverbs-dev",
)
needs_pyverbs = pytest.mark.skipif(
    subprocess.run([campaign.INTERPRETER, "-c", "import pyverbs.providers.mlx5.mlx5dv"], check=False).returncode != 0,
    reason="python3-pyverbs",
)
needs_soft = pytest.mark.skipif(softnic.library(faults=True) is None, reason="no software NIC with faults")


def of(file: Path, name: str, row: str = "", **more: object) -> Subject:
    suite = compile_file(file, base=campaign.ROOT).suite
    assert suite is not None
    case = next(one for one in suite.cases if one.name == name)
    found = next(one for one in case.rows if one.id == row)
    id = f"{suite.source}::{name}" + (f"[{row}]" if row else "")
    return Subject(case, found, id, suite.source, file, Profile(), **more)  # type: ignore[arg-type]


# What a program says -----------------------------------------------------------------------------


@pytest.mark.parametrize(("language", "suffix"), [("c", ".c"), ("python", ".py.txt")])
@pytest.mark.parametrize("name", ["one_write", "a_bad_guard", "refused_or_not"])
def test_the_text_of_a_program(name: str, language: str, suffix: str) -> None:
    """Read the diff after BLESS=1: these are what a support engineer gets."""
    text = Writer(of(GOLDEN / "golden.mks", name), language).text()
    file = GOLDEN / f"{name}{suffix}"
    if os.environ.get("BLESS"):
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


def test_each_line_of_a_program_names_its_statement() -> None:
    source = (GOLDEN / "golden.mks").read_text(encoding="utf-8").splitlines()
    text = Writer(of(GOLDEN / "golden.mks", "one_write")).text()
    found = re.findall(r"\t/\* (\d+): (.*) \*/", text[text.index("int main") :])
    assert len(found) == 5
    assert all(source[int(number) - 1].strip() == line for number, line in found)


def test_each_statement_is_in_python_too() -> None:
    c, python = (Writer(of(GOLDEN / "golden.mks", "a_bad_guard"), one).text() for one in ("c", "python"))
    assert re.findall(r"\n# (\d\d+: .*)", python) == re.findall(r"\t/\* (\d\d+: .*) \*/", c)


def test_no_object_of_a_case_is_called_as_a_part_of_a_program() -> None:
    names = {*parts(), *re.findall(r"^static [^\n(=]*?(\w+)(?:\[\d*\])?;", "\n".join(parts().values()), re.MULTILINE)}
    assert not [name for name in names if not is_taken(name)]


def test_no_object_of_a_case_is_called_as_a_part_of_a_program_in_python() -> None:
    code = "\n".join(python_frame.parts().values())
    names = {*python_frame.parts(), *re.findall(r"^(?:def|class) (\w+)", code, re.MULTILINE), *python_frame.MODULES}
    names |= set(re.findall(r"^(\w+) = ", code, re.MULTILINE)) | set(python_frame.STANDARD)
    assert not [name for name in names - {"head", "tail"} if name[0] != "_" and not is_taken(name)]


def test_a_program_has_only_the_parts_that_it_needs() -> None:
    text = Writer(of(GOLDEN / "golden.mks", "one_write")).text()
    assert "make_dct" not in text
    assert "mlx5dv_dek_create" not in text
    assert "pcg64" not in text


def test_a_program_in_python_imports_only_what_it_needs() -> None:
    text = Writer(of(GOLDEN / "golden.mks", "one_write"), "python").text()
    assert "make_dct" not in text
    assert "mlx5dv_crypto" not in text
    assert "mkeyspec" not in re.sub(r"^#.*", "", text, flags=re.MULTILINE)


def test_live_bytes_that_must_differ_are_computed() -> None:
    """What is compared is filled before it is compared."""
    subject = of(campaign.ROOT / "cases" / "posting" / "dc.mks", "messages_of_several_initiators")
    for language, filled in (
        ("c", r"memcpy\(live_1, taken_\d+ \+ 0, 64\);"),
        ("python", r"live_1 = taken_\d+\[0 : 64\]"),
    ):
        text = Writer(subject, language).text()
        assert re.search(rf"{filled}\n\t?expect\(81, (?:!|not )is_there\(&?first, 0, live_1", text)


# Programs against their cases --------------------------------------------------------------------


Sample = tuple[list[Subject], list[campaign.Made], dict[str, str]]
"""Rows, their programs, and what the compiler said."""


@pytest.fixture(scope="module")
def chosen() -> list[Subject]:
    """About 30 rows."""
    return [one for file in FILES for one in campaign.subjects(1, 5, 1, file)]


@pytest.fixture(scope="module")
def sample(chosen: list[Subject], tmp_path_factory: pytest.TempPathFactory) -> Sample:
    made = campaign.written(chosen, tmp_path_factory.mktemp("programs"))
    return chosen, made, campaign.compiled(made, whole=True)


@pytest.fixture(scope="module")
def in_python(chosen: list[Subject], tmp_path_factory: pytest.TempPathFactory) -> Sample:
    made = campaign.written(chosen, tmp_path_factory.mktemp("python"), "python")
    written = [one for one in made if one.path is not None]
    return (
        [one for one in chosen if one.id in {item.id for item in written}],
        written,
        campaign.compiled(made, whole=True),
    )


@needs_gcc
def test_programs_compile_without_a_warning(sample: Sample) -> None:
    chosen, made, said = sample
    assert len(made) == len(chosen) > 25
    assert not [one for one in made if one.path is None]
    assert not said


@needs_pyverbs
def test_programs_name_what_pyverbs_has(in_python: Sample, chosen: list[Subject]) -> None:
    _, made, said = in_python
    assert len(chosen) > len(made) > 30
    assert not said


@needs_pyverbs
def test_a_name_that_pyverbs_has_not_is_found(tmp_path: Path) -> None:
    """The check of the check."""
    text = Writer(of(GOLDEN / "golden.mks", "one_write"), "python").text()
    for number, (right, wrong) in enumerate((("IBV_WC_RDMA_WRITE", "IBV_WC_RDMA_WRITES"), ("Buffer(", "Buffers("))):
        file = tmp_path / f"{number}.py"
        file.write_text(text.replace(right, wrong, 1), encoding="utf-8")
        assert campaign.compiled([campaign.Made("x", file)], whole=True)


@needs_gcc
@needs_soft
@pytest.mark.parametrize("fault", ["", "crc32c_polynomial", "access_late"])
def test_programs_fail_where_their_cases_do(fault: str, sample: Sample, in_python: Sample, tmp_path: Path) -> None:
    chosen, made, _ = sample
    cases, programs = campaign.verdicts(chosen, fault, tmp_path), campaign.run(made, fault)
    wrong = [one.id for one in made if not campaign.agrees(cases[one.id], *programs[one.id])]
    assert not wrong
    failed = [id for id, verdict in cases.items() if verdict.status == "fail"]
    assert bool(failed) is bool(fault)
    _, made, _ = in_python
    programs = campaign.run(made, fault)
    assert not [one.id for one in made if not campaign.agrees(cases[one.id], *programs[one.id])]


EXTREMES = """\
mks 1
case extremes
    verifies LAY-05
    memory m = counter(64)
    peer memory w[64]
    mkey k
    write m to w as s
    peer recv w
    send m as t, signaled
    let big = 0xffff_ffff_ffff_ffff
    expect be64_at(w, 0) >= 0
    expect be64_at(w, 0) <= big
    expect be64_at(w, 0) < big
    expect be64_at(w, 0) > 0
    expect be64_at(w, 0) in [1, 0x0001020304050607]
    expect be64_at(w, 0) - 0x0001020304050607 <= 0
    expect be64_at(w, 0) >> 64 == 0
    expect be16_at(w, 0) != 0x1_0000
    expect k.max_entries >= 0
    expect k.max_entries <= 65535
    expect k.max_entries != 65536
    expect k.lkey <= 0xffffffff
    expect k.lkey != 0x1_0000_0000
    expect device.max_qp_wr >= 0
    expect device.active_mtu <= 0xffffffff
    expect s.errno == 0
"""


@needs_gcc
def test_no_comparison_makes_the_compiler_stop(tmp_path: Path) -> None:
    """A number that no member can have, or that each has, is a warning of C."""
    source = tmp_path / "extremes.mks"
    source.write_text(EXTREMES, encoding="utf-8")
    text = Writer(of(source, "extremes")).text()
    assert text.count(" expect(") + text.count("\texpect(") == 17
    file = tmp_path / "extremes.c"
    file.write_text(text, encoding="utf-8")
    assert not campaign.compiled([campaign.Made("extremes", file)], whole=True)


WIDE = """mks 1
suite "wide"
case wide
    verifies CFG-18
    allow MKS0602
    memory m = counter(64)
    peer memory w[64]
    write m to w
    expect {}
"""


@pytest.mark.parametrize(
    ("number", "why"),
    [
        ("be64_at(w, 0) << 64 != 5", "left shift by 64|not of 64 bits"),
        ("(be16_at(w, 0) << 70) >> 70 == 1", "left shift by 70|not of 64 bits"),
        ("be64_at(w, 8) << 8 != 0", "not of 64 bits"),
        ("be64_at(w, 0) != 0x1_0000_0000_0000_0000", "not of 64 bits"),
    ],
)
def test_a_number_of_more_than_64_bits_is_no_program_of_c(number: str, why: str, tmp_path: Path) -> None:
    source = tmp_path / "wide.mks"
    source.write_text(WIDE.format(number), encoding="utf-8")
    with pytest.raises(Unsayable, match=why) as found:
        Writer(of(source, "wide")).text()
    assert found.value.at.line == 9
    assert Writer(of(source, "wide"), "python").text()


@needs_gcc
def test_a_changed_byte_fails(tmp_path: Path) -> None:
    """The check of the checks: of a program whose expected bytes are others."""
    if softnic.library() is None:
        pytest.skip("no software NIC")
    text = Writer(of(GOLDEN / "golden.mks", "one_write")).text()
    changed = text.replace("counter(bytes_1, 64);", "counter(bytes_1, 64);\n\tbytes_1[9] ^= 1;", 1)
    assert changed != text
    put = changed.replace(
        "put(&src, 0, bytes_1, 64);", "bytes_1[9] ^= 1;\n\tput(&src, 0, bytes_1, 64);\n\tbytes_1[9] ^= 1;", 1
    )
    file = tmp_path / "changed.c"
    file.write_text(put, encoding="utf-8")
    made = campaign.Made("changed", file)
    assert not campaign.compiled([made], whole=True)
    code, said = campaign.run([made], "")["changed"]
    assert code == 1
    assert "1 of 64 bytes of wire differ, first at offset 9" in said


@needs_pyverbs
@needs_soft
def test_a_changed_byte_fails_in_python(tmp_path: Path) -> None:
    text = Writer(of(GOLDEN / "golden.mks", "one_write"), "python").text()
    changed = text.replace("src.put(0, counter(64))", "src.put(0, counter(9) + bytes(1) + counter(64)[10:])", 1)
    assert changed != text
    file = tmp_path / "changed.py"
    file.write_text(changed, encoding="utf-8")
    code, said = campaign.run([campaign.Made("changed", file)], "")["changed"]
    assert code == 1
    assert "1 of 64 bytes of wire differ, first at offset 9\n  expected 09 0a" in said
    assert "\n  got      00 0a" in said


@needs_pyverbs
@needs_soft
def test_a_program_that_cannot_go_on_ends(tmp_path: Path) -> None:
    """With 2, and not with 1: no fault of the device was seen. Inside a section too, where libmlx5 holds a lock."""
    text = Writer(of(GOLDEN / "golden.mks", "one_write"), "python").text()
    file = tmp_path / "broken.py"
    file.write_text(text.replace("result = wr_complete(ibv)", "ibv.no_such_call()", 1), encoding="utf-8")
    code, said = campaign.run([campaign.Made("broken", file)], "")["broken"]
    assert code == 2
    assert "no_such_call" in said


@needs_gcc
@needs_soft
def test_a_program_that_logs_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the public credential of a personality; a lab's secrets are in no program."""
    lab = tmp_path / "lab.toml"
    text = f'credential_id = 1\nimport_kek_id = 2\ncredential = "{"a5" * 40}"\nimport_kek = "{"5a" * 16}"\n'
    lab.write_text(text, encoding="utf-8")
    monkeypatch.setenv("MKEYSPEC_CRYPTO_LOGIN", str(lab))
    file = tmp_path / "login.c"
    subject = of(campaign.ROOT / "cases" / "crypto" / "logins.mks", "the_session")
    file.write_text(Writer(subject).text(), encoding="utf-8")
    made = campaign.Made(subject.id, file)
    assert not campaign.compiled([made], whole=True)
    variables = preload.environment(PERSONALITY)
    done = subprocess.run([str(file.with_suffix(""))], env=variables, capture_output=True, text=True, check=False)
    assert done.stdout.endswith("PASSED\n")
    assert campaign.run([made], "")[subject.id][0] == 77  # the default personality takes keys as they are


@needs_gcc
def test_names_of_a_case_that_c_has_too(tmp_path: Path) -> None:
    file = tmp_path / "names.c"
    file.write_text(Writer(of(GOLDEN / "golden.mks", "names_of_c")).text(), encoding="utf-8")
    done = subprocess.run([*campaign.CC, "-fsyntax-only", str(file)], capture_output=True, text=True, check=False)
    assert done.stderr == ""
