"""The software NIC under the real libmlx5, with keys that are imported wrapped: the shipped cases of logins."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from mkeyspec.device.soft import lab_login
from mkeyspec.device.soft.personality import VARIABLE, personality
from tests.device.verbs import soft

ROOT = Path(__file__).parents[2]


def test_the_lab_is_the_personality_s() -> None:
    assert lab_login.of_environment({}) is None
    assert lab_login.of_environment({VARIABLE: "connectx7"}) is None
    wrapped = lab_login.of_environment({VARIABLE: "bluefield3-wrapped"})
    assert wrapped is not None
    assert wrapped == lab_login.of_environment(personality("bf3-wrapped").environment)
    assert (wrapped.credential_id, wrapped.import_kek_id, wrapped.import_kek) == (0x0A57, 0x0E, bytes(range(16)))
    changed = lab_login.of_environment({VARIABLE: f"name=bluefield3-wrapped;kek={'5' * 64};kek_id=9"})
    assert changed is not None
    assert (changed.import_kek_id, changed.import_kek) == (9, b"\x55" * 32)


PLACES = {"bf3": ("bf3-wrapped", ()), "workers": ("bf3-wrapped", ("-n", "2")), "cx6dx": ("cx6dx", ())}


@pytest.mark.parametrize(("name", "workers"), PLACES.values(), ids=PLACES)
def test_the_shipped_cases(name: str, workers: tuple[str, ...], tmp_path: Path) -> None:
    """Each process has a context of its own, so that sessions of workers don't meet."""
    soft.need()
    file = ROOT / "cases/crypto/logins.mks"
    command = [sys.executable, "-m", "mkeyspec", "run", str(file), "--device", f"soft:{name}", *workers]
    done = subprocess.run(command, cwd=tmp_path, env=dict(os.environ), capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 failed, 0 skipped" in done.stdout


def test_a_kek_and_a_credential_of_one_s_own(tmp_path: Path) -> None:
    """The library reads those of the file, and the rig wraps with them."""
    soft.need()
    mine = tmp_path / "mine.toml"
    text = f'base = "bf3-wrapped"\nkek = "{"4" * 64}"\nkek_id = 3\ncredential = "{"6" * 80}"\ncredential_id = 4\n'
    mine.write_text(text, encoding="utf-8")
    file = ROOT / "cases/crypto/logins.mks"
    select = "wrapped_key_encrypts or a_wrong_credential"
    command = [sys.executable, "-m", "mkeyspec", "run", str(file), "-k", select, "--device", f"soft:{mine}"]
    done = subprocess.run(command, cwd=tmp_path, env=dict(os.environ), capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 failed, 0 skipped" in done.stdout
    assert "444444" not in done.stdout + done.stderr
