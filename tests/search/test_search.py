"""Searches for a case on which the references, the model and a device do not agree."""

from __future__ import annotations

import importlib.util
from itertools import count, cycle
from pathlib import Path
from random import Random

import pytest

from mkeyspec.cli.entry import main
from mkeyspec.compiler.compile import compile_file
from mkeyspec.device.model.device import Model
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import Device
from mkeyspec.generate.operations import KEYS, NAMES, Operation, grown
from mkeyspec.generate.seed import Seed
from mkeyspec.run.departures import Expectations
from mkeyspec.run.rig import Rig
from mkeyspec.sabotage.model import faulty_model
from mkeyspec.search.hunt import Hunt
from mkeyspec.search.machine import search
from mkeyspec.search.three import COMPILER, MODEL, REFERENCES, Disagreement, Three
from mkeyspec.shrink.judge import Player

CASE = """\
mks 1

case c
    verifies CRC-01
    memory src = counter(512)
    mkey k { block_signature }
    configure k { layout list(src); signature { wire crc32c(ones) every 512 } }
    transmit k by send
    expect wire == framed(src, crc32c(ones) every 512)
"""


def player(fault: str = "") -> Player:
    def opened() -> Rig:
        device: Device = faulty_model(fault, Profile()) if fault else Model(Profile())
        return Rig(device, Profile(), Expectations.load([], device.info()), deadline=0.01)

    return Player(opened)


def three(folder: Path, model: str = "", device: str = "") -> Three:
    return Three(folder, player(model), player(device), "the NIC")


# Who stands alone ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("model", "device", "alone"),
    [
        ("", "crc32c_polynomial", "the NIC"),
        ("crc32c_polynomial", "", MODEL),
        ("crc32c_polynomial", "crc32c_polynomial", REFERENCES),
        ("crc32c_polynomial", "crc32c_not_inverted", ""),
        ("crc32_polynomial", "crc32_polynomial", None),
    ],
)
def test_who_stands_alone(tmp_path: Path, model: str, device: str, alone: str | None) -> None:
    found = three(tmp_path, model, device).disagreement(CASE)
    assert (found.alone if found else None) == alone
    if found is not None:
        assert [who for who, _ in found.said] == [REFERENCES, MODEL, "the NIC"]
        assert found.code == "MKS2101"


def test_without_a_device_two_are_compared(tmp_path: Path) -> None:
    found = Three(tmp_path, player("crc32c_polynomial"), None).disagreement(CASE)
    assert found is not None
    assert found.alone == ""
    assert len(found.said) == 2


def test_a_case_that_the_compiler_refuses_is_a_find(tmp_path: Path) -> None:
    found = three(tmp_path).disagreement(CASE.replace("every 512 }", "every 513 }"))
    assert found is not None
    assert found.alone == COMPILER


def test_what_one_lacks_is_no_find(tmp_path: Path) -> None:
    """A case that is skipped on the device says nothing, whatever the model does."""
    found = three(tmp_path, "crc32c_polynomial").disagreement(
        CASE.replace("    memory", "    needs not signature.crc32c\n    memory")
    )
    assert found is None


# Operations ----------------------------------------------------------------------------------------


def operations(seed: int) -> list[Operation]:
    rng = Random(seed)
    names = [rng.choice(KEYS), *rng.choices(NAMES, k=8)]
    return [Operation(name, rng.randrange(4), rng.getrandbits(32)) for name in names]


@pytest.mark.parametrize("seed", range(40))
def test_any_operations_are_a_case(tmp_path: Path, seed: int) -> None:
    """In any order, and with any of them left out."""
    for some in (operations(seed), operations(seed)[::2]):
        (tmp_path / "a.mks").write_text(grown("a", some).text())
        assert not list(compile_file(tmp_path / "a.mks", root=tmp_path).diagnostics.errors)


def test_an_operation_that_is_left_out_leaves_the_others() -> None:
    """The first of two keys is used as before, whatever becomes of the second."""
    first = [Operation("key plain", 0, 7), Operation("use", 0, 8)]
    more = [*first, Operation("key signature", 0, 9), Operation("use", 1, 10)]
    body = grown("a", first).text().partition("    mkey")[2]
    assert body.strip() in grown("a", more).text()


# The machine ---------------------------------------------------------------------------------------


class Written(Three):
    """Keeps the cases; nothing is run."""

    def __init__(self, folder: Path) -> None:
        super().__init__(folder, player(), None)
        self.texts: list[str] = []

    def disagreement(self, text: str) -> Disagreement | None:
        self.texts.append(text)
        return None


def drawn(folder: Path, seed: int) -> list[str]:
    hunt = Hunt(Written(folder), 15, None)
    search(hunt, Seed(seed))
    assert isinstance(hunt.three, Written)
    assert hunt.ran == len(hunt.three.texts) == 15
    return hunt.three.texts


def test_a_seed_gives_the_same_cases(tmp_path: Path) -> None:
    first = drawn(tmp_path, 3)
    assert first == drawn(tmp_path, 3)
    assert first != drawn(tmp_path, 4)
    assert len(set(first)) > 10


class Turns(Written):
    """Disagrees in some runs."""

    def __init__(self, folder: Path, turns: list[bool]) -> None:
        super().__init__(folder)
        self.turns = cycle(turns)

    def disagreement(self, text: str) -> Disagreement | None:
        return Disagreement("the NIC", "MKS2101", (("the NIC", "other bytes"),)) if next(self.turns) else None


def test_a_case_that_fails_now_and_then_is_told_and_kept(tmp_path: Path) -> None:
    hunt = Hunt(Turns(tmp_path, [True, *[False] * 9, True, *[True] * 4, *[False] * 5]), 2, None)
    search(hunt, Seed(1))
    assert hunt.found is None
    assert hunt.ran == 2
    assert [one.failed for one in hunt.unsteady] == [1, 5]


def test_the_time_ends_a_search(tmp_path: Path) -> None:
    ticks = count()
    hunt = Hunt(Written(tmp_path), None, 20.0, clock=lambda: float(next(ticks)))
    search(hunt, Seed(1))
    assert 1 <= hunt.ran < 20


def test_the_time_ends_the_search_for_a_smaller_case(tmp_path: Path) -> None:
    """The one that was found is kept."""
    ticks = count()
    hunt = Hunt(Turns(tmp_path, [True]), None, 60.0, clock=lambda: float(next(ticks)))
    search(hunt, Seed(1))
    assert hunt.found is not None
    assert hunt.text


# The command ---------------------------------------------------------------------------------------


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mkeyspec.toml").touch()
    return tmp_path


def test_all_agree(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "--device", "model", "--seed", "7", "--cases", "5"]) == 0
    assert capsys.readouterr().out == "mkeyspec: 5 cases of seed 3.7: references and model agree\n"


def test_a_find_is_small_and_written_and_said(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Hypothesis leaves out operations, the edits statements."""
    fault = ["--device", "model", "--fault", "transmit_unsigned"]
    assert main(["search", *fault, "--seed", "1", "--cases", "60"]) == 1
    said = capsys.readouterr().out
    assert "mkeyspec: model with transmit_unsigned stands alone with MKS2101 in case " in said
    assert "    the references: as the case expects\n    the model: as the case expects\n" in said
    assert "mkeyspec: again: mkeyspec search --seed 3.1 --cases" in said
    assert int(said.partition("seed_3_1.mks, ")[2].split()[0]) <= 8
    written = (project / "reports/search/seed_3_1.mks").read_text()
    assert written.startswith("# model with transmit_unsigned stands alone, MKS2101; seed 3.1\n")
    assert main(["check", "reports/search/seed_3_1.mks"]) == 0


def test_an_unsteady_find_is_said(
    project: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    turns = cycle([True, *[False] * 7, True, True])
    one = Disagreement("soft", "MKS2101", (("soft", "other bytes"),))
    monkeypatch.setattr(Three, "disagreement", lambda *_: one if next(turns) else None)
    assert main(["search", "--device", "model", "--seed", "1", "--cases", "1"]) == 1
    said = capsys.readouterr().out
    assert "mkeyspec: reports/search/seed_3_1_unsteady_0.mks fails 3 of 10 runs, and is not made smaller:" in said
    assert (project / "reports/search/seed_3_1_unsteady_0.mks").read_text().startswith("# disagrees in 3 of 10 runs\n")


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--seed", "many"], "MKS0925"),
        (["--seed", "1.42"], "MKS0926"),
        (["--cases", "0"], "MKS0927"),
        (["--minutes", "0"], "MKS0927"),
        (["--minutes", "nan"], "MKS0927"),
        (["--device", "mlx6_0x"], "MKS0901"),
        (["--device", "soft:nothing"], "MKS0911"),
        (["--device", "model", "--fault", "no_such"], "MKS0907"),
        (["--device", "mlx5_0", "--fault", "crc32c_polynomial"], "MKS0905"),
        (["--device", "model", "--device-profile", "nothing.toml", "--fault", "crc32c_polynomial"], "MKS0904"),
    ],
)
def test_bad_input(arguments: list[str], code: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["search", "--cases", "1", *arguments]) == 2
    told = capsys.readouterr().err
    assert f"error[{code}]" in told
    assert len(told.strip().splitlines()) == 1


def test_without_a_software_nic(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("MKEYSPEC_SOFTNIC_LIBRARY", "/nothing.so")
    monkeypatch.delenv("LD_PRELOAD", raising=False)
    assert main(["search", "--cases", "1"]) == 2
    assert "error[MKS09" in capsys.readouterr().err


def test_without_hypothesis(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    real = importlib.util.find_spec
    monkeypatch.setattr(
        "mkeyspec.cli.search.find_spec", lambda name, *more: None if name == "hypothesis" else real(name, *more)
    )
    assert main(["search", "--cases", "1"]) == 2
    assert "error[MKS0961]: a search needs hypothesis: pip install 'mkeyspec[search]'" in capsys.readouterr().err
