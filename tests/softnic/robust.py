"""What other users, other threads and odd settings do to a process: `python robust.py NAME` under the preload.

Each function is one process of its own, by uverbs commands alone; test_robust.py runs them.
"""

from __future__ import annotations

import fcntl
import os
import random
import resource
import socket
import stat
import struct
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from raw_qp import RawQP
from uverbs import Device, refusal

SYSFS = os.environ.get("SYSFS_PATH", "")
FABRIC = os.environ.get("MKEYSPEC_SOFTNIC_FABRIC", "")


OFD_SETLK = 37  # fcntl(2): locks of the open file


def _look_for_devices() -> list[str]:
    return sorted(path.name for path in Path("/sys/class/infiniband").iterdir())


def planted_links() -> None:
    """Links under every name that follows from the pid, made by another user: nothing is written through them."""
    place, target = Path(SYSFS).parent, Path(os.environ["TARGET"])
    stem = Path(SYSFS).name.rsplit("-", 1)[0]
    for word in ("new", "old"):
        for name in (f"{stem}-{word}{os.getpid()}", f"{stem}-{word}"):
            (place / name).symlink_to(target)
    assert _look_for_devices() == ["mlx5_0"]
    assert list(target.iterdir()) == []
    (place / "seen").touch()


def unsafe_place() -> None:
    """A TMPDIR in which others may rename our directory is not used."""
    assert _look_for_devices() == ["mlx5_0"]
    assert Path(SYSFS).parent == Path("/tmp")
    assert stat.S_IMODE(Path(SYSFS).stat().st_mode) == 0o700


def taken_name() -> None:
    """Somebody has our directory's very name: no device, one line on stderr, and what is there stays as it is."""
    place = Path(SYSFS)
    place.mkdir(mode=0o755)
    (place / "theirs").mkdir()  # mkdir and rmdir pass by the preload
    for path in ("/sys/class/infiniband", SYSFS, f"{SYSFS}/theirs"):
        assert not Path(path).exists()
    (place / "theirs").rmdir()
    place.rmdir()


def _meeting() -> Path:
    """The directory of this process's fabric."""
    place = os.environ.get("XDG_RUNTIME_DIR")
    return Path(place or "/tmp", "mkeyspec-softnic" if place else f"mkeyspec-softnic-{os.geteuid()}") / FABRIC


def _own_name() -> str:
    """The socket on which this process listens for its fabric; the path of its directory may be too long for one."""
    [name] = [path for path in _meeting().iterdir() if path.name.isdigit()]
    assert name.is_socket()
    return f"/proc/self/fd/{os.open(_meeting(), os.O_PATH)}/{name.name}"


def _is_closed(client: socket.socket) -> bool:
    """By the other end; it may have left bytes of ours unread."""
    try:
        return client.recv(1) == b""
    except ConnectionResetError:
        return True


def no_descriptors() -> None:
    """Without a descriptor for a connection the device rests; once there is one, the connection is taken."""
    device = Device()
    name = _own_name()
    client = socket.socket(socket.AF_UNIX)
    free = os.dup(0)
    os.close(free)
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (free, before[1]))
    client.connect(name)
    began = time.process_time()
    time.sleep(1)
    used = time.process_time() - began
    resource.setrlimit(resource.RLIMIT_NOFILE, before)
    assert used < 0.2, f"{used:.2f} s of processor time in a second of rest"
    client.settimeout(10)
    client.send(bytes(4096))  # nothing that the wire knows
    assert _is_closed(client)
    device.close()


def garbage() -> None:
    """Whatever comes over a connection, in whatever pieces: it is closed, and the device goes on."""
    device = Device()
    name, choice = _own_name(), random.Random(1)
    for turn in range(200):
        client = socket.socket(socket.AF_UNIX)
        client.settimeout(10)
        client.connect(name)
        try:
            for _ in range(choice.randrange(1, 4)):
                client.send(choice.randbytes(choice.choice([1, 7, 300, 4096, 65536])))
        except OSError:
            pass  # closed already
        if turn % 3:
            client.close()
        else:
            client.shutdown(socket.SHUT_WR)
            assert _is_closed(client)
            client.close()
    device.pd()
    device.close()


def _address_space() -> int:
    """Of this process, in bytes."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0]) * resource.getpagesize()


def announced() -> None:
    """A message of 2 GiB of which 3 MiB come takes room for what came; ANNOUNCED names a file with its header."""
    device, name = Device(), _own_name()
    header, payload = Path(os.environ["ANNOUNCED"]).read_bytes(), bytes(3 << 20)
    clients = [socket.socket(socket.AF_UNIX) for _ in range(4)]
    before = _address_space()
    for client in clients:
        client.settimeout(10)
        client.connect(name)
        client.sendall(header)
        client.sendall(payload)
    device.pd()
    grown = _address_space() - before
    assert len(clients) * len(payload) // 2 < grown < 256 << 20, f"{grown >> 20} MiB"
    for client in clients:
        client.shutdown(socket.SHUT_WR)
        assert _is_closed(client)
    device.close()


def nice() -> None:
    """The device is as nice as the program whose threads it works for."""
    os.nice(5)
    nic = RawQP(size=4096)
    nic.post(0, b"")
    assert nic.finish() == 0  # its thread runs
    threads = [path for path in Path("/proc/self/task").iterdir() if (path / "comm").read_text() == "softnic\n"]
    assert [os.getpriority(os.PRIO_PROCESS, int(path.name)) for path in threads] == [os.nice(0)]
    nic.device.close()


def all_places_taken() -> None:
    """Every name of the fabric is taken: one line that says so, and an error."""
    with _taken(range(1, 2048)):
        assert refusal(Device) == "EADDRINUSE"


@contextmanager
def _taken(places: Iterable[int]) -> Iterator[None]:
    """Another process of the fabric has these places."""
    _meeting().mkdir(mode=0o700, parents=True)
    _meeting().parent.chmod(0o700)
    with (_meeting() / "lock").open("w+b") as lock:
        fcntl.fcntl(lock, OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_RDLCK, 0, 0, 1, 0))
        for place in places:
            fcntl.fcntl(lock, OFD_SETLK, struct.pack("hhqqi4x", fcntl.F_WRLCK, 0, 1 + place, 1, 0))
        yield


def the_place_of_a_dead_one() -> None:
    """The socket of a process that was killed is in the way of nobody, though others of its fabric live."""
    with _taken(set(range(1, 2048)) - {77}):
        dead = socket.socket(socket.AF_UNIX)
        dead.bind(f"/proc/self/fd/{os.open(_meeting(), os.O_PATH)}/77")
        dead.close()
        device = Device()
        assert _own_name().endswith("/77")
        client = socket.socket(socket.AF_UNIX)
        client.connect(_own_name())
        device.close()


def killed() -> None:
    """What a killed process leaves is removed by the next one, of whatever fabric."""
    device = Device()
    child = os.fork()
    if not child:
        os.environ["MKEYSPEC_SOFTNIC_FABRIC"] = f"{FABRIC}.next"
        other = Device()
        os.write(2, str(sorted(path.name for path in _meeting().parent.iterdir())).encode())
        other.close()
        os.kill(os.getpid(), 9)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -9
    assert _meeting().exists()
    device.close()
    os.kill(os.getpid(), 9)


def one_device() -> None:
    Device().close()


def refused_directory() -> None:
    assert refusal(Device) == os.environ["REFUSAL"]


SCENARIOS: dict[str, Callable[[], None]] = {
    function.__name__: function
    for function in (
        planted_links,
        unsafe_place,
        taken_name,
        no_descriptors,
        garbage,
        announced,
        nice,
        all_places_taken,
        the_place_of_a_dead_one,
        killed,
        one_device,
        refused_directory,
    )
}

if __name__ == "__main__":
    SCENARIOS[sys.argv[1]]()
