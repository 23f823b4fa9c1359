"""The man page is what the options say, and troff has nothing to say of it."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from docs import make_man
from mkeyspec.cli import entry

ROOT = Path(__file__).resolve().parents[2]


def shown() -> str:
    program = shutil.which("man")
    if program is None or not make_man.PAGE.is_file():
        assert "MKEYSPEC_REQUIRE_SOFT" not in os.environ, "man is not installed"
        pytest.skip("no man: Debian and Ubuntu `apt-get install man-db groff`")
    done = subprocess.run(
        [program, "--warnings", "-l", str(make_man.PAGE)],
        env={**os.environ, "MANWIDTH": "200", "LC_ALL": "C.UTF-8", "MANROFFOPT": "-c", "MANPAGER": "cat"},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stderr == ""
    return re.sub(r".\x08", "", done.stdout)


def test_it_is_fresh() -> None:
    assert not make_man.stale(), "python docs/make_man.py"


def test_a_stale_one_is_seen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(make_man, "PAGE", tmp_path / "man" / "mkeyspec.1")
    assert make_man.main(["--check"]) == 1
    assert make_man.main([]) == 0
    assert make_man.main(["--check"]) == 0
    whole = make_man.PAGE.read_text("utf-8")
    make_man.PAGE.write_text(whole.replace("\\-\\-watch", "\\-\\-wait"), "utf-8")
    assert make_man.main(["--check"]) == 1
    assert make_man.main(["--what"]) == 2


def test_it_renders_without_a_warning_and_has_every_option() -> None:
    text = shown()
    missing = []
    for name, command in make_man._commands(entry._parser()):
        section = re.search(rf"^   mkeyspec {name}$(.*?)(?=^   mkeyspec |^EXIT)", text, re.M | re.S)
        assert section is not None, name
        whole = text if list(make_man._commands(command)) else section[1]
        for action in command._actions:
            hidden = action.help == "==SUPPRESS=="
            names = [] if hidden else action.option_strings
            missing += [f"{name} {one}" for one in names if one not in ("-h", "--help") and one not in whole]
    assert missing == []
    for head in ("NAME", "SYNOPSIS", "EXIT STATUS", "ENVIRONMENT", "FILES", "SEE ALSO"):
        assert re.search(rf"^{head}$", text, re.M)
    assert re.search(r"^ +130 +interrupted$", text, re.M)
    assert "  $ mkeyspec check --fix cases               # correct what has one correction" in text


def test_the_wheel_has_it() -> None:
    project = (ROOT / "pyproject.toml").read_text("utf-8")
    assert '"docs/man/mkeyspec.1" = "share/man/man1/mkeyspec.1"' in project


def test_it_is_a_program() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "make_man.py"), "--check"],
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done.returncode == 0, done.stdout
