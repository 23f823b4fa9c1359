"""Limits: the sizes of WQEs and of mkeys, the longest memcpy and message, the width of a stride."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from itertools import pairwise

from mkeyspec.abi.constants import QpOps, SendFlag
from mkeyspec.calibrate.bench import (
    CONFIGURES,
    OK,
    SIGNALED,
    SIGNED,
    Bench,
    Strange,
    Unknown,
    crc,
    errno_name,
    sge,
    signature,
)
from mkeyspec.calibrate.point import AtLeast, Point, Side
from mkeyspec.device.protocol import (
    Configure,
    Interleaved,
    Memcpy,
    NoSuchCall,
    Qp,
    QpAttributes,
    Refused,
    Send,
    SetAccess,
    SetInterleaved,
    SetList,
    Setter,
    Sge,
    Write,
)

BARE = QpAttributes(max_inline_data=0, max_send_sge=1, max_recv_sge=1, private=True)
"""Of these QPs the inline data that is asked for decides the size of a WQE."""
MEMCPY = int(QpOps.MEMCPY)
MOST_INLINE = 1 << 16


def granted(bench: Bench, attributes: QpAttributes) -> Qp | None:
    """The owner's QP, or None if it is refused."""
    try:
        return bench.use(attributes).owner
    except (Refused, NoSuchCall):
        return None


def inline(bench: Bench, asked: int) -> int | None:
    """max_inline_data that a QP with so much asked for has."""
    qp = granted(bench, replace(BARE, max_inline_data=asked))
    return None if qp is None else qp.max_inline_data


def steps(bench: Bench, count: int) -> list[int]:
    """The first sizes of inline data, each the next above the one before."""
    found: list[int] = []
    asked = 0
    while len(found) < count:
        room = inline(bench, asked)
        if room is None or room < asked:
            break
        found.append(room)
        asked = room + 1
    if len(found) < 2:
        raise Unknown("QPs of only one size can be made")
    return found


def largest(fits: Callable[[int], bool], low: int, high: int) -> int:
    """The largest number from `low` up to which all fit."""
    if not fits(low):
        raise Unknown(f"not even {low} is taken")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    return low


def unit_by_inline(bench: Bench) -> int:
    found = steps(bench, 4)
    apart = {after - before for before, after in pairwise(found)}
    if len(apart) != 1:
        raise Strange(f"max_inline_data grows in unequal steps: {found}")
    return apart.pop()


def entries_that_fit(bench: Bench, *more: Setter, signed: bool = True) -> int:
    """How many entries a list may have on the present QP, beside other setters."""
    memory = bench.memory(bytes(8))
    mkey = bench.mkey(SIGNED if signed else 1, 128)

    def fits(count: int) -> bool:
        setters = (SetList((Sge(memory.addr, 8, memory.lkey),) * count), *more)
        request = Configure(bench.id(), CONFIGURES, mkey, len(setters), setters)
        if bench.device.post(bench.pair.owner, (request,)):
            return False
        if (status := bench.completion(bench.pair.owner, request.wr_id).status) != OK:
            raise Strange(f"a list of {count} entries is posted, and ends with {status}")
        return True

    return largest(fits, 0, 129)


def unit_by_entries(bench: Bench) -> int:
    """By the entries of a list that fit into WQEs of two sizes one after the other, of 16 bytes each."""
    counts = []
    rooms = steps(bench, 3)
    if len(rooms) < 3:
        raise Unknown("QPs of only two sizes can be made")
    for room in rooms:
        bench.use(replace(BARE, max_inline_data=room))
        counts.append(entries_that_fit(bench, signed=False))
    if counts[1] - counts[0] != counts[2] - counts[1]:
        raise Strange(f"lists of {counts} entries fit into WQEs of equal steps")
    return 16 * (counts[1] - counts[0])


def slots(bench: Bench, attributes: QpAttributes) -> tuple[int, int]:
    """The bytes after the fixed part of a configuration WQE, and how many requests the send queue takes."""
    pair = bench.use(attributes)
    target = bench.memory(bytes(8), "peer")
    for count in range(1 << 13):
        # Unsignaled: the driver frees no slot before a completion of a later request is polled.
        request = Write(bench.id(), 0, (), target.addr, target.rkey)
        if bench.device.post(pair.owner, (request,)):
            return pair.owner.max_inline_data + 4, count
    raise Unknown("the send queue takes more than 8192 requests")


def overhead(wrs: tuple[int, ...]) -> Callable[[Bench], int]:
    """The fixed part of a configuration WQE: with which one the send queues, of a power of two bytes each, hold as
    many WQEs as they do (X-LIM-01)."""

    def look(bench: Bench) -> int:
        seen = []
        for wr in wrs:
            for room in steps(bench, 3):
                attributes = replace(BARE, max_inline_data=room, max_send_wr=wr)
                seen.append((wr, *slots(bench, attributes)))
        fitting = []
        for fixed in range(16, 2049, 16):
            if all(
                (1 << max(0, wr * (fixed + room) - 1).bit_length()) // (fixed + room) == held for wr, room, held in seen
            ):
                fitting.append(fixed)
        if not fitting:
            raise Strange("no size explains how many requests send queues hold: " + _slots(seen))
        if len(fitting) > 1:
            raise Unknown(f"sizes {', '.join(map(str, fitting))} explain how many requests send queues hold")
        return fitting[0]

    return look


def _slots(seen: list[tuple[int, int, int]]) -> str:
    return ", ".join(f"{held} of {room} bytes for {wr} asked" for wr, room, held in seen)


def _fixed(bench: Bench) -> int:
    return overhead((50, 77))(bench)


def longest_by_inline(bench: Bench) -> int:
    most = largest(lambda asked: inline(bench, asked) is not None, 0, MOST_INLINE)
    return (inline(bench, most) or 0) + 4 + _fixed(bench)


def longest_by_sges(bench: Bench) -> int:
    """By the most SGEs of a QP. The last step of a WQE's size may hold SGEs that are not whole."""
    fixed, unit = _fixed(bench), unit_by_inline(bench)

    def fits(count: int) -> bool:
        return granted(bench, replace(BARE, max_send_sge=count)) is not None

    most = largest(fits, 1, 4096)
    return -(-(fixed + 16 * most) // unit) * unit


def attributes_room(asked: int) -> Callable[[Bench], int]:
    """Bytes that signature attributes take of a WQE: by the entries that fit beside them, in steps of 64 bytes."""

    def look(bench: Bench) -> int:
        room = (bench.use(replace(BARE, max_inline_data=asked)).owner.max_inline_data + 4) // 16
        if (plain := entries_that_fit(bench)) != room:
            raise Strange(f"a list of {plain} entries fits where there is room for {room}")
        beside = entries_that_fit(bench, signature(crc("crc32")))
        return (plain - beside) * 16

    return look


def memcpy_told(bench: Bench) -> int:
    return bench.numbers["max_wr_memcpy_length"] if "memcpy" in bench.offers else 0


def memcpy_tried(bench: Bench) -> int:
    """Whether the length that is told is taken, and one more is refused. The keys are of nothing: no byte moves."""
    told = memcpy_told(bench)
    taken = []
    for length in (told, told + 1):
        pair = bench.use(QpAttributes(send_ops=0x7 | MEMCPY, private=True))
        request = Memcpy(bench.id(), SIGNALED, 0x00FF_FF00, 0, 0x00FF_FF00, 0, length)
        refused = bench.device.post(pair.owner, (request,))
        taken.append(not refused)
        if not refused:
            bench.completion(pair.owner, request.wr_id)
    if taken != [True, False]:
        raise Strange(f"{told} bytes are {_taken(taken[0])}, and one more is {_taken(taken[1])}")
    return told


def _taken(taken: bool) -> str:
    return "taken" if taken else "refused"


def message_told(bench: Bench) -> int:
    return bench.numbers["max_msg_sz"]


def message_tried(bench: Bench) -> int:
    """Whether the status of a message changes behind the length that is told. Its bytes are not there, so that none
    moves."""
    told = message_told(bench)
    memory = bench.memory(bytes(64))
    statuses = []
    for length in (told, told + 1):
        bench.again()
        rest = length - 0xFFFF_0000
        sizes = (length,) if rest <= 0 else (0xFFFF_0000, rest)
        request = Send(bench.id(), SIGNALED, tuple(Sge(memory.addr, size, memory.lkey) for size in sizes))
        bench.device.post_recv(bench.pair.peer, bench.id(), [sge(bench.memory(bytes(8), "peer"))])
        if number := bench.device.post(bench.pair.owner, (request,)):
            raise Unknown(f"a message of {length} bytes is refused with {errno_name(number)}")
        statuses.append(bench.completion(bench.pair.owner, request.wr_id).status)
    if statuses[0] == statuses[1]:
        raise Unknown(f"messages of that length and of one byte more both end with {statuses[0]}")
    return told


def rounding(first: int) -> Callable[[Bench], int]:
    """The step of max_entries, from `first` entries on."""

    def look(bench: Bench) -> int:
        counts = [bench.mkey(entries=asked).max_entries for asked in range(first, first + 65)]
        if any(count < asked for asked, count in enumerate(counts, first)):
            raise Strange("an mkey has fewer entries than asked for")
        sizes = sorted(set(counts))
        apart = {after - before for before, after in pairwise(sizes)}
        if not apart:
            return sizes[0]
        if len(apart) != 1 or sizes[0] % (step := next(iter(apart))):
            raise Strange(f"max_entries grows in unequal steps: {sizes[:6]}")
        return step

    return look


def strided(bench: Bench, stride: int, memory_length: int) -> tuple[str, bytes]:
    """The second of two blocks of 16 bytes of an interleaved key, whose stride is `stride`."""
    content = bytes((i + 1) & 255 for i in range(64)).ljust(memory_length, b"\x77")
    memory = bench.memory(content)
    mkey = bench.mkey(entries=4)
    setter = SetInterleaved(2, (Interleaved(memory.addr, 16, stride - 16, memory.lkey),))
    status = bench.configure(mkey, SetAccess(bench.rights), setter)
    if status != OK:
        return status, b""
    moved = bench.transmit(mkey.lkey, 32)
    return moved.status, moved.data[16:]


def stride_by_address(bench: Bench) -> int:
    """Behind the buffer is nothing, so that only a stride that was cut finds bytes: a search for the width."""
    second = bytes(range(33, 49))

    def is_cut(bits: int) -> bool:
        bench.again()
        status, got = strided(bench, (1 << bits) + 32, 64)
        if status == OK and got != second:
            raise Strange(f"a stride of 2^{bits} + 32 finds {got.hex()}")
        return status == OK

    low, high = 7, 32  # not cut at `low` would mean a width of more than that
    if is_cut(low):
        raise Strange("a stride of 160 bytes is cut")
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_cut(middle) else (middle, high)
    return high


def stride_in_memory(bench: Bench) -> int | AtLeast:
    """A stride of 2^16 + 32 in a buffer that has both places."""
    status, got = strided(bench, (1 << 16) + 32, (1 << 16) + 48)
    bench.must(status, "a message through an interleaved key")
    if got == b"\x77" * 16:
        return AtLeast(17)
    if got == bytes(range(33, 49)):
        return 16
    raise Strange(f"a stride of 2^16 + 32 finds {got.hex()}")


INLINE = int(SendFlag.INLINE)
_SIGNED = ("block_signature", "signature.crc32", "block.512")
POINTS = (
    Point("entries_rounding", (Side("from 1 entry on", rounding(1)), Side("from 97 entries on", rounding(97)))),
    Point(
        "wqe_unit",
        (Side("steps of max_inline_data", unit_by_inline), Side("entries of a list, step by step", unit_by_entries)),
    ),
    Point(
        "wqe_overhead",
        (
            Side("requests in send queues for 50 and 77", overhead((50, 77))),
            Side("requests in send queues for 33 and 100", overhead((33, 100))),
        ),
    ),
    Point(
        "wqe_max",
        (Side("most inline data", longest_by_inline), Side("most SGEs", longest_by_sges)),
    ),
    Point(
        "bsf_bytes",
        tuple(
            Side(f"entries beside a signature, {asked} bytes inline", attributes_room(asked), None, _SIGNED)
            for asked in (512, 300)
        ),
    ),
    Point(
        "max_wr_memcpy_length",
        (
            Side("what the device tells", memcpy_told, told=True),
            Side("that length, and one byte more", memcpy_tried, None, ("memcpy",)),
        ),
    ),
    Point(
        "max_message",
        (
            Side("what the device tells", message_told, told=True),
            Side("that length, and one byte more", message_tried),
        ),
    ),
    Point(
        "stride_bits",
        (Side("strides beyond the buffer", stride_by_address), Side("a stride of 2^16 + 32", stride_in_memory)),
    ),
)
