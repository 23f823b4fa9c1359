"""What a builder of mlx5dv_wr_post(3) asks for beside mkeys: memcpy, raw WQEs, and DC addresses with streams."""

from __future__ import annotations

import errno
import struct

import pytest

from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import (
    Configure,
    DcAddress,
    FetchAdd,
    LocalInv,
    Memcpy,
    Memory,
    QpAttributes,
    RawWqe,
    Read,
    Refused,
    Send,
    SetAccess,
    Sge,
    Unsupported,
    Write,
)
from tests.device.model.fixtures import (
    CONFIGURES,
    EVERYTHING,
    INDIRECT,
    SIGNALED,
    Bench,
    counter,
    crc,
    layout,
    signature,
)
from tests.oracle import bitwise

INVAL, NOTSUP = errno.EINVAL, errno.EOPNOTSUPP
RAW, MEMCPY = 8, 16


def summary(bench: Bench) -> list[tuple[int, str, str]]:
    return [(done.wr_id, done.status, done.opcode) for done in bench.owner]


def refusal(attributes: QpAttributes, profile: Profile | None = None) -> int:
    try:
        Bench(profile, attributes)
    except Refused as refused:
        return refused.errno
    return 0


# memcpy ------------------------------------------------------------------------------------------


class Copier(Bench):
    def __init__(self, profile: Profile | None = None, qp_type: str = "rc") -> None:
        super().__init__(profile, QpAttributes(type=qp_type, send_ops=MEMCPY | 4))

    def copy(self, source: Memory, target: Memory, length: int, flags: int = SIGNALED, **members: int) -> int:
        given = {"dest_lkey": target.lkey, "dest_addr": target.addr, "src_lkey": source.lkey, "src_addr": source.addr}
        return self.post(Memcpy(5, flags, length=length, **{**given, **members}))


@pytest.mark.parametrize("qp_type", ["rc", "dci"])
@pytest.mark.parametrize("length", [1, 63, 64, 4096, 1 << 20])
def test_memcpy(qp_type: str, length: int) -> None:
    """WRP-18, WRP-19, WRP-25: unaligned, its opcode, nothing beside the target; unsignaled, no completion."""
    bench = Copier(qp_type=qp_type)
    source, target = bench.memory(counter(length), misaligned=3), bench.memory(length + 2, misaligned=5)
    assert bench.copy(source, target, length, dest_addr=target.addr + 1) == 0
    assert summary(bench) == [(5, "success", "driver3")]
    assert bench.bytes_of(target) == b"\xee" + counter(length) + b"\xee"
    assert bench.copy(source, target, length, flags=0) == 0
    assert bench.owner == []


def test_memcpy_lengths() -> None:
    """WRP-22: 1 to max_wr_memcpy_length; 0 and more are refused when the section is completed, and nothing moves."""
    bench = Copier(Profile(max_wr_memcpy_length=100))
    assert bench.device.capabilities().values["max_wr_memcpy_length"] == 100
    source, target = bench.memory(counter(200)), bench.memory(200)
    for length in (0, 101, 1 << 32, (1 << 64) - 1):
        assert bench.copy(source, target, length) == INVAL
        assert bench.owner == []
    assert bench.bytes_of(target) == b"\xee" * 200
    assert bench.copy(source, target, 100) == 0
    assert bench.bytes_of(target) == counter(100) + b"\xee" * 100


def test_memcpy_protection() -> None:
    """WRP-18: another domain, wrong keys, no right to write, beyond the end: an error, and nothing is written."""
    bench = Copier()
    source, target = bench.memory(counter(64)), bench.memory(64)
    reading = bench.memory(64, access=4)
    foreign = bench.device.memory("owner", 64, access=EVERYTHING, pd=bench.device.pd("owner"))
    for given in (
        (foreign, target, {}), (source, foreign, {}), (source, reading, {}), (source, target, {"src_lkey": 77}),
        (source, target, {"dest_addr": target.addr + 1}), (source, target, {"src_addr": source.addr - 1}),
    ):  # fmt: skip
        assert bench.copy(given[0], given[1], 64, **given[2]) == 0
        assert [done.status for done in bench.owner] == ["loc_prot_err"]
        bench.device.reconnect(bench.pair)
    for memory in (target, reading):
        assert bench.bytes_of(memory) == b"\xee" * 64
    # A source may be one that nobody may write.
    assert bench.copy(bench.memory(counter(64), access=0), target, 64) == 0
    assert bench.bytes_of(target) == counter(64)


def test_memcpy_through_mkeys() -> None:
    """Zero-based, through a layout, and with a signature generated on the way out."""
    bench = Copier()
    a, b, target = bench.memory(counter(100)), bench.memory(counter(412, 100)), bench.memory(516)
    mkey = bench.over(a, b, sig=signature(wire=crc("crc32c")))
    assert bench.copy(a, target, 516, src_lkey=mkey.lkey, src_addr=0) == 0
    assert bench.bytes_of(target) == counter(512) + bitwise.stored("crc32c", counter(512), 0)


def test_where_memcpy_is_not() -> None:
    """WRP-19 to WRP-21, WRP-23."""
    for kind in ("uc", "ud", "xrc_send", "raw_packet"):
        assert refusal(QpAttributes(type=kind, send_ops=MEMCPY)) == NOTSUP
    for profile in (Profile(without=("memcpy",)), Profile(max_wr_memcpy_length=0)):
        assert refusal(QpAttributes(send_ops=MEMCPY), profile) == NOTSUP
        capabilities = Bench(profile).device.capabilities()
        assert "memcpy" not in capabilities.offers
        assert capabilities.values["max_wr_memcpy_length"] == 0
    plain = Bench()
    mem = plain.memory(8)
    assert plain.post(Memcpy(1, 2, mem.lkey, mem.addr, mem.lkey, mem.addr, 8)) == INVAL


# Raw WQEs ----------------------------------------------------------------------------------------
# Laid out by hand from the PRM: control, remote address, atomic and data segments of 16 bytes, big endian.

ASKS, QUIET, ON_ERROR = 0x08, 0x00, 0x04


def wqe(number: int, opcode: int, *segments: bytes, ce: int = ASKS, imm: int = 0, ds: int | None = None) -> bytes:
    body = b"".join(segments)
    units = 1 + len(body) // 16 if ds is None else ds
    return struct.pack(">IIBHBI", 0xABCD << 8 | opcode, number << 8 | units, 0x5A, 0, ce, imm) + body


def pointer(memory: Memory, length: int | None = None) -> bytes:
    return struct.pack(">IIQ", memory.length if length is None else length, memory.lkey, memory.addr)


def remote(memory: Memory) -> bytes:
    return struct.pack(">QII", memory.addr, memory.rkey, 0)


def inline(data: bytes) -> bytes:
    segment = struct.pack(">I", 1 << 31 | len(data)) + data
    return segment + bytes(-len(segment) % 16)


class Writer(Bench):
    """Posts WQEs on a QP for raw ones."""

    def __init__(self, qp: QpAttributes | None = None, profile: Profile | None = None) -> None:
        super().__init__(profile, qp or QpAttributes(send_ops=RAW))
        self.number = self.pair.owner.number

    def raw(self, given: bytes, flags: int = 0) -> list[tuple[int, str, str]]:
        assert self.post(RawWqe(6, flags, given)) == 0
        return summary(self)


DONE = [(6, "success", "driver2")]


@pytest.mark.parametrize("kind", ["rc", "uc"])
def test_raw_writes(kind: str) -> None:
    """WRP-26, WRP-29: one data segment and several, inline data of all paddings; garbage in wqe_index and signature."""
    bench = Writer(QpAttributes(type=kind, send_ops=RAW))
    a, b, far = bench.memory(counter(40)), bench.memory(counter(24, 40)), bench.memory(128, peer=True)
    assert bench.raw(wqe(bench.number, 8, remote(far), pointer(a), pointer(b))) == DONE
    assert bench.bytes_of(far) == counter(64) + b"\xee" * 64
    for length in (1, 11, 12, 13, 28, 29, 64):
        bench.device.write(far, 0, b"\xee" * 128)
        data = counter(length, 9)
        assert bench.raw(wqe(bench.number, 8, remote(far), inline(data), pointer(b))) == DONE
        assert bench.bytes_of(far) == data + counter(24, 40) + b"\xee" * (104 - length)


def test_raw_sends_and_immediates() -> None:
    bench = Writer()
    mem, far = bench.memory(counter(16)), bench.memory(64, peer=True)
    for opcode, segments, told in (
        (0xA, (pointer(mem),), ("recv", 16, None)), (0xB, (pointer(mem),), ("recv", 16, 0x11223344)),
        (0x9, (remote(far), pointer(mem)), ("recv_rdma_with_imm", 16, 0x11223344)), (0xA, (), ("recv", 0, None)),
    ):  # fmt: skip
        bench.device.post_recv(bench.pair.peer, 3, (Sge(far.addr, 64, far.lkey),))
        assert bench.raw(wqe(bench.number, opcode, *segments, imm=0x11223344)) == DONE
        assert [(done.opcode, done.byte_len, done.imm) for done in bench.peer] == [told]
    assert bench.bytes_of(far)[:16] == counter(16)


def test_raw_send_with_invalidate() -> None:
    bench = Writer()
    mkey = bench.device.mkey("peer", create_flags=1 | 16, max_entries=4)
    mem = bench.memory(8, peer=True)
    configure = Configure(1, CONFIGURES, mkey, 2, (SetAccess(15), layout(mem)))
    # The peer's QP has no flag for mkeys; one of the default pair has.
    other = bench.device.default_pair
    assert other is not None
    assert bench.device.post(other.peer, [configure]) == 0
    bench.device.post_recv(bench.pair.peer, 3, ())
    assert bench.raw(wqe(bench.number, 1, imm=mkey.rkey)) == DONE
    assert [done.invalidated_rkey for done in bench.peer] == [mkey.rkey]


def test_raw_reads_and_atomics() -> None:
    bench = Writer()
    mem, far = bench.memory(16), bench.memory(counter(16), peer=True)
    assert bench.raw(wqe(bench.number, 0x10, remote(far), pointer(mem))) == DONE
    assert bench.bytes_of(mem) == counter(16)
    add = struct.pack(">QQ", 5, 0)
    assert bench.raw(wqe(bench.number, 0x12, remote(far), add, pointer(mem, 8))) == DONE
    value = int.from_bytes(counter(8), "little")
    assert bench.bytes_of(far)[:8] == (value + 5).to_bytes(8, "little")
    assert bench.bytes_of(mem)[:8] == counter(8)
    for compare, there in ((value, value + 5), (value + 5, 7)):  # the value to swap in comes first
        operands = struct.pack(">QQ", 7, compare)
        assert bench.raw(wqe(bench.number, 0x11, remote(far), operands, pointer(mem, 8))) == DONE
        assert bench.bytes_of(mem)[:8] == (value + 5).to_bytes(8, "little")
        assert bench.bytes_of(far)[:8] == there.to_bytes(8, "little")


def test_a_raw_wqe_asks_for_its_own_completion() -> None:
    """WRP-28: neither wr_flags nor sq_sig_all count; an error is reported anyway."""
    for all_of_them in (False, True):
        bench = Writer(QpAttributes(send_ops=RAW, sq_sig_all=all_of_them))
        for flags in (0, SIGNALED):
            for ce, told in ((ASKS, DONE), (QUIET, []), (ON_ERROR, []), (0x0C, [])):
                assert bench.raw(wqe(bench.number, 0, ce=ce), flags) == told
        assert bench.raw(wqe(bench.number, 8, bytes(32), ce=QUIET)) == []  # of no bytes: no key is looked at
        far = bench.memory(8, peer=True)
        segments = (remote(far), struct.pack(">IIQ", 8, 77, 0))
        assert bench.raw(wqe(bench.number, 8, *segments, ce=QUIET)) == [(6, "loc_prot_err", "")]


def test_a_builder_after_a_raw_wqe_keeps_its_opcode() -> None:
    bench = Writer()
    assert bench.post(RawWqe(1, 0, wqe(bench.number, 0)), Write(2, SIGNALED, (), 0, 0)) == 0
    assert [done.opcode for done in bench.owner] == ["driver2", "rdma_write"]


def malformed() -> list[tuple[str, bytes]]:
    n = Writer().number
    return [
        ("empty", b""), ("short control", wqe(n, 0)[:15]), ("no units", wqe(n, 0, ds=0)),
        ("more units than bytes", wqe(n, 0, ds=2)), ("another QP", wqe(n + 1, 0)), ("no opcode", wqe(n, 0x7F)),
        ("TSO on RC", wqe(n, 0xE)), ("no remote address", wqe(n, 8)), ("no operands", wqe(n, 0x12, bytes(16))),
        ("inline cut off", wqe(n, 0xA, inline(bytes(29))[:32])),
        ("inline target", wqe(n, 0x10, bytes(16), inline(b"x"))), ("atomic without data", wqe(n, 0x12, bytes(32))),
    ]  # fmt: skip


@pytest.mark.parametrize(("what", "given"), malformed(), ids=[name for name, _ in malformed()])
def test_malformed_wqes(what: str, given: bytes) -> None:
    """The driver looks at none of it; the device ends it in error, and the QP with it."""
    for profile in (Profile(), Profile(status_raw="general_err")):
        bench = Writer(profile=profile)
        assert bench.raw(given) == [(6, profile.status_raw, "")]
        assert bench.raw(wqe(bench.number, 0)) == [(6, "wr_flush_err", "")]


def test_what_raw_wqes_are_not_read_or_posted() -> None:
    bench = Writer()
    for opcode in (0x20, 0x25, 0x2F):
        with pytest.raises(Unsupported, match="raw_wqe"):
            bench.raw(wqe(bench.number, opcode))
    assert Bench().post(RawWqe(1, 0, wqe(bench.number, 0))) == INVAL
    assert refusal(QpAttributes(send_ops=RAW), Profile(without=("raw_wqe",))) == NOTSUP
    reader = Writer(QpAttributes(type="uc", send_ops=RAW))
    far = reader.memory(8, peer=True)
    assert reader.raw(wqe(reader.number, 0x10, remote(far))) == [(6, "loc_qp_op_err", "")]


def test_a_raw_wqe_on_a_dci() -> None:
    """48 bytes of address come after the control segment: key, then number with its top bit set."""
    bench = Writer(QpAttributes(type="dci", send_ops=RAW))
    target = bench.device.dct(0x1122334455667788)
    mem, far = bench.memory(counter(16)), bench.memory(16, peer=True)
    for key, number, status in (
        (0x1122334455667788, target | 1 << 31, "success"), (0x1122334455667789, target | 1 << 31, "retry_exc_err"),
        (0x1122334455667788, target, "loc_qp_op_err"), (0x1122334455667788, target + 1 | 1 << 31, "retry_exc_err"),
    ):  # fmt: skip
        address = struct.pack(">QI36x", key, number)
        assert [done[1] for done in bench.raw(wqe(bench.number, 8, address, remote(far), pointer(mem)))] == [status]
        bench.device.reconnect(bench.pair)
    assert bench.bytes_of(far) == counter(16)


# DC ----------------------------------------------------------------------------------------------


class Initiator(Bench):
    def __init__(self, streams: int = 0, profile: Profile | None = None, ops: int = 7) -> None:
        super().__init__(profile, QpAttributes(type="dci", send_ops=ops, streams=streams))
        self.dct = self.device.dct(0x1122)
        self.mem, self.far = self.memory(counter(16)), self.memory(16, peer=True)

    def to(self, stream: int | None = None, **members: int) -> DcAddress:
        return DcAddress(members.get("dct", self.dct), members.get("key", 0x1122), stream)

    def write(self, wr_id: int, dc: DcAddress | None, rkey: int | None = None) -> Write:
        here = (Sge(self.mem.addr, 16, self.mem.lkey),)
        return Write(wr_id, SIGNALED, here, self.far.addr, self.far.rkey if rkey is None else rkey, dc=dc)


def test_messages_to_a_target() -> None:
    """WRP-31, WRP-33: what an RC QP does, a DCI does; receives are those of all targets."""
    bench = Initiator()
    here, there = (Sge(bench.mem.addr, 16, bench.mem.lkey),), Sge(bench.far.addr, 16, bench.far.lkey)
    second = bench.device.dct(7)
    for dct, key in ((bench.dct, 0x1122), (second, 7)):
        dc = DcAddress(dct, key)
        bench.device.write(bench.far, 0, bytes(16))
        assert bench.device.post_recv(bench.pair.peer, 3, (there,)) == 0
        bench.post(Send(1, SIGNALED, here, imm=9, dc=dc))
        assert summary(bench) == [(1, "success", "send")]
        assert [(done.opcode, done.imm) for done in bench.peer] == [("recv", 9)]
        assert bench.bytes_of(bench.far) == counter(16)
    bench.device.write(bench.far, 0, b"\x05" + bytes(15))
    bench.post(Read(1, SIGNALED, here, bench.far.addr, bench.far.rkey, dc=bench.to()))
    assert bench.bytes_of(bench.mem) == b"\x05" + bytes(15)
    sge = Sge(bench.mem.addr, 8, bench.mem.lkey)
    bench.post(FetchAdd(1, SIGNALED, sge, bench.far.addr, bench.far.rkey, 2, dc=bench.to()))
    assert bench.bytes_of(bench.far)[:8] == b"\x07" + bytes(7)


def test_addresses() -> None:
    """WRP-31: another number or key gets no answer; no address, or one where none belongs, is refused."""
    for profile in (Profile(), Profile(status_dct="rem_access_err")):
        bench = Initiator(profile=profile)
        for dc in (bench.to(key=0x1123), bench.to(key=0), bench.to(dct=bench.dct + 1), bench.to(dct=0)):
            assert bench.post(bench.write(1, dc)) == 0
            assert summary(bench) == [(1, profile.status_dct, "")]
            bench.device.reconnect(bench.pair)
    assert bench.post(bench.write(1, None)) == INVAL
    assert bench.post(bench.write(1, bench.to(stream=0))) == INVAL  # made without streams
    assert Bench().post(Write(1, 2, (), 0, 0, dc=bench.to())) == INVAL
    assert bench.bytes_of(bench.far) == b"\xee" * 16


def test_a_targets_errors_are_not_its_end() -> None:
    bench = Initiator()
    for rkey, status in ((1, "rem_access_err"), (None, "success")):
        bench.post(bench.write(1, bench.to(), rkey))
        assert [done.status for done in bench.owner] == [status]
        bench.device.reconnect(bench.pair)
    bench.post(Send(1, SIGNALED, (), dc=bench.to()))
    assert [done.status for done in bench.owner] == ["rnr_retry_exc_err"]


def test_streams_break_alone() -> None:
    """WRP-34, WRP-35, mlx5dv_dci_stream_id_reset(3)."""
    bench = Initiator(streams=4)
    bench.post(
        bench.write(1, bench.to(1), rkey=1),
        bench.write(2, bench.to(1)),
        bench.write(3, bench.to(2)),
        bench.write(4, bench.to()),
        bench.write(5, bench.to(1)),
    )
    assert [(done.wr_id, done.status) for done in bench.owner] == [
        (1, "rem_access_err"), (2, "wr_flush_err"), (3, "success"), (4, "success"), (5, "wr_flush_err")
    ]  # fmt: skip
    # Without a stream is stream 0.
    bench.post(bench.write(6, bench.to(), rkey=1), bench.write(7, bench.to(0)), bench.write(8, bench.to(3)))
    assert [done.status for done in bench.owner] == ["rem_access_err", "wr_flush_err", "success"]
    # The last stream takes the QP with it.
    bench.post(bench.write(9, bench.to(2), rkey=1), bench.write(10, bench.to(3), rkey=1))
    assert [done.status for done in bench.owner] == ["rem_access_err", "rem_access_err"]
    assert bench.post(bench.write(11, bench.to(3))) == 0
    assert [done.status for done in bench.owner] == ["wr_flush_err"]
    bench.post(bench.write(11, bench.to(9)))
    assert [done.status for done in bench.owner] == ["wr_flush_err"]
    bench.device.reconnect(bench.pair)
    bench.post(bench.write(12, bench.to(1)))
    assert [done.status for done in bench.owner] == ["success"]


def test_a_stream_that_is_not_there() -> None:
    bench = Initiator(streams=4)
    bench.post(bench.write(1, bench.to(4)))
    assert [done.status for done in bench.owner] == ["loc_qp_op_err"]


def test_without_streams_an_error_is_the_qps() -> None:
    bench = Initiator()
    bench.post(bench.write(1, bench.to(), rkey=1), bench.write(2, bench.to()))
    assert [done.status for done in bench.owner] == ["rem_access_err", "wr_flush_err"]


def test_mkeys_on_a_dci() -> None:
    """WRP-33: the builders of RC, the mkey's among them; rdma-core has none there (X-DIFF-14)."""
    bench = Initiator()
    mkey = bench.over(bench.mem, flags=INDIRECT)
    bench.post(Write(1, SIGNALED, (Sge(0, 16, mkey.lkey),), bench.far.addr, bench.far.rkey, dc=bench.to()))
    assert bench.bytes_of(bench.far) == counter(16)
    bench.post(LocalInv(2, SIGNALED, mkey.rkey))
    assert summary(bench) == [(2, "success", "local_inv")]
    refused = Profile(dci_mkey_operations=False)
    assert [refusal(QpAttributes(type="dci", send_ops=ops), refused) for ops in (1, 2, 4, 8, 16, 0)] == [
        NOTSUP, NOTSUP, NOTSUP, 0, 0, 0
    ]  # fmt: skip


def test_where_dc_is_not() -> None:
    bench = Initiator()
    assert bench.post(Send(1, SIGNALED, ()), peer=True) == INVAL  # a target sends nothing
    assert bench.device.post_recv(bench.pair.owner, 1, ()) == INVAL  # an initiator receives nothing
    assert refusal(QpAttributes(type="dci", send_ops=0), Profile(without=("qp.dci",))) == NOTSUP
    assert refusal(QpAttributes(type="dci", streams=4), Profile(without=("qp.dci_streams",))) == INVAL
    assert refusal(QpAttributes(streams=4)) == INVAL
    assert refusal(QpAttributes(type="dci", streams=-1)) == INVAL
    with pytest.raises(Refused):
        Bench(Profile(without=("qp.dci",))).device.dct(1)
