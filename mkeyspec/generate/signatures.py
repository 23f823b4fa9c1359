"""Draws domains and the attributes of a signature, and what can be wrong in a framed stream."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from mkeyspec.generate import values
from mkeyspec.generate.blocks import bytes_of_mask
from mkeyspec.generate.domain import Domain, Signature
from mkeyspec.generate.values import Value

BLOCK_SIZES = (512, 512, 512, 512, 520, 4048, 4096, 4160)
REFS = (0, 1, 5, 0xFF, 0xFFFF, 0x11223344, 0x7FFFFFFE, 0xF0DEBC9A)
APPS = (0, 0x1234, 0x5678, 0xFF00, 0x00FF, 0xFFFE)
BLOCKS = (1, 1, 1, 2, 2, 2, 3, 3, 4, 5, 7, 8, 9, 10, 16, 17, 31, 32, 33)
MANY = (63, 64, 65, 77, 127, 128, 129, 130, 255, 256, 257, 260)


def domain(rng: Random, *, block: int | None = None) -> Domain:
    """One of every kind, seed, size, with tags and flags of T10-DIF."""
    size = block if block is not None else rng.choice(BLOCK_SIZES)
    ones = rng.random() < 0.5
    if rng.random() < 0.5:
        return Domain(rng.choice(("crc32", "crc32c", "crc64_xp10")), size, ones)
    csum = rng.random() < 0.3
    flags: tuple[str, ...] = rng.choice(((), (), ("ref_remap",), ("ref_remap",), ("app_escape",), ("app_ref_escape",)))
    if flags and "escape" in flags[0] and rng.random() < 0.4:
        flags = ("ref_remap", *flags)
    app = rng.choice((*APPS, 0xFFFF, 0xFFFF) if "app_escape" in flags else APPS)
    if rng.random() < 0.3 and app != 0xFFFF:
        app = rng.randrange(0xFFFF)
    ref = rng.choice(REFS)
    # What a checksum makes of a seed of ones is open (X-OPEN-14).
    return Domain("t10dif", size, ones and not csum, csum, app, ref, flags)


def signature(rng: Random, before: Signature | None = None) -> Signature:
    """Attributes for a key. `before`: those in place of which they are set; often they are of the same kind."""
    first = domain(rng)
    if before is not None and rng.random() < 0.5:
        first = _changed(rng, before.mem or before.wire or first)
    shape = rng.choices(("mem", "wire", "equal", "alike", "other"), (4, 4, 2, 2, 2))[0]
    if shape == "mem":
        made = Signature(first, None, 0)
    elif shape == "wire":
        made = Signature(None, first, 0)
    elif shape == "equal":
        made = Signature(first, first, 0)
    elif shape == "alike":
        made = Signature(first, _tags_changed(rng, first), 0)
    else:
        other = domain(rng, block=first.block)
        if other.kind == first.kind and not other.tags:  # what unequal seeds do is a departure (X-DIFF-10)
            other = first
        made = Signature(first, other, 0)
    made = replace(made, check_mask=_mask(rng, made.relevant))
    if made.mem and made.wire and made.mem.structure == made.wire.structure and rng.random() < 0.4:
        mask = rng.choice((0, 0xFF, 0xC0, 0x30, 0x0F, 0xCF, 1 << rng.randrange(8), rng.randrange(256)))
        made = replace(made, copy_mask=mask)
    return made


def _mask(rng: Random, relevant: int) -> int:
    """A check mask: mostly everything that means a byte, or one part, one bit, none, any bits."""
    way = rng.random()
    if way < 0.6:
        return relevant
    if way < 0.75:
        return rng.choice((0xC0, 0x30, 0x0F, 0xF0, 0xCF))
    return rng.choice((0, 0xFF, 1 << rng.randrange(8), rng.randrange(256)))


def _changed(rng: Random, one: Domain) -> Domain:
    """The same kind of signature with one member of another value."""
    member = rng.choice(("ones", "block", "app", "ref"))
    if member == "ones" and not one.csum:
        return replace(one, ones=not one.ones)
    if member == "block":
        return replace(one, block=rng.choice((512, 520, 4096)))
    return _tags_changed(rng, one) if one.tags else replace(one, ones=not one.ones)


def _tags_changed(rng: Random, one: Domain) -> Domain:
    """A T10-DIF with some parts of another value; a CRC as it is."""
    if not one.tags:
        return one
    changed = one
    if rng.random() < 0.6:
        changed = replace(changed, app=rng.choice(APPS))
    if rng.random() < 0.5:
        changed = replace(changed, ref=rng.choice(REFS))
    if rng.random() < 0.3 and not one.csum:
        changed = replace(changed, ones=not one.ones)
    return changed


def wrong(rng: Random, stream: Value, domain: Domain, name: str, mask: int) -> tuple[Value, str]:
    """A framed stream with one thing wrong, and what that is. It may be something that no mask checks."""
    count = len(stream) // domain.frame
    block = rng.choice((0, count - 1, rng.randrange(count), rng.randrange(count)))
    at = block * domain.frame
    ways = ["data", "field", "field"]
    if domain.tags:
        ways = ["data", "guard", "guard", "app", "ref"]
        if "app_escape" in domain.flags or "app_ref_escape" in domain.flags:
            ways += ["escape"] * 6 + ["near escape"] * 3
    way = rng.choice(ways)
    bit = rng.randrange(8)
    if way == "data":
        place = rng.choice((0, domain.block - 1, rng.randrange(domain.block)))
        where = f"block_at({name}, {block}).start + {place}"
        return values.flipped(stream, at + place, where, bit), f"a bit of the data of block {block}"
    at += domain.block
    if way in ("escape", "near escape"):
        return _escaped(rng, stream, domain, name, block, exact=way == "escape")
    if way == "field" and (domain.little or rng.random() < 0.3):
        new = bytes(one ^ 0xFF for one in stream.data[at : at + domain.size])
        return values.patched(stream, at, f"field_at({name}, {block})", new), f"the whole field of block {block}"
    start, size = {"field": (0, domain.size), "guard": (0, 2), "app": (2, 2), "ref": (4, 4)}[way]
    inside = [one for one in bytes_of_mask(domain, mask) if start <= one < start + size]
    byte = rng.choice(inside) if inside and rng.random() < 0.7 else start + rng.randrange(size)
    where = f"field_at({name}, {block}).start + {byte}"
    return values.flipped(stream, at + byte, where, bit), f"byte {byte} of the field of block {block} ({way})"


def _escaped(rng: Random, stream: Value, domain: Domain, name: str, block: int, *, exact: bool) -> tuple[Value, str]:
    """A wrong guard, and tags that say that it is not to be checked, or nearly so."""
    at = block * domain.frame + domain.block
    guard = bytes(one ^ 0xFF for one in stream.data[at : at + 2])
    app, ref = b"\xff\xff", stream.data[at + 4 : at + 8]
    if "app_ref_escape" in domain.flags:
        ref = b"\xff\xff\xff\xff"
    if not exact:
        if "app_ref_escape" in domain.flags and rng.random() < 0.5:
            ref = rng.choice((b"\xff\xff\xff\xfe", b"\x7f\xff\xff\xff", stream.data[at + 4 : at + 8]))
        else:
            app = rng.choice((b"\xff\xfe", b"\x7f\xff"))
    what = f"{'an escape' if exact else 'nearly an escape'} in block {block}, under a wrong guard"
    return values.patched(stream, at, f"field_at({name}, {block})", guard + app + ref), what
