"""`mkeyspec calibrate`: its files, its exit codes, and what it answers to wrong input; MKS0958 in a run."""

from __future__ import annotations

from pathlib import Path

import pytest

from mkeyspec.cli.entry import main
from mkeyspec.device.profile.profile import Profile, load, load_measured
from tests.plugin.project import CASES, Project

FIVE = """\
err_actual = "computed"
recv_byte_len = "memory"
entries_rounding = 8
err_priority = ["ref", "app", "guard"]
errno.dif_bg = "EPERM"
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "secret.toml").write_text(FIVE)
    return tmp_path


def test_five_secret_departures_are_named_and_written(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calibrate", "--device-profile", "secret.toml", "--name", "lab", "--departures", "d.toml"]) == 0
    said = capsys.readouterr().out
    for line in FIVE.splitlines():
        assert f"    {line}" in said
    assert "X-DIFF-22; cases name it" in said
    found = load(here / "reports" / "calibrate" / "model.toml")
    assert set(found.departures()) == {
        "name",
        "err_actual",
        "recv_byte_len",
        "entries_rounding",
        "err_priority",
        "errno",
    }
    assert found.name == "lab"
    measured = load_measured(here / "reports" / "calibrate" / "model.toml")
    assert measured is not None
    assert measured.device == "model"
    assert 'X-DIFF-22 = "err_priority is [\\"ref\\", \\"app\\", \\"guard\\"]"' in (here / "d.toml").read_text()


def test_errnos_that_a_page_states(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Another one than the page's parts from it, whatever the profile says."""
    (here / "secret.toml").write_text("errno.login_twice = 'EPERM'\nerrno.crc_seed = 'EPERM'")
    assert main(["calibrate", "--device-profile", "secret.toml"]) == 0
    parting = capsys.readouterr().out.split("parts from a page:")[1]
    assert 'errno.login_twice = "EPERM"     XCRY-15; the page names EEXIST: rows that claim it fail' in parting
    assert "crc_seed" not in parting


def test_a_device_without_departures(here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["calibrate", "--out", "found.toml", "--departures", "d.toml"]) == 0
    assert set(load(here / "found.toml").departures()) == {"name"}
    assert not (here / "d.toml").exists()
    assert "not the default" not in capsys.readouterr().out


WRONG = [
    (["--deadline", "0"], "MKS0905]: --deadline 0: a wait takes more than 0 seconds"),
    (["--deadline", "nan"], "MKS0905]: --deadline nan"),
    (["--device", "modell"], "MKS0901]: no device 'modell'; did you mean model?"),
    (["--device", "soft:cx9"], "MKS0911]"),
    (["--device", "bundle:x.bundle"], "MKS0905]: bundle:x.bundle: a bundle answers what a run asked"),
    (["--device", "mlx5_7", "--device-profile", "secret.toml"], "MKS0905]: --device-profile: mlx5_7 is measured"),
    (["--device-profile", "none.toml"], "MKS0904]: none.toml: can't read the device profile"),
    (["--device-profile", "bad.toml"], "MKS0904]: bad.toml:1:1: a device profile has no member `err_actul`"),
    (["--out", "secret.toml/x.toml"], "MKS0902]: can't write secret.toml/x.toml"),
    (["--out", "folder"], "MKS0902]: can't write folder"),
    (["--departures", "folder"], "MKS0902]: can't write folder"),
]


@pytest.mark.parametrize(("words", "message"), WRONG, ids=[" ".join(words) for words, _ in WRONG])
def test_wrong_input(words: list[str], message: str, here: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (here / "folder").mkdir()
    (here / "bad.toml").write_text("err_actul = 'field'")
    before = sorted(one.name for one in here.iterdir())
    assert main(["calibrate", *words]) == 2
    said = capsys.readouterr()
    assert message in said.err
    assert said.err.count("\n") == 1
    assert said.out == ""
    assert sorted(one.name for one in here.iterdir() if one.name != "reports") == before


def test_a_fault_is_no_choice(here: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    """A model whose CRC32C is another one: it contradicts what is published, and no value comes of it."""
    from mkeyspec.device import select
    from mkeyspec.sabotage.model import faulty_model

    monkeypatch.setattr(select, "open_choice", lambda choice, profile, **_: faulty_model("crc32c_polynomial", profile))
    assert main(["calibrate", "--out", "found.toml", "--deadline", "0.05"]) == 1
    said = capsys.readouterr()
    assert "crc32c as published" in said.out
    assert "error[MKS0959]: 4 points are not decided: crc32c" in said.err
    assert set(load(here / "found.toml").departures()) == {"name"}


LAB = 'err_actual = "computed"\nerrno.dif_bg = "EPERM"\n'


def test_a_profile_of_another_device_is_told_of(tmp_path: Path) -> None:
    project = Project(tmp_path)
    project.put("cases/a.mks", CASES)
    text = '[measured]\ndevice = "mlx5_0"\nfirmware = "28.39"\n'
    project.put("lab.toml", f"{LAB}{text}")
    done = project.mkeyspec("run", "cases", "-k", "passes", "--device-profile", "lab.toml")
    assert done.code == 0
    warning = "lab.toml: warning[MKS0958]: a profile of another device: it was measured on mlx5_0, and this is model"
    assert warning in done.out
    assert "lab.toml: the device differs from the defaults in 2 points:" in done.out
    assert '    err_actual = "computed", errno.dif_bg = "EPERM"\n' in done.out
    value = "&quot;computed&quot; (default &quot;field&quot;; not measured)"
    assert f'name="profile:err_actual" value="{value}"' in (project.path / "reports" / "junit.xml").read_text()
    assert "differs from the defaults in 2 points (lab.toml)" in project.mkeyspec("report", "text").out
    project.put("lab.toml", text.replace("mlx5_0", "model").replace("28.39", ""))
    assert "MKS0958" not in project.mkeyspec("run", "cases", "-k", "passes", "--device-profile", "lab.toml").out
    assert Profile() == load(project.path / "lab.toml")
