"""Points of the error record: which value is which, byte orders, offsets, which part, which error is kept."""

from __future__ import annotations

from collections.abc import Callable

from mkeyspec.abi.constants import MkeyError
from mkeyspec.calibrate.bench import Bench, Strange, crc, layout, signature, t10
from mkeyspec.calibrate.point import Point, Side
from mkeyspec.calibrate.probes.fields import SIZES, crc_field, data, flipped, framed, t10_field
from mkeyspec.calibrate.probes.signatures import CRC, DIF
from mkeyspec.device.protocol import SigBlockDomain, SignatureError

PART_OF = {int(MkeyError.BAD_GUARD): "guard", int(MkeyError.BAD_REFTAG): "ref", int(MkeyError.BAD_APPTAG): "app"}
BYTES = {"guard": (0, 1), "app": (2, 3), "ref": (4, 5, 6, 7)}
_WAYS = (("sent", False), ("received", True))


def error(
    bench: Bench, stream: bytes, domain: SigBlockDomain, blocks: int, *, rx: bool, block: int = 512
) -> SignatureError:
    """The record of a message whose fields are checked, in memory or on the wire."""
    if rx:
        mkey = bench.over(bench.memory(b"\xee" * blocks * block), signature(wire=domain, check=0xFF))
        moved = bench.receive(mkey.lkey, stream)
    else:
        mkey = bench.over(bench.memory(stream), signature(mem=domain, check=0xFF))
        moved = bench.transmit(mkey.lkey, blocks * block)
    bench.must(moved.status, "a message with a signature error")
    found = bench.error_of(mkey)
    if found is None:
        raise Strange("a wrong field is not reported")
    return found


def crc_error(bench: Bench, kind: str, *, rx: bool) -> tuple[SignatureError, bytes, bytes]:
    """A record, the field that was there, and the right one."""
    content = data(1)
    right = crc_field(kind, content)
    there = bytes(range(0xA1, 0xA1 + SIZES[kind]))
    return error(bench, framed(content, [there]), crc(kind), 1, rx=rx), there, right


def orientation(kind: str, *, rx: bool) -> Callable[[Bench], str]:
    """Which member has the field. Of CRC32, and of the parts of T10-DIF, the byte order of the numbers is settled."""

    def look(bench: Bench) -> str:
        if kind == "crc32":
            found, there, right = crc_error(bench, kind, rx=rx)
        else:
            field = t10_field(data(1), 5, 7)
            wrong = flipped(field, *BYTES[kind])
            found = error(bench, framed(data(1), [wrong]), t10(0, 5, 7), 1, rx=rx)
            first, *_, last = BYTES[kind]
            there, right = wrong[first : last + 1], field[first : last + 1]
        numbers = {int.from_bytes(there, "big"): "field", int.from_bytes(right, "big"): "computed"}
        actual, expected = numbers.get(found.actual_value), numbers.get(found.expected_value)
        if {actual, expected} == {"field", "computed"}:
            return f"actual_value is the {actual}"
        told = f"actual {found.actual_value:#x}, expected {found.expected_value:#x}"
        return f"{told}; field {there.hex()}, right {right.hex()}"

    return look


def value_order(kind: str, *, rx: bool) -> Callable[[Bench], str]:
    def look(bench: Bench) -> str:
        found, there, right = crc_error(bench, kind, rx=rx)
        got = {found.actual_value, found.expected_value}
        for order in ("big", "little"):
            if got == {int.from_bytes(there, order), int.from_bytes(right, order)}:
                return order
        return f"{sorted(map(hex, got))} of field {there.hex()}, right {right.hex()}"

    return look


def offset(kind: str, k: int, count: int, block: int, *, rx: bool) -> Callable[[Bench], int]:
    """The offset of an error in block `k` of `count`."""

    def look(bench: Bench) -> int:
        content = data(count, block)
        parts = [content[i * block : (i + 1) * block] for i in range(count)]
        if kind == "t10dif":
            fields, domain = [t10_field(part, 5, 7) for part in parts], t10(0, 5, 7, block=block)
        else:
            fields, domain = [crc_field(kind, part) for part in parts], crc(kind, block=block)
        fields[k] = flipped(fields[k], 0, 1)
        return error(bench, framed(content, fields, block), domain, count, rx=rx, block=block).offset

    return look


def _offset_side(kind: str, k: int, count: int, block: int, way: str, rx: bool) -> Side:
    frame = block + SIZES[kind]
    shows = {(k + 1) * frame - 1: "block-last-byte", k * frame: "block-start", k * block: "data-start"}
    needs = ("block_signature", f"block.{block}", f"signature.{kind}")
    return Side(
        f"{kind}, block {k} of {count} of {block} bytes, {way}", offset(kind, k, count, block, rx=rx), shows, needs
    )


def priority(*, rx: bool) -> Callable[[Bench], tuple[str, ...]]:
    """The order of the parts, from each pair of bad ones, and from all three."""

    def look(bench: Bench) -> tuple[str, ...]:
        right, domain = t10_field(data(1), 5, 7), t10(0, 5, 7)
        told: dict[tuple[str, ...], str] = {}
        for bad in (("guard",), ("app",), ("ref",), ("guard", "app"), ("guard", "ref"), ("app", "ref"), tuple(BYTES)):
            wrong = flipped(right, *(at for part in bad for at in BYTES[part]))
            kind = error(bench, framed(data(1), [wrong]), domain, 1, rx=rx).type
            told[bad] = PART_OF.get(kind, f"type {kind}")
            if told[bad] not in bad:
                raise Strange(f"of {', '.join(bad)} bad, {told[bad]} is reported")
        wins = {part: sum(first == part for bad, first in told.items() if len(bad) == 2) for part in BYTES}
        order = tuple(sorted(BYTES, key=lambda part: -wins[part]))
        if sorted(wins.values()) != [0, 1, 2] or told[tuple(BYTES)] != order[0]:
            raise Strange(f"no order explains {', '.join(f'{first} of {len(bad)}' for bad, first in told.items())}")
        return order

    return look


def unread(*, rx: bool) -> Callable[[Bench], str]:
    """Two messages with errors, a configuration between them, and one mkey_check at the end."""

    def look(bench: Bench) -> str:
        content = data(2)
        fields = [crc_field("crc32", content[:512]), crc_field("crc32", content[512:])]
        bad = [framed(content, [flipped(fields[0], 0), fields[1]]), framed(content, [fields[0], flipped(fields[1], 3)])]
        domain, offsets = crc("crc32"), []
        for wrong in bad:  # each alone, to know its record
            offsets.append(error(bench, wrong, domain, 2, rx=rx).offset)
        if offsets[0] == offsets[1]:
            raise Strange("errors of two blocks have one offset")
        memory = bench.memory(b"\xee" * 1024 if rx else bad[0])
        setter = signature(wire=domain, check=0xFF) if rx else signature(mem=domain, check=0xFF)
        mkey = bench.over(memory, setter)
        for number, wrong in enumerate(bad):
            if number:
                bench.must(bench.configure(mkey, layout(memory), setter), "a second configuration")
            if not rx:
                bench.device.write(memory, 0, wrong)
            moved = bench.receive(mkey.lkey, wrong) if rx else bench.transmit(mkey.lkey, 1024)
            bench.must(moved.status, "a message with a signature error")
            bench.settle()
        found = bench.error_of(mkey)
        if found is None:
            raise Strange("of two messages with errors none is reported")
        more = bench.error_of(mkey)
        if more is not None:
            raise Strange("mkey_check reports two errors, one after the other")
        return {offsets[0]: "the first", offsets[1]: "the second"}.get(found.offset, f"offset {found.offset}")

    return look


POINTS = (
    Point(
        "err_actual",
        tuple(
            Side(
                f"{kind}, {way}", orientation(kind, rx=rx),
                {"actual_value is the field": "field", "actual_value is the computed": "computed"},
                (*CRC, "signature.crc32") if kind == "crc32" else DIF,
            )
            for kind in ("crc32", "guard", "app", "ref")
            for way, rx in _WAYS
        ),
    ),
    *(
        Point(
            member,
            tuple(
                Side(
                    f"{kind}, {way}", value_order(kind, rx=rx), {"big": "memory-bytes-as-BE", "little": "value"},
                    (*CRC, f"signature.{kind}"),
                )
                for way, rx in _WAYS
            ),
        )
        for member, kind in (("err_value_order_crc32c", "crc32c"), ("err_value_order_crc64", "crc64_xp10"))
    ),
    Point(
        "err_offset",
        (
            _offset_side("crc32", 2, 4, 512, "sent", False),
            _offset_side("crc32", 3, 4, 512, "received", True),
            _offset_side("t10dif", 1, 3, 512, "sent", False),
            _offset_side("crc32", 1, 2, 4096, "received", True),
        ),
    ),
    Point("err_priority", tuple(Side(f"pairs of bad parts, {way}", priority(rx=rx), None, DIF) for way, rx in _WAYS)),
    Point(
        "err_unread",
        tuple(
            Side(
                f"two errors before mkey_check, {way}", unread(rx=rx), {"the first": "first", "the second": "last"},
                (*CRC, "signature.crc32"),
            )
            for way, rx in _WAYS
        ),
    ),
)  # fmt: skip
