"""Points of what is copied from one domain's field to the other's when no copy_mask is given."""

from __future__ import annotations

from collections.abc import Callable

from mkeyspec.calibrate.bench import Bench, Strange, crc, t10
from mkeyspec.calibrate.point import Point, Side
from mkeyspec.calibrate.probes.fields import ONES, SIZES, crc_field, data, fields_of, framed, t10_field
from mkeyspec.calibrate.probes.signatures import CRC, DIF, REF_REMAP, sent, taken
from mkeyspec.device.protocol import SigBlockDomain


def seeds(kind: str, *, rx: bool, back: bool) -> Callable[[Bench], str]:
    """CRC domains of two seeds: whether the other side's field is that of its own seed, or the one that came."""

    def look(bench: Bench) -> str:
        content, size = data(2), SIZES[kind]
        first, second = (ONES[kind], 0) if back else (0, ONES[kind])
        mark = bytes(range(0xD0, 0xD0 + size))
        ought = [crc_field(kind, content[k * 512 : (k + 1) * 512], second) for k in range(2)]

        def came(one: int, other: int) -> str:
            got = _through(bench, framed(content, [mark, mark]), crc(kind, one), crc(kind, other), rx=rx)
            return _came(fields_of(got, size), [mark, mark], ought)

        if (equal := came(second, second)) != "copied":
            raise Strange(f"fields of domains of one seed are {equal}")
        return came(first, second)

    return look


def flags(*, rx: bool, back: bool) -> Callable[[Bench], str]:
    """T10-DIF domains that differ in REF_REMAP alone: whether reference tags are copied or made anew."""

    def look(bench: Bench) -> str:
        content = data(2)
        first, second = (0, REF_REMAP) if back else (REF_REMAP, 0)
        marks = [0xDEAD0000, 0xDEAD0001]
        blocks = [content[:512], content[512:]]
        stream = framed(content, [t10_field(part, 5, ref) for part, ref in zip(blocks, marks, strict=True)])
        ought = [7, 8] if second else [7, 7]

        def came(one: int, other: int) -> str:
            got = _through(bench, stream, t10(0, 5, 7, one), t10(0, 5, 7, other), rx=rx)
            return _came(
                [field[4:] for field in fields_of(got, 8)],
                [ref.to_bytes(4, "big") for ref in marks],
                [ref.to_bytes(4, "big") for ref in ought],
            )

        if (equal := came(second, second)) != "copied":
            raise Strange(f"reference tags of domains with the same flags are {equal}")
        return came(first, second)

    return look


def _through(bench: Bench, stream: bytes, one: SigBlockDomain, other: SigBlockDomain, *, rx: bool) -> bytes:
    """What comes out of a key with domain `other` there, and `one` where the stream comes from."""
    if rx:
        return taken(bench, stream, len(stream), wire=one, mem=other)
    return sent(bench, stream, len(stream), mem=one, wire=other)


def _came(got: list[bytes], copied: list[bytes], made: list[bytes]) -> str:
    if got == copied:
        return "copied"
    return "made anew" if got == made else f"neither copied nor made anew: {', '.join(field.hex() for field in got)}"


_WAYS = (("sent", False), ("received", True))
POINTS = (
    Point(
        "copy_compares_seed",
        tuple(
            Side(
                f"{kind}, {'ones to 0' if back else '0 to ones'}, {way}",
                seeds(kind, rx=rx, back=back),
                {"made anew": True, "copied": False},
                (*CRC, f"signature.{kind}"),
            )
            for kind in ("crc32", "crc32c", "crc64_xp10")
            for way, rx in _WAYS
            for back in ((False, True) if kind == "crc32" else (False,))
        ),
    ),
    Point(
        "copy_compares_flags",
        tuple(
            Side(
                f"REF_REMAP {'of the output' if back else 'of the input'} alone, {way}",
                flags(rx=rx, back=back),
                {"made anew": True, "copied": False},
                DIF,
            )
            for way, rx in _WAYS
            for back in (False, True)
        ),
    ),
)
