"""`mkeyspec softnic exec` and `trace`: what the program gets, what comes back, and what is refused in one line."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from mkeyspec.device.soft import softnic

SHOW = """
import json, os, signal, sys
names = ("LD_PRELOAD", "PERSONALITY", "FABRIC", "TRACE", "TRACE_FORMAT")
print(json.dumps({name: os.environ.get(name if name == "LD_PRELOAD" else "MKEYSPEC_SOFTNIC_" + name) for name in names}
    | {"argv": sys.argv[1:]}))
"""


@pytest.fixture
def library(tmp_path: Path) -> Path:
    """Stands for the library: the loader complains of it on stderr and goes on."""
    path = tmp_path / softnic.NAME
    path.write_bytes(b"")
    return path


def mkeyspec(*words: str, library: Path | None = None, **more: str) -> subprocess.CompletedProcess[str]:
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("MKEYSPEC_", "LD_PRE"))}
    if library is not None:
        environment["MKEYSPEC_SOFTNIC_LIBRARY"] = str(library)
    return subprocess.run(
        [sys.executable, "-m", "mkeyspec", "softnic", *words],
        env=environment | more,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def shown(*words: str, library: Path, **more: str) -> dict[str, Any]:
    done = mkeyspec(*words, "--", sys.executable, "-c", SHOW, "-x", "--", "--json", library=library, **more)
    assert done.returncode == 0, done.stderr
    record = json.loads(done.stdout)
    assert isinstance(record, dict)
    return record


def test_what_the_program_gets(library: Path) -> None:
    record = shown("exec", library=library)
    assert record["LD_PRELOAD"] == str(library)
    assert record["PERSONALITY"].startswith("name=connectx7;")
    assert (record["FABRIC"], record["TRACE"]) == (None, None)
    assert record["argv"] == ["-x", "--", "--json"]


def test_options(library: Path) -> None:
    record = shown("exec", "--personality", "cx5", "--fabric", "one", library=library)
    assert record["PERSONALITY"].startswith("name=connectx5;")
    assert record["FABRIC"] == "one"


def test_an_environment_that_names_a_personality_keeps_it(library: Path) -> None:
    mine = {"MKEYSPEC_SOFTNIC_PERSONALITY": "connectx5"}
    assert shown("exec", library=library, **mine)["PERSONALITY"] == "connectx5"
    assert shown("exec", "--personality", "cx7", library=library, **mine)["PERSONALITY"].startswith("name=connectx7;")


def test_another_preload_stays(library: Path) -> None:
    record = shown("exec", library=library, LD_PRELOAD=f"{library} /other.so")
    assert record["LD_PRELOAD"] == f"{library}:/other.so"


def test_trace(library: Path, tmp_path: Path) -> None:
    record = shown("trace", library=library)
    assert (record["TRACE"], record["TRACE_FORMAT"]) == ("-", "text")
    out = tmp_path / "trace.jsonl"
    out.write_text("old\n", encoding="utf-8")
    record = shown("trace", "--json", "-o", str(out), library=library)
    assert (record["TRACE"], record["TRACE_FORMAT"]) == (str(out), "json")
    assert out.read_text(encoding="utf-8") == ""


def test_exit_codes_and_signals_are_the_programs(library: Path) -> None:
    assert mkeyspec("exec", "--", "sh", "-c", "exit 7", library=library).returncode == 7
    assert mkeyspec("exec", "sh", "-c", "kill -TERM $$", library=library).returncode == -15
    assert mkeyspec("exec", "--", "sh", "-c", "kill -PIPE $$", library=library).returncode == -13


REFUSED = {
    ("exec",): ("MKS0912", "no program was given"),
    ("exec", "--", "no_such_program"): ("MKS0912", "on PATH"),
    ("exec", "--", "./no/such"): ("MKS0912", "no such file"),
    ("exec", "--", "/"): ("MKS0912", "a directory"),
    ("exec", "--", "/dev/null"): ("MKS0912", "not executable"),
    ("exec", "--", "--personality"): ("MKS0912", "options come before"),
    ("exec", "--fabric", "a/b", "--", "true"): ("MKS0912", "letters, digits"),
    ("exec", "--personality", "connectx9", "--", "true"): ("MKS0911", "did you mean connectx"),
    ("trace", "-o", "/no/such/file", "--", "true"): ("MKS0902", "No such file"),
}


@pytest.mark.parametrize("words", REFUSED, ids=" ".join)
def test_refused_in_one_line(words: tuple[str, ...], library: Path) -> None:
    code, says = REFUSED[words]
    done = mkeyspec(*words, library=library)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith(f"mkeyspec: error[{code}]: ")
    assert says in done.stderr
    assert done.stderr.count("\n") == 1


def test_no_library(tmp_path: Path) -> None:
    done = mkeyspec("exec", "--", "true", library=tmp_path / "nothing.so")
    assert done.returncode == 2
    assert done.stderr.startswith("mkeyspec: error[MKS0910]: no software NIC: MKEYSPEC_SOFTNIC_LIBRARY names ")
    assert done.stderr.count("\n") == 1


def test_a_library_that_cannot_be_preloaded(tmp_path: Path) -> None:
    place = tmp_path / "a b"
    place.mkdir()
    (place / softnic.NAME).write_bytes(b"")
    done = mkeyspec("exec", "--", "true", library=place / softnic.NAME)
    assert done.returncode == 2
    assert "MKS0910" in done.stderr
    assert "blank" in done.stderr


def test_a_script_without_an_interpreter(library: Path, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("exit 3\n", encoding="utf-8")
    script.chmod(0o755)
    done = mkeyspec("exec", "--", str(script), library=library)
    assert done.returncode == 2
    assert "MKS0912" in done.stderr
    assert "Exec format error" in done.stderr


def test_the_library_is_where_the_device_finds_it() -> None:
    """Without a library named by the environment the real one is used; where there is none, the line says why."""
    done = mkeyspec("exec", "--", sys.executable, "-c", "import os; print(os.environ['LD_PRELOAD'])")
    found = softnic.library()
    if found is None:
        assert str(softnic.missing()) in done.stderr
        assert done.returncode == 2
    else:
        assert done.stdout == f"{found}\n"
