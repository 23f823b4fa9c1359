"""Points of the signature operation, and the arithmetic that published sources settle."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from mkeyspec.abi.constants import ONES_16, T10difFlag
from mkeyspec.calibrate.bench import OK, Bench, Strange, crc, layout, signature, t10
from mkeyspec.calibrate.point import Point, Side
from mkeyspec.calibrate.probes.fields import ONES, SIZES, crc_field, data, fields_of, flipped, framed, t10_field
from mkeyspec.device.protocol import SigBlockDomain

CRC = ("block_signature", "block.512")
DIF = ("block_signature", "block.512", "signature.t10dif")
SUM = (*DIF, "signature.csum")
REF_REMAP, APP_ESCAPE, APP_REF_ESCAPE = (int(flag) for flag in T10difFlag)
WAYS = (("sent", False), ("received", True))


def sent(bench: Bench, content: bytes, length: int, **domains: SigBlockDomain | int | None) -> bytes:
    """What a key with this signature puts on the wire."""
    mkey = bench.over(bench.memory(content), signature(**domains))  # type: ignore[arg-type]
    moved = bench.transmit(mkey.lkey, length)
    bench.must(moved.status, "a message through a key with a signature")
    return moved.data


def taken(bench: Bench, stream: bytes, length: int, **domains: SigBlockDomain | int | None) -> bytes:
    """What a key with this signature lays down of a message."""
    memory = bench.memory(b"\xee" * length)
    mkey = bench.over(memory, signature(**domains))  # type: ignore[arg-type]
    bench.must(bench.receive(mkey.lkey, stream).status, "a message into a key with a signature")
    return bench.bytes_of(memory)


def is_reported(bench: Bench, content: bytes, blocks: int, domain: SigBlockDomain, check: int, *, wire: bool) -> bool:
    """Whether a message with these fields has an error: of memory when it is sent, of the wire when it comes."""
    if wire:
        memory = bench.memory(b"\xee" * 512 * blocks)
        mkey = bench.over(memory, signature(wire=domain, check=check))
        status = bench.receive(mkey.lkey, content).status
    else:
        mkey = bench.over(bench.memory(content), signature(mem=domain, check=check))
        status = bench.transmit(mkey.lkey, 512 * blocks).status
    bench.must(status, "a message through a key with a signature")
    return bench.error_of(mkey) is not None


# What published sources settle ------------------------------------------------------------------


def arithmetic(kind: str, seed: int, *, rx: bool) -> Callable[[Bench], str]:
    """Whether the field of a block is the published one."""

    def look(bench: Bench) -> str:
        content = data(1)
        if kind in ONES:
            domain, ought = crc(kind, seed), crc_field(kind, content, seed)
        else:
            domain = t10(seed, 0x5678, 0xF0DEBC9A, csum=kind == "csum")
            ought = t10_field(content, 0x5678, 0xF0DEBC9A, bg=seed, csum=kind == "csum")
        size = len(ought)
        stream = taken(bench, content, 512 + size, mem=domain) if rx else sent(bench, content, 512 + size, wire=domain)
        got = stream[512:]
        if got == ought:
            return "as published"
        if got == ought[::-1]:
            return f"the published bytes in reverse order: {got.hex()}, not {ought.hex()}"
        return f"{got.hex()}, not {ought.hex()}"

    return look


def _published(kind: str) -> Point:
    seeds = (0, ONES[kind]) if kind in ONES else (0, ONES_16)
    needs = (*CRC, f"signature.{kind}") if kind in ONES else SUM if kind == "csum" else DIF
    sides = [
        Side(f"seed {seed:#x}, {way}", arithmetic(kind, seed, rx=way == "received"), {"as published": True}, needs)
        for seed in seeds
        for way in ("sent", "received")
    ]
    return Point("", tuple(sides), rule=kind)


# Points ---------------------------------------------------------------------------------------


def zero_block_guard(*, rx: bool) -> Callable[[Bench], str]:
    """The guard of a block of zeros, where the checksum starts from 0xffff: the only block that shows it."""

    def look(bench: Bench) -> str:
        as_published(bench)
        domain, content = t10(ONES_16, csum=True), bytes(512)
        stream = taken(bench, content, 520, mem=domain) if rx else sent(bench, content, 520, wire=domain)
        return stream[512:514].hex()

    return look


def as_published(bench: Bench) -> None:
    """The checksum must be the published one where its start can't be seen."""
    if (got := arithmetic("csum", 0, rx=False)(bench)) != "as published":
        raise Strange(f"the checksum of a block that is not zero is {got}")


def zero_block_checked(bench: Bench) -> str:
    as_published(bench)
    domain = t10(ONES_16, csum=True)
    found = [
        is_reported(bench, bytes(512) + guard + bytes(6), 1, domain, 0xC0, wire=False)
        for guard in (b"\0\0", b"\xff" * 2)
    ]
    return " and ".join(
        f"guard {name} is {'bad' if bad else 'right'}" for name, bad in zip(("0000", "ffff"), found, strict=True)
    )


def mask_bit(kind: str, *, wire: bool) -> Callable[[Bench], str]:
    """Of a field whose every byte is wrong in turn: which byte bit 7 of check_mask checks."""

    def look(bench: Bench) -> str:
        content, field = data(1), crc_field(kind, data(1))
        reported = [
            at
            for at in range(SIZES[kind])
            if is_reported(bench, framed(content, [flipped(field, at)]), 1, crc(kind), 0x80, wire=wire)
        ]
        return f"checks byte {', '.join(map(str, reported)) or 'none'}"

    return look


def copy_bit(kind: str) -> Callable[[Bench], str]:
    """Which byte of a field bit 7 of copy_mask copies."""

    def look(bench: Bench) -> str:
        field = crc_field(kind, data(1))
        wrong = flipped(field, *range(SIZES[kind]))
        stream = sent(bench, framed(data(1), [wrong]), 512 + SIZES[kind], mem=crc(kind), wire=crc(kind), copy=0x80)
        copied = [at for at, byte in enumerate(stream[512:]) if byte == wrong[at]]
        rest = [at for at, byte in enumerate(stream[512:]) if byte == field[at]]
        if len(copied) + len(rest) != SIZES[kind]:
            raise Strange(f"of the field {wrong.hex()}, with {field.hex()} as the right one, {stream[512:].hex()} came")
        return f"copies byte {', '.join(map(str, copied)) or 'none'}"

    return look


def _byte(verb: str, size: int) -> dict[Any, Any]:
    return {f"{verb} byte 0": "memory-order", f"{verb} byte {size - 1}": "value-order"}


def escape(flag: int, *, wire: bool) -> Callable[[Bench], str]:
    """What an escape exempts: a wrong guard, and wrong tags. The same fields without the flag must be reported."""

    def look(bench: Bench) -> str:
        content = data(1)
        ref = 0xFFFFFFFF if flag == APP_REF_ESCAPE else 7
        right = t10_field(content, ONES_16, ref)
        seen = []
        for what, field, tags in (
            ("a wrong guard", flipped(right, 0, 1), (ONES_16, ref)),
            ("wrong tags", right, (0x1335, 0x01030509)),
        ):
            plain, expected = t10(0, *tags), t10(0, *tags, flag)
            stream = framed(content, [field])
            if not is_reported(bench, stream, 1, plain, 0xFF, wire=wire):
                raise Strange(f"{what} is not reported without an escape either")
            seen.append(
                f"{what} {'reported' if is_reported(bench, stream, 1, expected, 0xFF, wire=wire) else 'exempt'}"
            )
        return ", ".join(seen)

    return look


def three_messages(*, rx: bool) -> Callable[[Bench], str]:
    """The reference tags of two messages after a configuration, and of one after the next configuration."""

    def look(bench: Bench) -> str:
        content, domain = data(2), t10(0, 0, 7, REF_REMAP)
        memory = bench.memory(content if not rx else b"\xee" * 1040)
        setter = signature(mem=domain) if rx else signature(wire=domain)
        mkey = bench.over(memory, setter)
        found = []
        for number in range(3):
            if number == 2:
                bench.must(bench.configure(mkey, layout(memory), setter), "a second configuration")
            moved = bench.receive(mkey.lkey, content) if rx else bench.transmit(mkey.lkey, 1040)
            bench.must(moved.status, "a message through a key with a signature")
            stream = bench.bytes_of(memory) if rx else moved.data
            found.append(", ".join(str(int.from_bytes(field[4:], "big")) for field in fields_of(stream, 8)))
        return f"{found[0]}; then {found[1]}; configured again, {found[2]}"

    return look


def sizes(mem: int, wire: int, *, dif: bool = False) -> Callable[[Bench], str]:
    """Whether domains of two block sizes are taken; those of one size must be."""

    def look(bench: Bench) -> str:
        memory = bench.memory(bytes(8320))
        one = t10 if dif else lambda block: crc("crc32", block=block)
        outcomes = []
        for first, second in ((mem, mem), (mem, wire)):
            bench.again()
            mkey = bench.mkey(3)
            setter = signature(one(block=first), one(block=second))
            outcomes.append(bench.configure(mkey, layout(memory), setter))
        bench.must(outcomes[0], "a configuration with domains of one block size")
        return "taken" if outcomes[1] == OK else f"refused with {outcomes[1]}" if outcomes[1][0] == "E" else outcomes[1]

    return look


_TAGS = {
    "7, 8; then 7, 8; configured again, 7, 8": "message",
    "7, 8; then 9, 10; configured again, 7, 8": "configuration",
}
_ZERO_GUARD = {"0000": "start-value", "ffff": "same-as-0"}
_ZERO_CHECKED = {
    "guard 0000 is right and guard ffff is bad": "start-value",
    "guard 0000 is bad and guard ffff is right": "same-as-0",
}
_REFUSED = {f"refused with {name}": False for name in ("EINVAL", "EOPNOTSUPP", "ENOTSUP", "ENOMEM", "EPERM")}

POINTS = (
    *(_published(kind) for kind in ("crc32", "crc32c", "crc64_xp10", "t10dif", "csum")),
    Point(
        "csum_seed_ffff",
        (
            *(
                Side(f"guard of a block of zeros, {way}", zero_block_guard(rx=rx), _ZERO_GUARD, SUM)
                for way, rx in WAYS
            ),
            Side("guard of a block of zeros, checked", zero_block_checked, _ZERO_CHECKED, SUM),
        ),
    ),
    Point(
        "mask_le_fields",
        tuple(
            Side(f"check_mask 0x80 of {kind}, {way}", mask_bit(kind, wire=wire), _byte("checks", SIZES[kind]), needs)
            for kind in ("crc32c", "crc64_xp10")
            for needs in ((*CRC, f"signature.{kind}"),)
            for way, wire in (("sent", False), ("received", True))
        )
        + tuple(
            Side(
                f"copy_mask 0x80 of {kind}", copy_bit(kind), _byte("copies", SIZES[kind]), (*CRC, f"signature.{kind}")
            )
            for kind in ("crc32c", "crc64_xp10")
        ),
    ),
    Point(
        "escape_scope",
        tuple(
            Side(
                f"{name}, {way}",
                escape(flag, wire=wire),
                {
                    "a wrong guard exempt, wrong tags exempt": "block",
                    "a wrong guard exempt, wrong tags reported": "guard",
                },
                DIF,
            )
            for name, flag in (("APP_ESCAPE", APP_ESCAPE), ("APP_REF_ESCAPE", APP_REF_ESCAPE))
            for way, wire in (("sent", False), ("received", True))
        ),
    ),
    Point(
        "ref_tag_restart",
        tuple(Side(f"three messages, {way}", three_messages(rx=rx), _TAGS, DIF) for way, rx in WAYS),
    ),
    Point(
        "mixed_block_sizes",
        (
            Side("memory 512, wire 4096", sizes(512, 4096), {"taken": True, **_REFUSED},
                 (*CRC, "block.4096", "signature.crc32")),
            Side("memory 4096, wire 512", sizes(4096, 512), {"taken": True, **_REFUSED},
                 (*CRC, "block.4096", "signature.crc32")),
            Side("T10-DIF, memory 512, wire 520", sizes(512, 520, dif=True), {"taken": True, **_REFUSED},
                 (*DIF, "block.520")),
        ),
    ),
)  # fmt: skip
