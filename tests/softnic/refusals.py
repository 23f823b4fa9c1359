"""Scenarios of commands with one thing wrong: which errno, and that no object remains."""

from __future__ import annotations

import ctypes
import struct

from uverbs import Attr, Device, handle, libc, message, out, raw_ioctl, refusal, u32, u64, value


def refusals() -> None:
    """errno for what is wrong, one at a time."""
    bare = Device(context=False)
    assert refusal(bare.pd) == "EINVAL"
    assert refusal(bare.command, 0, 0, u64(2, 1)) == "ENOSPC"  # libibverbs' probe
    assert refusal(bare.command, 0, 2, u64(0, 1), out(1, 48)) == "EINVAL"
    bare.close()
    device = Device()
    assert refusal(device.get_context) == "EINVAL"
    pd, pdn = device.pd()
    start = device.memory(8192)
    assert (
        refusal(device.command, 0, 3, out(0, 4), out(1, 8), value(0x1000, bytes(32)), out(0x1001, 72)) == "EOPNOTSUPP"
    )
    for method in ((99, 0), (3, 9), (0x1003, 0x1000), (14, 0), (11, 0), (12, 0)):
        assert refusal(device.command, *method) == "EOPNOTSUPP"
    for number in (0, 2, 20, 24, 30, 37, 0x80000012, 0x80000032, 1 << 40):
        assert refusal(device.write, number, bytes(64), 64) == "EOPNOTSUPP"
    assert refusal(device.command, 0, 2, u64(0, 2), out(1, 48)) == "EINVAL"
    assert refusal(device.command, 0, 6, u64(0, 1), u64(1, 1), u32(2, 0), out(3, 32)) == "ENODATA"
    assert refusal(device.command, 0, 6, u64(0, 1), u64(1, 99), u32(2, 0), out(3, 32)) == "EINVAL"
    assert refusal(device.command, 0, 5, u64(0, 32), u32(1, 0), out(2, 0), out(3, 8)) == "EINVAL"
    # Regions
    for access, name in (
        (2, "EINVAL"),
        (8, "EINVAL"),
        (1 << 6, "EOPNOTSUPP"),
        (1 << 10, "EINVAL"),
        (1 << 31, "EINVAL"),
    ):
        assert refusal(device.mr, pd, start, 4096, access) == name
    assert refusal(device.mr, pd, start, 0) == "EINVAL"
    assert refusal(device.mr, pd, start, 4096, iova=start + 1) == "EINVAL"
    assert refusal(device.mr, pd, 0, 4096) == "EFAULT"
    assert refusal(device.mr, pd, start, 1 << 46) == "EFAULT"
    assert refusal(device.mr, pd, start, (1 << 64) - start) == "EINVAL"
    assert refusal(device.mr, pd, start, (1 << 64) - start, iova=0) == "EINVAL"
    assert refusal(device.mr, pd + 1, start, 4096) == "ENOENT"
    device.mr(pd, start, 4096, access=1 << 20)  # optional rights are
    # Queues
    for entries in (0, 1 << 22, 1 << 31):
        assert refusal(device.cq, entries, buf=start) == "EINVAL"
    assert refusal(device.cq, vector=4) == "EINVAL"
    assert refusal(device.cq, size=96) == "EINVAL"
    assert refusal(device.cq, buf=0) == "EFAULT"
    assert refusal(device.cq, db=0) == "EFAULT"
    assert refusal(device.cq, db=start + 4) == "EFAULT"
    cq = device.cq()
    for wrong in ({"sq": 63}, {"sq": 1 << 31}, {"rq": 3}, {"rq": 1 << 20}, {"shift": 31}, {"shift": 0}):
        assert refusal(device.qp, pd, cq, **wrong) == "EINVAL"
    assert refusal(device.qp, pd, cq, buf=1 << 20) == "EFAULT"
    assert refusal(device.qp, pd, cq, db=8) == "EFAULT"
    assert refusal(device.qp, pd, cq, 0xFF) == "EINVAL"
    for kind in (8, 9, 10, 0, 1 << 40):
        assert refusal(device.qp, pd, cq, kind) == "EOPNOTSUPP"
    assert refusal(device.qp, cq, cq) == "ENOENT"
    assert refusal(device.qp, pd, pd) == "ENOENT"
    for odd in ({"max_wr": 1 << 15}, {"max_sge": 64}, {"limit": 16}, {"max_wr": 1 << 31}):
        assert refusal(device.srq, pd, **odd) == "EINVAL"
    for odd in ({"buf": 8}, {"db": 8}, {"db": start + 2}):
        assert refusal(device.srq, pd, **odd) == "EFAULT"
    assert refusal(device.srq, pd, type=1) == "EOPNOTSUPP"
    srq = device.srq(pd)
    assert refusal(device.write, 0x21, struct.pack("<IIII", srq, 1, 31, 0)) == "EINVAL"
    assert refusal(device.write, 0x21, struct.pack("<IIII", srq, 2, 0, 16)) == "EINVAL"
    device.write(0x21, struct.pack("<IIII", srq, 2, 0, 5))
    assert struct.unpack("<IIII", device.write(0x22, struct.pack("<QII", 0, srq, 0), 16)[0]) == (15, 1, 5, 0)
    assert refusal(device.destroy_pd, pd) == "EBUSY"
    # DEVX
    assert refusal(device.mkey, 0xFFFFFF) == "EREMOTEIO"
    assert refusal(device.mkey, pdn, access=0x85) == "EREMOTEIO"
    mkey = device.mkey(pdn)
    assert refusal(device.destroy_mr, mkey) == "ENOENT"
    assert refusal(device.command, 8, 0, handle(0, mkey)) == "ENOENT"
    assert refusal(device.command, 0x1001, 0x1001, handle(0x1000, device.mr(pd, start, 4096)[0])) == "ENOENT"
    assert refusal(device.devx, bytes(8)) == "EINVAL"
    assert refusal(device.devx, bytes(16)) == "EOPNOTSUPP"
    assert refusal(device.command, 0x1001, 0x1001, handle(0x1000, cq)) == "ENOENT"
    assert (
        refusal(device.command, 0x1000, 0x1000, value(0x1000, struct.pack(">HHHH8x", 0x770, 0, 0, 0)), out(0x1001, 64))
        == "EOPNOTSUPP"
    )
    # QPs once made, and address handles
    qp, qpn = device.qp(pd, cq)
    to_init = 1 | 1 << 3 | 1 << 4 | 1 << 5  # state, access, pkey index, port

    def modify(mask: int, port: int = 1, pkey: int = 0, **path: int) -> None:
        dest = struct.pack(
            "<20xHH8B", 0, 0, path.get("sgid", 0), 0, 0, 0, 0, 0, path.get("is_global", 0), path.get("port", 1)
        )
        fields = struct.pack("<32xII20xHHBB6xB7x", qp, mask, pkey, 0, 1, 0, port)
        device.write(0x1A, (dest + fields)[:112])

    assert refusal(modify, to_init, port=2) == "EINVAL"
    assert refusal(modify, to_init, pkey=1) == "EINVAL"
    modify(to_init)
    assert refusal(modify, to_init | 1 << 25) == "EOPNOTSUPP"
    assert refusal(modify, 1 | 1 << 7, sgid=7, is_global=1) == "EINVAL"
    change = struct.pack(">HHHHII", 0x50E, 0, 0, 0, qpn + 1, 0).ljust(464, b"\0")
    assert (
        refusal(device.command, 0x1001, 0x1002, handle(0x1000, qp), value(0x1001, change), out(0x1002, 16)) == "EINVAL"
    )
    query = struct.pack(">HHHHII", 0x50B, 0, 0, 0, qpn + 1, 0)
    assert (
        refusal(device.command, 0x1001, 0x1003, handle(0x1000, qp), value(0x1001, query), out(0x1002, 272)) == "EINVAL"
    )

    def address(port: int = 1, sgid: int = 0) -> int:
        request = struct.pack("<16xI4x16xIBBBBHBBBBBx", pd, 0, sgid, 0, 0, 0, 0, 0, 0, 0, 1, port)
        return int(struct.unpack("<I", device.write(5, request, 4, 16)[0])[0])

    assert refusal(address, 2) == "EINVAL"
    assert refusal(address, 1, 7) == "EINVAL"
    other, _ = device.pd()
    used, pd = pd, other
    ah = address()
    assert refusal(device.destroy_pd, other) == "EBUSY"
    device.command(6, 0, handle(0, ah))
    device.destroy_pd(other)
    pd = used

    # Pages
    _, offset = device.uar()
    for where, length in ((offset, 8192), (0x5000 << 12, 4096), (5 << 20, 4096), (offset, 0)):
        assert refusal(device.map, where, length) in ("EINVAL", "EOPNOTSUPP")
    # Malformed messages
    good = message(0, 2, [u64(0, 1), out(1, 48)])
    assert refusal(libc, "ioctl", device.fd, ctypes.c_ulong(0xC0181B01), ctypes.c_void_p(8)) == "EFAULT"
    for at, byte in ((0, 0), (0, 23), (0, 25), (6, 0), (6, 200), (7, 255)):
        bad = bytearray(good)
        bad[at] = byte
        assert refusal(raw_ioctl, device.fd, bad) == "EINVAL"
    for count in (33, 250, 4000):
        assert (
            refusal(raw_ioctl, device.fd, message(0, 2, [u64(0, 1), out(1, 48), *[u64(9, 0)] * (count - 2)]))
            == "EINVAL"
        )
    assert refusal(device.command, 0, 2, u64(0, 1), Attr(1, 48, 16)) == "EFAULT"
    assert refusal(device.write, 9, bytes(16), 12) == "EINVAL"
    assert refusal(device.command, 0, 0, u64(2, 9), Attr(0, 40, 16), out(1, 12)) == "EFAULT"
    device.close()


def undone() -> None:
    """An object whose answer could not be written does not remain: its number is used again."""
    device = Device()
    pd, _ = device.pd()
    start = device.memory(4096)
    request = struct.pack("<QQQQII", 0, start, 4096, start, pd, 15)
    for _ in range(2000):
        assert refusal(device.command, 0, 0, u64(2, 9), value(0, request), Attr(1, 12, 16)) == "EFAULT"
        assert refusal(device.command, 0, 0, u64(2, 3), value(0, bytes(8)), Attr(1, 4, 16)) == "EFAULT"
        assert refusal(device.command, 0, 0, u64(2, 0x11), value(0, bytes(8)), Attr(1, 4, 16)) == "EFAULT"
    assert device.mr(pd, start, 4096)[0] < 1000
    device.destroy_pd(device.pd()[0])
    device.close()


def longer_buffers() -> None:
    """A newer library's longer answers are filled up with zeros, an older one's shorter ones cut."""
    device = Device()
    back = device.command(0, 2, u64(0, 1), out(1, 200))[1]
    assert isinstance(back, bytes)
    assert back[48:] == bytes(152)
    assert back[:48] != bytes(48)
    short = device.command(0, 2, u64(0, 1), out(1, 20))[1]
    assert short == back[:20]
    device.close()
