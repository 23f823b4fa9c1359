"""Points of completions: the status of each kind of refusal, each by several requests, and the length of a receive."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields

from mkeyspec.abi.constants import STATUS_CLASS, Access, CryptoOrder, MkeyFlag
from mkeyspec.calibrate.bench import (
    OK,
    SIGNALED,
    Absent,
    Bench,
    Moved,
    Strange,
    Unknown,
    crc,
    sge,
    signature,
    t10,
)
from mkeyspec.calibrate.point import Point, Side
from mkeyspec.calibrate.probes.fields import crc_field, data, framed, t10_field
from mkeyspec.device.profile.profile import Profile
from mkeyspec.device.protocol import (
    CompareSwap,
    CryptoAttr,
    DcAddress,
    FetchAdd,
    QpAttributes,
    Read,
    Send,
    SetAccess,
    SetCrypto,
    SetList,
    Sge,
    WorkRequest,
    Write,
)

NOBODY = 0x00FF_FF00
"""A key that nothing has: the highest index there is."""
READ_ONLY = int(Access.REMOTE_READ)
ENTRIES = 32
LARGEST = 1 << 27
"""Bytes of the largest buffer that a probe registers."""
CRYPTO = int(MkeyFlag.INDIRECT | MkeyFlag.CRYPTO)
Status = Callable[[Bench], str]


def choices(member: str) -> dict[str, str]:
    """The statuses that a member may be."""
    found = next(one for one in fields(Profile) if one.name == member)
    return {status: status for status in found.metadata["choices"]}


def point(member: str, *sides: tuple[str, Status], needs: Sequence[str] = ()) -> Point:
    shows = choices(member)
    return Point(member, tuple(Side(name, look, shows, tuple(needs)) for name, look in sides))


def failed(status: str) -> str:
    if status == OK:
        raise Strange("it is carried out")
    return status


def of_owner(bench: Bench, request: WorkRequest) -> str:
    outcome = bench.done(request)
    if outcome[0] == "E":
        raise Unknown(f"it is refused with {outcome} when it is posted")
    return failed(outcome)


def received(moved: Moved) -> str:
    """The status of the receive that can't take its message."""
    if moved.received is None:
        raise Unknown("the receive gets no completion")
    return failed(moved.received.status)


# A local key ----------------------------------------------------------------------------------


def nobody_sent(bench: Bench) -> str:
    return failed(bench.transmit(NOBODY, 8).status)


def nobody_written(bench: Bench) -> str:
    target = bench.memory(bytes(8), "peer")
    return of_owner(bench, Write(bench.id(), SIGNALED, (Sge(0, 8, NOBODY),), target.addr, target.rkey))


def read_into_read_only(bench: Bench) -> str:
    mkey, source = bench.over(bench.memory(bytes(64)), access=READ_ONLY), bench.memory(bytes(8), "peer")
    return of_owner(bench, Read(bench.id(), SIGNALED, (Sge(0, 8, mkey.lkey),), source.addr, source.rkey))


def unconfigured(bench: Bench) -> str:
    return failed(bench.transmit(bench.mkey().lkey, 8).status)


def behind_a_key(bench: Bench) -> str:
    return failed(bench.transmit(bench.over(bench.memory(bytes(64))).lkey, 65).status)


def behind_a_buffer(bench: Bench) -> str:
    memory = bench.memory(bytes(64))
    return failed(bench.transmit(memory.lkey, 8, memory.addr + (1 << 30)).status)


def far_behind_a_key(bench: Bench) -> str:
    return failed(bench.transmit(bench.over(bench.memory(bytes(64))).lkey, 8, 4096).status)


def too_long(kind: str) -> Status:
    """A message of one byte more than the device tells. Its bytes are there, in a list that has one buffer many times,
    so that nothing but its length can be refused at this end; the other end has no room, so that none moves."""

    def look(bench: Bench) -> str:
        length = bench.numbers["max_msg_sz"] + 1
        part = -(-length // ENTRIES)
        if part > LARGEST or length > 0xFFFF_FFFF:
            raise Unknown(f"a key over {length} bytes would need a buffer of {part}")
        memory, far = bench.memory(bytes(part)), bench.memory(bytes(64), "peer")
        mkey = bench.mkey(entries=ENTRIES)
        setters = (SetAccess(bench.rights), SetList((sge(memory),) * ENTRIES))
        bench.must(bench.configure(mkey, *setters), "a configuration")
        sges = (Sge(0, length, mkey.lkey),)
        if kind == "send":
            bench.device.post_recv(bench.pair.peer, bench.id(), [sge(far)])
            status = of_owner(bench, Send(bench.id(), SIGNALED, sges))
        else:
            status = of_owner(bench, Write(bench.id(), SIGNALED, sges, far.addr, far.rkey))
        if status in STATUS_CLASS["remote_access"]:
            raise Absent(f"it is refused by the other end alone, with {status}")
        return status

    return look


# A remote key ---------------------------------------------------------------------------------


def remote_right(*, write: bool) -> Status:
    def look(bench: Bench) -> str:
        right = Access.REMOTE_READ if write else Access.REMOTE_WRITE | Access.LOCAL_WRITE
        mkey = bench.over(bench.memory(bytes(64)), access=int(right))
        return failed(bench.remote_write(mkey.rkey, bytes(8)) if write else bench.remote_read(mkey.rkey, 8))

    return look


def remote_nobody(bench: Bench) -> str:
    return failed(bench.remote_write(NOBODY, bytes(8)))


def behind_a_remote_key(*, write: bool) -> Status:
    def look(bench: Bench) -> str:
        mkey = bench.over(bench.memory(bytes(64)))
        return failed(bench.remote_write(mkey.rkey, bytes(65)) if write else bench.remote_read(mkey.rkey, 8, 60))

    return look


def atomic(*, swap: bool) -> Status:
    """At an address that is no multiple of 8."""

    def look(bench: Bench) -> str:
        counter, result = bench.memory(bytes(64), "peer"), bench.memory(bytes(8))
        where = (bench.id(), SIGNALED, sge(result), counter.addr + 4, counter.rkey)
        return of_owner(bench, CompareSwap(*where, 0, 1) if swap else FetchAdd(*where, 1))

    return look


# Receives -------------------------------------------------------------------------------------


def refused_receive(bench: Bench, *, right: bool) -> Moved:
    key = bench.over(bench.memory(bytes(64)), access=READ_ONLY).lkey if right else NOBODY
    return bench.receive(key, bytes(8))


def overrun(sent: int, taken: int) -> Status:
    def look(bench: Bench) -> str:
        memory = bench.memory(bytes(64))
        moved = bench.send([sge(bench.memory(bytes(sent), "peer"))], [Sge(memory.addr, taken, memory.lkey)], by="peer")
        return received(moved)

    return look


def byte_len(kind: str, *, strip: bool) -> Callable[[Bench], int]:
    """Of a message into a key that takes its fields off, or puts them on."""

    def look(bench: Bench) -> int:
        content = data(2)
        if kind == "t10dif":
            domain, made = t10(0, 5, 7), [t10_field(content[:512], 5, 7), t10_field(content[512:], 5, 7)]
        else:
            domain, made = crc(kind), [crc_field(kind, content[:512]), crc_field(kind, content[512:])]
        memory = bench.memory(bytes(1040))
        mkey = bench.over(memory, signature(wire=domain) if strip else signature(mem=domain))
        moved = bench.receive(mkey.lkey, framed(content, made) if strip else content)
        if moved.status != OK or moved.received is None or moved.received.status != OK:
            raise Strange(f"a message into a key with a signature ends with {moved.status}")
        return moved.received.byte_len

    return look


def _byte_len(kind: str, size: int, *, strip: bool) -> Side:
    whole, bare = 1024 + 2 * size, 1024
    wire, memory = (whole, bare) if strip else (bare, whole)
    return Side(
        f"{kind} {'taken off' if strip else 'put on'}",
        byte_len(kind, strip=strip),
        {wire: "wire", memory: "memory"},
        ("block_signature", "block.512", f"signature.{kind}"),
    )


# Crypto ---------------------------------------------------------------------------------------


def crypto_attr(bench: Bench, made: bytes | None = None, told: bytes = bytes(8)) -> SetCrypto:
    order = int(CryptoOrder.SIGNATURE_AFTER_CRYPTO_ON_TX)
    return SetCrypto(CryptoAttr(0, True, order, 0, bytes(16), bench.dek(made), told))


def without_attributes(bench: Bench) -> str:
    return failed(bench.transmit(bench.over(bench.memory(bytes(512)), flags=CRYPTO).lkey, 512).status)


def other_keytag(bench: Bench) -> str:
    setter = crypto_attr(bench, b"\x07" * 8, bytes(range(8)))
    return failed(bench.transmit(bench.over(bench.memory(bytes(512)), setter, flags=CRYPTO).lkey, 512).status)


def unfit_length(bench: Bench) -> str:
    """500 bytes are neither whole data units nor whole AES blocks. The key is of one data unit: more is not for each
    engine (X-LIM-09)."""
    setter = crypto_attr(bench)
    return failed(bench.transmit(bench.over(bench.memory(bytes(512)), setter, flags=CRYPTO).lkey, 500).status)


# DC -------------------------------------------------------------------------------------------


def dc(*, key: bool) -> Status:
    """A message to a DCT with another key, or to a number that no DCT has."""

    def look(bench: Bench) -> str:
        target = bench.device.dct(0x1234)
        bench.use(QpAttributes(type="dci", send_ops=0, private=True))
        memory, far = bench.memory(bytes(8)), bench.memory(bytes(8), "peer")
        where = DcAddress(target, 0x4321) if key else DcAddress(0xFFFF_F0, 0x1234)
        return of_owner(bench, Write(bench.id(), SIGNALED, (sge(memory),), far.addr, far.rkey, dc=where))

    return look


def stream(number: int) -> Status:
    """Nothing in the pages has a device look at the number of a stream."""

    def look(bench: Bench) -> str:
        target = bench.device.dct(0x1234)
        bench.use(QpAttributes(type="dci", send_ops=0, streams=2, private=True))
        memory, far = bench.memory(bytes(8)), bench.memory(bytes(8), "peer")
        where = DcAddress(target, 0x1234, number)
        outcome = bench.done(Write(bench.id(), SIGNALED, (sge(memory),), far.addr, far.rkey, dc=where))
        if outcome == OK:
            raise Absent("it is carried out")
        return outcome

    return look


POINTS = (
    Point(
        "recv_byte_len",
        (
            _byte_len("crc32", 4, strip=True),
            _byte_len("crc32", 4, strip=False),
            _byte_len("t10dif", 8, strip=True),
            _byte_len("t10dif", 8, strip=False),
        ),
    ),
    point(
        "status_local",
        ("a SEND from a key of nothing", nobody_sent),
        ("a WRITE from a key of nothing", nobody_written),
        ("a READ into a key without LOCAL_WRITE", read_into_read_only),
        ("a SEND from an mkey that was not configured", unconfigured),
    ),
    point(
        "status_local_bounds",
        ("a SEND of a byte too many from an mkey", behind_a_key),
        ("a SEND from behind an mkey", far_behind_a_key),
        ("a SEND from behind a buffer", behind_a_buffer),
    ),
    point(
        "status_length",
        ("a SEND", too_long("send")), ("a WRITE", too_long("write")),
    ),
    point(
        "status_remote",
        ("a WRITE without REMOTE_WRITE", remote_right(write=True)),
        ("a READ without REMOTE_READ", remote_right(write=False)),
        ("a WRITE to a key of nothing", remote_nobody),
    ),
    point(
        "status_remote_bounds",
        ("a WRITE behind the end", behind_a_remote_key(write=True)),
        ("a READ behind the end", behind_a_remote_key(write=False)),
    ),
    point(
        "status_receive",
        ("into an mkey without LOCAL_WRITE", lambda bench: received(refused_receive(bench, right=True))),
        ("into a key of nothing", lambda bench: received(refused_receive(bench, right=False))),
    ),
    point(
        "status_receive_sender",
        ("into an mkey without LOCAL_WRITE", lambda bench: failed(refused_receive(bench, right=True).status)),
        ("into a key of nothing", lambda bench: failed(refused_receive(bench, right=False).status)),
    ),
    point("status_overrun", ("16 bytes into 8", overrun(16, 8)), ("9 bytes into 8", overrun(9, 8))),
    point(
        "status_atomic",
        ("FETCH_ADD", atomic(swap=False)), ("CMP_SWAP", atomic(swap=True)), needs=("atomic",),
    ),
    point(
        "status_crypto",
        ("no crypto attributes", without_attributes),
        ("another keytag", other_keytag),
        ("500 bytes", unfit_length),
        needs=("crypto",),
    ),
    point(
        "status_dct",
        ("another DC access key", dc(key=True)), ("a number that no DCT has", dc(key=False)), needs=("qp.dci",),
    ),
    point(
        "status_stream",
        ("stream 2 of 2", stream(2)), ("stream 9 of 2", stream(9)), needs=("qp.dci", "qp.dci_streams"),
    ),
)  # fmt: skip
