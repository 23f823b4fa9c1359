"""`mkeyspec repro`: what it writes where, and what it says of wrong input."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from mkeyspec.cli.entry import main

CASE = """\
mks 1
suite "two rows"

case bytes_of_a_key
    "What is sent is what is there."
    verifies LAY-01
    for n in 64, 128
    memory src = counter(n)
    mkey k
    configure k { layout list(src) }
    transmit k by send
    expect wire == counter(n)
"""


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases" / "two.mks").write_text(CASE, encoding="utf-8")
    return tmp_path


def test_a_program_goes_to_standard_output(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["repro", "cases/two.mks::bytes_of_a_key[n=64]"]) == 0
    text = capsys.readouterr().out
    assert "cases/two.mks::bytes_of_a_key[n=64]" in text
    assert "What is sent is what is there." in text
    assert "/* 11: transmit k by send */" in text
    assert text.endswith("}\n")


def test_or_to_a_file(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["repro", "cases/two.mks::bytes_of_a_key[n=64]", "-o", "repro.c"]) == 0
    assert capsys.readouterr().out == ""
    assert "int main(" in (project / "repro.c").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("item", "said"),
    [
        ("cases/none.mks::a", r"MKS0903.*no such file: cases/none.mks"),
        ("cases/two.mks::byte_of_a_key[n=64]", r"MKS0907.*no case 'byte_of_a_key'; did you mean `bytes_of_a_key`\?"),
        ("cases/two.mks::bytes_of_a_key[n=65]", r"MKS0907.*no row 'n=65'; did you mean `n=64`\?.*list --rows"),
        ("cases/two.mks::bytes_of_a_key", r"MKS0907.*has no row '': it has 2, as bytes_of_a_key\[n=64\]"),
        ("cases/two.mks", r"MKS0907.*name a row, as cases/two.mks::bytes_of_a_key\[n=64\]"),
        ("cases", r"error\[MKS09\d\d\]"),
    ],
)
def test_a_wrong_id(item: str, said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["repro", item]) == 2
    assert re.search(said, capsys.readouterr().err)


def test_a_file_with_errors(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "cases" / "two.mks").write_text(CASE.replace("mkey k", "mkey"), encoding="utf-8")
    assert main(["repro", "cases/two.mks::bytes_of_a_key[n=64]"]) == 2
    assert "MKS0907]: cases/two.mks has errors, see `mkeyspec check cases/two.mks`" in capsys.readouterr().err


def test_an_output_that_cannot_be_written(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["repro", "cases/two.mks::bytes_of_a_key[n=64]", "-o", "no/such/place.c"]) == 2
    assert "error[MKS0902]" in capsys.readouterr().err
    assert not (project / "no").exists()


def test_what_no_program_can_hold(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The bytes of a changed random string are a table."""
    text = CASE.replace("counter(n)", "flip(random(n * 80000, seed=1), 3)").replace("src", "src")
    (project / "cases" / "two.mks").write_text(text, encoding="utf-8")
    assert main(["repro", "cases/two.mks::bytes_of_a_key[n=64]"]) == 2
    assert re.search(r"error\[MKS0947\]: cases/two.mks:4:1: .*more than 4 MiB", capsys.readouterr().err)


def test_a_program_in_python(project: Path) -> None:
    assert main(["repro", "cases/two.mks::bytes_of_a_key[n=64]", "--language", "python", "-o", "repro.py"]) == 0
    text = (project / "repro.py").read_text(encoding="utf-8")
    compile(text, "repro.py", "exec")
    assert "\n# 11: transmit k by send\n" in text


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        (
            "    mkey k\n",
            "    mkey k { update_tag }\n    retag k to 7\n",
            r"two.mks:10:5: pyverbs lacks a way to set the tag of an mkey: .*read only; --language c writes it in C",
        ),
        (
            "    for n in 64, 128\n",
            "    for n in 64, 128\n    needs not signature.crc32\n",
            r"two.mks:4:1: pyverbs lacks a getter for the signature capabilities: signature.crc32; --language c",
        ),
    ],
)
def test_what_pyverbs_lacks(old: str, new: str, said: str, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "cases" / "two.mks").write_text(CASE.replace(old, new), encoding="utf-8")
    item = "cases/two.mks::bytes_of_a_key[n=64]"
    assert main(["repro", item]) == 0
    assert capsys.readouterr().out
    assert main(["repro", item, "--language", "python"]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert re.search(rf"error\[MKS0948\]: .*{said}", captured.err)


def test_a_language_that_there_is_not(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["repro", "cases/two.mks::bytes_of_a_key[n=64]", "--language", "go"])
    assert "choose from" in capsys.readouterr().err


def test_a_stream_that_is_none(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["repro", "cases/two.mks::bytes_of_a_key[n=64]", "--results", "none.ndjson"]) == 2
    assert "MKS0903]: no such results: none.ndjson" in capsys.readouterr().err


def test_what_a_run_has_got(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Of the newest stream, and of the one that is named; a row that passed there has nothing to tell."""
    wrong = CASE.replace("expect wire == counter(n)", "expect wire == flip(counter(n), 9)")
    (project / "cases" / "two.mks").write_text(wrong, encoding="utf-8")
    assert main(["run", "cases/two.mks", "-q"]) == 1
    capsys.readouterr()
    (stream,) = (project / "reports").glob("*/results.ndjson")
    for more in ([], ["--results", str(stream)]):
        assert main(["repro", "cases/two.mks::bytes_of_a_key[n=64]", *more]) == 0
        text = capsys.readouterr().out
        assert " * It failed on model" in text
        assert " * MKS2101 at line 12: 1 of 64 bytes differs, first at wire[9]" in text
        assert " * expected 08" in text
        assert " * got      09" in text
    (project / "cases" / "two.mks").write_text(CASE, encoding="utf-8")
    assert main(["run", "cases/two.mks", "--results", "reports/second/results.ndjson", "-q"]) == 0
    capsys.readouterr()
    assert main(["repro", "cases/two.mks::bytes_of_a_key[n=64]", "--results", "reports/second/results.ndjson"]) == 0
    assert "It failed" not in capsys.readouterr().out


@pytest.mark.parametrize(
    ("language", "said"),
    [("c", "number_in(taken_1 + 0, 4, true)"), ("python", 'int.from_bytes(taken_1[0 : 4], "big")')],
)
def test_a_number_that_was_taken_before(
    project: Path, capsys: pytest.CaptureFixture[str], language: str, said: str
) -> None:
    """It is read from the bytes that were kept, and not from a variable of the case's name."""
    lines = ("memory m = counter(64)", "peer memory w[64]", "let first = be32_at(m, 4)", "write m to w")
    text = "\n    ".join(("mks 1\n\ncase taken", *lines, "expect be32_at(w, 4) == first", "expect w == m\n"))
    (project / "cases" / "taken.mks").write_text(text, encoding="utf-8")
    assert main(["repro", "cases/taken.mks::taken", "--language", language]) == 0
    assert said in capsys.readouterr().out
