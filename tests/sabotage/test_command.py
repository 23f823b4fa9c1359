"""`mkeyspec sabotage`: what it prints, what it returns; and that the suite notices a sample of the faults."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from mkeyspec import cli
from mkeyspec.cli.sabotage_conditions import Progress
from mkeyspec.device.soft.preload import FAULT
from mkeyspec.sabotage.catalogue import faults
from mkeyspec.sabotage.conditions import catalogue
from mkeyspec.sabotage.fault import FAULTY, Faulty

CASE = """\
mks 1

case strip
    verifies CRC-02, SIG-08
    for size in 512, 4096
    let d = crc32(ones) every size
    memory src = framed(counter(size), d)
    mkey k { block_signature }
    configure k { layout list(src); signature { mem d } }
    transmit k by send
    expect wire == counter(size)

case plain
    verifies LST-01
    memory src = counter(64)
    mkey k
    configure k { layout list(src[32 +: 32], src[0 +: 32]) }
    transmit k by send
    expect wire == src[32 +: 32] ++ src[0 +: 32]
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "cases").mkdir()
    (tmp_path / "cases" / "small.mks").write_text(CASE)
    (tmp_path / "pyproject.toml").write_text("")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_killed(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["sabotage", "--only", "crc32_polynomial", "list_reversed"]) == 0
    said = capfd.readouterr().out.splitlines()
    assert "killed   crc32_polynomial by cases/small.mks::strip[size=512] (MKS2202)" in said
    assert "killed   list_reversed by cases/small.mks::plain (MKS2101)" in said
    assert said[-1].startswith("mkeyspec: 2 of 2 faults killed on model (3 items of 2 cases) in ")


def test_one_that_survives(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["sabotage", "--only", "crc32_polynomial", "t10_polynomial"]) == 1
    said = capfd.readouterr().out
    assert "SURVIVES t10_polynomial: the T10 guard is computed with CCITT's polynomial 0x1021 (DIF-04)\n" in said
    assert "mkeyspec: 1 of 2 faults killed on model" in said


def test_what_is_no_fault_survives(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FAULTY, "crc32_polynomial", Faulty())
    assert cli.main(["sabotage", "--only", "crc32_polynomial"]) == 1


def test_a_case_that_fails_without_a_fault_kills_none(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    with (project / "cases" / "small.mks").open("a") as file:
        file.write("\ncase wrong\n    verifies LST-01\n    memory m = counter(8)\n    mkey k\n")
        file.write("    configure k { layout list(m) }\n    transmit k by send\n    expect wire == fill(0, 8)\n")
    assert cli.main(["sabotage", "--only", "t10_polynomial", "list_reversed"]) == 1
    said = capfd.readouterr()
    assert "fails without any fault: cases/small.mks::wrong (MKS2101)" in said.err
    assert "SURVIVES t10_polynomial" in said.out
    assert "1 failing and 0 skipped left out" in said.out


def test_a_matrix_and_a_profile_out_of_it(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    names = ["crc32_polynomial", "list_reversed"]
    assert cli.main(["sabotage", "--only", *names, "--matrix", "reports/m.json", "-n", "2"]) == 0
    said = capfd.readouterr().out
    assert "killed   crc32_polynomial by 2 items of 1 cases" in said
    table = json.loads((project / "reports" / "m.json").read_text())
    assert {name: len(kills) for name, kills in table["kills"].items()} == {"crc32_polynomial": 2, "list_reversed": 1}
    assert cli.main(["sabotage", "--choose", "quick", "--from", "reports/m.json"]) == 0
    text = (project / "cases" / "quick.toml").read_text()
    assert text.startswith("# Written by `mkeyspec sabotage --choose quick --from reports/m.json`")
    capfd.readouterr()
    assert cli.main(["sabotage", "--only", *names, "--profile", "quick", "--format", "json"]) == 0
    data = json.loads(capfd.readouterr().out)
    assert (data["items"], data["cases"], data["survivors"], data["vacuous"]) == (2, 2, [], None)
    assert data["faults"][0].keys() == {
        "name", "group", "part", "what", "violates", "killed_by", "ran", "seconds"
    }  # fmt: skip


def test_rows_that_show_nothing_give_way_to_the_others(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    names = ["crc32_polynomial", "field_covers_512"]
    assert cli.main(["sabotage", "--only", *names, "--matrix", "m.json", "--rows", "1"]) == 0
    said = capfd.readouterr().out.splitlines()
    assert "killed   crc32_polynomial by 1 items of 1 cases" in said
    assert "killed   field_covers_512 by 1 items of 1 cases" in said
    table = json.loads((project / "m.json").read_text())
    assert [table["items"][number] for number in table["kills"]["field_covers_512"]] == [
        "cases/small.mks::strip[size=4096]"
    ]


def test_a_vacuous_case(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """In the whole matrix only: a case is not vacuous for the faults that were left out."""
    with (project / "cases" / "small.mks").open("a") as file:
        file.write("\ncase nothing\n    verifies MKY-01\n    memory m = counter(8)\n")
    assert cli.main(["sabotage", "--matrix", "m.json", "-n", "2"]) == 1
    said = capfd.readouterr().out
    assert "VACUOUS  cases/small.mks::nothing kills nothing" in said
    assert "2 of 3 cases kill something" in said


def test_the_list(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["sabotage", "--list", "--format", "json"]) == 0
    assert [one["name"] for one in json.loads(capfd.readouterr().out)] == list(faults())
    assert cli.main(["sabotage", "--list"]) == 0
    assert capfd.readouterr().err == f"mkeyspec: {len(faults())} faults\n"


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        (["--only", "crc32_polynom"], "error[MKS0907]: no fault is called 'crc32_polynom'; did you mean crc32_poly"),
        (["--device", "mlx5_0"], "error[MKS0905]"),
        (["--device", "soft", "--only", "setter_twice"], "error[MKS0907]: setter_twice is a fault of the driver"),
        (["--choose", "quick"], "error[MKS0905]"),
        (["--choose", "quick", "--from", "nowhere.json"], "error[MKS0904]"),
        (["--profile", "slow"], "error[MKS0904]: no profile 'slow'"),
        (["-n", "0"], "error[MKS0905]"),
        (["--rows", "0"], "error[MKS0905]"),
        (["--vary", "1", "--claims"], "error[MKS0905]"),
        (["--vary", "1", "--matrix", "m.json"], "error[MKS0905]"),
        (["nowhere.mks"], "error[MKS0903]"),
    ],
    ids=["name", "device", "driver", "choose", "from", "profile", "n", "rows", "vary claims", "vary matrix", "path"],
)
def test_wrong_input(project: Path, capfd: pytest.CaptureFixture[str], arguments: list[str], text: str) -> None:
    assert cli.main(["sabotage", *arguments]) == 2
    assert text in capfd.readouterr().err


def test_a_run_of_one_fault(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["run", "-q", "--fault", "list_reversed", "-pno:cacheprovider"]) == 1
    assert "2 passed, 1 failed (1 MKS2101)" in capfd.readouterr().out
    assert FAULT not in os.environ, "the model's fault is not left for the software NIC of whoever comes next"


def test_a_run_of_a_profile(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    (project / "cases" / "quick.toml").write_text('items = ["cases/small.mks::strip[size=4096]"]')
    assert cli.main(["run", "-q", "--profile", "quick", "-pno:cacheprovider"]) == 0
    assert "1 passed, 0 failed" in capfd.readouterr().out


# Conditions ------------------------------------------------------------------------------------


def test_conditions(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    given = ["crc32_not_inverted@block_size=512", "crc32_not_inverted@block_size=4160", "crc32_not_inverted@block=0"]
    assert cli.main(["sabotage", "--conditions", "--only", *given]) == 1
    said = capfd.readouterr().out.splitlines()
    assert said[0] == "CRC-02: 2 of 3 killed"
    assert said[1] == (
        "  SURVIVES crc32_not_inverted@block_size=4160: CRC32 is not inverted at the end; only where block_size is "
        "4160 (bytes of a block); no row reaches it"
    )
    assert said[2].startswith(
        "mkeyspec: 2 of 3 conditional faults killed: 66.7%, 95 % interval 20.8% to 93.9%; of 1 survivors, 1 are "
        "reached by no row; on model (3 items) in "
    )


def test_conditions_as_json(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["sabotage", "--conditions", "--only", "crc32_not_inverted", "--format", "json"]) == 1
    found = json.loads(capfd.readouterr().out)
    assert found["faults"] == found["killed"] + len(found["survivors"])
    assert found["killed_by"]["crc32_not_inverted@block_size=512"] == ["cases/small.mks::strip[size=512]", "MKS2202"]
    assert found["requirements"]["CRC-02"]["faults"] == found["faults"]
    assert all(one["condition"] in one["id"] for one in found["survivors"])


def test_a_long_campaign_says_how_far_it_is(capfd: pytest.CaptureFixture[str]) -> None:
    survivor = next(iter(catalogue.faults().values()))
    progress = Progress(100)
    for number in range(100):
        progress.one(survivor if number == 14 else None)
    said = capfd.readouterr()
    assert not said.out
    lines = said.err.splitlines()
    assert lines[0] == "mkeyspec: 10 of 100 faults that a row reaches are judged, 0 survive"
    assert lines[1] == f"SURVIVES {survivor.id}: {survivor.what}"
    assert lines[2] == "mkeyspec: 20 of 100 faults that a row reaches are judged, 1 survive"
    assert len(lines) == 11


def test_conditions_that_all_kill(project: Path, capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["sabotage", "--conditions", "--only", "crc32_not_inverted@block=0"]) == 0
    assert "1 of 1 conditional faults killed" in capfd.readouterr().out


def test_conditions_are_listed(capfd: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["sabotage", "--conditions", "--list", "--sample", "12", "--seed", "3"]) == 0
    said = capfd.readouterr()
    assert len(said.out.splitlines()) == 12
    assert said.err == "mkeyspec: 12 conditional faults\n"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--sample", "5"], "--sample: say --conditions or --claims, too"),
        (["--conditions", "--sample", "0"], "--sample 0: at least one fault"),
        (["--conditions", "--device", "mlx5_0"], "only the model and the software NIC can be given a fault"),
        (["--conditions", "--device", "soft", "--only", "crc_runs_on@wrs=1"], "no conditional fault is called"),
        (["--conditions", "--matrix", "x.json"], "--conditions and --matrix do not go together"),
        (["--conditions", "--rows", "3"], "--conditions and --rows do not go together"),
        (["--conditions", "-n", "0"], "-n 0: at least one process"),
        (["--conditions", "--only", "crc32_not_inverted@block>=7"], "no conditional fault is called"),
    ],
)
def test_wrong_options_of_conditions(capfd: pytest.CaptureFixture[str], given: list[str], said: str) -> None:
    assert cli.main(["sabotage", *given]) == 2
    assert said in capfd.readouterr().err
