"""A process of tests/forked.py has what a new one has, ends as a new one does, and is a new one where it must be."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import pytest

from tests import forked

FACTS = """
import json, os, random, sys
json.dump({
    "arguments": sys.argv, "command": sys.orig_argv, "folder": os.getcwd(), "environment": dict(os.environ),
    "search": sys.path, "files": sorted(os.listdir("/proc/self/fd")), "main": sys.modules["__main__"].__spec__.name,
    "group": os.getpgid(0), "session": os.getsid(0), "name": __name__, "flags": list(sys.flags),
    "streams": [
        (one.name, one.mode, one.encoding, one.errors, one.line_buffering, one.write_through, one.isatty())
        for one in (sys.__stdin__, sys.__stdout__, sys.__stderr__)
    ],
}, open("facts.json", "w"))
open("drawn", "a").write(f"{random.random()}\\n")
open("parent", "w").write(str(os.getppid()))
"""

ENDS = {
    "as it should": "",
    "a code": "raise SystemExit(7)",
    "a large code": "raise SystemExit(259)",
    "a text": "raise SystemExit('that is all')",
    "nothing": "raise SystemExit",
    "an error": "raise ValueError('wrong')",
    "interrupted": "raise KeyboardInterrupt",
    "by a signal": "os.kill(os.getpid(), 9)",
    "at once": "print('now'); os._exit(3)",
    "at its end": "import atexit; atexit.register(print, 'registered'); print('before')",
    "with a thread": "import threading; threading.Timer(0.2, print, ['late']).start()",
    "with a child": "os.fork() or (print('child'), sys.stdout.flush(), os._exit(0)); print(os.wait()[1])",
}
PLUGIN = """
import os, sys
def pytest_cmdline_main(config):
    {}
    return 0
"""


def both(
    monkeypatch: pytest.MonkeyPatch, *words: str, cwd: Path, env: dict[str, str] | None = None
) -> list[subprocess.CompletedProcess[str]]:
    """Of a fork and of a new process."""
    environment = dict(os.environ) | {"PYTHONPATH": str(cwd)} | (env or {})
    server = forked._Server.of(os.getpid())
    assert server.suits(words, environment, str(cwd))
    done = [forked.run(words, cwd=cwd, env=environment, timeout=60)]
    with monkeypatch.context() as anew:
        anew.setenv(forked.ANEW, "1")
        done.append(forked.run(words, cwd=cwd, env=environment, timeout=60))
    return done


def test_it_has_what_a_new_one_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "facts.py").write_text(FACTS)
    found = []
    environment = dict(os.environ) | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{forked.ROOT}", "MORE": "ä"}
    environment.pop("PATH")
    words = ["-m", "pytest", "-q", "-p", "facts", "--co", "."]
    for anew in ("", "1", ""):
        with monkeypatch.context() as one:
            if anew:
                one.setenv(forked.ANEW, anew)
            done = forked.run(words, cwd=tmp_path, env=environment, timeout=60)
            assert done.returncode == 5, done.stdout + done.stderr
            parent = int((tmp_path / "parent").read_text())
            assert (parent == os.getpid()) == bool(anew)
        said = done.stdout.split(" in ")[0], done.stderr
        found.append({"said": said, **json.loads((tmp_path / "facts.json").read_text())})
    for name, value in found[1].items():
        assert found[0][name] == value, name
    drawn = (tmp_path / "drawn").read_text().split()
    assert len(set(drawn)) == 3


@pytest.mark.parametrize("how", ENDS)
def test_it_ends_as_a_new_one_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    (tmp_path / "ends.py").write_text(PLUGIN.format(ENDS[how]))
    fork, new = both(monkeypatch, "-m", "pytest", "-p", "ends", cwd=tmp_path)
    assert (fork.returncode, fork.stdout) == (new.returncode, new.stdout)
    assert (fork.stderr.split("\n")[-2:], fork.args) == (new.stderr.split("\n")[-2:], new.args)


WORKER = """
import json, os, sys, pytest
OTHER = ("PYTEST_XDIST_TESTRUNUID", "COLUMNS", "LINES")  # a number by chance, and what readline tells new processes
def fact():
    return {
        "arguments": sys.argv, "command": sys.orig_argv, "folder": os.getcwd(), "search": sys.path,
        "environment": {name: value for name, value in os.environ.items() if name not in OTHER},
        "files": len(os.listdir("/proc/self/fd")), "group": os.getpgid(0), "main": sys.modules["__main__"].__spec__,
        "streams": [
            (one.name, one.mode, one.encoding, one.errors, one.line_buffering, one.write_through, one.isatty())
            for one in (sys.__stdin__, sys.__stdout__, sys.__stderr__)
        ],
    }
@pytest.mark.parametrize("number", range(4))
def test_a(number, worker_id):
    with open(f"facts.{worker_id}", "w") as file:
        json.dump({**fact(), "parent": os.getppid()}, file)
    print("said", file=sys.__stderr__, flush=True)
def test_crash():
    os._exit(3)
"""


def test_a_worker_of_xdist_has_what_a_new_one_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The third one, which takes the place of one that has ended, is a new process in both."""
    (tmp_path / "test_a.py").write_text(WORKER)
    (tmp_path / "parent.py").write_text("import os\nopen('controller', 'a').write(f'{os.getpid()} ')\n")
    environment = dict(os.environ) | {"PYTHONPATH": f"{tmp_path}{os.pathsep}{forked.ROOT}"}
    found = []
    for anew in ("", "1"):
        with monkeypatch.context() as one:
            if anew:
                one.setenv(forked.ANEW, anew)
            words = [
                "-m",
                "pytest",
                "-q",
                "-n",
                "2",
                "-p",
                "parent",
                "--dist",
                "each",
                "test_a.py",
                "-p",
                "no:cacheprovider",
            ]
            done = forked.run(words, cwd=tmp_path, env=environment, timeout=100)
        assert "8 passed" in done.stdout, done.stdout
        facts = [json.loads((tmp_path / f"facts.gw{number}").read_text()) for number in range(2)]
        controllers = (tmp_path / "controller").read_text().split()
        assert all(str(one.pop("parent")) in controllers for one in facts)
        found.append((done.returncode, done.stdout.count("crashed"), done.stderr, facts))
        (tmp_path / "controller").unlink()
    assert found[0][:3] == found[1][:3]
    for fork, new in zip(found[0][3], found[1][3], strict=True):
        for name, value in new.items():
            assert fork[name] == value, name


@pytest.mark.parametrize("words", [["--version"], ["nonsense"], ["check"], ["run", "--help"]])
def test_a_command_says_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    fork, new = both(monkeypatch, "-m", "mkeyspec", *words, cwd=tmp_path)
    assert (fork.returncode, fork.stdout, fork.stderr) == (new.returncode, new.stdout, new.stderr)


def test_much_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "much.py").write_text(PLUGIN.format("print('x' * 300_000); print('y' * 300_000, file=sys.stderr)"))
    fork, new = both(monkeypatch, "-m", "pytest", "-p", "much", cwd=tmp_path)
    assert (fork.stdout, fork.stderr) == (new.stdout, new.stderr)
    assert len(fork.stdout) == 300_001


def test_one_that_does_not_end_is_killed(tmp_path: Path) -> None:
    (tmp_path / "long.py").write_text(
        PLUGIN.format("open('began', 'w').write(str(os.getpid())); __import__('time').sleep(60)")
    )
    environment = dict(os.environ) | {"PYTHONPATH": str(tmp_path)}
    with pytest.raises(subprocess.TimeoutExpired):
        forked.run(["-m", "pytest", "-p", "long"], cwd=tmp_path, env=environment, timeout=3)
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "began").read_text()), 0)
    assert forked.run(["-m", "mkeyspec", "--version"], cwd=tmp_path, env=environment).returncode == 0


@pytest.mark.parametrize(
    ("words", "variables", "name"),
    [
        (["-m", "mkeyspec.cli"], {}, ""),
        (["-c", "pass"], {}, ""),
        (["-I", "-m", "mkeyspec"], {}, ""),
        (["-m", "mkeyspec"], {"PYTHONHASHSEED": "1"}, ""),
        (["-m", "mkeyspec"], {"LC_ALL": "tr_TR.UTF-8"}, ""),
        (["-m", "mkeyspec"], {"LD_PRELOAD": "x.so"}, ""),
        (["-m", "mkeyspec"], {}, "mkeyspec/__init__.py"),
        (["-m", "mkeyspec"], {}, "sitecustomize.py"),
        (["-m", "mkeyspec"], {}, "lark.py"),
    ],
)
def test_what_a_fork_cannot_be_given_starts_anew(
    tmp_path: Path, words: list[str], variables: dict[str, str], name: str
) -> None:
    place, folder = tmp_path / "place", tmp_path / "folder"
    place.mkdir()
    folder.mkdir()
    environment = dict(os.environ) | {"PYTHONPATH": str(place)}
    server = forked._Server.of(os.getpid())
    assert server.suits(["-m", "mkeyspec"], environment, str(folder))
    if name:
        (place / name).parent.mkdir(exist_ok=True)
        (place / name).write_text("")
        assert not server.suits(["-m", "mkeyspec"], dict(os.environ) | {"PYTHONPATH": ""}, str(place))
    assert not server.suits(words, environment | variables, str(folder))
