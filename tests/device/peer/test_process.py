"""The peer's process: what does not start, is another program, hangs or ends. No device is needed."""

from __future__ import annotations

import os
import shlex
import signal
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from mkeyspec import __version__
from mkeyspec.device.protocol import DeviceLost, NoSuchCall, Refused, Unavailable, Unsupported
from mkeyspec.device.verbs.peer.process import PeerError, PeerProcess
from mkeyspec.device.verbs.peer.spec import parse
from mkeyspec.device.verbs.peer.wire import protocol_digest

HERE = 'for last; do :; done; exec env -i PATH="$PATH" sh -c "$last"'
"""What ssh does on this host: a shell of its own, with nothing of this environment."""

HELLO = {"mkeyspec": __version__, "protocol": protocol_digest(), "python": "3.11", "host": "far"}
SERVE = """
import os, signal, time
def run(channel):
    channel.send({hello!r} | {{"pid": os.getpid()}})
    order = channel.receive()
    channel.send({opened!r})
    while True:
        name, given, named = channel.receive()
        if name == "poll":
            time.sleep(60)
        elif name == "resume":
            os.kill(os.getpid(), signal.SIGKILL)
        else:
            channel.send(given[0] if given else ("ok", None))
            if name == "close":
                return
"""


def python(tmp_path: Path, hello: dict[str, Any] = HELLO, opened: Any = ("ok", 7)) -> str:
    """A Python with another mkeyspec, which has the peer's program alone."""
    folder = tmp_path / "mkeyspec" / "device" / "verbs" / "peer"
    folder.mkdir(parents=True)
    (folder / "serve.py").write_text(SERVE.format(hello=hello, opened=opened), encoding="utf-8")
    for place in (folder, *list(folder.parents)[:3]):
        (place / "__init__.py").touch()
    return f"popen//python=env -C {shlex.quote(str(tmp_path))} {shlex.quote(sys.executable)}"


def ssh(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str = HERE) -> Path:
    """Another ssh, first in the PATH; the file in which it writes what it is given, one line each."""
    folder = tmp_path / "bin"
    folder.mkdir()
    given = folder / "given"
    (folder / "ssh").write_text(f'#!/bin/sh\necho "$*" >>{shlex.quote(str(given))}\n{program}\n', encoding="utf-8")
    (folder / "ssh").chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}{os.pathsep}{os.environ['PATH']}")
    return given


def refused(spec: str, *, start: float = 20.0) -> Unavailable:
    begun = time.monotonic()
    with pytest.raises(Unavailable) as caught:
        PeerProcess(parse(spec), {}, start=start, call=1.0).open({})
    assert time.monotonic() - begun < start + 5
    assert "\n" not in caught.value.message
    return caught.value


def test_no_python() -> None:
    found = refused("popen//python=/nowhere/python3")
    assert found.code == "MKS0981"
    assert "/nowhere/python3" in found.message


def test_no_python_but_another_program() -> None:
    assert refused("popen//python=false").code == "MKS0981"


def test_one_that_does_not_answer() -> None:
    found = refused("popen//python=sh -c 'sleep 60'", start=0.5)
    assert found.code == "MKS0981"
    assert "no Python has answered within 0.5 s" in found.message


def test_no_host() -> None:
    """No name that ends in .invalid is one of a host (RFC 2606)."""
    found = refused("ssh=host2.invalid")
    assert found.code == "MKS0981"
    assert "host2.invalid" in found.message


def test_what_ssh_is_given(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice: once for what it says if it fails, and for the channel. A question would wait for ever."""
    given = ssh(tmp_path, monkeypatch)
    spec = python(tmp_path / "far").replace("popen//", "ssh=-p 2222 lab@host2//ssh_config=/etc/lab//")
    process = PeerProcess(parse(spec), {"A_NAME": "a value"}, call=5.0)
    assert process.open({}) == 7
    process.close()
    lines = given.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 2
    for line in lines:
        assert "-oBatchMode=yes" in line
        assert "-F /etc/lab " in line
        assert "-p 2222 lab@host2 " in line
    assert "env 'A_NAME=a value' env -C" in lines[1]


@pytest.mark.parametrize(
    ("program", "says"),
    [
        ("echo 'Permission denied (publickey).' >&2; exit 255", "ssh says: Permission denied (publickey)."),
        ("exec sleep 60", "it has not answered within 0.5 s"),
        ("echo 'sh: python3: not found' >&2; exit 127", "`python3` does not start there: sh: python3: not found"),
        ("echo Welcome; exit 0", "`python3` does not start there: exit code 0"),
    ],
)
def test_what_ssh_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, says: str) -> None:
    ssh(tmp_path, monkeypatch, program)
    found = refused("ssh=lab@host2", start=0.5)
    assert str(found) == f"error[MKS0981]: the peer, lab@host2, can't be used: {says}"


def test_a_python_without_mkeyspec() -> None:
    found = refused(f"popen//python={shlex.quote(sys.executable)} -I -S")
    assert found.code == "MKS0982"
    assert "No module named" in found.message
    assert f"install mkeyspec {__version__} there" in found.message


@pytest.mark.parametrize("name", ["mkeyspec", "protocol"])
def test_another_mkeyspec(tmp_path: Path, name: str) -> None:
    found = refused(python(tmp_path, HELLO | {name: "0.0.1"}))
    assert found.code == "MKS0982"
    assert f"has {name} 0.0.1, and this process {HELLO[name]}" in found.message


def test_its_device_is_not_there(tmp_path: Path) -> None:
    found = refused(python(tmp_path, opened=("unavailable", "MKS0915", "no RDMA device 'mlx5_9'")))
    assert str(found) == "error[MKS0915]: at the peer, this host: no RDMA device 'mlx5_9'"


def test_what_a_call_raises(tmp_path: Path) -> None:
    process = PeerProcess(parse(python(tmp_path)), {}, call=5.0)
    assert process.open({}) == 7
    with pytest.raises(Refused, match="ibv_reg_mr: errno 12"):
        process.call("memory", ("refused", "ibv_reg_mr", 12))
    with pytest.raises(Unsupported, match="none"):
        process.call("memory", ("unsupported", "none"))
    with pytest.raises(NoSuchCall, match="too long"):
        process.call("memory", ("no such call", "too long"))
    with pytest.raises(PeerError, match="at the peer, this host: KeyError: 5"):
        process.call("memory", ("raised", "KeyError", "5"))
    assert process.call("memory", ("ok", (1, 2))) == (1, 2)
    process.close()
    process.close()
    assert not is_there(process)


def test_a_key_is_for_the_owner(tmp_path: Path) -> None:
    """A terminal sends it to all processes of the run; rows that are under way may end."""
    process = PeerProcess(parse(python(tmp_path)), {}, call=5.0)
    process.open({})
    for _ in range(3):
        os.kill(process.about["pid"], signal.SIGINT)
        assert process.call("memory", ("ok", 1)) == 1
    process.close()
    assert not is_there(process)


def test_a_call_that_hangs(tmp_path: Path) -> None:
    process = PeerProcess(parse(python(tmp_path)), {}, call=0.5)
    process.open({})
    lost(process, "poll", "poll has not come back within 0.5 s")


def test_a_process_that_ends_in_a_call(tmp_path: Path) -> None:
    process = PeerProcess(parse(python(tmp_path)), {}, call=5.0)
    process.open({})
    lost(process, "resume", "its process has ended")


def test_a_process_that_has_ended_before(tmp_path: Path) -> None:
    process = PeerProcess(parse(python(tmp_path)), {}, call=5.0)
    process.open({})
    os.kill(process.about["pid"], signal.SIGKILL)
    lost(process, "memory", "its process has ended")


def lost(process: PeerProcess, call: str, why: str) -> None:
    for _ in range(2):  # the second at once: it is not asked any more
        with pytest.raises(DeviceLost) as caught:
            process.call(call)
        assert caught.value.code == "MKS2016"
        assert caught.value.message.startswith(f"the peer, this host, is lost: {why}")
    process.close()
    assert not is_there(process)


def is_there(process: PeerProcess) -> bool:
    end = time.monotonic() + 5
    while time.monotonic() < end:
        try:
            os.kill(process.about["pid"], 0)
        except ProcessLookupError:
            return False
        time.sleep(0.01)
    return True
