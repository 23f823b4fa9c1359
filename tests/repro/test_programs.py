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
from mkeyspec.repro.c_frame import parts
from mkeyspec.repro.c_program import Subject
from mkeyspec.repro.c_writer import CWriter
from mkeyspec.repro.names import is_taken
from mkeyspec.repro.trace import PERSONALITY
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
needs_soft = pytest.mark.skipif(softnic.library(faults=True) is None, reason="no software NIC with faults")


def of(file: Path, name: str, row: str = "", **more: object) -> Subject:
    suite = compile_file(file, base=campaign.ROOT).suite
    assert suite is not None
    case = next(one for one in suite.cases if one.name == name)
    found = next(one for one in case.rows if one.id == row)
    id = f"{suite.source}::{name}" + (f"[{row}]" if row else "")
    return Subject(case, found, id, suite.source, file, Profile(), **more)  # type: ignore[arg-type]


# What a program says -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["one_write", "a_bad_guard", "refused_or_not"])
def test_the_text_of_a_program(name: str) -> None:
    """Read the diff after BLESS=1: these are what a support engineer gets."""
    text = CWriter(of(GOLDEN / "golden.mks", name)).text()
    file = GOLDEN / f"{name}.c"
    if os.environ.get("BLESS"):
        file.write_text(text, encoding="utf-8")
    assert text == file.read_text(encoding="utf-8")


def test_each_line_of_a_program_names_its_statement() -> None:
    source = (GOLDEN / "golden.mks").read_text(encoding="utf-8").splitlines()
    text = CWriter(of(GOLDEN / "golden.mks", "one_write")).text()
    found = re.findall(r"\t/\* (\d+): (.*) \*/", text[text.index("int main") :])
    assert len(found) == 5
    assert all(source[int(number) - 1].strip() == line for number, line in found)


def test_no_object_of_a_case_is_called_as_a_part_of_a_program() -> None:
    names = {*parts(), *re.findall(r"^static [^\n(=]*?(\w+)(?:\[\d*\])?;", "\n".join(parts().values()), re.MULTILINE)}
    assert not [name for name in names if not is_taken(name)]


def test_a_program_has_only_the_parts_that_it_needs() -> None:
    text = CWriter(of(GOLDEN / "golden.mks", "one_write")).text()
    assert "make_dct" not in text
    assert "mlx5dv_dek_create" not in text
    assert "pcg64" not in text


# Programs against their cases --------------------------------------------------------------------


@pytest.fixture(scope="module")
def sample(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Subject], list[campaign.Made], dict[str, str]]:
    """About 30 rows, their programs, and what the compiler said."""
    chosen = [one for file in FILES for one in campaign.subjects(1, 5, 1, file)]
    made = campaign.written(chosen, tmp_path_factory.mktemp("programs"))
    return chosen, made, campaign.compiled(made, whole=True)


@needs_gcc
def test_programs_compile_without_a_warning(
    sample: tuple[list[Subject], list[campaign.Made], dict[str, str]],
) -> None:
    chosen, made, said = sample
    assert len(made) == len(chosen) > 25
    assert not [one for one in made if one.path is None]
    assert not said


@needs_gcc
@needs_soft
@pytest.mark.parametrize("fault", ["", "crc32c_polynomial", "access_late"])
def test_programs_fail_where_their_cases_do(
    fault: str, sample: tuple[list[Subject], list[campaign.Made], dict[str, str]], tmp_path: Path
) -> None:
    chosen, made, _ = sample
    cases, programs = campaign.verdicts(chosen, fault, tmp_path), campaign.run(made, fault)
    wrong = [one.id for one in made if not campaign.agrees(cases[one.id], *programs[one.id])]
    assert not wrong
    failed = [id for id, verdict in cases.items() if verdict.status == "fail"]
    assert bool(failed) is bool(fault)


@needs_gcc
def test_a_changed_byte_fails(
    sample: tuple[list[Subject], list[campaign.Made], dict[str, str]], tmp_path: Path
) -> None:
    """The check of the checks: of a program whose expected bytes are others."""
    if softnic.library() is None:
        pytest.skip("no software NIC")
    text = CWriter(of(GOLDEN / "golden.mks", "one_write")).text()
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
    file.write_text(CWriter(subject).text(), encoding="utf-8")
    made = campaign.Made(subject.id, file)
    assert not campaign.compiled([made], whole=True)
    variables = preload.environment(PERSONALITY)
    done = subprocess.run([str(file.with_suffix(""))], env=variables, capture_output=True, text=True, check=False)
    assert done.stdout.endswith("PASSED\n")
    assert campaign.run([made], "")[subject.id][0] == 77  # the default personality takes keys as they are


@needs_gcc
def test_names_of_a_case_that_c_has_too(tmp_path: Path) -> None:
    file = tmp_path / "names.c"
    file.write_text(CWriter(of(GOLDEN / "golden.mks", "names_of_c")).text(), encoding="utf-8")
    done = subprocess.run([*campaign.CC, "-fsyntax-only", str(file)], capture_output=True, text=True, check=False)
    assert done.stderr == ""
