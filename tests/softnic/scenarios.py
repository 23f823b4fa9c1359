"""What the shim must do, as functions that run under the preload: `python scenarios.py NAME`.

test_shim.py runs each in a process of its own.
"""

from __future__ import annotations

import ctypes
import fcntl
import mmap
import multiprocessing
import os
import select
import socket
import stat
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

from commands_fuzz import fuzz
from refusals import longer_buffers, refusals, undone
from states import as_many_as_announced, changes, protected_memory, queried, ranges
from sysfs_shape import pci_shape
from uverbs import (
    LIBC,
    PATH,
    Device,
    handle,
    libc,
    out,
    place,
    refusal,
)

SYSFS = os.environ.get("SYSFS_PATH", "")


def names(directory: str) -> list[str]:
    return sorted(path.name for path in Path(directory).iterdir())


def discovery() -> None:
    """Netlink is refused, the char device is one, and sysfs names it; other hardware can't be reached."""
    assert refusal(libc, "socket", socket.AF_NETLINK, socket.SOCK_RAW, 20) == "EPROTONOSUPPORT"
    socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, socket.NETLINK_ROUTE).close()
    status = Path(PATH.decode()).stat()
    assert stat.S_ISCHR(status.st_mode)
    assert (os.major(status.st_rdev), os.minor(status.st_rdev)) == (1, 5)
    for root in (SYSFS, "/sys"):
        assert Path(f"{root}/class/infiniband_verbs/uverbs0/ibdev").read_text() == "mlx5_0\n"
        assert Path(f"{root}/class/infiniband/mlx5_0/ports/1/pkeys/0").read_text() == "0xffff\n"
        assert "d00001021" in Path(f"{root}/class/infiniband/mlx5_0/device/modalias").read_text()
        assert os.access(f"{root}/class/infiniband/mlx5_0/ports/1", os.R_OK)
        assert not Path(f"{root}/class/infiniband/mlx5_1").exists()
    assert names("/sys/class/infiniband") == ["mlx5_0"]
    assert Path("/sys/class/net").is_dir()
    for other in ("uverbs1", "uverbs00", "uverbs"):
        assert not Path(f"/dev/infiniband/{other}").exists()


def lazy() -> None:
    """A process that never looks for devices creates no file, not even while it runs."""
    assert SYSFS
    assert not Path(SYSFS).name.startswith(".")
    assert Path(SYSFS).name not in names(str(Path(SYSFS).parent))


def published() -> None:
    """One that does has a directory of its own, which only it may read; test_shim.py sees it go."""
    Device().close()
    names(f"{SYSFS}/class/infiniband")
    assert stat.S_IMODE(Path(SYSFS).stat().st_mode) == 0o700
    print(SYSFS)


def killed() -> None:
    names(f"{SYSFS}/class/infiniband")
    print(SYSFS, flush=True)
    os.kill(os.getpid(), 9)


def replaced() -> None:
    """exec() in one process: the directory is taken over, and goes when the last program ends."""
    Device().close()
    names(f"{SYSFS}/class/infiniband")
    os.execv(sys.executable, [sys.executable, __file__, "published"])


def own_sysfs() -> None:
    """A SYSFS_PATH that the user set stays."""
    assert SYSFS == "/somewhere/else"


def children() -> None:
    """A child has a directory of its own, whatever it inherits; a shell of children costs nothing."""
    names(f"{SYSFS}/class/infiniband")
    program = "import os; print(os.environ['SYSFS_PATH']); print(os.listdir('/sys/class/infiniband'))"
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split(
        "\n"
    )
    assert said[0] != SYSFS
    assert said[1] == "['mlx5_0']"
    assert subprocess.run(["/bin/true"], check=True, capture_output=True).stderr == b""
    assert names(f"{SYSFS}/class/infiniband") == ["mlx5_0"]


def life() -> None:
    """One of each object; EBUSY in the wrong order; handles are recycled."""
    device = Device()
    pd, pdn = device.pd()
    start = device.memory(8192)
    mr, key = device.mr(pd, start, 8192)
    cq = device.cq()
    qp, qpn = device.qp(pd, cq)
    mkey = device.mkey(pdn)
    uar, offset = device.uar()
    page = device.map(offset)
    assert len({pd, mr, cq, qp, mkey, uar}) == 6
    assert qpn
    assert key
    assert refusal(device.destroy_pd, pd) == "EBUSY"
    assert refusal(device.destroy_cq, cq) == "EBUSY"
    device.destroy_qp(qp)
    assert device.destroy_cq(cq) == (0, 0)
    device.destroy_mr(mr)
    device.command(0x1001, 0x1001, handle(0x1000, mkey))
    libc("munmap", page, 4096)
    device.command(0x1008, 0x1001, handle(0x1000, uar))
    device.destroy_pd(pd)
    for gone in (mr, 0, 0xFFFFFF, 1 << 40):
        assert refusal(device.destroy_mr, gone) == "ENOENT"
    for end, gone in ((device.destroy_pd, pd), (device.destroy_cq, cq), (device.destroy_qp, qp)):
        assert refusal(end, gone) == "ENOENT"
    assert refusal(device.command, 0x1001, 0x1001, handle(0x1000, mkey)) == "ENOENT"
    assert refusal(device.command, 0x1008, 0x1001, handle(0x1000, uar)) == "ENOENT"
    device.close()


def recycled() -> None:
    """Handles and keys come back: a program that makes and frees many never runs out."""
    device = Device()
    pd, pdn = device.pd()
    start = device.memory(4096)
    highest = 0
    for _ in range(50_000):
        mr, _key = device.mr(pd, start, 4096)
        highest = max(highest, mr)
        device.destroy_mr(mr)
    for _ in range(10_000):
        mkey = device.mkey(pdn)
        device.command(0x1001, 0x1001, handle(0x1000, mkey))
    assert highest < 5000
    device.close()


def two_contexts() -> None:
    """Handles of one file mean nothing in another, and one file's end is not the other's."""
    one, two = Device(), Device()
    pd, pdn = one.pd()
    other, _ = two.pd()
    start = one.memory(4096)
    mr, key = one.mr(pd, start, 4096)
    assert refusal(two.destroy_mr, mr) == "ENOENT"
    assert refusal(two.mkey, pdn) == "EREMOTEIO"
    channel = one.channel()
    assert refusal(two.cq, channel=channel) == "EBADF"
    two.close()
    assert one.mr(pd, start, 4096)[1] != key
    assert refusal(one.destroy_pd, other) == "EBUSY"  # the same number, another PD
    one.close()


def closing() -> None:
    """close() takes everything along; numbers of fds are used again at once."""
    device = Device()
    first = device.fd
    pd, pdn = device.pd()
    device.mr(pd, device.memory(4096), 4096)
    cq = device.cq(channel=device.channel())
    device.qp(pd, cq)
    device.mkey(pdn)
    _, offset = device.uar()
    page = device.map(offset)
    device.close()
    (ctypes.c_uint64).from_address(page + 0x800).value = 1  # a late doorbell reaches nobody
    libc("munmap", page, 4096)
    plain = os.open("/dev/null", os.O_RDONLY)
    assert plain == first
    assert refusal(libc, "ioctl", plain, ctypes.c_ulong(0xC0181B01), ctypes.create_string_buffer(24)) == "ENOTTY"
    os.close(plain)
    again = Device()
    assert again.fd == first
    assert again.pd()[0] == pd
    again.close()
    for way in (lambda fd: os.dup2(os.open("/dev/null", os.O_RDONLY), fd), lambda fd: os.closerange(fd, fd + 1)):
        device = Device()
        fd = device.fd
        way(fd)
        assert refusal(libc, "ioctl", fd, ctypes.c_ulong(0xC0181B01), ctypes.create_string_buffer(24)) in (
            "ENOTTY",
            "EBADF",
        )


def reused_pages() -> None:
    """Where a UAR was, other memory may be: nobody empties it, be it unmapped or the file closed first."""
    for turn in range(400):
        device = Device()
        page = device.map(device.uar()[1])
        (ctypes.c_uint64).from_address(page + 0x800).value = 1
        if turn % 2:
            libc("munmap", page, 4096)
            anonymous = mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS | 0x10  # MAP_FIXED
            assert LIBC.mmap(page, 4096, mmap.PROT_READ | mmap.PROT_WRITE, anonymous, -1, 0) == page
        else:
            device.close()
        ctypes.memset(page, 0x5A, 4096)
        time.sleep(0.0005)
        assert ctypes.string_at(page, 4096) == b"\x5a" * 4096
        libc("munmap", page, 4096)
        if turn % 2:
            device.close()


def duplicates() -> None:
    """An fd may be duplicated, as ibv_import_device wants: the device lives until the last is closed."""
    for way in (os.dup, lambda fd: os.dup2(fd, 200), lambda fd: fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, 300)):
        device = Device()
        first = device.fd
        pd, pdn = device.pd()
        mr, _ = device.mr(pd, device.memory(4096), 4096)
        device.fd = way(first)
        device.destroy_mr(mr)
        os.close(first)
        back = device.command(0, 4, out(0, 4), out(1, 8), out(0x1000, 72))[0x1000]
        assert isinstance(back, bytes)
        assert struct.unpack_from("<I", back, 40)[0] == 72  # response_length
        back = device.command(1, 0x1000, handle(0x1000, pd), out(0x1001, 4))[0x1001]
        assert back == struct.pack("<I", pdn)
        device.destroy_pd(pd)
        last = device.fd
        device.close()
        null = os.open("/dev/null", os.O_RDONLY)
        os.dup2(null, last)
        assert refusal(libc, "ioctl", last, ctypes.c_ulong(0xC0181B01), ctypes.create_string_buffer(24)) == "ENOTTY"
        os.close(last)
        if null != last:
            os.close(null)


def channels() -> None:
    """Event files are pipes; a closed one is forgotten, and its number means the next one."""
    device = Device()
    channel = device.channel()
    cq = device.cq(channel=channel)
    assert refusal(device.cq, channel=device.async_fd()) == "EBADF"
    assert refusal(device.cq, channel=device.fd) == "EBADF"
    assert refusal(device.cq, channel=-1 & 0xFFFFFFFF) == "EBADF"
    assert select.select([channel], [], [], 0) == ([], [], [])
    libc("close", channel)
    assert refusal(device.cq, channel=channel) == "EBADF"
    other = device.channel()
    assert other == channel
    device.destroy_cq(cq)
    device.destroy_cq(device.cq(channel=other))
    fcntl.fcntl(other, fcntl.F_SETFL, os.O_NONBLOCK)
    device.close()
    assert os.read(other, 8) == b""  # the end of the file, once the device is gone


def threads_and_forks() -> None:
    """Children by fork, vfork and exec while a thread uses the device.

    A forked one can't use ours, and may open its own.
    """
    import threading

    device = Device()
    pd, _ = device.pd()
    start = device.memory(4096)
    stop, failed = threading.Event(), []

    def work() -> None:
        try:
            while not stop.is_set():
                mr, _key = device.mr(pd, start, 4096)
                device.destroy_mr(mr)
        except OSError as error:
            failed.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    channel = device.channel()
    for _ in range(20):
        subprocess.run(["/bin/true"], check=True, close_fds=True)
    for _ in range(20):
        child = os.fork()
        if not child:
            try:
                assert refusal(device.pd) == "EIO"
                assert refusal(device.map, 0) != ""
                os.close(channel)
                os.close(device.fd)
                own = Device()
                own.destroy_pd(own.pd()[0])
                own.close()
            except BaseException as error:
                print(repr(error), file=sys.stderr, flush=True)
                os._exit(1)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
    stop.set()
    thread.join()
    assert not failed
    device.cq(channel=channel)
    device.close()


def _pool_work(_number: int) -> int:
    own = Device()
    pd, _ = own.pd()
    own.close()
    return pd


def process_pool() -> None:
    address = place(b"ours")
    child = os.fork()
    if not child:
        ctypes.memmove(address, b"hers", 4)
        os._exit(0)
    os.waitpid(child, 0)
    assert ctypes.string_at(address, 4) == b"ours", "answers to one process must not land in another's memory"
    device = Device()
    device.pd()
    with multiprocessing.get_context("fork").Pool(3) as pool:
        assert pool.map(_pool_work, range(12)) == [1] * 12
    device.close()


def many_threads() -> None:
    """Files opened and closed by many threads at once."""
    from concurrent.futures import ThreadPoolExecutor

    def work(number: int) -> None:
        for _ in range(60):
            device = Device()
            device.mkey(device.pd()[1])
            _, offset = device.uar()
            page = device.map(offset)
            (ctypes.c_uint64).from_address(page + 0x800).value = number
            if number % 2:
                libc("munmap", page, 4096)
            device.close()
            if not number % 2:
                libc("munmap", page, 4096)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(work, range(8)))


def unknown_personality() -> None:
    """errno of an unknown personality, and one line about it."""
    device = Device(context=False)
    assert refusal(Device) == "EINVAL"
    device.close()


SCENARIOS: dict[str, Callable[[], None]] = {
    function.__name__: function
    for function in (
        discovery, lazy, pci_shape, published, killed, replaced, own_sysfs, children, life, recycled,
        two_contexts, closing, reused_pages, duplicates, channels, refusals, undone, longer_buffers, threads_and_forks,
        process_pool, many_threads, unknown_personality, fuzz, changes, ranges, queried,
        as_many_as_announced, protected_memory,
    )
}  # fmt: skip

if __name__ == "__main__":
    SCENARIOS[sys.argv[1]]()
