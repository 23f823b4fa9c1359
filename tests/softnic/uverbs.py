"""A uverbs client in a few lines: opens the device, gives commands, lays out attributes. No pyverbs, no libibverbs.

Runs under the preload, in a process of its own; `ioctl` and its like are looked up in the process, so they are
the software NIC's.
"""

from __future__ import annotations

import ctypes
import errno
import mmap
import os
import struct
import threading

LIBC = ctypes.CDLL(None, use_errno=True)
LIBC.mmap.restype = ctypes.c_void_p
LIBC.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
LIBC.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
RDMA_VERBS_IOCTL = 0xC0181B01
PATH = b"/dev/infiniband/uverbs0"
UHW_IN, UHW_OUT = 0x1000, 0x1001
NONE = 0xFFFF_FFFF


class Refused(OSError):
    pass


def libc(name: str, *args: object) -> int:
    """A function of libc; its errno as Refused."""
    result = int(getattr(LIBC, name)(*args))
    if result < 0:
        raise Refused(ctypes.get_errno(), name)
    return result


class _Area(threading.local):
    """A thread's own memory for what attributes point at."""

    def __init__(self) -> None:
        # Private: without flags the mapping is shared with forked processes, whose answers would land in it too.
        self.memory = mmap.mmap(-1, 1 << 20, mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        self.start = ctypes.addressof(ctypes.c_char.from_buffer(self.memory))
        self.used = 0


_area = _Area()


def place(data: bytes) -> int:
    """The address of a copy, valid for the next hundred or so.

    There is room after each for 65,535 bytes, the longest that an attribute can claim: an answer that is
    written as far as a wrong length says must not destroy this very process.
    """
    _area.used = (_area.used + 63) // 64 * 64 % (1 << 19)
    address = _area.start + _area.used
    ctypes.memmove(address, data, len(data))
    _area.used += len(data)
    return address


class Attr:
    """One attribute: `data` is its value, a handle, or with `size` the address of that many bytes."""

    def __init__(self, number: int, length: int, data: int, size: int = 0) -> None:
        self.number, self.length, self.data, self.size = number, length, data, size


def value(number: int, data: bytes) -> Attr:
    if len(data) <= 8:
        return Attr(number, len(data), int.from_bytes(data, "little"))
    return Attr(number, len(data), place(data), len(data))


def u32(number: int, n: int) -> Attr:
    return value(number, struct.pack("<I", n))


def u64(number: int, n: int) -> Attr:
    return value(number, struct.pack("<Q", n))


def handle(number: int, n: int = NONE) -> Attr:
    return Attr(number, 0, n)


def out(number: int, size: int) -> Attr:
    return Attr(number, size, place(b"\xaa" * size), size)


def raw_ioctl(fd: int, message: bytes | bytearray) -> bytes:
    """The header and attributes as they come back."""
    buffer = ctypes.create_string_buffer(bytes(message), len(message))
    libc("ioctl", fd, ctypes.c_ulong(RDMA_VERBS_IOCTL), buffer)
    return buffer.raw


def message(kind: int, method: int, attrs: list[Attr]) -> bytes:
    body = b"".join(struct.pack("<HHHHQ", attr.number & 0xFFFF, attr.length, 1, 0, attr.data) for attr in attrs)
    return struct.pack("<HHHHQII", 24 + len(body), kind, method, len(attrs), 0, 1, 0) + body


class Device:
    """An open device with a context."""

    def __init__(self, context: bool = True) -> None:
        self.fd = libc("open", PATH, os.O_RDWR | os.O_CLOEXEC)
        self.keep: list[object] = []
        if context:
            self.get_context()

    def get_context(self) -> None:
        request = struct.pack("<IIIIBBHIQ", 16, 4, 1, 0, 1, 0, 0, 0, 3)  # CQE version 1, UARs of 4 KiB
        self.command(0, 3, out(0, 4), out(1, 8), value(UHW_IN, request), out(UHW_OUT, 72))

    def command(self, kind: int, method: int, *attrs: Attr) -> dict[int, bytes | int]:
        """Attribute number -> bytes of an output, or the handle."""
        back = raw_ioctl(self.fd, message(kind, method, list(attrs)))
        result: dict[int, bytes | int] = {}
        for index, attr in enumerate(attrs):
            if attr.size:
                result[attr.number] = ctypes.string_at(attr.data, attr.size)
            elif attr.length == 0:
                result[attr.number] = struct.unpack_from("<Q", back, 24 + 16 * index + 8)[0]
        return result

    def write(self, number: int, core_in: bytes, core_out: int = 0, uhw_out: int = 0) -> tuple[bytes, bytes]:
        attrs = [u64(2, number)]
        if core_in:
            attrs.append(value(0, core_in))
        if core_out:
            attrs.append(out(1, core_out))
        if uhw_out:
            attrs.append(out(UHW_OUT, uhw_out))
        back = self.command(0, 0, *attrs)
        core, extra = back.get(1, b""), back.get(UHW_OUT, b"")
        assert isinstance(core, bytes)
        assert isinstance(extra, bytes)
        return core, extra

    def close(self) -> None:
        libc("close", self.fd)

    def memory(self, size: int) -> int:
        """Zeroed, aligned to a page, alive as long as the device object."""
        area = mmap.mmap(-1, size)
        self.keep.append(area)
        return ctypes.addressof(ctypes.c_char.from_buffer(area))

    def pd(self) -> tuple[int, int]:
        """Handle and number."""
        core, extra = self.write(3, bytes(8), 4, 4)
        return struct.unpack("<I", core)[0], struct.unpack("<I", extra)[0]

    def destroy_pd(self, pd: int) -> None:
        self.command(1, 0, handle(0, pd))

    def mr(self, pd: int, start: int, length: int, access: int = 15, iova: int | None = None) -> tuple[int, int]:
        """Handle and key."""
        request = struct.pack("<QQQQII", 0, start, length, start if iova is None else iova, pd, access)
        number, lkey, _ = struct.unpack("<III", self.write(9, request, 12)[0])
        return number, lkey

    def destroy_mr(self, mr: int) -> None:
        self.command(7, 1, handle(0, mr))

    def async_fd(self) -> int:
        fd = self.command(16, 0, handle(0))[0]
        assert isinstance(fd, int)
        return fd

    def channel(self) -> int:
        return int(struct.unpack("<I", self.write(0x11, bytes(8), 4)[0])[0])

    def cq(self, entries: int = 15, size: int = 64, channel: int | None = None, **override: int) -> int:
        ring = override["buf"] if "buf" in override else self.memory(max(4096, (entries + 1) * size))
        record = override["db"] if "db" in override else self.memory(4096)
        attrs = [
            handle(0), u32(1, entries), u64(2, 0x1234), u32(4, override.get("vector", 0)), out(6, 4),
            value(UHW_IN, struct.pack("<QQIBBHHHI", ring, record, size, 0, 0, 0, 0, 0, 0)), out(UHW_OUT, 8),
        ]  # fmt: skip
        if channel is not None:
            attrs.append(handle(3, channel))
        number = self.command(3, 0, *attrs)[0]
        assert isinstance(number, int)
        return number

    def destroy_cq(self, cq: int) -> tuple[int, int]:
        back = self.command(3, 1, handle(0, cq), out(1, 8))[1]
        assert isinstance(back, bytes)
        return struct.unpack("<II", back)

    def qp(self, pd: int, cq: int, kind: int = 2, **override: int) -> tuple[int, int]:
        """Handle and number."""
        buf = override["buf"] if "buf" in override else self.memory(64 * 64 + 64 * 64)
        record = override["db"] if "db" in override else self.memory(4096)
        driver = struct.pack(
            "<QQIIIIIIQIBBH",
            buf,
            record,
            override.get("sq", 64),
            override.get("rq", 64),
            override.get("shift", 6),
            override.get("flags", 0x400),
            0,
            1,
            0,
            0,
            0,
            0,
            0,
        )
        back = self.command(
            4,
            0,
            handle(0),
            handle(2, pd),
            handle(4, cq),
            handle(5, cq),
            u64(7, 0x4321),
            value(8, struct.pack("<IIIII", 16, 16, 1, 1, 0)),
            u64(9, kind),
            out(0xD, 20),
            out(0xE, 4),
            value(UHW_IN, driver),
            out(UHW_OUT, 40),
        )
        number, qpn = back[0], back[0xE]
        assert isinstance(number, int)
        assert isinstance(qpn, bytes)
        return number, struct.unpack("<I", qpn)[0]

    def destroy_qp(self, qp: int) -> None:
        self.command(4, 1, handle(0, qp), out(1, 4))

    def srq(self, pd: int, max_wr: int = 15, max_sge: int = 1, limit: int = 0, **override: int) -> int:
        ring = override["buf"] if "buf" in override else self.memory(1 << 16)
        record = override["db"] if "db" in override else self.memory(4096)
        back = self.command(
            5,
            0,
            handle(0),
            handle(1, pd),
            u64(4, 0x9999),
            u32(5, max_wr),
            u32(6, max_sge),
            u32(7, limit),
            u32(9, override.get("type", 0)),
            out(0xB, 4),
            out(0xC, 4),
            value(UHW_IN, struct.pack("<QQIIII", ring, record, 0, 0, 7, 0)),
            out(UHW_OUT, 8),
        )
        number = back[0]
        assert isinstance(number, int)
        return number

    def devx(self, command: bytes, reply: int = 16) -> tuple[int, bytes]:
        back = self.command(0x1001, 0x1000, handle(0x1000), value(0x1001, command), out(0x1002, reply))
        number, answer = back[0x1000], back[0x1002]
        assert isinstance(number, int)
        assert isinstance(answer, bytes)
        return number, answer

    def mkey(self, pdn: int, **override: int) -> int:
        command = bytearray(272)
        struct.pack_into(">H", command, 0, 0x200)
        command[0x10:0x14] = bytes([0x40, 0, override.get("access", 0x86), 0])
        command[0x14:0x18] = b"\xff\xff\xff\0"
        command[0x1D:0x20] = pdn.to_bytes(3, "big")
        struct.pack_into(">I", command, 0x10 + 0x34, override.get("entries", 4))
        return self.devx(bytes(command))[0]

    def uar(self) -> tuple[int, int]:
        """Handle and mmap offset."""
        back = self.command(
            0x1008, 0x1000, handle(0x1000), u64(0x1001, 0), out(0x1002, 8), out(0x1003, 4), out(0x1004, 4)
        )
        number, offset = back[0x1000], back[0x1002]
        assert isinstance(number, int)
        assert isinstance(offset, bytes)
        return number, struct.unpack("<Q", offset)[0]

    def map(self, offset: int, length: int = 4096) -> int:
        start = LIBC.mmap(None, length, mmap.PROT_WRITE, mmap.MAP_SHARED, self.fd, offset)
        if start in (None, ctypes.c_void_p(-1).value):
            raise Refused(ctypes.get_errno(), "mmap")
        return int(start)


def refusal(function: object, *args: object, **keywords: object) -> str:
    """The name of the errno with which `function` is refused."""
    assert callable(function)
    try:
        function(*args, **keywords)
    except Refused as refused:
        return "EOPNOTSUPP" if refused.errno == errno.EOPNOTSUPP else errno.errorcode[refused.errno or 0]
    raise AssertionError(f"{function} was not refused")
